"""Warn about expected calls that the session's own tools would refuse.

The trial still uses these calls: a test of a schema may expect calls that the schema forbids.
"""

from __future__ import annotations

from playground.base.findings import Finding, finding
from playground.nouns.tools import ToolMetadata
from playground.sessions.session import ExpectedCall, Session


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
    return [reply for reply in findings if reply is not None]


def _doubt(call: ExpectedCall, tool: ToolMetadata | None, case: str) -> Finding | None:
    where = f"expected of {case}"
    if tool is None:
        return finding("unknown-tool", where, f"{call.tool_name!r} is none of the session's tools")
    if call.args is None:
        return None
    from playground.nouns.tool_formats.misfits import check_of, misfit  # a tenth of a second

    check = check_of(tool)
    wrong = misfit(check, call.args) if check else ""
    if not wrong:
        return None
    return finding("expected-misfit", where, f"the schema of {tool.name} refuses: {wrong}")
