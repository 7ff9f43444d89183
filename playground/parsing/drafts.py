"""A draft: a call in open reasoning, whose events are held back until the reasoning's end is known.

Models try calls in their thoughts. If the reasoning is closed after such a call, the call belongs
to the thought. If the reasoning is never closed, its closer was forgotten and the call is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from playground.nouns.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    merged,
    owned_text,
)

_UNMERGED: Final = 1024  # with more new events than this, neighbours of one kind are joined


@dataclass
class DraftCall:
    """A draft that begins at `offset`, inside the tags `Markers.reasoning[number]`.

    `events` are held back; `earlier_events` are from before the draft. `calls` is the number of
    calls before it.
    """

    number: int
    offset: int
    calls: int
    earlier_events: list[Event]
    events: list[Event] = field(default_factory=list)
    _merged: int = 0  # events that are joined already

    def take_earlier_events(self) -> list[Event]:
        """Return the events from before the draft, on the first use only. If many events are
        held, join them."""
        if len(self.events) - self._merged > _UNMERGED:
            self.events[self._merged :] = merged(self.events[self._merged :])
            self._merged = len(self.events)
        events, self.earlier_events = self.earlier_events, []
        return events

    @property
    def text(self) -> str:
        return "".join(map(owned_text, self.events))

    @property
    def names(self) -> str:
        """The names of the tools that the draft calls, each once."""
        named = (event.name for event in self.events if isinstance(event, CallNamedEvent))
        return ", ".join(dict.fromkeys(named)) or "no name"

    def forget_ids(self, ids: dict[str, int]) -> None:
        """Remove the ids first used in the draft, because its calls are not delivered."""
        for event in self.events:
            if isinstance(event, CallEndedEvent) and ids.get(event.call_id, -1) >= self.calls:
                del ids[event.call_id]

    def find_closer(self, closer: str) -> int:
        """Return where `closer` first occurs in the text outside of complete calls, or -1.

        A call that broke off may have swallowed the closer.
        """
        start = 0
        for text, is_outside in self._stretches():
            place = text.find(closer) if is_outside else -1
            if place >= 0:
                return start + place
            start += len(text)
        return -1

    def _stretches(self) -> Iterator[tuple[str, bool]]:
        """Yield the stretches of text in order, with True for text outside of complete calls."""
        outside: list[str] = []
        call: list[str] | None = None
        for event in self.events:
            match event:
                case CallStartedEvent():
                    call = []
                case CallEndedEvent():
                    yield "".join(outside), True
                    yield "".join(call or ()), False
                    outside, call = [], None
                case CallAbortedEvent():
                    outside += call or ()
                    call = None
                case _:
                    (outside if call is None else call).append(owned_text(event))
        yield "".join([*outside, *(call or ())]), True
