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
    ToolCallPart,
    unchecked,
)
from playground.sessions.building import Place, SessionBuilder

_LONGEST: Final = 300  # characters of either text in a finding
_BEFORE: Final = 40  # of them, before the place where the two begin to differ
_BLANK: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Answered:
    """A request of `count` messages, and its reply, which stands at `place`: `read` puts it into a
    builder, if there is one."""

    count: int
    known: dict[str, Any]
    place: Place
    read: Callable[[SessionBuilder], Any]


def put_replies(builder: SessionBuilder, answered: Sequence[Answered], said: Place) -> None:
    """Put each earlier reply in the place of what the last request says in its stead.

    The builder holds the messages of that request, whose list stands at `said`.
    """
    told = _Told(builder, str(said))
    replies: list[tuple[int, Answered]] = []
    stops = chain((each.count for each in answered[1:]), [None])
    for each, stop in zip(answered, stops, strict=False):
        own = _own_message(builder, each)
        told.skip_to(each.count)
        where = told.place or str(each.place)
        again = told.answer(stop)
        reply = len(told.messages)
        if own is not None:
            whole = Message("assistant", tuple(part for m in again for part in m.parts))
            if differs := _is_other(own, whole):
                one, other = _from_difference(_words(own), _words(whole))
                message = f"the reply is {one}; the next request has {other or 'nothing of it'}"
                builder.findings.append(finding("history-differs", where, message))
            is_changed = differs or _thoughts(own) != _thoughts(whole)
            again = [_merged(own, whole)] if is_changed else again
        told.add(again, where)
        if again and (own is not None or each.known.get("usage")):
            replies.append((reply, each))
    told.skip_to(None)
    builder.messages, builder.places = told.messages, told.places
    for reply, each in replies:
        builder.request(**each.known, reply=reply)


class _Told:
    """The messages of a request, gone through from one answer to the next."""

    def __init__(self, builder: SessionBuilder, said: str) -> None:
        self._given = builder.messages
        self._places = builder.places
        self._numbers = [_item(place, said) for place in builder.places]
        self._at = 0
        self.messages: list[Message] = []  # gone through, with the model's own replies
        self.places: list[str] = []

    @property
    def place(self) -> str:
        """Where the next message stands, if it is an answer."""
        is_answer = self._at < len(self._given) and self._given[self._at].role == "assistant"
        return self._places[self._at] if is_answer else ""

    def skip_to(self, count: int | None) -> None:
        """Take over the messages before an item of the request's list, or all that are left."""
        while self._at < len(self._given):
            number = self._numbers[self._at]
            if count is not None and number is not None and number >= count:
                return
            self.messages.append(self._given[self._at])
            self.places.append(self._places[self._at])
            self._at += 1

    def answer(self, stop: int | None) -> list[Message]:
        """Return the messages of the assistant that come next, before an item of the list."""
        start = self._at
        while self._at < len(self._given) and self._given[self._at].role == "assistant":
            number = self._numbers[self._at]
            if stop is not None and number is not None and number >= stop:
                break
            self._at += 1
        return self._given[start : self._at]

    def add(self, messages: list[Message], place: str) -> None:
        """Add an answer: as it was told again, or one message in its stead."""
        own = self._places[self._at - len(messages) : self._at]
        self.places += own if len(messages) != 1 else [place]
        self.messages += messages


def _own_message(builder: SessionBuilder, answered: Answered) -> Message | None:
    """Return the message that a reply is; None where it is none, or has nothing in it."""
    scratch = SessionBuilder()
    answered.read(scratch)
    builder.findings += [each for each in scratch.findings if each.code == "part-lost"]
    parts = [part for message in scratch.messages for part in message.parts]
    is_one = all(message.role == "assistant" for message in scratch.messages)
    return Message("assistant", tuple(parts)) if parts and is_one else None


def _item(place: str, said: str) -> int | None:
    """Return the index in a request's list of the item that a message was read from."""
    if not place.startswith(f"{said}."):
        return None
    step = place[len(said) + 1 :].partition(".")[0]
    return int(step) if step.isdigit() else None


def _is_other(own: Message, again: Message) -> bool:
    """Return True if other words or calls are repeated; white space at ends is often stripped."""
    return _text(own) != _text(again) or _calls(own) != _calls(again)


def _text(message: Message) -> str:
    return _BLANK.sub(" ", message.text).strip()


def _calls(message: Message) -> list[tuple[str, dict[str, Any]]]:
    return [(call.tool_name, call.args) for call in message.tool_calls]


def _thoughts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, ReasoningPart)]


def _merged(own: Message, told: Message) -> Message:
    """Return the model's own message, with what tools of the provider gave in the one told again.

    Its calls take the ids by which the later request answers them.
    """
    parts = _with_ids(own, list(told.tool_calls))
    results = [part for part in told.tool_results if part not in parts]
    return replace(own, parts=(*parts, *results))


def _with_ids(own: Message, told: list[ToolCallPart]) -> list[Part]:
    """Return a reply's parts, its calls with the ids of the same calls told again, or else of
    calls of the same tool."""
    ids: dict[int, str] = {}
    for is_same in (_same_call, _same_tool):
        for index, part in enumerate(own.parts):
            if isinstance(part, ToolCallPart) and index not in ids:
                match = next((call for call in told if is_same(part, call)), None)
                if match is not None:
                    told.remove(match)
                    ids[index] = match.tool_call_id
    parts = list(own.parts)
    for index, call_id in ids.items():
        parts[index] = unchecked(ToolCallPart, {**vars(parts[index]), "tool_call_id": call_id})
    return parts


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
