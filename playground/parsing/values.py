"""Argument values as text: one rule for writing and one for reading, side by side.

A value is written by its Python type and read by the type that the tool's JSON Schema gives;
`string`, and anything without a schema, stays text as it stands.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from playground.characters import escaped_halves
from playground.json_numbers import NotANumber, finite, load_json
from playground.parsing import relaxed_json
from playground.parsing.python_values import read_literal
from playground.tools import JSON_TYPES, Schema, allowed_types

# what stands around a value and is none of it: white space, a code fence, a comma
_BESIDE: Final = re.compile(r"\A\s*(?:```\w{0,12}\s*)?|(?<![\s`,])(?:\s*,)?(?:\s*```)?\s*\Z")
# a text that never ends goes up to the end, whatever that is: a second look would be as long
_BRACKETS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_CLOSER_OF: Final = {"{": "}", "[": "]"}
_WORDS = {"true": True, "false": False, "none": None, "null": None}


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """How JSON is written; read it is however it stands.

    With an `indent`, a member has a line of its own; every line but the first stands `margin`
    blanks further in, as within a list that is indented. `ascii` escapes all other characters.
    """

    indent: int = 0
    margin: int = 0
    comma: str = ", "
    colon: str = ": "
    ascii: bool = False


PLAIN_JSON: Final = JsonStyle()


def dump_json(value: Any, indent: int | None = None, style: JsonStyle = PLAIN_JSON) -> str:
    """JSON as models write it: readable characters, but half surrogates escaped (no UTF-8)."""
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
    except ValueError:  # a number that JSON has not
        text = json.dumps(finite(value), **form)
    text = escaped_halves(text)
    return text.replace("\n", "\n" + " " * style.margin) if style.margin else text


_ANY: Final = set(JSON_TYPES)
Untyped = Literal["text", "json"]  # how a value is read for which no schema gives a type
Nested = Literal["json", "python"]  # how lists and objects are written where a value is no JSON


@dataclass(frozen=True, slots=True)
class Literals:
    """The words for true, false and null where a value is no JSON, and how lists and objects stand
    there: as JSON, or as Python's `repr` has them."""

    true: str = "true"
    false: str = "false"
    null: str = "null"
    nested: Nested = "json"

    def written(self, value: Any, style: JsonStyle = PLAIN_JSON) -> str:
        """A value that is no text."""
        if value is None:
            return self.null
        if isinstance(value, bool):
            return self.true if value else self.false
        text = dump_json(value, style=style)
        if self.nested == "python" and isinstance(value, Mapping | list | tuple):
            return repr(load_json(text))  # what JSON has no word for is its text there too
        return text

    @property
    def words(self) -> dict[str, bool | None]:
        """What each word stands for."""
        return {self.true: True, self.false: False, self.null: None}


JSON_WORDS: Final = Literals()


def write_value(
    value: Any,
    schema: Schema,
    untyped: Untyped = "text",
    literals: Literals = JSON_WORDS,
    style: JsonStyle = PLAIN_JSON,
) -> str:
    """A parameter's value as text, so that read_value gives it back where that is possible."""
    if not isinstance(value, str):
        return literals.written(value, style)
    types = _types(schema, untyped)
    if types <= {"string"}:
        return value
    return value if _try(value, types, literals) is _NOTHING else dump_json(value)


def read_value(
    text: str, schema: Schema, untyped: Untyped = "text", literals: Literals = JSON_WORDS
) -> tuple[Any, str]:
    """The value that the text stands for, and the code of a finding where it does not agree with
    the schema's type, or only after it was put right."""
    if schema.get("type") == "string":
        return text, ""
    types = _types(schema, untyped)
    if types <= {"string"}:
        return text, ""
    value = _try(text, types, literals)
    if isinstance(value, NotANumber) and "string" in allowed_types(schema):
        return text, ""
    if value is not _NOTHING:
        return value, ""
    if "string" in types:
        return text, ""
    value = _mended(text, types)
    return (text, "type-mismatch") if value is _NOTHING else (value, "relaxed-json")


