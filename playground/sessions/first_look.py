"""Cache facts about a file that most formats need to recognise it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from playground.sessions.source import Source


def first_lines(source: Source) -> list[dict[str, Any]]:
    """Return the objects among a file's first lines; [] for a file that is one document."""
    found: list[dict[str, Any]] | None = source.seen.get("first lines")
    if found is None:
        found = [line for line in source.head if type(line) is dict] if source.is_lines else []
        source.seen["first lines"] = found
    return found


def has_field(source: Source, names: Collection[str]) -> bool:
    """Return True if the document, or one of the first lines, has a field of one of these names. If
    a document or line is a list, its items count. This rules out most formats at once."""
    found: set[str] | None = source.seen.get("fields")
    if found is None:
        found = source.seen["fields"] = _fields(source)
    return not found.isdisjoint(names)


def _fields(source: Source) -> set[str]:
    found: set[str] = set()
    waiting = [*source.head] if source.is_lines else [source.document]
    while waiting:
        each = waiting.pop()
        if type(each) is dict:
            found.update(each)
        elif type(each) is list:
            waiting += each
    return found
