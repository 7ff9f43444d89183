"""Follow a request's parameters on their way to a provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.llm.completion_arguments import OF_TOOLS
from playground.recordings.value_scrubbing import scrubbed_value

TOOL_FIELDS: Final = ("tools", "toolConfig", "tool_config", "functions")
_NO_TOOLS: Final = "the dialect sends no tools in the request, so no tool can be chosen"
_LEFT_OUT: Final = "it is only for the recorded request, or a file may not set it"


def parameter_differences(given: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a finding for each `given` parameter that is not `sent` in the body, and for each sent
    parameter that was not given.

    Given parameters are found in the body by their names, then by their values under other names.
    """
    yield from _dropped(given, sent)
    yield from _added(given, sent)


def parameters_not_passed(
    own: Mapping[str, Any], given: Mapping[str, Any], sent: Mapping[str, Any]
) -> Iterator[Finding]:
    """Yield a finding for each of a session's `own` parameters that was not passed on.

    Their values are not shown, because a file may hold a key.
    """
    for name in own:
        if name not in given and name not in sent:
            yield finding("parameter-left", name, _NO_TOOLS if name in OF_TOOLS else _LEFT_OUT)


def _dropped(given: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[Finding]:
    entries = [entry for name, value in sent.items() for entry in _entries(name, value)]
    names = {name for name, _ in entries}
    # A value under the name of a given parameter belongs to that parameter, and to no other.
    values = {as_json(value) for name, value in entries if name not in given}
    for name, value in given.items():
        if name not in names and values.isdisjoint(_values_in(value)):
            value_text = _shown_value(name, value)
            text = f"{value_text} is not sent: neither its name nor its value is in the body"
            yield finding("parameter-dropped", name, text)


def _added(given: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[Finding]:
    values = {inner for value in given.values() for inner in _values_in(value)}
    for name, value in sent.items():
        if name in TOOL_FIELDS or _is_unset(value):  # tools have findings of their own
            continue
        if not any(
            key in given or as_json(inner) in values for key, inner in _entries(name, value)
        ):
            value_text = _shown_value(name, value)
            text = f"{value_text}: the adapter adds it; no given parameter asks for it"
            yield finding("parameter-added", name, text)


def _is_unset(value: Any) -> bool:
    return value is None or value is False or value in ({}, [])  # unlike 0, which is a setting


def _shown_value(name: str, value: Any) -> str:
    """Return the beginning of a value, with anything that looks like a secret removed."""
    return as_json(scrubbed_value({name: value})[name])[:80]


def _values_in(value: Any) -> set[str]:
    """Return a value and all values within it, as JSON."""
    return {as_json(inner) for _, inner in _entries("", value)}


def _entries(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value with its name, and every value within it with its own name."""
    stack = [(name, value)]
    while stack:
        name, node = stack.pop()
        yield name, node
        if isinstance(node, Mapping):
            stack += [(str(key), inner) for key, inner in node.items()]
        elif isinstance(node, list):
            stack += [(name, inner) for inner in node]


def as_json(value: Any) -> str:
    """Return a value as JSON; an object that JSON lacks, such as a class, becomes its name."""
    return json.dumps(value, ensure_ascii=False, default=_name)


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", type(value).__name__))
