"""Replace a later request's copies of the model's replies by the replies themselves.

A later request repeats a reply as its client stored it. If the client dropped, edited or added
something, the session holds the model's own reply, and a finding shows the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Message, Part, ReasoningPart, TextPart, ToolCallPart
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.message_order import last_answer

_LONGEST: Final = 300  # characters of either text in a finding
_BEFORE: Final = 40  # of these, before the first difference
NO_REPLY: Final = -1  # for a request that was billed but has no answer
_BLANK: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class AnsweredRequest:
    """A request of `count` messages that has a reply at `place`; `read` adds the reply's messages
    to a builder."""

    count: int
    facts: dict[str, Any]  # of the request: model, usage, time …
    place: Place
    read: Callable[[SessionBuilder], Any]
    is_complete: bool = True  # if False, a later request's copy may hold more


def restore_replies(
    builder: SessionBuilder, answered: Sequence[AnsweredRequest], place: Place
) -> None:
    """Replace the last request's copies of earlier replies by the replies themselves.

    The builder holds the messages of the last request; their list is at `place` in the file.
    """
    repeated = _RepeatedMessages(builder, str(place))
    replies: list[tuple[int, AnsweredRequest]] = []
    stops = chain((request.count for request in answered[1:]), [None])
    for request, stop in zip(answered, stops, strict=False):
        own = _own_messages(builder, request)
        repeated.skip_to(request.count)
        where = repeated.place or str(request.place)
        copies = repeated.next_answer(own, stop)
        start = len(repeated.messages)
        if copies and not request.is_complete:
            own = []
        if own and _is_changed(builder, own, copies, repeated, stop, where):
            own = _with_repeated_ids(own, copies)
            repeated.add(own, [where] * len(own))
        else:
            repeated.add(copies)
        is_answered = len(repeated.messages) > start
        if request.facts.get("usage") or (own and is_answered):
            replies.append((last_answer(repeated.messages) if is_answered else NO_REPLY, request))
    repeated.skip_to(None)
    builder.messages, builder.places = repeated.messages, repeated.places
    for reply, request in replies:
        builder.add_request(**request.facts, reply=reply)


def _is_changed(
    builder: SessionBuilder,
    own: list[Message],
    copies: list[Message],
    repeated: _RepeatedMessages,
    stop: int | None,
    where: str,
) -> bool:
    """Return True if the messages `own` of a reply must replace its `copies` in the next request.
    Add a finding if text or calls differ, but not if the client only dropped the reasoning or
    repeats the calls in several messages (before item `stop`), because many clients do."""
    reply = _merged_answer(own)
    is_split = repeated.leave_out_pieces(reply, copies, stop)
    copy = _merged_answer(copies)
    if _is_json_of_calls(reply, copy):
        return False
    if differs := _is_different(reply, copy):
        one, other = _from_difference(_words(reply), _words(copy))
        message = f"the reply is {one}; the next request has {other or 'nothing of it'}"
        if len(copies) > 1:
            message += f", in messages up to {repeated.last_place}"
        builder.findings.append(finding("history-differs", where, message))
    return differs or is_split or _thoughts(reply) != _thoughts(copy)


class _RepeatedMessages:
    """The messages of a request, which are copied one by one while answers are replaced."""

    def __init__(self, builder: SessionBuilder, list_place: str) -> None:
        self._sent = builder.messages
        self._places = builder.places
        self._numbers = [_item_index(place, list_place) for place in builder.places]
        self._at = 0
        self._left_out: set[int] = set()
        self.messages: list[Message] = []  # the result: copied or replaced
        self.places: list[str] = []

    @property
    def place(self) -> str:
        """The place of the next message if it is an answer, else ""."""
        return self._places[self._at] if self._is_answer(self._at) else ""

    @property
    def last_place(self) -> str:
        """The place of the last message that was read."""
        return self._places[self._at - 1]

    def _is_answer(self, index: int, stop: int | None = None) -> bool:
        return self._is_before(index, stop) and self._sent[index].role == "assistant"

    def _is_result(self, calls: set[str], items: set[int | None], stop: int | None) -> bool:
        """Return True if the next message, before item `stop`, has results of these calls or comes
        from one of these items."""
        if not self._is_before(self._at, stop) or self._sent[self._at].role != "tool":
            return False
        number = self._numbers[self._at]
        ids = {result.tool_call_id for result in self._sent[self._at].tool_results}
        return (number is not None and number in items) or (bool(ids) and ids <= calls)

    def _is_before(self, index: int, stop: int | None) -> bool:
        """Return True if a message comes from an item before `stop`, or from no item."""
        if index >= len(self._sent):
            return False
        number = self._numbers[index]
        return stop is None or number is None or number < stop

    def skip_to(self, count: int | None) -> None:
        """Copy the messages before item `count` of the request's list; None means all that remain.
        Messages that `leave_out_pieces` chose are skipped."""
        while self._is_before(self._at, count):
            if self._at not in self._left_out:
                self.messages.append(self._sent[self._at])
                self.places.append(self._places[self._at])
            self._at += 1

    def next_answer(self, own: list[Message], stop: int | None) -> list[Message]:
        """Return the assistant's next messages before item `stop` of the list. They include results
        of the provider's tools that are in the reply (`own`) or in an item of the assistant."""
        start = self._at
        results = {result.tool_call_id for message in own for result in message.tool_results}
        items: set[int | None] = set()
        while self._is_answer(self._at, stop) or self._is_result(results, items, stop):
            items.add(self._numbers[self._at])
            self._at += 1
        return self._sent[start : self._at]

    def leave_out_pieces(self, own: Message, copies: list[Message], stop: int | None) -> bool:
        """Add to `copies` further messages before `stop` that repeat a piece of the reply.

        A piece has some of the reply's calls, and no text that the reply lacks. The session leaves
        these messages out. Return True if there are any.
        """
        calls = [call for call in own.tool_calls if not any(call in m.tool_calls for m in copies)]
        index, count = self._at, len(copies)
        while calls and self._is_before(index, stop):
            message = self._sent[index]
            repeated = message.tool_calls
            text = _text(message)
            is_part = bool(repeated) and all(call in calls for call in repeated)
            if message.role == "assistant" and is_part and text in _text(own):
                calls = [call for call in calls if call not in repeated]
                copies.append(replace(message, parts=tuple(repeated)) if text else message)
                self._left_out.add(index)
            index += 1
        return len(copies) > count

    def add(self, messages: list[Message], places: list[str] | None = None) -> None:
        """Add an answer's messages; without `places`, they must be the last ones that were read."""
        self.messages += messages
        self.places += places or self._places[self._at - len(messages) : self._at]


