"""Skip rules: a rule says which chunks hold nothing that the parser waits for where it stands.

fast_path.py explains the rules' use, and the words "claim", "hold" and "walk". This module has the
rules of simple places: up to a pattern, to the end of a JSON string, and to the end of a text
between two marks. choice_point.py makes the rule of a choice point.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

import regex

from playground.parsing.candidates import any_of
from playground.parsing.marker import Lookahead, Marker

# (marker) -> True if the marker counts here: a value's closer that names another key does not.
Accept = Callable[[Marker], bool]

# (text, start, accept) -> the index from which the text must be held back; len(text) if nothing is,
# None if only the walk can say. Everything before `start` is claimed already.
HoldFrom = Callable[[str, int, Accept | None], int | None]

# (text, place, accept) -> the marker at a place where text was held. A marker that is not accepted
# counts as none.
Decide = Callable[[str, int, Accept | None], Lookahead]

# (chunk) -> the rule after a chunk in which a string or bracket opens or closes; None if only the
# walk can say.
NextRule = Callable[[str], "SkipRule | None"]

# (held text) -> true if the text is still one run (see `run_at`), which nothing in it ends.
GoesOn = Callable[[str], object]

# (text, place) -> the marker at a place, or its beginning.
MatchAt = Callable[[str, int], Lookahead]

NO_TRIGGERS: Final = ("", "", "")
_QUOTES: Final = ('"', "'")


class SkipRule(NamedTuple):
    """A rule by which chunks may be claimed without the walk.

    A chunk is skipped if it holds none of the three `triggers`, or if `search` finds nothing in it.
    `search` sees each chunk alone. It may find too much, never too little: it also finds a marker
    of which the chunk holds only the start. All look-behinds in its pattern must be negative,
    because a chunk lacks the text before it.
    """

    triggers: tuple[str, str, str]
    search: Callable[[str], re.Match[str] | None]
    # what to do with a chunk in which `search` found something; None: resume the walk
    hold_from: HoldFrom | None = None
    # True if a match depends on the text before it
    looks_back: bool = False
    # True if any line may be a marker, so that the text after a line break is always looked at
    any_line: bool = False
    # (text, place) -> a function that tests cheaply if longer held text is still one run, such as
    # a path in a call's first line; None if no run begins at the place
    run_at: Callable[[str, int], GoesOn | None] | None = None
    # decides about held text that is not such a run; None: ask `hold_from` again
    decide: Decide | None = None


NEVER: Final = SkipRule(NO_TRIGGERS, re.compile("").search)  # skips no chunk


@lru_cache(maxsize=1024)
def rule_until(pattern: re.Pattern[str]) -> SkipRule:
    """Return the rule that skips up to a match of a pattern."""
    return SkipRule(triggers_of(pattern), pattern.search)


@lru_cache(maxsize=1024)
def rule_in_string(pattern: re.Pattern[str], match_at: MatchAt | None = None) -> SkipRule:
    """Return the rule that skips to the end of a string with backslash escapes.

    `pattern` finds quotes and backslashes. With `match_at` it also finds the first character of
    markers that no string contains; `match_at` then says whether such a marker is there.
    """
    hold_from = _hold_from_in_string(pattern, match_at)
    return SkipRule(triggers_of(pattern), _unless_escaped(pattern).search, hold_from)


@lru_cache(maxsize=1024)
def rule_to_mark(mark: str) -> SkipRule:
    """Return the rule that skips up to a `string_mark`, which is never escaped. The beginning of a
    mark is held."""
    beginning, full_mark = re.compile(any_of([mark])), regex.compile(regex.escape(mark))

    def hold_from(text: str, start: int, accept: Accept | None = None) -> int | None:
        match = full_mark.search(text, start, partial=True)
        return len(text) if match is None else match.start() if match.partial else None

    return SkipRule(triggers_of(beginning), beginning.search, hold_from)


def _hold_from_in_string(pattern: re.Pattern[str], match_at: MatchAt | None) -> HoldFrom:
    """Return a function that holds an unfinished end: a backslash, or part of a marker."""

    def hold_from(text: str, start: int, accept: Accept | None = None) -> int | None:
        match = pattern.search(text, start)
        while match is not None:
            place = match.start()
            if match[0] == "\\":
                if place == len(text) - 1:
                    return place
                place += 1  # an escaped character ends nothing
            elif match_at is None or match[0] in _QUOTES:
                return None
            else:
                marker, is_undecided = match_at(text, place)
                if marker is not None:
                    return place if is_undecided else None
            match = pattern.search(text, place + 1)
        return len(text)

    return hold_from


def triggers_of(pattern: re.Pattern[str]) -> tuple[str, str, str]:
    """Return three characters: if a text has none of them, `pattern` finds nothing in it. Return
    `NO_TRIGGERS`, which are in every text, if three are not enough. `in` is three times as fast as
    a search."""
    # a rule's pattern matches the first character of all that it finds, so each is tried alone
    likely = sorted({*map(chr, range(128)), *pattern.pattern})
    triggers = list(islice(filter(pattern.search, likely), 4))
    if 0 < len(triggers) < 4:
        return triggers[0], triggers[len(triggers) // 2], triggers[-1]
    return NO_TRIGGERS


def _unless_escaped(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern that finds the same as `pattern`, except after a backslash. The chunk itself
    must follow no backslash.

    It also finds a backslash at the end of the chunk, and two in a row, because only counting all
    backslashes shows which of them escape.
    """
    return re.compile(rf"(?:{pattern.pattern})(?<!\\)(?<!\\[\s\S])|\\(?:\\|\Z)")
