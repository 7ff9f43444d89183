"""The arguments of a call as a server gives them: the projection's last step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

from playground.events import CallEndedEvent, FindingEvent
from playground.parsing.values import dump_json, read_value
from playground.servers.stretches import Stretch
from playground.servers.view import View
from playground.tools import Schema, ToolMetadata, allowed_types, json_type

ToolsByName = Mapping[str, ToolMetadata]


def handed_over(
    call: CallEndedEvent, view: View, tools: ToolsByName
) -> tuple[CallEndedEvent, set[str]]:
    """The call with its arguments as the view has them, and the keys of those that are gone."""
    tool = tools.get(call.name)
    if view.unescaped:
        unescaped = {unescape(key): value for key, value in call.arguments.items()}
        call = replace(call, name=unescape(call.name), arguments=unescaped)
    gone = _undeclared(call, tool) if view.undeclared == "dropped" else set[str]()
    if view.values == "texts":
        gone |= {key for key, value in call.arguments.items() if not isinstance(value, str)}
    arguments = {key: value for key, value in call.arguments.items() if key not in gone}
    arguments |= _inner_texts(call.arguments) if view.values == "texts" else {}
    arguments |= _left_as_text(call, arguments, view, tool)
    arguments |= _repeated(call) if view.duplicates == "list" else {}
    changed = {key: _value(key, value, view, tool) for key, value in arguments.items()}
    return replace(call, arguments=changed), gone


def _inner_texts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Texts inside of objects, by their own keys."""
    found: dict[str, str] = {}
    for value in arguments.values():
        inner = value if isinstance(value, dict) else {}
        found |= {key: text for key, text in inner.items() if isinstance(text, str)}
        found |= _inner_texts({key: each for key, each in inner.items() if isinstance(each, dict)})
    return found


def as_far_as_read(stretch: Stretch, tools: ToolsByName, with_open: bool) -> CallEndedEvent:
    """A failed call as one that ended: with the arguments that were read to their ends, or the one
    that was left open too. Where its opener has no body, all that stands behind it is the name."""
    aborted = stretch.aborted
    assert aborted is not None
    name = aborted.name or ""
    if aborted.reason == "unreadable-call":
        rest = (e.text for e in stretch.events if isinstance(e, FindingEvent))
        name = f"{name}{''.join(rest)}".strip()
    tool = tools.get(name)
    left_out = aborted.argument_open and not with_open
    whole = aborted.raw[:-1] if left_out else aborted.raw
    arguments = {
        key: read_value(text, tool.parameter_schema(key) if tool else {})[0]
        for key, text in whole
        if key is not None
    }
    index = aborted.call_index
    return CallEndedEvent(aborted.span, index, f"call_{index + 1}", name, arguments, aborted.raw)


def _undeclared(call: CallEndedEvent, tool: ToolMetadata | None) -> set[str]:
    """Arguments that the tool has not. A tool without any takes them all."""
    declared = set(tool.parameters) if tool else set()
    return set(call.arguments) - declared if declared else set()


def _repeated(call: CallEndedEvent) -> dict[str, Any]:
    """Arguments that were given more than once, with all their texts."""
    texts: dict[str, list[str]] = {}
    for key, text in call.raw:
        if key is not None:
            texts.setdefault(key, []).append(text)
    return {key: found for key, found in texts.items() if len(found) > 1}


def _left_as_text(
    call: CallEndedEvent, arguments: Mapping[str, Any], view: View, tool: ToolMetadata | None
) -> dict[str, str]:
    """The texts of values that the server does not read."""
    texts = {key: text for key, text in call.raw if key is not None}
    return {
        key: texts[key]
        for key, value in arguments.items()
        if key in texts
        and (
            _referred(key, value, view, tool)
            or (view.values == "scalars" and isinstance(value, list | dict))
            or (view.values == "elements" and _is_object(value, texts[key]))
            or (view.exact and not isinstance(value, str) and not _is_json(texts[key]))
        )
    }


def _is_object(value: Any, text: str) -> bool:
    """Whether a list or an object is written as JSON."""
    return isinstance(value, list | dict) and _is_json(text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _referred(key: str, value: Any, view: View, tool: ToolMetadata | None) -> bool:
    """Whether only a reference in the schema gives the value its type."""
    if view.references == "followed" or tool is None:
        return False
    schema = tool.own_schema(key)
    return "$ref" in dump_json(schema) and json_type(value) not in allowed_types(schema)


def _value(key: str, value: Any, view: View, tool: ToolMetadata | None) -> Any:
    schema: Schema = tool.parameter_schema(key) if tool else {}
    if view.nulled and tool and "null" in allowed_types(tool.own_schema(key)):
        return None
    if view.trimmed and key not in view.verbatim:
        value = _trimmed(value)
    match view.values:
        case "typed" | "scalars" | "elements" | "texts":
            return value
        case "text":
            return _texts(value, schema)
        case "guessed":
            return _guessed(value)


def _trimmed(value: Any) -> Any:
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    return value.strip() if isinstance(value, str) else value


def _texts(value: Any, schema: Schema) -> Any:
    """What no schema gives a type, at any depth, as the texts that they are written as."""
    if isinstance(value, dict):
        declared = schema.get("properties")
        inner = declared if isinstance(declared, dict) else {}
        return {key: _texts(item, _as_schema(inner.get(key))) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts(item, _as_schema(schema.get("items"))) for item in value]
    return value if isinstance(value, str) or allowed_types(schema) else dump_json(value)


def _as_schema(value: Any) -> Schema:
    return value if isinstance(value, dict) else {}


def _guessed(value: Any) -> Any:
    """A text that is JSON, as what it stands for."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value
