"""Warn about expected calls that the session's own tools would refuse.

The trial still uses these calls: a test of a schema may expect calls that the schema forbids. Only
an unknown name in `trial(expected=…)` is refused, because it can only be a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from playground.base.errors import UnknownNameError
from playground.base.findings import Finding, finding
from playground.nouns.tools import ToolMetadata
from playground.sessions.session import ExpectedCall, Session

# A schema with only these keywords names all its arguments.
_CLOSED: Final = frozenset(
    (
        "$schema",
        "$defs",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "title",
        "description",
    )
)


def doubts(session: Session) -> list[Finding]:
    """Return a finding for each expected call whose tool is unknown or refuses the arguments.

    A session without tools is not checked.
    """
    tools = {tool.name: tool for tool in session.tools}
    findings = (
        _doubt(call, tools.get(call.tool_name), reply.name or f"message {reply.message}")
        for reply in session.expected
        for call in (reply.calls if tools else ())
    )
    return [found for found in findings if found is not None]


def refuse_unknown_names(call: ExpectedCall, tools: Sequence[ToolMetadata]) -> None:
    """Raise UnknownNameError for a tool that is not in `tools`, or an argument unknown to the tool.

    A schema with other keywords than `_CLOSED` may allow arguments that it does not name.
    """
    tool = next((each for each in tools if each.name == call.tool_name), None)
    if tool is None:
        raise UnknownNameError("tool of this session", call.tool_name, [t.name for t in tools])
    schema, known = tool.input_schema, sorted(tool.parameter_names)
    if not known or not _CLOSED.issuperset(schema) or schema.get("additionalProperties"):
        return
    for name in call.args or {}:
        if name not in known:
            raise UnknownNameError(f"argument of {tool.name}", name, known)


def _doubt(call: ExpectedCall, tool: ToolMetadata | None, case: str) -> Finding | None:
    where = f"expected of {case}"
    if tool is None:
        return finding("unknown-tool", where, f"{call.tool_name!r} is none of the session's tools")
    if call.args is None:
        return None
    wrong = _misfit(tool, call.args)
    if not wrong:
        return None
    return finding("expected-misfit", where, f"the schema of {tool.name} refuses: {wrong}")


def _misfit(tool: ToolMetadata, arguments: dict[str, Any]) -> str:
    from playground.nouns.tool_formats.misfits import check_of, misfit  # its import takes 0.1 s

    check = check_of(tool)
    return misfit(check, arguments) if check else ""
