"""DSPy's XMLAdapter: fields as XML elements, with lists and objects as elements inside them."""

from __future__ import annotations

import inspect
import re
import types
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any, Final, Union, get_args, get_origin, is_typeddict
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from pydantic import BaseModel, TypeAdapter

from playground.plugins.systems.dspy import parts
from playground.plugins.systems.dspy.adapter import INTRO, as_key, placeholders
from playground.plugins.systems.dspy.adapters import ChatAdapter
from playground.plugins.systems.dspy.asking import Values, takes_signature
from playground.plugins.systems.dspy.reading import read
from playground.plugins.systems.dspy.signature import Field, Signature
from playground.plugins.systems.dspy.types import is_own
from playground.plugins.systems.dspy.values import as_json, prompt_text

Schema = Mapping[str, Any]
Element = ElementTree.Element
_ELEMENT: Final = re.compile(r"<(\w+)(?:\s[^<>]{0,256})?>")
_CDATA: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)


class XMLAdapter(ChatAdapter):
    """The adapter that writes fields as XML elements.

    An answer that is not valid XML is searched for the tag of each field. As in DSPy, the class is
    a ChatAdapter, so if an answer cannot be read, the model is asked again for JSON.
    """

    name = "XMLAdapter"

    def _fields(self, texts: Mapping[str, str]) -> str:
        return "\n\n".join(f"<{k}>\n{text}\n</{k}>" for k, text in texts.items()).strip()

    def _pieces(self, texts: Mapping[str, str]) -> list[str]:
        return [self._fields(texts)]

    def format_field_with_value(self, fields_with_values: Mapping[Any, Any]) -> str:
        fields = [(as_key(key), value) for key, value in fields_with_values.items()]
        return "\n\n".join(
            self._output(key.name, key.info, value)
            if key.is_output
            else super(XMLAdapter, self).format_field_with_value({key: value})
            for key, value in fields
        ).strip()

    @takes_signature
    def format_field_structure(self, signature: Signature) -> str:
        inputs = self._with_values(
            signature.inputs, {name: f"{{{name}}}" for name in signature.inputs}
        )
        outputs = [
            shape(name, signature.outputs[name].annotation)
            if is_nested(signature.outputs[name].annotation)
            else self._with_values({name: signature.outputs[name]}, {name: text})
            for name, text in placeholders(signature.outputs)
        ]
        return "\n\n".join([INTRO, inputs, "\n\n".join(outputs)])

    @takes_signature
    def user_message_output_requirements(self, signature: Signature) -> str:
        fields = ", then ".join(f"`<{name}>`" for name in signature.outputs)
        shapes = [
            shape(name, field.annotation)
            for name, field in signature.outputs.items()
            if is_nested(field.annotation)
        ]
        text = f"Respond with the corresponding output fields wrapped in XML tags {fields}."
        return f"{text} Use this nested XML structure: {' '.join(shapes)}" if shapes else text

    @takes_signature
    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        values = {name: outputs.get(name, missing_field_message) for name in signature.outputs}
        return self._with_values(signature.outputs, values, True)

    def _output(self, name: str, field: Field, value: Any) -> str:
        plain_value = as_json(value)
        if is_nested(field.annotation) and isinstance(plain_value, list | dict):
            return parts.plain(element(name, plain_value))
        text = parts.plain(prompt_text(value, field.annotation))
        return self._fields({name: _escape(text) if field.annotation is str else text})

    def _values(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Read the fields' elements; an element that is not closed is ignored. If a field occurs
        twice, the first is used, or both if the field is a list. (DSPy 3.4.1 joins their texts.)"""
        try:
            root = ElementTree.fromstring(f"<x>{completion}</x>")
        except ElementTree.ParseError:
            return _search_fields(signature, completion)
        elements = _children_by_name(root)
        return {
            name: _read(elements[name], field.annotation)
            for name, field in signature.outputs.items()
            if name in elements
        }


def _search_fields(signature: Signature, completion: str) -> dict[str, Any]:
    """Search for the fields' tags in an answer that is not valid XML."""
    values: dict[str, Any] = {}
    position, remaining = 0, dict(signature.outputs)
    while remaining and (match := _ELEMENT.search(completion, position)):
        position = match.end()
        field = remaining.pop(match[1], None)  # only the first element of each field is used
        stop = completion.find(f"</{match[1]}>", position) if field else -1
        if field and stop >= 0:
            values[match[1]] = _inner_value(completion[position:stop], field.annotation)
            position = stop
    return values


def _inner_value(inside: str, annotation: Any) -> Any:
    text = inside.strip()
    if is_nested(annotation) and text.startswith("<"):
        try:
            return _read([ElementTree.fromstring(f"<x>{text}</x>")], annotation)
        except ElementTree.ParseError:
            return text
    cdata = _CDATA.fullmatch(text)
    return cdata[1] if cdata else text if "<" in text else unescape(text)


# the shape of a type


def is_nested(annotation: Any) -> bool:
    """Return True if a field's value is written as nested elements: lists, dicts and models."""
    args = [arg for arg in get_args(annotation) if arg is not type(None)]
    if len(args) == 1 and get_origin(annotation) in (Union, types.UnionType):
        annotation = args[0]
    origin, inner = get_origin(annotation), get_args(annotation)
    # images and tools, and lists of them, have their own form
    if is_own(inner[0] if origin is list and inner else annotation):
        return False
    if origin is not None:
        return origin in (list, dict)
    is_model = inspect.isclass(annotation) and issubclass(annotation, BaseModel)
    return is_model or is_typeddict(annotation)


def shape(tag: str, annotation: Any) -> str:
    """Return a type's elements with `...` as their texts; a recursive model is written out once."""
    schema = TypeAdapter(annotation).json_schema(by_alias=False)
    return _shape(tag, schema, schema.get("$defs", {}), frozenset())


def _shape(tag: str, schema: Schema, models: Schema, open_models: frozenset[str]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in open_models:
            return f"<{tag}>...</{tag}>"
        return _shape(tag, models[name], models, open_models | {name})
    if choices := schema.get("anyOf"):
        chosen = next((c for c in choices if c.get("type") != "null"), choices[0])
        return _shape(tag, chosen, models, open_models)
    if schema.get("type") == "array":
        return f"<{tag}>{_shape('item', schema.get('items', {}), models, open_models)}</{tag}>"
    properties = schema.get("properties", {}).items()
    inside = "".join(_shape(name, child, models, open_models) for name, child in properties)
    return f"<{tag}>{inside or '...'}</{tag}>"


# values as elements, and back


def element(tag: str, value: Any, key: str | None = None) -> str:
    """Return a value as an element; `key`, a name that cannot be its tag, is an attribute."""
    head = tag if key is None else f"{tag} key={quoteattr(key)}"
    match value:
        case None | []:
            return f"<{head} />"
        case list():
            inside = "".join(element("item", item) for item in value)
        case dict():
            inside = "".join(_entry(str(name), item) for name, item in value.items())
        case _:
            inside = _escape(str(value))
    return f"<{head}>{inside}</{tag}>"


def _entry(name: str, value: Any) -> str:
    is_name = (name[:1] + re.sub(r"[-.]", "_", name[1:])).isidentifier()
    return element(name, value) if is_name else element("entry", value, name)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _children_by_name(parent: Element) -> dict[str, list[Element]]:
    """Return an element's children by tag; those with the tag `entry` by their key."""
    children: dict[str, list[Element]] = defaultdict(list)
    for child in parent:
        children[child.get("key", child.tag) if child.tag == "entry" else child.tag].append(child)
    return children


def _read(elements: Sequence[Element], annotation: Any) -> Any:
    """Read a field's elements by its type's schema, or by the first fitting type of a union."""
    schema = TypeAdapter(annotation).json_schema(by_alias=False)
    models = schema.get("$defs", {})
    value: Any = None
    for candidate in [schema, *schema.get("anyOf", [])]:
        value = _value(elements, candidate, models)
        try:
            read(value, annotation)
        except ValueError:
            continue
        return value
    return value


def _value(elements: Sequence[Element], schema: Schema, models: Schema) -> Any:
    """Return the value of all elements with the same tag, by their type's schema. Texts stay texts,
    because the type itself converts them later."""
    schema = models.get(schema.get("$ref", "").rpartition("/")[2], schema)
    first = elements[0]
    if choices := schema.get("anyOf"):
        return _value_of_choice(elements, choices, models)
    if schema.get("type") == "array":
        return _items(elements, schema.get("items", {}), models)
    if not len(first):
        return _leaf(elements, schema)
    if schema.get("type") == "string":  # an element here is markup that a model left unescaped
        inside = "".join(ElementTree.tostring(child, encoding="unicode") for child in first)
        return (first.text or "") + inside
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    others = others if isinstance(others, dict) else {}
    return {
        name: _value(elements_found, properties.get(name, others), models)
        for name, elements_found in _children_by_name(first).items()
    }


def _value_of_choice(elements: Sequence[Element], choices: list[Schema], models: Schema) -> Any:
    """Return the value by the first fitting alternative of a union.

    An empty element may be null, and an element with children cannot be a text.
    """
    first = elements[0]
    if {"type": "null"} in choices and not len(first) and not _text(first):
        return None
    choices = [choice for choice in choices if choice.get("type") != "null"]
    if len(first):
        choices = [c for c in choices if c.get("type") != "string"] or choices
    return _value(elements, choices[0], models)


def _leaf(elements: Sequence[Element], schema: Schema) -> Any:
    """Return the text of an element, or a value of the schema's enum that it names. Without a
    schema, return the texts of several elements as a list."""
    text = _text(elements[0])
    if len(elements) > 1 and not schema:  # a schema here describes one text: no list
        return [_text(element) for element in elements]
    if schema.get("type") == "object" and not text:
        return {}
    # a value of an enum may be a number
    return next((value for value in schema.get("enum", ()) if str(value) == text), text)


def _items(elements: Sequence[Element], schema: Schema, models: Schema) -> Any:
    """Return a list from nested `item` elements or repeated elements; or the JSON in an element."""
    if len(elements) == 1:
        (single,) = elements
        text = _text(single)
        if not len(single) and (not text or text.startswith("[")):
            return text or []
        elements = _children_by_name(single).get("item") or elements
    return [_value([element], schema, models) for element in elements]


def _text(element: Element) -> str:
    return (element.text or "").strip()
