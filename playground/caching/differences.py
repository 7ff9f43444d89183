"""Why did it break? The first place where a request is not the one before it, and what to do.

Causes are named as Anthropic's cache diagnostics name them (`system_changed` …), parameters in the
same way (`tool_choice_changed`); rules name what typically stands behind a cause.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.caching.blocks import TIERS, Block, Tier, WireRequest
from playground.caching.prefixes import TimedRequest
from playground.caching.rules import Rules

FIXES: Final[dict[str, str]] = {
    "tool-order": "send the tools in one order, sorted by name for instance",
    "json-key-order": "write JSON with its keys in one order",
    "volatile": "put the time or id behind the last mark",
    "history-rewritten": "append to the history; leave what was sent as it was",
    "changed": "keep it for the whole conversation, or accept that what follows is written anew",
}
_EXCERPT: Final = 40
_VOLATILE: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"  # dates
    r"|\b\d\d?:\d\d(?::\d\d)?\b"  # times of day
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"  # UUIDs
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b"  # other ids
    r"|\b\d{10,19}\b",  # seconds and finer since 1970
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """Where two requests part: `character` counts within the block; `rule` is a key of FIXES.

    `block` is None where a model or parameter differs; `before` and `after` are excerpts.
    """

    cause: str
    rule: str
    before: str
    after: str
    block: int | None = None
    character: int = 0

    @property
    def fix(self) -> str:
        return FIXES[self.rule]

    def __str__(self) -> str:
        where = "" if self.block is None else f" at block {self.block}, character {self.character}"
        said = f"{self.cause}{where}: {self.before!r}, then {self.after!r}"
        return f"{said} ({self.rule}: {self.fix})"


def first_difference(
    before: TimedRequest, after: TimedRequest, rules: Rules
) -> FirstDifference | None:
    """What keeps `after` from beginning with all of `before`; None where it does."""
    same = min(len(before.chain), len(after.chain))
    # a hash holds all that stands before it, so hashes are the same up to one place and then never
    index = bisect_left(range(same), True, key=lambda i: before.chain[i] != after.chain[i])
    if index == len(before.chain):
        return None
    old, new = before.wire, after.wire
    if index < same and old.blocks[index].says_the_same(new.blocks[index]):
        return _salted(old, new, rules)
    return _between(old.blocks, new.blocks, index)


def _salted(before: WireRequest, after: WireRequest, rules: Rules) -> FirstDifference:
    """The blocks are the same, so the model or a parameter that salts their tier is not."""
    if before.model != after.model:
        return FirstDifference("model_changed", "changed", before.model, after.model)
    salts: dict[Tier, list[str]] = rules.value("salts")
    names = [name for tier in TIERS for name in salts.get(tier, [])]
    both = ((name, before.parameters.get(name), after.parameters.get(name)) for name in names)
    name, old, new = next(found for found in both if found[1] != found[2])
    return FirstDifference(f"{name}_changed", "changed", _short(old), _short(new))


def _between(before: Sequence[Block], after: Sequence[Block], index: int) -> FirstDifference:
    old = before[index]
    new = after[index] if index < len(after) else None
    said = new.text if new else ""
    pairs = zip(old.text, said, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(old.text), len(said)))
    tiers = [block.tier for block in (old, new) if block]
    cause = f"{min(tiers, key=TIERS.index)}_changed"
    start = max(0, at - _EXCERPT // 4)
    window = slice(start, start + _EXCERPT)
    rule = _rule(before, after, index)
    return FirstDifference(cause, rule, old.text[window], said[window], index, at)


def _rule(before: Sequence[Block], after: Sequence[Block], index: int) -> str:
    old = before[index]
    new = after[index] if index < len(after) else None
    if old.tier == "tools":
        tools = [sorted(b.text for b in blocks if b.tier == "tools") for blocks in (before, after)]
        if tools[0] == tools[1]:
            return "tool-order"
    if new and (old.tier, old.role, old.kind) == (new.tier, new.role, new.kind):
        if _ordered(old.text) == _ordered(new.text):
            return "json-key-order"
        if _VOLATILE.sub("·", old.text) == _VOLATILE.sub("·", new.text):
            return "volatile"
    tiers = {block.tier for block in (old, new) if block}
    return "history-rewritten" if tiers == {"messages"} else "changed"


def _ordered(text: str) -> str:
    """JSON with its keys sorted; any other text as it is."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:_EXCERPT]
