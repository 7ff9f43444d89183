"""Place `cache_control` marks in a session's request by a policy, with the reason for each part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from playground.base.arguments import formerly_positional, refuse_unused, takes
from playground.base.display import Drawn, Live
from playground.base.findings import Finding, finding
from playground.base.wording import counted, short_repr
from playground.cache.answers.known_rules import assumption_of, check_model, known_rules
from playground.cache.answers.marked_prefix import MarkedPrefix, marked_prefix
from playground.cache.breakpoints import breakpoints
from playground.cache.prefixes import TimedRequest, counted_request
from playground.cache.rules import Rules
from playground.dialects import Dialect, get_dialect
from playground.dialects.marks.family import ModelFamily, model_family
from playground.dialects.marks.policies import (
    AS_SENT,
    GEMINI_MIN_CHARACTERS,
    CacheDecision,
    Policy,
    as_parts,
    text_characters,
)
from playground.dialects.rendering import message_text
from playground.dialects.request_messages import Rendering
from playground.nouns.wire_blocks import read_wire
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session


@dataclass(frozen=True, slots=True, repr=False)
class PartPlacement:
    """One part of one formatted message, with the policy's decision on it."""

    message: int
    part: int
    role: str
    text: str
    decision: CacheDecision
    environment: bool  # True for the environment block, which is added after the marks

    def __repr__(self) -> str:
        place = f"{self.role} {self.message}.{self.part}"
        mark = "marked" if self.decision.marked else "not marked"
        size = counted(len(self.text), "character")
        return short_repr(self, place, size, f"{mark}: {self.decision.reason}")


@dataclass(frozen=True)
class CachePlacement(Drawn, Live):
    """Every part of a request with the decision on it, which a notebook or page shows as a pane.

    `characters` is the size of all that is sent, tools too, as `pg.compare` counts it.
    `text_characters` is what the Gemini threshold counts: the messages' text, without tools, calls
    and the environment block, which is added after the marks. Under the policy "as-sent" both count
    all blocks. The table has a row for each part: role, characters, mark, reason. The figure is a
    gauge: of the text for Gemini, for other models of the tokens up to the last mark.
    """

    dialect: str
    model_name: str
    family: ModelFamily
    policy: str
    parts: list[PartPlacement]
    decisions: list[CacheDecision]
    characters: int
    text_characters: int
    reach: MarkedPrefix
    threshold: int = GEMINI_MIN_CHARACTERS
    refused: Callable[[], list[Finding]] = field(default=list, compare=False, repr=False)
    notes: tuple[Finding, ...] = ()

    def _summary(self) -> str:
        refused = f": {self.refusal.reason}" if self.refusal else ""
        refused += "".join(f", {each.code}" for each in self.findings)
        marks = f"{len(self.marks)} of {counted(len(self.parts), 'part')} marked{refused}"
        return f"{self.policy} in {self.dialect or 'no dialect'}, {marks}, {self.model_name}"

    @property
    def findings(self) -> list[Finding]:
        """The provider's reason to refuse the request, and a note if it was sent with other
        marks."""
        return [*self.refused(), *self.notes]

    @property
    def thresholds(self) -> str:
        """The marks, the prefix that they cover, and whether this prefix is long enough, in one
        line, with the reason if the provider refuses the request.

        The policy "azad" has a threshold for Gemini in characters: recorded requests had 2.2 to 6.0
        characters a token.
        """
        refusals = [f"refused: {each.message}" for each in self.refused()]
        line = "; ".join([self.reach.line, *refusals])
        if self.family != "gemini":
            return line
        counted = f"{self.text_characters:,} of {self.characters:,} characters count for Gemini"
        return f"{line}; {counted} (the policy azad needs {self.threshold:,} for a mark)"

    @property
    def assumption(self) -> str:
        """A sentence that says whose rules are assumed for an unknown model; "" for a known one."""
        return assumption_of(known_rules("", self.model_name), self.model_name)

    @property
    def marks(self) -> list[PartPlacement]:
        return [part for part in self.parts if part.decision.marked]

    @property
    def refusal(self) -> CacheDecision | None:
        """The decision, with a reason, that refuses marks for the whole request, or None."""
        whole = [d for d in self.decisions if d.message is None and not d.marked]
        return whole[0] if whole and not self.marks else None


