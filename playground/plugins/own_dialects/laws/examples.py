"""Random examples for the laws: calls, streams and prose, made of a dialect's own markers.

A dialect that is written by hand has no declaration. Its markers are found in a call that it
writes: the texts around the values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.prompts import sample_arguments
from playground.nouns.messages import ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolExample, ToolMetadata
from playground.parsing.rendering import render_call
from playground.parsing.result import ParseResult, read_to_end
from playground.parsing.syntax import Hole, Syntax
from playground.plugins.own_dialects.laws.choices import Choices

_PROPERTIES: Final = {
    "path": {"type": "string"},
    "content": {"type": "string"},
    "mode": {"type": "integer"},
    "ratio": {"type": "number"},
    "force": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "meta": {"type": "object"},
    "note": {"type": ["string", "null"]},
}
WRITE: Final = ToolMetadata(
    name="write_file",
    description="Write a file.",
    input_schema={"type": "object", "properties": _PROPERTIES, "required": ["path"]},
)
LIST: Final = ToolMetadata(
    name="list_files", description="List files.", input_schema={"type": "object"}
)
TOOLS: Final = [WRITE, LIST]
# Texts that every registered dialect reads back unchanged, in any value.
_PLAIN: Final = (
    "x", " ", "\n", ",", ":", ".", "é", "3", "true", '"', "'", "a b", "=", "()", "[1, 2]",
    '{"a": [x, "<b>"]}', "def f(x):\n    return x\n", "one\ntwo", "-", "/", "#", "|", ";", "*", "_",
)  # fmt: skip
_HOSTILE: Final = (
    "x", "<", ">", "{", "}", "[", "]", "\\", "`", "```\n", "~~~", "\n\n", "\u2028", "\u202e", "😀",
    '{"name": ', '"arguments": ', "{}", "null", "</", "write_file", "path", "content",
)  # fmt: skip
_OTHER_TYPES: Final[tuple[Any, ...]] = ([1], "x", 7, 0.5, True, None, [], [{"path": "a.py"}])
_WORDS: Final = ("The", "file", "is", "read", "x", "12", "é", "don't")
_PUNCTUATION: Final = (*",.;:!?()<>[]{}|/=`-_@#'\"", "</", "<|", "|>", "e.g.")
_BLANKS: Final = (" ", " ", "\n", "\n\n", "  ", "\t")


class Subject:
    """The dialect that is checked, with the properties that the laws need."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.declared = dialect if isinstance(dialect, DeclaredDialect) else None
        self.syntax: Syntax | None = self.declared.syntax if self.declared else None

    # reading and writing

    def read(self, pieces: list[bytes], tools: list[ToolMetadata] = TOOLS) -> ParseResult:
        parser = self.dialect.create_parser(PromptData(tool_metadata=list(tools)))
        return read_to_end(parser, (parser.feed(piece) for piece in pieces))

    def read_text(self, text: str, tools: list[ToolMetadata] = TOOLS) -> ParseResult:
        return self.read([text.encode("utf-8", "surrogatepass")], tools)

    def write(self, call: ToolCallPart) -> str:
        return self.dialect.format_tool_call(call, TOOLS)

    # the form

    @property
    def text_keys(self) -> tuple[str, ...]:
        """The names of the arguments, if the form's calls hold only texts; () for other forms."""
        return self.syntax.text_keys if self.syntax else ()

    @property
    def unclosed(self) -> bool:
        """True if no marker ends a call, so that its last text ends at the next marker."""
        if self.syntax is None:
            return False
        param = self.syntax.param_template
        ends = self.syntax.call_template.after or (param and param.after)
        return not self.syntax.notation.ends_itself and not ends

    @cached_property
    def literals(self) -> list[str]:
        """The literal texts of all forms of calls, and the markers of reasoning, results and turns;
        without a declaration, the texts around the values of a call."""
        if self.declared is None:
            return _around_values(
                self.write(ToolCallPart("call_1", "write_file", {"path": "VALUE"}))
            )
        texts: list[str] = []
        for syntax in (self.declared.syntax, *self.declared.syntax.also):
            templates = [syntax.call_template, syntax.param_template, *syntax.sections]
            for template in filter(None, templates):
                texts += [piece for piece in template.pieces if not isinstance(piece, Hole)]
            texts.append(syntax.separator)
        markers = self.declared.markers
        for tags in (*markers.reasoning, *markers.plain):
            texts += [tags.open, tags.close]
        return [t for t in (*texts, *markers.stops, *markers.dropped, markers.result) if t]

    @cached_property
    def fragments(self) -> list[str]:
        """Pieces of a stream: the dialect's markers, a complete call, half a call, a result, odd
        characters."""
        call = self.write(self.plainest(path="a.py"))
        result = self.dialect.format_tool_result(ToolResultPart("call_1", "write_file", "ok"))
        own_texts = [*self.literals, call, call[: len(call) // 2], result]
        return list(dict.fromkeys(["x", " ", "\n", *own_texts, *_HOSTILE]))

    @cached_property
    def other_bodies(self) -> list[str]:
        """Calls that have another JSON value than an object in place of the arguments."""
        return bodies_of_other_types(self.syntax) if self.syntax else []

    def plainest(self, **arguments: Any) -> ToolCallPart:
        """Return a call with these arguments, or with sample texts if the form has only texts."""
        if self.syntax and self.text_keys:
            name = self.syntax.name or "write_file"
            return ToolCallPart("call_1", name, dict(self.syntax.sample_texts))
        return ToolCallPart("call_1", "write_file", arguments)

    # examples

    def stream(self, choices: Choices) -> str:
        """Return a text with many of the dialect's markers, also broken or out of place."""
        return "".join(choices.several(lambda: choices.of(self.fragments), 14, usual=5))

    def text(self, choices: Choices, pieces: tuple[str, ...] | list[str] = _PLAIN) -> str:
        return "".join(choices.several(lambda: choices.of(pieces), 4, usual=2))

    def hostile_call(self, choices: Choices) -> ToolCallPart:
        """Return a call whose texts hold the dialect's own markers."""
        return self._call(choices, lambda: self.text(choices, self.fragments))

    def plain_call(self, choices: Choices) -> ToolCallPart:
        """Return a call with plain values of the JSON types that the notation holds."""
        return self._call(choices, lambda: self.text(choices))

    def _call(self, choices: Choices, make_text: Callable[[], str]) -> ToolCallPart:
        plain = self.plainest()
        if self.text_keys:
            return ToolCallPart("call_1", plain.tool_name, {k: make_text() for k in self.text_keys})
        arguments: dict[str, Any] = {"path": make_text()}
        makers: dict[str, Any] = {
            "content": make_text,
            "mode": lambda: choices.of((0, 1, -7, 10**22)),
            "ratio": lambda: choices.of((0.5, 1.10, -2.0, 1e300)),
            "force": lambda: choices.of((False, True)),
            "tags": lambda: choices.several(make_text, 3),
            "meta": lambda: {"deep": {"a": [choices.of((1, "x", None, "</x>"))]}},
            "note": lambda: None,
        }
        for key, make in makers.items():
            if choices.below(3) == 2:
                arguments[key] = make()
        return ToolCallPart("call_1", "write_file", self.without_null(arguments))

    def without_null(self, value: Any) -> Any:
        """Return the value, but without null if the notation cannot write null."""
        if self.syntax is None or self.syntax.notation.holds_null:
            return value
        if isinstance(value, dict):
            return {key: self.without_null(item) for key, item in value.items() if item is not None}
        if isinstance(value, list):
            return [self.without_null(item) for item in value if item is not None]
        return value

    def tool(self, choices: Choices) -> ToolMetadata:
        """Return a tool with random required parameters, and perhaps an example."""
        names = list(_PROPERTIES)[1:-1]
        required = ["path", *(name for name in names if choices.below(4) == 3)]
        schema = {"type": "object", "properties": _PROPERTIES, "required": required}
        plain = ToolMetadata(name="plain", input_schema=schema)
        example = {
            **sample_arguments(plain),
            "path": self.text(choices),
            "mode": choices.of((1, 420)),
        }
        examples = (
            (ToolExample(explanation="Write it.", parameters=example),) if choices.below(2) else ()
        )
        return ToolMetadata(
            name="write_file", description="Write a file.", input_schema=schema, examples=examples
        )

    def prose(self, choices: Choices) -> str:
        """Return words, some of them from the dialect's markers, with punctuation and blanks.

        Return "" if the words happen to make a complete marker.
        """
        words = [*_WORDS, *self._marker_words]
        pieces = [*words, *_PUNCTUATION, *_BLANKS]
        middle = "".join(choices.several(lambda: choices.of(pieces), 14, usual=5))
        text = choices.of(("Well ", "a ", "1. ")) + middle + choices.of(words)
        squeezed = "".join(text.split())
        has_marker = "```" in text or any(marker in squeezed for marker in self._dense_markers)
        return "" if has_marker else text

    @cached_property
    def _dense_markers(self) -> list[str]:
        """The markers that contain letters, without white space."""
        squeezed = {"".join(text.split()) for text in self.literals}
        return sorted(text for text in squeezed if any(map(str.isalpha, text)))

    @cached_property
    def _marker_words(self) -> list[str]:
        return sorted({word for text in self._dense_markers for word in re.findall(r"\w+", text)})


def bodies_of_other_types(syntax: Syntax) -> list[str]:
    """Return a call for each JSON type except objects, with a value of that type as its arguments.

    There are calls in each form that the syntax reads, if the form's notation can write the type.
    """
    calls: list[str] = []
    for form in (syntax, *syntax.also):
        for value in _OTHER_TYPES:
            with suppress(Exception):  # `write` is made for objects, and may refuse other types
                calls.append(render_call(form, form.name or "write_file", value))
    return list(dict.fromkeys(calls))


def _around_values(written: str) -> list[str]:
    """Return the texts around name, key and value of a call."""
    pieces = re.split(r"(?i)write_file|path|VALUE", written)
    return [piece for piece in pieces if piece.strip()]