def _own_messages(builder: SessionBuilder, answered: AnsweredRequest) -> list[Message]:
    """Return the messages of a reply, with the results of the provider's own tools. Return [] for a
    reply without a message of the assistant, or with messages of other roles."""
    scratch = SessionBuilder()
    answered.read(scratch)
    builder.findings += [each for each in scratch.findings if each.code == "part-lost"]
    builder.note_beside_of(scratch)
    messages = [message for message in scratch.messages if message.parts]
    roles = {message.role for message in messages}
    return messages if "assistant" in roles and roles <= {"assistant", "tool"} else []


def _merged_answer(messages: Sequence[Message]) -> Message:
    """Return one message with all parts of the assistant's messages."""
    answers = (message.parts for message in messages if message.role == "assistant")
    return Message("assistant", tuple(part for parts in answers for part in parts))


def _item_index(place: str, list_place: str) -> int | None:
    """Return the index of a message's item in the request's list; None if it is not in the list."""
    if not place.startswith(f"{list_place}."):
        return None
    step = place[len(list_place) + 1 :].partition(".")[0]
    return int(step) if step.isdigit() else None


def _is_different(own: Message, copy: Message) -> bool:
    """Return True if a copy has other text or calls; white space does not count."""
    return _text(own) != _text(copy) or _calls(own) != _calls(copy)


def _is_json_of_calls(own: Message, copy: Message) -> bool:
    """Return True if all texts of a reply without calls are JSON, and its copy has calls, as in
    Koog's traces."""
    if own.tool_calls or not copy.tool_calls:
        return False
    texts = [part.text for part in own.parts if isinstance(part, TextPart)]
    return all(isinstance(json_or_text(text), list | dict) for text in texts)


def _text(message: Message) -> str:
    return _BLANK.sub(" ", message.text).strip()


def _calls(message: Message) -> list[tuple[str, dict[str, Any]]]:
    return [(call.tool_name, call.args) for call in message.tool_calls]


def _thoughts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, ReasoningPart)]


def _with_repeated_ids(own: Sequence[Message], copies: Sequence[Message]) -> list[Message]:
    """Return a reply's messages with the copies' call ids, because later results refer to these
    ids. An id comes from the same call, or else from a call of the same tool. Results that only the
    copies have are added."""
    copy = _merged_answer(copies)
    calls = [call for message in own for call in message.tool_calls]
    candidates = list(copy.tool_calls)
    ids: dict[int, str] = {}
    for is_same in (_same_call, _same_tool):
        for call in calls:
            match = next((other for other in candidates if is_same(call, other)), None)
            if match is not None and id(call) not in ids:
                candidates.remove(match)
                ids[id(call)] = match.tool_call_id
    messages = [
        replace(message, parts=tuple(_with_id(part, ids.get(id(part))) for part in message.parts))
        for message in own
    ]
    own_parts = [part for message in messages for part in message.parts]
    results = [part for part in copy.tool_results if part not in own_parts]
    messages[-1] = replace(messages[-1], parts=(*messages[-1].parts, *results))
    answered = {result.tool_call_id for message in messages for result in message.tool_results}
    further = [message for message in copies if message.role == "tool"]
    return messages + [
        message
        for message in further
        if answered.isdisjoint(result.tool_call_id for result in message.tool_results)
    ]


def _with_id(part: Part, call_id: str | None) -> Part:
    if call_id is None or not isinstance(part, ToolCallPart):
        return part
    return replace(part, tool_call_id=call_id)


def _same_call(one: ToolCallPart, other: ToolCallPart) -> bool:
    return (one.tool_name, one.args) == (other.tool_name, other.args)


def _same_tool(one: ToolCallPart, other: ToolCallPart) -> bool:
    return one.tool_name == other.tool_name


def _words(message: Message) -> str:
    """Describe a message's text and calls in words, for a finding."""
    calls = ", ".join(f"{call.tool_name}({call.args})" for call in message.tool_calls)
    words = [repr(message.text)] if message.text else []
    return " and ".join([*words, f"calls {calls}"] if calls else words)


def _from_difference(one: str, other: str) -> tuple[str, str]:
    """Return both texts from shortly before their first difference on."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    start = min(len(one), len(other)) if same is None else same
    start = max(0, start - _BEFORE)
    return _short(one, start), _short(other, start)


def _short(text: str, start: int) -> str:
    stop = start + _LONGEST
    return f"{'…' if start else ''}{text[start:stop]}{'…' if stop < len(text) else ''}"
