"""Values as Gemma writes them: a writer, and a reader that accepts mistakes of models.

A *mark* is the token before and after each text, such as `<|"|>`. A text may lack both marks, or
only the first, or be in quotes. A text without marks ends before the next key, or with its object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from playground.base.json_numbers import load_json
from playground.nouns.tools import Schema, allowed_types
from playground.parsing.values import JSON_WORDS, Literals

# the characters of a key without marks: its first, and the others
KEY_START: Final = r"[^\W\d]"
KEY_PART: Final = r"[\w\-]"
_BARE_KEY: Final = re.compile(rf"{KEY_START}{KEY_PART}*\Z")
_BARE_KEY_AT: Final = re.compile(rf"{KEY_START}{KEY_PART}*\s*:")
_SPACE: Final = re.compile(r"\s*")
_JSON: Final = json.JSONDecoder(strict=False)
_BARE: Final = re.compile(r"[^,:{}\[\]]*")
_PLAIN_KEY: Final = r"[A-Za-z_][\w.\-]*"
_LAST_COMMA: Final = "a comma after the last member"
# a text in single quotes, up to a quote that may end an item of a list
_QUOTED_ITEM: Final = re.compile(r"'([^\n]*?)'(?=\s*[,\]])")


def write(value: Any, mark: str, literals: Literals = JSON_WORDS) -> str:
    """Write a value in this form; `read` reads it back."""
    match value:
        case str():
            return f"{mark}{value}{mark}"
        case list():
            return "[" + ",".join(write(item, mark, literals) for item in value) + "]"
        case Mapping():
            members = (
                f"{write_key(key, mark)}:{write(item, mark, literals)}"
                for key, item in value.items()
            )
            return "{" + ",".join(members) + "}"
        case _:
            return literals.written(value)


def write_key(key: str, mark: str) -> str:
    return key if _BARE_KEY.match(key) else f"{mark}{key}{mark}"


def read(
    text: str,
    mark: str,
    schema_of: Callable[[str], Schema] | None = None,
    doubts: Doubts | None = None,
    literals: Literals = JSON_WORDS,
    keys: frozenset[str] = frozenset(),
) -> Any:
    """Return the object that a text describes.

    A value without marks is a text if its schema (by `schema_of`) allows only texts, or if it is no
    number, word, list or object. With `doubts`, more mistakes are accepted, each collected with the
    key of its value, and a value that is nested too deeply stays text. `keys` are the tool's own:
    they end a text without marks even if they are unusual, as a key with a space is.

    Raises ValueError for a malformed text and, without `doubts`, RecursionError for deep nesting.
    """
    start = _skip(text, 0) + 1
    form = _Form(mark, literals.words, doubts, _ends(mark, keys))
    members, stop = _members(text, start, form, schema_of or (lambda _key: {}), outermost=True)
    if _skip(text, stop) != len(text):
        raise ValueError(f"expected nothing more at character {stop}")
    return members


class Doubts(NamedTuple):
    """Values that were not read strictly: the keys of values that stay text because they are too
    `deep`, and the keys of values with a `forgiven` mistake, each with the mistake."""

    deep: list[str]
    forgiven: list[tuple[str, str]]


class _Ends(NamedTuple):
    """Patterns for the end of a text without its marks, made for the keys of one tool."""

    ended: re.Pattern[str]  # what may follow a complete member: the next key, or the closing brace
    missing: re.Pattern[str]  # the next key or the closing brace, in place of a missing value
    unmarked: re.Pattern[str]  # in a text without marks: a quoted part, a bracket, or the next key
    half_marked: re.Pattern[str]  # a text that lacks only its first mark
    quoted: re.Pattern[str]  # a text in single quotes


@lru_cache(maxsize=256)
def _ends(mark: str, keys: frozenset[str]) -> _Ends:
    unusual_keys = sorted(re.escape(key) for key in keys if not re.fullmatch(_PLAIN_KEY, key))
    any_key = "|".join([r"[^\w\s,:{}\[\]][^,:{}\[\]]*", _PLAIN_KEY, *unusual_keys])
    key_next = rf",\s*(?:{any_key})\s*:(?!//)"
    ended = rf"\s*(?:,\s*\}}|\}}|{key_next})"
    end = re.escape(mark)
    return _Ends(
        re.compile(ended),
        re.compile(rf",?\s*\}}|{key_next}"),
        re.compile(rf'"[^"\n]*"|[{{}}\[\]]|{key_next}'),
        re.compile(rf"((?:(?!{end}|{key_next})[^{{}}\[\]])*)(?<![\s:,]){end}(?={ended})"),
        re.compile(rf"'((?:(?!'{ended})[^\n])*)'(?={ended})"),
    )


class _Form(NamedTuple):
    """The form of a call's values.

    `mark` surrounds texts, `words` maps words such as `true` to their values, `doubts` collects
    mistakes, and `ends` finds the ends of texts without marks.
    """

    mark: str
    words: Mapping[str, Any]
    doubts: Doubts | None
    ends: _Ends

    def forgive(self, key: str, mistake: str) -> None:
        if self.doubts is not None:
            self.doubts.forgiven.append((key, mistake))


# the readers take the index `at` of a value, and return the value and the index after it


def _value(text: str, at: int, form: _Form, key: str) -> tuple[Any, int]:
    if text.startswith(form.mark, at):
        return _read_marked(text, at, form.mark)
    if text.startswith('"', at):
        form.forgive(key, "a text in double quotes")
        return _read_quoted(text, at, form, key)
    if text.startswith("{", at):
        return _members(text, at + 1, form, lambda _key: {})
    if text.startswith("[", at):
        return _items(text, at + 1, form, key)
    return _scalar(text, at, form, key)


def _read_marked(text: str, at: int, mark: str) -> tuple[str, int]:
    start = at + len(mark)
    stop = text.find(mark, start)
    if stop < 0:
        raise ValueError(f"the text at character {at} is never closed")
    return text[start:stop], stop + len(mark)


def _read_quoted(text: str, at: int, form: _Form, key: str = "") -> tuple[Any, int]:
    """Read a JSON string, or, if it is malformed, a value without marks."""
    try:
        value, stop = _JSON.raw_decode(text, at)
    except ValueError:
        return _scalar(text, at, form, key)
    return value, stop


def _scalar(text: str, at: int, form: _Form, key: str) -> tuple[Any, int]:
    match = _BARE.match(text, at)
    assert match  # it matches the empty text too
    word = match[0]
    if not word.strip():
        raise ValueError(f"expected a value at character {at}")
    if word.strip() in form.words:
        return form.words[word.strip()], at + len(word)
    try:
        return load_json(word), at + len(word)
    except ValueError:
        is_half_marked = word.rstrip().endswith(form.mark)
        form.forgive(key, f"a text without its {'first mark' if is_half_marked else 'marks'}")
        return word.strip(), at + len(word)


def _items(text: str, at: int, form: _Form, key: str) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _skip(text, at)
    while not text.startswith("]", at):
        item, at = _item(text, at, form, key)
        items.append(item)
        at = _skip_comma(text, at, "]", form, key)
    return items, at + 1


def _item(text: str, at: int, form: _Form, key: str) -> tuple[Any, int]:
    """Read an item of a list. A text may be in single quotes, or lack its first mark."""
    if form.doubts is not None and (quoted := _QUOTED_ITEM.match(text, at)):
        form.forgive(key, "a text in single quotes")
        return quoted[1], quoted.end()
    item, stop = _value(text, at, form, key)
    is_unmarked = not text.startswith((form.mark, '"', "{", "["), at)
    return item.removesuffix(form.mark) if is_unmarked and isinstance(item, str) else item, stop


def _members(
    text: str, at: int, form: _Form, schema_of: Callable[[str], Schema], outermost: bool = False
) -> tuple[dict[str, Any], int]:
    """Read an object after its brace. Only the `outermost` one may keep deep values as texts."""
    members: dict[str, Any] = {}
    at = _skip(text, at)
    while not text.startswith("}", at):
        key, start = _read_key(text, at, form)
        try:
            value, at = _member(text, start, form, key)
        except RecursionError:
            if form.doubts is None or not outermost:
                raise
            form.doubts.deep.append(key)
            value, at = _raw_text(text, start, form.mark)
        is_scalar = not isinstance(value, str | list | dict)
        if is_scalar and allowed_types(schema_of(key)) == {"string"}:
            value = text[start:at].strip()  # `{zip:01234}` is a text that lacks its marks
        members[key] = value
        at = _after_member(text, at, form, key)
    return members, at + 1


def _after_member(text: str, at: int, form: _Form, key: str) -> int:
    """Return the index of the next member, or of the closing brace. The comma before the member
    may be missing."""
    at = _skip(text, at)
    follows_word = text[at - 1].isalnum()
    if not follows_word and form.doubts is not None and _BARE_KEY_AT.match(text, at):
        form.doubts.forgiven.append((key, "no comma after it"))
        return at
    return _skip_comma(text, at, "}", form, key)


def _member(text: str, start: int, form: _Form, key: str) -> tuple[Any, int]:
    """Read a member's value; a missing value is an empty text.

    A text without marks may hold commas, colons and brackets. It ends before the next key, or with
    its object.
    """
    if key and form.doubts is not None and form.ends.missing.match(text, start):
        form.forgive(key, "no value")
        return "", start
    if form.doubts is None or text.startswith((form.mark, '"', "{", "["), start):
        return _value(text, start, form, key)
    if quoted := form.ends.quoted.match(text, start):
        form.forgive(key, "a text in single quotes")
        return quoted[1], quoted.end()
    if half_marked := form.ends.half_marked.match(text, start):
        form.forgive(key, "a text without its first mark")
        # `'text'` before the second mark: the quotes replace a mark, and are not part of the text
        is_quoted = len(half_marked[1]) > 1 and half_marked[1][0] == half_marked[1][-1] == "'"
        return half_marked[1][1:-1] if is_quoted else half_marked[1], half_marked.end()
    value, at = _value(text, start, form, key)
    if form.ends.ended.match(text, at) and text.count('"', start, at) % 2 == 0:
        return value, at
    stop = _unmarked_end(text, start, form)
    form.forgive(key, "a text without marks, read up to the next key or the end of its object")
    return text[start:stop].strip(), stop


def _unmarked_end(text: str, start: int, form: _Form) -> int:
    depth = 0
    for match in form.ends.unmarked.finditer(text, start):
        if match[0] in "{[":
            depth += 1
        elif match[0] in "}]":
            if depth == 0:
                return match.start()
            depth -= 1
        elif depth == 0 and match[0][0] != '"':
            return match.start()
    raise ValueError(f"the text at character {start} has no end")


def _raw_text(text: str, start: int, mark: str) -> tuple[str, int]:
    """Return the text of a list or an object, up to its own closing bracket."""
    depth, inside = 0, False
    for match in re.compile(rf"{re.escape(mark)}|[{{}}\[\]]").finditer(text, start):
        if match[0] == mark:
            inside = not inside
        elif not inside:
            depth += 1 if match[0] in "{[" else -1
        if depth == 0:
            return text[start : match.end()], match.end()
    raise ValueError(f"the value at character {start} is never closed")


def _read_key(text: str, at: int, form: _Form) -> tuple[str, int]:
    """Read a key; return it, and the index of its value."""
    if text.startswith(form.mark, at):
        key, at = _read_marked(text, at, form.mark)
    elif text.startswith('"', at):
        key, at = _read_quoted(text, at, form)
        form.forgive(key, "a key in quotes")
    else:
        match = _BARE.match(text, at)
        assert match  # it matches the empty text too
        key, at = match[0].strip(), match.end()
        if not _BARE_KEY.match(key):
            form.forgive(key, f"the key {key!r:.60}, which is not a word")
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise ValueError(f"expected a colon at character {at}")
    return key, _skip(text, at + 1)


def _skip_comma(text: str, at: int, closer: str, form: _Form, key: str) -> int:
    at = _skip(text, at)
    if text.startswith(",", at):
        at = _skip(text, at + 1)
        if text.startswith(closer, at):
            form.forgive(key, _LAST_COMMA)
        return at
    if not text.startswith(closer, at):
        raise ValueError(f"expected a comma or {closer} at character {at}")
    return at


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match  # it matches the empty text too
    return match.end()
