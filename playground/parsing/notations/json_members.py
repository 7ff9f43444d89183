"""The members of a call's JSON object by `JsonShape`: as a value, and as a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from playground.parsing.declaration import JsonShape
from playground.parsing.patterns import SPACE
from playground.parsing.values import dump_json


def call_object(
    shape: JsonShape, name: str, arguments: Mapping[str, Any], call_id: str
) -> dict[str, Any]:
    """The JSON object of a call, its keys in the order in which the shape declares them."""
    if shape.name_is_key:
        return {name: dict(arguments)}
    result: dict[str, Any] = {shape.id: call_id} if shape.id else {}
    result |= dict(shape.constants)
    given: Any = dump_json(arguments) if shape.arguments_as_text else dict(arguments)
    if shape.text_key and list(arguments) == [shape.text_key]:
        given = arguments[shape.text_key]
    for path, value in ((shape.name, name), (shape.arguments, given)):
        node = result
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    return {key: result[key] for key in _order(shape, result)}


def _order(shape: JsonShape, keys: Iterable[str]) -> list[str]:
    """The keys of a call's object as they are written."""
    first = [key for key in shape.order if key in keys]
    return [*first, *(key for key in keys if key not in first)]


def head(shape: JsonShape) -> str:
    """The head of a JSON call that no marker announces: its keys in the declared order, up to the
    arguments and the name."""

    def key(*names: str) -> str:
        listed = "|".join(re.escape(name) for name in names)
        return rf"""["'](?:{listed})["']{SPACE}:{SPACE}"""

    if shape.name_is_key:
        return rf'\{{{SPACE}"[^"\\]{{1,128}}+"{SPACE}:{SPACE}\{{'
    comma = rf"{SPACE},{SPACE}"
    steps = "".join(rf"{key(step)}\{{{SPACE}" for step in shape.name[:-1])
    members = {shape.id: rf"(?:{key(shape.id)}{_text(0)}{comma})?"} if shape.id else {}
    members |= {k: rf'(?:{key(k)}["\']{re.escape(v)}["\']{comma})?' for k, v in shape.constants}
    members[shape.name[0]] = rf"{steps}{key(*_names(shape))}{_text(1)}{comma}"
    members.setdefault(shape.arguments[0], "")
    keys = _order(shape, members)
    if keys.index(shape.arguments[0]) < keys.index(shape.name[0]):
        keys.remove(shape.name[0])  # behind the arguments, which may be long
    keys = keys[: keys.index(shape.arguments[0]) + 1]
    parts = "".join(members[key] for key in keys) + key(*shape.aliases)
    if shape.thought:
        return rf"\{{{SPACE}(?:{key(shape.thought)}|{parts})"
    return rf"\{{{SPACE}{parts}"


def _text(least: int) -> str:
    """A text in either quotes, of which a backslash may escape one."""
    return rf"""(?:"(?:[^"\\]|\\.){{{least},128}}+"|'(?:[^'\\]|\\.){{{least},128}}+')"""


def _names(shape: JsonShape) -> tuple[str, ...]:
    """The keys of the name: a call that stands alone is OpenAI's `function`, too."""
    return (shape.name[-1], "function") if shape.name == ("name",) else shape.name[-1:]
