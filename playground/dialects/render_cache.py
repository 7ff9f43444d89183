"""Cache the texts that dialects wrote for messages and tools.

An entry is found by the identity of the objects that it was made from, and only while these are
unchanged. (A message is frozen, but the arguments of a call are a dict.) So no result depends on
earlier callers.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import eq, is_
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from playground.base.shared_lists import SharedList
from playground.dialects.history import History
from playground.dialects.rendering import Block, Draft
from playground.nouns.messages import Message, ToolCallPart, ToolResultPart
from playground.nouns.tools import ToolMetadata

CHARACTERS: Final = 256_000_000  # enough for a session of 3 MB in every dialect
DOCS: Final = 32_000_000  # characters of tool docs: more than three hundred tools in every dialect

_PLAIN: Final = (str, int, float, type(None))  # a tuple, because Python builds a union at each use

_Value = TypeVar("_Value")

# a function that writes a message of the session, given also the message's index
Writer = Callable[[int, Message], list[Draft]]


class _MutableValues(NamedTuple):
    """The mutable values of an input, with a record of what they held.

    Contents are compared by identity, not by equality, because 1 equals True and dicts are equal in
    any order. `is_complete` is True if every value inside is immutable, or a list, tuple or dict
    that is recorded here.
    """

    containers: SharedList[Collection[Any]]  # lists, and live views of the keys and values of dicts
    sizes: SharedList[int]
    inside: SharedList[Any]
    is_complete: bool = True

    @property
    def unchanged(self) -> bool:
        # Only C functions, for speed: each rendering of a session checks all values.
        return all(map(eq, map(len, self.containers), self.sizes)) and all(
            map(is_, chain.from_iterable(self.containers), self.inside)
        )

    def extended_with(self, values: list[Any]) -> _MutableValues:
        """Return a record that also has `values` and all values inside them; empties `values`."""
        containers: list[Collection[Any]] = []
        is_complete, seen_ids = self.is_complete, set[int]()
        while values:
            value = values.pop()
            if id(value) in seen_ids:
                continue
            seen_ids.add(id(value))
            start = len(containers)
            if isinstance(value, dict):
                containers += dict.keys(value), dict.values(value)
            elif isinstance(value, (list, tuple)):
                containers.append(value)
            else:
                is_complete = False
            for container in containers[start:]:
                values += [item for item in container if not isinstance(item, _PLAIN)]
        return _MutableValues(
            self.containers.extended_with(len(self.containers), containers),
            self.sizes.extended_with(len(self.sizes), map(len, containers)),
            self.inside.extended_with(len(self.inside), chain.from_iterable(containers)),
            is_complete,
        )


def _mutable_in(values: list[Any]) -> _MutableValues:
    return _MutableValues(SharedList(), SharedList(), SharedList()).extended_with(values)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class CachedInput:
    """A session as it was passed in, for all dialects, with a record of its mutable values."""

    tools: tuple[ToolMetadata, ...]
    messages: SharedList[Message]
    mutable: _MutableValues

    def begins(self, messages: Sequence[Message], tools: Sequence[ToolMetadata]) -> bool:
        """Return True if this input is unchanged, has the same tools, and begins `messages`."""
        return (
            self.mutable.unchanged
            and len(self.tools) == len(tools)
            and all(map(is_, self.tools, tools))
            and len(self.messages) <= len(messages)
            and all(map(is_, self.messages, messages))
        )

    def extends(self, earlier: CachedInput) -> bool:
        """Return True if this was made from `earlier` by adding messages; nothing is compared."""
        return self.messages.shared(earlier.messages) == len(earlier.messages)

    def extended_with(self, messages: Sequence[Message]) -> CachedInput:
        all_messages = self.messages.extended_with(len(self.messages), messages)
        return CachedInput(self.tools, all_messages, self.mutable.extended_with(_values(messages)))


class CachedRendering(NamedTuple):
    """A session as a dialect wrote it: the drafts of each message, and all of them joined."""

    source: CachedInput
    drafts: SharedList[list[Draft]]
    history: History
    characters: int

    def extended_with(self, source: CachedInput, added: list[list[Draft]]) -> CachedRendering:
        """Return the rendering with the drafts of further messages."""
        texts = (len(block.text) for drafts in added for draft in drafts for block in draft.blocks)
        return CachedRendering(
            source,
            self.drafts.extended_with(len(self.drafts), added),
            self.history.extended_with(chain.from_iterable(added)),
            self.characters + sum(texts),
        )


class _Recent(Generic[_Value]):
    """The most recently used values, by key; `most` limits the sum of their characters."""

    def __init__(self, most: int) -> None:
        self._most, self._characters = most, 0
        self._values: OrderedDict[Hashable, tuple[_Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> _Value | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def keep(self, key: Hashable, value: _Value, characters: int) -> None:
        """Store a value in place of the one with its key, and drop the least recently used."""
        self._characters += characters - self._values.pop(key, (value, 0))[1]
        self._values[key] = value, characters
        while self._characters > self._most:
            self._characters -= self._values.popitem(last=False)[1][1]


class RenderCache:
    """A cache of rendered sessions and tools; the least recently used are dropped first.

    `characters` limits the texts of all sessions together, `docs` those of all tool docs.
    """

    def __init__(self, characters: int = CHARACTERS, docs: int = DOCS) -> None:
        # The key: the id of the first message (of the first tool if there is none), and the number
        # of tools. The input keeps that object alive, so no other object gets its id.
        self._inputs: WeakValueDictionary[tuple[int, int], CachedInput] = WeakValueDictionary()
        self._renderings: _Recent[CachedRendering] = _Recent(characters)
        self._docs: _Recent[tuple[CachedInput, list[str], list[Block]]] = _Recent(docs)
        self._lock = Lock()  # the app renders in several threads

    def session(
        self,
        dialect: Hashable,
        messages: Sequence[Message],
        tools: Sequence[ToolMetadata],
        write: Writer,
        numbered: bool = False,
    ) -> CachedRendering:
        """Return a session in a dialect. It is shared: do not change it.

        `write` writes a message that is not cached; it may use only the message and the schemas of
        the tools that the message calls. If calls are `numbered`, it may use earlier messages too.
        """
        source = self._source(messages, tools)
        if not messages:
            return CachedRendering(source, SharedList(), History(), 0)
        key = (dialect, id(messages[0]))
        with self._lock:
            rendering = self._renderings.get(key)
        if rendering is None or not source.extends(rendering.source):
            if rendering and rendering.source.mutable.unchanged:
                write = _with_reuse(write, rendering, tools, numbered)
            rendering = CachedRendering(source, SharedList(), History(), 0)
        if (start := len(rendering.drafts)) < len(messages):
            more_drafts = list(map(write, range(start, len(messages)), messages[start:]))
            rendering = rendering.extended_with(source, more_drafts)
        if source.mutable.is_complete:
            with self._lock:
                self._renderings.keep(key, rendering, rendering.characters)
        return rendering

    def _source(self, messages: Sequence[Message], tools: Sequence[ToolMetadata]) -> CachedInput:
        """Return the session's input: an unchanged earlier one plus new messages, or a new one."""
        key = next(map(id, chain(messages[:1], tools[:1])), 0), len(tools)
        with self._lock:
            source = self._inputs.get(key)
        if source is None or not source.begins(messages, tools):
            values = [value for tool in tools for value in _tool_values(tool)]
            source = CachedInput(tuple(tools), SharedList(), _mutable_in(values))
        if len(source.messages) < len(messages):
            source = source.extended_with(messages[len(source.messages) :])
        with self._lock:
            self._inputs[key] = source
        return source

    def docs(
        self,
        dialect: Hashable,
        tools: Sequence[ToolMetadata],
        write: Callable[[ToolMetadata], str],
        join: Callable[[Sequence[ToolMetadata], Sequence[str]], list[Block]],
    ) -> list[Block]:
        """Return the documentation of one or more tools in a dialect: do not change it.

        `write` writes a tool that is not cached, and `join` makes blocks of all texts.
        """
        source, key = self._source((), tools), (dialect, id(tools[0]))
        with self._lock:
            entry = self._docs.get(key)
        if entry is None or entry[0] is not source:
            earlier = entry is not None and entry[0].mutable.unchanged and entry
            cache = dict(zip(map(id, earlier[0].tools), earlier[1], strict=True)) if earlier else {}
            texts = [cache[id(tool)] if id(tool) in cache else write(tool) for tool in tools]
            entry = source, texts, join(tools, texts)
            if source.mutable.is_complete:
                with self._lock:
                    self._docs.keep(key, entry, sum(map(len, texts)))
        return entry[2]


