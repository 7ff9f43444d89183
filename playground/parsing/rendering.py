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
        case "texts":
            return _texts(syntax, name, arguments)
        case _:
            params = syntax.param_template
            assert params is not None
            body = "".join(
                _param(params, key, value, schema_of(key), syntax)
                for key, value in arguments.items()
            )
    return _filled(template, body, {"name": name, "id": call_id, **_counted(index)})


def render_calls(syntax: Syntax, calls: Iterable[tuple[str, str]]) -> str:
    """Rendered calls, each with its tool's name, in their sections and with their separators."""
    listed, section = list(calls), syntax.section_template
    joined = syntax.separator.join(text for _, text in listed)
    if section is None or not listed:
        return joined
    if syntax.one_call_a_section:
        return syntax.separator.join(_filled(section, t, {"name": name}) for name, t in listed)
    return _filled(section, joined, {})


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
    return result


def _counted(index: int) -> dict[str, str]:
    return {"index": str(index), "number": str(index + 1)}


def _param(template: Template, key: str, value: Any, schema: Schema, syntax: Syntax) -> str:
    kind = json_type(value)
    if any(isinstance(p, Hole) and p.name in ("type", "is_text") for p in template.before):
        text = value if kind == "string" else dump_json(value)  # the wire says which it is
    else:
        text = write_value(value, schema, syntax.untyped)
    if syntax.cdata and text.startswith("<![CDATA["):
        text = f"<![CDATA[{text}]]>"  # one section around a value is read over
    if template.body == "value:block" and "\n" in text:
        text = f"\n{text}\n"
    holes = {"key": key, "type": kind, "is_text": "true" if kind == "string" else "false"}
    return _filled(template, text, holes)


def _filled(template: Template, body: str, holes: Mapping[str, str]) -> str:
    return _text(template.before, holes) + body + _text(template.after, holes)


def _texts(syntax: Syntax, name: str, arguments: Mapping[str, Any]) -> str:
    """A call whose arguments are texts. Where others are given, or another tool, the last text is
    the call as Python or JSON: it reads back only where `objects` are allowed, and checking.py
    says so before anything is sent."""
    template = syntax.call_template
    keys = [*syntax.text_keys] or [*template.texts]
    fits = list(arguments) == keys and all(isinstance(v, str) for v in arguments.values())
    if syntax.objects and fits:
        fits = _plain(arguments[keys[0]])
    elif syntax.name and fits:
        fits = name == syntax.name
    values = dict(arguments)
    if not fits:
        body = dump_json(arguments)
        if syntax.name:
            body = f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"
        values = dict.fromkeys(keys, "") | {keys[-1]: body}
    holes = {"name": name, "word": ""} | {f"line:{key}": values[key] for key in keys}
    text = _text(template.before, holes)
    for key, after in zip(template.texts, template.between, strict=True):
        text += str(values[key]) + _text(after, holes)
    return text


def _plain(text: str) -> bool:
    """Whether a text stands for itself where a JSON object may stand too."""
    return bool(text) and text == text.strip() and not text.startswith("{")


def _text(pieces: Iterable[Piece], holes: Mapping[str, str]) -> str:
    return "".join(holes[piece.name] if isinstance(piece, Hole) else piece for piece in pieces)
