"""Read the recorded requests of a session: their bodies, times and bills.

The bodies stay as they were sent: no dialect rewrites them, and no policy marks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from playground.base.errors import InputFault
from playground.cache.diagnosis import Diagnosis, diagnosis_of
from playground.cache.rules.names import plain_name
from playground.dialects.marks.policies import AS_SENT as AS_SENT
from playground.dialects.marks.providers import UNKNOWN, provider_of, rules_and_model
from playground.sessions.rows import bodies
from playground.sessions.session import RequestRow, Session
from playground.sessions.times import instant

FieldValue = TypeVar("FieldValue")


@dataclass(frozen=True)
class SentRequests:
    """A session's complete request bodies with each answer's usage, without those of sub-agents.

    `times` are seconds since the first request; empty unless every request has its own time.
    """

    bodies: list[dict[str, Any]]
    usages: list[dict[str, Any] | None]
    diagnoses: list[Diagnosis | None]  # the provider's diagnosis of its cache
    times: list[float]
    routes: list[str]  # name of the rules for each address; "" if it is unknown or missing
    unknown_hosts: list[str]  # addresses whose host is no known provider
    summed: list[bool]  # True if tools of the provider ran: the bill is then a sum of rounds

    @property
    def doubt(self) -> str:
        """Return a sentence if not all requests went to one known provider, else ""."""
        routes = list(dict.fromkeys(filter(None, self.routes)))
        if len(routes) > 1:
            return f"the requests went to several providers: {', '.join(routes)}"
        return "it went to a host of no known provider" if self.unknown_hosts else ""


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
        _usage(row.reply or {}) or usage
        for row, usage in zip(rows, _aligned(session, len(rows), dict, "usage"), strict=True)
    ]
    diagnoses = [diagnosis_of(row.reply) for row in rows]
    if not any(diagnoses):
        diagnoses = _aligned(session, len(rows), diagnosis_of, "diagnostics")
    routes = [_route(row.url, body) for row, body in own]
    urls = [row.url for row in rows]
    unknown_hosts = [
        url for url, route in zip(urls, routes, strict=True) if "://" in url and not route
    ]
    return SentRequests(
        [body for _, body in own],
        usages,
        diagnoses,
        _times(rows),
        routes,
        unknown_hosts,
        _summed(own),
    )


def doubt_of_providers(session: Session, models: Sequence[str], provider: str) -> str:
    """Return a sentence if the requests' addresses show several providers or an unknown one, or if
    one of the answering `models` is of another provider than `provider`; else ""."""
    if any(not row.sub_agent for row in session.rows) and (doubt := sent_requests(session).doubt):
        return doubt
    # answers may name a model without the gateway, or no model at all ("<synthetic>")
    known = {UNKNOWN, provider, provider_of(plain_name(session.task.model_name))}
    strangers = any(provider_of(name) not in known for name in models)
    names = ", ".join(dict.fromkeys(models))
    return f"the requests went to models of several providers: {names}" if strangers else ""


def _summed(own: list[tuple[RequestRow, dict[str, Any]]]) -> list[bool]:
    """Return for each request True if its bill is the sum of several rounds. If tools of the
    provider ran, it called the model several times for one request. The usage does not always show
    this (not for code execution, for instance). So the answer is searched for calls of the
    provider's tools, in the reply and in the next request."""
    sums: list[bool] = []
    for number, (row, body) in enumerate(own):
        later = own[number + 1][1].get("messages") if number + 1 < len(own) else None
        messages = body.get("messages")
        following = (
            later[len(messages) :][:1]
            if isinstance(messages, list) and isinstance(later, list)
            else []
        )
        contents = [
            one.get("content") for one in (row.reply or {}, *following) if isinstance(one, dict)
        ]
        parts = [part for each in contents if isinstance(each, list) for part in each]
        kinds = [part.get("type") for part in parts if isinstance(part, dict)]
        sums.append("server_tool_use" in kinds)
    return sums


def _route(url: str, body: dict[str, Any]) -> str:
    """Return the name of the rules for an address; "" if the address does not show the provider."""
    model = body.get("model")
    rules, _ = rules_and_model(url, model if isinstance(model, str) else "")
    return "" if rules == UNKNOWN and url.startswith("/") else rules


def _aligned(
    session: Session, count: int, convert: Callable[[Any], FieldValue | None], field: str
) -> list[FieldValue | None]:
    """Return the `field` of each request's record, converted by `convert`, for `count` requests. If
    every request has a record, records and requests correspond one to one; the record of an
    unanswered request is empty. Otherwise the values of the last `count` answers are taken; if
    there are fewer answers than requests, the last requests get None."""
    if len(session.requests) == count:
        values = [getattr(record, field) for record in session.requests]
    else:
        replies = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
        by_reply = {record.reply: getattr(record, field) for record in session.requests}
        values = [by_reply.get(reply) for reply in replies[-count:]]
    aligned = [None if each is None else convert(each) for each in values]
    return [*aligned, *[None] * (count - len(aligned))]


def has_all_times(session: Session) -> bool:
    """Return True if every request has its time. No request body is built for this."""
    return bool(_times([row for row in session.rows if not row.sub_agent]))


def _times(rows: list[RequestRow]) -> list[float]:
    seconds = [at for row in rows if (at := instant(row.at)) is not None]
    return [at - seconds[0] for at in seconds] if len(seconds) == len(rows) else []


def _usage(reply: dict[str, Any]) -> dict[str, Any] | None:
    usage = reply.get("usage", reply.get("usageMetadata"))
    return usage if isinstance(usage, dict) else None
