"""Argument values as text: one rule for writing, and one for reading.

A value is written by its Python type and read by the type in the tool's JSON Schema. Type `string`,
or no schema, means that the text itself is the value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import regex

from playground.base.characters import escaped_halves
from playground.base.json_numbers import NotANumber, finite, load_json
from playground.nouns.tools import JSON_TYPES, Schema, allowed_types
from playground.parsing import relaxed_json
from playground.parsing.python_values import read_literal

# what may surround a value without belonging to it: white space, a code fence, a comma
_SURROUNDINGS: Final = re.compile(r"\A\s*(?:```\w{0,12}\s*)?|(?<![\s`,])(?:\s*,)?(?:\s*```)?\s*\Z")
# an open string is matched to the text's end, because a search inside takes quadratic time
_BRACKETS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_CLOSER_OF: Final = {"{": "}", "[": "]"}
_WORDS = {"true": True, "false": False, "none": None, "null": None}


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """The style in which JSON is written. Any style is read.

    With an `indent` each member has a line of its own. All lines but the first are indented by
    `margin` more blanks, as in an indented list. `ascii` escapes all characters beyond ASCII.
    """

    indent: int = 0
    margin: int = 0
    comma: str = ", "
    colon: str = ": "
    ascii: bool = False


PLAIN_JSON: Final = JsonStyle()


def dump_json(value: Any, indent: int | None = None, style: JsonStyle = PLAIN_JSON) -> str:
    """Write JSON as models do: readable characters, but half surrogates escaped, because UTF-8
    cannot hold them. `indent`, if given, replaces the indent of `style`."""
    indent = indent or style.indent or None
    comma = style.comma.rstrip() if indent else style.comma
    form: dict[str, Any] = {
        "ensure_ascii": style.ascii,
        "indent": indent,
        "separators": (comma, style.colon),
        "default": str,
    }
    try:
        text = json.dumps(value, allow_nan=False, **form)
    except ValueError:  # such as NaN, which JSON does not have
        text = json.dumps(finite(value), **form)
    text = escaped_halves(text)
    return text.replace("\n", "\n" + " " * style.margin) if style.margin else text


_ANY: Final = set(JSON_TYPES)
Untyped = Literal["text", "json"]  # how a value without a type in its schema is read
Nested = Literal["json", "python"]  # how lists and objects are written in values that are not JSON


@dataclass(frozen=True, slots=True)
class Literals:
    """The words for true, false and null among values that are not JSON, and the form of lists and
    objects: JSON, or Python's `repr`."""

    true: str = "true"
    false: str = "false"
    null: str = "null"
    nested: Nested = "json"

    def written(self, value: Any, style: JsonStyle = PLAIN_JSON) -> str:
        """Write a value other than a text."""
        if value is None:
            return self.null
        if isinstance(value, bool):
            return self.true if value else self.false
        text = dump_json(value, style=style)
        if self.nested == "python" and isinstance(value, Mapping | list | tuple):
            return repr(load_json(text))  # a value that JSON does not have becomes text
        return text

    @property
    def words(self) -> dict[str, bool | None]:
        return {self.true: True, self.false: False, self.null: None}


JSON_WORDS: Final = Literals()


def write_value(
    value: Any,
    schema: Schema,
    untyped: Untyped = "text",
    literals: Literals = JSON_WORDS,
    style: JsonStyle = PLAIN_JSON,
) -> str:
    """Write a parameter's value as text that `read_value` reads back, if possible."""
    if not isinstance(value, str):
        return literals.written(value, style)
    types = _types(schema, untyped)
    if types <= {"string"}:
        return value
    return value if _read_if_allowed(value, types, literals) is _NOTHING else dump_json(value)


def read_value(
    text: str, schema: Schema, untyped: Untyped = "text", literals: Literals = JSON_WORDS
) -> tuple[Any, str]:
    """Return the value of a text, and the code of a finding if it had to be corrected, "" if not.
    A text that cannot be read by the schema's type stays a text."""
    if schema.get("type") == "string":
        return text, ""
    types = _types(schema, untyped)
    if types <= {"string"}:
        return text, ""
    value = _read_if_allowed(text, types, literals)
    if isinstance(value, NotANumber) and "string" in allowed_types(schema):
        return text, ""
    if value is not _NOTHING:
        return value, _relaxed_code(text, value, literals)
    if "string" in types:
        return text, ""
    value = _read_mended(text, types)
    return (text, "") if value is _NOTHING else (value, "relaxed-json")


def _read_mended(text: str, types: set[str]) -> Any:
    """Return a list or an object from incorrect JSON, or from JSON that was escaped once too often.
    A code fence and a comma around any value are removed."""
    bare = _SURROUNDINGS.sub("", text)
    value = _read_if_allowed(bare, types) if bare != text else _NOTHING
    if value is not _NOTHING or bare[:1] not in ("[", "{"):
        return value
    value = _load_mended(bare, types)
    return value if value is not _NOTHING else _load_mended(_balance(bare), types)


