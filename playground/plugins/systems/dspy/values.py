"""The types and values of fields as text in a prompt, word for word as DSPy writes them (3.4.1)."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from playground.plugins.systems.dspy import parts
from playground.plugins.systems.dspy.types import is_field_type, kind_of


def type_name(annotation: Any) -> str:
    """Return a type's name in prompts, as `list[str]`, `Union[str, NoneType]`, `Literal['a']`."""
    origin, args = get_origin(annotation), get_args(annotation)
    origin = Union if origin is types.UnionType else origin
    if origin is None:
        own_name = "str" if kind_of(annotation) == "Reasoning" else ""
        return own_name or str(getattr(annotation, "__name__", annotation))
    name = type_name if origin is not Literal else _literal_name
    return f"{type_name(origin)}[{', '.join(name(arg) for arg in args)}]"


def _literal_name(value: Any) -> str:
    if not isinstance(value, str):
        return type_name(value)
    if "'" in value and '"' in value:
        escaped = value.replace("'", "\\'")
        return f"'{escaped}'"
    return f'"{value}"' if "'" in value else f"'{value}'"


def described_types(annotation: Any) -> list[Any]:
    """Return the field types within an annotation that have a description for the prompt."""
    if is_field_type(annotation):
        return [annotation] if annotation.description() else []
    return [found for arg in get_args(annotation) for found in described_types(arg)]


def allows_none(annotation: Any) -> bool:
    """Return True if None is a value of the type."""
    if annotation is None or annotation is type(None):
        return True
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return allows_none(args[0])
    return origin in (Union, types.UnionType) and any(map(allows_none, args))


def schema_of(annotation: Any) -> str:
    """Return a type's JSON Schema in one line, `type` first, then the other keys sorted."""
    return json.dumps(_sorted(TypeAdapter(annotation).json_schema()), ensure_ascii=False)


def type_note(annotation: Any) -> str:
    """Return the prompt's note on an output's type; "" for text, reasoning and code."""
    if annotation is str or kind_of(annotation) in ("Reasoning", "Code"):
        return ""
    if annotation is bool:
        text = "must be True or False"
    elif annotation in (int, float):
        text = f"must be a single {annotation.__name__} value"
    elif inspect.isclass(annotation) and issubclass(annotation, Enum):
        text = f"must be one of: {'; '.join(str(member.value) for member in annotation)}"
    elif get_origin(annotation) is Literal:
        listed = "; ".join(str(arg) for arg in get_args(annotation))
        text = f"must exactly match (no extra characters) one of: {listed}"
    else:
        text = f"must adhere to the JSON schema: {schema_of(annotation)}"
    return f"        # note: the value you produce {text}"


def prompt_text(value: Any, annotation: Any = None) -> str:
    """Return a value as text in a prompt: text unchanged, lists and objects as JSON, None as
    "None". Items of a list in a text field are in guillemets, and numbered if there are several; an
    empty list is "N/A". Images and other content parts are embedded in the text (`parts.py`).
    """
    if isinstance(value, list) and annotation is str:
        return _numbered(value)
    plain = as_json(value)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict) else str(plain)


def _numbered(values: list[Any]) -> str:
    items = [_quoted(str(as_json(value))) for value in values]
    if len(items) < 2:
        return items[0] if items else "N/A"
    return "\n".join(f"[{number}] {item}" for number, item in enumerate(items, 1))


def _quoted(text: str) -> str:
    if not set("\n«»") & set(text):
        return f"«{text}»"
    indented = text.replace("\n", "\n    ")
    return f"«««\n    {indented}\n»»»"


def as_json(value: Any) -> Any:
    """Return a value as JSON values: field types by their own `format`, others by pydantic's
    rules."""
    if is_field_type(type(value)):
        return parts.embed(_own_form(value))
    match value:
        case None | bool() | int() | float() if not isinstance(value, Enum):
            return value
        case str() if not isinstance(value, Enum):
            return parts.escape(str(value))
        case Mapping():
            return {_key(key): as_json(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset() if not hasattr(value, "_fields"):
            return [as_json(item) for item in value]
    dumped = _dumped(value)
    return _convert_dspy(dumped) if isinstance(value, BaseModel) else dumped


def _own_form(value: Any) -> Any:
    """Return the result of a field type's `format`. For DSPy's ToolCalls, add the results of the
    calls, if any."""
    results = getattr(value, "tool_call_results", None)
    shown = value.format()
    return shown if results is None else {**shown, "tool_call_results": as_json(results)}


def _key(key: Any) -> str:
    if isinstance(key, str) and not isinstance(key, Enum):
        return parts.escape(key)
    return str(next(iter(_dumped({key: None}))))


def _dumped(value: Any) -> Any:
    """Return pydantic's dump of a value, or its text if pydantic cannot write it."""
    with suppress(Exception):  # pydantic's errors, and those of the value's own code
        return TypeAdapter(type(value)).dump_python(value, mode="json", fallback=str)
    return str(value)


def _convert_dspy(value: Any) -> Any:
    match value:
        case str():
            return parts.convert_dspy(value)
        case list():
            return [_convert_dspy(item) for item in value]
        case dict():
            return {key: _convert_dspy(item) for key, item in value.items()}
    return value


def _sorted(node: Any) -> Any:
    if isinstance(node, dict):
        keys = sorted(node, key=lambda key: (key != "type", key))
        return {key: _sorted(node[key]) for key in keys}
    return [_sorted(item) for item in node] if isinstance(node, list) else node
