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
from operator import is_
from threading import Lock
from typing import Any, Final

from playground.dialects.history import History
from playground.dialects.rendering import Block, Draft
from playground.messages import Message, ToolCallPart, ToolResultPart
from playground.tools import ToolMetadata

CHARACTERS: Final = 64_000_000  # a session of 5 MB in eight dialects, and some
DOCS: Final = 8_192  # a hundred tools in every dialect, and some

_PLAIN: Final = (str, int, float, type(None))  # a tuple: a union would be made at each question

Form = Callable[[int, Message], list[Draft]]  # what a message becomes at its place in the session


@dataclass(frozen=True, slots=True)
class _Held:
    """What could be written into of that which was given, and what stood in it.

    Told by what stands there, not by what equals it: 1 is True to a comparison, and a dict is the
    same in any order. What is met there cannot change or is among these itself; `known` says that
    nothing else was met.
    """

    places: list[Collection[Any]]  # lists, and the keys and the values of dicts: these are live
    sizes: list[int]
    inside: list[Any]
    known: bool = True

    @property
    def unchanged(self) -> bool:
        # all of it by functions of C: this is asked of a whole session at each of its renderings
        return list(map(len, self.places)) == self.sizes and all(
            map(is_, chain.from_iterable(self.places), self.inside)
        )

    def __add__(self, other: _Held) -> _Held:
        return _Held(
            self.places + other.places,
            self.sizes + other.sizes,
            self.inside + other.inside,
            self.known and other.known,
        )


def _held(values: list[Any]) -> _Held:
    """What stands in these values, all the way down; the list is used up."""
    places: list[Collection[Any]] = []
    known, met = True, set[int]()
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
    return _Held(places, list(map(len, places)), list(chain.from_iterable(places)), known)


@dataclass(frozen=True, slots=True)
class Written:
    """A session as a dialect wrote it: what each message became, and all of them joined."""

    messages: list[Message]
    tools: list[ToolMetadata]
    drafts: list[list[Draft]]
    history: History
    held: _Held
    characters: int

    def begins(self, messages: Sequence[Message]) -> bool:
        """Whether these are its messages, and perhaps some more."""
        return len(self.messages) <= len(messages) and all(map(is_, self.messages, messages))

    def and_more(self, messages: list[Message], form: Form) -> Written:
        """The row with the messages after its own added."""
        start, history = len(self.messages), self.history.shared()
        held = self.held + _held(_values(messages[start:]))
        more = list(map(form, range(start, len(messages)), messages[start:]))
        history.add(chain.from_iterable(more))
        texts = (len(block.text) for drafts in more for draft in drafts for block in draft.blocks)
        characters = self.characters + sum(texts)
        return Written(messages, self.tools, self.drafts + more, history, held, characters)


class Memory:
    """Keeps sessions of so many characters in all, and so many tools; what was not asked for
    lately goes first."""

    def __init__(self, characters: int = CHARACTERS, docs: int = DOCS) -> None:
        self._most_characters, self._most_docs = characters, docs
        self._rows: OrderedDict[Hashable, Written] = OrderedDict()
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
        if not messages:
            return Written([], [], [], History(), _held([]), 0)
        key = (dialect, id(messages[0]))  # a session keeps its messages: no other has this id
        with self._lock:
            known = self._rows.get(key)
        row = known if known is not None and known.held.unchanged else None
        if row is None or not _same(row.tools, tools) or not row.begins(messages):
            remembered = _remembering(form, row, tools) if row else form
            held = _held([tool.input_schema for tool in tools])
            row = Written([], list(tools), [], History(), held, 0)
            row = row.and_more(list(messages), remembered)
        elif len(row.messages) < len(messages):
            row = row.and_more(list(messages), form)
        if not row.held.known:
            return row
        with self._lock:
            self._rows[key] = row
            self._rows.move_to_end(key)
            kept = sum(each.characters for each in self._rows.values())
            while kept > self._most_characters:
                kept -= self._rows.popitem(last=False)[1].characters
        return row

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


def _same(before: Sequence[ToolMetadata], tools: Sequence[ToolMetadata]) -> bool:
    return len(before) == len(tools) and all(map(is_, before, tools))


def _remembering(form: Form, row: Written, tools: Sequence[ToolMetadata]) -> Form:
    """`form`, but for messages that the row has and whose calls are to tools as they were."""
    before, now = _schemas(row.tools), _schemas(tools)
    other = {name for name in before | now if before.get(name) != now.get(name)}
    places = {id(message): place for place, message in enumerate(row.messages)}

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
