"""Guess declarations of a dialect from a few replies, by the texts around their calls.

Only a reply with two calls shows where a section (the text around all calls) ends and a call
begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.base.errors import SyntaxFault
from playground.parsing.syntax import JsonShape, Syntax
from playground.plugins.own_dialects.asking import common_end, common_start
from playground.plugins.own_dialects.derivation.alignment import (
    MARKS,
    as_template,
    snap_end,
    snap_start,
)
from playground.plugins.own_dialects.derivation.occurrences import Occurrence

# An id or a number of a call. `_WORD` is a text's last word, perhaps a name.
_ID: Final = re.compile(r"(?:(?:call|id|fc|toolu|tool|chatcmpl)[_-]\w*\d\w*|\d+)")
_WORD: Final = re.compile(r"[A-Za-z_][\w.:-]*\Z")


@dataclass(frozen=True, slots=True)
class CallSurroundings:
    """The texts before and after the body of a call, up to the bodies of the neighbouring calls.

    `first` and `last` are true for the first and the last call of a reply.
    """

    before: str
    after: str
    first: bool
    last: bool


def syntaxes(
    replies: Sequence[str], rows: Sequence[Sequence[Occurrence]]
) -> Iterator[tuple[Syntax, list[str]]]:
    """Yield declarations that may describe these calls, the likeliest first.

    Each declaration comes with a list of what these replies cannot show.
    """
    calls = [call for row in rows for call in row]
    if len({(call.hole, call.shape.name, call.shape.name_is_key) for call in calls}) != 1:
        return
    marked = _mark_names(
        [_texts_around_calls(r, row) for r, row in zip(replies, rows, strict=True)], calls
    )
    if marked is None:
        return
    surroundings, names = marked
    questions = _open_questions(rows, calls)
    for opener, closer, section in _cuts(surroundings):
        literals = (opener, closer, *(section or ()))
        if not any(name in text for name in names for text in literals):
            yield from _declared_forms(calls, opener, closer, section, questions)


def _texts_around_calls(reply: str, calls: Sequence[Occurrence]) -> list[CallSurroundings]:
    edges = [0, *(call.stop for call in calls)]
    starts = [*(call.start for call in calls[1:]), len(reply)]
    return [
        CallSurroundings(
            reply[edges[i] : call.start], reply[call.stop : starts[i]], i == 0, i == len(calls) - 1
        )
        for i, call in enumerate(calls)
    ]


def _mark_names(
    rows: list[list[CallSurroundings]], calls: list[Occurrence]
) -> tuple[list[CallSurroundings], set[str]] | None:
    """Return the texts around the calls, and the calls' names. In the texts, each name, id or
    number is replaced by its placeholder of `MARKS`. Return None if the names cannot be found."""
    flat = [call for row in rows for call in row]
    if calls[0].hole == "call:json":
        return flat, set()
    befores = [call.before for call in flat]
    for _ in range(3):
        words = _varying_words(befores)
        if not words:
            return None
        if all(map(_ID.fullmatch, words)):
            befores = [
                _mark_last(text, word, "id") for text, word in zip(befores, words, strict=True)
            ]
            continue
        names, befores = _bare_names(words, befores, rows)
        return _with_names(rows, names, befores), set(names)
    return None


def _with_names(
    rows: list[list[CallSurroundings]], names: list[str], befores: list[str]
) -> list[CallSurroundings]:
    """Return the texts around all calls, with placeholders for the names in them."""
    result: list[CallSurroundings] = []
    for row in rows:
        for i, call in enumerate(row):
            index = len(result)
            after = befores[index + 1] if i + 1 < len(row) else call.after
            after = _mark_first(after, names[index])
            result.append(CallSurroundings(befores[index], after, call.first, call.last))
    return result


def _varying_words(befores: list[str]) -> list[str]:
    """Return each text's last word before the end that all texts share. Return [] if a text has no
    word there, or if all words are the same."""
    if len(set(befores)) < 2:
        return []
    constant = befores[0]
    for text in befores[1:]:
        constant = common_end(constant, text)
    lead = re.match(r"[\w.:-]*", constant)  # the common end of all names is not part of the marker
    constant = constant[lead.end() if lead else 0 :]
    words = [_WORD.search(text[: len(text) - len(constant)]) for text in befores]
    texts = [word[0] if word else "" for word in words]
    return texts if len(set(texts)) > 1 and all(texts) else []


def _bare_names(
    words: list[str], befores: list[str], rows: list[list[CallSurroundings]]
) -> tuple[list[str], list[str]]:
    """Return the names in these words, and the texts with placeholders for the names.

    A prefix or suffix that all words share, up to a dot or a colon, is not part of the names, and
    neither is a number that counts the calls (`name:0`).
    """
    names, marks = words, [MARKS["name"]] * len(words)
    numbers = [word.rpartition(":")[2] for word in words]
    call_numbers = [str(i) for row in rows for i in range(len(row))]
    if numbers == call_numbers and all(":" in word for word in words):
        names = [word.rpartition(":")[0] for word in words]
        marks = [f"{MARKS['name']}:{MARKS['index']}"] * len(words)
    head = re.match(r"(?:\w+[.:/])*", names[0])
    start = head[0] if head and all(name.startswith(head[0]) for name in names) else ""
    tail = re.search(r"(?:[.:]\w+)*\Z", names[0])
    end = tail[0] if tail and all(name.endswith(tail[0]) for name in names) else ""
    names = [name.removeprefix(start).removesuffix(end) for name in names]
    texts = [
        text[: text.rfind(word)]
        + start
        + mark.replace(MARKS["name"], MARKS["name"] + end)
        + text[text.rfind(word) + len(word) :]
        for text, word, mark in zip(befores, words, marks, strict=True)
    ]
    return names, texts


def _mark_last(text: str, word: str, hole: str) -> str:
    start = text.rfind(word)
    return text[:start] + MARKS[hole] + text[start + len(word) :]


def _mark_first(text: str, name: str) -> str:
    """Replace a name that a closer repeats (`</name>`) by its placeholder."""
    match = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text[:200])
    return text if match is None else text[: match.start()] + MARKS["name"] + text[match.end() :]


def _cuts(
    surroundings: list[CallSurroundings],
) -> Iterator[tuple[str, str, tuple[str, str, str] | None]]:
    """Yield possible openers and closers of a call, each with a section (the texts before and after
    all calls, and the separator) or None."""
    between = [call.after for call in surroundings if not call.last]
    for snaps in (True, False):  # False: uncut, because `<` may not begin a tag
        opener = _constant_before([call.before for call in surroundings], snaps)
        closer = _constant_after([call.after for call in surroundings], snaps)
        first = _constant_before([call.before for call in surroundings if call.first], snaps)
        last = _constant_after([call.after for call in surroundings if call.last], snaps)
        if between:
            yield from _with_section(opener, closer, first, last, between)
        yield first, last, None


def _with_section(
    opener: str, closer: str, first: str, last: str, between: list[str]
) -> Iterator[tuple[str, str, tuple[str, str, str] | None]]:
    """Yield opener, closer and section if closer begins and opener ends the gap between calls."""
    before = first[: len(first) - len(opener)] if first.endswith(opener) else ""
    after = last[len(closer) :] if last.startswith(closer) else ""
    gap = between[0]
    if gap.startswith(closer) and gap.endswith(opener) and len(closer) + len(opener) <= len(gap):
        separator = gap[len(closer) : len(gap) - len(opener)]
        if before.strip():
            yield opener, closer, (before, after, separator)
        else:
            yield opener, closer, ("", "", separator)


def _constant_before(texts: list[str], snaps: bool) -> str:
    end = texts[0]
    for text in texts[1:]:
        end = common_end(end, text)
    end = _after_blank_line(end)
    return (snap_end(texts[0], end) if snaps else end).lstrip()


def _after_blank_line(end: str) -> str:
    """Return the text after the last blank line. Text before it is prose, which in a single reply
    looks like a part of the marker."""
    return end.rpartition("\n\n")[2]


def _constant_after(texts: list[str], snaps: bool) -> str:
    start = texts[0]
    for text in texts[1:]:
        start = common_start(start, text)
    start = start.partition("\n\n")[0]
    return (snap_start(texts[0], start) if snaps else start).rstrip()


def _declared_forms(
    calls: Sequence[Occurrence],
    opener: str,
    closer: str,
    section: tuple[str, str, str] | None,
    questions: list[str],
) -> Iterator[tuple[Syntax, list[str]]]:
    call = calls[0]
    fields: dict[str, Any] = {"call": f"{as_template(opener)}{{{call.hole}}}{as_template(closer)}"}
    if call.param:
        fields["param"] = max((other_call.param for other_call in calls), key=len)
    if call.shape != JsonShape():
        fields["shape"] = call.shape
    if section is not None:
        before, after, fields["separator"] = section
        if before:
            fields["section"] = f"{as_template(before)}{{calls}}{as_template(after)}"
    try:
        yield Syntax(**fields), questions
    except SyntaxFault:
        return


def _open_questions(rows: Sequence[Sequence[Occurrence]], calls: Sequence[Occurrence]) -> list[str]:
    questions = []
    if len(calls) == 1:
        questions.append("with only one call, markers and values cannot be told apart")
    if all(len(row) < 2 for row in rows):
        questions.append("no reply holds two calls, so the text around all calls is part of each")
    if not any(isinstance(v, str) and "\n" in v for c in calls for v in c.arguments.values()):
        questions.append("no value holds a line break, so it is unknown how one is written")
    return questions
