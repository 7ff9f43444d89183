"""A wait: one place where the engine stands, and the choices that may come there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import regex

from playground.parsing.candidates import (
    ANY_LINE,
    begin_alike,
    begun,
    head_at,
    may_begin,
    searched,
)
from playground.parsing.choice import Choice, Group
from playground.parsing.marker import NOTHING, Marker, Told, named_in
from playground.parsing.patterns import CONTEXT, SPACE
from playground.parsing.quiet import Accept, Quiet, Run, compiled, refuses, signs_of

_LEAST: Final = 8  # by which most of what is no marker is told, whatever a value behind it says
_FEW: Final = 32  # characters by which most markers are told, so that they recur
_MORE: Final = 64
_MANY: Final = 256  # characters of a longer marker, which a stream cuts again and again
_END: Final = 8  # of a chunk, from a candidate on
_LENGTHS: Final = 8  # of beginnings that tell a marker, kept for each wait
# what has been told of beginnings, in all streams: every call has the same markers
_TOLD: Final[dict[tuple[Wait, str, str], Told]] = {}
_OPEN: Final[dict[tuple[Wait, str, str], Told]] = {}  # undecided, and there is more of the text
_MOST: Final = 4096  # beginnings
_OFTEN: Final = 8  # times that a marker is met, each with another text behind it, and learned


@dataclass(frozen=True, eq=False)
class Wait:
    """A place where the engine waits: `first` finds candidates fast, `match` decides.

    Each pattern is compiled when a text first asks for it, and each choice's alone: of a dialect's
    choices a text meets a few, and all of them in every dialect are seconds.
    """

    choices: tuple[Choice, ...]
    found: str = ""  # what finds candidates, where that is not how the choices begin

    @cached_property
    def candidates(self) -> str:
        return self.found or searched(self.choices)

    @cached_property
    def first(self) -> re.Pattern[str]:
        return re.compile(self.candidates)

    @cached_property
    def wakes(self) -> re.Pattern[str]:
        """What finds candidates in a chunk alone, where no line begins with it that may be one."""
        return re.compile(self.candidates.replace(ANY_LINE, r"\n"))

    @cached_property
    def takes_lines(self) -> bool:
        """Whether any line may be a candidate."""
        return ANY_LINE in self.candidates

    @cached_property
    def quiet(self) -> Quiet:
        """How chunks pass by where this is waited for."""
        wakes = self.wakes
        held = self._held if self.takes_lines else self.held
        run = self._run if self._runs is not None else None
        # what finds the first of the blanks that may stand before a marker looks back, too
        looks_back, takes_lines = self.looks_back or "(?<" in self.candidates, self.takes_lines
        signs = signs_of(wakes)
        return Quiet(signs, wakes.search, held, looks_back, takes_lines, run, self.judge)

    def look_on(self, text: str, place: int, accept: Accept | None = None) -> Told:
        """What stands where all up to the last few characters was undecided."""
        return self.look(text, place, few=_MANY)

    def judge(self, text: str, place: int, accept: Accept | None) -> Told:
        """What stands where something was held, or begins there, unless it is refused."""
        if self.first.match(text, place) is None:
            return NOTHING
        told = self.look(text, place, few=_MANY)
        marker, undecided = told
        if marker is None or accept is None or not marker.named:
            return told
        return NOTHING if refuses(accept, marker, undecided, self, text, place) else told

    def _run(self, text: str, start: int) -> Run | None:
        """What says whether more of a run that is held is one still: of a run that has more
        characters than tell any other choice."""
        if len(text) - start <= _END or not (self._runs and self._runs.match(text, start)):
            return None
        return self._longer.fullmatch

    @cached_property
    def _longer(self) -> re.Pattern[str]:
        return re.compile("|".join(choice.run for choice in self.choices if choice.run))

    def held(self, text: str, start: int, accept: Accept | None = None) -> int | None:
        """From where on a text is held, of which what stands before `start` was claimed; its length
        where nothing of it is. None where a marker is whole: that is for the walk. `accept` may
        refuse one, see `refuses`."""
        if accept is None and len(text) <= _END:
            return held_of(self, text, start)
        return self._held(text, start, accept)

    def _held(self, text: str, start: int, accept: Accept | None) -> int | None:
        if self._runs is not None and self._runs.match(text, start):
            return start
        candidate = self.first.search(text, start)
        while candidate is not None:
            place = candidate.start()
            marker, undecided = self.look(text, place)
            if marker is not None and not refuses(accept, marker, undecided, self, text, place):
                return place if undecided else None
            candidate = self.first.search(text, place + 1)
        return len(text)

    def look(self, text: str, place: int, ended: bool = False, few: int = _FEW) -> Told:
        """What stands at a place, or begins there, and whether more text could change it: by so few
        characters at first, or by more where fewer did not tell."""
        before = ""
        if self.looks_back:  # on one character, or what blanks or a colon follow
            before = text[place - 1 : place]  # nothing where it is the first
            if before in " \t:":
                before = text[max(place - CONTEXT, 0) : place]
        told = _TOLD.get((self, before, text[place : place + few]))
        if told is None or (told[1] and (ended or len(text) - place > few)):
            return self._look(text, place, before, ended)
        return told

    def _look(self, text: str, place: int, before: str, ended: bool) -> Told:
        """The same for what was not seen before, or takes more characters. As many as decide are
        enough, for more of a text does not change what was decided."""
        left = len(text) - place
        for length in self._lengths:
            told = _TOLD.get((self, before, text[place : place + length]))
            if told is not None and not told[1]:
                return told
        for length in (_LEAST, _FEW, _MORE):
            if left > length:
                told = self._tell(before, text[place : place + length], more=True)
                if not told[1]:
                    return told
        if left <= _MANY and not ended:
            return self._tell(before, text[place:])
        match = self.match(text, place, partial=True)
        if match is None:
            return NOTHING
        marker = self.marker(match)
        return marker, not ended and self.undecided(marker, text)

    def match(
        self, text: str, place: int, partial: bool = False, more: bool = False
    ) -> regex.Match[str] | None:
        """The first choice that matches at a place. With `partial`, where none does, the first that
        may have begun there: what is left of the text is how it begins. With `more` that will do:
        there is more of the text, to be looked at then."""
        half = None
        for pattern in _beginning(self, head_at(text, place), partial):
            match = compiled(pattern).match(text, place, partial=partial)
            if match is not None:
                if more or not match.partial:
                    return match
                half = half if half is not None else match
        return half

    def _tell(self, before: str, text: str, more: bool = False) -> Told:
        """What a beginning is, and whether it is undecided: `regex` is asked only about one that
        nobody has seen yet. Where there is `more` of the text, what is undecided is not said."""
        told = _TOLD.get((self, before, text))
        if told is None and more:
            told = _OPEN.get((self, before, text))
        if told is None:
            told = _asked(self, before, text, more)
            _remember(self, before, text, told, more)
            marker, undecided = told
            if marker is not None and not undecided:
                self._learn(marker, before, text)
        return told

    def _learn(self, marker: Marker, before: str, text: str) -> None:
        """How few characters would have told a marker, so that it recurs whatever stands behind:
        of one that has been met with other text behind it, since every choice is asked for it."""
        if len(self._met) >= _MOST:
            self._met.clear()
        self._met[marker.text] += 1
        if self._met[marker.text] % _OFTEN:
            return
        for length in (marker.size, marker.size + 1):
            if length >= len(text) or len(self._lengths) == _LENGTHS:
                return
            found, undecided = _asked(self, before, text[:length])
            if not undecided and found is not None and found.says == marker.says:
                _remember(self, before, text[:length], (marker, False))
                if length not in self._lengths:
                    self._lengths.append(length)
                return

    @cached_property
    def _lengths(self) -> list[int]:
        return []

    @cached_property
    def _met(self) -> Counter[str]:
        return Counter()

    @cached_property
    def _runs(self) -> re.Pattern[str] | None:
        """What has begun one choice, is not over, and begins no other."""
        runs = [choice for choice in self.choices if choice.run]
        if not runs:
            return None
        others = searched(choice for choice in self.choices if not choice.run)
        apart = f"(?!{others})" if others else ""
        return re.compile(rf"(?<![^\n]){apart}(?:{'|'.join(choice.run for choice in runs)})\Z")

    def is_in(self, text: str) -> bool:
        """Whether one of the choices stands anywhere in a text that has ended."""
        found = self.first.search(text)
        while found is not None:
            marker, _ = self.look(text, found.start(), ended=True)
            if marker is not None and not marker.partial:
                return True
            found = self.first.search(text, found.start() + 1)
        return False

    @cached_property
    def looks_back(self) -> bool:
        """Whether what stands before a place may decide on what begins there."""
        return any("(?<!" in each.pattern or "(?<=" in each.pattern for each in self.choices)

    @cached_property
    def varying(self) -> frozenset[str]:
        """The groups of which more text may make another match, "" for the only choice without a
        group: for literals `_may_vary` says whether it does, which takes time to find out."""
        may_vary = (c for c in self.choices if c.repeats or c.varying or c.texts)
        return frozenset(choice.group_name for choice in may_vary)

    @cached_property
    def _groups(self) -> dict[str, Group | None]:
        """The group of each choice by its pattern: of two that are alike the first has matched."""
        return {each: choice.group for choice in reversed(self.choices) for each in choice.asked}

    def marker(self, match: regex.Match[str]) -> Marker:
        """What `match` gave, with what it says of itself."""
        group = None if match.partial else self._groups[match.re.pattern]
        return Marker(match, group, named_in(match))

    def undecided(self, marker: Marker, text: str) -> bool:
        """Whether more of the text could change a marker in it: it is cut off by its end, or may
        become longer."""
        match = marker.match
        if marker.partial:
            return True
        if not self.varying:
            return False
        name = marker.group.name if marker.group else ""
        if name not in self.varying or not _may_vary(self, name):
            return False
        if match.end() == len(text):
            return True
        # the marker is whole, but a longer one may be what stands here: `<|end` of `<|end|>`
        start, rivals = match.start(), _rivals(self, match.re.pattern)
        return any(compiled(each).fullmatch(text, start, partial=True) for each in rivals)


def _asked(wait: Wait, before: str, text: str, more: bool = False) -> Told:
    """What a wait makes of a beginning behind another text."""
    whole = before + text
    match = wait.match(whole, len(before), True, more)
    if match is None:
        return NOTHING
    marker = wait.marker(match)
    return marker, wait.undecided(marker, whole)


def _remember(wait: Wait, before: str, text: str, told: Told, more: bool = False) -> None:
    known = _OPEN if more and told[1] else _TOLD
    if len(known) >= _MOST:
        known.clear()
    known[wait, before, text] = told


@lru_cache(maxsize=4096)
def _may_vary(wait: Wait, name: str) -> bool:
    """Whether more text could make another match of a group of `varying`: of a repetition, such as
    a run of back-ticks, of a marker that another one begins with."""
    own = (choice for choice in wait.choices if choice.group_name == name)
    return any(c.repeats or c.varying or _begins_another(c, wait.choices) for c in own)


@lru_cache(maxsize=1024)
def _rivals(wait: Wait, pattern: str) -> tuple[str, ...]:
    """What could match where a choice has: that choice, and those before it, for the first that
    matches wins. To rule out those behind it, too, would take most of a call's time."""
    place = next(i for i, choice in enumerate(wait.choices) if pattern in choice.asked)
    own, before = wait.choices[place], wait.choices[:place]
    rivals = [each for c in before if begin_alike(c, [own]) for each in c.asked]
    rivals += own.asked[: own.asked.index(pattern)]
    return (pattern, *dict.fromkeys(rivals))


