"""Read the requests that a session holds as they were sent: bodies, times, bills.

They are examined as they stand, in no dialect and under no policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from playground.base.errors import InputFault
from playground.sessions.rows import bodies
from playground.sessions.session import RequestRow, Session

AS_SENT: Final = "as-sent"  # where a policy's name stands for others


@dataclass(frozen=True)
class SentRequests:
    """Complete request bodies, with the usage that came back for each; sub-agents' are left out.

    `times` are seconds since the first request; empty unless every request has its own time.
    """

    bodies: list[dict[str, Any]]
    usages: list[dict[str, Any] | None]
    times: list[float]


def sent_requests(session: Session) -> SentRequests:
    """Return the session's own requests. Raises InputFault if it holds none."""
    pairs = zip(session.rows, bodies(session.rows), strict=True)
    own = [(row, body) for row, body in pairs if not row.sub_agent]
    if not own:
        raise InputFault(
            f"policy {AS_SENT!r}: the session holds no requests as they were sent",
            expected="a session that was made of request bodies, or another policy",
        )
    rows = [row for row, _ in own]
    usages = [
        _usage(row.reply or {}) or noted
        for row, noted in zip(rows, _noted(session, len(rows)), strict=True)
    ]
    return SentRequests([body for _, body in own], usages, _times(rows))


def _noted(session: Session, count: int) -> list[dict[str, Any] | None]:
    """Return what was noted of the answers to so many requests, aligned at the end.

    The last answer belongs to the last request, unless there are fewer answers than requests.
    """
    replies = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
    usages = {record.reply: record.usage for record in session.requests}
    found = [usages.get(reply) for reply in replies[-count:]]
    return [*found, *[None] * (count - len(found))]


def notes_times(session: Session) -> bool:
    """Return True if every request has its time; builds no body to find out."""
    return bool(_times([row for row in session.rows if not row.sub_agent]))


def _times(rows: list[RequestRow]) -> list[float]:
    try:
        found = [datetime.fromisoformat(row.at).timestamp() for row in rows]
    except ValueError:
        return []
    return [at - found[0] for at in found]


def _usage(reply: dict[str, Any]) -> dict[str, Any] | None:
    usage = reply.get("usage", reply.get("usageMetadata"))
    return usage if isinstance(usage, dict) else None
