"""Try a derived dialect against its template: compare the calls that both write, and read the
template's calls back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.dialects.declared import DeclaredDialect
from playground.nouns.messages import ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tool_formats import read_tools
from playground.parsing.rendering import render_call, render_calls
from playground.parsing.result import ParseResult, read_to_end
from playground.plugins.own_dialects.asking import (
    KEYS,
    NAMES,
    ONE_CALL,
    RESULT,
    TEXT,
    THOUGHT,
    TWO_ARGUMENTS,
    TWO_CALLS,
    AskedCall,
    AskedTemplate,
    RequestForm,
    tools_for,
)
from playground.plugins.own_dialects.derivation.frame import TurnFrame

HOSTILE: Final[dict[str, Any]] = {
    "plain text": "src/main.py",
    "empty text": "",
    "two lines": "one\ntwo",
    "line breaks around": "\nx\n",
    "blanks around": "  x  ",
    "double quotes": 'say "hello"',
    "single quotes": "it's",
    "backslashes": "C:\\new\\table\\",
    "another script": "港は静か 🚢 é",
    "braces": "{x} {{y}} }{",
    "brackets": "[[a]] ]][[",
    "tags": "<b>bold</b> &amp;",
    "JSON as text": '{"a": [1, "b"]}',
    "a number as text": "3",
    "true as text": "true",
    "null as text": "null",
    "a foreign closer": "</function></tool_call>",
    "an integer": 3,
    "a decimal": -1.5,
    "true": True,
    "false": False,
    "null": None,
    "a list": ["a", 1, None, True],
    "an empty list": [],
    "an object": {"a": {"b": [1, "c"]}},
    "an empty object": {},
}
NOTHING: Final = ("no arguments", (AskedCall(NAMES[0], {}),))
_SHORT_PROBES: Final = ("plain text", "two lines", "double quotes", "an integer")


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One probe (one or two calls) as the template writes it (`theirs`) and as the dialect writes
    it (`ours`).

    `read` is True if the dialect reads the template's text back.
    """

    probe: str
    calls: tuple[AskedCall, ...]
    theirs: str
    ours: str
    read: bool
    sorted: bool = False
    """True if both texts are the same only after sorting the arguments by name."""

    @property
    def written(self) -> bool:
        """True if both texts have the same bytes."""
        return self.theirs == self.ours


@dataclass(frozen=True)
class Proof:
    """The results of all probes that the template accepts; `refused` names the other probes."""

    trials: tuple[ProbeResult, ...]
    refused: tuple[str, ...]

    @property
    def read(self) -> int:
        return sum(trial.read for trial in self.trials)

    @property
    def written(self) -> int:
        return sum(trial.written for trial in self.trials)

    @property
    def score(self) -> int:
        """The score of a candidate: 2 for each probe that it reads, and 1 for each that it writes
        like the template."""
        return 2 * self.read + self.written

    def failing(self) -> ProbeResult | None:
        """Return the first plain call that is not read back (this rules out the dialect); None if
        all are."""
        return next((t for t in self.trials if t.probe in PLAIN and not t.read), None)


LEAST_CALLS: Final[dict[str, tuple[AskedCall, ...]]] = {
    "one call": ONE_CALL,
    "two parameters": TWO_ARGUMENTS,
    "two calls": TWO_CALLS,
}
PLAIN: Final = (*LEAST_CALLS, "plain text")


def short_probes() -> list[tuple[str, tuple[AskedCall, ...]]]:
    """Return the few probes by which a candidate is chosen."""
    values = [(name, _call_with(HOSTILE[name])) for name in _SHORT_PROBES]
    return [*LEAST_CALLS.items(), *values]


def full_probes(dialect: DeclaredDialect) -> list[tuple[str, tuple[AskedCall, ...]]]:
    """Return all probes: plain calls, one without arguments, and calls with a hostile value or one
    of the dialect's markers in a value, followed by another value."""
    syntax = dialect.syntax
    own_markers = [*syntax.closers, *syntax.openers]
    values = {**HOSTILE, **{f"its own {literal!r}": f"a {literal} b" for literal in own_markers}}
    probes = [*LEAST_CALLS.items()]
    probes += [NOTHING]
    probes += [(name, _call_with(value)) for name, value in values.items()]
    return probes


def _call_with(value: Any) -> tuple[AskedCall, ...]:
    return (AskedCall(NAMES[0], {KEYS[0]: value, KEYS[1]: "x1"}),)


def try_probes(
    template: AskedTemplate,
    frame: TurnFrame,
    dialect: DeclaredDialect,
    probes: Iterable[tuple[str, tuple[AskedCall, ...]]],
    hasty: bool = False,
) -> Proof:
    """Try every probe; if `hasty`, stop at the first probe that is not read back."""
    trials, refused = [], []
    for name, calls in probes:
        region = template.reply(calls)
        if region is None or not _names_all(region, calls):
            refused.append(name)
            continue
        theirs = frame.bare(region)
        as_given, sorted_text = (
            written_of(dialect, order, template.form).strip()
            for order in (calls, _with_sorted_arguments(calls))
        )
        by_name = as_given != theirs and sorted_text == theirs
        is_read = reads(dialect, theirs, calls)
        trials.append(
            ProbeResult(name, calls, theirs, sorted_text if by_name else as_given, is_read, by_name)
        )
        if hasty and not is_read:
            break
    return Proof(tuple(trials), tuple(refused))


