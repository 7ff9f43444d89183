"""Find keys that occur twice in one JSON object, because JSON readers keep only the last value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.sessions.places import Place
from playground.sessions.source import Source

_MOST: Final = 20_000  # bytes: reading a larger file again takes too long
_READ: Final = frozenset({"arguments", "args", "input", "body"})  # their texts are read as JSON


def repeated_keys(source: Source) -> Iterator[Finding]:
    """Yield a finding for each key of which a value is lost, in a small file of JSON."""
    if source.is_folder or not 0 < source.size <= _MOST or source.is_zip:
        return
    value = _read(source.data)
    if value is not None:
        yield from _repeated(value, Place())
        return
    for number, line in enumerate(source.data.split(b"\n"), 1):
        yield from _repeated(_read(line), Place(number))


class _Repeating(dict[str, Any]):
    """An object whose text has a key several times, with different values."""

    names: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    names = dict.fromkeys(name for name, field in pairs if field != value[name])
    found = _Repeating(value)
    found.names = tuple(names)
    return found


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=_object)


def _read(data: bytes | str) -> Any:
    """Return a JSON object or list; None for anything else."""
    text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _repeated(value: Any, place: Place) -> Iterator[Finding]:
    waiting: list[tuple[Any, Place]] = [(value, place)]
    while waiting:
        value, place = waiting.pop()
        for name in value.names if isinstance(value, _Repeating) else ():
            message = f"the key {name!r} occurs more than once in one object: the last one is read"
            yield finding("part-lost", str(place.at(name)), message)
        pairs = enumerate(value) if isinstance(value, list) else ()
        for key, inner in value.items() if isinstance(value, dict) else pairs:
            inner = _read(inner) if isinstance(inner, str) and key in _READ else inner
            if isinstance(inner, dict | list):
                waiting.append((inner, place.at(key)))
