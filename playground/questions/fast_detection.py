"""Detect the dialects of many replies in a fraction of the time of `detect`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeGuard

from playground.dialects import as_dialects, dialect_files, get_dialect
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files.folders import FileState
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.plan import call_openers
from playground.parsing.result import ParseResult, read_to_end
from playground.questions.detection import Detection, detection_of, rank
from playground.questions.every_dialect import DialectReading, read_in_every_dialect
from playground.recordings.recording import Recording

_BEGUN: Final = 12  # least leading characters of a call that must agree; no opener has so many
_REMEMBERED: Final = 1_000  # the most keys whose dialect is remembered
_LEAST_BEGINNING: Final = 2  # characters of an opener; a single one is common in prose

Likeliest = tuple[Detection, ParseResult]


def likeliest(
    text: str, tools: Sequence[ToolMetadata] = (), among: Sequence[str] = ()
) -> Likeliest | None:
    """Return the first dialect of `detect` and its reading, if it reads a call of a known tool.

    Otherwise return the first dialect that would write a call with the same beginning, or None.
    Only dialects with an opener (the beginning of a call) in the text read it: the others would
    find no call. Only the readings with the most calls are compared in detail. `among` names the
    dialects to try, by default all.
    """
    if among:
        return _Reply(text, tools, dialect_files()).likeliest_of(among)
    return LikeliestDialect().of(text, tools)


class LikeliestDialect:
    """A detector for many replies, like `likeliest`. It remembers the dialects of earlier replies.

    If a reply has the same model, tools and beginnings of openers as an earlier one, the earlier
    dialect is tried first. Its reading is accepted if the dialect would write the calls in exactly
    this way, and if the reading has no finding and leaves no marker or opener in the text.
    Otherwise all dialects are tried.
    """

    def __init__(self) -> None:
        self._files = dialect_files()
        self._known: dict[_ReplyKey, str] = {}

    def of(
        self, text: str, tools: Sequence[ToolMetadata] = (), model: str = ""
    ) -> Likeliest | None:
        """Return the likeliest dialect of a reply, and its reading."""
        tool_names = tuple(tool.name for tool in tools)
        openers = _openers(self._files, tool_names)
        key = _ReplyKey(model, tool_names, openers.beginnings_in(text))
        reply = _Reply(text, tools, self._files)
        earlier = self._known.get(key)
        best = reply.read_in(earlier) if earlier else None
        if best is not None and _is_beyond_doubt(*best, openers):
            return best
        best = reply.likeliest_of(openers.dialects_in(text, key.beginnings_found))
        if best is not None and len(self._known) < _REMEMBERED:
            self._known[key] = best[0].dialect
        return best


class _ReplyKey(NamedTuple):
    """The properties of a reply; replies with the same properties are probably in one dialect."""

    model: str
    tools: tuple[str, ...]
    beginnings_found: frozenset[str]  # beginnings of openers in the reply


def _is_beyond_doubt(detection: Detection, result: ParseResult, openers: _Openers) -> bool:
    has_faults = detection.markers or detection.aborted or detection.findings or detection.any_text
    if has_faults or not detection.as_written or detection.evident <= 0:
        return False
    openers_left = openers.beginnings_in(f"{result.content}\n{result.reasoning}")
    return not any(len(text) >= _LEAST_BEGINNING for text in openers_left)


class _Reply:
    """A reply, and the dialects that may have written it."""

    def __init__(
        self, text: str, tools: Sequence[ToolMetadata], files: tuple[FileState, ...]
    ) -> None:
        self._text, self._tools, self._files = text, list(tools), files
        self._data = PromptData(tool_metadata=self._tools)

    def read_in(self, name: str) -> Likeliest:
        """Return the reading of one dialect."""
        (reading,) = read_in_every_dialect(self._reading, names=[name])
        return detection_of(reading, self._tools, self._files), reading.result

    def likeliest_of(self, names: Sequence[str]) -> Likeliest | None:
        """Return the likeliest of these dialects, which are in the order of the registry."""
        readings = list(read_in_every_dialect(self._reading, names=names)) if names else []
        best: list[Likeliest] = []
        for most in sorted(
            {_most_evidence(r) for r in readings if _most_evidence(r) > 0}, reverse=True
        ):
            if best and best[0][0].evident > most:
                break
            likely = self._detections(r for r in readings if _most_evidence(r) == most)
            best = _best_of([*best, *(r for r in likely if r[0].evident > 0)], names)
        if not best:
            likely = self._detections(r for r in readings if r.calls or r.aborted)
            best = _best_of([e for e in likely if e[0].as_written or e[0].begun >= _BEGUN], names)
        return best[0] if best else None

    def _reading(self, name: str) -> ParseResult:
        parser = get_dialect(name).create_parser(self._data)
        return read_to_end(parser, [parser.feed_text(self._text)])

    def _detections(self, readings: Iterable[DialectReading]) -> list[Likeliest]:
        return [(detection_of(r, self._tools, self._files), r.result) for r in readings]


def _best_of(likely: list[Likeliest], names: Sequence[str]) -> list[Likeliest]:
    """Return [the likeliest reading], among equals the first by `names`; [] without any."""
    ranked = sorted(likely, key=lambda c: (rank(c[0]), names.index(c[0].dialect)))
    return ranked[:1]


def _most_evidence(reading: DialectReading) -> int:
    """Return the most that `Detection.evident` can be for this reading."""
    return reading.calls - reading.findings.get("unknown-tool", 0)


class _Opener(NamedTuple):
    """The openers of a dialect, which reads no call in a reply without them. `point` matches an
    opener; `beginnings` are their first characters. Each is None if unknown."""

    dialect: str
    point: ChoicePoint | None
    beginnings: frozenset[str] | None


class _Openers(NamedTuple):
    """The openers of all dialects, in the registry's order."""

    all: tuple[_Opener, ...]
    beginnings: dict[str, list[str]]  # first character -> beginnings of openers, of all dialects

    def beginnings_in(self, text: str) -> frozenset[str]:
        """Return the beginnings of openers that occur in a text."""
        candidates = [texts for first, texts in self.beginnings.items() if first in text]
        return frozenset([begin for texts in candidates for begin in texts if begin in text])

    def dialects_in(self, text: str, present: frozenset[str]) -> tuple[str, ...]:
        """Return the names of the dialects with an opener in a text that has the beginnings
        `present`."""
        return tuple(
            name
            for name, point, beginnings in self.all
            if point is None
            or ((beginnings is None or not present.isdisjoint(beginnings)) and point.is_in(text))
        )


