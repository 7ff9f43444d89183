"""JSON inside a text, as many files have it where a value may stand."""

from __future__ import annotations

from typing import Any

from playground.base.json_numbers import load_json


def json_or_text(text: Any) -> Any:
    """Return a value that may be JSON inside a text; the text itself where it is none."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return load_json(text, strict=True)
    except (ValueError, RecursionError):
        return text
