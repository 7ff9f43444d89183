"""The model's own replies in a conversation that later requests tell again.

A recording holds a reply, and a later request repeats it as its client kept it. The reply is what
was said: where the client dropped, edited or added something, that is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import (
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.message_order import last_answer

_LONGEST: Final = 300  # characters of either text in a finding
_BEFORE: Final = 40  # of them, before the place where the two begin to differ
_NO_REPLY: Final = -1  # of a request that was billed, and answered with nothing
_BLANK: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Answered:
    """A request of `count` messages, and its reply, which stands at `place`: `read` puts it into a
    builder, if there is one."""

    count: int
    known: dict[str, Any]
    place: Place
    read: Callable[[SessionBuilder], Any]
    is_complete: bool = True  # else what is told again, if anything is, may know more


def put_replies(builder: SessionBuilder, answered: Sequence[Answered], said: Place) -> None:
    """Put each earlier reply in the place of what the last request says in its stead.

    The builder holds the messages of that request, whose list stands at `said`.
    """
    told = _Told(builder, str(said))
    replies: list[tuple[int, Answered]] = []
    stops = chain((each.count for each in answered[1:]), [None])
    for each, stop in zip(answered, stops, strict=False):
        own = _own_messages(builder, each)
        told.skip_to(each.count)
        where = told.place or str(each.place)
        again = told.answer(stop)
        start = len(told.messages)
        if again and not each.is_complete:
            own = []
        if own and _is_changed(builder, own, again, told, stop, where):
            told.add(_with_ids(own, _in_one(again)), [where] * len(own))
        else:
            told.add(again)
        is_answered = len(told.messages) > start
        if each.known.get("usage") or (own and is_answered):
            replies.append((last_answer(told.messages) if is_answered else _NO_REPLY, each))
    told.skip_to(None)
    builder.messages, builder.places = told.messages, told.places
    for reply, each in replies:
        builder.request(**each.known, reply=reply)


def _is_changed(
    builder: SessionBuilder,
    own: list[Message],
    again: list[Message],
    told: _Told,
    stop: int | None,
    where: str,
) -> bool:
    """Return True if a reply is to stand in the place of what is told again. Other words or calls
    are a finding; thoughts that a client does not send, and calls one by one, are usual."""
    reply = _in_one(own)
    is_split = told.leave_out_repeated(reply, again, stop)
    repeated = _in_one(again)
    if _is_json_of_calls(reply, repeated):
        return False
    if differs := _is_other(reply, repeated):
        one, other = _from_difference(_words(reply), _words(repeated))
        message = f"the reply is {one}; the next request has {other or 'nothing of it'}"
        if len(again) > 1:
            message += f", in messages up to {told.last_place}"
        builder.findings.append(finding("history-differs", where, message))
    return differs or is_split or _thoughts(reply) != _thoughts(repeated)


class _Told:
    """The messages of a request, gone through from one answer to the next."""

    def __init__(self, builder: SessionBuilder, said: str) -> None:
        self._given = builder.messages
        self._places = builder.places
        self._numbers = [_item(place, said) for place in builder.places]
        self._at = 0
        self._left_out: set[int] = set()
        self.messages: list[Message] = []  # gone through, with the model's own replies
        self.places: list[str] = []

    @property
    def place(self) -> str:
        """The place of the next message, if it is an answer."""
        return self._places[self._at] if self._is_answer(self._at) else ""

    @property
    def last_place(self) -> str:
        """The place of the message before the next one."""
        return self._places[self._at - 1]

    def _is_answer(self, index: int, stop: int | None = None) -> bool:
        return self._is_before(index, stop) and self._given[index].role == "assistant"

    def _is_before(self, index: int, stop: int | None) -> bool:
        """Return True if a message stands before an item of the request's list."""
        if index >= len(self._given):
            return False
        number = self._numbers[index]
        return stop is None or number is None or number < stop

    def skip_to(self, count: int | None) -> None:
        """Take over the messages before an item of the request's list, or all that are left."""
        while self._is_before(self._at, count):
            if self._at not in self._left_out:
                self.messages.append(self._given[self._at])
                self.places.append(self._places[self._at])
            self._at += 1

    def answer(self, stop: int | None) -> list[Message]:
        """Return the messages of the assistant that come next, before an item of the list."""
        start = self._at
        while self._is_answer(self._at, stop):
            self._at += 1
        return self._given[start : self._at]

    def leave_out_repeated(self, own: Message, again: list[Message], stop: int | None) -> bool:
        """Leave out further messages before `stop` that say a part of the reply, such as each of
        its calls before its result, and add them to what is told again. Return True if there are.
        """
        calls = [call for call in own.tool_calls if not any(call in m.tool_calls for m in again)]
        index, count = self._at, len(again)
        while calls and self._is_before(index, stop):
            message = self._given[index]
            repeated = message.tool_calls
            text = _text(message)
            is_part = bool(repeated) and all(call in calls for call in repeated)
            if message.role == "assistant" and is_part and text in _text(own):
                calls = [call for call in calls if call not in repeated]
                again.append(replace(message, parts=tuple(repeated)) if text else message)
                self._left_out.add(index)
            index += 1
        return len(again) > count

    def add(self, messages: list[Message], places: list[str] | None = None) -> None:
        """Add an answer: as it was told again, or as it was, at these places."""
        self.messages += messages
        self.places += places or self._places[self._at - len(messages) : self._at]


