"""Detect the dialects of very many replies, in a fraction of `detect`'s time."""

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

_BEGUN: Final = 12  # characters of a call: more than an opener that prose may hold
_REMEMBERED: Final = 1_000  # prompts
_TELLING: Final = 2  # characters of an opener's beginning: one alone stands in any prose

Likeliest = tuple[Detection, ParseResult]


def likeliest(
    text: str, tools: Sequence[ToolMetadata] = (), among: Sequence[str] = ()
) -> Likeliest | None:
    """Return the first dialect of `detect` and its reading, if it reads a call of a known tool.

    Otherwise return the first dialect in which a call was begun as that dialect writes it, or
    None. Only dialects with an opener in the text (`call_openers`) read it: the others would find
    no call there. Of these, only the readings with most calls are examined closely. `among` names
    the dialects to try, by default all.
    """
    if among:
        return _Asked(text, tools, dialect_files()).by_all(among)
    return LikeliestDialect().of(text, tools)


class LikeliestDialect:
    """`likeliest` for many replies, with a memory of the dialects of earlier ones.

    If a reply has the same model, tools and beginnings of openers as an earlier one, the earlier
    dialect is tried first. Its reading is accepted if the dialect would write the calls exactly
    so, and if it has no finding and leaves no marker or opener; otherwise all dialects are tried.
    """

    def __init__(self) -> None:
        self._files = dialect_files()
        self._known: dict[_Prompt, str] = {}

    def of(
        self, text: str, tools: Sequence[ToolMetadata] = (), model: str = ""
    ) -> Likeliest | None:
        """Return the likeliest dialect of a reply, and its reading."""
        tool_names = tuple(tool.name for tool in tools)
        openers = _openers(self._files, tool_names)
        prompt = _Prompt(model, tool_names, openers.begun_in(text))
        asked = _Asked(text, tools, self._files)
        known = self._known.get(prompt)
        found = asked.by(known) if known else None
        if found is not None and _is_beyond_doubt(*found, openers):
            return found
        found = asked.by_all(openers.dialects_in(text, prompt.begun))
        if found is not None and len(self._known) < _REMEMBERED:
            self._known[prompt] = found[0].dialect
        return found


class _Prompt(NamedTuple):
    """The properties that replies share if they are probably in one dialect."""

    model: str
    tools: tuple[str, ...]
    begun: frozenset[str]  # the beginnings of openers that stand in the reply


def _is_beyond_doubt(found: Detection, result: ParseResult, openers: _Openers) -> bool:
    amiss = found.markers or found.aborted or found.findings or found.any_text
    if amiss or not found.as_written or found.evident <= 0:
        return False
    left = openers.begun_in(f"{result.content}\n{result.reasoning}")
    return not any(len(text) >= _TELLING for text in left)


class _Asked:
    """A reply, and the dialects that may have written it."""

    def __init__(
        self,
        text: str,
        tools: Sequence[ToolMetadata],
        files: tuple[FileState, ...],
    ) -> None:
        self._text, self._tools, self._files = text, list(tools), files
        self._data = PromptData(tool_metadata=self._tools)

    def by(self, name: str) -> Likeliest:
        """Return the reading of one dialect."""
        (reading,) = read_in_every_dialect(self._reading, names=[name])
        return detection_of(reading, self._tools, self._files), reading.result

    def by_all(self, names: Sequence[str]) -> Likeliest | None:
        """Return the likeliest of all dialects, given in the order of the registry."""
        readings = list(read_in_every_dialect(self._reading, names=names)) if names else []
        found: list[Likeliest] = []
        for most in sorted(
            {_most_evidence(each) for each in readings if _most_evidence(each) > 0}, reverse=True
        ):
            if found and found[0][0].evident > most:
                break
            close = self._looked(each for each in readings if _most_evidence(each) == most)
            found = _first([*found, *(each for each in close if each[0].evident > 0)], names)
        if not found:
            close = self._looked(each for each in readings if each.calls or each.aborted)
            found = _first([e for e in close if e[0].as_written or e[0].begun >= _BEGUN], names)
        return found[0] if found else None

    def _reading(self, name: str) -> ParseResult:
        parser = get_dialect(name).create_parser(self._data)
        return read_to_end(parser, [parser.feed_text(self._text)])

    def _looked(self, chosen: Iterable[DialectReading]) -> list[Likeliest]:
        return [(detection_of(each, self._tools, self._files), each.result) for each in chosen]


def _first(looked: list[Likeliest], names: Sequence[str]) -> list[Likeliest]:
    """Return the likeliest reading; among equals the one whose name comes first."""
    ranked = sorted(looked, key=lambda each: (rank(each[0]), names.index(each[0].dialect)))
    return ranked[:1]


def _most_evidence(reading: DialectReading) -> int:
    """Return the highest value that `Detection.evident` of this reading may have."""
    return reading.calls - reading.findings.get("unknown-tool", 0)


class _Opener(NamedTuple):
    """A dialect's openers: it reads no call in a reply in which none of them stands.

    `point` matches them, `beginnings` are the texts that they begin with; None if unknown.
    """

    dialect: str
    point: ChoicePoint | None
    beginnings: frozenset[str] | None


class _Openers(NamedTuple):
    all: tuple[_Opener, ...]
    beginnings: dict[str, list[str]]  # first character -> beginnings of any dialect's openers

    def begun_in(self, text: str) -> frozenset[str]:
        """Return the beginnings that stand in a text."""
        listed = [each for first, each in self.beginnings.items() if first in text]
        return frozenset([begin for each in listed for begin in each if begin in text])

    def dialects_in(self, text: str, begun: frozenset[str]) -> tuple[str, ...]:
        """Return the dialects with an opener in a text in which these beginnings stand."""
        return tuple(
            name
            for name, point, beginnings in self.all
            if point is None
            or ((beginnings is None or not begun.isdisjoint(beginnings)) and point.is_in(text))
        )


@lru_cache(maxsize=64)
def _openers(_files: tuple[FileState, ...], names: tuple[str, ...]) -> _Openers:
    found: list[_Opener] = []
    for dialect in as_dialects(""):
        point = call_openers(dialect.syntax, names) if _reads_by_syntax(dialect) else None
        found.append(_Opener(dialect.name, point, _beginnings(point)))
    beginnings: dict[str, list[str]] = {}
    for text in {text for each in found for text in each.beginnings or ()}:
        beginnings.setdefault(text[:1], []).append(text)
    return _Openers(tuple(found), beginnings)


def _beginnings(point: ChoicePoint | None) -> frozenset[str] | None:
    if point is None or not all(choice.begins for choice in point.choices):
        return None
    return frozenset(text.lstrip(" ") for choice in point.choices for text in choice.begins)


def _reads_by_syntax(dialect: Dialect) -> TypeGuard[DeclaredDialect]:
    """Return True if a dialect is read by its declaration's parser, not by one of its class."""
    is_declared = isinstance(dialect, DeclaredDialect)
    return is_declared and type(dialect).create_parser is DeclaredDialect.create_parser
