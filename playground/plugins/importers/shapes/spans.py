"""Read a trace's spans from OTLP JSON, the SDK's own JSON, or lines of either."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from playground.sessions.building import Place
from playground.sessions.first_look import has_field
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.source import Source
from playground.sessions.times import utc_time


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span: attributes by dotted name, times as ISO 8601, and (only in OTLP) the trace's id.

    The ids of the span and of its parent are "" if none of the known keys (`spanId` …) has them.
    """

    name: str
    attributes: dict[str, Any]
    start: str
    stop: str
    place: Place
    trace: str = ""
    id: str = ""
    parent: str = ""

    @property
    def seconds(self) -> float | str | None:
        """The duration; see `seconds_between`."""
        return seconds_between(self.start, self.stop)


def seconds_between(start: Any, stop: Any) -> float | str | None:
    """Return the seconds between two times; None if one is unknown. A `stop` that is not a time
    is returned unchanged, and becomes a finding later."""
    try:
        ended = datetime.fromisoformat(str(stop or ""))
    except ValueError:
        return str(stop or "") or None
    try:
        return (ended - datetime.fromisoformat(str(start))).total_seconds()
    except (ValueError, TypeError):
        return None


def spans_of(source: Source) -> Iterator[TraceSpan]:
    """Yield every span of the file, in the order of their start."""
    if source.is_lines:
        found = [s for line, value in source.lines() for s in _spans(value, Place(line))]
    else:
        found = first_spans(source)
    yield from sorted(found, key=lambda span: span.start)


def first_spans(source: Source) -> list[TraceSpan]:
    """Return the spans that show a file's format: those of its first lines, or of a document.

    The result is stored in `source.seen`, because every format for traces needs it.
    """
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
        if isinstance(value.get("data"), dict):  # MLflow's form
            yield from _spans(value["data"], place.at("data"))
        if "attributes" in value:
            yield TraceSpan(
                str(value.get("name") or ""),
                _attributes(value["attributes"]),
                _time(_first(value, *_STARTS)),
                _time(_first(value, *_STOPS)),
                place,
                str(value.get("traceId") or ""),
                str(_first(value, "spanId", "span_id", "id") or ""),
                str(_first(value, "parentSpanId", "parent_span_id", "parentId") or ""),
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


def _attributes(raw: Any) -> dict[str, Any]:
    """Return attributes as a mapping. OTLP has a list of keys and typed values instead."""
    if isinstance(raw, dict):
        return raw
    pairs = [item for item in listed(raw) if isinstance(item, dict)]
    return {str(item.get("key")): plain_value(item.get("value")) for item in pairs}


def plain_value(value: Any) -> Any:
    """Return the value inside OTLP's typed object, such as 3 for `{"intValue": "3"}`. Return any
    other value unchanged."""
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
    """Return a time in UTC, given nanoseconds (OTLP), a pair of seconds and nanoseconds (SDK for
    JavaScript) or a text. A value that is not a time is returned as text, and becomes a finding
    later; None is ""."""
    match value:
        case [int(seconds), int(nanoseconds)]:
            with suppress(OverflowError):
                value = seconds + nanoseconds / 1e9
    return utc_time(value) or ("" if value is None else str(value))


def unflatten(attributes: dict[str, Any], prefix: str) -> Any:
    """Return the attributes `prefix.0.role`, `prefix.0.content` … as one list or object."""
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
    return _with_lists(root)


def _with_lists(node: Any) -> Any:
    """Return a value in which each object whose keys are all numbers is a list, in the order of
    these numbers."""
    if not isinstance(node, dict):
        return node
    if node and all(map(str.isdigit, node)):
        return [_with_lists(node[key]) for key in sorted(node, key=int)]
    return {key: _with_lists(value) for key, value in node.items()}
