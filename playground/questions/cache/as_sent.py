"""What a session holds of its requests as they were brought: bodies, times, bills.

The one rule: what somebody brought is asked about as it stands, in no dialect and under no policy.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from playground.questions.cache.simulation import CacheSimulation, simulate_cache
from playground.sessions.rows import bodies
from playground.sessions.session import RequestRow, Session

AS_SENT: Final = "as-sent"  # where a policy's name stands for others


def sent_bodies(session: Session) -> list[dict[str, Any]]:
    """The bodies of the session's own requests, each whole; those of its sub-agents are none."""
    return [
        body
        for row, body in zip(session.rows, bodies(session.rows), strict=True)
        if not row.sub_agent
    ]


def simulate_sent(session: Session, seconds_apart: float | None = None) -> CacheSimulation:
    """The session's own requests as they were brought, with their own marks: in no dialect.

    They are sent at the times that they have noted, else 20 seconds apart, or `seconds_apart`.
    Raises InputFault where one is of no provider's shape.
    """
    found = simulate_cache(
        sent_bodies(session),
        session.task.model_name,
        seconds_apart=seconds_apart,
        usages=[_usage(row.reply or {}) for row in _own(session)],
        times=[] if seconds_apart is not None else _times(session),
    )
    return replace(found, policy=AS_SENT)


def _times(session: Session) -> list[float]:
    """When each was sent, in seconds since the first; none unless every one says so."""
    try:
        found = [datetime.fromisoformat(row.at).timestamp() for row in _own(session)]
    except ValueError:
        return []
    return [at - found[0] for at in found]


def _own(session: Session) -> list[RequestRow]:
    return [row for row in session.rows if not row.sub_agent]


def _usage(reply: dict[str, Any]) -> dict[str, Any] | None:
    usage = reply.get("usage", reply.get("usageMetadata"))
    return usage if isinstance(usage, dict) else None