def _mended(text: str, types: set[str]) -> Any:
    """A list or an object that is not quite JSON, or was escaped once too often; in a code fence,
    or with a comma behind it, any value."""
    bare = _BESIDE.sub("", text)
    value = _try(bare, types) if bare != text else _NOTHING
    if value is not _NOTHING or bare[:1] not in ("[", "{"):
        return value
    whole = _load_mended(bare, types)
    return whole if whole is not _NOTHING else _load_mended(_balanced(bare), types)


def _load_mended(text: str, types: set[str]) -> Any:
    for read in (relaxed_json.load, lambda t: load_json(load_json(f'"{t.strip()}"'))):
        try:
            value = read(text)
        except (ValueError, TypeError, RecursionError):
            continue
        if _agrees(value, types):
            return value
    return _NOTHING


def _balanced(text: str) -> str:
    """Brackets that were never closed are, at the end; those that close nothing there are left
    out."""
    open_now: list[str] = []
    last = len(text.rstrip(" \t\r\n]}"))  # behind it nothing stands but closers
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in _CLOSER_OF:
            open_now.append(_CLOSER_OF[bracket])
        elif len(bracket) == 1 and open_now and open_now[-1] == bracket:
            open_now.pop()
            if not open_now and match.end() >= last:
                return text[: match.end()]
    return text + "".join(reversed(open_now))


def _types(schema: Schema, untyped: Untyped) -> set[str]:
    return allowed_types(schema) or (_ANY if untyped == "json" else set())


def read_marked(
    text: str, is_text: bool, schema: Schema, literals: Literals = JSON_WORDS
) -> tuple[Any, str]:
    """A value whose wire says whether it is text or JSON; a schema's type weighs more.

    JSON that cannot be read stays text.
    """
    types = allowed_types(schema)
    if is_text:
        return (text, "") if not types or "string" in types else read_value(text, schema)
    try:
        value = _load(text, literals)
    except (ValueError, RecursionError):
        if types == {"string"}:
            return text, ""
        value = _mended(text, (types or _ANY) - {"string"})
        return (text, "type-mismatch") if value is _NOTHING else (value, "relaxed-json")
    if types and not _agrees(value, types) and "string" in types:
        return text, ""
    return value, ""


def read_json(text: str, schema: Schema) -> tuple[Any, str]:
    """A value that is always JSON; what is none is read as raw text would be, and told."""
    try:
        return load_json(text), ""
    except (ValueError, RecursionError):
        value, code = read_value(text, schema)
        return value, code or "relaxed-json"


_NOTHING = object()


def _try(text: str, types: set[str], literals: Literals = JSON_WORDS) -> Any:
    try:
        value = _load(text, literals)
    except (ValueError, RecursionError):
        value = _WORDS.get(text.strip().lower(), _NOTHING)
    if value is _NOTHING or not _agrees(value, types):
        return _NOTHING
    return value


def _load(text: str, literals: Literals) -> Any:
    """A value that is no text, as `Literals` writes it or as JSON. Raises ValueError."""
    bare = text.strip()
    if literals is not JSON_WORDS and bare in literals.words:
        return literals.words[bare]
    try:
        return load_json(text)
    except ValueError:
        if literals.nested == "python" and bare[:1] in ("[", "{"):
            return read_literal(bare)
        raise


def _agrees(value: Any, types: set[str]) -> bool:
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
            return True  # quoted by write_value, to tell it from the other types
        case list():
            return "array" in types
        case _:
            return "object" in types


def is_deeper(value: Any, most: int) -> bool:
    """Whether objects and lists stand more than `most` deep within one another; no recursion."""
    level = [value]
    for _ in range(most):
        level = [item for each in level for item in _inside(each)]
        if not level:
            return False
    return any(isinstance(each, Mapping | list | tuple) for each in level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1 is neither true nor 1.0, and NaN is NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)
