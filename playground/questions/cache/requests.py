"""A session's requests: every answer of the assistant was one, of all that came before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from playground.caching.blocks import WireBlock, WireReader
from playground.caching.policies import CacheDecision, CacheRequest, Policy
from playground.caching.prefixes import Billed, TimedRequest
from playground.caching.rules import Rules
from playground.caching.usage import billed_of
from playground.dialects import Dialect
from playground.questions.cache.what_if import WhatIf
from playground.sessions.session import Session

APART = 20.0  # seconds between requests whose times nobody noted


@dataclass(frozen=True, slots=True)
class Rendered:
    """One request in a dialect: the messages that a policy sees, and the blocks on the wire."""

    messages: list[dict[str, Any]]
    request: TimedRequest

    def marked(self, policy: Policy, asked: CacheRequest, rules: Rules, ttl: str) -> TimedRequest:
        """The request with a policy's marks; `ttl`, if given, is that of all of them."""
        decisions = policy.decide(self.messages, asked)
        places = {(d.message, d.part): d for d in decisions if d.marked}
        return self.request.marked(_marks(self.request.wire.blocks, places, rules, ttl))


def render_requests(
    session: Session, dialect: Dialect, rules: Rules, apart: float | None, what_if: WhatIf
) -> list[Rendered]:
    """The session's requests in a dialect, unmarked; `apart` None: at the times it has noted."""
    # Rendered once, without marks: every policy of the matrix then marks the same blocks, at no
    # cost (rendering is what takes the time).
    chosen = dialect.with_policy("none")
    environment = what_if.environment_of(session)
    # Written after the marks and gone at the next request, so it may not be in the rendering.
    appended = environment if what_if.environment in ("as it is", "after") else ""
    dynamic = session.dynamic.model_copy(update={"dynamic_environment_details_block": ""})
    plain = what_if.conversation(replace(session, dynamic=dynamic))
    replies = [i for i, message in enumerate(plain.messages) if message.role == "assistant"]
    # Joined rounds are requests that were never sent: they have no times of their own.
    times = sent_at(session, replies) if apart is None and what_if.parallel == 1 else None
    if not replies or (what_if.pending and is_pending(session)):
        replies = [*replies, len(plain.messages)]
        times = [*times, times[-1] + APART] if times else None
    step = APART if apart is None else apart
    found: list[Rendered] = []
    reader = WireReader(session.task.model_name, rules.value("default_ttl"))
    for number, index in enumerate(replies):
        at = times[number] if times else number * step
        given = what_if.request(replace(plain, messages=plain.messages[:index]), number)
        rendering = chosen.render(given.prompt_data())
        messages = what_if.messages(rendering.messages, environment, at)
        wire = reader.read({"messages": messages, "tools": rendering.tools})
        if appended:
            _append_environment(wire.blocks, appended)
        before = found[-1].request if found else None
        found.append(Rendered(messages, TimedRequest(wire, at, rules, before=before)))
    return found


def is_pending(session: Session) -> bool:
    """Whether the conversation ends with what nobody has answered yet."""
    return bool(session.messages) and session.messages[-1].role != "assistant"


def sent_at(session: Session, replies: Sequence[int]) -> list[float] | None:
    """When each answer's request was sent, in seconds since the first; None unless all say so."""
    noted = {record.reply: record.at for record in session.requests}
    found: list[float] = []
    for reply in replies:
        try:
            found.append(datetime.fromisoformat(noted.get(reply, "")).timestamp())
        except ValueError:
            return None
    return [at - found[0] for at in found]


def billed_for(session: Session) -> list[Billed | None]:
    """What each answer's request was billed, where the session says."""
    usages = {record.reply: record.usage for record in session.requests}
    replies = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
    return [billed_of(usages.get(reply)) for reply in replies]


def _append_environment(blocks: list[WireBlock], environment: str) -> None:
    """The environment block after the last user message, where dialects put it, unmarked."""
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].role == "user" and blocks[index].kind != "tool_result":
            blocks.insert(index + 1, WireBlock("messages", "user", "text", environment))
            return


def _marks(
    blocks: Sequence[WireBlock],
    places: dict[tuple[int | None, int | None], CacheDecision],
    rules: Rules,
    ttl: str,
) -> dict[int, str]:
    usual = ttl or str(rules.value("default_ttl"))
    return {
        index: ttl or places[block.place].ttl or usual
        for index, block in enumerate(blocks)
        if block.place in places
    }
