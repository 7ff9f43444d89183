"""Arguments as Gemma writes them: JSON with bare keys, its strings between a mark of their own.

    {path:<|"|>a.py<|"|>,lines:[1,2],force:true}

Nothing is escaped: a text that holds the mark cannot be carried.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import regex

from playground.json_numbers import load_json
from playground.parsing.claims import Claim
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.notations.notation import CallValue, Lead, Notation
from playground.parsing.open_call import OpenCall
from playground.parsing.patterns import SPACE
from playground.parsing.quiet import Quiet, quiet_string, quiet_to_mark, quiet_until
from playground.parsing.reader import Reader, decoded
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.values import JSON_WORDS, Literals
from playground.tools import Schema, allowed_types

_BARE_KEY: Final = re.compile(r"[A-Za-z_][\w\-]*\Z")
_BARE_KEY_AT: Final = re.compile(r"[A-Za-z_][\w\-]*\s*:")
_SPACE: Final = re.compile(r"\s*")
_JSON: Final = json.JSONDecoder(strict=False)
_BARE: Final = re.compile(r"[^,:{}\[\]]*")
_KEY_NEXT: Final = r""",\s*(?:[^\w\s,:{}\[\]][^,:{}\[\]]*|[A-Za-z_][\w.\-]*)\s*:(?!//)"""
_ENDED: Final = re.compile(rf"\s*(?:,\s*\}}|\}}|{_KEY_NEXT})")
_MISSING: Final = re.compile(rf",?\s*\}}|{_KEY_NEXT}")
# where a text without its marks may be over; what stands in quotes or brackets is its own
_UNMARKED: Final = re.compile(rf'"[^"\n]*"|[{{}}\[\]]|{_KEY_NEXT}')


class MarkedArguments(Notation):
    hole = "args:marked"
    meaning = "the arguments as an object whose texts stand between `string_mark`"
    values = "JSON with bare keys, texts between marks"
    fields = {"call": "<call:{name}>{args:marked}</call>", "string_mark": "``"}
    example = "<call:write_file>{path:``a.py``,lines:[1,2]}</call>"
    first = "{"
    mends_brackets = True

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        return {self.hole: write(call.arguments, syntax.string_mark, syntax.literals)}

    def announce(self, lead: Lead) -> str:
        return rf"{SPACE}\{{"

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        scanner, mark = reader.scanner, form.syntax.string_mark
        text = yield from reader.claim_all(call, "(object)", lambda emit: walk(scanner, emit, mark))
        doubts = Doubts([], [])
        call.arguments = decoded(
            lambda text: read(text, mark, call.schema_of, doubts, form.syntax.literals),
            text,
            "malformed-arguments",
        )
        for key in doubts.deep:
            reader.scanner.note("too-deep", f"{call.place}, argument {key}", "kept as text")
        for key, what in doubts.forgiven:
            reader.scanner.note("relaxed-json", f"{call.place}, argument {key}", what)


# in a stream: only brackets and marks are looked at


@lru_cache
def _outside(mark: str) -> regex.Pattern[str]:
    # a quote where a key or a value begins: JSON between the marked texts
    return regex.compile(rf"{regex.escape(mark)}|[{{}}\[\]]|(?<=[:,\[{{]\s{{0,4}})\"")


@lru_cache
def _inside(mark: str) -> regex.Pattern[str]:
    # in quotes whatever is escaped closes nothing; between marks nothing is escaped
    return regex.compile(r'"|\\[\s\S]' if mark == '"' else regex.escape(mark))


@lru_cache
def _quiet(mark: str, inside: str) -> Quiet:
    """How chunks pass by inside a text's marks or quotes, or outside of any."""
    if inside == '"':
        return quiet_string(re.compile(r'["\\]'))
    if not inside:
        return quiet_until(re.compile(f'[{re.escape(mark[0])}"{{}}\\[\\]]'))
    return quiet_to_mark(inside)


def walk(scanner: Scanner, emit: Claim, mark: str) -> Walk[None]:
    """Claim one object, its braces included; what stands between marks is seen through."""
    depth, inside, position = 0, "", scanner.at
    while True:
        pattern = _inside(inside) if inside else _outside(mark)
        match = pattern.search(scanner.text, position, partial=not scanner.ended)
        if match is None or match.partial:
            # a mark may be cut: its beginning is held
            stop = match.start() if match else len(scanner.text)
            scanner.claim_cut(emit, stop)
            scanner.rest(_quiet(mark, inside), emit)
            yield
            position = scanner.at
            continue
        position = match.end()
        if match[0] in (mark, '"'):
            inside = "" if inside else match[0]
        elif inside:
            continue
        elif match[0] in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                emit(position - scanner.at)
                return


# a whole text


def write(value: Any, mark: str, literals: Literals = JSON_WORDS) -> str:
    """A value in this form; the way back is `read`."""
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
) -> Any:
    """The object that a whole text stands for. A bare value is text where its schema says so, and
    where it is too deep to read, or nothing else: `doubts` gets the keys of those.

    Raises ValueError, and RecursionError without `doubts`.
    """
    start = _skip(text, 0) + 1
    form = _Form(mark, literals.words, doubts)
    members, stop = _members(text, start, form, schema_of or (lambda _key: {}), outermost=True)
    if _skip(text, stop) != len(text):
        raise ValueError(f"expected nothing more at character {stop}")
    return members


