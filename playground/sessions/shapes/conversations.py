"""Find the conversation that a request continues: the request begins with all its messages. A
conversation is found by a hash of its messages, because comparing each request with each
conversation would take quadratic time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from playground.sessions.shapes.parts import plain_text

T = TypeVar("T")


class Conversations(Generic[T]):
    """The conversations of a file, in the order in which they began."""

    def __init__(self) -> None:
        self._by_digest: dict[bytes, list[T]] = {}

    def take(self, messages: Sequence[Any]) -> tuple[T | None, bytes]:
        """Remove and return the conversation that `messages` continue, and their digest.

        It is the longest matching conversation; of several equal ones, the newest. `put` stores it
        again under a new digest.
        """
        *beginnings, digest = [b"", *_beginnings(messages)]
        for beginning in reversed(beginnings):
            if conversations := self._by_digest.get(beginning):
                return conversations.pop(), digest
        return None, digest

    def digest(self, messages: Sequence[Any]) -> bytes:
        """Return the digest of a conversation of these messages; empty if there are none."""
        return [b"", *_beginnings(messages)][-1]

    def put(self, conversation: T, digest: bytes) -> None:
        """Store a conversation under the digest of its messages, unless it has none."""
        if digest:
            self._by_digest.setdefault(digest, []).append(conversation)


def _beginnings(messages: Sequence[Any]) -> Iterator[bytes]:
    """Yield a hash of the first message, of the first two, and so on."""
    running = hashlib.blake2b(digest_size=16)
    for message in messages:
        running.update(f"{_role_and_text(message)!r}\n".encode())
        yield running.digest()


def _role_and_text(message: Any) -> Any:
    """Return a message's role and text, without ids and cache marks, which vary between requests.
    Content that is not text alone is returned as its `repr`, with all its fields."""
    if not isinstance(message, dict):
        return message
    content = message.get("content", message.get("parts"))
    return message.get("role"), plain_text(content) or str(content)