def _own_messages(builder: SessionBuilder, answered: Answered) -> list[Message]:
    """Return the messages of a reply, with results of tools that the provider ran itself; [] where
    it is none, or has nothing in it."""
    scratch = SessionBuilder()
    answered.read(scratch)
    builder.findings += [each for each in scratch.findings if each.code == "part-lost"]
    builder.beside_too(scratch)
    said = [message for message in scratch.messages if message.parts]
    is_answer = all(message.role in ("assistant", "tool") for message in said)
    return said if is_answer and any(message.role == "assistant" for message in said) else []


def _in_one(messages: Sequence[Message]) -> Message:
    """Return what the assistant says in messages, as one."""
    said = (message.parts for message in messages if message.role == "assistant")
    return Message("assistant", tuple(part for parts in said for part in parts))


def _item(place: str, said: str) -> int | None:
    """Return the index in a request's list of the item that a message was read from."""
    if not place.startswith(f"{said}."):
        return None
    step = place[len(said) + 1 :].partition(".")[0]
    return int(step) if step.isdigit() else None


def _is_other(own: Message, again: Message) -> bool:
    """Return True if other words or calls are repeated; white space at ends is often stripped."""
    return _text(own) != _text(again) or _calls(own) != _calls(again)


def _is_json_of_calls(own: Message, again: Message) -> bool:
    """Return True if a trace has the calls of a reply as JSON in its texts (Koog's), and what is
    told again has them as calls."""
    if own.tool_calls or not again.tool_calls:
        return False
    texts = [part.text for part in own.parts if isinstance(part, TextPart)]
    return all(isinstance(json_or_text(text), list | dict) for text in texts)


def _text(message: Message) -> str:
    return _BLANK.sub(" ", message.text).strip()


def _calls(message: Message) -> list[tuple[str, dict[str, Any]]]:
    return [(call.tool_name, call.args) for call in message.tool_calls]


def _thoughts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, ReasoningPart)]


def _with_ids(own: Sequence[Message], again: Message) -> list[Message]:
    """Return a reply's messages, its calls with the ids of the same calls told again, or else of
    calls of the same tool: a later request answers them by these. Results of the provider's tools
    that stand in what is told again go along."""
    calls = [call for message in own for call in message.tool_calls]
    left = list(again.tool_calls)
    ids: dict[int, str] = {}
    for is_same in (_same_call, _same_tool):
        for call in calls:
            match = next((other for other in left if is_same(call, other)), None)
            if match is not None and id(call) not in ids:
                left.remove(match)
                ids[id(call)] = match.tool_call_id
    messages = [
        replace(message, parts=tuple(_renamed(part, ids.get(id(part))) for part in message.parts))
        for message in own
    ]
    there = [part for message in messages for part in message.parts]
    results = [part for part in again.tool_results if part not in there]
    messages[-1] = replace(messages[-1], parts=(*messages[-1].parts, *results))
    return messages


def _renamed(part: Part, call_id: str | None) -> Part:
    if call_id is None or not isinstance(part, ToolCallPart):
        return part
    return replace(part, tool_call_id=call_id)


def _same_call(one: ToolCallPart, other: ToolCallPart) -> bool:
    return (one.tool_name, one.args) == (other.tool_name, other.args)


def _same_tool(one: ToolCallPart, other: ToolCallPart) -> bool:
    return one.tool_name == other.tool_name


def _words(message: Message) -> str:
    """Return a message's text and calls, to be shown."""
    calls = ", ".join(f"{call.tool_name}({call.args})" for call in message.tool_calls)
    said = [repr(message.text)] if message.text else []
    return " and ".join([*said, f"calls {calls}"] if calls else said)


def _from_difference(one: str, other: str) -> tuple[str, str]:
    """Return both texts from shortly before the place where they begin to differ."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    start = min(len(one), len(other)) if same is None else same
    start = max(0, start - _BEFORE)
    return _short(one, start), _short(other, start)


def _short(text: str, start: int) -> str:
    stop = start + _LONGEST
    return f"{'…' if start else ''}{text[start:stop]}{'…' if stop < len(text) else ''}"
