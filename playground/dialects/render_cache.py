"""Cache what a dialect has written of messages and tools, so that it is written once.

An entry is found by the very objects that it was made from, and only while these are unchanged: a
message is frozen, but the arguments of a call are a dict. So no answer depends on earlier callers.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import eq, is_
from threading import Lock
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from playground.base.shared_lists import SharedList
from playground.dialects.history import History
from playground.dialects.rendering import Block, Draft
from playground.nouns.messages import Message, ToolCallPart, ToolResultPart
from playground.nouns.tools import ToolMetadata

CHARACTERS: Final = 64_000_000  # a session of 5 MB in eight dialects, and some
DOCS: Final = 8_192  # a hundred tools in every dialect, and some

_PLAIN: Final = (str, int, float, type(None))  # a tuple: a union would be made at each question

Form = Callable[[int, Message], list[Draft]]  # what a message becomes at its place in the session


class _MutableValues(NamedTuple):
    """The mutable values of an input, with what stood in them.

    They are compared by what stands there, not by equality: 1 equals True, and dicts are equal in
    any order. All other values met inside are immutable or among these; `known` is true if no
    other was met.
    """

    places: SharedList[Collection[Any]]  # lists, and the keys and values of dicts: these are live
    sizes: SharedList[int]
    inside: SharedList[Any]
    known: bool = True

    @property
    def unchanged(self) -> bool:
        # all of it by functions of C: this is asked of a whole session at each of its renderings
        return all(map(eq, map(len, self.places), self.sizes)) and all(
            map(is_, chain.from_iterable(self.places), self.inside)
        )

    def extended_with(self, values: list[Any]) -> _MutableValues:
        """Add what stands in these values, all the way down; the list is used up."""
        places: list[Collection[Any]] = []
        known, met = self.known, set[int]()
        while values:
            value = values.pop()
            if id(value) in met:
                continue
            met.add(id(value))
            start = len(places)
            if isinstance(value, dict):
                places += dict.keys(value), dict.values(value)
            elif isinstance(value, (list, tuple)):
                places.append(value)
            else:
                known = False
            for place in places[start:]:
                values += [each for each in place if not isinstance(each, _PLAIN)]
        return _MutableValues(
            self.places.extended_with(len(self.places), places),
            self.sizes.extended_with(len(self.sizes), map(len, places)),
            self.inside.extended_with(len(self.inside), chain.from_iterable(places)),
            known,
        )


def _mutable_in(values: list[Any]) -> _MutableValues:
    return _MutableValues(SharedList(), SharedList(), SharedList()).extended_with(values)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class CachedInput:
    """A session as it was passed in, to whatever dialect, and what stood in it."""

    tools: tuple[ToolMetadata, ...]
    messages: SharedList[Message]
    mutable: _MutableValues

    def begins(self, messages: Sequence[Message], tools: Sequence[ToolMetadata]) -> bool:
        """Return True if tools and messages begin with these, unchanged."""
        return (
            self.mutable.unchanged
            and len(self.tools) == len(tools)
            and all(map(is_, self.tools, tools))
            and len(self.messages) <= len(messages)
            and all(map(is_, self.messages, messages))
        )

    def extends(self, earlier: CachedInput) -> bool:
        """Return True if this was made from the other by adding messages; compares nothing."""
        return self.messages.shared(earlier.messages) == len(earlier.messages)

    def extended_with(self, messages: Sequence[Message]) -> CachedInput:
        """Return this with messages added."""
        more = self.messages.extended_with(len(self.messages), messages)
        return CachedInput(self.tools, more, self.mutable.extended_with(_values(messages)))


class CachedRendering(NamedTuple):
    """A session as a dialect wrote it: each message's drafts, and all of them joined."""

    source: CachedInput
    drafts: SharedList[list[Draft]]
    history: History
    characters: int

    def extended_with(self, source: CachedInput, more: list[list[Draft]]) -> CachedRendering:
        """Return the session with the drafts of further messages."""
        texts = (len(block.text) for drafts in more for draft in drafts for block in draft.blocks)
        return CachedRendering(
            source,
            self.drafts.extended_with(len(self.drafts), more),
            self.history.extended_with(chain.from_iterable(more)),
            self.characters + sum(texts),
        )


