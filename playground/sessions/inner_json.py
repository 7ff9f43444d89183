"""Read JSON inside a text, which many files have instead of a value."""

from __future__ import annotations

from typing import Any

from playground.base.json_numbers import load_json


def json_or_text(value: Any) -> Any:
    """Return the value of a text that is a JSON object or list; return any other value
    unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    return json_value(value)


def json_value(value: Any) -> Any:
    """Return the value of a text that is JSON; return any other value unchanged."""
    if isinstance(value, str):
        try:
            return load_json(value, strict=True)
        except (ValueError, RecursionError):
            return value
    return value
