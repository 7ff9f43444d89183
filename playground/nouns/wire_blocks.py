"""A provider's request as blocks: the units that are cached, in the order of caching.

Each tool, each part of the system prompt and each part of a message is a block; a content that is a
text is one part. A cache mark is kept with its block, but is no part of the block's text.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from playground.base.shared_lists import SharedList
from playground.nouns.wire_bodies import (
    MARKS,
    identity,
    kind_of,
    mark_holders,
    messages_of,
    parameters_of,
    parts_of,
    system_of,
    tools_of,
)
from playground.nouns.wire_estimates import tokens_of

Tier = Literal["tools", "system", "messages"]
TIERS: Final[tuple[Tier, ...]] = ("tools", "system", "messages")
_PICTURES: Final = ("image", "image_url", "input_image")


@dataclass(frozen=True, slots=True)
class WireBlock:
    """A block: its place, its content, and the TTL of the cache mark on it, if any. If the content
    is known only by its hash, `text` is the hash and `size` the number of estimated tokens."""

    tier: Tier
    role: str
    kind: str
    text: str
    ttl: str | None = None
    markable: bool = True
    place: tuple[int, int] | None = None  # message and part
    is_string: bool = False  # True if the message's content is a text, not a list
    size: int | None = None

    @property
    def tokens(self) -> int:
        """The estimated number of tokens."""
        return tokens_of(self.text) if self.size is None else self.size

    def has_same_content(self, other: WireBlock) -> bool:
        """Return True if both are the same block to a cache, whatever their marks and places."""
        return self is other or (
            (self.text, self.kind, self.role, self.tier)
            == (other.text, other.kind, other.role, other.tier)
        )

    @property
    def digest(self) -> bytes:
        identity = f"{self.tier}\0{self.role}\0{self.kind}\0{self.text}"
        return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).digest()


@dataclass(slots=True)
class WireRequest:
    """The parts of a request that matter to a cache: blocks, a mark at the top level, and
    parameters that invalidate a tier when they change.

    `starts` has the index of each message's first block; of the next block if it has none.
    """

    model: str
    blocks: SharedList[WireBlock]
    parameters: dict[str, Any] = field(default_factory=dict)
    automatic_ttl: str | None = None
    explicit_only: bool = False  # OpenAI: no implicit breakpoint
    starts: SharedList[int] = field(default_factory=SharedList)

    def insert(self, index: int, block: WireBlock) -> None:
        """Insert a block, as the last of the message before it."""
        self.blocks = self.blocks.extended_with(index, [block, *self.blocks[index:]])
        message = bisect_left(self.starts, index)
        self.starts = self.starts.extended_with(message, [n + 1 for n in self.starts[message:]])

    def at(self, message: int, part: int) -> Iterator[int]:
        """Yield the indices of the blocks that a part of a message has become."""
        start, *after = self.starts[message : message + 2]
        for index in range(start, after[0] if after else len(self.blocks)):
            if self.blocks[index].place == (message, part):
                yield index


def read_wire(body: dict[str, Any], model: str = "", default_ttl: str = "5m") -> WireRequest:
    """Read a body of Anthropic, OpenAI (both APIs), Bedrock, Gemini or OpenRouter as blocks."""
    return WireReader(model, default_ttl).read(body)


class WireReader:
    """A reader of a row of requests. Messages of the previous request are not read again.

    Every request of a session contains the history before it. Reading each message once makes the
    time linear in the number of requests, not quadratic. For the same reason no loop walks the
    shared messages: whole lists are compared.
    """

    def __init__(self, model: str = "", default_ttl: str = "5m") -> None:
        self._model, self._ttl = model, default_ttl
        self._previous = _MessageState()
        self._previous_messages: Sequence[dict[str, Any]] = ()
        self._blocks: SharedList[WireBlock] = SharedList()
        self._starts: SharedList[int] = SharedList()
        self._tools: tuple[Any, list[WireBlock]] = None, []

    def read(self, body: dict[str, Any]) -> WireRequest:
        head = _Reader(self._ttl, self._tool_blocks(tools_of(body)))
        system = system_of(body)
        for part in parts_of(system):
            head.part("system", "system", part, None, isinstance(system, str))
        if body.get("instructions"):  # the system prompt of OpenAI's Responses API
            head.part("system", "system", {"type": "text", "text": body["instructions"]})
        state = self._read_messages(messages_of(body), head.blocks)
        options = body.get("prompt_cache_options")
        mode = options.get("mode") if isinstance(options, dict) else None
        top = body.get("cache_control")
        return WireRequest(
            model=self._model or str(body.get("model") or ""),
            blocks=self._blocks,
            parameters=parameters_of(body, state.pictures),
            automatic_ttl=str(top.get("ttl") or self._ttl) if isinstance(top, dict) else None,
            explicit_only=mode == "explicit",
            starts=self._starts,
        )

    def _tool_blocks(self, tools: Any) -> list[WireBlock]:
        """Return tools as blocks, in a new list. Requests of a session often share their tools."""
        if tools is not self._tools[0]:
            reader = _Reader(self._ttl, [])
            reader.tools(tools)
            self._tools = tools, reader.blocks
        return self._tools[1].copy()

    def _read_messages(
        self, messages: Sequence[dict[str, Any]], head: list[WireBlock]
    ) -> _MessageState:
        previous, shared_list = self._previous, self._previous_messages
        equal = shared_list.shared(messages) if isinstance(shared_list, SharedList) else 0
        count = shared_length(previous.messages, messages, equal)
        count = first_json_difference(previous.messages, messages, equal, count)
        state = previous.up_to(count) if head == previous.head else None
        start, blocks = (len(state.messages), len(state.blocks)) if state else (0, 0)
        state = state or _MessageState(head, blocks=list(head), pictures=_has_pictures(head))
        for message in messages[start:]:
            state.add(message, self._ttl)
        if state.marked and state.marked[-1][0] >= start:  # an earlier block has got a mark
            blocks = min(blocks, *(block for index, block in state.marked if index >= start))
        self._previous, self._previous_messages = state, messages
        self._blocks = self._blocks.extended_with(blocks, state.blocks[blocks:])
        self._starts = self._starts.extended_with(start, state.starts[start:])
        return state


@dataclass(slots=True)
class _MessageState:
    """Messages that were read, with the state before each: `starts` has the number of blocks,
    `flags_before` says if all messages were the system's and if there was a picture."""

    head: list[WireBlock] = field(default_factory=list)  # tools and the system prompt
    messages: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[WireBlock] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    flags_before: list[tuple[bool, bool]] = field(default_factory=list)
    # pairs of a message and the earlier block that it has marked
    marked: list[tuple[int, int]] = field(default_factory=list)
    only_system: bool = True  # True if all messages are the system's so far
    pictures: bool = False

    def up_to(self, count: int) -> _MessageState | None:
        """Return the state after `count` messages; None if a later one has marked their blocks."""
        if count == len(self.messages):
            return self
        start = self.starts[count]
        if any(message >= count and block < start for message, block in self.marked):
            return None
        return _MessageState(
            self.head,
            self.messages[:count],
            self.blocks[:start],
            self.starts[:count],
            self.flags_before[:count],
            [pair for pair in self.marked if pair[0] < count],
            *self.flags_before[count],
        )

    def add(self, message: dict[str, Any], ttl: str) -> None:
        index, start = len(self.messages), len(self.blocks)
        last = self.blocks[-1] if self.blocks else None
        _Reader(ttl, self.blocks).message(message, index, self.only_system)
        if start and self.blocks[start - 1] is not last:  # the message has marked it
            self.marked.append((index, start - 1))
        own = self.blocks[start:]
        self.messages.append(message)
        self.starts.append(start)
        self.flags_before.append((self.only_system, self.pictures))
        self.only_system = self.only_system and all(block.tier == "system" for block in own)
        self.pictures = self.pictures or _has_pictures(own)