@lru_cache(maxsize=4096)
def _beginning(wait: Wait, head: str, partial: bool) -> tuple[str, ...]:
    """The patterns of the choices that may begin with the first characters at a place; at the end
    of a text none that begins with anything, unless more may come."""
    listed = (c for c in wait.choices if may_begin(c, head[:1] if c.loose else head))
    chosen = (choice for choice in listed if head or partial or not choice.begins)
    return tuple(pattern for choice in chosen for pattern in choice.asked)


@lru_cache(maxsize=4096)
def held_of(wait: Wait, text: str, start: int) -> int | None:
    """What `Wait.held` says: most chunks of prose that are held at all end in a blank."""
    return wait._held(text, start, None)


def wait(*choices: Choice, beginnings: Iterable[str] = ()) -> Wait:
    """A place where one of the choices may come; `beginnings` are how they all begin, but for one
    line break before them: more than their first characters tell."""
    listed = tuple(choice for choice in choices if choice.pattern)
    return Wait(listed, begun(beginnings))


def spaced(choices: Iterable[Choice]) -> Wait | None:
    """A wait for any of the choices after white space or none; None for none of them."""
    listed = [choice._replace(pattern=SPACE + choice.pattern) for choice in choices]
    return wait(*listed) if listed else None


def _begins_another(choice: Choice, listed: Iterable[Choice]) -> bool:
    """Whether one of the choice's texts is how another of them, or another choice, may begin."""
    bare = ["".join(text.split()) for text in choice.texts]
    if any(text != other and other.startswith(text) for text in bare for other in bare):
        return True
    for text in choice.texts:
        for other in listed:
            if other is choice or not may_begin(other, text):
                continue
            matches = (compiled(each).fullmatch(text, partial=True) for each in other.asked)
            if any(match is not None and match.partial for match in matches):
                return True
    return False
