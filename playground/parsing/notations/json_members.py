"""Write, read and match the members of a call's JSON object, as its `JsonShape` declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from playground.parsing.declaration import JsonShape
from playground.parsing.patterns import SPACE
from playground.parsing.values import dump_json

ENVELOPE: Final = ("id", "call_id", "tool_call_id", "type", "index")
"""Members that APIs put around every call."""
_COMMA: Final = rf"{SPACE},{SPACE}"


def call_object(
    shape: JsonShape, name: str, arguments: Mapping[str, Any], call_id: str
) -> dict[str, Any]:
    """Return the JSON object of a call, its keys in the order that the shape declares."""
    if shape.name_is_key:
        return {name: dict(arguments)}
    result: dict[str, Any] = {shape.id: call_id} if shape.id else {}
    result |= dict(shape.constants)
    argument_value: Any = dump_json(arguments) if shape.arguments_as_text else dict(arguments)
    if shape.text_key and list(arguments) == [shape.text_key]:
        argument_value = arguments[shape.text_key]
    for path, value in ((shape.name, name), (shape.arguments, argument_value)):
        node = result
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    return {key: result[key] for key in key_order(shape, result)}


def key_order(shape: JsonShape, keys: Iterable[str]) -> list[str]:
    """Return the keys of a call's object in the order in which they are written."""
    first = [key for key in shape.order if key in keys]
    return [*first, *(key for key in keys if key not in first)]


def members_of(value: Any, shape: JsonShape) -> tuple[Any, Any]:
    """Return name and arguments from the members of an object."""
    if shape.name_is_key:
        return next(iter(value.items()), ("", {})) if isinstance(value, dict) else (None, {})
    holder = _at(value, shape.arguments[:-1])
    keys = (shape.arguments[-1], *shape.aliases)
    candidates = [holder[key] for key in keys if isinstance(holder, dict) and key in holder]
    return _at(value, shape.name), candidates[0] if candidates else {}


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def head(shape: JsonShape) -> str:
    """Build a pattern for the head of a JSON call that no marker announces: its keys in the
    declared order, up to the key of the arguments. An id, constants, and a name that comes later
    may be missing. A thought's key or OpenAI's object `function` also begins a call."""
    if shape.name_is_key:
        return rf'\{{{SPACE}"[^"\\]{{1,128}}+"{SPACE}:{SPACE}\{{'
    steps = "".join(rf"{_key(step)}\{{{SPACE}" for step in shape.name[:-1])
    members = {shape.id: rf"(?:{_key(shape.id)}{_text(0)}{_COMMA})?"} if shape.id else {}
    members |= {k: rf'(?:{_key(k)}["\']{re.escape(v)}["\']{_COMMA})?' for k, v in shape.constants}
    members[shape.name[0]] = rf"{steps}{_key(*_name_keys(shape))}{_text(1)}{_COMMA}"
    members.setdefault(shape.arguments[0], "")
    keys = key_order(shape, members)
    if keys.index(shape.arguments[0]) < keys.index(shape.name[0]):
        keys.remove(shape.name[0])  # it comes after the arguments, which may be long
    keys = keys[: keys.index(shape.arguments[0]) + 1]
    heads = ["".join(members[key] for key in keys) + _key(*shape.aliases)]
    if shape.thought:
        heads.insert(0, _key(shape.thought))
    if shape.name == ("name",):
        heads.append(_in_function(shape))
    return rf"\{{{SPACE}(?:{'|'.join(heads)})"


def first_member(shape: JsonShape, names: Iterable[str]) -> str:
    """Build a pattern for an object up to its first member: one of `names`, one of the shape's, or
    any member that holds an object.

    A key is in double or single quotes, perhaps escaped ones; a known key may have none. The brace
    may be doubled. For a shape whose key is the tool's name, return the pattern of `head`.
    """
    if shape.name_is_key:
        return head(shape)
    shape_keys = (shape.name[0], shape.arguments[0], *shape.aliases, shape.id, shape.thought)
    keys = (*shape_keys, *(key for key, _ in shape.constants), *names)
    listed = "|".join(re.escape(key) for key in dict.fromkeys(keys) if key)
    colon, quote = rf"{SPACE}:", r"""\\?["']"""
    known_key = rf"(?:{quote}(?:{listed}){quote}|(?:{listed})){colon}"
    other_key = rf"{quote}[^\"'\\\n]{{1,128}}+{quote}{colon}{SPACE}\{{"
    return rf"\{{{SPACE}\{{?{SPACE}(?:{known_key}|{other_key})"


def _in_function(shape: JsonShape) -> str:
    """Build a pattern for the head of a call in OpenAI's form, inside an object `function`."""
    envelope = rf"(?:{_key('id', 'type')}{_text(0)}{_COMMA}){{0,2}}+"
    inner = rf"{_key('name')}{_text(1)}{_COMMA}{_key(*shape.aliases)}"
    return rf"{envelope}{_key('function')}\{{{SPACE}{inner}"


def _key(*names: str) -> str:
    """Build a pattern for a member's key, one of these names in single or double quotes, and its
    colon."""
    listed = "|".join(re.escape(name) for name in names)
    return rf"""["'](?:{listed})["']{SPACE}:{SPACE}"""


def _text(least: int) -> str:
    """Build a pattern for a text of `least` to 128 characters in quotes, with backslash escapes."""
    return rf"""(?:"(?:[^"\\]|\\.){{{least},128}}+"|'(?:[^'\\]|\\.){{{least},128}}+')"""


def _name_keys(shape: JsonShape) -> tuple[str, ...]:
    """Return the keys under which a tool's name may be: `function` may replace `name`."""
    return (shape.name[-1], "function") if shape.name == ("name",) else shape.name[-1:]
