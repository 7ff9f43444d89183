"""A choice point is a place in a reply where one of several choices may come next.

It takes two steps to find out which one. `candidate_pattern`, run by `re`, stops where some choice
*may* begin; `match` then tries the choices one after another with `regex`, which can match partly.

The second step is slow, so its results are remembered for all streams: every call of a dialect has
the same markers. The key is the *beginning* of a text, just long enough to decide the match,
because beginnings recur and whole texts do not.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import regex

from playground.parsing.candidates import (
    ANY_LINE,
    any_beginning,
    begin_alike,
    candidates_of,
    head_at,
    may_begin,
)
from playground.parsing.choice import Choice, Group
from playground.parsing.choice_pattern import Begin, ChoicePattern, choice_pattern, pattern_of
from playground.parsing.marker import NOTHING, UNDECIDED, Lookahead, Marker, named_in
from playground.parsing.patterns import CONTEXT, SPACE
from playground.parsing.skip_rule import Accept, GoesOn, SkipRule, triggers_of

# lengths of beginnings, tried one after another until one decides
_LEAST: Final = 8  # enough to rule out a marker in most texts
_FEW: Final = 32  # decides most markers
_MORE: Final = 64
_MANY: Final = 256  # for a long marker, which a stream cuts several times
_CHUNK_END: Final = 8  # most held text is the last few characters of a chunk

# What a beginning matched, for all streams. The key is the choice point, the text before the place
# as far as patterns look back, and the beginning.
_BeginningKey = tuple["ChoicePoint", str, str]
_decided_cache: Final[dict[_BeginningKey, Lookahead]] = {}
_undecided_cache: Final[dict[_BeginningKey, Lookahead]] = {}  # of beginnings too short to decide
_MOST_BEGINNINGS: Final = 4096

# A marker's shortest deciding beginning is learned at every `_OFTEN`-th meeting with the marker.
# Each choice point learns at most `_MOST_LENGTHS` different lengths.
_OFTEN: Final = 8
_MOST_LENGTHS: Final = 8


@dataclass(frozen=True, eq=False)
class ChoicePoint:
    """A place in a reply where one of several choices may come next.

    Each choice's pattern is compiled when a text first needs it, because a text meets few of a
    dialect's choices, and to compile all of them for every dialect takes seconds.
    """

    choices: tuple[Choice, ...]
    # a pattern that finds candidates; if empty, it is built from the choices' beginnings
    given_candidates: str = ""

    # patterns

    @cached_property
    def _candidates(self) -> str:
        return self.given_candidates or candidates_of(self.choices)

    @cached_property
    def candidate_pattern(self) -> re.Pattern[str]:
        """The pattern of places where a choice may begin; it finds too many, never too few."""
        return re.compile(self._candidates)

    @cached_property
    def chunk_pattern(self) -> re.Pattern[str]:
        """The pattern of candidates inside one chunk that does not begin a candidate line."""
        return re.compile(self._candidates.replace(ANY_LINE, r"\n"))

    @cached_property
    def any_line(self) -> bool:
        """True if any line may be a candidate."""
        return ANY_LINE in self._candidates

    @cached_property
    def looks_back(self) -> bool:
        """True if a match may depend on the text before it."""
        return any("(?<!" in choice.pattern or "(?<=" in choice.pattern for choice in self.choices)

    @cached_property
    def _run_start(self) -> re.Pattern[str] | None:
        """The pattern of a `Choice.run` that reaches the end of the text; None without runs."""
        runs = [choice for choice in self.choices if choice.run]
        if not runs:
            return None
        others = candidates_of(choice for choice in self.choices if not choice.run)
        no_other = f"(?!{others})" if others else ""
        return re.compile(rf"(?<![^\n]){no_other}(?:{'|'.join(choice.run for choice in runs)})\Z")

    @cached_property
    def _run_pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(choice.run for choice in self.choices if choice.run))

    # for the fast path

    @cached_property
    def skip_rule(self) -> SkipRule:
        """The rule by which chunks may be skipped while the walk searches for these choices."""
        search = self.chunk_pattern
        return SkipRule(
            triggers_of(search),
            search.search,
            hold_from=self._hold_from if self.any_line else self.hold_from,
            # a pattern that finds the first of several blanks looks back, too
            looks_back=self.looks_back or "(?<" in self._candidates,
            any_line=self.any_line,
            run_at=self._run_at if self._run_start is not None else None,
            decide=self.decide,
        )

    def hold_from(self, text: str, start: int, accept: Accept | None = None) -> int | None:
        """Return the index from which `text` must be held; all before `start` is claimed already.

        Return len(text) if nothing is held, and None if a complete marker is there, which the
        walk must read. A marker that is rejected by `accept` counts as text.
        """
        if accept is None and len(text) <= _CHUNK_END:
            return _cached_hold_from(self, text, start)
        return self._hold_from(text, start, accept)

    def _hold_from(self, text: str, start: int, accept: Accept | None) -> int | None:
        if self._run_start is not None and self._run_start.match(text, start):
            return start
        candidate = self.candidate_pattern.search(text, start)
        while candidate is not None:
            place = candidate.start()
            marker, is_undecided = self.match_at(text, place)
            if marker is not None and not self.rejects(accept, marker, is_undecided, text, place):
                return place if is_undecided else None
            candidate = self.candidate_pattern.search(text, place + 1)
        return len(text)

    def _run_at(self, text: str, start: int) -> GoesOn | None:
        """Return a function that tests if a longer text is still one run. Return None if no run
        begins at `start`, or if the text is so short that another choice may begin there."""
        if len(text) - start <= _CHUNK_END:
            return None
        if not (self._run_start and self._run_start.match(text, start)):
            return None
        return self._run_pattern.fullmatch

    def decide(self, text: str, place: int, accept: Accept | None) -> Lookahead:
        """Return the marker at a place where text is held or a marker may begin. A marker that
        `accept` rejects counts as no marker."""
        lookahead = self.match_at(text, place, False, _MANY, False)
        if accept is None:
            return lookahead
        marker, is_undecided = lookahead
        if marker is None or not marker.named:
            return lookahead
        rejected = self.rejects(accept, marker, is_undecided, text, place)
        return NOTHING if rejected else lookahead

    def decide_here(self, text: str, place: int, accept: Accept | None = None) -> Lookahead:
        """Match at `place`, where the walk waits because a shorter text did not decide a match."""
        return self.match_at(text, place, False, _MANY)

    # matching

    def match_at(
        self,
        text: str,
        place: int,
        stream_ended: bool = False,
        few: int = _FEW,
        is_candidate: bool = True,
    ) -> Lookahead:
        """Return the marker at a place, complete or begun, and True if more text could change it.

        The first `few` characters are tried, then more of them if these do not decide. With
        `stream_ended` no more text will come. `is_candidate` is False for a place that the caller
        has not compared with `candidate_pattern`.
        """
        lookbehind = ""
        if self.looks_back:  # a look-behind needs more than one character only after these
            lookbehind = text[place - 1 : place]  # "" at the start of the text
            if lookbehind in " \t:":
                lookbehind = text[max(place - CONTEXT, 0) : place]
        cached = _decided_cache.get((self, lookbehind, text[place : place + few]))
        if cached is None or (cached[1] and (stream_ended or len(text) - place > few)):
            if not is_candidate and self.candidate_pattern.match(text, place) is None:
                return NOTHING
            return self._match_longer(text, place, lookbehind, stream_ended)
        return cached

    def _match_longer(
        self, text: str, place: int, lookbehind: str, stream_ended: bool
    ) -> Lookahead:
        """Match a beginning that is not cached, or is not decided by its first characters.

        The shortest beginning that decides is enough: more text does not change a decision.
        """
        characters_left = len(text) - place
        for length in self._learned_lengths:
            cached = _decided_cache.get((self, lookbehind, text[place : place + length]))
            if cached is not None and not cached[1]:
                return cached
        for length in (_LEAST, _FEW, _MORE):
            if characters_left > length:
                key = (self, lookbehind, text[place : place + length])
                cached = _decided_cache.get(key) or _undecided_cache.get(key)
                if cached is None:
                    cached = self._match_new(key, has_more=True)
                if not cached[1]:
                    return cached
        if characters_left <= _MANY and not stream_ended:
            key = (self, lookbehind, text[place:])
            return _decided_cache.get(key) or self._match_new(key)
        match = self.match(text, place, partial=True)
        if match is None:
            return NOTHING
        marker = self.marker_of(match)
        is_undecided = self.is_undecided(marker, text)
        if not marker.partial and not is_undecided:
            self._learn(marker, lookbehind, text[place : place + _MANY], _MANY)
        return marker, not stream_ended and is_undecided

    def match(
        self, text: str, place: int, partial: bool = False, has_more: bool = False
    ) -> regex.Match[str] | None:
        """Return the match of the first choice that matches at a place, or None.

        With `partial`, fall back on the first choice whose beginning is all that is left of the
        text. With `has_more`, accept such a beginning at once: the caller has more text to try.
        """
        beginning = None
        for pattern in _patterns_for(self, head_at(text, place), partial):
            # only the first beginning counts, so the others need not be compiled
            match = pattern.match(text, place, partial and beginning is None)
            if match is not None:
                if has_more or not match.partial:
                    return match
                beginning = match
        return beginning

    def is_cut(self, text: str, place: int) -> bool:
        """Return True if `text` ends within the beginning of the first choice that may match."""
        for pattern in _patterns_for(self, head_at(text, place), partial=True):
            begin = pattern.begin(text, place)
            if begin is not Begin.NO:
                return begin is Begin.CUT
        return False

    def marker_of(self, match: regex.Match[str]) -> Marker:
        group = None if match.partial else self._group_of_pattern[pattern_of(match)]
        return Marker(match, group, named_in(match))

    def rejects(
        self, accept: Accept | None, marker: Marker, is_undecided: bool, text: str, place: int
    ) -> bool:
        """Return True if a marker at `place` is not accepted, judged by its named groups.

        The beginning of a marker is rejected only if no choice that may have begun there would be
        accepted. A complete marker that may still become another one is never rejected.
        """
        if accept is None or not marker.named or (is_undecided and not marker.partial):
            return False
        if accept(marker):
            return False
        if not marker.partial or len(self.choices) == 1:
            return True
        # `<invoke ` may be the key in its own tag as well as the beginning of a call
        patterns = (
            choice_pattern(pattern) for choice in self.choices for pattern in choice.patterns
        )
        matches = (pattern.match(text, place, partial=True) for pattern in patterns)
        return not any(
            match is not None and accept(Marker(match, None, named_in(match))) for match in matches
        )

    def is_in(self, text: str) -> bool:
        """Return True if one of the choices is anywhere in a text that has ended."""
        candidate = self.candidate_pattern.search(text)
        while candidate is not None:
            marker, _ = self.match_at(text, candidate.start(), stream_ended=True)
            if marker is not None and not marker.partial:
                return True
            candidate = self.candidate_pattern.search(text, candidate.start() + 1)
        return False

    # could more text change a match?

    def is_undecided(self, marker: Marker, text: str) -> bool:
        """Return True if more text could change the marker: the end of `text` cuts it off, or it
        may become longer."""
        match = marker.match
        if marker.partial:
            return True
        if not self._varying_groups:
            return False
        name = marker.group.name if marker.group else ""
        if name not in self._varying_groups or not _may_vary(self, name):
            return False
        if match.end() == len(text):
            return True
        # the marker is complete, but a longer one may follow here: `<|end` of `<|end|>`
        start, rivals = match.start(), _rivals(self, pattern_of(match))
        return any(choice_pattern(rival).fullmatch(text, start) for rival in rivals)

    @cached_property
    def _varying_groups(self) -> frozenset[str]:
        """The groups whose match more text may change; "" is for a choice without a group.

        All groups of literals are included: `_may_vary` checks a group once it has matched, because
        the check takes time.
        """
        may_vary = (c for c in self.choices if c.repeats or c.varying or c.texts)
        return frozenset(choice.group_name for choice in may_vary)

    @cached_property
    def _group_of_pattern(self) -> dict[str, Group | None]:
        # reversed: of choices with the same pattern the first one matches, so it must win
        return {
            pattern: choice.group
            for choice in reversed(self.choices)
            for pattern in choice.patterns
        }

    # caching of matches

    def _match_new(self, key: _BeginningKey, has_more: bool = False) -> Lookahead:
        """Match a beginning that no cache holds, and remember the result.

        With `has_more` the caller has more of the text, so an undecided result goes into a cache of
        its own.
        """
        _, lookbehind, text = key
        lookahead = _match_once(self, lookbehind, text, has_more)
        _remember(key, lookahead, has_more)
        marker, is_undecided = lookahead
        if marker is not None and not is_undecided:
            self._learn(marker, lookbehind, text, marker.size + 1)
        return lookahead

    def _learn(self, marker: Marker, lookbehind: str, text: str, longest: int) -> None:
        """Learn the shortest beginning, of at most `longest` characters, that decides a marker.
        From then on the cache finds the marker, whatever follows it.

        Only every `_OFTEN`-th meeting is learned from, because learning tries every choice again.
        """
        if len(self._meetings) >= _MOST_BEGINNINGS:
            self._meetings.clear()
        self._meetings[marker.text] += 1
        if self._meetings[marker.text] % _OFTEN:
            return

        def decides(length: int) -> bool:
            shorter, is_undecided = _match_once(self, lookbehind, text[:length])
            return not is_undecided and shorter is not None and shorter.content == marker.content

        lengths = range(marker.size, min(longest + 1, len(text)))
        place = bisect_left(lengths, True, key=decides)  # more text never changes a decision
        if place < len(lengths):
            length = lengths[place]
            if length not in self._learned_lengths:
                if len(self._learned_lengths) == _MOST_LENGTHS:
                    return
                self._learned_lengths.append(length)
            # matched anew, because `marker` may keep a long text alive
            lookahead = _match_once(self, lookbehind, text[:length])
            _remember((self, lookbehind, text[:length]), lookahead)

    @cached_property
    def _learned_lengths(self) -> list[int]:
        return []

    @cached_property
    def _meetings(self) -> Counter[str]:
        return Counter()


def choice_point(*choices: Choice, beginnings: Iterable[str] = ()) -> ChoicePoint:
    """Make a choice point of those choices that have a pattern.

    `beginnings` are the texts with which any of them begins, after at most one line break. They may
    be longer than the beginnings that the choices name, and so find fewer candidates.
    """
    listed = tuple(choice for choice in choices if choice.pattern)
    return ChoicePoint(listed, any_beginning(beginnings))


def after_space(choices: Iterable[Choice]) -> ChoicePoint | None:
    """Make a choice point for the choices with or without white space before them; None if there
    are no choices."""
    listed = [choice._replace(pattern=SPACE + choice.pattern) for choice in choices]
    return choice_point(*listed) if listed else None


@lru_cache(maxsize=4096)
def _cached_hold_from(point: ChoicePoint, text: str, start: int) -> int | None:
    # cached, because held texts recur: most of them are a blank at the end of a chunk of prose
    return point._hold_from(text, start, None)


def _match_once(
    point: ChoicePoint, lookbehind: str, text: str, has_more: bool = False
) -> Lookahead:
    full_text = lookbehind + text
    if has_more and point.is_cut(full_text, len(lookbehind)):
        return UNDECIDED
    match = point.match(full_text, len(lookbehind), True, has_more)
    if match is None:
        return NOTHING
    marker = point.marker_of(match)
    return marker, point.is_undecided(marker, full_text)


def _remember(key: _BeginningKey, lookahead: Lookahead, has_more: bool = False) -> None:
    cache = _undecided_cache if has_more and lookahead[1] else _decided_cache
    if len(cache) >= _MOST_BEGINNINGS:
        cache.clear()
    cache[key] = lookahead


@lru_cache(maxsize=4096)
def _patterns_for(point: ChoicePoint, head: str, partial: bool) -> tuple[ChoicePattern, ...]:
    """Return the patterns of the choices that may begin with `head`, the first characters at a
    place. At the end of the stream (no head, not `partial`) no literal can begin."""
    may_match = (c for c in point.choices if may_begin(c, head[:1] if c.loose else head))
    chosen = (choice for choice in may_match if head or partial or not choice.begins)
    return tuple(choice_pattern(pattern) for choice in chosen for pattern in choice.patterns)


@lru_cache(maxsize=4096)
def _may_vary(point: ChoicePoint, name: str) -> bool:
    """Return True if more text could change a match of a group, because a choice in it repeats
    (a run of back-ticks), varies, or is the beginning of another marker."""
    named_choices = (choice for choice in point.choices if choice.group_name == name)
    return any(c.repeats or c.varying or _begins_another(c, point.choices) for c in named_choices)


@lru_cache(maxsize=1024)
def _rivals(point: ChoicePoint, pattern: str) -> tuple[str, ...]:
    """Return the patterns that could still win over a match: its own and earlier similar ones.

    The first choice that matches wins, so later ones need no test. To test them as well would take
    most of a call's time.
    """
    place = next(i for i, choice in enumerate(point.choices) if pattern in choice.patterns)
    matching, earlier = point.choices[place], point.choices[:place]
    rivals = [rival for c in earlier if begin_alike(c, [matching]) for rival in c.patterns]
    rivals += matching.patterns[: matching.patterns.index(pattern)]
    return (pattern, *dict.fromkeys(rivals))


def _begins_another(choice: Choice, listed: Iterable[Choice]) -> bool:
    """Return True if a text of the choice is the beginning of another text or choice."""
    bare = ["".join(text.split()) for text in choice.texts]
    if any(text != rival and rival.startswith(text) for text in bare for rival in bare):
        return True
    for text in choice.texts:
        for rival in listed:
            if rival is choice or not may_begin(rival, text):
                continue
            matches = (choice_pattern(each).fullmatch(text) for each in rival.patterns)
            if any(match is not None and match.partial for match in matches):
                return True
    return False