@lru_cache(maxsize=64)
def _openers(_files: tuple[FileState, ...], tool_names: tuple[str, ...]) -> _Openers:
    openers: list[_Opener] = []
    for dialect in as_dialects(""):
        point = call_openers(dialect.syntax, tool_names) if _reads_by_syntax(dialect) else None
        openers.append(_Opener(dialect.name, point, _beginnings(point)))
    beginnings: dict[str, list[str]] = {}
    for text in {text for opener in openers for text in opener.beginnings or ()}:
        beginnings.setdefault(text[:1], []).append(text)
    return _Openers(tuple(openers), beginnings)


def _beginnings(point: ChoicePoint | None) -> frozenset[str] | None:
    if point is None or not all(choice.begins for choice in point.choices):
        return None
    return frozenset(text.lstrip(" ") for choice in point.choices for text in choice.begins)


def _reads_by_syntax(dialect: Dialect) -> TypeGuard[DeclaredDialect]:
    """Return True if a dialect's declaration is its parser, not code of its own."""
    is_declared = isinstance(dialect, DeclaredDialect)
    return is_declared and type(dialect).create_parser is DeclaredDialect.create_parser


def dialect_for_server(server: str, recording: Recording, tools: Sequence[ToolMetadata]) -> str:
    """Return the name of the dialect in which to read a recording, if the user names none.

    It is the recording's own dialect ("" if unknown). If `server` names a parser that does not read
    that one, it is one of the parser's dialects in which the reply has a call, if there is any.
    """
    from playground.dialects.reading import parse
    from playground.recordings.feeding import describe_chunk
    from playground.servers import get_server

    parser = get_server(server, recording.dialect).parser if ":" in server else None
    if parser is None or (recording.dialect and parser.can_read(recording.dialect)):
        return recording.dialect
    text = "".join(texts for kind, texts in map(describe_chunk, recording.chunks) if kind == "text")
    names = list(dict.fromkeys([*parser.default_for, *parser.also_reads]))
    best = likeliest(text, tools, names)
    if best is not None and best[0].calls:
        return best[0].dialect
    begun = (name for name in names if parse(text, name, tools).aborted)
    return next(begun, recording.dialect)
