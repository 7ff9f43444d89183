"""The names of a tool's arguments: those that a call may use, and those that the tool expects.

A pydantic field may have aliases. Then its own name is accepted only if the model's config says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasChoices, AliasPath, BaseModel, Field, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from playground.nouns.tool_formats import parameter_names
from playground.nouns.tools import Schema, resolve


@dataclass(frozen=True, slots=True)
class ArgumentName:
    """The names that a call may use for a field (`accepted`), and the name that the tool `wants`.
    `containers` are the names of the arguments in which the field is nested."""

    accepted: tuple[str, ...]
    wants: str
    containers: tuple[str, ...] = ()


def argument_names(model: type[BaseModel]) -> dict[str, ArgumentName]:
    """Return the names of every field of a model.

    A function wants the names of its parameters; any other tool wants the names in its schema.
    """
    config = model.model_config
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    by_alias = config.get("validate_by_alias") is not False
    parameters = parameter_names(model)
    result = {}
    for name, field in model.model_fields.items():
        aliases = list(_single_aliases(field.validation_alias)) if by_alias else []
        accepted = [alias for alias in aliases if isinstance(alias, str)]
        containers = tuple(str(alias.path[0]) for alias in aliases if isinstance(alias, AliasPath))
        if by_name or not aliases:
            accepted.append(name)
        wants = parameters.get(name, accepted[0] if accepted else name)
        result[name] = ArgumentName(tuple(accepted), wants, containers)
    return result


def _single_aliases(alias: str | AliasPath | AliasChoices | None) -> Iterator[str | AliasPath]:
    match alias:
        case AliasChoices(choices=choices):
            yield from choices
        case None:
            return
        case _:
            yield alias


def withheld_names(model: type[BaseModel], names: Collection[str]) -> frozenset[str]:
    """Return `names`, and every other name by which the model accepts one of these fields."""
    fields = _fields_named(model, names)
    return frozenset(names).union(fields, *(argument.accepted for argument in fields.values()))


def model_without(model: type[BaseModel], names: Collection[str]) -> type[BaseModel]:
    """Return the model without these fields in its schema; it requires none of them. All
    validators stay."""
    hidden = {name: _hidden_field(model.model_fields[name]) for name in _fields_named(model, names)}
    if not hidden:
        return model
    reduced_model: type[BaseModel] = create_model(
        model.__name__, __base__=model, __doc__=model.__doc__, **hidden
    )
    return reduced_model


def _fields_named(model: type[BaseModel], names: Collection[str]) -> dict[str, ArgumentName]:
    return {
        field: argument
        for field, argument in argument_names(model).items()
        if not {field, argument.wants, *argument.accepted}.isdisjoint(names)
    }


def _hidden_field(field: FieldInfo) -> Any:
    default = None if field.is_required() else field.get_default(call_default_factory=False)
    hidden = Annotated[Any, SkipJsonSchema()]
    return hidden, Field(default=default, validate_default=False, exclude=True)


def schema_without(schema: Schema, names: Collection[str]) -> Schema:
    """Return the same schema without the properties of these names."""
    root = {key: value for key, value in schema.items() if key != "$ref"}
    root |= resolve(schema, schema)
    properties, required = root.get("properties"), root.get("required")
    if isinstance(properties, dict):
        root["properties"] = {key: value for key, value in properties.items() if key not in names}
    if isinstance(required, list):
        root["required"] = [name for name in required if name not in names]
    return root
