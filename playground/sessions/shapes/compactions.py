"""Read what a compaction left of the history, if a transcript names it by its own ids.

What it does not name stays unknown: nothing here guesses.
"""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from playground.nouns.messages import Message
from playground.sessions.building import SessionBuilder
from playground.sessions.session import held

_BY_VALUE: Final = 0  # marshal's later versions tell, too, which texts are one object
_NO_ID: Final = (list, dict)  # a tuple: a union would be made at each question


def left(builder: SessionBuilder, history: Iterable[int], message: int | None = None) -> None:
    """Return the indexes that the last compaction left, and the first message whose request begins
    so.
    """
    last = builder.compactions[-1]
    stop = last.message if message is None else message
    builder.compactions[-1] = replace(last, message=stop, history=tuple(history))


def in_force(builder: SessionBuilder) -> list[int]:
    """Return the messages, by index, that the next request would hold."""
    made = builder.compactions[-1] if builder.compactions else None
    return held(builder.messages, made, len(builder.messages))


@dataclass
class Marked:
    """The places of a transcript's entries in a conversation, by their ids or lines."""

    builder: SessionBuilder
    noted: list[tuple[Any, int, int]] = field(default_factory=list)  # entry, before, stop
    starts: dict[Any, int] = field(default_factory=dict)  # entry → how many messages were before it
    stops: dict[Any, int] = field(default_factory=dict)  # … and with it
    summaries: set[int] = field(default_factory=set)
    open: list[int] | None = None  # what stays behind a summary that is still to come
    asked: Sequence[int] = ()  # what asked for that summary, and stays before it

    def note(self, entry: Any, before: int, stop: int | None = None) -> None:
        """An entry that was read when there were so many messages, or is part of an earlier one."""
        stop = len(self.builder.messages) if stop is None else stop
        self.noted.append((entry, before, stop))

    def _find_out(self) -> None:
        """Compute the places, when first asked: most transcripts never are."""
        for entry, before, stop in self.noted:
            if entry is not None and not isinstance(entry, _NO_ID):
                self.starts[entry] = before
                self.stops[entry] = stop
        self.noted.clear()

    def between(self, first: Any, last: Any = None) -> list[int] | None:
        """Return the messages from one entry to another, or to the end, but for summaries; None
        where the transcript holds no such entry.
        """
        if isinstance(first, _NO_ID) or isinstance(last, _NO_ID):
            return None
        self._find_out()
        if first not in self.starts or (last is not None and last not in self.stops):
            return None
        stop = len(self.builder.messages) if last is None else self.stops[last]
        return [i for i in range(self.starts[first], stop) if i not in self.summaries]


def aside(builder: SessionBuilder) -> SessionBuilder:
    """Return a builder for messages of which some may be the other one's own: `Said.taken`
    tells.
    """
    return SessionBuilder(
        findings=builder.findings, kept=builder.kept, names=builder.names, texts=builder.texts
    )


@dataclass
class Said:
    """The messages of a conversation by content, for transcripts that repeat what was kept."""

    builder: SessionBuilder
    places: dict[bytes, list[int]] = field(default_factory=dict)
    looked: int = 0  # messages whose places are known

    def taken(self, aside: SessionBuilder) -> list[int]:
        """Return each separately read message's place: where it was said, or now at the end."""
        builder = self.builder
        builder.is_sound = builder.is_sound and aside.is_sound
        found = []
        known = self._again(aside.messages)
        for message, where, index in zip(aside.messages, aside.places, known, strict=True):
            if index is None:
                index = len(builder.messages)
                builder.messages.append(message)
                builder.places.append(where)
            found.append(index)
        return found

    def _again(self, repeated: Sequence[Message]) -> list[int | None]:
        """Return the first message, by index, that says the same as each of these and as none
        before it; None where there is none.
        """
        messages, used = self.builder.messages, Counter[bytes]()
        while self.looked < len(messages) - 1:  # the last one may still grow
            self.places.setdefault(_what(messages[self.looked]), []).append(self.looked)
            self.looked += 1
        last = {_what(messages[-1]): len(messages) - 1} if messages else {}
        found = []
        for what in map(_what, repeated):
            known = self.places.get(what, [])
            is_known = used[what] < len(known)
            found.append(known[used[what]] if is_known else last.pop(what, None))
            used[what] += is_known
        return found


def _what(message: Message) -> bytes:
    said = [message.role, *([*vars(part).values()] for part in message.parts)]
    try:
        plain = marshal.dumps(said, _BY_VALUE)
    except ValueError:  # a NotANumber: no plain value
        plain = repr(message).encode(errors="surrogatepass")
    return blake2b(plain, digest_size=16).digest()
