"""Rows of provider requests: each whole as it was sent, kept as what differs from the row before.

An agent sends its history again with every request: whole bodies would grow with the square of
its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from playground.sessions.session import RequestRow

_MESSAGES: Final = ("messages", "input", "contents")  # a body's list that grows


def packed(body: dict[str, Any], before: dict[str, Any] | None, **known: Any) -> RequestRow:
    """The row of a body after another one; `known` are the row's other fields."""
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
    """The row of a body whose `input` is only what came after that of `before`, a whole one."""
    said = before["input"]
    changed, gone = _differences(body, {**before, "input": None})
    return RequestRow(body=changed, gone=gone, shared=len(said), **known)


def _differences(
    body: dict[str, Any], before: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields that a body has anew or otherwise, and the names of those it has no more."""
    changed = {
        key: value for key, value in body.items() if key not in before or before[key] != value
    }
    return changed, tuple(key for key in before if key not in body)


def bodies(rows: Iterable[RequestRow]) -> Iterator[dict[str, Any]]:
    """The bodies of rows, each whole: system prompt, tools and messages as they were sent."""
    body: dict[str, Any] = {}
    for row in rows:
        following = {key: value for key, value in body.items() if key not in row.gone} | row.body
        key = _growing(following)
        if row.shared:
            following[key] = [*body[key][: row.shared], *row.body.get(key, ())]
        body = following
        yield body


def _growing(body: dict[str, Any]) -> str:
    return next((key for key in _MESSAGES if isinstance(body.get(key), list)), "")


def _shared(before: list[Any], now: list[Any]) -> int:
    count = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        count += 1
    return count
