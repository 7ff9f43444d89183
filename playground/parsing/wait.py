"""A wait: one place where the engine stands, and the choices that may come there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import regex

from playground.parsing.candidates import (
    ANY_LINE,
    begin_alike,
    begun,
    head_at,
    may_begin,
    searched,
)
from playground.parsing.patterns import CONTEXT, LINE_START, SPACE
from playground.parsing.quiet import Accept, Quiet, Run, compiled, refuses, signs_of


class Kind(Enum):
    """What a choice is: the engine goes on by it."""

    # outside of a call; those of calls and sections are numbered by form, of tags by tags
    CALL = "call"
    UNREAD = "unread"  # the opener of a call with no body that can be read
    LIKE = "like"  # what looks like a call, of a tool that nobody has
    SECTION = "section"
    BARE = "bare"  # the opener of a section before no call
    BARE_CALL = "bare_call"  # the opener of a call before nothing that could be one
    BARE_BODY = "bare_body"  # what a call holds, without its opener
    BARE_CLOSE = "bare_close"  # the closer of a call, where none is open
    SECTION_CLOSE = "section_close"
    THINK = "think"
    THINK_CLOSE = "think_close"  # of reasoning that was not open
    PLAIN = "plain"
    STOP = "stop"
    DROPPED = "dropped"
    RESULT = "result"
    FENCE = "fence"
    SPACE = "space"  # between the calls of a section
    # at the end, or the beginning, of what is open
    OPEN = "open"
    CLOSE = "close"
    PARAM = "param"
    FORGOTTEN = "forgotten"  # what shows that a closer was left out


class Group(NamedTuple):
    """The named group of a choice: its kind, and which form or tags it belongs to."""

    kind: Kind
    number: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind.value}_{self.number}"


class Choice(NamedTuple):
    """One thing that may come: its pattern, and the texts with which it may begin."""

    pattern: str
    begins: tuple[str, ...] = ()  # none: it may begin with anything; " x": with white space or `x`
    group: Group | None = None  # None where only one thing is waited for
    texts: tuple[str, ...] = ()  # where the pattern is nothing but these
    varying: bool = False  # more text may make another match of it, whatever its texts say
    heads: tuple[str, ...] = ()  # with which it begins where it is the first of a line, and only so
    run: str = ""  # what it begins with: as long as nothing else has come, more has to
    loose: bool = False  # of `begins` its first character counts alone where others are looked for
    forms: tuple[str, ...] = ()  # the pattern's alternatives, where it is long: few are asked for

    @property
    def asked(self) -> tuple[str, ...]:
        """The patterns that are compiled and asked for, one after another."""
        return self.forms or (self.pattern,)


ANY_FENCE: Final = Choice(r"(?:`{3,64}+|~{3,64}+)", ("```", "~~~"), Group(Kind.FENCE))
FENCE: Final = ANY_FENCE._replace(pattern=LINE_START + ANY_FENCE.pattern)


# by so few characters most markers are told: they hold little else, so that they recur
_FEW: Final = (32, 64)
_END: Final = 8  # of a chunk, from a candidate on
_MANY: Final = 256  # characters of a longer marker, which a stream cuts again and again


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
        """What finds candidates in a chunk alone, where `line_begins` is false before it."""
        return re.compile(self.candidates.replace(ANY_LINE, r"\n"))

    def line_begins(self, text: str) -> bool:
        """Whether the next character may be a candidate because of the text before it alone."""
        return self.takes_lines and text[-1:] in ("", "\n")

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
        return Quiet(signs_of(wakes), wakes.search, held, self.looks_back, self.takes_lines, run)

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
            match, undecided = self.look(text, place)
            if match is not None and not refuses(accept, match, undecided, self, text, place):
                return place if undecided else None
            candidate = self.first.search(text, place + 1)
        return len(text)

    def look(
        self, text: str, place: int, ended: bool = False
    ) -> tuple[regex.Match[str] | None, bool]:
        """What stands at a place, or begins there, and whether more text could change it. It may be
        a match in some other text: of its places only their distances count."""
        left = len(text) - place
        before = self._before(text, place) if self.looks_back else ""
        for length in _FEW:
            if left > length:
                match, undecided = seen(self, before, text[place : place + length], more=True)
                if not undecided:
                    return match, False
        if left <= _MANY and not ended:
            return seen(self, before, text[place:])
        match = self.match(text, place, partial=True)
        return match, match is not None and not ended and self.undecided(match, text)

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

    def _before(self, text: str, place: int) -> str:
        """What a look back may depend on: one character, or what blanks or a colon follow."""
        before = text[place - 1 : place]  # nothing where it is the first
        return before if before not in " \t:" else text[max(place - CONTEXT, 0) : place]

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
        while found is not None and self.match(text, found.start()) is None:
            found = self.first.search(text, found.start() + 1)
        return found is not None

    @cached_property
    def looks_back(self) -> bool:
        """Whether what stands before a place may decide on what begins there."""
        return any("(?<!" in each.pattern or "(?<=" in each.pattern for each in self.choices)

    @cached_property
    def varying(self) -> frozenset[str]:
        """The groups of which more text may make another match, "" for the only choice without a
        group: for literals `_may_vary` says whether it does, which takes time to find out."""
        may_vary = (c for c in self.choices if _repeats(c) or c.varying or c.texts)
        return frozenset(_group_name(choice) for choice in may_vary)

    @cached_property
    def _groups(self) -> dict[str, Group | None]:
        """The group of each choice by its pattern: of two that are alike the first has matched."""
        return {each: choice.group for choice in reversed(self.choices) for each in choice.asked}

    def group(self, match: regex.Match[str]) -> Group | None:
        """Which choice has matched."""
        return self._groups[match.re.pattern]

    def kind(self, match: regex.Match[str]) -> Kind | None:
        group = self.group(match)
        return group.kind if group else None

    def undecided(self, match: regex.Match[str], text: str) -> bool:
        """Whether more of the text could change a match in it: a marker is cut off by its end, or
        may become longer."""
        if match.partial:
            return True
        if not self.varying:
            return False
        group = self.group(match)
        name = group.name if group else ""
        if name not in self.varying or not _may_vary(self, name):
            return False
        if match.end() == len(text):
            return True
        # the marker is whole, but a longer one may be what stands here: `<|end` of `<|end|>`
        start, rivals = match.start(), _rivals(self, match.re.pattern)
        return any(compiled(each).fullmatch(text, start, partial=True) for each in rivals)


@lru_cache(maxsize=4096)
def _may_vary(wait: Wait, name: str) -> bool:
    """Whether more text could make another match of a group of `varying`: of a repetition, such as
    a run of back-ticks, of a marker that another one begins with."""
    own = (choice for choice in wait.choices if _group_name(choice) == name)
    return any(_repeats(c) or c.varying or _begins_another(c, wait.choices) for c in own)


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
def seen(
    wait: Wait, before: str, text: str, more: bool = False
) -> tuple[regex.Match[str] | None, bool]:
    """What a wait makes of the end of a text, or with `more` of some of it, and whether it is
    undecided.

    Every call has the same markers, and a stream cuts each of them many times: `regex` is asked
    anew only about a beginning that nobody has seen yet.
    """
    whole = before + text
    match = wait.match(whole, len(before), partial=True, more=more)
    return match, match is not None and wait.undecided(match, whole)


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


def _group_name(choice: Choice) -> str:
    return choice.group.name if choice.group else ""


def _repeats(choice: Choice) -> bool:
    return choice.pattern.rstrip(")").endswith("+")


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
