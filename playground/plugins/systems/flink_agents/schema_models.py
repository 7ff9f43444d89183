"""Build a pydantic model from a tool's JSON Schema, for tools without a Python function.

`jsonschema` checks the arguments. Before that they are converted as in pydantic's lax mode: `"1"`
becomes an integer if one is wanted.
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
    "number": TypeAdapter(int | float),  # a float alone would change large integers
    "boolean": TypeAdapter(bool),
    "null": TypeAdapter(None),
}
_MOST_PROBLEMS: Final = 5


def model_of_schema(name: str, schema: Schema) -> type[BaseModel]:
    """Return a model with exactly this schema as its `model_json_schema()`.

    Its `model_validate` accepts what the schema accepts, and keeps unknown arguments.
    """
    root = resolve(schema, schema)
    required = _listed(root.get("required"))
    # A name that pydantic reserves is no field; it is checked as an additional argument.
    fields: dict[str, Any] = {
        each: (Any, ... if each in required else None)
        for each in mapping(root.get("properties"))
        if each.isidentifier() and not each.startswith("_") and not hasattr(_OfSchema, each)
    }
    made: type[BaseModel] = create_model(name, __base__=_OfSchema, **fields)
    setattr(made, "__tool_schema__", schema)  # noqa: B010  # a class variable of the base
    return made


class _OfSchema(BaseModel):
    model_config = ConfigDict(extra="allow", protected_namespaces=())

    __tool_schema__: ClassVar[Schema] = {}
    _unchecked_keywords: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> Schema:
        return copy.deepcopy(cls.__tool_schema__)

    @model_validator(mode="wrap")
    @classmethod
    def _fits(cls, data: Any, made_of: ModelWrapValidatorHandler[_OfSchema]) -> _OfSchema:
        # In a thread with an empty stack, so that the caller's depth does not limit the arguments.
        with ThreadPoolExecutor(max_workers=1) as pool:
            read, unchecked = pool.submit(_checked, data, cls.__tool_schema__).result()
        made = made_of(read)
        made._unchecked_keywords = unchecked
        return made


def _checked(data: Any, schema: Schema) -> tuple[Any, tuple[str, ...]]:
    """Convert and check arguments; return them, and the keywords that could not be checked."""
    check = Check()
    try:
        checker = checker_of(schema, check)
        read = _read(data, schema, checker)
        wrong = list(islice(checker.iter_errors(read), _MOST_PROBLEMS))
    except RecursionError as error:
        raise PydanticCustomError("arguments", "nested too deeply") from error
    except TooMuchError as error:
        raise PydanticCustomError("arguments", "too many ways to read them") from error
    if wrong:
        told = "; ".join(map(_misfit_text, wrong))
        raise PydanticCustomError("arguments", "{problems}", {"problems": told})
    return read, tuple(check.unchecked)


def _misfit_text(misfit: Misfit) -> str:
    where = ".".join(str(step) for step in misfit.absolute_path)
    return f"{where}: {misfit.message:.200}" if where else f"{misfit.message:.200}"


# conversion


def _read(value: Any, schema: Any, checker: Any) -> Any:
    """Convert a value to the schema's type if pydantic's lax mode can; otherwise return it."""
    schema = resolve(schema, checker.schema)
    for each in _listed(schema.get("allOf")):
        value = _read(value, each, checker)
    if variants := _listed(schema.get("anyOf")) or _listed(schema.get("oneOf")):
        return _read_variant(value, variants, checker)
    if isinstance(value, dict):
        known, others = mapping(schema.get("properties")), schema.get("additionalProperties")
        return {key: _read(each, known.get(key, others), checker) for key, each in value.items()}
    if isinstance(value, list):
        schemas = chain(_listed(schema.get("prefixItems")), repeat(schema.get("items")))
        return [_read(each, item, checker) for each, item in zip(value, schemas, strict=False)]
    return _read_plain(value, schema)


def _read_variant(value: Any, variants: list[Any], checker: Any) -> Any:
    """Return a value unchanged if a variant accepts it; otherwise convert it by the first variant
    that then accepts it."""
    if checker.evolve(schema={"anyOf": variants}).is_valid(value):
        return value
    for variant in variants:
        read = _read(value, variant, checker)
        if checker.evolve(schema=variant).is_valid(read):
            return read
    return value


def _read_plain(value: Any, schema: Schema) -> Any:
    kinds = allowed_types(schema)
    if json_type(value) in kinds or "enum" in schema or "const" in schema:
        return value
    for kind, adapter in _PLAIN.items():
        if kind in kinds:
            with suppress(ValidationError):
                return adapter.validate_python(value)
    return value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
