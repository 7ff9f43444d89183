"""Fields of foreign JSON, of which any may be of another kind than its format says.

What is left out as odd is told of, unless what was read without it tells of it by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.source import Source


def listed(value: Any) -> list[Any]:
    """Return the list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """Return the object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """Return the text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def told_list(builder: SessionBuilder, value: Any, place: Place) -> list[Any]:
    """Return the list; an empty one for anything else, and a finding where that is not empty."""
    if value and not isinstance(value, list):
        builder.lost(f"a {type(value).__name__} where a list is expected", place)
    return listed(value)


def told_mapping(builder: SessionBuilder, value: Any, place: Place) -> dict[str, Any]:
    """Return the object; an empty one for anything else, and a finding where that is not empty."""
    if value and not isinstance(value, dict):
        builder.lost(f"a {type(value).__name__} where an object is expected", place)
    return mapping(value)


def told_objects(
    builder: SessionBuilder, value: Any, place: Place
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the objects of a list, each with its place; what else is in it, or in its place, is a
    finding.
    """
    for index, each in enumerate(told_list(builder, value, place)):
        if isinstance(each, dict):
            yield place.at(index), each
        else:
            told = f"a {type(each).__name__} where an object is expected"
            builder.lost(told, place.at(index))


class WrongForm(Exception):
    """A file that is not in the form which it was to be read in: what it has not, and where."""

    def __init__(self, missing: str, field: str = "") -> None:
        super().__init__(f"no {missing}")
        self.field = field


def list_in(source: Source, *keys: str) -> list[Any]:
    """Return the list that a file's document is, or has under these keys. Raises WrongForm where
    there is none, and InputFault where the file is no JSON.
    """
    value = source.value
    for key in keys:
        value = mapping(value).get(key)
    if isinstance(value, list):
        return value
    raise WrongForm("list", ".".join(keys))


def object_in(source: Source) -> dict[str, Any]:
    """Return the object that a file's document is. Raises WrongForm where it is none, and
    InputFault where the file is no JSON.
    """
    if isinstance(source.value, dict):
        return source.value
    raise WrongForm("object")