def shared_length(one: Sequence[Any], other: Sequence[Any], start: int = 0) -> int:
    """Return how many leading items both lists share. Those before `start` are known to be equal.

    The search compares slices, with steps that double and then halve: Python compares identical
    objects fast.
    """
    if isinstance(one, SharedList):
        start = max(start, one.shared(other))
    most, step = min(len(one), len(other)), 1
    while start < most and one[start : start + step] == other[start : start + step]:
        start, step = min(start + step, most), step * 2
    while step > 1 and start < most:
        step //= 2
        if one[start : start + step] == other[start : start + step]:
            start = min(start + step, most)
    return start


def first_json_difference(one: Sequence[Any], other: Sequence[Any], start: int, stop: int) -> int:
    """Return the index, from `start` on, of the first equal items whose JSON differs; `stop` if
    there are none. Python ignores the order of fields and takes 1 for true; providers do not."""
    for index in range(start, stop):
        before, after = one[index], other[index]
        if before is not after and json.dumps(before) != json.dumps(after):
            return index
    return stop


class _Reader:
    def __init__(self, default_ttl: str, blocks: list[WireBlock]) -> None:
        self.blocks = blocks
        self._ttl = default_ttl

    def tools(self, tools: Any) -> None:
        for tool in tools if isinstance(tools, list) else []:
            if isinstance(tool, dict):
                self._add("tools", "", "tool", tool)

    def message(self, message: dict[str, Any], index: int, leading: bool) -> None:
        role = str(message.get("role") or message.get("type") or "")
        tier: Tier = "system" if role in ("system", "developer") and leading else "messages"
        # The Responses API sends calls and results as items of their own, without a role.
        if "role" not in message:
            self._add(tier, role, role, message, (index, 0))
            return
        # A provider sees a result as part of the user's turn, whatever role the library gives it.
        if role == "tool":
            self._add(tier, "user", "tool_result", {**message, "role": None}, (index, 0))
            return
        content = message.get("content", message.get("parts"))
        for number, part in enumerate(parts_of(content)):
            self.part(tier, role, part, (index, number), isinstance(content, str))
        self._mark_last(message.get("cache_control"))
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._add(tier, role, "tool_use", call)

    def _mark_last(self, mark: Any) -> None:
        """Put a mark on the last block: on a copy, because requests share blocks."""
        if isinstance(mark, dict) and self.blocks:
            self.blocks[-1] = replace(self.blocks[-1], ttl=str(mark.get("ttl") or self._ttl))

    def part(
        self,
        tier: Tier,
        role: str,
        part: dict[str, Any],
        place: tuple[int, int] | None = None,
        is_string: bool = False,
    ) -> None:
        self._add(tier, role, kind_of(part), part, place, is_string)

    def _add(
        self,
        tier: Tier,
        role: str,
        kind: str,
        value: dict[str, Any],
        place: tuple[int, int] | None = None,
        is_string: bool = False,
    ) -> None:
        point = value.get("cachePoint")
        if isinstance(point, dict) and len(value) == 1:  # Bedrock: a mark on the block before it
            self._mark_last(point)
            return
        ttl = None
        for holder in mark_holders(kind, value):
            for key in MARKS:
                if isinstance(mark := holder.get(key), dict):
                    ttl = str(mark.get("ttl") or self._ttl)
        text = identity(kind, value)
        # Anthropic refuses a mark on these with an error 400, for the whole request.
        empty = kind == "text" and not text
        markable = not empty and kind not in ("thinking", "redacted_thinking")
        self.blocks.append(WireBlock(tier, role, kind, text, ttl, markable, place, is_string))


def _has_pictures(blocks: Iterable[WireBlock]) -> bool:
    return any(block.kind in _PICTURES for block in blocks)
