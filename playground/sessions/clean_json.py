"""Check stored values once for numbers that JSON lacks and for halves of characters."""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import Any, Final

from playground.base.characters import are_whole, holds_half, is_all_whole, plain_bytes
from playground.base.json_numbers import is_finite, may_be_infinite
from playground.nouns.messages import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from playground.sessions.session import Session

# The parts whose texts are looked at by themselves.
_TOLD: Final = frozenset({TextPart, ReasoningPart, ToolCallPart, ToolResultPart})
_TEXTS_OF_REQUEST: Final = attrgetter("model", "at", "stop_reason", "agent_version")

_SMALL: Final = frozenset({bool, type(None)})
_COUNT: Final = 1 << 62  # as those of tokens: nearly every whole number is smaller
_BITS: Final = 14_000  # of a number that surely has fewer digits than Python writes
_SOME: Final = 8
_BYTES: Final = 1800  # fewer than marshal takes for more bits: 15 of them in two bytes


def is_sound(value: Any) -> bool:
    """Return True if a JSON value is finite and every text in it is valid Unicode."""
    if type(value) is dict and _is_surely_plain(value):  # as the arguments of most calls
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
        if len(rest) > _SOME:  # as the usage of all requests: a few at a time
            waiting += [rest[at : at + _SOME] for at in range(0, len(rest), _SOME)]
        elif rest and not _is_surely_sound(rest):
            waiting += rest
    return True


def _is_surely_plain(value: dict[Any, Any]) -> bool:
    """Return True if an object holds only ASCII texts and what `_SMALL` names."""
    for name, held in value.items():
        if type(name) is not str or not name.isascii():
            return False
        if type(held) is str:
            if not held.isascii():
                return False
        elif type(held) not in _SMALL and not (type(held) is int and -_COUNT < held < _COUNT):
            return False
    return True


def _is_surely_sound(value: Any) -> bool:
    """Return True if nothing in a small value looks odd; for others a walk decides."""
    plain = plain_bytes(value)
    if plain is None or len(plain) > _BYTES or holds_half(plain):
        return False
    return not may_be_infinite(plain)


def is_whole_beside(session: Session) -> bool:
    """Return True if every text of a session is valid Unicode, except values checked when made.

    Those are calls, results, usage, bodies of requests and recordings.
    """
    task, agent = session.task, session.agent
    texts = [session.title, session.purpose, task.user_agent_prompt, task.model_name]
    texts.append(session.dynamic.dynamic_environment_details_block)
    texts += [agent.name, agent.version, agent.session, agent.sub_agent]
    texts += chain.from_iterable(map(_TEXTS_OF_REQUEST, session.requests))
    parts = [part for message in session.messages for part in message.parts]
    texts += [part.text for part in parts if type(part) is TextPart]
    thoughts = [part for part in parts if type(part) is ReasoningPart]
    texts += [part.text for part in thoughts]
    texts += [part.signature for part in thoughts if part.signature]
    if not are_whole(texts):
        return False
    others: list[Any] = [part for part in parts if type(part) not in _TOLD]
    others += session.compactions
    # All of a tool but its examples is JSON: that of all tools is looked at in one search.
    others += [each.examples for each in session.tools if each.examples]
    others.append([(each.name, each.description, each.input_schema) for each in session.tools])
    others += [(each.gone, each.at, each.sub_agent) for each in session.rows]
    return is_all_whole(others)
