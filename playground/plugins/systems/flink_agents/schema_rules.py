"""The rules of JSON Schema by which a tool's arguments are checked: `jsonschema`'s and our own.

A keyword that cannot be checked is skipped and recorded in the `Check`.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, Final

from jsonschema import Draft202012Validator, validators
from jsonschema import ValidationError as Misfit
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import SchemaError
from referencing import Registry

from playground.nouns.tools import Schema

_FORMATS: Final[Mapping[str, Any]] = {
    "date": TypeAdapter(datetime.date),
    "date-time": TypeAdapter(datetime.datetime),
    "time": TypeAdapter(datetime.time),
    "duration": TypeAdapter(datetime.timedelta),
    "uuid": TypeAdapter(uuid.UUID),
    "ipv4": TypeAdapter(ipaddress.IPv4Address),
    "ipv6": TypeAdapter(ipaddress.IPv6Address),
}
# A check stops at this depth of Python's stack, long before the limit of a thousand frames. There,
# `jsonschema`'s tables in Rust (`rpds`) would turn the RecursionError into a panic, which `except
# Exception` does not catch.
_MOST_FRAMES: Final = 650
# The most rules that a check applies, in about two seconds. Each number in an array takes one or
# two rules. In a recursive union, each level of nesting doubles the number of rules.
_MOST_RULES: Final = 100_000


class TooMuchError(Exception):
    """The error of a check that would not end in reasonable time."""


@dataclass(slots=True)
class Check:
    """The state of one check: the keywords that could not be checked, in order, and the number of
    rules applied."""

    unchecked: dict[str, None] = field(default_factory=dict)
    rules: int = 0

    def count(self) -> None:
        self.rules += 1
        if self.rules > _MOST_RULES:
            raise TooMuchError


def checker_of(schema: Schema, check: Check) -> Any:
    """Return a checker for a schema, by the draft that the schema names. It follows no references
    to other documents.

    The checker raises RecursionError if schema or value are too deep, and TooMuchError after
    100,000 rules.
    """
    checker_class = _lenient_class(validators.validator_for(schema, default=Draft202012Validator))
    # A checker passes its `format_checker` on to the checkers of the schema's parts. Formats are
    # checked by a rule of our own, so `format_checker` is free to hold the `Check`.
    return checker_class(schema, registry=Registry(), format_checker=check)


@cache
def _lenient_class(draft: Any) -> Any:
    """Return a draft's checker class with our rules. It skips keywords with invalid values."""
    rules = {**draft.VALIDATORS, **_OWN_RULES}
    return validators.extend(draft, {name: _guard_rule(name, rule) for name, rule in rules.items()})


def _guard_rule(name: str, rule: Callable[..., Any]) -> Callable[..., Iterator[Misfit]]:
    def guarded_rule(checker: Any, keyword_value: Any, *arguments: Any) -> Iterator[Misfit]:
        checker.format_checker.count()
        if _is_deep():
            raise RecursionError
        try:
            yield from rule(checker, keyword_value, *arguments) or ()
        except (RecursionError, TooMuchError):
            raise
        except Exception:  # a keyword may have any value, and raise anything
            _record_unchecked(checker, name, keyword_value)

    return guarded_rule


def _is_deep() -> bool:
    try:
        sys._getframe(_MOST_FRAMES)
    except ValueError:
        return False
    return True


def _record_unchecked(checker: Any, keyword: str, keyword_value: Any) -> None:
    check: Check = checker.format_checker
    check.unchecked[f"{keyword} {keyword_value!r:.80}"] = None


def _format(_: Any, name: str, value: Any, __: Schema) -> Iterator[Misfit]:
    adapter = _FORMATS[name]  # an unknown format raises, so `_guard_rule` records it as unchecked
    if not isinstance(value, str):  # a format applies to strings only
        return
    try:
        adapter.validate_python(value)
    except ValidationError:
        yield Misfit(f"{value!r:.80} is not a {name!r}")


def _unique_items(_: Any, must_be_unique: bool, value: Any, __: Schema) -> Iterator[Misfit]:
    """Check `uniqueItems` by the items' JSON, as comparing 3,000 objects in pairs took 16 s."""
    if must_be_unique and isinstance(value, list):
        texts = {json.dumps(_with_equal_numbers(item), sort_keys=True) for item in value}
        if len(texts) < len(value):
            yield Misfit(f"{value!r:.80} has items that are equal")


def _with_equal_numbers(value: Any) -> Any:
    """Return a value with 1 in place of 1.0, which JSON Schema considers equal."""
    if isinstance(value, dict):
        return {key: _with_equal_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_equal_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _adapter(pattern: str) -> TypeAdapter[str]:
    return TypeAdapter(Annotated[str, Field(pattern=pattern)])


def _matches(pattern: str, text: str) -> bool:
    """Match with pydantic's engine, which takes linear time for any pattern and text."""
    with suppress(ValidationError):
        _adapter(pattern).validate_python(text)
        return True
    return False


def _pattern(_: Any, pattern: str, value: Any, __: Schema) -> Iterator[Misfit]:
    if isinstance(value, str) and not _matches(pattern, value):
        yield Misfit(f"{value!r:.80} does not match {pattern!r}")


def _pattern_properties(
    checker: Any, patterns: Mapping[str, Any], value: Any, _: Schema
) -> Iterator[Misfit]:
    for pattern, key in _pattern_matches(checker, patterns, value):
        yield from checker.descend(value[key], patterns[pattern], path=key, schema_path=pattern)


def _additional_properties(
    checker: Any, others: Any, value: Any, schema: Schema
) -> Iterator[Misfit]:
    patterns = mapping(schema.get("patternProperties"))
    by_pattern = (key for _, key in _pattern_matches(checker, patterns, value))
    known = {*mapping(schema.get("properties")), *by_pattern}
    for key in value if isinstance(value, dict) else ():
        if key not in known and others is False:
            yield Misfit(f"{key!r:.80} is not one of its properties")
        elif key not in known:
            yield from checker.descend(value[key], others, path=key)


def _pattern_matches(
    checker: Any, patterns: Mapping[str, Any], value: Any
) -> Iterator[tuple[str, str]]:
    for pattern in patterns if isinstance(value, dict) else ():
        try:
            yield from [(pattern, key) for key in value if _matches(pattern, key)]
        except SchemaError:  # a pattern in another syntax is skipped
            _record_unchecked(checker, "patternProperties", pattern)


def _multiple_of(_: Any, divisor: float, value: Any, __: Schema) -> Iterator[Misfit]:
    """Check `multipleOf` with decimal fractions, as 0.07 is no multiple of 0.01 among floats."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and Fraction(str(value)) % Fraction(str(divisor)):
        yield Misfit(f"{value!r:.80} is not a multiple of {divisor}")


_OWN_RULES: Final = {
    "format": _format,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a keyword's value if it is a mapping, otherwise {}."""
    return value if isinstance(value, Mapping) else {}
