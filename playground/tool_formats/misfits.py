"""What a tool's schema has against a call's arguments: the first thing, in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from playground.tools import ToolMetadata

_MOST_SAID: Final = 200  # characters


def check_of(tool: ToolMetadata) -> Draft202012Validator | None:
    """What checks a tool's arguments; None for a schema that is none, which the doctor tells of."""
    return _validator(_Schema(tool.input_schema))


def misfit(check: Draft202012Validator, arguments: Mapping[str, Any]) -> str:
    """The first thing that a schema has against these arguments; "" where there is none."""
    found: ValidationError | None = next(check.iter_errors(arguments), None)
    return "" if found is None else found.message[:_MOST_SAID]


class _Schema(dict[str, Any]):
    """A schema as a key: by what it says."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((len(self), *self.get("properties", {})))


@lru_cache(maxsize=512)
def _validator(schema: _Schema) -> Draft202012Validator | None:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return None
    return Draft202012Validator(dict(schema))
