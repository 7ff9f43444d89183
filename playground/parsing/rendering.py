"""A call as text: the holes of its declaration filled. The way back is engine.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from playground.parsing import marked_walk
from playground.parsing.syntax import Hole, JsonShape, Piece, Syntax, Template
from playground.parsing.values import dump_json, write_value
from playground.tools import Schema, json_type

SchemaOf = Callable[[str], Schema]


def no_schema(_key: str) -> Schema:
    return {}


def render_call(
    syntax: Syntax,
    name: str,
    arguments: Mapping[str, Any],
    call_id: str = "",
    schema_of: SchemaOf = no_schema,
    index: int = 0,
) -> str:
    """One call, without the section around it; `index` is its number in the reply."""
    template = syntax.call_template
    match template.body:
        case "call:json":
            body = dump_json(call_object(syntax.shape, name, arguments, call_id))
        case "args:json":
            body = dump_json(arguments)
        case "args:marked":
            body = marked_walk.write(arguments, syntax.string_mark)
        case "args:python":
            body = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        case _:
            params = syntax.param_template
            assert params is not None
            body = "".join(
                _param(params, key, value, schema_of(key)) for key, value in arguments.items()
            )
    return _filled(template, body, {"name": name, "id": call_id, **_counted(index)})


def render_calls(syntax: Syntax, calls: Iterable[str]) -> str:
    """Rendered calls with the sections and separators that belong around them."""
    texts = list(calls)
    section = syntax.section_template
    if section is None or not texts:
        return syntax.separator.join(texts)
    if syntax.one_call_a_section:
        return syntax.separator.join(_filled(section, text, {}) for text in texts)
    return _filled(section, syntax.separator.join(texts), {})


def call_object(
    shape: JsonShape, name: str, arguments: Mapping[str, Any], call_id: str
) -> dict[str, Any]:
    """The JSON object of a call, its keys in the order in which the shape declares them."""
    if shape.name_is_key:
        return {name: dict(arguments)}
    result: dict[str, Any] = {shape.id: call_id} if shape.id else {}
    result |= dict(shape.constants)
    given = dump_json(arguments) if shape.arguments_as_text else dict(arguments)
    for path, value in ((shape.name, name), (shape.arguments, given)):
        node = result
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    return result


def _counted(index: int) -> dict[str, str]:
    return {"index": str(index), "number": str(index + 1)}


def _param(template: Template, key: str, value: Any, schema: Schema) -> str:
    kind = json_type(value)
    if any(isinstance(p, Hole) and p.name in ("type", "is_text") for p in template.before):
        text = value if kind == "string" else dump_json(value)  # the wire says which it is
    else:
        text = write_value(value, schema)
    if template.body == "value:block" and "\n" in text:
        text = f"\n{text}\n"
    holes = {"key": key, "type": kind, "is_text": "true" if kind == "string" else "false"}
    return _filled(template, text, holes)


def _filled(template: Template, body: str, holes: Mapping[str, str]) -> str:
    return _text(template.before, holes) + body + _text(template.after, holes)


def _text(pieces: Iterable[Piece], holes: Mapping[str, str]) -> str:
    return "".join(holes[piece.name] if isinstance(piece, Hole) else piece for piece in pieces)