def _load_mended(text: str, types: set[str]) -> Any:
    for reader in (relaxed_json.load, lambda t: load_json(load_json(f'"{t.strip()}"'))):
        try:
            value = reader(text)
        except (ValueError, TypeError, RecursionError):
            continue
        if agrees(value, types):
            return value
    return _NOTHING


def _balance(text: str) -> str:
    """Return the text with its open brackets closed, and without surplus closers at its end."""
    closers: list[str] = []
    last = len(text.rstrip(" \t\r\n]}"))  # nothing but closers follows it
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in _CLOSER_OF:
            closers.append(_CLOSER_OF[bracket])
        elif len(bracket) == 1 and closers and closers[-1] == bracket:
            closers.pop()
            if not closers and match.end() >= last:
                return text[: match.end()]
    return text + "".join(reversed(closers))


def _types(schema: Schema, untyped: Untyped) -> set[str]:
    return allowed_types(schema) or (_ANY if untyped == "json" else set())


def read_marked(
    text: str, is_text: bool, schema: Schema, literals: Literals = JSON_WORDS
) -> tuple[Any, str]:
    """Read a value whose markup says if it is text or JSON. A type in the schema takes precedence.

    JSON that cannot be read, even mended, stays text.
    """
    types = allowed_types(schema)
    if is_text:
        return (text, "") if not types or "string" in types else read_value(text, schema)
    try:
        value = _load(text, literals)
    except (ValueError, RecursionError):
        if types == {"string"}:
            return text, ""
        value = _read_mended(text, (types or _ANY) - {"string"})
        return (text, "") if value is _NOTHING else (value, "relaxed-json")
    if types and not agrees(value, types) and "string" in types:
        return text, ""
    return value, _relaxed_code(text, value, literals)


def read_json(text: str, schema: Schema) -> tuple[Any, str]:
    """Read a value that must be JSON. Read other text as a raw value, with a finding."""
    try:
        value = load_json(text)
    except (ValueError, RecursionError):
        value, code = read_value(text, schema)
        return value, code or "relaxed-json"
    return value, _relaxed_code(text, value, JSON_WORDS)


def _relaxed_code(text: str, value: Any, literals: Literals) -> str:
    is_json = literals.nested != "python" and isinstance(value, str | list | dict)
    return "relaxed-json" if is_json and has_raw_breaks(text) else ""


def has_raw_breaks(text: str) -> bool:
    """Return True if JSON that was read has a raw line break or tab in a string, which strict
    parsers refuse."""
    return bool(_CONTROL.search(text)) and not _UNBROKEN.fullmatch(text)


_NOTHING = object()
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
# a JSON text without raw breaks in its strings; `re` would need memory for each repetition
_UNBROKEN: Final = regex.compile(r'(?:[^"]++|"(?:[^"\\\x00-\x1f]++|\\.)*+")*+', regex.DOTALL)


def _read_if_allowed(text: str, types: set[str], literals: Literals = JSON_WORDS) -> Any:
    try:
        value = _load(text, literals)
    except (ValueError, RecursionError):
        value = _WORDS.get(text.strip().lower(), _NOTHING)
    return _NOTHING if value is _NOTHING or not agrees(value, types) else value


def _load(text: str, literals: Literals) -> Any:
    """Read a value other than a text, written by `Literals` or as JSON. Raises ValueError."""
    bare = text.strip()
    if literals is not JSON_WORDS and bare in literals.words:
        return literals.words[bare]
    try:
        return load_json(text)
    except ValueError:
        if literals.nested == "python" and bare[:1] in ("[", "{"):
            return read_literal(bare)
        raise


def agrees(value: Any, types: set[str]) -> bool:
    """Return True if a value that was read is a text, or has one of these types."""
    match value:
        case NotANumber():
            return bool(types & {"integer", "number"})
        case bool():
            return "boolean" in types
        case None:
            return "null" in types
        case int():
            return bool(types & {"integer", "number"})
        case float():
            return "number" in types or ("integer" in types and value.is_integer())
        case str():
            return True  # quoted by write_value, to distinguish it from the other types
        case list():
            return "array" in types
        case _:
            return "object" in types


def is_deeper(value: Any, most: int) -> bool:
    """Return True if objects and lists are nested more than `most` deep. It does not recurse."""
    level = [value]
    for _ in range(most):
        level = [item for each in level for item in _inner_values(each)]
        if not level:
            return False
    return any(isinstance(each, Mapping | list | tuple) for each in level)


def _inner_values(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def same(left: Any, right: Any) -> bool:
    """Return True if JSON values are equal, keys in order: 1 is not true or 1.0, NaN is NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)


def is_json(text: str) -> bool:
    """Return True if a text is one JSON value."""
    try:
        load_json(text)
    except (ValueError, RecursionError):
        return False
    return True
