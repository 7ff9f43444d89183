"""Read fields of foreign JSON. A field may have another type than its format says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.source import Source


def listed(value: Any) -> list[Any]:
    """Return the value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """Return the value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, [] for an empty value, and any other value in a list."""
    return value if isinstance(value, list) else [value] if value else []


def list_or_finding(builder: SessionBuilder, value: Any, place: Place) -> list[Any]:
    """Return the value if it is a list; else an empty list, with a finding if it was not empty."""
    if value and not isinstance(value, list):
        builder.note_loss(f"a {type(value).__name__} where a list is expected", place)
    return listed(value)


def dict_or_finding(builder: SessionBuilder, value: Any, place: Place) -> dict[str, Any]:
    """Return the value if it is an object; else {}, with a finding if it was not empty."""
    if value and not isinstance(value, dict):
        builder.note_loss(f"a {type(value).__name__} where an object is expected", place)
    return mapping(value)


def objects_or_findings(
    builder: SessionBuilder, value: Any, place: Place
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the objects of a list with their places; add a finding for anything else."""
    for index, each in enumerate(list_or_finding(builder, value, place)):
        if isinstance(each, dict):
            yield place.at(index), each
        else:
            wrong = f"a {type(each).__name__} where an object is expected"
            builder.note_loss(wrong, place.at(index))


class WrongForm(Exception):
    """Raised if a file lacks something that its format requires; `field` is the place."""

    def __init__(self, missing: str, field: str = "") -> None:
        super().__init__(f"no {missing}")
        self.field = field


def list_in(source: Source, *keys: str) -> list[Any]:
    """Return the list that is a file's document, or that the document has under these keys. Raises
    WrongForm if there is none, and InputFault if the file is not JSON."""
    value = source.value
    for key in keys:
        value = mapping(value).get(key)
    if isinstance(value, list):
        return value
    raise WrongForm("list", ".".join(keys))


def object_in(source: Source) -> dict[str, Any]:
    """Return a file's document. Raises WrongForm if it is not an object, and InputFault if the file
    is not JSON."""
    if isinstance(source.value, dict):
        return source.value
    raise WrongForm("object")
