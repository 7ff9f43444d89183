"""Find reasons, by a provider's dated rules, for which the provider answers with error 400.

Each check returns the finding's code and the reason, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from playground.cache.certainty import unknown_words
from playground.cache.prefixes import OTHER_ROLE, TimedRequest
from playground.cache.rules import Rules
from playground.cache.rules.names import plain_name
from playground.nouns.wire_blocks import WireBlock, WireRequest, same_blocks
from playground.nouns.wire_bodies import forces_a_tool

Refusal = tuple[str, str] | None
Check = Callable[[TimedRequest, Rules], Refusal]


def refusal(request: TimedRequest, rules: Rules) -> Refusal:
    """Return why a provider refuses a request, if the request alone shows it; else None."""
    for check in _checks_of(rules, request.wire.model):
        if reason := check(request, rules):
            return reason
    return None


@lru_cache(maxsize=256)
def _checks_of(rules: Rules, model: str) -> tuple[Check, ...]:
    """Return the checks that apply to this model."""
    refused = rules.get("refused", {}) if rules.knows(model) else {}
    plain = plain_name(model)
    checks = [check for what, check in _BY_MODEL.items() if plain in refused.get(what, ())]
    if rules.match == "breakpoints":
        checks += [_two_lifetimes] if rules.value("automatic") else []
        checks.append(_mark_on_cleared)
    checks += [_IN_CHAT[what] for what in rules.get("chat_refuses", ())]
    checks += [_orphan_result] if rules.get("refuses_orphans") else []
    if "ttls_by_api" in rules.rules:
        checks.append(_lifetime_of_api)
    return tuple(checks)


def _forced_tool(request: TimedRequest, rules: Rules) -> Refusal:
    choice = request.wire.parameters.get("tool_choice")
    if not forces_a_tool(choice):
        return None
    return "refused-request", "a tool_choice that forces a tool: this model takes auto or none"


def _thinking_set(request: TimedRequest, rules: Rules) -> Refusal:
    thinking = request.wire.parameters.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind not in ("enabled", "disabled"):
        return None
    return "refused-request", f"thinking {kind}: on this model it is adaptive and cannot be set"


def _system_message(request: TimedRequest, rules: Rules) -> Refusal:
    wire = request.wire
    if wire.api != "messages" or not wire.has_late_system:
        return None
    return "refused-request", "a message of role system: this model takes none"


def _top_mark(request: TimedRequest, rules: Rules) -> Refusal:
    if request.wire.automatic_ttl is None:
        return None
    return "refused-request", "a mark at the top: this model's integration refuses it"


def _result_without_id(request: TimedRequest, rules: Rules) -> Refusal:
    if request.wire.api != "chat" or request.first_without_id is None:
        return None
    reason = "a message of role tool without the id of its call, which LiteLLM cannot transform: "
    return "refused-request", reason + "the dialect native has this id, and xml needs none"


def _other_role(request: TimedRequest, rules: Rules) -> Refusal:
    if request.wire.api != "chat" or request.first_other is None:
        return None
    return "refused-request", f"a message of role {OTHER_ROLE}, which LiteLLM cannot transform"


def _orphan_result(request: TimedRequest, rules: Rules) -> Refusal:
    if not request.wire.orphan or unknown_words(request, rules):
        return None  # an unknown block may be the missing call
    reason = f"a result of the call {request.wire.orphan!r}, which is not in the answer before it"
    return "refused-request", reason


def _two_lifetimes(request: TimedRequest, rules: Rules) -> Refusal:
    """Find a top-level mark and a mark on the last block that have different lifetimes."""
    wire = request.wire
    if wire.automatic_ttl is None:
        return None
    last = next((i for i in range(len(wire.blocks) - 1, -1, -1) if wire.blocks[i].markable), None)
    block_ttl = None if last is None else request.marks.get(last)
    if block_ttl is None or block_ttl == wire.automatic_ttl:
        return None
    reason = f"the mark at the top is for {wire.automatic_ttl}, the last block's for {block_ttl}"
    return "ttl-order", reason


def _mark_on_cleared(request: TimedRequest, rules: Rules) -> Refusal:
    wire = request.wire
    if not wire.clears_at:
        return None
    marked = (block.place[0] for i in request.marks if (block := wire.blocks[i]).place)
    if not set(wire.clears_at).intersection(marked):
        return None
    return "refused-request", "a mark on a message with clear_at"


def _lifetime_of_api(request: TimedRequest, rules: Rules) -> Refusal:
    wire = request.wire
    allowed: Sequence[str] | None = rules.get("ttls_by_api", {}).get(wire.api)
    if allowed is None:
        return None
    lifetimes = [*request.marks.values(), *([wire.ttl] if wire.ttl else [])]
    other = next((lifetime for lifetime in lifetimes if lifetime not in allowed), None)
    if other is None:
        return None
    known_names = ", ".join(allowed)
    return "unknown-ttl", f"a mark with the lifetime {other!r}; known: {known_names}"


_BY_MODEL: Final[dict[str, Check]] = {
    "forced tool": _forced_tool,
    "thinking set": _thinking_set,
    "system message": _system_message,
    "automatic": _top_mark,
}
_IN_CHAT: Final[dict[str, Check]] = {
    "results without ids": _result_without_id,
    "other roles": _other_role,
}


def _signed(blocks: Sequence[WireBlock]) -> set[str]:
    """Return the texts of thoughts that have a signature."""
    return {block.text for block in blocks if block.is_signed}


class PrefixCheck:
    """A check for changes before a thinking block, like that of models that preserve thinking.

    It remembers the last request to each model.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: dict[str, WireRequest] = {}

    def copy(self) -> PrefixCheck:
        """Return a check with the same requests."""
        other = PrefixCheck()
        other._last = dict(self._last)
        return other

    def edited(self, request: TimedRequest) -> bool:
        """Return True if something changed before a thought that the model's last request contained
        too. Remember this request as the last."""
        wire, before = request.wire, self._last.get(request.wire.model)
        self._last[wire.model] = wire
        if before is None or not (wire.thinks and before.thinks):
            return False
        start = same_blocks(before.blocks, wire.blocks)
        return not _signed(before.blocks[start:]).isdisjoint(_signed(wire.blocks[start:]))

    @staticmethod
    def is_overruled(request: TimedRequest) -> bool:
        """Return True if the request states what the provider should do if the check fails."""
        thinking = request.wire.parameters.get("thinking")
        binding = thinking.get("block_binding") if isinstance(thinking, dict) else None
        return isinstance(binding, dict) and bool(binding.get("prefix_mismatch_behavior"))
