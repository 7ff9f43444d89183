"""Star secrets out of JSON values.

Each text is searched after the name that precedes it in JSON, as the name may show a secret.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from hashlib import blake2b
from typing import Any, Final

from playground.recordings.scrubbing import CONTEXT, Searcher, Tally, searcher, star_secrets

_NAME_FIELDS: Final = ("name", "key", "header")  # fields that name the neighbouring `value`
_VALUE_FIELDS: Final = frozenset({"value", "stringvalue", "string_value"})  # in small letters
# Fields that are secret if a neighbouring field, or the key of their object, names a secret.
_NAMED_FIELDS: Final = _VALUE_FIELDS | {"default"}
# OpenTelemetry puts these around the values of an attribute
_WRAPPER_FIELDS: Final = _VALUE_FIELDS | {"values", "arrayvalue", "array_value"}
# Fields of a cookie other than its name and value.
_COOKIE_FIELDS: Final = frozenset({"path", "domain", "httpOnly", "sameSite"})
# The private fields of a JSON Web Key.
_PRIVATE_JWK_FIELDS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})
_HEADER_ENDS: Final = ("key", "token", "secret", "auth", "authorization")  # ends of headers' names
# Fields of a request's body that repeat what earlier requests sent.
_HISTORY_FIELDS: Final = frozenset({"messages", "input", "contents", "tools", "system"})


def scrubbed_value(value: Any) -> Any:
    """Return a JSON value with the secrets starred out of all its texts and keys.

    A name such as `password` makes a text a secret, even if it looks harmless: under that key (also
    in a list or as a `value`), next to a `name` with that text, or after that flag in a list. After
    a header's name in a list, a text is a secret only if it looks random.
    """
    return scrubbed_with(searcher(), value)


def scrubbed_with(search: Searcher, value: Any, tally: Tally | None = None) -> Any:
    """Do the same as `scrubbed_value`, with a given searcher; count the secrets in `tally`."""
    match value:
        case str():
            return star_secrets(value, search, tally)
        case list():
            flags = ["", *value]
            return [
                _scrub_after(_text_after_flag(flag), item, search, tally)
                for flag, item in zip(flags, value, strict=False)
            ]
        case dict():
            return _scrub_object(value, search, tally)
        case _:
            return value


class BodyScrubber:
    """A scrubber of request bodies that mostly repeat the bodies before them.

    It remembers the clean form of each message and tool by a digest, and returns the same object
    again. It remembers at most `most` characters, and forgets the least recently used first.
    """

    def __init__(self, search: Searcher, most: int = 64 * 1024 * 1024) -> None:
        self._search, self._most, self._size = search, most, 0
        self._clean_items: OrderedDict[bytes, tuple[Any, Tally, int]] = OrderedDict()

    def scrubbed(
        self, body: dict[str, Any], tally: Tally, search: Searcher | None = None
    ) -> dict[str, Any]:
        """Return the body as `scrubbed_with` does; `search` replaces our own searcher."""
        search = search or self._search
        lists = {
            key: [self._clean_item(item, tally, search) for item in value]
            for key, value in body.items()
            if key in _HISTORY_FIELDS
            and isinstance(value, list)
            and set(map(type, value)) == {dict}
        }
        rest = {key: [] if key in lists else value for key, value in body.items()}
        return {**scrubbed_with(search, rest, tally), **lists}

    def _clean_item(self, item: dict[str, Any], tally: Tally, search: Searcher) -> Any:
        text = json.dumps(item)
        key = blake2b(text.encode(), digest_size=16, key=search.digest).digest()
        if key in self._clean_items:
            self._clean_items.move_to_end(key)
        else:
            item_tally = Tally()
            self._clean_items[key] = scrubbed_with(search, item, item_tally), item_tally, len(text)
            self._size += len(text)
        clean, counted, _ = self._clean_items[key]
        tally.take(counted)
        while self._size > self._most:
            self._size -= self._clean_items.popitem(last=False)[1][2]
        return clean


def _scrub_object(
    value: dict[Any, Any], search: Searcher, tally: Tally | None, key: str = ""
) -> dict[str, Any]:
    """Scrub an object; its `key` in the outer object may show that its `value` is secret."""
    scrubbed: dict[str, Any] = {}
    repeats: Counter[str] = Counter()
    own_name = key or _name_in(value)
    for name, item in value.items():
        clean = star_secrets(str(name), search, tally)
        while clean in scrubbed:  # two secret keys became the same stars: keep both
            repeats[clean] += 1
            clean = f"{clean}{repeats[clean]}"
        if before := _text_before_member(str(name), value, own_name):
            scrubbed[clean] = _scrub_wrapped(before, item, search, tally)
        else:
            scrubbed[clean] = _scrub_member(str(name), item, search, tally)
    return scrubbed


def _text_before_member(name: str, value: dict[Any, Any], own_name: str) -> str:
    """Return a text that names a member's secret, to be searched before its value, or ""."""
    if name in _PRIVATE_JWK_FIELDS and "kty" in value:
        return '"oct","k":"' if name == "k" else '"d":"'
    if not own_name or name.lower() not in _NAMED_FIELDS:
        return ""
    if name == "value" and not _COOKIE_FIELDS.isdisjoint(value):
        return f'cookie": "{own_name[:CONTEXT]}='
    return f'{own_name[:CONTEXT]}", "value": "'


def _name_in(value: dict[Any, Any]) -> str:
    """Return the name that an object gives to its `value`."""
    low = {str(name).lower(): text for name, text in value.items() if isinstance(text, str)}
    return next((low[name] for name in _NAME_FIELDS if name in low), "")


def _scrub_member(key: str, item: Any, search: Searcher, tally: Tally | None) -> Any:
    """Scrub a key's value; each text of a list is searched after the key or its flag."""
    match item:
        case list():
            before = f'{key}": ["'
            flags = ["", *item]
            return [
                _scrub_member(key, each, search, tally)
                if isinstance(each, list)
                else _scrub_after(_text_after_flag(flag) or before, each, search, tally)
                for flag, each in zip(flags, item, strict=False)
            ]
        case dict():
            return _scrub_object(
                item,
                search,
                tally,
                key if any(str(name).lower() in _NAMED_FIELDS for name in item) else "",
            )
        case _:
            return _scrub_after(f'{key}": "', item, search, tally)


def _text_after_flag(item: Any) -> str:
    """Return the text to put before the next item for the search, if this item names it."""
    if not isinstance(item, str) or len(item) >= 60:
        return ""
    names = item[:2] == "--" or item.lower().endswith(_HEADER_ENDS)
    return f'{item}", "' if names else ""


def _scrub_wrapped(before: str, item: Any, search: Searcher, tally: Tally | None) -> Any:
    """Scrub a value after the text `before` it, also inside lists and OpenTelemetry's wrappers."""
    if isinstance(item, list):
        return [_scrub_wrapped(before, each, search, tally) for each in item]
    if isinstance(item, dict) and all(str(name).lower() in _WRAPPER_FIELDS for name in item):
        return {name: _scrub_wrapped(before, each, search, tally) for name, each in item.items()}
    return _scrub_after(before, item, search, tally)


def _scrub_after(before: str, item: Any, search: Searcher, tally: Tally | None) -> Any:
    """Scrub a value; a text is searched with the text `before` in front of it."""
    if not isinstance(item, str):
        return scrubbed_with(search, item, tally)
    return star_secrets(before + item, search, tally)[len(before) :]
