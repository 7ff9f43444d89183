"""Find the bodies of calls, and their notation, in the text that a template wrote."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from playground.parsing.syntax import JsonShape
from playground.plugins.own_dialects.asking import AskedCall

_DECODER: Final = json.JSONDecoder(strict=False)
_NUMBERS: Final[dict[str, Literal["index", "number"]]] = {"0": "index", "1": "number"}


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a call: `region[start:stop]`. `hole` is its notation, such as `args:json`."""

    hole: str
    start: int
    stop: int
    shape: JsonShape = field(default_factory=JsonShape)
    string_mark: str = ""


def bodies_of(region: str, calls: Sequence[AskedCall], ids: Sequence[str]) -> list[Body]:
    """Return the body of each call in a text that a template wrote (`region`), in order; [] if a
    call's body is not found. `ids` are the calls' ids.

    The body of a call with parameters begins at the first key and ends after the last value.
    """
    for find in (_json, _python, _marked, _params):
        bodies = list(_bodies(find, region, calls, ids))
        if len(bodies) == len(calls):
            return bodies
    return []


def _bodies(
    find: Any, region: str, calls: Sequence[AskedCall], ids: Sequence[str]
) -> Iterator[Body]:
    position = 0
    for index, call in enumerate(calls):
        others = [other for other in calls if other is not call]
        body = find(region, position, call, ids[index], others)
        if body is None:
            return
        position = body.stop
        yield body


def _json(
    region: str, position: int, call: AskedCall, call_id: str, others: Sequence[AskedCall]
) -> Body | None:
    """Return the first JSON object with this call's arguments and no other call's. None if there
    is none, or if it cannot be a body."""
    for match in re.compile(r"\{").finditer(region, position):
        try:
            value, stop = _DECODER.raw_decode(region, match.start())
        except ValueError:
            continue
        text = region[match.start() : stop]
        if any(_arguments_path(value, other_call.arguments) is not None for other_call in others):
            continue
        path = _arguments_path(value, call.arguments)
        if path is None:
            continue
        if not path:
            return Body("args:json", match.start(), stop)
        shape = _shape(value, call, call_id, path)
        if shape is not None:
            return Body("call:json", match.start(), stop, shape)
        if call.name not in text:
            return None  # an object with arguments and without a name fits no notation
    return None


def _arguments_path(value: Any, arguments: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the path to the arguments within a value; they may be an object, or JSON in a string.
    Return () if the value itself is the arguments, and None if they are not in it."""
    if value == arguments or _as_object(value) == arguments:
        return ()
    if isinstance(value, dict):
        for key, inner in value.items():
            path = _arguments_path(inner, arguments)
            if path is not None:
                return (key, *path)
    return None


def _as_object(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("{"):
        return None
    try:
        return json.loads(value)
    except ValueError:
        return None


def _shape(
    value: Mapping[str, Any], call: AskedCall, call_id: str, path: tuple[str, ...]
) -> JsonShape | None:
    if path == (call.name,):
        return JsonShape(name_is_key=True)
    name = _path_to(value, call.name)
    if not name:
        return None
    texts = {k: v for k, v in value.items() if isinstance(v, str) and (k,) not in (name, path)}
    ids = [key for key, text in texts.items() if text == call_id or "id" in key.split("_")]
    constants = tuple((key, text) for key, text in texts.items() if key not in ids)
    arguments: Any = value
    for key in path:
        arguments = arguments[key]
    default_order = dict.fromkeys((*ids[:1], *dict(constants), name[0], path[0]))
    return JsonShape(
        name=name,
        arguments=path,
        aliases=tuple(dict.fromkeys((path[-1], *JsonShape().aliases))),
        constants=constants,
        id=ids[0] if ids else "",
        arguments_as_text=isinstance(arguments, str),
        order=tuple(value) if list(value) != list(default_order) else (),
        id_is=_NUMBERS.get(value[ids[0]], "id") if ids else "id",
    )


def _path_to(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, dict):
        return ()
    for key, inner in value.items():
        if inner == name:
            return (key,)
        path = _path_to(inner, name)
        if path:
            return (key, *path)
    return ()


def _python(
    region: str, position: int, call: AskedCall, call_id: str, others: Sequence[AskedCall]
) -> Body | None:
    start = region.find(f"{call.name}(", position)
    if start < 0:
        return None
    start_args = start + len(call.name) + 1
    for match in re.compile(r"\)").finditer(region, start_args):
        try:
            tree = ast.parse(region[start : match.end()], mode="eval")
        except (SyntaxError, ValueError):
            continue
        keys = [keyword.arg for keyword in getattr(tree.body, "keywords", ())]
        return Body("args:python", start_args, match.start()) if keys == [*call.arguments] else None
    return None


def _marked(
    region: str, position: int, call: AskedCall, call_id: str, others: Sequence[AskedCall]
) -> Body | None:
    """Return a body with unquoted keys, such as `{city:<escape>Oslo<escape>}`, or None."""
    if not call.arguments:
        return None
    key, value = next(iter(sorted(call.arguments.items())))
    mark = r"(?P<mark><[^<>\s]+>|[^\w\s]+)"
    opener = re.compile(rf"\{{{re.escape(key)}:{mark}{re.escape(str(value))}(?P=mark)")
    match = opener.search(region, position)
    if match is None:
        return None
    stop = region.find("}", match.end())
    return Body("args:marked", match.start(), stop + 1, string_mark=match["mark"])


def _params(
    region: str, position: int, call: AskedCall, call_id: str, others: Sequence[AskedCall]
) -> Body | None:
    """Return the body from the first parameter's key to the end of the last value, or None."""
    name = region.find(call.name, position)
    start = max(name, position)
    spans = []
    for key, value in call.arguments.items():
        key_start = region.find(key, start if name >= position else position)
        end = region.find(str(value), key_start)
        if key_start < 0 or end < 0:
            return None
        spans.append((key_start, end + len(str(value))))
    return None if not spans else Body("params", spans[0][0], spans[-1][1])