class RenderCache:
    """A cache of sessions, up to so many characters in all, and of so many tools; least recent
    first out.
    """

    def __init__(self, characters: int = CHARACTERS, docs: int = DOCS) -> None:
        self._most_characters, self._most_docs = characters, docs
        # By the id of the first message: while a session is kept, no other message has this id.
        self._inputs: WeakValueDictionary[int, CachedInput] = WeakValueDictionary()
        self._rows: OrderedDict[tuple[Hashable, int], CachedRendering] = OrderedDict()
        self._docs: OrderedDict[Hashable, tuple[ToolMetadata, _MutableValues, str]] = OrderedDict()
        self._lock = Lock()  # the app asks from several threads

    def session(
        self,
        dialect: Hashable,
        messages: Sequence[Message],
        tools: Sequence[ToolMetadata],
        form: Form,
    ) -> CachedRendering:
        """Return a session in a dialect, which nobody may write into.

        `form` writes a message that is not cached; it may use only the message and the schemas of
        the tools that it calls.
        """
        source = self._source(messages, tools)
        if not messages:
            return CachedRendering(source, SharedList(), History(), 0)
        key = (dialect, id(messages[0]))
        with self._lock:
            row = self._rows.get(key)
        if row is None or not source.extends(row.source):
            form = _reusing(form, row, tools) if row and row.source.mutable.unchanged else form
            row = CachedRendering(source, SharedList(), History(), 0)
        if (start := len(row.drafts)) < len(messages):
            more = list(map(form, range(start, len(messages)), messages[start:]))
            row = row.extended_with(source, more)
        if source.mutable.known:
            self._keep(key, row)
        return row

    def _source(self, messages: Sequence[Message], tools: Sequence[ToolMetadata]) -> CachedInput:
        """Return the session's input record, extending an earlier one of another dialect or of
        less.
        """
        place = id(messages[0]) if messages else 0
        with self._lock:
            source = self._inputs.get(place)
        if source is None or not source.begins(messages, tools):
            source = CachedInput(
                tuple(tools), SharedList(), _mutable_in([tool.input_schema for tool in tools])
            )
        if len(source.messages) < len(messages):
            source = source.extended_with(messages[len(source.messages) :])
        with self._lock:
            self._inputs[place] = source
        return source

    def _keep(self, key: tuple[Hashable, int], row: CachedRendering) -> None:
        with self._lock:
            self._rows[key] = row
            self._rows.move_to_end(key)
            kept = sum(each.characters for each in self._rows.values())
            while kept > self._most_characters:
                kept -= self._rows.popitem(last=False)[1].characters

    def doc(self, dialect: Hashable, tool: ToolMetadata, write: Callable[[], str]) -> str:
        """Return a tool's documentation in a dialect."""
        key = (dialect, id(tool))
        with self._lock:
            if known := self._docs.get(key):
                self._docs.move_to_end(key)
        if known is not None and known[0] is tool and known[1].unchanged:
            return known[2]
        mutable = _mutable_in(
            [tool.input_schema, *(example.parameters for example in tool.examples)]
        )
        text = write()
        if not mutable.known:
            return text
        with self._lock:
            self._docs[key] = tool, mutable, text
            self._docs.move_to_end(key)
            while len(self._docs) > self._most_docs:
                self._docs.popitem(last=False)
        return text


def _reusing(form: Form, row: CachedRendering, tools: Sequence[ToolMetadata]) -> Form:
    """Wrap `form` so that it skips messages that the row has and whose tools are unchanged."""
    before, now = _schemas(row.source.tools), _schemas(tools)
    other = {name for name in before | now if before.get(name) != now.get(name)}
    places = {id(message): place for place, message in enumerate(row.source.messages)}

    def reused(index: int, message: Message) -> list[Draft]:
        place = places.get(id(message))
        if place is None or any(call.tool_name in other for call in message.tool_calls):
            return form(index, message)
        drafts = row.drafts[place]
        return drafts if place == index else [_moved(draft, index) for draft in drafts]

    return reused


def _schemas(tools: Sequence[ToolMetadata]) -> dict[str, str]:
    """Return the tools' schemas by name, as text, because True equals 1; the first of equal names
    wins.
    """
    return {tool.name: json.dumps(tool.input_schema, default=repr) for tool in reversed(tools)}


def _moved(draft: Draft, index: int) -> Draft:
    blocks = (Block(origin_of(index), block.kind, block.text) for block in draft.blocks)
    return Draft(draft.message, tuple(blocks))


def can_cache(dialect: Any) -> bool:
    """Return True if a dialect's texts may be cached: it says so, and it can be told from
    others.
    """
    try:
        hash(dialect)
    except TypeError:  # a list where a tuple belongs: such a declaration writes all the same
        return False
    return bool(dialect.remembers)


def origin_of(index: int) -> str:
    """Return the origin of the text of one of the session's messages."""
    return f"message:{index}"


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
