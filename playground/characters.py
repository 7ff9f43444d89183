"""Characters that no file can hold: halves of surrogate pairs, which JSON may escape (`"\\ud83d"`).

They come in wherever JSON is decoded, in arguments inside a text too. Whoever makes a session or a
recording of what was decoded replaces them by `whole` and tells where; what writes JSON for others
escapes those that a program put in by itself (`escaped_halves`), so that anything can be written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from playground.findings import Finding, finding

REPLACED: Final = "\ufffd"
_HALF: Final = re.compile("[\ud800-\udfff]")
_PLAIN: Final = frozenset({int, float, bool, type(None), bytes})
T = TypeVar("T")


def is_whole(text: str) -> bool:
    """Whether a text can be written in UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def whole(value: T, place: str, found: list[Finding]) -> T:
    """The value with U+FFFD for half surrogates, in keys too, and a finding for each text.

    `value` is JSON, or frozen dataclasses and models of it. Where nothing is replaced it is the
    same object.
    """
    changed: T = _whole(value, place, found)
    return changed


def _whole(value: Any, place: str, found: list[Finding]) -> Any:
    kind: Any = type(value)  # mypy takes a bare type for unhashable
    if kind in _PLAIN:
        return value
    if isinstance(value, str):
        return value if is_whole(value) else _replaced(value, place, found)
    if isinstance(value, Mapping):
        return _whole_mapping(value, place, found)
    if isinstance(value, list | tuple):
        items = [_whole(item, _step(place, index), found) for index, item in enumerate(value)]
        return value if all(map(_is, items, value)) else kind(items)
    changed = {
        name: new
        for name in _fields(kind)
        if (new := _whole(old := getattr(value, name), _step(place, name), found)) is not old
    }
    if not changed:
        return value
    return (
        value.model_copy(update=changed)
        if issubclass(kind, BaseModel)
        else replace(value, **changed)
    )


def _whole_mapping(value: Mapping[Any, Any], place: str, found: list[Finding]) -> Any:
    result: dict[Any, Any] = {}
    is_same = True
    for key, item in value.items():
        new = _whole(key, place, found)
        while new in result:  # two keys, of which other halves are left
            new += REPLACED
        result[new] = _whole(item, _step(place, new), found)
        is_same = is_same and new is key and result[new] is item
    return value if is_same else result


def _replaced(text: str, place: str, found: list[Finding]) -> str:
    found.append(finding("lone-surrogate", place))
    return _HALF.sub(REPLACED, text)


def _step(place: str, step: object) -> str:
    return f"{place}.{step}" if place else str(step)


def _is(one: object, other: object) -> bool:
    return one is other


@cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    if issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def escaped_halves(json_text: str) -> str:
    """A JSON text that can be written in UTF-8: half surrogates in it are escaped."""
    if is_whole(json_text):
        return json_text
    return _HALF.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)
