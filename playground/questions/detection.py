"""Detect a reply's dialect: read it by every parser, and rank the readings."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from playground.base.arguments import older_name, takes
from playground.base.display import Listed, as_text, draw
from playground.base.findings import Finding, finding
from playground.base.wording import counted
from playground.dialects import as_dialects, dialect_files, get_dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files.folders import FileState
from playground.dialects.misspelled_markers import NearDialect, nearest_dialect
from playground.dialects.reading import parse
from playground.nouns.events import ArgumentEvent, ReasoningEvent, TextEvent, owned_text
from playground.nouns.messages import ToolCallPart
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.questions.every_dialect import DialectReading, Progress, read_in_every_dialect
from playground.recordings.recording import Recording

# Codes of findings about a text that looks like a call but was not read as a call.
_CALL_HINTS: Final = frozenset({"bare-opener", "call-in-fence", "unreadable-call", "unknown-tool"})
# Codes that are no evidence for a dialect: any dialect may report them for a reply without calls.
_OF_ANY_TEXT: Final = frozenset({"unread-call", "foreign-closer", "filtered-tokens"})
# Codes that are no evidence against a dialect: its own models often leave the wrapper out.
_NO_EVIDENCE_AGAINST: Final = _OF_ANY_TEXT | {"missing-section"}
_NONE_NEAR: Final = NearDialect()
SHOWN: Final = 8  # dialects in the printed table; `.frame()` has all
_STARTS_READ: Final = 2_000  # starts of markers; a reply of a hundred calls has fewer
_START: Final = re.compile(r"<[\w/|]|\[[A-Z/]|```|~~~|\{\s{0,8}\"")
_MARKER: Final = re.compile(r"[<\[]\W*\w{3}")  # a tag or a control token, but not a bracket alone


@dataclass(frozen=True, slots=True)
class Detection:
    """A text as one dialect reads it.

    `as_written` is True if the dialect would write these calls in this way, apart from white space.
    If not, `begun` is the number of leading characters of the first call that the dialect would
    write so, too. `text_characters` counts the text outside of calls, `markers` the markers of any
    dialect that became text, reasoning or arguments; `unknown` is the number of calls of unknown
    tools. `any_text` is True if the dialect reads any text between its markers as a call,
    `any_fence` if its markers are those of a code fence.
    """

    dialect: str
    calls: int
    aborted: int
    as_written: bool
    begun: int
    text_characters: int
    markers: int
    any_text: bool
    findings: tuple[str, ...]
    unknown: int = 0
    any_fence: bool = False

    left = older_name("left", "text_characters")

    @property
    def evident(self) -> int:
        """The complete calls of known tools, which are evidence for the dialect; 0 if doubtful."""
        return 0 if self.doubtful else self.calls - self.unknown

    @property
    def doubtful(self) -> bool:
        """True if the calls are weak evidence: many replies without a call hold code fences.

        The dialect reads any text as a call, and either other markers stay text or the dialect
        would write the call's code fence in another way.
        """
        return self.any_text and (self.markers > 0 or (self.any_fence and not self.as_written))

    @property
    def tells(self) -> bool:
        """True if the dialect reads a call, aborts one, or has a finding that suggests one."""
        called = not self.doubtful and (self.calls or self.aborted)
        return bool(called or _CALL_HINTS.intersection(self.findings))

    @property
    def reason(self) -> str:
        """The reason for the dialect's rank, in words."""
        parts = [counted(self.calls, "complete call")]
        parts += ["written exactly so"] if self.as_written else []
        parts += [f"{self.aborted} aborted"] if self.aborted else []
        parts += [f"{counted(self.text_characters, 'character')} left as text"]
        parts += [f"{counted(self.markers, 'marker')} among them"] if self.markers else []
        parts += [f"findings: {', '.join(self.findings)}"] if self.findings else []
        return ", ".join(parts)


