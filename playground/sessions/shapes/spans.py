"""Spans of a trace, however they were exported: OTLP JSON, the SDK's own JSON, or lines of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from playground.base.json_numbers import load_json
from playground.sessions.building import Place
from playground.sessions.first_look import has_field
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.source import Source
from playground.sessions.times import utc_time


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span: attributes by dotted name, times as ISO 8601, events as they are."""

    name: str
    attributes: dict[str, Any]
    start: str
    stop: str
    place: Place

    @property
    def seconds(self) -> float | str | None:
        """The duration; a stop that is no time is returned unchanged, for its finding."""
        return seconds_between(self.start, self.stop)


def seconds_between(start: Any, stop: Any) -> float | str | None:
    """Return a duration; a stop that is no time is returned unchanged, for its finding."""
    try:
        ended = datetime.fromisoformat(str(stop or ""))
    except ValueError:
        return str(stop or "") or None
    try:
        return (ended - datetime.fromisoformat(str(start))).total_seconds()
    except (ValueError, TypeError):
        return None


def spans_of(source: Source) -> Iterator[TraceSpan]:
    """Return every span of the file, in the order of their start."""
    if source.is_lines:
        found = [s for line, value in source.lines() for s in _spans(value, Place(line))]
    else:
        found = first_spans(source)
    yield from sorted(found, key=lambda span: span.start)


def first_spans(source: Source) -> list[TraceSpan]:
    """Return some spans to recognise a file by: all of a document, found once for all formats."""
    found: list[TraceSpan] | None = source.seen.get("spans")
    if found is None:
        values = source.head if source.is_lines else [source.document]
        values = values if has_field(source, _MARKS) else []
        found = [span for value in values for span in _spans(value, Place())]
        source.seen["spans"] = found
    return found


def _spans(value: Any, place: Place) -> Iterator[TraceSpan]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _spans(item, place.at(index))
    elif isinstance(value, dict):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                yield from _spans(value[key], place.at(key))
        if isinstance(value.get("data"), dict):  # MLflow's
            yield from _spans(value["data"], place.at("data"))
        if "attributes" in value:
            yield TraceSpan(
                str(value.get("name") or ""),
                _attributes(value["attributes"]),
                _time(_first(value, *_STARTS)),
                _time(_first(value, *_STOPS)),
                place,
            )


_LISTS: Final = ("spans", "resourceSpans", "scopeSpans", "instrumentationLibrarySpans")
_MARKS: Final = (*_LISTS, "data", "attributes")
_STARTS: Final = (
    "start_time",
    "startTimeUnixNano",
    "startTime",
    "timestamp",
    "start_time_unix_nano",
)
_STOPS: Final = ("end_time", "endTimeUnixNano", "endTime", "end_time_unix_nano")


def _attributes(given: Any) -> dict[str, Any]:
    """Attributes as a mapping: OTLP writes a list of keys and typed values."""
    if isinstance(given, dict):
        return given
    pairs = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    return {str(item.get("key")): plain_value(item.get("value")) for item in pairs}


def plain_value(value: Any) -> Any:
    """Return a value as OTLP writes it, an object of its type alone, as what it stands for; any
    other stays as it is.
    """
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    if kind == "intValue":  # OTLP writes whole numbers as texts
        with suppress(ValueError, TypeError, OverflowError):
            return int(inner)
    if kind == "arrayValue":
        return [plain_value(item) for item in listed(mapping(inner).get("values"))]
    return inner


def _first(value: dict[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _time(value: Any) -> str:
    """Nanoseconds, as OTLP writes them, seconds and nanoseconds, as the SDK of JavaScript keeps
    them, or a text; what cannot be read stays for its finding."""
    match value:
        case [int(seconds), int(nanoseconds)]:
            with suppress(OverflowError):
                value = seconds + nanoseconds / 1e9
    return utc_time(value) or ("" if value is None else str(value))


def unflattened(attributes: dict[str, Any], prefix: str) -> Any:
    """Attributes `prefix.0.role`, `prefix.0.content` … as the lists and objects they stand for."""
    root: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name.startswith(f"{prefix}."):
            continue
        node = root
        *steps, last = name[len(prefix) + 1 :].split(".")
        for step in steps:
            inner = node.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            node = inner
        else:
            node[last] = value
    return _listed(root)


def _listed(node: Any) -> Any:
    """Return the same with lists where all keys are numbers, by the number: as texts, 10 is before
    2.
    """
    if not isinstance(node, dict):
        return node
    if node and all(map(str.isdigit, node)):
        return [_listed(node[key]) for key in sorted(node, key=int)]
    return {key: _listed(value) for key, value in node.items()}


def json_value(value: Any) -> Any:
    """Return a value that may be JSON inside a string."""
    if isinstance(value, str):
        try:
            return load_json(value, strict=True)
        except (ValueError, RecursionError):
            return value
    return value
