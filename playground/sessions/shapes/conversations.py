"""Find the conversation that a request continues: the one whose messages it begins with.

Each is known by a hash of its messages, so that a request is looked up, not compared with every
conversation of the file: an export of 2,000 requests took time in the square of their number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from playground.sessions.shapes.parts import plain_text

T = TypeVar("T")


class Conversations(Generic[T]):
    """The conversations of a file, in the order in which they began."""

    def __init__(self) -> None:
        self._last_requests: dict[bytes, list[T]] = {}  # by what was said in them

    def going_on(self, said: Sequence[Any]) -> tuple[T | None, bytes]:
        """Return the conversation that these messages go on with, and what they are known by.

        It is the one with the longest beginning, and of several with the same the newest. The
        messages are more than it had. It is taken out: `keep` puts it back with what is said now.
        """
        *beginnings, whole = [b"", *_beginnings(said)]
        for beginning in reversed(beginnings):
            if waiting := self._last_requests.get(beginning):
                return waiting.pop(), whole
        return None, whole

    def known_by(self, said: Sequence[Any]) -> bytes:
        """Return the hash of a conversation of these messages; empty if it has none."""
        return [b"", *_beginnings(said)][-1]

    def keep(self, conversation: T, known_by: bytes) -> None:
        """The conversation stands where `known_by` says; without messages nothing goes on with
        it."""
        if known_by:
            self._last_requests.setdefault(known_by, []).append(conversation)


def _beginnings(said: Sequence[Any]) -> Iterator[bytes]:
    """Yield a hash of the first message, of the first two, and so on."""
    running = hashlib.blake2b(digest_size=16)
    for message in said:
        running.update(f"{_role_and_text(message)!r}\n".encode())
        yield running.digest()


def _role_and_text(message: Any) -> Any:
    """Return a message's content, without marks and ids that change from request to request."""
    if not isinstance(message, dict):
        return message
    content = message.get("content", message.get("parts"))
    return message.get("role"), plain_text(content) or str(content)
