"""JSON that somebody wrote, as values: what is wrong with it is one InputFault with its place."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from playground.errors import InputFault
from playground.findings import Finding, finding
from playground.json_numbers import load_json

_LONE: Final = re.compile("[\ud800-\udfff]")


def parse_json(text: str, where: str, line: int | None = None) -> Any:
    """A JSON value; numbers that JSON has not are NotANumber. Raises InputFault with line and
    column."""
    try:
        return load_json(text, strict=True)
    except json.JSONDecodeError as error:
        raise InputFault(
            f"not JSON: {error.msg}, column {error.colno}",
            where=where,
            line=line or error.lineno,
            expected="a JSON document" if line is None else "a JSON value on every line",
        ) from error
    except RecursionError as error:
        raise InputFault("nested too deeply to be read", where=where, line=line) from error


def whole_characters(value: Any, place: str, found: list[Finding]) -> Any:
    """Replace half surrogates, which no encoding can carry, and say where."""
    match value:
        case str() if not value.isascii() and _LONE.search(value):
            found.append(finding("lone-surrogate", place))
            return _LONE.sub("\ufffd", value)
        case list():
            return [whole_characters(v, f"{place}.{i}", found) for i, v in enumerate(value)]
        case dict():
            return {
                _LONE.sub("\ufffd", str(k)): whole_characters(v, f"{place}.{k}".strip("."), found)
                for k, v in value.items()
            }
        case _:
            return value


def json_of(text: str, where: str, wanted: type[dict[str, Any]] | type[list[Any]]) -> Any:
    """A JSON object, or a list, of a text that somebody wrote. Raises InputFault."""
    value = parse_json(text, where)
    if not isinstance(value, wanted):
        kind = "a JSON object" if wanted is dict else "a JSON list"
        raise InputFault(f"a {type(value).__name__} was given", where=where, expected=kind)
    return value