@formerly_positional(2, "policy", "model")
@takes(
    session=(Session, str), policy=(str, Policy), model="text", explicit_caching="choice or nothing"
)
def place_cache(
    session: Session | str,
    dialect: str | Dialect = "native",
    *,
    policy: str | Policy = "",
    model: str = "",
    explicit_caching: bool | None = None,
) -> CachePlacement:
    """Place marks for a session, offline.

    `policy` (see `policy_names`) replaces the dialect's own, `model` the session's model name,
    `explicit_caching` the session's switch for Gemini, which only the policy "azad" obeys. The
    policy "as-sent" places no marks: it shows those of the session's last request as it was
    recorded, in no dialect. Each block of the body is then a part, and the table's `message_index`
    (a part's `message`) is the block's number. Raises UnknownNameError, and for "as-sent"
    InputFault if the session holds no request as it was sent.
    """
    session = session_or_sample(session)
    check_model(model)
    if policy == AS_SENT:
        unused, problem = {"explicit_caching": bool(explicit_caching)}, "it is taken as it was sent"
        refuse_unused("place_cache", unused, problem, "another policy for it")
        refuse_writer("place_cache", dialect)
        return _as_sent(session.with_model(model))
    chosen = get_dialect(dialect).with_policy(policy)
    session = session.with_model(model).with_explicit_caching(explicit_caching)
    prompt_data = session.prompt_data()
    rendering = chosen.render(prompt_data)
    environment = prompt_data.dynamic_task_config.dynamic_environment_details_block
    # The environment block is neither marked nor cached, so the threshold does not count it.
    environment_text = environment if _last_user(rendering.messages) is not None else ""
    rules = known_rules("", session.task.model_name)
    request = _request(rendering, session.task.model_name, rules)
    return CachePlacement(
        dialect=chosen.name,
        model_name=session.task.model_name,
        family=model_family(session.task.model_name),
        policy=chosen.marking_policy.name,
        parts=_parts(rendering.messages, rendering.decisions, bool(environment_text)),
        decisions=rendering.decisions,
        characters=rendering.characters,
        text_characters=text_characters(rendering.messages) - len(environment_text),
        reach=marked_prefix(request, rules, session.task.model_name),
        refused=partial(_refusals, request, rules),
        notes=() if policy else _other_marks(session, chosen),
    )


def _other_marks(session: Session, dialect: Dialect) -> tuple[Finding, ...]:
    """Return a finding if the last request was sent with marks: the policy's are shown instead."""
    if all(row.sub_agent for row in session.rows):
        return ()
    from playground.cache.answers.as_sent import sent_requests

    wire = read_wire(sent_requests(session).bodies[-1], session.task.model_name)
    marks = sum(block.ttl is not None for block in wire.blocks)
    if not marks and wire.automatic_ttl is None:
        return ()
    number = counted(marks, "mark") if marks else "an automatic mark"
    message = f"it was sent with {number}, and those of {dialect.marking_policy.name} are shown"
    return (finding("other-marks", "the request", message),)


def refuse_writer(function: str, dialect: str | Dialect) -> None:
    """Raise InputFault for a dialect given with the policy "as-sent": it would change nothing."""
    unused = {"dialect": get_dialect(dialect) is not get_dialect("native")}
    refuse_unused(function, unused, "no dialect writes what was sent", "another policy for it")


