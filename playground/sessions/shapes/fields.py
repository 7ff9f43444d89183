"""Fields of foreign JSON, of which any may be of another kind than its format says."""

from __future__ import annotations

from typing import Any


def listed(value: Any) -> list[Any]:
    """The list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """The object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}
