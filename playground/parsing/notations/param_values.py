"""A parameter's value as text: a writer and a reader."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import Any, Final, NamedTuple

from playground.nouns.tools import (
    JSON_TYPES,
    Schema,
    allowed_types,
    json_type,
    resolve_union,
    variants,
)
from playground.parsing.declaration import Declaration
from playground.parsing.marker import Marker
from playground.parsing.notations.param_choices import param_template, value_notation
from playground.parsing.open_call import OpenCall
from playground.parsing.template import fill, holes_of
from playground.parsing.values import dump_json, read_json, read_marked, read_value, write_value

_CDATA: Final = ("<![CDATA[", "]]>")
DEPTH_LIMIT: Final = 500


class ParamShape(NamedTuple):
    """The parts of a parameter's declaration that are needed at each value.

    With `json` the value is JSON, with `own_lines` it has lines of its own between its markers.
    `closer` is the closing marker, split at the key if the key is in it.
    """

    json: bool
    own_lines: bool
    closer: tuple[str, ...]


@lru_cache(maxsize=256)
def param_shape(syntax: Declaration) -> ParamShape:
    template = param_template(syntax)
    notation = value_notation(template)
    last = template.before[-1] if template.before else ""
    own_lines = notation.block or (isinstance(last, str) and last.endswith("\n"))
    closer = "".join(piece if isinstance(piece, str) else "\0" for piece in template.after)
    return ParamShape(notation.json, own_lines, tuple(closer.strip().split("\0")))


def write_param(syntax: Declaration, key: str, value: Any, schema: Schema) -> str:
    template = param_template(syntax)
    kind = json_type(value)
    if value_notation(template).json:
        text = dump_json(value, style=syntax.json)
    elif {"type", "is_text"} & set(holes_of(template.before)):
        # the markup says whether the value is text or JSON
        text = value if kind == "string" else syntax.literals.written(value, syntax.json)
    else:
        text = write_value(value, schema, syntax.untyped, syntax.literals, syntax.json)
    sectioned = kind == "string" and any(char in text for char in syntax.cdata_for)
    if syntax.cdata and (sectioned or text.startswith(_CDATA[0])):
        text = f"{_CDATA[0]}{text}{_CDATA[1]}"  # the reader removes the outermost CDATA section
    return fill(
        template.pieces,
        {
            "key": escape(key) if syntax.escaped_names else key,
            "type": syntax.type_word(kind),
            "is_text": "true" if kind == "string" else "false",
            template.body: value_notation(template).write(text),
        },
    )


def read_param(
    text: str, opener: Marker, call: OpenCall, key: str, syntax: Declaration
) -> tuple[Any, str]:
    """Return the value of a parameter's text, and the code of a finding about it."""
    schema = call.schema_of(key)
    kind, is_text = opener.named.get("type"), opener.named.get("is_text")
    if syntax.cdata and text.startswith(_CDATA[0]) and text.endswith(_CDATA[1]):
        text = text[len(_CDATA[0]) : -len(_CDATA[1])]
    if param_shape(syntax).json:
        return read_json(text, schema)
    if syntax.element and _has_elements(text, schema, syntax.element):
        return _read_elements(text, schema, syntax.element, call)
    if kind or is_text:
        says_text = is_text == "true" if is_text else kind in ("string", syntax.type_word("string"))
        return read_marked(text, says_text, schema, syntax.literals)
    return read_value(text, schema, syntax.untyped, syntax.literals)


def is_type(word: str, syntax: Declaration) -> bool:
    return any(word in (kind, syntax.type_word(kind)) for kind in JSON_TYPES)


def _has_elements(text: str, schema: Schema, prefix: str) -> bool:
    return not text or (f"{prefix}<" in text and "string" not in allowed_types(schema))


def _read_elements(text: str, schema: Schema, prefix: str, call: OpenCall) -> tuple[Any, str]:
    root = call.tool.input_schema if call.tool else {}
    try:
        value = read_elements(text, schema, prefix, root)
    except ValueError:
        return read_value(text, schema)
    if isinstance(value, str) and "string" not in (allowed_types(schema) or {"string"}):
        return read_value(text, schema)
    return value, ""


class _Element:
    def __init__(self, key: str, schema: Schema) -> None:
        self.key, self.schema = key, schema
        self.children: list[tuple[str, Any]] = []
        self.text: list[str] = []


@lru_cache
def _element_tag(prefix: str) -> re.Pattern[str]:
    return re.compile(re.escape(prefix) + r"<(/?)([^\s<>/]{1,128})>")


def read_elements(text: str, schema: Schema, prefix: str, root: Schema) -> Any:
    """Read the inside of an element as a value. `prefix` comes before the `<` of each tag, and
    `root` is the schema in which `$ref` is looked up. Raises ValueError if tags do not pair."""
    stack, last = [_Element("", schema)], 0
    for match in _element_tag(prefix).finditer(text):
        stack[-1].text.append(text[last : match.start()])
        last = match.end()
        if len(stack) > DEPTH_LIMIT:
            raise ValueError(f"more than {DEPTH_LIMIT} elements inside each other")
        if not match[1]:
            stack.append(_Element(match[2], _child_schema(stack[-1].schema, match[2], root)))
            continue
        element = stack.pop()
        if element.key != match[2] or not stack:
            raise ValueError(f"</{match[2]}> closes nothing")
        stack[-1].children.append((element.key, _element_value(element)))
    if len(stack) > 1:
        raise ValueError(f"<{stack[-1].key}> is never closed")
    stack[0].text.append(text[last:])
    return _element_value(stack[0])


def _empty_value(schema: Schema) -> Any:
    """Return the value of an element with nothing inside."""
    types = allowed_types(schema)
    if types and "string" not in types:
        return [] if "array" in types else {} if "object" in types else ""
    return ""


def _child_schema(schema: Schema, key: str, root: Schema) -> Schema:
    """Return the schema of a member or item: that of the first part of a union that has one."""
    for part in (schema, *variants(schema)):
        properties = part.get("properties")
        if isinstance(properties, dict):
            inner = properties.get(key, part.get("additionalProperties"))
        else:
            inner = part.get("items", part.get("additionalProperties"))
        if isinstance(inner, dict):
            return resolve_union(inner, root)
    return {}


def _element_value(element: _Element) -> Any:
    text = "".join(element.text)
    if element.children and text.strip():
        raise ValueError(f"text between the elements of <{element.key}>")
    if not element.children:
        return read_value(text, element.schema)[0] if text else _empty_value(element.schema)
    if "array" in allowed_types(element.schema):
        return [value for _, value in element.children]
    members: dict[str, list[Any]] = {}
    for key, value in element.children:
        members.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in members.items()}