def _as_sent(session: Session) -> CachePlacement:
    """Return the blocks of the last request as it was sent, each as a part, with its own marks."""
    from playground.cache.answers.as_sent import sent_requests

    name, body = session.task.model_name, sent_requests(session).bodies[-1]
    rules, wire = known_rules("", name), read_wire(body, name)
    request = counted_request(body, wire, 0.0, rules)
    # if the request asks for an automatic mark, it is on the last block that can be marked
    has_automatic = wire.automatic_ttl is not None
    automatic = {*breakpoints(request, rules)[0]} - {*request.marks} if has_automatic else set()
    parts = []
    for number, block in enumerate(wire.blocks):
        ttl = wire.automatic_ttl if number in automatic else block.ttl
        marked = "sent-automatic" if number in automatic else "sent-marked"
        reason = "sent-unmarked" if ttl is None else marked
        decision = CacheDecision(ttl is not None, reason, number, 0, ttl or "")
        role = block.role or block.tier
        parts.append(PartPlacement(number, 0, role, block.text, decision, False))
    characters = sum(len(part.text) for part in parts)
    return CachePlacement(
        dialect="",
        model_name=name,
        family=model_family(name),
        policy=AS_SENT,
        parts=parts,
        decisions=[part.decision for part in parts],
        characters=characters,
        text_characters=characters,
        reach=marked_prefix(request, rules, name),
        refused=partial(_refusals, request, rules),
    )


def refused(rendering: Rendering, model: str) -> list[Finding]:
    """Return the reason for which the model's provider refuses a rendered request, if any."""
    rules, body = known_rules("", model), {"messages": rendering.messages, "tools": rendering.tools}
    return _refusals(TimedRequest(read_wire(body, model), 0.0, rules), rules)


def _refusals(request: TimedRequest, rules: Rules) -> list[Finding]:
    from playground.cache.refusals import refusal  # only a placement that is shown needs it

    model, marked = request.wire.model, rules.match in ("breakpoints", "exact")
    reason = refusal(request, rules) or (breakpoints(request, rules)[1] if marked else None)
    if reason is None or not rules.knows(model):
        return []
    return [finding(reason[0], f"the request to {model}", reason[1])]


def _request(rendering: Rendering, model: str, rules: Rules) -> TimedRequest:
    """Return the next request: an answer that ends the conversation is not part of it."""
    length = len(rendering.messages)
    while length and rendering.messages[length - 1]["role"] == "assistant":
        length -= 1
    body = {"messages": rendering.messages[:length], "tools": rendering.tools}
    return counted_request(body, read_wire(body, model), 0.0, rules)


def _parts(
    messages: list[dict[str, Any]], decisions: list[CacheDecision], environment: bool
) -> list[PartPlacement]:
    # a single decision without a place refuses the whole request and explains every part
    match decisions:
        case [CacheDecision(marked=False, message=None, reason=reason)]:
            otherwise = reason
        case _:
            otherwise = "not-chosen"
    # one part may have two decisions: one rule did not mark it, and another did
    by_place = sorted(decisions, key=lambda decision: decision.marked)
    chosen = {(decision.message, decision.part): decision for decision in by_place}
    last_user = _last_user(messages) if environment else None
    result: list[PartPlacement] = []
    for index, message in enumerate(messages):
        texts = _part_texts(message)
        for part, text in enumerate(texts):
            added = index == last_user and part == len(texts) - 1
            reason = "environment" if added else otherwise
            decision = chosen.get((index, part)) or CacheDecision(False, reason, index, part)
            result.append(PartPlacement(index, part, message["role"], text, decision, added))
    return result


def _part_texts(message: dict[str, Any]) -> list[str]:
    texts = [part.get("text", f"[{part['type']}]") for part in as_parts(message.get("content"))]
    calls = message.get("tool_calls")
    return [*texts, message_text({"tool_calls": calls})] if calls else texts


def _last_user(messages: list[dict[str, Any]]) -> int | None:
    numbers = [i for i, message in enumerate(messages) if message["role"] == "user"]
    return numbers[-1] if numbers else None
