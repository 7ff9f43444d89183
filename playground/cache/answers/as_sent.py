"""Read the requests that a session holds as they were sent: bodies, times, bills.

They are examined as they stand, in no dialect and under no policy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from playground.base.errors import InputFault
from playground.cache.diagnosis import Diagnosis, diagnosis_of
from playground.dialects.marks.policies import AS_SENT as AS_SENT
from playground.sessions.rows import bodies
from playground.sessions.session import RequestRow, Session

Noted = TypeVar("Noted")


@dataclass(frozen=True)
class SentRequests:
    """Complete request bodies, with the usage that came back for each; sub-agents' are left out.

    `times` are seconds since the first request; empty unless every request has its own time.
    """

    bodies: list[dict[str, Any]]
    usages: list[dict[str, Any] | None]
    told: list[Diagnosis | None]  # by the provider, of its cache
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
        for row, noted in zip(rows, _aligned(session, len(rows), dict, "usage"), strict=True)
    ]
    told = [diagnosis_of(row.reply) for row in rows]
    if not any(told):
        told = _aligned(session, len(rows), diagnosis_of, "diagnostics")
    return SentRequests([body for _, body in own], usages, told, _times(rows))


def _aligned(
    session: Session, count: int, read: Callable[[Any], Noted | None], field: str
) -> list[Noted | None]:
    """Return a noted field of the answers to so many requests, as `read`, aligned at the end.

    Where every request has a record, one may have no answer. Otherwise the last answer belongs to
    the last request, unless there are fewer answers than requests.
    """
    if len(session.requests) == count:
        given = [getattr(record, field) for record in session.requests]
    else:
        replies = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
        noted = {record.reply: getattr(record, field) for record in session.requests}
        given = [noted.get(reply) for reply in replies[-count:]]
    found = [None if each is None else read(each) for each in given]
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
