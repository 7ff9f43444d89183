"""Questions about a signature: its prompt in each adapter, and the fields of a completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.base.errors import InputFault, UnknownNameError
from playground.plugins.systems.dspy import (
    ChatAdapter,
    FieldAdapter,
    FieldRead,
    FieldStream,
    JSONAdapter,
    Signature,
    XMLAdapter,
)
from playground.plugins.systems.dspy.reading import read
from playground.plugins.systems.dspy.types import kind_of
from playground.plugins.systems.dspy.values import type_name

# Adapters by their short names: chat, json, xml.
ADAPTERS: Final[Mapping[str, FieldAdapter]] = {
    each.name.removesuffix("Adapter").lower(): each
    for each in (ChatAdapter(), JSONAdapter(), XMLAdapter())
}


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field, as a row of a table."""

    name: str
    kind: str
    type: str
    description: str


def field_rows(signature: Signature) -> list[FieldRow]:
    """Return a row for every field, inputs first."""
    kinds = [("input", signature.inputs), ("output", signature.outputs)]
    return [
        FieldRow(name, kind, type_name(field.annotation), field.desc)
        for kind, fields in kinds
        for name, field in fields.items()
    ]


def adapter(name: str) -> FieldAdapter:
    """Return an adapter by its short name. Raises UnknownNameError."""
    if name not in ADAPTERS:
        raise UnknownNameError("adapter", name, list(ADAPTERS))
    return ADAPTERS[name]


def values(signature: Signature, texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the inputs' values from texts, by the types of their fields. The text of an image is its
    address. Raises InputFault for an unknown field and for a text that does not fit its type."""
    inputs: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in signature.inputs:
            known = ", ".join(signature.inputs) or "none"
            raise InputFault(f"no input is called {name!r}", expected=f"one of: {known}")
        annotation = signature.inputs[name].annotation
        source: Any = {"url": text} if kind_of(annotation) == "Image" else text
        try:
            inputs[name] = read(source, annotation)
        except ValueError as error:
            problem = f"{text!r:.80} is not of the type {type_name(annotation)}: {error}"
            raise InputFault(problem, field=name, expected=type_name(annotation)) from error
    return inputs


def json_values(signature: Signature, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Read inputs from JSON values: texts by their fields' types, other values unchanged."""
    texts = {name: value for name, value in inputs.items() if isinstance(value, str)}
    return {**inputs, **values(signature, texts)}


def messages(
    signature: Signature,
    inputs: Mapping[str, Any],
    demos: Sequence[Mapping[str, Any]] = (),
    adapters: Sequence[str] = tuple(ADAPTERS),
) -> dict[str, list[dict[str, Any]]]:
    """Return the messages of a request as each adapter writes them."""
    return {name: adapter(name).format(signature, demos, inputs) for name in adapters}


def fields(signature: Signature, completion: str, name: str) -> list[FieldRead]:
    """Read each output field from a completion by the adapter of this short name. Each result has a
    value, or a fault that says why the field cannot be read."""
    return adapter(name).read_fields(signature, completion)


def streamed(completion: str, size: int = 16) -> list[tuple[str, str]]:
    """Feed a ChatAdapter's completion to a FieldStream, `size` characters at a time. Return pairs
    of a field's name and its new text."""
    stream = FieldStream()
    pieces = [completion[at : at + size] for at in range(0, len(completion), size)]
    return [delta for piece in pieces for delta in stream.feed(piece)] + stream.finish()
