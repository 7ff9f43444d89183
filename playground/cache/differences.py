"""Find the first place where a request differs from the one before it, and name the cause.

Causes are named like those of Anthropic's cache diagnostics (`system_changed`), also for parameters
(`tool_choice_changed`). `rule` is the code of the finding about the mistake that usually has this
effect.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from playground.base.arguments import older_name
from playground.base.fixes import FIXES
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules
from playground.cache.rules.names import is_other_model
from playground.nouns.wire_blocks import TIERS, Tier, WireBlock, WireRequest

_EXCERPT: Final = 40  # characters of an excerpt
_CONTEXT: Final = 10  # an excerpt begins at most so many characters before the difference
_PART_OF_WORD: Final = re.compile(r"(?<=\w)\w+\W+")
_HEAD: Final = 3  # number of leading message blocks that count as the head
_VOLATILE: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"  # dates
    r"|\b\d\d?:\d\d(?::\d\d)?\b"  # times of day
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"  # UUIDs
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b"  # other ids, in hexadecimal digits
    r"|\b\d{10,19}\b",  # times since 1970, in seconds or smaller units
    re.IGNORECASE,
)


# A table for `str.translate` that deletes every character that may be in a date, a time or an id.
# If two texts still differ after that, they differ in more than dates, times and ids.
_DELETED: Final = dict.fromkeys(map(ord, "0123456789abcdefABCDEFtTzZ:.+- "))


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first place where two requests differ; `rule` is a finding's code.

    `block` is None if a model or parameter differs. `character` is an offset in the block, and
    `before` and `after` are excerpts of the two texts. `is_cut` says if their ends were cut.
    """

    cause: str
    rule: str
    before: str
    after: str
    block: int | None = None
    character: int = 0
    is_cut: tuple[bool, bool] = (False, False)

    @property
    def excerpts(self) -> tuple[str, str]:
        """Both excerpts in quotes. A "…" outside the quotes marks where a text was cut."""
        start, (old, new) = "…" * (self.character > _CONTEXT), ("…" * each for each in self.is_cut)
        return f"{start}{self.before!r}{old}", f"{start}{self.after!r}{new}"

    @property
    def fix(self) -> str:
        return FIXES[self.rule]

    @property
    def by_compaction(self) -> FirstDifference:
        """The same difference with a compaction as its cause; used if the session records one."""
        return replace(self, cause="compacted", rule="compacted")

    def invalidates(self, rules: Rules) -> tuple[Tier, ...]:
        """Return the tiers that are written again: the difference's tier and all after it."""
        name = self.cause.removesuffix("_changed")
        salts: dict[Tier, list[str]] = rules.value("salts")
        first = next((tier for tier in TIERS if name == tier or name in salts.get(tier, [])), None)
        return TIERS[TIERS.index(first) :] if first else TIERS

    @property
    def sentence(self) -> str:
        """The cause, its place, and both texts there, as a sentence."""
        if self.cause == "model_changed":
            return model_change(self.before, self.after)
        where = "" if self.block is None else f" at block {self.block}, character {self.character}"
        return f"{self.cause}{where}: {self.before!r}, then {self.after!r}"

    told = older_name("told", "sentence")

    def __str__(self) -> str:
        return f"{self.sentence} ({self.rule}: {self.fix})"


def model_change(before: str, after: str) -> str:
    """Describe in words that a request went to another model than the request before it."""
    return f"the model changed ({before}, then {after}): each model has its own cache"


def first_difference(
    before: TimedRequest, after: TimedRequest, rules: Rules
) -> FirstDifference | None:
    """Return the first place where `after` differs from `before`; None if it only continues it."""
    same = min(len(before.chain), len(after.chain))
    # a hash covers everything before it, so no hash after the first difference is equal
    index = before.chain.shared(after.chain)
    if index < same:
        index = bisect_left(
            range(same), True, index, key=lambda i: before.chain[i] != after.chain[i]
        )
    if index == len(before.chain):
        return None
    old, new = before.wire, after.wire
    is_same = index < same and old.blocks[index].has_same_content(new.blocks[index])
    if is_same or is_other_model(old.model, new.model):  # then no cached text would be read
        return _settings_difference(old, new, rules)
    return _block_difference(old.blocks, new.blocks, index)


def _settings_difference(before: WireRequest, after: WireRequest, rules: Rules) -> FirstDifference:
    """Return the difference in model or parameters of two requests whose blocks are equal, or whose
    models differ."""
    if before.model != after.model:
        return FirstDifference("model_changed", "prefix-changed", before.model, after.model)
    salts: dict[Tier, list[str]] = rules.value("salts")
    names = [name for tier in TIERS for name in salts.get(tier, [])]
    both = ((name, before.parameters.get(name), after.parameters.get(name)) for name in names)
    differing = (found for found in both if found[1] != found[2])
    histories = (each.parameters.get("history") for each in (before, after))
    name, old, new = next(differing, ("history", *histories))
    old, new = (json.dumps(each, ensure_ascii=False, default=str) for each in (old, new))
    return _excerpted(f"{name}_changed", "prefix-changed", old, new)


