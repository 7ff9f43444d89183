"""llguidance as the engine of grammars, and random walks over what it allows.

Shared by tests/test_grammars.py and the benchmarks of grammars. A token is a byte, so every cut is
tried; the walk is drawn to the dialect's own markers, and to an end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonschema
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
from llguidance.gbnf_to_lark import gbnf_to_lark

from playground.dialects import DeclaredDialect, as_dialects
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.grammars import Grammar
from playground.parsing.result import ParseResult, read_to_end

LONGEST: Final = 700  # bytes of a walk: what is longer is not looked at
_END: Final = 256


class _Bytes:
    """A tokenizer whose tokens are the bytes, and an end."""

    eos_token_id = _END
    bos_token_id = None
    special_token_ids: Final = [_END]
    tokens: Final = [*(bytes([byte]) for byte in range(256)), b"<end>"]

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_TOKENIZER: Final = LLTokenizer(TokenizerWrapper(_Bytes()))


class Engine:
    """A compiled grammar. Raises ValueError with the engine's words where it does not compile."""

    def __init__(self, lark: str) -> None:
        grammar = LLMatcher.grammar_from_lark(lark)
        self.matcher = LLMatcher(_TOKENIZER, grammar, log_level=0)
        if self.matcher.is_error():
            raise ValueError(self.matcher.get_error())

    @classmethod
    def of_gbnf(cls, gbnf: str) -> Engine:
        """GBNF as llguidance's own converter reads it."""
        return cls(gbnf_to_lark(gbnf))

    def accepts(self, text: str) -> bool:
        """Return True if the text is whole. Raises ValueError if the engine gives up on it: a
        value of more than some 2,000 characters has more items than its limit, one for each."""
        matcher, data = self.matcher.deep_copy(), list(text.encode(errors="surrogatepass"))
        taken = matcher.try_consume_tokens(data)
        if matcher.is_error():
            raise ValueError(matcher.get_error().partition("\n")[0])
        return bool(taken == len(data) and matcher.is_accepting())

    def walk(self, seed: int, baits: Sequence[bytes]) -> str | None:
        """A text that the grammar allows; None where it does not end in time."""
        return Walk(self.matcher.deep_copy(), random.Random(seed), baits).text()


@dataclass
class Walk:
    matcher: Any
    choose: random.Random
    baits: Sequence[bytes]

    def text(self) -> str | None:
        written, tired = b"", self.choose.randint(0, 200)
        while len(written) < LONGEST:
            if self.matcher.is_accepting() and self._rests(len(written), tired):
                return written.decode()
            step = self._step(len(written) > tired)
            if not step:
                return written.decode() if self.matcher.is_accepting() else None
            self.matcher.consume_tokens(list(step))
            written += step
        return None

    def _rests(self, size: int, tired: int) -> bool:
        return self.matcher.is_stopped() or self.choose.random() < (0.1 if size < tired else 0.9)

    def _step(self, tired: bool) -> bytes:
        """The next bytes: what must come, a marker or half of one, or any byte that may come."""
        if forced := bytes(self.matcher.compute_ff_bytes()):
            return forced
        if self.choose.random() < (0.4 if tired else 0.12):
            bait = self.choose.choice(self.baits)
            taken = self.matcher.validate_tokens(list(bait))
            if taken:
                return bait[:taken]
        mask = self.matcher.compute_bitmask()
        allowed = [byte for byte in range(256) if mask[byte >> 3] >> (byte & 7) & 1]
        closing = [byte for byte in allowed if chr(byte) in "\"'<>}])`|\n"]
        plain = [byte for byte in allowed if 32 <= byte < 127]
        if closing and self.choose.random() < (0.7 if tired else 0.1):
            allowed = closing
        elif plain and self.choose.random() < 0.9:
            allowed = plain
        return bytes([self.choose.choice(allowed)]) if allowed else b""


def baits_of(dialect: DeclaredDialect, calls: Sequence[str]) -> list[bytes]:
    """What a walk is drawn to: the dialect's markers, whole calls and their ends, odd values."""
    forms = (dialect.syntax, *dialect.syntax.also)
    templates = [t for f in forms for t in (f.call_template, f.param_template, *f.sections) if t]
    texts = [piece for t in templates for piece in t.pieces if isinstance(piece, str)]
    texts += [text for tags in dialect.reasoning for text in (tags.open, tags.close)]
    texts += [*dialect.stops, dialect.markers.result, *dialect.answer]
    ends = [call[at:] for call in calls for at in range(0, len(call), 5)]
    odd = ["true", "null", "1", "\\", '{"', "é", "\n", " ", "[", "CDATA[", "]]>", "-", "\x85"]
    listed = [*texts, *(text[1:] for text in texts if len(text) > 4), *ends, *odd]
    return [text.encode() for text in dict.fromkeys(listed) if text]


# what is said of them


def read(dialect: DeclaredDialect, text: str, tools: Sequence[ToolMetadata]) -> ParseResult:
    """A text as the dialect's parser reads it."""
    parser = dialect.create_parser(PromptData(tool_metadata=list(tools)))
    return read_to_end(parser, [parser.feed_text(text)])


# a text may go on, or look like a call in prose: no fault of what was allowed
# of text before a call: half of another call is text there, and told
_HARMLESS: Final = {
    "open-ended", "unknown-tool", "marker-in-value", "missing-opener", "orphan-closer",
    "bare-opener", "call-in-fence",
}  # fmt: skip