class Detections(Listed[Detection]):
    """Every dialect's reading, the likeliest first. Its table has a row for each dialect.

    If no dialect reads a call or a part of one, a misspelled marker (with a wrong letter, for
    instance) decides: `nearest` is its dialect, and `reason` shows the marker. `unread` counts the
    characters at the end of a text that were not read (see `detect`).
    """

    def __init__(
        self, items: Iterable[Detection] = (), near: NearDialect = _NONE_NEAR, unread: int = 0
    ) -> None:
        super().__init__(items)
        self._near = near
        self.unread = unread

    def __repr__(self) -> str:
        summary = f"{self.dialect or 'none'}, {self.reason}"
        return f"<Detections of {counted(len(self), 'dialect')}: {summary}>"

    def __str__(self) -> str:
        """Return a table of the likeliest dialects, with the number of the others."""
        rows = as_text(draw("rows", Detections(self[:SHOWN])))
        others = len(self) - SHOWN
        note = f"\nand {counted(others, 'dialect')} more: .frame() has them all"
        return rows + note if others > 0 else rows

    @property
    def nearest(self) -> str | None:
        """The likeliest dialect; if None, the dialect of a misspelled marker, or None."""
        return self.dialect or self._near.dialect or None

    @property
    def dialect(self) -> str | None:
        """The likeliest dialect; None if no dialect reads a call or a part of one (see
        `reason`)."""
        return next((each.dialect for each in self[:1] if each.tells), None)

    @property
    def reason(self) -> str:
        """The reason why `dialect` is the likeliest, or why it is None, in words."""
        unread = counted(self.unread, "character")
        return self._reason + (f"; the last {unread} were not read" if self.unread else "")

    @property
    def _reason(self) -> str:
        if self.dialect:
            return self[0].reason
        characters = max((d.text_characters for d in self), default=0)
        if not characters:
            return "the reply is empty"
        unread = f"no dialect sees anything of a call in {counted(characters, 'character')}"
        fenced = next((d.dialect for d in self if d.any_fence and d.calls), None)
        if fenced:
            return f"{unread}, except {fenced}, in which any code fence is a call"
        return f"{unread}; {self._near}" if self._near.dialect else unread


@takes(text="text", tools="list or nothing", progress="function or nothing")
def detect(
    text: str, tools: Sequence[Any] | None = None, progress: Progress | None = None
) -> Detections:
    """Return every dialect's reading, the likeliest first; ties are in the registry's order.

    Dialects that read complete calls of known tools come before those that read none. `progress` is
    called with the number of dialects that have read the text, and the number of all. Because
    eighty parsers read the text, they stop after its first 2,000 starts of tags, fences, control
    tokens and JSON objects; `unread` counts the characters after that.
    """
    metadata = read_tools(list(tools or []))
    end = _end_of_reading(text)
    part = text[:end]
    readings = read_in_every_dialect(lambda name: parse(part, name, metadata), progress=progress)
    return _ranked(readings, metadata, unread=len(text) - end)


def _end_of_reading(text: str) -> int:
    if len(text) <= _STARTS_READ:
        return len(text)
    starts = islice(_START.finditer(text), _STARTS_READ, None)
    return next((start.start() for start in starts), len(text))


def detect_recording(recording: Recording, tools: Sequence[ToolMetadata] = ()) -> Detections:
    """Detect the dialect of a recording; its native calls are evidence, too. Among equal readings,
    the recording's own dialect comes first."""
    from playground.questions.experiments import read_recording  # imported here: loads all servers

    readings = read_in_every_dialect(
        lambda name: read_recording(recording, name, tools), recording.dialect
    )
    return _ranked(readings, list(tools))


def _ranked(
    readings: Iterable[DialectReading], tools: list[ToolMetadata], unread: int = 0
) -> Detections:
    files = dialect_files()
    detections, text = [], ""
    for reading in readings:
        text = text or "".join(map(owned_text, reading.result.events))
        detections.append(detection_of(reading, tools, files))
    ranked = sorted(detections, key=rank)
    unseen = bool(ranked) and not ranked[0].tells
    return Detections(ranked, nearest_dialect(text) if unseen else _NONE_NEAR, unread)


def foreign_finding(ranked: Sequence[Detection], dialect: str) -> Finding | None:
    """Return a finding if `dialect` reads no part of a call, but the likeliest one reads calls."""
    own = next((d for d in ranked if d.dialect == dialect), None)
    best = ranked[0]
    if best.evident <= 0 or best.any_text or (own is not None and own.calls + own.aborted > 0):
        return None
    calls = counted(best.calls, "complete call")
    message = f"{best.dialect} reads {calls} here, {dialect} reads none"
    return finding("foreign-markup", "the whole reply", message)


