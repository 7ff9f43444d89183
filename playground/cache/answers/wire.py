"""Compare the marks of a request with those that the provider's adapter really sends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.base.arguments import formerly_positional, takes
from playground.base.display import Shown
from playground.base.findings import Finding, finding
from playground.base.fixes import FIXES
from playground.base.wording import counted
from playground.cache.answers.as_sent import AS_SENT, sent_requests
from playground.cache.answers.known_rules import assumption_of, check_model, known_rules
from playground.cache.answers.placement import refuse_writer
from playground.dialects import Dialect, get_dialect
from playground.dialects.marks.policies import Policy
from playground.dialects.request_messages import Rendering
from playground.llm.payloads import WireCall, wire_calls, with_provider
from playground.nouns.wire_blocks import WireBlock, read_wire
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session


@dataclass(frozen=True)
class CacheWire(Shown):
    """A session's next request as an adapter sends it, with the blocks that are sent or cached.

    `cached` is what Gemini's explicit cache would hold; it is empty for other providers, and if no
    such cache is made. `findings` has one `mark-lost` for each mark that does not arrive, and
    `marks-not-placed` if only the recorded request has marks. Its table has a row for each block.
    """

    dialect: str
    policy: str
    model: str
    calls: list[WireCall]
    sent: list[WireBlock]
    cached: list[WireBlock]
    findings: list[Finding]

    @property
    def assumption(self) -> str:
        """A sentence that says whose rules are assumed for an unknown model; "" for a known one."""
        return assumption_of(known_rules("", self.model), self.model)

    @property
    def marks(self) -> list[WireBlock]:
        """The blocks that are marked on the wire."""
        return [block for block in self.sent if block.ttl is not None]


@formerly_positional(2, "policy", "model")
@takes(session=(Session, str), policy=(str, Policy), model="text")
def cache_on_wire(
    session: Session | str,
    dialect: str | Dialect = "native",
    *,
    policy: str | Policy = "",
    model: str = "",
) -> CacheWire:
    """Return the session's next request as LiteLLM's adapter would send it; nothing is sent.

    `policy` replaces the dialect's own, `model` the session's. The `model` of the returned
    CacheWire has the provider that was added to a name without one. Loads LiteLLM, which takes
    seconds. The policy "as-sent" gives the session's last request as it was recorded, with its own
    marks, in no dialect: the adapter changes nothing in it. Raises UnknownNameError, and InputFault
    for a model whose adapter cannot be watched offline.
    """
    session = session_or_sample(session)
    check_model(model)
    if policy == AS_SENT:
        refuse_writer("cache_on_wire", dialect)
        return _as_sent(session.with_model(model))
    chosen = get_dialect(dialect).with_policy(policy)
    session = session.with_model(with_provider(model or session.task.model_name))
    name = session.task.model_name
    rendering = chosen.render(session.prompt_data())
    calls = wire_calls(rendering.messages, name, rendering.tools or ())
    placed = chosen.marking_policy.name
    findings = [*lost_marks(rendering, calls), *marks_not_placed(session, rendering, placed)]
    sent, cached = read_wire(calls[-1].body).blocks[:], _cached_blocks(calls)
    return CacheWire(chosen.name, placed, name, calls, sent, cached, findings)


def _as_sent(session: Session) -> CacheWire:
    name, body = session.task.model_name, sent_requests(session).bodies[-1]
    blocks = read_wire(body, name).blocks[:]
    return CacheWire("", AS_SENT, name, [WireCall("POST", "", body)], blocks, [], [])


def lost_marks(rendering: Rendering, calls: Sequence[WireCall]) -> list[Finding]:
    """Return a `mark-lost` finding for each rendered mark that no block on the wire has."""
    sent = read_wire(calls[-1].body).blocks
    # An explicit cache holds all its blocks: they need no marks of their own.
    arrived = _cached_blocks(calls) or [block for block in sent if block.ttl is not None]
    findings: list[Finding] = []
    fix = FIXES["mark-lost"]
    for block in _rendered_blocks(rendering):
        if block.ttl is None:
            continue
        index = next((i for i, other in enumerate(arrived) if _holds(other, block)), None)
        # Each block on the wire is matched with one mark only: if two texts are equal, one of
        # them may have lost its mark.
        if index is not None:
            del arrived[index]
            continue
        where = "tool" if block.place is None else "message {} part {}".format(*block.place)
        findings.append(finding("mark-lost", where, f"no block that is sent carries it; {fix}"))
    return findings


def marks_not_placed(session: Session, rendering: Rendering, policy: str) -> list[Finding]:
    """Return a finding if the last recorded request has marks and the rendered one has none."""
    is_marked = any(block.ttl is not None for block in _rendered_blocks(rendering))
    if is_marked or all(row.sub_agent for row in session.rows):
        return []
    recorded = read_wire(sent_requests(session).bodies[-1])
    marks = sum(block.ttl is not None for block in recorded.blocks)
    marks += recorded.automatic_ttl is not None
    absence = f"the policy {policy!r} places none for {session.task.model_name}"
    words = f"{counted(marks, 'mark')}; {absence}"
    return [finding("marks-not-placed", "the recorded request", words)] if marks else []


def _rendered_blocks(rendering: Rendering) -> Sequence[WireBlock]:
    return read_wire({"messages": rendering.messages, "tools": rendering.tools}).blocks


def _cached_blocks(calls: Sequence[WireCall]) -> list[WireBlock]:
    posted = (call for call in calls if call.method == "POST")
    made = [call for call in posted if call.url.partition("?")[0].endswith("/cachedContents")]
    return read_wire(made[-1].body).blocks[:] if made else []


def _holds(wire: WireBlock, block: WireBlock) -> bool:
    """Return True if the wire's block holds the marked block's last text or tool's name. If that is
    empty, as for a picture or a call, return True if both blocks are of one kind."""
    content = _content(block)
    if not content and block.kind != "text":
        return wire.kind == block.kind or (wire.opaque and block.opaque)
    quoted = json.dumps(content, ensure_ascii=False)[1:-1]
    return content == wire.text or (quoted != "" and quoted in wire.text)


def _content(block: WireBlock) -> str:
    if block.kind == "text":
        return block.text
    value: Any = json.loads(block.text)
    if block.kind == "tool":
        return str(value.get("name") or (value.get("function") or {}).get("name"))
    content = value.get("content") or ""
    last = content[-1] if isinstance(content, list) and content else content
    return str(last.get("text", "") if isinstance(last, dict) else last)
