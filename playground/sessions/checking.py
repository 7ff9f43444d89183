"""What is odd about a session that can be read: findings, never errors."""

from __future__ import annotations

from playground.findings import Finding, finding
from playground.messages import Message
from playground.sessions.session import Session
from playground.tools import schema_findings


def check(session: Session) -> list[Finding]:
    """Calls without results, results without calls, double ids, empty messages, odd schemas."""
    found = [f for i, tool in enumerate(session.tools) for f in schema_findings(tool, f"tools.{i}")]
    open_calls: dict[str, str] = {}
    seen: set[str] = set()
    for index, message in enumerate(session.messages):
        where = f"messages.{index}"
        if not message.parts:
            found.append(finding("empty-message", where))
        if message.role != "tool":
            found += _missing(open_calls)
        found += _calls(message, where, seen, open_calls)
        found += _results(message, where, open_calls)
    return found


def _calls(
    message: Message, where: str, seen: set[str], open_calls: dict[str, str]
) -> list[Finding]:
    found: list[Finding] = []
    for call in message.tool_calls:
        if call.tool_call_id in seen:
            found.append(finding("duplicate-id", where, f"id {call.tool_call_id!r} is used twice"))
        seen.add(call.tool_call_id)
        open_calls[call.tool_call_id] = where
    return found


def _results(message: Message, where: str, open_calls: dict[str, str]) -> list[Finding]:
    found: list[Finding] = []
    for result in message.tool_results:
        if open_calls.pop(result.tool_call_id, None) is None:
            text = f"no open call has the id {result.tool_call_id!r}"
            found.append(finding("orphan-result", where, text))
    return found


def _missing(open_calls: dict[str, str]) -> list[Finding]:
    """The next turn has come: what is open now is never answered."""
    found = [
        finding("missing-result", where, f"the call {call_id!r} has no result")
        for call_id, where in open_calls.items()
    ]
    open_calls.clear()
    return found
