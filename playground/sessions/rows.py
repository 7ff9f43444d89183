"""Rows of provider requests: each whole as it was sent, kept as what differs from the row before.

An agent sends its history again with every request: whole bodies would grow with the square of
its length.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from playground.sessions.session import RequestRow

_NO_REFERENCES: Final = 2  # marshal's version: the same value, however it is shared, in few forms
_MESSAGES: Final = ("messages", "input", "contents")  # a body's list that grows


def packed(body: dict[str, Any], before: dict[str, Any] | None, **known: Any) -> RequestRow:
    """Return the row of a body after another one; `known` are the row's other fields."""
    if before is None:
        return RequestRow(body=body, **known)
    key = _growing(body)
    changed, gone = _differences(body, before)
    shared = 0
    if key in changed and isinstance(before.get(key), list):
        shared = _shared(before[key], body[key])
        changed[key] = body[key][shared:]
    return RequestRow(body=changed, gone=gone, shared=shared, **known)


def packed_further(body: dict[str, Any], before: dict[str, Any], **known: Any) -> RequestRow:
    """Return the row of a body whose `input` is only what came after that of `before`, a whole
    one.
    """
    said = before["input"]
    changed, gone = _differences(body, {**before, "input": None})
    return RequestRow(body=changed, gone=gone, shared=len(said), **known)


def _differences(
    body: dict[str, Any], before: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields that a body has anew or otherwise, and the names of those it has no
    more.
    """
    kept = _kept(before, body)
    changed = {
        key: value
        for key, value in body.items()
        if key not in kept or not _is_same(before[key], value)
    }
    return changed, tuple(key for key in before if key not in kept)


def bodies(rows: Iterable[RequestRow]) -> Iterator[dict[str, Any]]:
    """Yield the bodies of rows, each whole: system prompt, tools and messages as they were sent."""
    body: dict[str, Any] = {}
    for row in rows:
        following = {key: value for key, value in body.items() if key not in row.gone} | row.body
        key = _growing(following)
        if row.shared:
            following[key] = [*body[key][: row.shared], *row.body.get(key, ())]
        body = following
        yield body


def _kept(before: dict[str, Any], now: dict[str, Any]) -> set[str]:
    """Return the first fields of a body that stand in the order in which the body before has them:
    the others are written anew behind them.
    """
    kept: set[str] = set()
    older = iter(before)
    for key in now:
        if key not in older:  # which goes on from the last one found
            break
        kept.add(key)
    return kept


def _growing(body: dict[str, Any]) -> str:
    return next((key for key in _MESSAGES if isinstance(body.get(key), list)), "")


def _shared(before: list[Any], now: list[Any]) -> int:
    count = 0
    for one, other in zip(before, now, strict=False):
        if not _is_same(one, other):
            break
        count += 1
    return count


def _is_same(one: Any, other: Any) -> bool:
    """Return True if two JSON values are written alike.

    1, 1.0 and true are equal to Python but not to a provider, nor are the same fields in another
    order.
    """
    if type(one) is not type(other):
        return False
    if one is other:
        return True
    if isinstance(one, str):
        return bool(one == other)
    if isinstance(one, list | dict) and len(one) != len(other):  # as a history that has grown
        return False
    with suppress(ValueError):  # what is no plain value, as a number that JSON has not
        if marshal.dumps(one, _NO_REFERENCES) == marshal.dumps(other, _NO_REFERENCES):
            return True  # most are, and this tells it ten times as fast
    return _is_alike(one, other)


def _is_alike(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    match one:
        case dict():
            fields = list(one) == list(other)
            return fields and all(map(_is_alike, one.values(), other.values()))
        case list():
            return len(one) == len(other) and all(map(_is_alike, one, other))
        case float():
            return repr(one) == repr(other)  # 0.0 and -0.0 are equal
        case _:
            return bool(one == other)
