"""Compare the leaves of a file (its texts, calls, results, token counts) with its sessions.

Texts are searched for in the sessions. For texts, annotations and calls, the numbers of occurrences
are compared, too, because one copy may be lost. A result is compared with those of the same call.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from playground.base.findings import Finding
from playground.base.json_numbers import load_json
from playground.sessions.native_format import plain_session
from playground.sessions.places import Place, numberless
from playground.sessions.receipts.counts import USAGE
from playground.sessions.receipts.holdings import Holdings, holdings_of, strings
from playground.sessions.receipts.leaves import (
    FileResult,
    FileUsage,
    FileWords,
    Leaves,
    arguments_text,
    is_text,
    leaves_in,
)
from playground.sessions.receipts.receipt import Kind, Missing, Receipt
from playground.sessions.session import Session

_SHORTEST_PIECE: Final = 12  # characters: shorter texts are not searched for in longer ones
# A speaker's name before a text.
_LABEL: Final = re.compile(r"[A-Z][A-Za-z ]{1,20}: ?|(?:SYSTEM|USER|ASSISTANT) ")
_TAG: Final = re.compile(r"<[/!]?[\w|:./=\" -]{1,60}>")  # markup, which importers may take away
AS_SENT: Final = "it is in a request's body, which is stored as it was sent"
_MESSAGE_FIELDS: Final = frozenset({"messages", "input", "contents", "prompt"})
SAME: Final = "the same text is in "  # a path follows, which must have the text, too
# Codes of findings about all lines of a kind; they name only the first line.
_KIND_CODES: Final = ("lines-left-out", "bookkeeping")
# Codes of findings about something that a session lacks or holds in another form.
_EXPLAINING_CODES: Final = frozenset({
    "part-lost", "not-in-session", "beside-left-out", "history-differs", "unreadable-line",
    "spoiled-rest", "torn-end", "tool-left-out", "tools-by-name", "not-written-out",
    "options-left-out", "headers-left-out", "unreadable-frame", "stream-error", "two-responses",
    "other-choices", "other-branches", "usage-lost", "arguments-kept-as-text", "not-a-number",
    "long-integer", "lone-surrogate", "reasoning-sealed", "counts-converted",
    *_KIND_CODES,
})  # fmt: skip
Found = tuple[Place, Kind, str]  # a difference: its place in the file, its kind, its text
_LETTER_OR_DIGIT: Final = re.compile(r"\w")


def receipt_of(
    leaves: Leaves,
    sessions: Sequence[Session],
    findings: Iterable[Finding] = (),
    left_aside: Mapping[str, str] | None = None,
    format: str = "",
    own: bool = False,
) -> Receipt:
    """Compare the leaves of a file with the sessions that were read from it. A difference is
    explained by a finding, or by the `left_aside` of the file's format. `own` is True for our own
    formats."""
    holdings = holdings_of(sessions, own)
    found = [*_texts(leaves, holdings), *_calls(leaves, holdings)]
    found += _usages(leaves, holdings)
    lost = {text for _, _, text in found}
    as_sent = _SessionTexts(holdings.as_sent)
    found += [each for each in differences(leaves, holdings) if each[2] not in lost]
    explanations = _Explanations(leaves, findings, left_aside or {})
    in_sessions = {
        "messages": len(holdings.messages),
        "calls": holdings.calls_made,
        "results": holdings.results,
        "requests": holdings.requests,
        "input tokens": holdings.read,
        "output tokens": holdings.written,
    }
    if own:  # recordings and bodies are in the file and in the sessions, and count in both
        in_sessions = _counts(leaves_in([plain_session(each) for each in sessions]), explanations)
    return Receipt(
        format,
        _counts(leaves, explanations),
        in_sessions,
        sum(len(text.text) for text in leaves.texts),
        _with_findings_of_same_text([explanations.explained(*each, as_sent) for each in found]),
    )


def _counts(leaves: Leaves, explanations: _Explanations) -> dict[str, int]:
    used = [
        usage
        for reports in _by_counts(leaves).values()
        for usage in reports
        if not (explanations.aside_reason(usage.place) or explanations.is_copy(usage.place))
    ]
    return {
        "messages": len(leaves.messages),
        "calls": len({(c.call_id, c.name, c.arguments) for c in leaves.calls}),
        "results": len({each.call_id or each.values for each in leaves.results}),
        "requests": len(used),
        "input tokens": sum(usage.read for usage in used),
        "output tokens": sum(usage.written for usage in used),
    }


def _with_findings_of_same_text(missing: Sequence[Missing]) -> list[Missing]:
    """Return the missing pieces; a finding about a text explains all pieces with this text."""
    codes = {each.text: each.finding_code for each in missing if each.finding_code}
    return [
        replace(each, finding_code=codes.get(each.text, "")) if each.is_silent else each
        for each in missing
    ]


class _SessionTexts:
    """The texts of sessions, to be searched for texts of the file."""

    def __init__(self, texts: Iterable[str]) -> None:
        folded_texts = {folded(text): None for text in texts}
        self._exact = folded_texts.keys()
        self._joined = "\n".join(folded_texts)
        self._pieces = sorted((t for t in folded_texts if len(t) >= _SHORTEST_PIECE), key=len)[::-1]

    def missing(self, text: str) -> list[str]:
        """Return the pieces of a text that no session holds and that are long enough to count. A
        text may hold several texts of sessions (a transcript in one string, for instance). So it is
        compared line by line, and the sessions' texts are cut out of each line."""
        text = text.encode("utf-8", "replace").decode()  # importers replace half surrogates
        if self._holds(folded(text)):
            return []
        lines = [line for line in _without_json(text, self) if is_text(line)]
        return [rest for line in lines for rest in self._missing_texts(folded(line))]

    def holds(self, text: str) -> bool:
        """Return True if a text is a text of a session or, if it is long enough, a part of one."""
        text = folded(text)
        return text in self._exact or (is_text(text) and text in self._joined)

    def _holds(self, line: str) -> bool:
        if line in self._exact or line in self._joined:
            return True
        label = _LABEL.match(line)
        return label is not None and line[label.end() :] in self._joined

    def _missing_texts(self, line: str) -> list[str]:
        if self._holds(line):
            return []
        for piece in self._pieces:
            if len(piece) <= len(line) and piece in line:
                line = line.replace(piece, "\n")
        line = _TAG.sub("\n", line)
        rests = map(str.strip, line.split("\n"))
        return [rest for rest in rests if is_text(rest) and not self._holds(rest)]


