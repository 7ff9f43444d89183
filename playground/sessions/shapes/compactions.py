"""What a compaction left of the history, where a transcript names it by its own ids.

What it does not name stays unsaid: nothing here guesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from playground.sessions.building import SessionBuilder
from playground.sessions.session import held


def left(builder: SessionBuilder, history: Iterable[int], message: int | None = None) -> None:
    """What the last compaction left, by index, and from which message on requests begin so."""
    last = builder.compactions[-1]
    stop = last.message if message is None else message
    builder.compactions[-1] = replace(last, message=stop, history=tuple(history))


def in_force(builder: SessionBuilder) -> list[int]:
    """The messages, by index, that the next request would hold."""
    made = builder.compactions[-1] if builder.compactions else None
    return held(builder.messages, made, len(builder.messages))


@dataclass
class Marked:
    """Where in a conversation the entries of a transcript stand, by their ids or lines."""

    builder: SessionBuilder
    starts: dict[Any, int] = field(default_factory=dict)  # entry → how many messages were before it
    stops: dict[Any, int] = field(default_factory=dict)  # … and with it
    summaries: set[int] = field(default_factory=set)
    open: list[int] | None = None  # what stays behind a summary that is still to come
    asked: Sequence[int] = ()  # what asked for that summary, and stays before it

    def note(self, entry: Any, before: int, stop: int | None = None) -> None:
        """An entry that was read when there were so many messages, or is part of an earlier one."""
        if isinstance(entry, list | dict):  # no id
            return
        self.starts[entry] = before
        self.stops[entry] = len(self.builder.messages) if stop is None else stop

    def between(self, first: Any, last: Any = None) -> list[int] | None:
        """The messages from one entry to another, or to the end, but for summaries; None where the
        transcript holds no such entry."""
        if isinstance(first, list | dict) or isinstance(last, list | dict):
            return None
        if first not in self.starts or (last is not None and last not in self.stops):
            return None
        stop = len(self.builder.messages) if last is None else self.stops[last]
        return [i for i in range(self.starts[first], stop) if i not in self.summaries]
