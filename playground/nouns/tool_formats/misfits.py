"""The check of a call's arguments against the tool's schema: the first mismatch in words."""

from __future__ import annotations

import marshal
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from playground.nouns.tools import PYTHON_TYPES, ToolMetadata

_LONGEST_MESSAGE: Final = 200  # characters
_MARSHAL: Final = 2  # the marshal version; newer ones may write equal values differently


# The keywords of a schema, and of a property, that restrict nothing but names and types.
_PLAIN_KEYWORDS: Final = frozenset(
    ("$schema", "type", "properties", "required", "additionalProperties", "title", "description")
)
_PLAIN_PROPERTY_KEYWORDS: Final = frozenset(("type", "title", "description", "default", "examples"))


class Check(NamedTuple):
    """A schema's validator. `plain` has each parameter's types if the schema has no other rules.

    Arguments of exactly these types fit. Then the validator, which is twenty times slower, is not
    run.
    """

    validator: Draft202012Validator
    plain: dict[str, frozenset[type]] | None
    required: tuple[str, ...]

    def surely_takes(self, arguments: Mapping[str, Any]) -> bool:
        """Return True if the arguments' types show that they fit. If not, the validator decides."""
        if self.plain is None or type(arguments) is not dict:
            return False
        types = self.plain
        have_types = all(type(value) in types.get(name, ()) for name, value in arguments.items())
        return have_types and all(name in arguments for name in self.required)


def check_of(tool: ToolMetadata) -> Check | None:
    """Return the check of a tool's arguments; None for a broken schema, which other checks
    report."""
    try:
        return _validator(marshal.dumps(tool.input_schema, _MARSHAL))
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return None


def misfit(check: Check, arguments: Mapping[str, Any]) -> str:
    """Return the first objection of a schema to these arguments; "" if there is none. The check is
    impossible, and "" is returned, if a `$ref` cannot be resolved or a pattern is not Python's."""
    if check.surely_takes(arguments):
        return ""
    try:
        error: ValidationError | None = next(check.validator.iter_errors(arguments), None)
    except (Unresolvable, RecursionError, re.error):
        return ""
    return "" if error is None else error.message[:_LONGEST_MESSAGE]


@lru_cache(maxsize=512)
def _validator(dumped: bytes) -> Check | None:
    """Build the check of a schema. The key of the cache is the schema's bytes, because dicts with
    `1` and with `true` are equal. References to other documents are not fetched."""
    schema = marshal.loads(dumped)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return None
    validator = Draft202012Validator(schema, registry=Registry())
    types = _plain_types(schema)
    return Check(validator, types, tuple(schema.get("required", ())) if types is not None else ())


def _plain_types(schema: Mapping[str, Any]) -> dict[str, frozenset[type]] | None:
    """Return the types of a schema's parameters; None if the schema has other rules."""
    if type(schema) is not dict:  # `true` is also a schema
        return None
    properties = schema.get("properties", {})
    if not _PLAIN_KEYWORDS.issuperset(schema) or schema.get("type", "object") != "object":
        return None
    if not all(type(prop) is dict and _is_plain(prop) for prop in properties.values()):
        return None
    return {name: PYTHON_TYPES[prop["type"]] for name, prop in properties.items()}


def _is_plain(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    is_known = isinstance(kind, str) and kind in PYTHON_TYPES
    return is_known and _PLAIN_PROPERTY_KEYWORDS.issuperset(schema)
