"""The messages of one request: a system prompt, and a history that requests share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, overload

from playground.base.shared_lists import KeyIndexedList, SharedList
from playground.dialects.history import History
from playground.dialects.marks.policies import CacheDecision, as_parts
from playground.dialects.rendering import Block, Draft, deep_copy
from playground.parsing.values import dump_json


class RequestMessages(KeyIndexedList[dict[str, Any]]):
    """The messages of a request, which shares its history with other requests.

    A message is copied only if a caller may change it, so that requests take little memory.
    """

    __slots__ = ("_appended", "_copies", "_first", "_history", "_own")

    def __init__(self, system: Draft, history: History) -> None:
        # the history's first message may merge with the system prompt
        beginning = map(Draft, history.messages[:1], history.blocks[:1])
        self._first = History().extended_with([system, *beginning])
        self._history = history
        self._own: dict[int, dict[str, Any]] = {}  # copies of single messages, by index
        self._copies: list[dict[str, Any]] | None = None  # copies of all, which callers may change
        self._appended: dict[int, Block] = {}  # the block added to a message, by its index

    @classmethod
    def as_written(cls, drafts: Iterable[Draft]) -> RequestMessages:
        """Return a request with exactly these messages: nothing is merged or left out."""
        request, pairs = cls.__new__(cls), list(drafts)
        request._first = History(
            SharedList(draft.message for draft in pairs),
            SharedList(draft.blocks for draft in pairs),
        )
        request._history, request._own, request._appended = History(), {}, {}
        request._copies = None
        return request

    @property
    def _shift(self) -> int:
        """The index of a message in the request, minus its index in the history."""
        return len(self._first.messages) - min(1, len(self._history.messages))

    def __len__(self) -> int:
        if self._copies is not None:
            return len(self._copies)
        return self._shift + len(self._history.messages)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        indices = range(len(self))[index]
        if isinstance(indices, range):
            return list(map(self._message, indices))
        return self._message(indices)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self._message, range(len(self)))

    def _message(self, index: int) -> dict[str, Any]:
        if self._copies is not None:
            return self._copies[index]
        if index in self._own:
            return self._own[index]
        if index < len(self._first.messages):
            return self._first.messages[index]
        return self._history.messages[index - self._shift]

    def __repr__(self) -> str:
        return f"{list(self)!r} made of {self.blocks!r}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RequestMessages):
            return NotImplemented
        return list(self) == list(other) and self.blocks == other.blocks

    def last_with(self, key: str, value: Any, count: int) -> list[int]:
        if self._copies is not None:
            indices = [i for i, message in enumerate(self._copies) if message.get(key) == value]
        else:
            shift, first_count = self._shift, len(self._first.messages)
            later = (shift + i for i in self._history.messages.last_with(key, value, count))
            indices = self._first.messages.last_with(key, value, count)
            indices += (i for i in later if i >= first_count)
        return indices[max(0, len(indices) - count) :]

    def writable(self, index: int) -> dict[str, Any]:
        """Return the message at this index for a change; it is copied first if it is shared."""
        if self._copies is not None:
            return self._copies[index]
        if index not in self._own:
            self._own[index] = deep_copy(self._message(index))
        return self._own[index]

    def all_writable(self) -> list[dict[str, Any]]:
        """Return all messages as the request's own, which the caller may change."""
        if self._copies is None:
            shared = [*self._first.messages, *self._history.messages[1:]]
            self._copies = [self._own.get(i) or deep_copy(item) for i, item in enumerate(shared)]
        return self._copies

    def append_to_last_user(self, text: str) -> None:
        """Add a text part to the last user message. If there is none, `check_session` has a
        finding."""
        for index in self.last_with("role", "user", 1):
            message = self.writable(index)
            # A separate part, so that marks on earlier parts stay where they are.
            message["content"] = [*as_parts(message["content"]), {"type": "text", "text": text}]
            self._appended[index] = Block("environment", "environment", text)

    @property
    def blocks(self) -> list[tuple[Block, ...]]:
        """Return the pieces of each message's text."""
        blocks = list(chain(self._first.blocks, self._history.blocks[1:]))
        for index, block in self._appended.items():
            blocks[index] += (block,)
        return blocks


@dataclass(frozen=True, slots=True)
class Rendering:
    """The request's messages, the blocks of each, tools, and the cache decisions."""

    dialect: str
    request: RequestMessages
    tools: list[dict[str, Any]] | None
    decisions: list[CacheDecision]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, which the caller may change; they are copied at the first use."""
        return self.request.all_writable()

    @property
    def blocks(self) -> list[tuple[Block, ...]]:
        """The pieces of each message's text."""
        return self.request.blocks

    @property
    def sent(self) -> list[Block]:
        """Every piece of the request's text; a native request's tools come first."""
        tools = [
            Block(f"tool:{tool['function']['name']}", "tool docs", dump_json(tool))
            for tool in self.tools or []
        ]
        return [*tools, *(block for blocks in self.blocks for block in blocks)]

    @property
    def characters(self) -> int:
        """The characters of all text that is sent, tools included."""
        return sum(len(block.text) for block in self.sent)
