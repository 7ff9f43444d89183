"""The model's own replies in a conversation that later requests tell again.

A recording holds a reply, and a later request repeats it as its client kept it. The reply is what
was said: where the client dropped, edited or added something, that is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import (
    Message,
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
    unchecked,
)
from playground.recordings.recording import Recording
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.requests import read_recording, read_reply

_LONGEST: Final = 300  # characters of either text in a finding
_BEFORE: Final = 40  # of them, before the place where the two begin to differ
_BLANK: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Answered:
    """A request of `count` messages and its reply: a JSON body, or the recording of a stream."""

    count: int
    known: dict[str, Any]
    place: Place
    body: dict[str, Any] | None
    recording: Recording | None


def put_replies(builder: SessionBuilder, answered: Sequence[Answered], said: Place) -> None:
    """Put each earlier reply in the place of what the last request says in its stead.

    The builder holds the messages of that request, whose list stands at `said`.
    """
    stops = chain((each.count for each in answered[1:]), [None])
    for each, stop in zip(answered, stops, strict=False):
        own = _own_message(builder, each)
        start, end = _told_again(builder, str(said), each.count, stop)
        told = builder.messages[start:end]
        if own is not None:
            again = Message("assistant", tuple(part for m in told for part in m.parts))
            if differs := _is_other(own, again):
                where = builder.places[start] if told else str(each.place.at("response"))
                one, other = _from_difference(_words(own), _words(again))
                message = f"the reply is {one}; the next request has {other or 'nothing of it'}"
                builder.findings.append(finding("history-differs", where, message))
            if differs or _thoughts(own) != _thoughts(again):
                _put(builder, start, end, own, str(each.place.at("response")))
        elif not told or not each.known.get("usage"):
            continue
        builder.request(**each.known, reply=start)


def _own_message(builder: SessionBuilder, answered: Answered) -> Message | None:
    """Return the message that a reply is; None where it is none, or has nothing in it."""
    scratch = SessionBuilder()
    place = answered.place.at("response")
    if answered.recording is not None:
        read_recording(scratch, answered.recording, place)
    elif answered.body is None or not read_reply(scratch, answered.body, place):
        return None
    builder.findings += [each for each in scratch.findings if each.code == "part-lost"]
    parts = [part for message in scratch.messages for part in message.parts]
    is_one = all(message.role == "assistant" for message in scratch.messages)
    return Message("assistant", tuple(parts)) if parts and is_one else None


def _told_again(
    builder: SessionBuilder, said: str, count: int, stop: int | None
) -> tuple[int, int]:
    """Return where the messages of the assistant stand that repeat a reply: from one index to
    another, which are the same where nothing repeats it."""
    start = len(builder.messages)
    for index, place in enumerate(builder.places):
        number = _item(place, said)
        if number is not None and number >= count:
            start = index
            break
    end = start
    while end < len(builder.messages) and builder.messages[end].role == "assistant":
        number = _item(builder.places[end], said)
        if stop is not None and number is not None and number >= stop:
            break
        end += 1
    return start, end


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


def _put(builder: SessionBuilder, start: int, end: int, own: Message, place: str) -> None:
    """Put the model's own message where the client's stands, with what the provider's tools gave.

    Its calls take the ids by which the later request answers them.
    """
    told = [part for message in builder.messages[start:end] for part in message.parts]
    parts = _with_ids(own, [part for part in told if isinstance(part, ToolCallPart)])
    parts += [part for part in told if isinstance(part, ToolResultPart) and part not in parts]
    where = builder.places[start] if start < end else place
    builder.messages[start:end] = [replace(own, parts=tuple(parts))]
    builder.places[start:end] = [where]


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
