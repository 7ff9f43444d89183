"""Render a session's requests: for every answer, a request with the history before the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from playground.cache.answers.what_if import WhatIf
from playground.cache.diagnosis import Diagnosis, diagnosis_of
from playground.cache.prefixes import Billed, TimedRequest, counted_request
from playground.cache.rules import Rules
from playground.cache.rules.names import is_other_model
from playground.cache.usage import billed_of
from playground.dialects import Dialect
from playground.dialects.by_hand.own_requests import marks_in
from playground.dialects.marks.policies import CacheDecision, CacheRequest, Policy, as_parts
from playground.dialects.requests import requests_of
from playground.nouns.wire_blocks import WireBlock, WireReader, WireRequest
from playground.sessions.session import Session
from playground.sessions.stretches import stretches
from playground.sessions.times import instant

APART = 20.0  # seconds between requests without noted times


class Rendered(NamedTuple):
    """A request in a dialect: the messages that a policy sees, and the blocks on the wire.

    `anew` is True if the history begins again: for the first request after a compaction.
    `own_marks` are marks that the dialect's own `format_messages` sets: they stay under any policy.
    """

    messages: Sequence[dict[str, Any]]
    request: TimedRequest
    anew: bool = False
    own_marks: Sequence[CacheDecision] = ()

    def marked(
        self,
        policy: Policy,
        cache_request: CacheRequest,
        rules: Rules,
        ttl: str,
        billed_lifetime: str = "",
    ) -> TimedRequest:
        """Return the request with a policy's marks; a given `ttl` is the lifetime of all marks.

        `billed_lifetime`, from the bill, is used if no mark names one and the rules know it.
        """
        decisions = [*policy.decide(self.messages, cache_request), *self.own_marks]
        uses_billed = billed_lifetime in rules.value("ttls") and not any(
            each.ttl for each in decisions
        )
        usual = ttl or (billed_lifetime if uses_billed else str(rules.value("default_ttl")))
        marks = {
            block: ttl or decision.ttl or usual
            for decision in decisions
            if decision.marked and decision.message is not None and decision.part is not None
            for block in self.request.wire.at(decision.message, decision.part)
        }
        return self.request.marked(marks)


def render_requests(
    session: Session,
    dialect: Dialect,
    rules: Rules,
    seconds_apart: float | None,
    what_if: WhatIf,
    models: Sequence[str] = (),
) -> list[Rendered]:
    """Render the session's requests in a dialect, unmarked.

    If `seconds_apart` is None, they are sent at the recorded times. `models` has a model for each
    request, if some went to another model than the session's; a request that is still to come goes
    to the last of `models`.
    """
    environment = what_if.environment_of(session)
    # "as it is" and "after" append the environment block to the messages that a policy sees, so no
    # policy marks it, and the next request lacks it; otherwise `what_if.messages` places it.
    appended = environment if what_if.environment in ("as it is", "after") else ""
    plain = session.without_environment()
    history_ends = session.replies
    # With `parallel` > 1, rounds of calls are joined into one turn: no such request was sent.
    as_recorded = seconds_apart is None and what_if.parallel == 1
    times = sent_at(session, history_ends) if as_recorded else None
    if not history_ends or (what_if.pending and is_pending(session)):
        history_ends = [*history_ends, len(plain.messages)]
        times = [*times, times[-1] + APART] if times else None
    step = APART if seconds_apart is None else seconds_apart
    writes_own = dialect.writes_own_requests
    rendered: list[Rendered] = []
    reader = WireReader(session.task.model_name, rules.value("default_ttl"))
    # Writing the blocks is slow, so they are written once, without marks. Then each of the
    # compared policies marks the same blocks, which is fast.
    for number, (messages, tools, anew) in enumerate(_sent(plain, dialect, history_ends, what_if)):
        at = times[number] if times else number * step
        messages = what_if.messages(messages, environment, at)
        wire = reader.read({"messages": messages, "tools": tools})
        if models:
            wire.model = models[min(number, len(models) - 1)]
        if appended:
            _append_environment(wire, appended)
        before = rendered[-1].request if rendered else None
        body = {"messages": _with_environment(messages, appended), "tools": tools}
        request = counted_request(body, wire, at, rules, before)
        own_marks = marks_in(messages) if writes_own else ()
        rendered.append(Rendered(messages, request, anew, own_marks))
    return rendered


def _sent(
    session: Session, dialect: Dialect, history_ends: Sequence[int], what_if: WhatIf
) -> Iterator[tuple[Sequence[dict[str, Any]], list[dict[str, Any]] | None, bool]]:
    """Yield each request's messages and tools, and whether it restarts after a compaction."""
    number = 0
    for stretch in stretches(session, history_ends):
        plain, ends = what_if.conversation(session, stretch)
        anew = number > 0
        variants = [(plain, ends)]
        if what_if.shuffled_tools:
            variants = [(what_if.request(plain, number + n), [end]) for n, end in enumerate(ends)]
        for variant, variant_ends in variants:
            data = variant.prompt_data()
            tools = dialect.request_tools(data)
            for messages in requests_of(dialect, data, variant_ends):
                yield messages, tools, anew
                number, anew = number + 1, False


