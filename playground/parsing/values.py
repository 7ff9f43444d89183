"""Argument values as text: one rule for writing and one for reading, side by side.

A value is written by its Python type and read by the type that the tool's JSON Schema gives;
`string`, and anything without a schema, stays text as it stands.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from typing import Any

from playground.tools import Schema, allowed_types

_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def dump_json(value: Any, indent: int | None = None) -> str:
    """JSON as models write it: readable characters, but half surrogates escaped (no UTF-8)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def load_json(text: str) -> Any:
    """Read JSON, line breaks inside strings allowed. Raises ValueError or RecursionError."""
    return json.loads(text, strict=False)


def write_value(value: Any, schema: Schema) -> str:
    """A parameter's value as text, so that read_value gives it back where that is possible."""
    if not isinstance(value, str):
        return dump_json(value)
    types = allowed_types(schema)
    if types <= {"string"}:
        return value
    return value if _try(value, types) is _NOTHING else dump_json(value)


def read_value(text: str, schema: Schema) -> tuple[Any, bool]:
    """The value that the text stands for, and whether it agrees with the schema's type."""
    types = allowed_types(schema)
    if types <= {"string"}:
        return text, True
    value = _try(text, types)
    return (text, "string" in types) if value is _NOTHING else (value, True)


def read_marked(text: str, is_text: bool) -> tuple[Any, bool]:
    """A value whose wire says whether it is text or JSON; JSON that cannot be read stays text."""
    if is_text:
        return text, True
    try:
        return load_json(text), True
    except (ValueError, RecursionError):
        return text, False


_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_CONSTANTS = {"true": True, "false": False, "null": None}


def read_keywords(text: str) -> dict[str, Any]:
    """Python keyword arguments as a dict; JSON's true, false and null are understood too.

    Nothing is evaluated but literals. Raises ValueError or RecursionError.
    """
    try:
        with warnings.catch_warnings():  # a model's "\\d" is no concern of the user's terminal
            warnings.simplefilter("ignore")
            call = ast.parse(f"f({text}\n)", mode="eval").body
    except (SyntaxError, MemoryError) as error:
        whole = _STRING.sub(lambda match: match[0].replace("\n", "\\n"), text)
        if whole == text:
            raise ValueError(str(error)) from error
        return read_keywords(whole)  # line breaks inside quotes: models write them as they are
    if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
        raise ValueError("keyword arguments are due")
    literals = {_keyword(k): ast.literal_eval(_Constants().visit(k.value)) for k in call.keywords}
    return {key: _json_value(value) for key, value in literals.items()}


def _json_value(value: Any) -> Any:
    """A literal as a JSON value: tuples are lists; sets, bytes and the like are no arguments."""
    match value:
        case list() | tuple():
            return [_json_value(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _json_value(item) for key, item in value.items()}
        case None | bool() | int() | float() | str():
            return value
    raise ValueError(f"{value!r:.40} is no JSON value")


def _keyword(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise ValueError("** is no argument")
    return keyword.arg


class _Constants(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(_CONSTANTS[node.id]) if node.id in _CONSTANTS else node


_NOTHING = object()


def _try(text: str, types: set[str]) -> Any:
    try:
        value = load_json(text)
    except (ValueError, RecursionError):
        word = text.strip().lower()
        value = _WORDS.get(word, _NOTHING)
    if value is _NOTHING or not _agrees(value, types):
        return _NOTHING
    return value


def _agrees(value: Any, types: set[str]) -> bool:
    match value:
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
