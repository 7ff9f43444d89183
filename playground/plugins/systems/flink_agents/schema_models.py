"""Build a pydantic model from a tool's JSON Schema, for tools without a Python function.

Arguments are converted as in pydantic's lax mode, then checked by `jsonschema`. For example, `"1"`
becomes an integer if the schema says integer.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, islice, repeat
from typing import Any, ClassVar, Final

from jsonschema import ValidationError as Misfit
from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from playground.nouns.tools import Schema, allowed_types, json_type, resolve
from playground.plugins.systems.flink_agents.schema_rules import (
    Check,
    TooMuchError,
    checker_of,
    mapping,
)

_PLAIN: Final[Mapping[str, Any]] = {
    "string": TypeAdapter(str),
    "integer": TypeAdapter(int),
    "number": TypeAdapter(int | float),  # `float` would change large integers
    "boolean": TypeAdapter(bool),
    "null": TypeAdapter(None),
}
_MOST_PROBLEMS: Final = 5  # that one error names


def model_of_schema(name: str, schema: Schema) -> type[BaseModel]:
    """Return a model with exactly this schema as its `model_json_schema()`.

    Its `model_validate` accepts the values that the schema accepts, and preserves unknown
    arguments.
    """
    root = resolve(schema, schema)
    required = _as_list(root.get("required"))
    # A name that pydantic reserves cannot be a field, so its value is an additional argument.
    fields: dict[str, Any] = {
        key: (Any, ... if key in required else None)
        for key in mapping(root.get("properties"))
        if key.isidentifier() and not key.startswith("_") and not hasattr(_SchemaModel, key)
    }
    model: type[BaseModel] = create_model(name, __base__=_SchemaModel, **fields)
    setattr(model, "__tool_schema__", schema)  # noqa: B010  # a class variable of the base
    return model


class _SchemaModel(BaseModel):
    model_config = ConfigDict(extra="allow", protected_namespaces=())

    __tool_schema__: ClassVar[Schema] = {}
    _unchecked_keywords: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> Schema:
        return copy.deepcopy(cls.__tool_schema__)

    @model_validator(mode="wrap")
    @classmethod
    def _convert(cls, data: Any, validate: ModelWrapValidatorHandler[_SchemaModel]) -> _SchemaModel:
        # A new thread has an empty stack, so the caller's depth does not limit the arguments.
        with ThreadPoolExecutor(max_workers=1) as pool:
            converted, unchecked = pool.submit(_check_arguments, data, cls.__tool_schema__).result()
        model = validate(converted)
        model._unchecked_keywords = unchecked
        return model


def _check_arguments(data: Any, schema: Schema) -> tuple[Any, tuple[str, ...]]:
    """Convert and check arguments; return them, and the keywords that could not be checked."""
    check = Check()
    try:
        checker = checker_of(schema, check)
        converted = _convert(data, schema, checker)
        misfits = list(islice(checker.iter_errors(converted), _MOST_PROBLEMS))
    except RecursionError as error:
        raise PydanticCustomError("arguments", "nested too deeply") from error
    except TooMuchError as error:
        raise PydanticCustomError("arguments", "too many variants of the schema to try") from error
    if misfits:
        problems = "; ".join(map(_misfit_text, misfits))
        raise PydanticCustomError("arguments", "{problems}", {"problems": problems})
    return converted, tuple(check.unchecked)


def _misfit_text(misfit: Misfit) -> str:
    where = ".".join(str(step) for step in misfit.absolute_path)
    return f"{where}: {misfit.message:.200}" if where else f"{misfit.message:.200}"


# conversion


def _convert(value: Any, schema: Any, checker: Any) -> Any:
    """Convert a value to the schema's type if pydantic's lax mode can; otherwise return it
    unchanged."""
    schema = resolve(schema, checker.schema)
    for subschema in _as_list(schema.get("allOf")):
        value = _convert(value, subschema, checker)
    if variants := _as_list(schema.get("anyOf")) or _as_list(schema.get("oneOf")):
        return _convert_variant(value, variants, checker)
    if isinstance(value, dict):
        known, others = mapping(schema.get("properties")), schema.get("additionalProperties")
        return {key: _convert(item, known.get(key, others), checker) for key, item in value.items()}
    if isinstance(value, list):
        schemas = chain(_as_list(schema.get("prefixItems")), repeat(schema.get("items")))
        return [_convert(item, each, checker) for item, each in zip(value, schemas, strict=False)]
    return _convert_plain(value, schema)


def _convert_variant(value: Any, variants: list[Any], checker: Any) -> Any:
    """Return a value unchanged if a variant accepts it; otherwise convert it for the first variant
    that accepts the converted value."""
    if checker.evolve(schema={"anyOf": variants}).is_valid(value):
        return value
    for variant in variants:
        converted = _convert(value, variant, checker)
        if checker.evolve(schema=variant).is_valid(converted):
            return converted
    return value


def _convert_plain(value: Any, schema: Schema) -> Any:
    kinds = allowed_types(schema)
    if json_type(value) in kinds or "enum" in schema or "const" in schema:
        return value
    for kind, adapter in _PLAIN.items():
        if kind in kinds:
            with suppress(ValidationError):
                return adapter.validate_python(value)
    return value


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
