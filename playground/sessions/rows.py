"""Store provider requests as differences from the request before, and restore their bodies.

An agent sends its history again with every request, so complete bodies would need space that grows
with the square of the history's length.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from playground.sessions.session import RequestRow

# marshal's version in which equal values always give equal bytes
NO_REFERENCES: Final = 2
_MESSAGES: Final = ("messages", "input", "contents")  # a body's list that grows


def row_after(body: dict[str, Any], before: dict[str, Any] | None, **fields: Any) -> RequestRow:
    """Return the row of a body that follows `before`; `fields` are the row's other fields."""
    if before is None:
        return RequestRow(body=body, **fields)
    key = _list_field(body)
    changed, gone = _differences(body, before)
    shared = 0
    if key in changed and isinstance(before.get(key), list):
        shared = _shared_count(before[key], body[key])
        changed[key] = body[key][shared:]
    return RequestRow(body=changed, gone=gone, shared=shared, **fields)


def row_of_new_items(body: dict[str, Any], before: dict[str, Any], **fields: Any) -> RequestRow:
    """Return the row of a body whose `input` has only the items that `before` lacks."""
    changed, gone = _differences(body, {**before, "input": None})
    return RequestRow(body=changed, gone=gone, shared=len(before["input"]), **fields)


def _differences(
    body: dict[str, Any], before: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a body's new, changed or moved fields, and the names of gone or moved ones."""
    unmoved = _unmoved_fields(before, body)
    changed = {
        key: value
        for key, value in body.items()
        if key not in unmoved or not _is_same(before[key], value)
    }
    return changed, tuple(key for key in before if key not in unmoved)


def bodies(rows: Iterable[RequestRow]) -> Iterator[dict[str, Any]]:
    """Yield the complete bodies of rows, even if only the new items of a body were sent."""
    body: dict[str, Any] = {}
    for row in rows:
        following = {key: value for key, value in body.items() if key not in row.gone} | row.body
        key = _list_field(following)
        if row.shared:
            following[key] = [*body[key][: row.shared], *row.body.get(key, ())]
        body = following
        yield body


def _unmoved_fields(before: dict[str, Any], now: dict[str, Any]) -> set[str]:
    """Return the fields at the start of `now` that `before` has, too, in the same order."""
    unmoved: set[str] = set()
    older = iter(before)
    for key in now:
        if key not in older:  # `in` on an iterator continues after the last match
            break
        unmoved.add(key)
    return unmoved


def _list_field(body: dict[str, Any]) -> str:
    return next((key for key in _MESSAGES if isinstance(body.get(key), list)), "")


def _shared_count(before: list[Any], now: list[Any]) -> int:
    count = 0
    for one, other in zip(before, now, strict=False):
        if not _is_same(one, other):
            break
        count += 1
    return count


def _is_same(one: Any, other: Any) -> bool:
    """Return True if two JSON values are written the same way. 1, 1.0 and true are written
    differently, and so are equal fields in another order."""
    if type(one) is not type(other):
        return False
    if one is other:
        return True
    if isinstance(one, str):
        return bool(one == other)
    # the usual case: a history that has grown
    if isinstance(one, list | dict) and len(one) != len(other):
        return False
    with suppress(ValueError):  # a value that marshal cannot write, such as a NotANumber
        if marshal.dumps(one, NO_REFERENCES) == marshal.dumps(other, NO_REFERENCES):
            return True  # ten times as fast as `_is_written_alike`
    return _is_written_alike(one, other)


def _is_written_alike(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    match one:
        case dict():
            has_same_keys = list(one) == list(other)
            return has_same_keys and all(map(_is_written_alike, one.values(), other.values()))
        case list():
            return len(one) == len(other) and all(map(_is_written_alike, one, other))
        case float():
            return repr(one) == repr(other)  # 0.0 and -0.0 are equal
        case _:
            return bool(one == other)
