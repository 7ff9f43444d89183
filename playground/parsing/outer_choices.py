"""Choices for the markers around calls: reasoning, stop tokens, leaked tokens, results."""

from __future__ import annotations

from collections.abc import Sequence

from playground.parsing.choice import Choice, Kind, literals
from playground.parsing.declaration import Markers, ReasoningTags


class OuterChoices:
    """Choices for the markers around calls."""

    def __init__(self, markers: Markers) -> None:
        self.markers = markers

    def stops(self, beginning: Sequence[str] = ("",)) -> list[Choice]:
        """Return the choice of the stop tokens that begin with one of these texts and go on."""
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
        """Return the openers of reasoning, and of text in which nothing is a call."""
        choices: list[Choice] = []
        for number, tags in enumerate(self.markers.plain):
            choices += literals(Kind.PLAIN, [tags.open], number)
        for number, tags in enumerate(self.markers.reasoning):
            choices += literals(Kind.THINK, [tags.open], number)
        return choices

    def closers(self) -> list[Choice]:
        """Return the closers of reasoning, for places where no reasoning is open."""
        closers = [tags.close for tags in self.markers.reasoning if tags.close]
        return literals(Kind.THINK_CLOSE, closers)

    def results(self) -> list[Choice]:
        return literals(Kind.RESULT, [self.markers.result] if self.markers.result else [])
