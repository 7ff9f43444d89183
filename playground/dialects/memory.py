"""What a dialect has written of messages and tools, so that it is written once.

It is found by the very objects that it was written of, and only while these hold what they held: a
message is frozen, but the arguments of a call are a dict. So no answer depends on who asked before.
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


class _Held(NamedTuple):
    """What could be written into of that which was given, and what stood in it.

    Told by what stands there, not by what equals it: 1 is True to a comparison, and a dict is the
    same in any order. What is met there cannot change or is among these itself; `known` says that
    nothing else was met.
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

    def and_more(self, values: list[Any]) -> _Held:
        """And what stands in these values, all the way down; the list is used up."""
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
        return _Held(
            self.places.and_more(len(self.places), places),
            self.sizes.and_more(len(self.sizes), map(len, places)),
            self.inside.and_more(len(self.inside), chain.from_iterable(places)),
            known,
        )


def _held(values: list[Any]) -> _Held:
    return _Held(SharedList(), SharedList(), SharedList()).and_more(values)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Given:
    """A session as it was given, to whatever dialect, and what stood in it."""

    tools: tuple[ToolMetadata, ...]
    messages: SharedList[Message]
    held: _Held

    def is_of(self, messages: Sequence[Message], tools: Sequence[ToolMetadata]) -> bool:
        """Whether these are its tools and its messages, as they were, and perhaps some more."""
        return (
            self.held.unchanged
            and len(self.tools) == len(tools)
            and all(map(is_, self.tools, tools))
            and len(self.messages) <= len(messages)
            and all(map(is_, self.messages, messages))
        )

    def goes_on(self, earlier: Given) -> bool:
        """Whether it was made of the other one, by adding messages: told without a look at them."""
        return self.messages.shared(earlier.messages) == len(earlier.messages)

    def and_more(self, messages: Sequence[Message]) -> Given:
        """The same with messages after its own."""
        more = self.messages.and_more(len(self.messages), messages)
        return Given(self.tools, more, self.held.and_more(_values(messages)))


class Written(NamedTuple):
    """A session as a dialect wrote it: what each message became, and all of them joined."""

    given: Given
    drafts: SharedList[list[Draft]]
    history: History
    characters: int

    def and_more(self, given: Given, more: list[list[Draft]]) -> Written:
        """The session with what messages after its own became."""
        texts = (len(block.text) for drafts in more for draft in drafts for block in draft.blocks)
        return Written(
            given,
            self.drafts.and_more(len(self.drafts), more),
            self.history.and_more(chain.from_iterable(more)),
            self.characters + sum(texts),
        )


class Memory:
    """Keeps sessions of so many characters in all, and so many tools; what was not asked for
    lately goes first."""

    def __init__(self, characters: int = CHARACTERS, docs: int = DOCS) -> None:
        self._most_characters, self._most_docs = characters, docs
        # By the id of the first message: while a session is kept, no other message has this id.
        self._given: WeakValueDictionary[int, Given] = WeakValueDictionary()
        self._rows: OrderedDict[tuple[Hashable, int], Written] = OrderedDict()
        self._docs: OrderedDict[Hashable, tuple[ToolMetadata, _Held, str]] = OrderedDict()
        self._lock = Lock()  # the app asks from several threads

    def session(
        self,
        dialect: Hashable,
        messages: Sequence[Message],
        tools: Sequence[ToolMetadata],
        form: Form,
    ) -> Written:
        """A session in a dialect, which nobody may write into. `form` is asked for what was not
        there before; it goes by the message and the schemas of the tools that it calls."""
        given = self._as_given(messages, tools)
        if not messages:
            return Written(given, SharedList(), History(), 0)
        key = (dialect, id(messages[0]))
        with self._lock:
            row = self._rows.get(key)
        if row is None or not given.goes_on(row.given):
            form = _remembering(form, row, tools) if row and row.given.held.unchanged else form
            row = Written(given, SharedList(), History(), 0)
        if (start := len(row.drafts)) < len(messages):
            more = list(map(form, range(start, len(messages)), messages[start:]))
            row = row.and_more(given, more)
        if given.held.known:
            self._keep(key, row)
        return row

    def _as_given(self, messages: Sequence[Message], tools: Sequence[ToolMetadata]) -> Given:
        """The session, by what was given of it before: to another dialect, or with less."""
        place = id(messages[0]) if messages else 0
        with self._lock:
            given = self._given.get(place)
        if given is None or not given.is_of(messages, tools):
            given = Given(tuple(tools), SharedList(), _held([tool.input_schema for tool in tools]))
        if len(given.messages) < len(messages):
            given = given.and_more(messages[len(given.messages) :])
        with self._lock:
            self._given[place] = given
        return given

    def _keep(self, key: tuple[Hashable, int], row: Written) -> None:
        with self._lock:
            self._rows[key] = row
            self._rows.move_to_end(key)
            kept = sum(each.characters for each in self._rows.values())
            while kept > self._most_characters:
                kept -= self._rows.popitem(last=False)[1].characters

    def doc(self, dialect: Hashable, tool: ToolMetadata, write: Callable[[], str]) -> str:
        """A tool's documentation in a dialect."""
        key = (dialect, id(tool))
        with self._lock:
            if known := self._docs.get(key):
                self._docs.move_to_end(key)
        if known is not None and known[0] is tool and known[1].unchanged:
            return known[2]
        held = _held([tool.input_schema, *(example.parameters for example in tool.examples)])
        text = write()
        if not held.known:
            return text
        with self._lock:
            self._docs[key] = tool, held, text
            self._docs.move_to_end(key)
            while len(self._docs) > self._most_docs:
                self._docs.popitem(last=False)
        return text


def _remembering(form: Form, row: Written, tools: Sequence[ToolMetadata]) -> Form:
    """`form`, but for messages that the row has and whose calls are to tools as they were."""
    before, now = _schemas(row.given.tools), _schemas(tools)
    other = {name for name in before | now if before.get(name) != now.get(name)}
    places = {id(message): place for place, message in enumerate(row.given.messages)}

    def remembered(index: int, message: Message) -> list[Draft]:
        place = places.get(id(message))
        if place is None or any(call.tool_name in other for call in message.tool_calls):
            return form(index, message)
        drafts = row.drafts[place]
        return drafts if place == index else [_moved(draft, index) for draft in drafts]

    return remembered


def _schemas(tools: Sequence[ToolMetadata]) -> dict[str, str]:
    """By name, the first of two that have one. As text: True is 1 to a comparison."""
    return {tool.name: json.dumps(tool.input_schema, default=repr) for tool in reversed(tools)}


def _moved(draft: Draft, index: int) -> Draft:
    blocks = (Block(origin_of(index), block.kind, block.text) for block in draft.blocks)
    return Draft(draft.message, tuple(blocks))


def may_remember(dialect: Any) -> bool:
    """Whether what a dialect writes is remembered: it says so, and it can be told from others."""
    try:
        hash(dialect)
    except TypeError:  # a list where a tuple belongs: such a declaration writes all the same
        return False
    return bool(dialect.remembers)


def origin_of(index: int) -> str:
    """What the text of one of the session's messages has as its origin."""
    return f"message:{index}"


def _values(messages: Iterable[Message]) -> list[Any]:
    """What of messages could be written into."""
    values = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                values.append(part.args)
            elif isinstance(part, ToolResultPart) and not isinstance(part.result, _PLAIN):
                values.append(part.result)
    return values


MEMORY: Final = Memory()
