"""Propose a form from a few replies of a model. Text that all calls share becomes a marker, other
text a hole.

A proposal may be wrong. It reads every call that was found, names the calls that it would write
differently, and shows all text of the replies that it does not explain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from playground.base.arguments import items, older_name, takes
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.dialects import dialect_names, get_dialect
from playground.dialects.declared import THINK, DeclaredDialect
from playground.dialects.reading import parse
from playground.nouns.events import ArgumentEvent, TextEvent
from playground.nouns.messages import ToolCallPart
from playground.parsing.result import ParseResult
from playground.parsing.syntax import ReasoningTags, Syntax
from playground.parsing.values import same
from playground.plugins.own_dialects import RULES
from playground.plugins.own_dialects.derivation.forms import syntaxes
from playground.plugins.own_dialects.derivation.occurrences import FINDERS, Occurrence

_MOST: Final = 200_000  # characters of all replies together
# text that looks like markup: a tag, a word in brackets, JSON, a fence, a call
_MARKUP: Final = re.compile(
    r"<[\w|/!]|\|>|\[/?[A-Z_]{3,}|\{\s*\"|```|^\s*[\w-]+\s*\($", re.MULTILINE
)
_TAGS: Final = re.compile(r"</?[\w|:]+[=>]|<\|")  # in a value, this may be markup of the form
_TOOL: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """A proposal's reading of one reply.

    `calls` are names and arguments. `texts` are the parts that stay text, each with its offset.
    `unexplained` has the texts that look like markup, and notes on broken calls and on markup
    in values. `written` is True if the dialect would write the calls as the reply does, apart from
    white space.
    """

    calls: tuple[tuple[str, Any], ...]
    texts: tuple[tuple[int, str], ...]
    unexplained: tuple[tuple[int, str], ...]
    written: bool

    left = older_name("left", "texts")


@dataclass(frozen=True)
class Proposal:
    """A proposed form: the `dialect`, and its `readings` of the replies.

    `open` are questions that the replies leave open. `registered` are the registered dialects that
    read the same calls in all replies.
    """

    dialect: DeclaredDialect
    readings: tuple[ReplyReading, ...]
    open: tuple[str, ...]
    registered: tuple[str, ...]

    def findings(self) -> list[Finding]:
        """Return findings about unexplained text, calls written differently, and open questions."""
        findings = []
        for number, reading in enumerate(self.readings, 1):
            for start, text in reading.unexplained:
                note = f"not explained: {text.strip()[:80]!r}"
                findings.append(
                    finding("proposal-left", f"reply {number}, character {start}", note)
                )
            if not reading.written:
                findings.append(finding("proposal-bytes", f"reply {number}"))
        return [
            *findings,
            *(finding("proposal-open", "the replies", question) for question in self.open),
        ]


@takes()
def propose_dialect(
    replies: Sequence[str], name: str = "proposed", registered: bool = True
) -> Proposal:
    """Return the form in which a model's replies call tools.

    Give two or three replies with calls of different tools. A registered dialect that writes these
    calls in the same way is proposed unchanged (not with `registered=False`). Otherwise text that
    is the same around all calls becomes a marker, and varying text a hole. Prose stays text.

    Raises InputFault if there are no replies, if they are too long or contain no call, or if no
    declaration reads every call that was found.
    """
    texts = [
        _text(reply, number)
        for number, reply in enumerate(items("propose_dialect(replies=…)", replies), 1)
    ]
    if not any(text.strip() for text in texts):
        raise InputFault("there is no reply", expected="two or three replies with calls in them")
    if sum(map(len, texts)) > _MOST:
        raise InputFault("the replies are too long", expected=f"{_MOST:,} characters at most")
    names = _registered(texts) if registered else []
    if names:
        return _of_registered(names, texts, name)
    best = min(_proposals(texts, name), key=_cost, default=None)
    if best is None:
        raise InputFault(
            "no form was found that reads the calls of these replies",
            expected="replies with calls of two tools, one of them with two arguments",
        )
    return replace(best, registered=_dialects_reading_alike(best.readings, texts))


def _text(reply: Any, number: int) -> str:
    if not isinstance(reply, str):
        raise InputFault(
            f"{type(reply).__name__} was given", where=f"reply {number}", expected="a text"
        )
    return reply


def _cost(proposal: Proposal) -> tuple[int, ...]:
    """Return a sort key: the numbers of unexplained characters, of characters left as text, and of
    replies that the dialect would write differently."""
    readings = proposal.readings
    return (
        sum(len(text) for reading in readings for _, text in reading.unexplained),
        sum(len(text) for reading in readings for _, text in reading.texts),
        sum(not reading.written for reading in readings),
    )


# a registered dialect


def _registered(replies: Sequence[str]) -> list[str]:
    """Return the registered dialects that write the calls as the replies do, apart from white
    space, and leave no markup as text. Dialects in which any text may be a call are left out."""
    names = []
    for dialect in _declared():
        if type(dialect) is DeclaredDialect and not dialect.syntax.text_keys:
            readings = [_reading(dialect, reply) for reply in replies]
            calls = [reading for reading in readings if reading.calls]
            is_clean = all(reading.written and not reading.unexplained for reading in readings)
            if calls and is_clean and all(map(_has_call, readings, replies)):
                names.append(dialect.name)
    return names


def _has_call(reading: ReplyReading, reply: str) -> bool:
    """Return True if a reading has a call, or if the reply has no markup and so needs none."""
    return bool(reading.calls) or not _MARKUP.search(reply)


def _of_registered(names: list[str], replies: Sequence[str], name: str) -> Proposal:
    dialect = get_dialect(names[0])
    assert isinstance(dialect, DeclaredDialect)
    readings = tuple(_reading(dialect, reply) for reply in replies)
    return Proposal(dialect, readings, (), tuple(names))


# a new form


def _proposals(replies: Sequence[str], name: str) -> Iterator[Proposal]:
    """Yield every form that reads all the calls of one finder."""
    stops = _stops(replies)
    texts = [_without_stop(reply, stops) for reply in replies]
    for find in FINDERS:
        occurrences = find(texts)
        if not any(occurrences):
            continue
        for syntax, questions in dict(syntaxes(texts, occurrences)).items():
            dialect = _dialect(name, syntax, replies, stops)
            readings = tuple(_reading(dialect, reply) for reply in replies)
            if all(map(_reads, readings, occurrences)):
                yield Proposal(dialect, readings, (*questions, *_odd_names(readings)), ())


def _dialect(
    name: str, syntax: Syntax, replies: Sequence[str], stops: Sequence[str]
) -> DeclaredDialect:
    return DeclaredDialect(
        name=name,
        syntax=syntax,
        rules=RULES,
        reasoning=tuple(tags for tags in _thoughts() if _has_both(tags, replies)),
        stops=tuple(stops),
    )


def _stops(replies: Sequence[str]) -> list[str]:
    """Return those stop tokens (of registered dialects, and two common ones) that end a reply."""
    tokens = {stop for dialect in _declared() for stop in dialect.stops} | {"</s>", "<|endoftext|>"}
    return sorted(stop for stop in tokens if any(r.rstrip().endswith(stop) for r in replies))


def _without_stop(reply: str, stops: Sequence[str]) -> str:
    end = max((stop for stop in stops if reply.rstrip().endswith(stop)), key=len, default="")
    return reply.rstrip().removesuffix(end) if end else reply


def _declared() -> list[DeclaredDialect]:
    dialects = map(get_dialect, dialect_names())
    return [dialect for dialect in dialects if isinstance(dialect, DeclaredDialect)]


def _thoughts() -> list[ReasoningTags]:
    """Return the tags around reasoning of every registered dialect."""
    tags = {THINK: None}
    for dialect in _declared():
        tags |= dict.fromkeys(t for t in dialect.reasoning if t.open and t.close)
    return list(tags)


def _has_both(tags: ReasoningTags, replies: Sequence[str]) -> bool:
    return any(tags.open in reply and tags.close in reply for reply in replies)


# readings of a form


def _reading(dialect: DeclaredDialect, reply: str) -> ReplyReading:
    result = parse(reply, dialect)
    texts = tuple(
        (e.span.start, e.text) for e in result.events if isinstance(e, TextEvent) and e.text.strip()
    )
    unexplained = tuple(each for each in texts if _MARKUP.search(each[1]))
    unexplained += tuple(
        (a.span.start, f"a call of {a.name or '?'} that is not complete") for a in result.aborted
    )
    unexplained += tuple(
        (e.span.start, f"a value that holds markup: {e.text}")
        for e in result.events
        if isinstance(e, ArgumentEvent) and e.key is not None and _TAGS.search(e.text)
    )
    calls = tuple((call.name, call.arguments) for call in result.tool_calls)
    return ReplyReading(calls, texts, unexplained, _is_as_written(dialect, result, reply))


def _is_as_written(dialect: DeclaredDialect, result: ParseResult, reply: str) -> bool:
    """Return True if the dialect would write the calls as the reply does, except for white
    space."""
    if not result.tool_calls:
        return not result.aborted
    parts = [ToolCallPart(c.call_id, c.name, c.arguments) for c in result.tool_calls]
    dense_reply = re.sub(r"\s+", "", reply)
    texts = [dialect.format_reply(parts), *map(dialect.format_tool_call, parts)]
    together, *one_by_one = (re.sub(r"\s+", "", text) for text in texts)
    return together in dense_reply or all(text in dense_reply for text in one_by_one)


def _odd_names(readings: Sequence[ReplyReading]) -> list[str]:
    names = dict.fromkeys(name for reading in readings for name, _ in reading.calls)
    odd = [name for name in names if not _TOOL.fullmatch(name)]
    return [f"whether all of {name!r} is a tool's name" for name in odd]


def _reads(reading: ReplyReading, occurrences: Sequence[Occurrence]) -> bool:
    """Return True if the reading has exactly the calls that were found, with their arguments."""
    if len(reading.calls) != len(occurrences):
        return False
    return all(
        name
        and (not call.name or name == call.name)
        and _has_same_values(arguments, call.arguments)
        for (name, arguments), call in zip(reading.calls, occurrences, strict=True)
    )


def _has_same_values(read: Any, seen: Any) -> bool:
    """Return True if both values are the same, except for white space at the ends of texts."""
    if same(read, dict(seen)):
        return True
    texts = (
        {key: str(value).strip() for key, value in each.items()} for each in (read, dict(seen))
    )
    read_texts, seen_texts = texts
    return read_texts == seen_texts and all(isinstance(value, str) for value in seen.values())


def _dialects_reading_alike(
    readings: Sequence[ReplyReading], replies: Sequence[str]
) -> tuple[str, ...]:
    """Return the registered dialects that read the same calls, even if written differently."""
    names = []
    for dialect in _declared():
        calls_by_reply = [_reading(dialect, reply).calls for reply in replies]
        if all(same(list(o), list(r.calls)) for o, r in zip(calls_by_reply, readings, strict=True)):
            names.append(dialect.name)
    return tuple(names)
