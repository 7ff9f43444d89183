"""What is kept, looked at once: for numbers that JSON has not and for halves of characters."""

from __future__ import annotations

from typing import Any, Final

from playground.characters import are_whole, holds_half, is_all_whole, plain_bytes
from playground.json_numbers import is_finite, may_be_infinite
from playground.messages import TextPart, ToolCallPart, ToolResultPart
from playground.sessions.session import Session

_TOLD: Final = frozenset({ToolCallPart, ToolResultPart})

_SMALL: Final = frozenset({bool, type(None)})
_COUNT: Final = 1 << 62  # as those of tokens: nearly every whole number is smaller
_BITS: Final = 14_000  # of a number that surely has fewer digits than Python writes
_BYTES: Final = 1800  # fewer than marshal takes for more bits: 15 of them in two bytes


def is_sound(value: Any) -> bool:
    """Whether a JSON value is finite and every text in it whole."""
    if type(value) is dict and _is_surely_text(value):  # as the arguments of most calls
        return True
    waiting = [value]
    held: list[Any]
    while waiting:
        each = waiting.pop()
        kind = type(each)
        if kind is dict:
            held = [*each, *each.values()]
        elif kind is list:
            held = each
        elif (kind is int and each.bit_length() < _BITS) or (
            is_finite(each) and is_all_whole(each)
        ):
            continue
        else:
            return False
        rest = [
            one
            for one in held
            if not (
                one.isascii()
                if (kind := type(one)) is str
                else kind in _SMALL or (kind is int and -_COUNT < one < _COUNT)
            )
        ]
        if rest and not _is_surely_sound(each):
            waiting += rest
    return True


def _is_surely_text(value: dict[Any, Any]) -> bool:
    """Whether an object holds nothing but texts in ASCII."""
    for name, held in value.items():
        if type(held) is not str or type(name) is not str:
            return False
        if not held.isascii() or not name.isascii():
            return False
    return True


def _is_surely_sound(value: Any) -> bool:
    """Whether nothing in a small value looks odd; the walk tells of the others."""
    plain = plain_bytes(value)
    if plain is None or len(plain) > _BYTES or holds_half(plain):
        return False
    return not may_be_infinite(plain)


def is_whole_beside(session: Session) -> bool:
    """Whether every text of a session is whole, but for calls, results, usage, bodies of requests
    and recordings, which are looked at when they are made."""
    task, agent = session.task, session.agent
    texts = [session.title, session.purpose, task.user_agent_prompt, task.model_name]
    texts.append(session.dynamic.dynamic_environment_details_block)
    texts += [agent.name, agent.version, agent.session, agent.sub_agent]
    for each in session.requests:
        texts += (each.model, each.at, each.stop_reason, each.agent_version)
    others: list[Any] = [*session.compactions]
    for message in session.messages:
        for part in message.parts:
            if type(part) is TextPart:
                texts.append(part.text)
            elif type(part) not in _TOLD:
                others.append(part)
    if not are_whole(texts):
        return False
    # All of a tool but its examples is JSON: that of all tools is looked at in one search.
    others += [each.examples for each in session.tools if each.examples]
    others.append([(each.name, each.description, each.input_schema) for each in session.tools])
    others += [(each.gone, each.at, each.sub_agent) for each in session.rows]
    return not others or is_all_whole(others)