def rank(detection: Detection) -> tuple[int, ...]:
    """Return the sort key of a reading.

    A reading ranks higher for, in this order: more calls of known tools; fewer unread markers; no
    calls that may be any text; calls that the dialect would write in the same way (many dialects
    read the calls of others); any call, complete or aborted; more characters that the dialect would
    write the same; a finding that suggests a call; fewer aborted calls; fewer findings; less text
    (last, because a dialect whose replies begin with reasoning reads all prose as reasoning).
    """
    is_sound = not detection.doubtful
    reads_calls = is_sound and detection.calls + detection.aborted > 0
    tells = is_sound and bool(_CALL_HINTS.intersection(detection.findings))
    return (
        -detection.evident,
        detection.markers,
        detection.any_text and detection.evident > 0,
        not (is_sound and detection.as_written),
        not reads_calls,
        -detection.begun if is_sound else 0,
        not tells,
        detection.aborted,
        sum(code not in _NO_EVIDENCE_AGAINST for code in detection.findings),
        detection.text_characters,
    )


def detection_of(
    reading: DialectReading, tools: list[ToolMetadata], files: tuple[FileState, ...]
) -> Detection:
    text = "".join(map(owned_text, reading.result.events))
    as_written = _is_as_written(reading, tools, text)
    return Detection(
        dialect=reading.dialect,
        calls=reading.calls,
        aborted=reading.aborted,
        as_written=as_written,
        begun=0 if as_written else _leading_characters(reading, tools, text),
        text_characters=reading.text,
        markers=_markers_left(reading, files),
        any_text=_any_text(reading.dialect),
        any_fence=_any_fence(reading.dialect),
        findings=tuple(reading.findings),
        unknown=reading.findings.get("unknown-tool", 0),
    )


def _markers_left(reading: DialectReading, files: tuple[FileState, ...]) -> int:
    kinds = (TextEvent, ReasoningEvent, ArgumentEvent)
    texts = (event.text for event in reading.result.events if isinstance(event, kinds))
    return sum(_marker_count(text, files) for text in texts)


@lru_cache(maxsize=32)
def _marker_count(text: str, files: tuple[FileState, ...]) -> int:
    """Return the number of markers in a text. It is cached, because most dialects leave the same
    text unread."""
    return len(_markers(files).findall(text))


@lru_cache(maxsize=2)
def _markers(_files: tuple[FileState, ...]) -> re.Pattern[str]:
    """Return a pattern of all dialects' markers, except those that any prose may hold. The pattern
    is cached until the user's dialect files change."""
    markers: set[str] = set()
    for dialect in as_dialects(""):
        if isinstance(dialect, DeclaredDialect):
            tags = (tag for pair in dialect.reasoning for tag in (pair.open, pair.close))
            syntax = dialect.syntax
            markers.update(syntax.openers, syntax.closers, tags, dialect.stops, dialect.dropped)
    texts = (text.strip() for text in markers)
    patterns = [text for text in texts if _MARKER.match(text)]
    return re.compile("|".join(map(re.escape, sorted(patterns, key=len, reverse=True))))


def _any_text(name: str) -> bool:
    dialect = get_dialect(name)
    return isinstance(dialect, DeclaredDialect) and bool(dialect.syntax.text_keys)


def _any_fence(name: str) -> bool:
    dialect = get_dialect(name)
    if not isinstance(dialect, DeclaredDialect):
        return False
    return "```" in dialect.syntax.openers and "```" in dialect.syntax.closers


def _is_as_written(reading: DialectReading, tools: list[ToolMetadata], text: str) -> bool:
    """Return True if the dialect would write the calls in this way, apart from white space."""
    dialect, calls_read = get_dialect(reading.dialect), reading.result.tool_calls
    if not calls_read or not isinstance(dialect, DeclaredDialect):
        return False
    calls = [ToolCallPart(c.call_id, c.name, c.arguments) for c in calls_read]
    return _without_blanks(dialect.format_reply(calls, tools)) in _without_blanks(text)


def _leading_characters(reading: DialectReading, tools: list[ToolMetadata], text: str) -> int:
    """Return how many leading characters of the first call, as the dialect would write it, are in
    the text. The call may be incomplete; 0 if there is none."""
    dialect, result = get_dialect(reading.dialect), reading.result
    calls = [(call.name, call.arguments) for call in result.tool_calls]
    calls += [(aborted.name, {}) for aborted in result.aborted if aborted.name]
    if not calls or "native-call" in reading.findings or not isinstance(dialect, DeclaredDialect):
        return 0
    written = _without_blanks(dialect.format_reply([ToolCallPart("", *calls[0])], tools))
    text, sizes = _without_blanks(text), range(1, len(written) + 1)
    return bisect_left(sizes, True, key=lambda size: written[:size] not in text)


def _without_blanks(text: str) -> str:
    return re.sub(r"\s+", "", text)
