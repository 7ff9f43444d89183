"""Choices for the markers around calls: reasoning, stop tokens, tokens that leaked, results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from playground.parsing.declaration import Markers, ReasoningTags
from playground.parsing.patterns import begins, literal
from playground.parsing.wait import Choice, Group, Kind


def literals(kind: Kind, texts: Iterable[str], number: int = 0) -> list[Choice]:
    """A choice of markers. White space around one is no part of it, but for a leading blank."""
    # the longest first: of two that begin alike, the shorter would win
    listed = [_bare(text) for text in sorted(set(texts), key=len, reverse=True)]
    if not listed:
        return []
    pattern = "|".join(literal(text) for text in listed)
    first = tuple(text for marker in listed for text in begins((marker,)))
    return [Choice(pattern, first, Group(kind, number), tuple(listed))]


def _bare(text: str) -> str:
    blank = " " if text.startswith(" ") else ""
    return blank + text.strip()


class Surroundings:
    """Choices for the markers around calls."""

    def __init__(self, markers: Markers) -> None:
        self.markers = markers

    def stops(self, beginning: Sequence[str] = ("",)) -> list[Choice]:
        """The stops that are longer than one of these, with which they begin."""
        heads = tuple(beginning)
        stops = [
            stop
            for stop in self.markers.stops
            if any(stop.startswith(head) and stop != head for head in heads)
        ]
        return literals(Kind.STOP, stops)

    def dropped(self) -> list[Choice]:
        return literals(Kind.DROPPED, self.markers.dropped)

    def closer(self, tags: ReasoningTags) -> list[Choice]:
        return literals(Kind.CLOSE, [tags.close] if tags.close else [])

    def openers(self) -> list[Choice]:
        """What begins reasoning, or text in which nothing is a call."""
        choices: list[Choice] = []
        for number, tags in enumerate(self.markers.plain):
            choices += literals(Kind.PLAIN, [tags.open], number)
        for number, tags in enumerate(self.markers.reasoning):
            choices += literals(Kind.THINK, [tags.open], number)
        return choices

    def closers(self) -> list[Choice]:
        """The ends of reasoning, which stand alone where none is open."""
        closers = [tags.close for tags in self.markers.reasoning if tags.close]
        return literals(Kind.THINK_CLOSE, closers)

    def results(self) -> list[Choice]:
        return literals(Kind.RESULT, [self.markers.result] if self.markers.result else [])