def _with_reuse(
    write: Writer, rendering: CachedRendering, tools: Sequence[ToolMetadata], numbered: bool
) -> Writer:
    """Wrap `write` so that it reuses the drafts of messages that call only unchanged tools and, if
    calls are `numbered`, hold no call or result."""
    old, new = _schemas(rendering.source.tools), _schemas(tools)
    changed = {name for name in old | new if old.get(name) != new.get(name)}
    indices = {id(message): i for i, message in enumerate(rendering.source.messages)}

    def reuse(index: int, message: Message) -> list[Draft]:
        old_index = indices.get(id(message))
        if old_index is None or any(call.tool_name in changed for call in message.tool_calls):
            return write(index, message)
        if numbered and (message.tool_calls or message.tool_results):
            return write(index, message)
        drafts = rendering.drafts[old_index]
        return drafts if old_index == index else [_with_index(draft, index) for draft in drafts]

    return reuse


def _schemas(tools: Sequence[ToolMetadata]) -> dict[str, str]:
    """Return the tools' schemas by name; of equal names, the first.

    They are texts, because in Python True equals 1.
    """
    return {tool.name: json.dumps(tool.input_schema, default=repr) for tool in reversed(tools)}


def _with_index(draft: Draft, index: int) -> Draft:
    blocks = (Block(origin_of(index), block.kind, block.text) for block in draft.blocks)
    return Draft(draft.message, tuple(blocks))


def can_cache(dialect: Any) -> bool:
    """Return True if a dialect's texts may be cached: it allows caching, and it has a hash."""
    try:
        hash(dialect)
    except TypeError:  # a declaration with a list instead of a tuple, which works otherwise
        return False
    return bool(dialect.caches_renderings)


def origin_of(index: int) -> str:
    """Return the origin of the text of one of the session's messages."""
    return f"message:{index}"


def _tool_values(tool: ToolMetadata) -> list[Any]:
    """Return the mutable values of a tool."""
    return [tool.input_schema, *(example.parameters for example in tool.examples)]


def _values(messages: Iterable[Message]) -> list[Any]:
    """Return the mutable values of messages."""
    values = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                values.append(part.args)
            elif isinstance(part, ToolResultPart) and not isinstance(part.result, _PLAIN):
                values.append(part.result)
    return values


RENDER_CACHE: Final = RenderCache()