def is_pending(session: Session) -> bool:
    """Return True if the conversation ends with a message that has no answer."""
    return bool(session.messages) and session.messages[-1].role != "assistant"


def sent_at(session: Session, replies: Sequence[int]) -> list[float] | None:
    """Return when each answer's request was sent, in seconds since the first time that is known.

    Return None if fewer than half of the times are known. A request without a time gets that of the
    previous request.
    """
    time_of = {record.reply: record.at for record in session.requests}
    recorded = [instant(time_of.get(reply, "")) for reply in replies]
    known_times = [at for at in recorded if at is not None]
    if not known_times or 2 * len(known_times) < len(recorded):
        return None
    times: list[float] = []
    for at in recorded:
        before = times[-1] if times else 0.0
        times.append(before if at is None else at - known_times[0])
    return times


def billed_for(session: Session) -> list[Billed | None]:
    """Return the bill of each answer's request; None for a request without a bill."""
    usages = {record.reply: record.usage for record in session.requests}
    return [billed_of(usages.get(reply)) for reply in session.replies]


def diagnoses_in(session: Session) -> list[Diagnosis | None]:
    """Return the provider's diagnosis of each answer's request; None if none is noted."""
    diagnosis_by_reply = {record.reply: record.diagnostics for record in session.requests}
    return [diagnosis_of(diagnosis_by_reply.get(reply)) for reply in session.replies]


def billed_lifetimes(bills: Sequence[Billed | None]) -> list[str]:
    """Return the lifetime of the entries that each request wrote, as its bill shows: "1h", or ""
    for the default.

    A request that wrote nothing, or has no bill, takes the lifetime of the one before it.
    """
    lifetimes: list[str] = []
    for bill in bills:
        before = lifetimes[-1] if lifetimes else ""
        wrote = bill is not None and bill.write > 0
        hour = bill is not None and bill.write == bill.write_hour
        lifetimes.append(("1h" if hour else "") if wrote else before)
    return lifetimes


def answering_models(session: Session) -> list[str]:
    """Return the name of each request's model; the session's own model if none is noted."""
    model_by_reply = {record.reply: record.model for record in session.requests}
    return [model_by_reply.get(reply) or session.task.model_name for reply in session.replies]


def sent_models(session: Session) -> list[str]:
    """Return the model to which each answer's request went, as recorded, in order.

    A request without a recorded model is taken to go to the previous request's model, or else the
    next one's. If all records of the session's own model use one name, the session's spelling
    replaces it. The result is empty if no recorded model is the session's: the user asks about a
    model that was not recorded.
    """
    own_name = session.task.model_name
    recorded = {record.reply: record.model for record in session.requests}
    names = [recorded.get(reply, "") for reply in session.replies]
    model = next(filter(None, names), "")
    models = [model := name if is_other_model(model, name) else model for name in names]
    its_names = {name for name in models if name and not is_other_model(own_name, name)}
    return [own_name if its_names == {name} else name for name in models] if its_names else []


def _with_environment(messages: Sequence[dict[str, Any]], text: str) -> Sequence[dict[str, Any]]:
    """Return the messages with the environment block in the last user message, as dialects do."""
    backwards = range(len(messages) - 1, -1, -1) if text else ()
    index = next((i for i in backwards if messages[i]["role"] == "user"), None)
    if index is None:
        return messages
    content = [*as_parts(messages[index].get("content")), {"type": "text", "text": text}]
    return [*messages[:index], {**messages[index], "content": content}, *messages[index + 1 :]]


def _append_environment(wire: WireRequest, environment: str) -> None:
    """Append the environment block to the last user message, unmarked, as dialects do."""
    for index in range(len(wire.blocks) - 1, -1, -1):
        block = wire.blocks[index]
        if block.role == "user" and block.kind != "tool_result":
            wire.insert(index + 1, WireBlock("messages", "user", "text", environment))
            return
