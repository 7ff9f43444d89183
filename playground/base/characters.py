"""Characters that no file can hold: halves of surrogate pairs, which JSON may escape (`"\\ud83d"`).

They come from decoded JSON, also from a call's arguments in a text. Code that makes a session or a
recording of decoded values replaces these halves (`replace_half_surrogates`) and reports where.
Code that writes JSON escapes halves that came from a program instead (`escaped_halves`), so that
every value can be written.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import filterfalse
from operator import attrgetter, is_
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from playground.base.findings import Finding, finding

REPLACED: Final = "\ufffd"
_HALF: Final = re.compile("[\ud800-\udfff]")
_HALF_BYTES: Final = re.compile(b"\xed[\xa0-\xbf]")
_MARSHAL: Final = 4  # this version writes a repeated text only once
_PLAIN: Final = frozenset({int, float, bool, type(None), bytes})
T = TypeVar("T")


def is_whole(text: str) -> bool:
    """Return True if a text can be written in UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def are_whole(texts: Iterable[str]) -> bool:
    """Return True if each of these texts can be written in UTF-8. It is fast if most are ASCII."""
    return all(map(is_whole, filterfalse(str.isascii, texts)))


def replace_half_surrogates(value: T, place: str, findings: list[Finding]) -> T:
    """Replace half surrogates by U+FFFD, in keys too, and add a finding for each changed text.

    `value` is JSON, or frozen dataclasses and models with JSON. If nothing is replaced, the same
    object is returned.
    """
    if is_all_whole(value):  # fast, because it does not note where each text is
        return value
    changed: T = _without_half_surrogates(value, place, findings)
    return changed


def plain_bytes(value: Any) -> bytes | None:
    """Return a JSON value as bytes of `marshal`, its texts in UTF-8 with half surrogates. Searching
    the bytes takes a fourth of the time of walking the value. Return None if the value is nested
    too deeply or is not plain JSON: a NotANumber, for instance."""
    try:
        return marshal.dumps(value, _MARSHAL)
    except ValueError:
        return None


def holds_half(plain: bytes) -> bool:
    """Return True if there may be half a surrogate in the result of `plain_bytes`.

    Bytes of a number may look the same.
    """
    return _HALF_BYTES.search(plain) is not None


def is_all_whole(value: object) -> bool:
    """Return True if every text in a value is valid Unicode. The value need not be JSON."""
    waiting = [value]
    contents: Iterable[Any]
    while waiting:
        item: Any = waiting.pop()
        kind: Any = type(item)
        if kind is str:
            if not is_whole(item):
                return False
            continue
        if kind is dict or kind is list or kind is tuple:
            plain = plain_bytes(item)
            if plain is not None and not holds_half(plain):
                continue
            contents = [*item, *item.values()] if kind is dict else item
        else:
            contents = _contents_of(item, kind)
        # Skip ASCII texts and values without texts: nearly all values are of these kinds.
        waiting += [
            inner
            for inner in contents
            if not (inner.isascii() if type(inner) is str else type(inner) in _PLAIN)
        ]
    return True


def _contents_of(value: Any, kind: Any) -> Iterable[Any]:
    """Return the contents of a value of another type: a dataclass, a mapping, a subclass of str."""
    if getter := _getter(kind):
        contents: Iterable[Any] = getter(value)
        return contents
    match value:
        case str():
            return [str(value)]
        case Mapping():
            return [*value, *value.values()]
        case list() | tuple():
            return [*value]
        case _:
            return ()


def _without_half_surrogates(value: Any, place: str, findings: list[Finding]) -> Any:
    kind: Any = type(value)  # mypy thinks that a bare type is not hashable
    if kind in _PLAIN:
        return value
    if isinstance(value, str):
        return value if is_whole(value) else _replace(value, place, findings)
    if isinstance(value, Mapping):
        return _whole_mapping(value, place, findings)
    if isinstance(value, list | tuple):
        items = [
            _without_half_surrogates(item, _step(place, index), findings)
            for index, item in enumerate(value)
        ]
        return value if all(map(is_, items, value)) else kind(items)
    changed = {
        name: new
        for name in _fields(kind)
        if (
            new := _without_half_surrogates(
                old := getattr(value, name), _step(place, name), findings
            )
        )
        is not old
    }
    if not changed:
        return value
    return (
        value.model_copy(update=changed)
        if issubclass(kind, BaseModel)
        else replace(value, **changed)
    )


def _whole_mapping(value: Mapping[Any, Any], place: str, findings: list[Finding]) -> Any:
    result: dict[Any, Any] = {}
    is_same = True
    for key, item in value.items():
        new = _without_half_surrogates(key, place, findings)
        while new in result:  # two keys that differed only in half surrogates
            new += REPLACED
        result[new] = _without_half_surrogates(item, _step(place, new), findings)
        is_same = is_same and new is key and result[new] is item
    return value if is_same else result


def _replace(text: str, place: str, findings: list[Finding]) -> str:
    findings.append(finding("lone-surrogate", place))
    return _HALF.sub(REPLACED, text)


def _step(place: str, step: object) -> str:
    return f"{place}.{step}" if place else str(step)


@cache
def _getter(kind: Any) -> Callable[[Any], Iterable[Any]] | None:
    names = _fields(kind)  # for a single name, attrgetter would not return a tuple
    return attrgetter(*names, names[0]) if names else None


@cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    if issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def escaped_halves(json_text: str) -> str:
    """Return a JSON text with its half surrogates escaped, so that UTF-8 can write it."""
    if is_whole(json_text):
        return json_text
    return _HALF.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)
