"""Test which values, also hostile ones, a dialect carries: `parse(render(call)) == call`. Each
value is written and read back. If it comes back changed, a finding says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from playground.base.arguments import takes
from playground.base.display import Shown
from playground.base.findings import Finding
from playground.dialects import DeclaredDialect, Dialect, as_dialects
from playground.dialects.checking import check_tool_call
from playground.nouns.messages import ToolCallPart, ToolResultPart
from playground.nouns.tools import ToolMetadata, json_type

_TOOL: Final = "probe"
_NOT_IN_MARKUP: Final = "q7q"


def _call(call_id: str, dialect: Dialect, value: Any) -> ToolCallPart:
    """Return a call that holds the value, as an argument or as the call's text."""
    syntax = dialect.syntax if isinstance(dialect, DeclaredDialect) else None
    # In some dialects, a call has only texts and no arguments (a code fence, for instance). There,
    # the value is the call's last text.
    if syntax is None or not syntax.text_keys:
        return ToolCallPart(call_id, _TOOL, {"value": value})
    texts = syntax.sample_texts | {syntax.text_keys[-1]: value}
    return ToolCallPart(call_id, syntax.name or _TOOL, texts)


def _own_call(dialect: Dialect, value: str = "x") -> str:
    return dialect.format_tool_call(_call("call_9", dialect, value), [_probe(value)])


def _own_closer(dialect: Dialect) -> str:
    """Return the text that follows the value in a call that the dialect writes."""
    return _own_call(dialect, _NOT_IN_MARKUP).rpartition(_NOT_IN_MARKUP)[2]


def _half_of_own_closer(dialect: Dialect) -> str:
    closer = _own_closer(dialect)
    return closer[: len(closer) // 2]


def _own_opener(dialect: Dialect) -> str:
    return _own_call(dialect, _NOT_IN_MARKUP).partition(_NOT_IN_MARKUP)[0]


def _own_result(dialect: Dialect) -> str:
    return dialect.format_tool_result(ToolResultPart("call_9", _TOOL, "fine"))


# Values that depend on the dialect, and values that are the same for all.
OWN: Final[dict[str, Callable[[Dialect], str]]] = {
    "its own closer": _own_closer,
    "its own closer inside text": lambda dialect: f"a {_own_closer(dialect)} b",
    "half of its own closer": _half_of_own_closer,
    "its own opener": _own_opener,
    "a whole own call": _own_call,
    "two own calls": lambda dialect: _own_call(dialect) * 2,
    "its own result": _own_result,
}
VALUES: Final[dict[str, Any]] = {
    "plain text": "src/main.py",
    "empty text": "",
    "digits as text": "3",
    "true as text": "true",
    "null as text": "null",
    "a decimal as text": "1.10",
    "quoted text": '"quoted"',
    "JSON as text": '{"a": [1, "b"]}',
    "double quotes": 'say "hello"',
    "a lone double quote": '"',
    "single quotes": "it's",
    "a lone single quote": "'",
    "backslashes": "C:\\new\\table\\",
    "an escaped quote": '\\"',
    "braces": "{x} {{y}} }{",
    "brackets": "[[a]] ]][[",
    "tags": "<b>bold</b> </b> <path>",
    "a script": "<script>alert(1)</script>",
    "CDATA": "<![CDATA[ x ]]>",
    "a comment": "<!-- x -->",
    "entities": "&lt;a&gt; &amp; &#39;",
    "a fence": "```python\nprint(1)\n```",
    "a tilde fence": "~~~\nx\n~~~",
    "a leading line break": "\nx",
    "a trailing line break": "x\n",
    "only a line break": "\n",
    "line breaks around": "\n\nx\n\n",
    "CR LF": "a\r\nb\r\n",
    "a lone CR": "a\rb\r",
    "blanks around": "  x  ",
    "a tab": "\tx\t",
    "NUL": "a\x00b",
    "control characters": "\x01\x1b[31m\x7f",
    "reasoning tags": "<think>hm</think>",
    "a ChatML token": "<|im_end|>",
    "a Llama token": "<|eot_id|>",
    "Chinese and Japanese": "港は静かです。",
    "right to left": "הרציף \u202e مفتوح",
    "emoji": "🚢 👩‍✈️ 🇫🇷",
    "U+2028": "a\u2028b\u2029c",
    "a byte order mark": "\ufeffx",
    "no-break blanks": "\u00a0x\u200b",
    "a lone surrogate": "a\ud800b",
    "a million characters": "0123456789 <x>\n" * 66_667,
    "an integer": 3,
    "a negative integer": -7,
    "a 23-digit integer": 12345678901234567890123,
    "a decimal": 1.10,
    "a large exponent": 1e300,
    "true": True,
    "false": False,
    "null": None,
    "a list": ["a", 1, None, True],
    "an empty list": [],
    "an object": {"a": {"b": [1, {"c": "</x>"}]}},
    "an empty object": {},
    "an object with odd keys": {"": 1, "a b": 2, '"': 3},
}


@dataclass(frozen=True)
class CarryMatrix(Shown):
    """Findings on each value in each dialect; a value without findings is carried.

    Its table has a row for each value and a column for each dialect; a cell is `carried` or a code.
    """

    dialects: list[str]
    values: list[str]
    cells: Mapping[tuple[str, str], list[Finding]]

    def carried(self, dialect: str) -> list[str]:
        return [value for value in self.values if not self.cells[dialect, value]]

    def refused(self, dialect: str) -> list[str]:
        return [value for value in self.values if self.cells[dialect, value]]


@takes(values="object or nothing")
def carry(
    dialects: str | Dialect | Sequence[str | Dialect] = (), values: Mapping[str, Any] | None = None
) -> CarryMatrix:
    """Try every value as an argument in every dialect; the tool's schema declares the value's type.

    `values` (name -> value) replace the built-in ones.
    """
    chosen = as_dialects(dialects)
    cells: dict[tuple[str, str], list[Finding]] = {}
    for dialect in chosen:
        # The hostile values are made of each dialect's own markup, so they differ by dialect.
        for name, value in _values(dialect, values).items():
            call = _call("call_1", dialect, value)
            cells[dialect.name, name] = check_tool_call(dialect, call, [_probe(value)])
    names = list(_values(chosen[0], values)) if chosen else []
    return CarryMatrix([dialect.name for dialect in chosen], names, cells)


def _values(dialect: Dialect, values: Mapping[str, Any] | None) -> dict[str, Any]:
    if values is not None:
        return dict(values)
    return {**{name: make(dialect) for name, make in OWN.items()}, **VALUES}


def _probe(value: Any) -> ToolMetadata:
    return _probe_of_type(json_type(value))


@cache
def _probe_of_type(kind: str) -> ToolMetadata:
    schema = {"type": "object", "properties": {"value": {"type": kind}}}
    return ToolMetadata(name=_TOOL, description="Takes a value.", input_schema=schema)
