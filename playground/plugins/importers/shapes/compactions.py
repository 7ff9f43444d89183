"""Find the messages that a compaction kept, if the transcript names them by ids. Without such ids,
the kept messages stay unknown: this module does not guess."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from playground.nouns.messages import Message
from playground.sessions.building import SessionBuilder
from playground.sessions.session import request_messages

_BY_VALUE: Final = 0  # a version of marshal's format; later ones depend on objects' identity
_NO_ID: Final = (list, dict)  # types of no id; `list | dict` would be built anew at each use


def set_history(
    builder: SessionBuilder, history: Iterable[int], message: int | None = None
) -> None:
    """Set the indexes of the messages that the last compaction kept (`history`). Requests after the
    message with the index `message` (by default the compaction's own) begin with these."""
    last = builder.compactions[-1]
    stop = last.message if message is None else message
    builder.compactions[-1] = replace(last, message=stop, history=tuple(history))


def active_messages(builder: SessionBuilder) -> list[int]:
    """Return the indexes of the messages that the next request would contain."""
    last = builder.compactions[-1] if builder.compactions else None
    return request_messages(builder.messages, last, len(builder.messages))


@dataclass
class EntryPlaces:
    """The messages that were read from each entry of a transcript, by the entry's id or line."""

    builder: SessionBuilder
    new: list[tuple[Any, int, int]] = field(default_factory=list)  # entry, start, stop
    starts: dict[Any, int] = field(default_factory=dict)  # entry → index of its first message
    stops: dict[Any, int] = field(default_factory=dict)  # entry → index after its last message
    summaries: set[int] = field(default_factory=set)
    open: list[int] | None = None  # messages to be placed after the next summary
    prompt: Sequence[int] = ()  # messages that asked for the summary, and stay before it

    def add(self, entry: Any, start: int, stop: int | None = None) -> None:
        """Add an entry with its messages: those from `start` to `stop`, by default to the last."""
        stop = len(self.builder.messages) if stop is None else stop
        self.new.append((entry, start, stop))

    def _index_new(self) -> None:
        """Move new entries into `starts` and `stops`. This happens only when these are used,
        because most transcripts never need them."""
        for entry, start, stop in self.new:
            if entry is not None and not isinstance(entry, _NO_ID):
                self.starts[entry] = start
                self.stops[entry] = stop
        self.new.clear()

    def between(self, first: Any, last: Any = None) -> list[int] | None:
        """Return the indexes of the messages from entry `first` to entry `last` (by default to the
        end), except summaries.

        Return None if the transcript has no such entry.
        """
        if isinstance(first, _NO_ID) or isinstance(last, _NO_ID):
            return None
        self._index_new()
        if first not in self.starts or (last is not None and last not in self.stops):
            return None
        stop = len(self.builder.messages) if last is None else self.stops[last]
        return [i for i in range(self.starts[first], stop) if i not in self.summaries]


def scratch_builder(builder: SessionBuilder) -> SessionBuilder:
    """Return a builder that shares another builder's findings, counter, call names and texts.

    Use it to read messages that may repeat earlier ones; `MessagesByContent.add_from` then adds
    those that are new.
    """
    return SessionBuilder(
        findings=builder.findings, counter=builder.counter, names=builder.names, texts=builder.texts
    )


@dataclass
class MessagesByContent:
    """The indexes of a conversation's messages by content, for transcripts that repeat messages."""

    builder: SessionBuilder
    indexes: dict[bytes, list[int]] = field(default_factory=dict)  # digest → indexes of messages
    count: int = 0  # number of messages that are in `indexes`

    def add_from(self, scratch: SessionBuilder) -> list[int]:
        """Add the messages of `scratch` that are new; return each message's index, old or new."""
        builder = self.builder
        builder.is_clean = builder.is_clean and scratch.is_clean
        found = []
        known = self._find(scratch.messages)
        for message, where, index in zip(scratch.messages, scratch.places, known, strict=True):
            if index is None:
                index = len(builder.messages)
                builder.messages.append(message)
                builder.places.append(where)
            found.append(index)
        return found

    def _find(self, repeated: Sequence[Message]) -> list[int | None]:
        """Return, for each message, the index of the first equal message that no earlier one has
        taken, or None."""
        messages, used = self.builder.messages, Counter[bytes]()
        while self.count < len(messages) - 1:  # the last message may still grow
            self.indexes.setdefault(_digest(messages[self.count]), []).append(self.count)
            self.count += 1
        last = {_digest(messages[-1]): len(messages) - 1} if messages else {}
        found = []
        for digest in map(_digest, repeated):
            known = self.indexes.get(digest, [])
            is_known = used[digest] < len(known)
            found.append(known[used[digest]] if is_known else last.pop(digest, None))
            used[digest] += is_known
        return found


def _digest(message: Message) -> bytes:
    fields = [message.role, *([*vars(part).values()] for part in message.parts)]
    try:
        plain = marshal.dumps(fields, _BY_VALUE)
    except ValueError:  # marshal cannot write a NotANumber
        plain = repr(message).encode(errors="surrogatepass")
    return blake2b(plain, digest_size=16).digest()