def _without_json(text: str, texts: _SessionTexts) -> Iterator[str]:
    """Yield the lines of a text; of JSON in the text, yield only the strings that no session
    holds."""
    decoder, at, start = json.JSONDecoder(strict=False), 0, 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, stop = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield from text[start:at].split("\n")
        yield from (
            rest for inner in strings(value) if is_text(inner) for rest in texts.missing(inner)
        )
        at = start = stop
    yield from text[start:].split("\n")


def _texts(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    texts = _SessionTexts(holdings.texts)
    known: dict[str, list[str]] = {}
    for place, text in leaves.texts:
        if text not in known:
            known[text] = texts.missing(text)
        for rest in known[text]:
            yield place, "text", rest


def _calls(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield the calls that no session holds. Calls with the same id, name and content count
    once."""
    each = {(call.call_id, call.name, call.arguments): call for call in leaves.calls}
    remaining = Counter(holdings.calls)
    contents = {arguments for _, arguments in remaining} | _json_texts(holdings)
    for call in each.values():
        key = call.name, call.arguments
        known = remaining if call.call_id else holdings.calls  # a body's copy may lack the id
        is_there = known[key] > 0 if call.name else call.arguments in contents
        if is_there and call.name and call.call_id:
            remaining[key] -= 1
        if not is_there:
            yield call.place, "call", f"{call.name}({call.arguments})"


def _json_texts(holdings: Holdings) -> set[str]:
    """Return the texts that are JSON objects, spelt as arguments are. If a call in a stream has no
    name, the session has its arguments as such a text."""
    found = set()
    for text in holdings.texts:
        if text.lstrip()[:1] == "{":
            with suppress(ValueError, RecursionError):
                found.add(arguments_text(load_json(text, strict=True)))
    return found


def _usages(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield the token reports that the requests have less often than the file, and those that they
    have more often. A report in the file may be a copy of another report, or the sum of all."""
    sums = (holdings.read, holdings.written) if len(holdings.usages) > 1 else (0, 0)
    bills = Counter(holdings.usages)
    for counts, reports in _by_counts(leaves).items():
        billed = sum(n for one, n in bills.items() if _is_part(counts, one))
        first = reports[0]
        billed += billed > 0 and holdings.requests == 1 and _may_repeat(reports)
        is_sum = len(reports) == 1 and any(sums) and (first.read, first.written) == sums
        for usage in reports[billed:] if not is_sum else ():
            yield usage.place, "usage", _in_words(counts)
    if leaves.may_hide_counts:
        return
    in_file = Counter(usage.counts for usage in leaves.usages)
    for counts, times in bills.items():
        count_in_file = sum(n for one, n in in_file.items() if _is_part(one, counts))
        if times > count_in_file:
            yield (
                Place(),
                "usage added",
                f"{_in_words(counts)}: {times} times, {count_in_file} in the file",
            )


def _in_words(counts: Sequence[int]) -> str:
    """Return the counts of a report in words."""
    return f"{' and '.join(f'{count:,}' for count in counts)} tokens"


def _may_repeat(reports: list[FileUsage]) -> bool:
    """Return True if reports with the same counts may be of one request: a run's sum may be at
    another path, or a trace's span may repeat an inner span's report. Usage objects at one path
    are of several requests."""
    paths = {numberless(str(usage.place)) for usage in reports}
    return len(paths) > 1 or USAGE.search(next(iter(paths)).rpartition(".")[2]) is None


def _by_counts(leaves: Leaves) -> dict[tuple[int, ...], list[FileUsage]]:
    """Group the last token report of each answer by its counts. Unless all reports of a group name
    their answers, keep only those at the path that has the fewest of them, because those at the
    other paths may belong to repeated history."""
    last = {usage.answer or number: usage for number, usage in enumerate(leaves.usages)}
    groups: dict[tuple[int, ...], list[FileUsage]] = {}
    for usage in last.values():
        groups.setdefault(usage.counts, []).append(usage)
    return {counts: _without_copies(reports) for counts, reports in groups.items()}


def _without_copies(reports: list[FileUsage]) -> list[FileUsage]:
    if all(usage.answer for usage in reports):
        return reports
    paths: dict[str, list[FileUsage]] = {}
    for usage in reports:
        paths.setdefault(numberless(str(usage.place)), []).append(usage)
    return min(paths.values(), key=len)


def _is_part(report: Iterable[int], bill: Iterable[int]) -> bool:
    """Return True if a request's bill has all counts of a report, and perhaps more."""
    return set(report) <= set(bill)


class _Explanations:
    """The reasons why a piece may be missing: a finding is about it, or the format ignores it."""

    def __init__(
        self, leaves: Leaves, findings: Iterable[Finding], left_aside: Mapping[str, str]
    ) -> None:
        self._kinds = leaves.kinds
        self._findings = list(findings)
        self._paths = [(_pattern(p), r) for p, r in left_aside.items() if p[:1] != "^"]
        self._texts = [(re.compile(p), r) for p, r in left_aside.items() if p[:1] == "^"]
        self._file_texts = leaves.texts

    def explained(self, place: Place, kind: Kind, text: str, as_sent: _SessionTexts) -> Missing:
        where = str(place)
        aside = self.aside_reason(place, text)
        if kind == "text" and not aside and self._is_outside(place) and as_sent.holds(text):
            aside = AS_SENT
        if kind == "usage" and self.is_copy(place):
            return Missing(where, kind, text, "counts-converted", aside)
        about = (f for f in self._findings if self._is_about(f, place, text, kind))
        code = next((finding.code for finding in about), "")
        return Missing(where, kind, text, code, aside)

    def _is_outside(self, place: Place) -> bool:
        """Return True for a place outside the messages of a request."""
        return _MESSAGE_FIELDS.isdisjoint(place.field.split("."))

    def aside_reason(self, place: Place, text: str = "") -> str:
        """Return the format's reason for ignoring this path or text; "" for none."""
        reasons = (r for p, r in self._paths if p.search(place.field) and self._applies(r, text))
        return next(reasons, "") or next((r for p, r in self._texts if p.search(text)), "")

    def is_copy(self, place: Place) -> bool:
        """Return True for a token report that repeats the provider's report in another span.

        The finding `counts-converted` names the provider's report; sibling spans have the copies.
        """
        wheres = (f.where for f in self._findings if f.code == "counts-converted")
        return any(
            _is_within(place.field, where.rpartition(".")[0]) and not _is_within(place.field, where)
            for where in wheres
        )

    def _applies(self, reason: str, text: str) -> bool:
        """Return False if a reason says that the text is at another path, too, and it is not."""
        if not reason.startswith(SAME):
            return True
        pattern = _pattern(reason.removeprefix(SAME).partition(":")[0])
        looked_for = folded(text)
        return any(
            looked_for in folded(each.text)
            for each in self._file_texts
            if pattern.search(each.place.field)
        )

    def _is_about(self, found: Finding, place: Place, text: str, kind: Kind) -> bool:
        where, line = str(place), place.line
        if found.code in _KIND_CODES and line is not None and line in self._kinds:
            return f"kind {self._kinds[line]!r}" in found.message
        if found.code not in _EXPLAINING_CODES:
            return False
        if found.code == "not-in-session":
            return _is_within(numberless(where), found.message.rpartition(" at ")[2])
        if found.code == "beside-left-out":  # its message lists fields' names
            if kind in ("result", "usage"):  # the finding names a field of the object
                return _is_within(found.where, where)
            names = {each.partition(" ")[0].rstrip("s") for each in found.message.split(", ")}
            return any(step.rstrip("s") in names for step in where.split("."))
        return (
            _quotes(found.message, text)  # e.g. in a stream: findings name chunks, not paths
            or _is_within(where, found.where)
            or _is_within(found.where, where)
            or any(_is_within(where, word.rstrip(",)")) for word in found.message.split())
        )


def _quotes(message: str, text: str) -> bool:
    """Return True if a message quotes a text, or the start of a text that the message cuts off."""
    starts = (each.removesuffix("…").strip() for each in (message, message.rpartition(": ")[2]))
    return text in message or any(
        len(start) >= _SHORTEST_PIECE and text.startswith(start) for start in starts
    )


def _is_within(inner: str, outer: str) -> bool:
    """Return True if a place is `outer` or inside it; steps that lead into a body are ignored."""
    inner, outer = _bare(inner), _bare(outer)
    return inner == outer or (
        inner.startswith(outer) and inner[len(outer) : len(outer) + 1] in ".,"
    )


# Steps that lead into the body of an exchange; findings leave them out.
_INTO_BODY: Final = re.compile(
    r"\.(?:postData\.text|content\.text|body|string|parsed_body|base64_string|raw_gzip|__data__)(?=\.|$)"
)


def _bare(place: str) -> str:
    """Return a place without the steps that lead into a body."""
    return _INTO_BODY.sub("", place).removeprefix("http_")


def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a path: `*` is a step or a part of a step, `**` any number of steps."""
    steps = ["(?:[^.]+\\.)*?" if step == "**" else _step(step) for step in path.split(".")]
    return re.compile("^" + "".join(steps).removesuffix("\\.") + "(?:\\.|$)")


def _step(step: str) -> str:
    return "[^.]*".join(map(re.escape, step.split("*"))) + "\\."


def differences(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield the texts, results and calls that the sessions have less often than the file, and the
    texts and calls that one session has more often."""
    session_words = _SessionWords(holdings)
    yield from _missing_words(leaves, session_words, holdings.calls)
    yield from _results(leaves, holdings)
    yield from _repeated_calls(leaves, holdings)
    for text, times in holdings.most_in_a_session.items():
        if 0 < leaves.strings[text] < times:
            yield Place(), "text added", text
    in_file = Counter((call.name, call.arguments) for call in leaves.calls)
    for (name, arguments), times in holdings.most_calls_in_a_session.items():
        if 0 < in_file[name, arguments] < times and arguments != "{}":
            yield Place(), "call added", f"{name}({arguments})"


class _SessionWords:
    """The texts of sessions, with the number of times that each occurs."""

    def __init__(self, holdings: Holdings) -> None:
        self._whole: Counter[str] = Counter()
        self._lines: Counter[str] = Counter()
        for text, times in holdings.part_texts.items():
            self._whole[folded(text)] += times
            for line in text.split("\n"):
                self._lines[folded(line)] += times
        for text in holdings.texts:  # texts outside of messages, such as a system prompt
            self._whole[folded(text)] = self._whole[folded(text)] or 1
            for line in text.split("\n"):
                self._lines[folded(line)] = self._lines[folded(line)] or 1
        self._joined = "\n".join(text for text, n in self._whole.items() for _ in range(n))

    def times(self, text: str) -> int:
        """Return how often a text occurs alone or as a line; else, if it is long, inside others."""
        count = self._whole[text] or self._lines[text]
        return count or (self._joined.count(text) if len(text) >= _SHORTEST_PIECE else 0)

    def holds(self, text: str) -> bool:
        """Return True if a text occurs anywhere, also within another one."""
        return text in self._joined


def _missing_words(
    leaves: Leaves, session_words: _SessionWords, session_calls: Iterable[tuple[str, str]]
) -> Iterator[Found]:
    """Yield the texts that a list of messages has more often than the sessions."""
    names = {name for name, _ in session_calls}
    chats: dict[tuple[int, str, bool], dict[str, FileWords]] = {}
    for words in leaves.words:
        key = words.chat, folded(words.text), words.is_text
        chats.setdefault(key, {})[words.message if words.chat else ""] = words
    for (_, text, as_text), each in chats.items():
        if not _LETTER_OR_DIGIT.search(text) or _is_call(text, names):
            continue  # punctuation alone, or a call written as text
        count = session_words.times(text) if as_text else len(each) * session_words.holds(text)
        for words in [*each.values()][count:]:
            yield words.place, "text" if as_text else "beside", words.text


def _is_call(text: str, names: Iterable[str]) -> bool:
    """Return True for a text that may be a call of one of these tools, because a session then has a
    call instead of this text."""
    return any(f"{name}(" in text or f'"{name}"' in text for name in names if name)


def _results(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield the results with a value that the session's result of the same call lacks."""
    every = [text for texts in holdings.results_by_call.values() for text in texts]
    each = {(r.call_id, r.values): r for r in leaves.results if r.values}
    for result in each.values():
        session_results = holdings.results_by_call.get(result.call_id) or every
        if not any(_holds(text, result) for text in session_results):
            yield result.place, "result", " ".join(result.values)


def _repeated_calls(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield the calls without ids that a list of messages has more often than the sessions."""
    chats: dict[tuple[int, str, str], list[Place]] = {}
    for call in leaves.calls:
        if call.chat and call.name and not call.call_id:
            chats.setdefault((call.chat, call.name, call.arguments), []).append(call.place)
    for (_, name, arguments), places in chats.items():
        if 0 < (count := holdings.calls[name, arguments]) < len(places):
            yield places[count], "call", f"{name}({arguments})"


def _holds(text: str, result: FileResult) -> bool:
    return all(value in text for value in result.values)


def folded(text: str) -> str:
    """Return a text with each run of white space replaced by one blank."""
    return " ".join(text.split())