class Doubts(NamedTuple):
    """The keys of values that were kept as text because they are too `deep` to read, and of those
    about which something was `forgiven`, with what."""

    deep: list[str]
    forgiven: list[tuple[str, str]]


class _Form(NamedTuple):
    """The mark around texts, what words stand for that are no texts, and who is told of doubts."""

    mark: str
    words: Mapping[str, Any]
    doubts: Doubts | None


def _value(text: str, at: int, form: _Form) -> tuple[Any, int]:
    if text.startswith(form.mark, at):
        return _marked(text, at, form.mark)
    if text.startswith('"', at):
        return _quoted(text, at, form)
    if text.startswith("{", at):
        return _members(text, at + 1, form, lambda _key: {})
    if text.startswith("[", at):
        return _items(text, at + 1, form)
    return _scalar(text, at, form)


def _marked(text: str, at: int, mark: str) -> tuple[str, int]:
    start = at + len(mark)
    stop = text.find(mark, start)
    if stop < 0:
        raise ValueError(f"the text at character {at} is never closed")
    return text[start:stop], stop + len(mark)


def _quoted(text: str, at: int, form: _Form) -> tuple[Any, int]:
    """A text as JSON writes it, or a bare one that begins with a quote."""
    try:
        value, stop = _JSON.raw_decode(text, at)
    except ValueError:
        return _scalar(text, at, form)
    return value, stop


def _scalar(text: str, at: int, form: _Form) -> tuple[Any, int]:
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
        return word.strip(), at + len(word)  # a text without its marks


def _items(text: str, at: int, form: _Form) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _skip(text, at)
    while not text.startswith("]", at):
        item, at = _value(text, at, form)
        items.append(item)
        at = _after(text, at, "]")
    return items, at + 1


def _members(
    text: str,
    at: int,
    form: _Form,
    schema_of: Callable[[str], Schema],
    outermost: bool = False,
) -> tuple[dict[str, Any], int]:
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
            value, at = _as_it_stands(text, start, form.mark)
        bare = not isinstance(value, str | list | dict)
        if bare and allowed_types(schema_of(key)) == {"string"}:
            value = text[start:at].strip()  # `{zip:01234}` is a text that lacks its marks
        members[key] = value
        at = _after_member(text, at, form, key)
    return members, at + 1


def _after_member(text: str, at: int, form: _Form, key: str) -> int:
    """Where the next member begins: behind a comma, or where it was forgotten, at a bare key."""
    at = _skip(text, at)
    apart = not text[at - 1].isalnum()
    if apart and form.doubts is not None and _BARE_KEY_AT.match(text, at):
        form.doubts.forgiven.append((key, "no comma behind it"))
        return at
    return _after(text, at, "}")


def _member(text: str, start: int, form: _Form, key: str) -> tuple[Any, int]:
    """A member's value, an empty text where there is none. A text without marks may hold commas,
    colons and brackets: it ends before the next key, or with its object."""
    if key and form.doubts is not None and _MISSING.match(text, start):
        form.doubts.forgiven.append((key, "no value"))
        return "", start
    value, at = _value(text, start, form)
    if form.doubts is None or text.startswith((form.mark, '"', "{", "["), start):
        return value, at
    if _ENDED.match(text, at) and text.count('"', start, at) % 2 == 0:
        return value, at
    stop = _unmarked_end(text, start)
    form.doubts.forgiven.append((key, "a text without marks, up to what follows"))
    return text[start:stop].strip(), stop


def _unmarked_end(text: str, start: int) -> int:
    depth = 0
    for match in _UNMARKED.finditer(text, start):
        if match[0] in "{[":
            depth += 1
        elif match[0] in "}]":
            if depth == 0:
                return match.start()
            depth -= 1
        elif depth == 0 and match[0][0] != '"':
            return match.start()
    raise ValueError(f"the text at character {start} is never over")


def _as_it_stands(text: str, start: int, mark: str) -> tuple[str, int]:
    """A list or an object as its text, up to its own bracket."""
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
    """A key, and where its value begins."""
    if text.startswith(form.mark, at):
        key, at = _marked(text, at, form.mark)
    elif text.startswith('"', at):
        key, at = _quoted(text, at, form)
    else:
        match = _BARE.match(text, at)
        assert match  # it matches the empty text too
        key, at = match[0].strip(), match.end()
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise ValueError(f"expected a colon at character {at}")
    return key, _skip(text, at + 1)


def _after(text: str, at: int, closer: str) -> int:
    at = _skip(text, at)
    if text.startswith(",", at):
        return _skip(text, at + 1)
    if not text.startswith(closer, at):
        raise ValueError(f"expected a comma or {closer} at character {at}")
    return at


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match  # it matches the empty text too
    return match.end()
