"""Objects and lists in a parameter, written as nested elements such as `<k><x>1</x></k>`. A prefix
stands before each tag."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from playground.nouns.tools import Schema, allowed_types, resolve_union, variants
from playground.parsing.values import read_value

DEPTH_LIMIT: Final = 500


class _Element:
    def __init__(self, key: str, schema: Schema) -> None:
        self.key, self.schema = key, schema
        self.children: list[tuple[str, Any]] = []
        self.text: list[str] = []


@lru_cache
def _tag(prefix: str) -> re.Pattern[str]:
    return re.compile(re.escape(prefix) + r"<(/?)([^\s<>/]{1,128})>")


def read(text: str, schema: Schema, prefix: str, root: Schema) -> Any:
    """Read the inside of an element as a value. `root` is the schema in which `$ref` is looked up.

    Raises ValueError if tags do not pair.
    """
    stack, last = [_Element("", schema)], 0
    for match in _tag(prefix).finditer(text):
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
        stack[-1].children.append((element.key, _value(element)))
    if len(stack) > 1:
        raise ValueError(f"<{stack[-1].key}> is never closed")
    stack[0].text.append(text[last:])
    return _value(stack[0])


def empty(schema: Schema) -> Any:
    """Return the value of an element with nothing inside."""
    types = allowed_types(schema)
    if types and "string" not in types:
        return [] if "array" in types else {} if "object" in types else ""
    return ""


def _child_schema(schema: Schema, key: str, root: Schema) -> Schema:
    """Return the schema of a member or an item, from the first part of a union that has one."""
    for part in (schema, *variants(schema)):
        properties = part.get("properties")
        if isinstance(properties, dict):
            inner = properties.get(key, part.get("additionalProperties"))
        else:
            inner = part.get("items", part.get("additionalProperties"))
        if isinstance(inner, dict):
            return resolve_union(inner, root)
    return {}


def _value(element: _Element) -> Any:
    text = "".join(element.text)
    if element.children and text.strip():
        raise ValueError(f"text between the elements of <{element.key}>")
    if not element.children:
        return read_value(text, element.schema)[0] if text else empty(element.schema)
    if "array" in allowed_types(element.schema):
        return [value for _, value in element.children]
    members: dict[str, list[Any]] = {}
    for key, value in element.children:
        members.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in members.items()}
