"""Star secrets out of JSON values: each text is searched as it would be in the JSON.

The name before a text may tell that it is a secret, so the text is searched together with it.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final

from playground.recordings.scrubbing import CONTEXT, Searcher, Tally, searcher, starred

_CALLED: Final = ("name", "key", "header")  # fields with the name of the `value` beside them
_VALUES: Final = frozenset({"value", "stringvalue", "string_value"})  # in small letters
_TOLD: Final = _VALUES | {"default"}  # fields that the name beside or around them may tell
# OpenTelemetry puts these around the values of an attribute
_WRAPS: Final = _VALUES | {"values", "arrayvalue", "array_value"}
_OF_COOKIE: Final = frozenset({"path", "domain", "httpOnly", "sameSite"})  # beside name and value
_OF_JWK: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})  # its private fields
_TELLING: Final = ("key", "token", "secret", "auth", "authorization")  # ends of headers' names
_GROWING: Final = frozenset({"messages", "input", "contents", "tools", "system"})  # of a request


def scrubbed_value(value: Any, *, emails: bool = False, secrets: Iterable[str] = ()) -> Any:
    """Return a JSON value with the secrets starred out of all its texts and keys.

    A text that a name such as `password` announces may be a secret without looking like one: under
    that key, in a list or as a `value` there, beside that `name`, or after that flag. After a
    header's name in a list, it is a secret only if it looks random.
    """
    return scrubbed_with(searcher(tuple(secrets), emails), value)


def scrubbed_with(search: Searcher, value: Any, tally: Tally | None = None) -> Any:
    """Do as `scrubbed_value`, with a given searcher, and count the secrets in `tally`."""
    match value:
        case str():
            return starred(value, search, tally)
        case list():
            flags = ["", *value]
            return [
                _behind(_flag(flag), item, search, tally)
                for flag, item in zip(flags, value, strict=False)
            ]
        case dict():
            return _object(value, search, tally)
        case _:
            return value


class BodyScrubber:
    """A scrubber of request bodies that mostly repeat the bodies before them.

    It remembers the clean form of each message and tool by a digest, and returns the same object
    again. It remembers at most `most` characters, and forgets the least recently used first.
    """

    def __init__(self, search: Searcher, most: int = 64 * 1024 * 1024) -> None:
        self._search, self._most, self._size = search, most, 0
        self._known: OrderedDict[bytes, tuple[Any, Tally, int]] = OrderedDict()

    def scrubbed(
        self, body: dict[str, Any], tally: Tally, search: Searcher | None = None
    ) -> dict[str, Any]:
        """Return the body as `scrubbed_with` does, and count alike; `search` replaces our own."""
        search = search or self._search
        lists = {
            key: [self._item(item, tally, search) for item in value]
            for key, value in body.items()
            if key in _GROWING and isinstance(value, list) and set(map(type, value)) == {dict}
        }
        rest = {key: [] if key in lists else value for key, value in body.items()}
        return {**scrubbed_with(search, rest, tally), **lists}

    def _item(self, item: dict[str, Any], tally: Tally, search: Searcher) -> Any:
        text = json.dumps(item)
        key = blake2b(text.encode(), digest_size=16, key=search.digest).digest()
        if key in self._known:
            self._known.move_to_end(key)
        else:
            own = Tally()
            self._known[key] = scrubbed_with(search, item, own), own, len(text)
            self._size += len(text)
        clean, found, _ = self._known[key]
        tally.take(found)
        while self._size > self._most:
            self._size -= self._known.popitem(last=False)[1][2]
        return clean


def _object(
    value: dict[Any, Any], search: Searcher, tally: Tally | None, key: str = ""
) -> dict[str, Any]:
    """Scrub an object; `key` is its own name, which may tell of its `value`."""
    made: dict[str, Any] = {}
    again: Counter[str] = Counter()
    called = key or _name_in(value)
    for name, item in value.items():
        clean = starred(str(name), search, tally)
        while clean in made:  # two keys were secrets of one length: keep both entries
            again[clean] += 1
            clean = f"{clean}{again[clean]}"
        if before := _before_member(str(name), value, called):
            made[clean] = _wrapped(before, item, search, tally)
        else:
            made[clean] = _named(str(name), item, search, tally)
    return made


def _before_member(name: str, value: dict[Any, Any], called: str) -> str:
    """Return the text before a member, as made from the members beside it; "" for most."""
    if name in _OF_JWK and "kty" in value:
        return '"oct","k":"' if name == "k" else '"d":"'
    if not called or name.lower() not in _TOLD:
        return ""
    if name == "value" and not _OF_COOKIE.isdisjoint(value):
        return f'cookie": "{called[:CONTEXT]}='
    return f'{called[:CONTEXT]}", "value": "'


def _name_in(value: dict[Any, Any]) -> str:
    """Return the name that an object gives to its `value`."""
    low = {str(name).lower(): text for name, text in value.items() if isinstance(text, str)}
    return next((low[name] for name in _CALLED if name in low), "")


def _named(key: str, item: Any, search: Searcher, tally: Tally | None) -> Any:
    """Scrub the value of a key; each text of a list is searched as if it stood there alone."""
    match item:
        case list():
            before = f'{key}": ["'
            flags = ["", *item]
            return [
                _named(key, each, search, tally)
                if isinstance(each, list)
                else _behind(_flag(flag) or before, each, search, tally)
                for flag, each in zip(flags, item, strict=False)
            ]
        case dict():
            return _object(
                item,
                search,
                tally,
                key if any(str(name).lower() in _TOLD for name in item) else "",
            )
        case _:
            return _behind(f'{key}": "', item, search, tally)


def _flag(item: Any) -> str:
    """Return the text before the item after this one, if this is a flag or a header's name."""
    if not isinstance(item, str) or len(item) >= 60:
        return ""
    names = item[:2] == "--" or item.lower().endswith(_TELLING)
    return f'{item}", "' if names else ""


def _wrapped(before: str, item: Any, search: Searcher, tally: Tally | None) -> Any:
    """Scrub a value after the text `before` it, also inside lists and OpenTelemetry's wrappers."""
    if isinstance(item, list):
        return [_wrapped(before, each, search, tally) for each in item]
    if isinstance(item, dict) and all(str(name).lower() in _WRAPS for name in item):
        return {name: _wrapped(before, each, search, tally) for name, each in item.items()}
    return _behind(before, item, search, tally)


def _behind(before: str, item: Any, search: Searcher, tally: Tally | None) -> Any:
    """Scrub a value after the text `before` it, which can tell only of texts."""
    if not isinstance(item, str):
        return scrubbed_with(search, item, tally)
    return starred(before + item, search, tally)[len(before) :]
