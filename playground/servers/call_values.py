"""The last step of a projection: the arguments of a call as a server delivers them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any, Final

from playground.nouns.events import CallEndedEvent, FindingEvent
from playground.nouns.tools import Schema, ToolMetadata, allowed_types, json_type
from playground.parsing.values import dump_json, read_value
from playground.servers.segments import ReplySegment
from playground.servers.view import View

ToolsByName = Mapping[str, ToolMetadata]
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


def delivered_call(
    call: CallEndedEvent, view: View, tools: ToolsByName
) -> tuple[CallEndedEvent, set[str]]:
    """Return the call with the arguments that the server delivers, and the keys of the arguments
    that it leaves out."""
    tool = tools.get(call.name)
    if view.names_unescaped:
        unescaped = {unescape(key): value for key, value in call.arguments.items()}
        call = replace(call, name=unescape(call.name), arguments=unescaped)
    texts_only = view.value_types == "texts only"
    dropped_keys = (
        _undeclared_keys(call, tool) if view.undeclared_arguments == "dropped" else set[str]()
    )
    if texts_only:
        dropped_keys |= {key for key, value in call.arguments.items() if not isinstance(value, str)}
    arguments = {key: value for key, value in call.arguments.items() if key not in dropped_keys}
    arguments |= _inner_texts(call.arguments) if texts_only else {}
    arguments |= _values_left_as_text(call, arguments, view, tool)
    arguments |= _repeated_arguments(call) if view.repeated_arguments == "list" else {}
    changed = {key: _deliver_value(key, value, view, tool) for key, value in arguments.items()}
    return replace(call, arguments=changed), dropped_keys


def complete_call(segment: ReplySegment, tools: ToolsByName, with_open: bool) -> CallEndedEvent:
    """Turn a failed call into a complete one, with the arguments that were read. `with_open`
    includes the last argument even if it has no closer. If the call's opener has no body, all the
    text after the opener is the name."""
    aborted = segment.aborted
    assert aborted is not None
    name = aborted.name or ""
    if aborted.reason == "unreadable-call":
        rest = (e.text for e in segment.events if isinstance(e, FindingEvent))
        name = f"{name}{''.join(rest)}".strip()
    tool = tools.get(name)
    leaves_out_last = aborted.argument_open and not with_open
    raw = aborted.raw[:-1] if leaves_out_last else aborted.raw
    arguments = {
        key: read_value(text, tool.parameter_schema(key) if tool else {})[0]
        for key, text in raw
        if key is not None
    }
    index = aborted.call_index
    return CallEndedEvent(aborted.span, index, f"call_{index + 1}", name, arguments, aborted.raw)


def _inner_texts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts in nested objects, at any depth, each by its innermost key."""
    texts: dict[str, str] = {}
    for value in arguments.values():
        inner = value if isinstance(value, dict) else {}
        texts |= {key: text for key, text in inner.items() if isinstance(text, str)}
        texts |= _inner_texts({key: item for key, item in inner.items() if isinstance(item, dict)})
    return texts


def _undeclared_keys(call: CallEndedEvent, tool: ToolMetadata | None) -> set[str]:
    """Return the arguments that the tool does not declare. If it declares none, all are allowed."""
    declared = set(tool.parameters) if tool else set()
    return set(call.arguments) - declared if declared else set()


def _repeated_arguments(call: CallEndedEvent) -> dict[str, Any]:
    """Return, for each argument that the call has more than once, the list of its texts."""
    texts: dict[str, list[str]] = {}
    for key, text in call.raw:
        if key is not None:
            texts.setdefault(key, []).append(text)
    return {key: values for key, values in texts.items() if len(values) > 1}


def _values_left_as_text(
    call: CallEndedEvent, arguments: Mapping[str, Any], view: View, tool: ToolMetadata | None
) -> dict[str, str]:
    """Return, by key, the source texts of the values that the server delivers as text."""
    texts = {key: text for key, text in call.raw if key is not None}
    return {
        key: texts[key]
        for key, value in arguments.items()
        if key in texts and _stays_text(key, value, texts[key], view, tool)
    }


def _stays_text(key: str, value: Any, text: str, view: View, tool: ToolMetadata | None) -> bool:
    """Return True if the server delivers a value as text, as the model wrote it."""
    is_nested = isinstance(value, list | dict)
    return (
        _has_referred_type(key, value, view, tool)
        or (view.value_types == "scalars" and is_nested)
        or (view.value_types == "scalars and marked" and is_nested and _is_json(text))
        or (view.mended_json_as_text and not isinstance(value, str) and not _is_json(text))
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _has_referred_type(key: str, value: Any, view: View, tool: ToolMetadata | None) -> bool:
    """Return True if the schema gives the value's type by a `$ref`, which the server ignores."""
    if view.schema_references == "followed" or tool is None:
        return False
    schema = tool.own_schema(key)
    return "$ref" in dump_json(schema) and json_type(value) not in allowed_types(schema)


def _deliver_value(key: str, value: Any, view: View, tool: ToolMetadata | None) -> Any:
    schema: Schema = tool.parameter_schema(key) if tool else {}
    if view.booleans_in_any_case and isinstance(value, str) and _takes_booleans(schema):
        value = _BOOLEANS.get(value.strip().lower(), value)
    if view.nullable_as_null and tool and "null" in allowed_types(tool.own_schema(key)):
        return None
    if view.values_trimmed and key not in view.never_trimmed:
        value = _trim(value)
    match view.value_types:
        case "all" | "scalars" | "scalars and marked" | "texts only":
            return value
        case "declared":
            return _undeclared_as_text(value, schema)
        case "guessed":
            return _read_if_json(value)


def _takes_booleans(schema: Schema) -> bool:
    """Return True if the schema allows booleans, and neither numbers nor integers."""
    types = allowed_types(schema)
    return "boolean" in types and not types & {"integer", "number"}


def _trim(value: Any) -> Any:
    if isinstance(value, list):
        return [_trim(item) for item in value]
    return value.strip() if isinstance(value, str) else value


def _undeclared_as_text(value: Any, schema: Schema) -> Any:
    """Replace values without a type in their schema by the text of their JSON, at any depth."""
    if isinstance(value, dict):
        declared = schema.get("properties")
        inner = declared if isinstance(declared, dict) else {}
        return {
            key: _undeclared_as_text(item, _as_schema(inner.get(key)))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_undeclared_as_text(item, _as_schema(schema.get("items"))) for item in value]
    return value if isinstance(value, str) or allowed_types(schema) else dump_json(value)


def _as_schema(value: Any) -> Schema:
    return value if isinstance(value, dict) else {}


def _read_if_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value
