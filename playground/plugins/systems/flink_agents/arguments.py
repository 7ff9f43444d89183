"""Check and convert a call's arguments by the tool's pydantic model before the tool runs.

The rules are those of pydantic's lax mode: for an integer field, `"1"` becomes 1, and `"one"` is
refused. An argument declared as a model, an enum, a set or a date becomes an instance of that type.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticSerializationError

from playground.base.findings import Finding, finding
from playground.nouns import tools
from playground.parsing.values import is_deeper, same
from playground.plugins.systems.flink_agents.argument_names import ArgumentName, argument_names
from playground.plugins.systems.flink_agents.tool_metadata import ToolMetadata

MOST_DEPTH: Final = 50  # levels of nested objects and lists, the arguments themselves included


def checked_arguments(
    tool: tools.ToolMetadata, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Finding]]:
    """Return the arguments converted by the tool's pydantic model, and findings.

    There is a finding for each argument with a changed value, and one finding for all keywords of a
    schema that could not be checked. Unknown arguments are kept.

    Raises ValueError, which names every argument that is missing or does not fit, or says that the
    arguments are nested more than 50 levels deep.
    """
    if is_deeper(arguments, MOST_DEPTH):
        raise ValueError(f"the arguments are nested too deeply: at most {MOST_DEPTH} levels")
    model = ToolMetadata.model_validate(tool).args_schema
    names = argument_names(model)
    _refuse_other_names(arguments, names)
    try:
        parsed = model.model_validate(dict(arguments))
    except ValidationError as error:
        messages = {str(entry["loc"][:1]): _error_text(entry) for entry in reversed(error.errors())}
        raise ValueError("; ".join(reversed(messages.values()))) from error
    values, as_json = _values(parsed, arguments, names), _as_json(parsed, names)
    wanted = {name: known.wants for known in names.values() for name in known.accepted}
    findings = []
    for name, value in arguments.items():
        wants = wanted.get(name, name)
        if wants in values and not _is_unchanged(value, as_json.get(wants, values[wants])):
            text = f"{value!r:.80} is read as {values[wants]!r:.80}"
            findings.append(finding("argument-coerced", f"tool {tool.name}, argument {name}", text))
    if unchecked := getattr(parsed, "_unchecked_keywords", ()):  # only if built from a schema
        findings.append(finding("keyword-unchecked", f"tool {tool.name}", ", ".join(unchecked)))
    return values, findings


def _error_text(error: ErrorDetails) -> str:
    if not error["loc"]:  # an error about all arguments, whose message names them
        return error["msg"]
    name = error["loc"][0]
    if error["type"] == "missing" and len(error["loc"]) == 1:
        return f"{name}: missing"
    return f"{name}: {error['msg']}, not {error['input']!r:.80}"


def _refuse_other_names(arguments: Mapping[str, Any], names: Mapping[str, ArgumentName]) -> None:
    """Raise ValueError for a field's own name if the field has an alias, because pydantic would
    ignore the argument."""
    accepted = {name for known in names.values() for name in (*known.accepted, *known.containers)}
    problems = [
        f"{name}: not an argument; it is "
        f"{' or '.join(names[name].accepted + names[name].containers)}"
        for name in arguments
        if name in names and name not in accepted
    ]
    if problems:
        raise ValueError("; ".join(problems))


def _values(
    parsed: BaseModel, arguments: Mapping[str, Any], names: Mapping[str, ArgumentName]
) -> dict[str, Any]:
    """Return the converted values, under the names that the tool wants, and unknown arguments."""
    accepted = {name for known in names.values() for name in (*known.accepted, *known.containers)}
    unknown = {name: value for name, value in arguments.items() if name not in accepted}
    known = {
        names[name].wants: getattr(parsed, name)
        for name in names
        if name in parsed.model_fields_set
    }
    return {**unknown, **known, **(parsed.model_extra or {})}


def _as_json(parsed: BaseModel, names: Mapping[str, ArgumentName]) -> dict[str, Any]:
    """Return the converted values as JSON, by the names that the tool wants; {} if JSON cannot hold
    one of them."""
    fields = type(parsed).model_fields
    wanted = {fields[name].serialization_alias or name: each.wants for name, each in names.items()}
    with suppress(PydanticSerializationError):
        dumped = parsed.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
        return {wanted.get(name, name): value for name, value in dumped.items()}
    return {}


def _is_unchanged(original: Any, read: Any) -> bool:
    """Return True if conversion changed nothing in a value, except that models got defaults."""
    if isinstance(original, dict) and isinstance(read, dict):
        return all(
            key in read and _is_unchanged(value, read[key]) for key, value in original.items()
        )
    if isinstance(original, list) and isinstance(read, list):
        return len(original) == len(read) and all(map(_is_unchanged, original, read))
    return same(original, read)
