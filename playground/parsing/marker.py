"""A marker: the match of a choice in a text, and everything that the matched text decides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import regex

from playground.parsing.choice import Group, Kind
from playground.parsing.patterns import well_formed_pattern
from playground.parsing.template import Piece


class Marker:
    """A match at a choice point, complete or `partial`. `named` has the texts of the named groups
    that have matched so far.

    The same marker is returned again wherever the same text occurs (`ChoicePoint.match_at`), so a
    marker knows its length, but not its place.
    """

    def __init__(
        self, match: regex.Match[str], group: Group | None, named: Mapping[str, str]
    ) -> None:
        self.match, self.group, self.named = match, group, named
        self.kind: Kind | None = group.kind if group else None
        self.text: str = match[0]
        self.size = len(self.text)
        self.partial = match.partial
        self.well_formed: bool | None = None  # None until compared with the declaration

    def is_well_formed(self, *declared: tuple[Piece, ...]) -> bool:
        """Return True if the marker's text is one of the declared ones, apart from white space.

        A marker belongs to one choice, so the declaration is always the same, and the answer is
        cached.
        """
        if self.well_formed is None:
            patterns = map(well_formed_pattern, declared)
            self.well_formed = any(pattern.fullmatch(self.text) for pattern in patterns)
        return self.well_formed

    @property
    def content(self) -> tuple[str, Group | None, Mapping[str, str]]:
        """The fields that are compared to see if two matches are the same marker."""
        return self.text, self.group, self.named

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """The start and stop of each named group, relative to the marker's start, in order."""
        match, at = self.match, self.match.start()
        numbers = match.re.groupindex
        spans = ((match.span(numbers[name]), name) for name in self.named)
        return {name: (start - at, stop - at) for (start, stop), name in sorted(spans)}


def named_in(match: regex.Match[str]) -> dict[str, str]:
    """Return the texts of the named groups that have matched."""
    groups = match.groups()  # `regex` finds a group by its number ten times as fast as by its name
    return {
        name: text
        for name, number in match.re.groupindex.items()
        if (text := groups[number - 1]) is not None
    }


# The marker at a place (complete, partial or None), and True if more text could change it. It is a
# plain tuple because Python unpacks it far faster than a NamedTuple, once for every held chunk.
Lookahead = tuple[Marker | None, bool]
NOTHING: Final[Lookahead] = (None, False)
UNDECIDED: Final[Lookahead] = (None, True)  # the caller must match again with more of the text
