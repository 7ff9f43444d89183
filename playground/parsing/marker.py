"""What stands at a place in a text: a match, and all that follows from its own text alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import regex

from playground.parsing.choice import Group, Kind


class Marker:
    """A match of a wait. `named` are the groups that have matched inside it, and their texts; of
    half a marker, those that have so far.

    What is made of a match is made once: the same marker is given out wherever its text stands
    again (`Wait.look`). So it knows how long it is, and not where.
    """

    def __init__(
        self, match: regex.Match[str], group: Group | None, named: Mapping[str, str]
    ) -> None:
        self.match, self.group, self.named = match, group, named
        self.kind: Kind | None = group.kind if group else None
        self.text: str = match[0]
        self.size = len(self.text)
        self.partial = match.partial

    @property
    def says(self) -> tuple[str, Group | None, Mapping[str, str]]:
        """All that it says of itself."""
        return self.text, self.group, self.named

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """Where each of `named` stands in it, in their order."""
        match, at = self.match, self.match.start()
        numbers = match.re.groupindex
        found = ((match.span(numbers[name]), name) for name in self.named)
        return {name: (start - at, stop - at) for (start, stop), name in sorted(found)}


def named_in(match: regex.Match[str]) -> dict[str, str]:
    """The named groups of a match that have matched, and their texts."""
    groups = match.groups()  # `regex` finds a group by its number ten times as fast as by its name
    found = ((name, groups[number - 1]) for name, number in match.re.groupindex.items())
    return {name: text for name, text in found if text is not None}


Told = tuple[Marker | None, bool]  # what stands at a place, and whether more text could change it
NOTHING: Final[Told] = (None, False)