def count_written(
    template: AskedTemplate,
    frame: TurnFrame,
    dialect: DeclaredDialect,
    probes: Iterable[tuple[str, tuple[AskedCall, ...]]],
) -> int:
    """Return the number of probes that the dialect writes like the template, without reading."""
    regions = [(template.reply(calls), calls) for _, calls in probes]
    return sum(
        frame.bare(region) == written_of(dialect, calls, template.form).strip()
        for region, calls in regions
        if region is not None
    )


def unread_answers(
    template: AskedTemplate, frame: TurnFrame, dialect: DeclaredDialect
) -> Iterator[str]:
    """Yield, in words, the kinds of the template's answers that are not read back unchanged."""
    # An answer in a history does not begin inside reasoning, even if prompts end there.
    dialect = dataclasses.replace(dialect, opens_reasoning=False)
    kinds = [
        ("an answer", (), TEXT, ""),
        ("an answer after a thought", (), TEXT, THOUGHT),
        ("a call after a thought", ONE_CALL, "", THOUGHT),
    ]
    for name, calls, text, thought in kinds:
        region = template.reply(calls, text, thought)
        if region is None or text not in region or (thought and thought not in region):
            continue
        result = _read(dialect, [frame.before_thought().bare(region)], calls or ONE_CALL)
        outcome = (result.content.strip(), result.reasoning.strip(), len(result.tool_calls))
        if outcome != (text, thought, len(calls)):
            yield name


_RESULTS: Final = {
    "plain words": RESULT,
    "quotes": 'say "hello"',
    "two lines": "one\ntwo",
    "JSON": '{"a": ["b"]}',
    "tags": "<b>bold</b> &amp;",
}


def results_written_otherwise(template: AskedTemplate, dialect: DeclaredDialect) -> Iterator[str]:
    """Yield the kinds of tool results that the dialect and the template write with different bytes.
    If results are in a separate turn, which the template writes itself, yield none."""
    if dialect.result_role != "user":
        return
    (call,) = ONE_CALL
    for name, words in _RESULTS.items():
        part = ToolResultPart(template.form.call_id(call, 0), call.name, words)
        theirs = template.reply(ONE_CALL, result=words)
        if theirs != template.user_turn(ONE_CALL, dialect.format_tool_result(part)):
            yield name


def _names_all(region: str, calls: Sequence[AskedCall]) -> bool:
    """Return True if the template wrote every call. Some templates write only the first."""
    return all(region.count(call.name) for call in calls)


def _with_sorted_arguments(calls: Sequence[AskedCall]) -> list[AskedCall]:
    return [AskedCall(call.name, dict(sorted(call.arguments.items()))) for call in calls]


def written_of(dialect: DeclaredDialect, calls: Sequence[AskedCall], form: RequestForm) -> str:
    """Return the calls as the dialect writes them, with the ids that the template got."""
    schemas = {tool.name: tool for tool in read_tools(tools_for(calls))}
    texts = []
    for index, call in enumerate(calls):
        part = ToolCallPart(form.call_id(call, index), call.name, dict(call.arguments))
        tool = schemas[call.name]
        text = render_call(
            dialect.syntax,
            part.tool_name,
            part.args,
            part.tool_call_id,
            tool.parameter_schema,
            index,
        )
        texts.append((call.name, text))
    return render_calls(dialect.syntax, texts)


def reads(dialect: DeclaredDialect, text: str, calls: Sequence[AskedCall]) -> bool:
    """Return True if the dialect reads exactly these calls in a text."""
    return _has_exactly(_read(dialect, [text], calls), calls)


def reads_in_pieces(dialect: DeclaredDialect, text: str, calls: Sequence[AskedCall]) -> bool:
    """Return True if the dialect reads exactly these calls in a text fed character by character."""
    return _has_exactly(_read(dialect, text, calls), calls)


def _read(
    dialect: DeclaredDialect, pieces: Iterable[str], calls: Sequence[AskedCall]
) -> ParseResult:
    parser = dialect.create_parser(PromptData(tool_metadata=read_tools(tools_for(calls))))
    return read_to_end(parser, (parser.feed_text(piece) for piece in pieces))


def _has_exactly(result: ParseResult, calls: Sequence[AskedCall]) -> bool:
    if result.aborted or result.content.strip() or len(result.tool_calls) != len(calls):
        return False
    return all(
        call_read.name == call.name
        and _sorted_json(call_read.arguments) == _sorted_json(call.arguments)
        for call_read, call in zip(result.tool_calls, calls, strict=True)
    )


def _sorted_json(arguments: Any) -> str:
    """Return arguments as JSON sorted by name, because some templates change the order."""
    return json.dumps(arguments, sort_keys=True, default=str)
