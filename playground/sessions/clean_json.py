"""Find numbers that JSON lacks (NaN, infinity, far too many digits), and half surrogate pairs."""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import Any, Final

from playground.base.characters import are_whole, holds_half, is_all_whole, plain_bytes
from playground.base.json_numbers import is_finite, may_be_infinite
from playground.nouns.messages import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from playground.sessions.session import Session

# Types of parts whose texts are checked one by one, or were checked when they were read.
_PART_TYPES: Final = frozenset({TextPart, ReasoningPart, ToolCallPart, ToolResultPart})
_TEXTS_OF_REQUEST: Final = attrgetter("model", "at", "stop_reason", "agent_version")

_CLEAN_TYPES: Final = frozenset({bool, type(None)})
_LARGEST: Final = 1 << 62  # nearly every whole number of a file is smaller
_BITS: Final = 14_000  # a number with fewer bits has at most 4,300 digits, Python's limit
_CHUNK: Final = 8  # so many values are checked by a single search
_BYTES: Final = 1800  # marshal writes a number of `_BITS` bits in more bytes than these


def is_clean(value: Any) -> bool:
    """Return True if a value has no number that JSON lacks, and every text is valid Unicode."""
    if type(value) is dict and _is_surely_plain(value):  # as most calls' arguments are
        return True
    waiting = [value]
    inner: list[Any]
    while waiting:
        each = waiting.pop()
        kind = type(each)
        if kind is dict:
            inner = [*each, *each.values()]
        elif kind is list:
            inner = each
        elif (kind is int and each.bit_length() < _BITS) or (
            is_finite(each) and is_all_whole(each)
        ):
            continue
        else:
            return False
        rest = [
            one
            for one in inner
            if not (
                one.isascii()
                if (kind := type(one)) is str
                else kind in _CLEAN_TYPES or (kind is int and -_LARGEST < one < _LARGEST)
            )
        ]
        if len(rest) > _CHUNK:  # such as the usage of all requests
            waiting += [rest[at : at + _CHUNK] for at in range(0, len(rest), _CHUNK)]
        elif rest and not _is_surely_clean(rest):
            waiting += rest
    return True


def _is_surely_plain(value: dict[Any, Any]) -> bool:
    """Return True if an object holds only ASCII texts, booleans, null and usual integers."""
    for name, field in value.items():
        kind = type(field)
        if type(name) is not str or not name.isascii():
            return False
        if kind is str:
            if not field.isascii():
                return False
        elif kind not in _CLEAN_TYPES and not (kind is int and -_LARGEST < field < _LARGEST):
            return False
    return True


def _is_surely_clean(value: Any) -> bool:
    """Return True if a small value is clean; False if only a walk through the value can decide."""
    plain = plain_bytes(value)
    if plain is None or len(plain) > _BYTES or holds_half(plain):
        return False
    return not may_be_infinite(plain)


def are_unchecked_texts_whole(session: Session) -> bool:
    """Return True if a session's texts are valid Unicode. The values of calls, results, usage,
    requests and recordings are skipped, because they were checked when they were read."""
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
    others: list[Any] = [part for part in parts if type(part) not in _PART_TYPES]
    others += session.compactions
    # Except for examples, a tool is JSON: one search covers all tools.
    others += [each.examples for each in session.tools if each.examples]
    others.append([(each.name, each.description, each.input_schema) for each in session.tools])
    others += [(each.gone, each.at, each.sub_agent, each.url) for each in session.rows]
    return is_all_whole(others)