def fault(
    dialect: DeclaredDialect, text: str, tools: Sequence[ToolMetadata], required: bool
) -> str:
    """What is wrong with a text that a grammar allowed; "" where it is read as it should be."""
    result = read(dialect, text, tools)
    if result.aborted:
        return f"aborted: {[finding.code for finding in result.findings]}"
    if required and not result.tool_calls:
        return "no call is read"
    if required and result.content.strip():
        return f"text beside the call: {result.content!r:.60}"
    by_name = {tool.name: tool for tool in tools}
    for call in result.tool_calls:
        if call.name not in by_name:
            return f"a call of {call.name!r}"
        try:
            jsonschema.validate(call.arguments, by_name[call.name].input_schema)
        except jsonschema.ValidationError as error:
            return f"arguments: {error.message:.100}"
    codes = {finding.code for finding in result.findings} - _HARMLESS
    return f"findings: {sorted(codes)}" if codes else ""


# tools and calls to try with

_SCHEMAS: Final = {
    "read_file": {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "lines": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
            "mode": {"enum": ["r", "rb"]},
            "options": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": ["string", "null"]}},
                "required": ["a"],
            },
        },
        "required": ["path"],
    },
    "weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "metric": {"type": "boolean"},
        },
        "required": ["city", "days"],
    },
}
TOOLS: Final = tuple(ToolMetadata(name=n, input_schema=s) for n, s in _SCHEMAS.items())
RIGHT: Final = (
    ("read_file", {"path": "a.py"}),
    (
        "read_file",
        {
            "path": 'it\'s "q" \\ b\n{x} é😀',
            "lines": [1, -2],
            "mode": "rb",
            "options": {"a": 1.5, "b": None},
        },
    ),
    ("weather", {"city": "Köln", "days": 3}),
    ("weather", {"city": " x", "days": 14, "metric": False}),
)
WRONG: Final = (
    ("reed_file", {"path": "a.py"}),
    ("weather", {"city": "K", "day": 3}),
    ("weather", {"city": "K", "days": 3, "when": "now"}),
    ("weather", {"city": "K", "days": "many"}),
    ("weather", {"city": "K", "days": 15}),
    ("weather", {"city": "K"}),
    ("read_file", {"path": "a.py", "mode": "w"}),
    ("read_file", {"path": "a.py", "lines": [1, 2, 3, 4]}),
    ("read_file", {"path": "a.py", "options": {"b": "x"}}),
)


def tools_for(dialect: DeclaredDialect) -> tuple[ToolMetadata, ...]:
    """Tools that the dialect can call: where its calls are texts and no more, one of its own."""
    keys = dialect.syntax.text_keys
    if not keys:
        return TOOLS
    schema = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": list(keys),
    }
    return (ToolMetadata(name=dialect.syntax.name or "run", input_schema=schema),)


def right_calls(dialect: DeclaredDialect) -> list[ToolCallPart]:
    """Calls of these tools that fit their schemas."""
    if dialect.syntax.text_keys:
        texts = dict(dialect.syntax.sample_texts)
        return [ToolCallPart("call_1", tools_for(dialect)[0].name, texts)]
    return [ToolCallPart("call_1", name, arguments) for name, arguments in RIGHT]


def wrong_calls(dialect: DeclaredDialect) -> list[ToolCallPart]:
    """Calls that do not fit: another name, key, type, bound or value, or one that is missing."""
    if dialect.syntax.text_keys:
        name = "another" if not dialect.syntax.name else ""
        return [ToolCallPart("call_1", name, dict(dialect.syntax.sample_texts))] if name else []
    return [ToolCallPart("call_1", name, arguments) for name, arguments in WRONG]


def grammar_for(dialect: DeclaredDialect, choice: str = "required") -> Grammar:
    """The grammar of these tools."""
    return dialect.grammar(tools_for(dialect), choice=choice, reasoning=choice == "auto")


@dataclass(frozen=True)
class Tried:
    """What an engine is given of a dialect: its grammar, and calls of its tools as texts."""

    dialect: DeclaredDialect
    grammar: Grammar
    right: list[str]
    wrong: list[str]

    @classmethod
    def of(cls, dialect: DeclaredDialect) -> Tried:
        """With the tools that the dialect can call."""
        tools = tools_for(dialect)
        right, wrong = (
            [dialect.format_tool_call(call, tools) for call in calls]
            for calls in (right_calls(dialect), wrong_calls(dialect))
        )
        return cls(dialect, grammar_for(dialect), right, wrong)

    def walks(self, engine: Any, seeds: Iterable[int]) -> list[str | None]:
        """Random texts that an engine takes; None for each that does not end in time."""
        baits = baits_of(self.dialect, self.right)
        return [engine.walk(seed, baits) for seed in seeds]

    def faults(self, texts: Iterable[str]) -> list[str]:
        """What is wrong with texts that an engine took, and each text."""
        tools = tools_for(self.dialect)
        said = ((fault(self.dialect, text, tools, required=True), text) for text in texts)
        return [f"{self.dialect.name}: {why} {text!r:.200}" for why, text in said if why]

    def taken(self, engine: Any) -> tuple[str, str]:
        """Of our calls those that an engine takes, of wrong ones those that it refuses."""
        took = sum(map(engine.accepts, self.right))
        refused = sum(not engine.accepts(text) for text in self.wrong)
        return f"{took}/{len(self.right)}", f"{refused}/{len(self.wrong)}"


def print_table(
    head: Sequence[str],
    names: Sequence[str],
    row: Callable[[Tried], tuple[Sequence[object], list[str]]],
) -> int:
    """A row for each declared dialect of these names (all, where there are none) and the faults
    behind them; 1 where there are some."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    faults: list[str] = []
    for dialect in as_dialects(names):
        if isinstance(dialect, DeclaredDialect):
            figures, bad = row(Tried.of(dialect))
            print(f"| {dialect.name} | {' | '.join(map(str, figures))} |", flush=True)
            faults += bad
    print("\n".join(faults))
    return int(bool(faults))
