"""What a tool's schema has against a call's arguments: the first thing, in words."""

from __future__ import annotations

import marshal
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from playground.tools import ToolMetadata

_MOST_SAID: Final = 200  # characters
_PLAIN: Final = 2  # a version of marshal's that says equal things alike


def check_of(tool: ToolMetadata) -> Draft202012Validator | None:
    """What checks a tool's arguments; None for a schema that is none, which the doctor tells of."""
    try:
        return _validator(marshal.dumps(tool.input_schema, _PLAIN))
    except (ValueError, RecursionError):  # of no JSON, or too deep
        return None


def misfit(check: Draft202012Validator, arguments: Mapping[str, Any]) -> str:
    """The first thing that a schema has against these arguments; "" where there is none, or where
    the schema cannot say: it refers to what is not in it, or to itself without an end."""
    try:
        found: ValidationError | None = next(check.iter_errors(arguments), None)
    except (Unresolvable, RecursionError, re.error):
        return ""
    return "" if found is None else found.message[:_MOST_SAID]


@lru_cache(maxsize=512)
def _validator(dumped: bytes) -> Draft202012Validator | None:
    """By what the schema says: of two dicts `1` and `true` are equal, of their bytes they are not.
    What it refers to elsewhere is not fetched."""
    schema = marshal.loads(dumped)
    try:
        Draft202012Validator.check_schema(schema)
        return Draft202012Validator(schema, registry=Registry())
    except SchemaError:
        return None