def _block_difference(
    before: Sequence[WireBlock], after: Sequence[WireBlock], index: int
) -> FirstDifference:
    old = before[index]
    new = after[index] if index < len(after) else None
    shown = new.text if new else ""
    pairs = zip(old.text, shown, strict=False)
    shorter = min(len(old.text), len(shown))
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    # If a tool was removed, the first system block has its index: then the earlier of the two
    # tiers has changed.
    tiers = [block.tier for block in (old, new) if block]
    cause = f"{min(tiers, key=TIERS.index)}_changed"
    return _excerpted(cause, _rule(before, after, index), old.text, shown, index, at)


def _excerpted(
    cause: str, rule: str, before: str, after: str, block: int | None = None, at: int = 0
) -> FirstDifference:
    """Return a difference with the excerpts around character `at` of both texts."""
    start = max(0, at - _CONTEXT)
    if part := _PART_OF_WORD.match(before, start, at):  # an excerpt begins with a whole word
        start = part.end()
    window = slice(start, start + _EXCERPT)
    is_cut = (len(before) > window.stop, len(after) > window.stop)
    return FirstDifference(cause, rule, before[window], after[window], block, at, is_cut)


def _rule(before: Sequence[WireBlock], after: Sequence[WireBlock], index: int) -> str:
    """Return the code of the most specific finding that applies."""
    old = before[index]
    new = after[index] if index < len(after) else None
    # Codex wrote its tools in a hash map's order: under 1 % of its tokens were read (codex#2611).
    if old.tier == "tools" and _tool_texts(before) == _tool_texts(after):
        return "tool-order"
    if new and (old.tier, old.role, old.kind) == (new.tier, new.role, new.kind):
        if with_sorted_keys(old.text) == with_sorted_keys(new.text):
            return "json-key-order"
        if _is_volatile(old.text, new.text):
            return "history-rewrite" if old.tier == "messages" else "volatile-system"
    # One agent added a block of white space to carry a mark: because of it, 8.4 % of its requests
    # were written to the cache again (vscode#323642).
    if any(block and block.kind == "text" and not block.text.strip() for block in (old, new)):
        return "synthetic-anchor"
    if {block.tier for block in (old, new) if block} != {"messages"}:
        return "prefix-changed"
    return _in_history(before, after, index)


def _is_volatile(old: str, new: str) -> bool:
    """Return True if two texts differ only in dates, times and ids."""
    if old.isascii() and new.isascii() and old.translate(_DELETED) != new.translate(_DELETED):
        return False
    return _VOLATILE.sub("·", old) == _VOLATILE.sub("·", new)


def _tool_texts(blocks: Sequence[WireBlock]) -> list[str]:
    return sorted(block.text for block in blocks if block.tier == "tools")


def _in_history(before: Sequence[WireBlock], after: Sequence[WireBlock], index: int) -> str:
    """Return the code for a change among the messages. The codes are `env-in-prefix` (an
    environment block moved), `head-injection` (a block was put in front) and `history-rewrite` (any
    other change)."""
    old = before[index]
    following = before[index + 1] if index + 1 < len(before) else None
    new = after[index] if index < len(after) else None
    # An environment block disappears in three ways: it was the end of a text that is shorter now;
    # it was a part of its own that is gone; or the blocks after it moved up.
    if old.role == "user" and old.kind == "text":
        shrunk = new is not None and new.role == "user" and old.text.startswith(new.text)
        last_of_turn = index > 0 and _one_message(before[index - 1], old) and following is None
        gone = last_of_turn and (new is None or new.role != "user")
        moved_up = following is not None and new is not None and new.has_same_content(following)
        if shrunk or gone or moved_up:
            return "env-in-prefix"
    start = next(i for i, block in enumerate(before) if block.tier == "messages")
    # If only one block differs, and the next block is the same, nothing was inserted.
    next_is = after[index + 1] if index + 1 < len(after) else None
    in_place = following is not None and next_is is not None and following.has_same_content(next_is)
    if in_place and index > start:
        return "history-rewrite"
    # In a short conversation every block is within the head: this says nothing about an injection.
    if index - start < _HEAD and len(before) - start > _HEAD:
        return "head-injection"
    return "history-rewrite"


def _one_message(block: WireBlock, other: WireBlock) -> bool:
    """Return True if two blocks may belong to one message; an appended block has no place."""
    return block.role == other.role and (
        None in (block.place, other.place) or block.place[0] == other.place[0]  # type: ignore[index]
    )


def with_sorted_keys(text: str) -> str:
    """Return JSON with its keys sorted, and any other text unchanged."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text
