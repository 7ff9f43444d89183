"""Match the blocks of two requests: the same, moved, changed, removed or added."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final, Literal

from playground.cache.differences import with_sorted_keys
from playground.nouns.wire_blocks import TIERS, Tier
from playground.questions.versions.blocks import VersionBlock
from playground.questions.versions.words import Run, word_changes

Kind = Literal["same", "moved", "changed", "added", "removed"]
KINDS: Final[tuple[Kind, ...]] = ("same", "moved", "changed", "added", "removed")
_SIMILAR: Final = 0.4  # the least share of words that two versions of a block have in common
_MOST_WORDS: Final = 2_000  # leading words of a block that are compared
_MOST_PAIRS: Final = 4_000  # blocks of one side times those of the other, in one run of changes
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class BlockChange:
    """A block of the first request, of the second, or of both, and its change.

    Both texts of a `moved` block are the same.
    """

    kind: Kind
    before: VersionBlock | None
    after: VersionBlock | None

    @property
    def block(self) -> VersionBlock:
        """The block in the second request; or in the first, if the second lacks it."""
        block = self.after or self.before
        assert block is not None
        return block

    @property
    def tier(self) -> Tier:
        return self.block.tier

    @property
    def tokens(self) -> tuple[int, int]:
        """The block's tokens in the first and in the second request; 0 if it is missing there."""
        return (self.before.tokens if self.before else 0, self.after.tokens if self.after else 0)

    @cached_property
    def words(self) -> list[Run]:
        """The text as runs that are the same, removed or added; see `word_changes`."""
        before, after = (side.text if side else "" for side in (self.before, self.after))
        return word_changes(before, after)

    @property
    def note(self) -> str:
        """A note if only white space, punctuation or the order of keys changed; otherwise ""."""
        if self.kind != "changed" or not (self.before and self.after):
            return ""
        old, new = self.before.text, self.after.text
        if _WORD.findall(old) == _WORD.findall(new):
            return "white space and punctuation alone"
        is_reordered = with_sorted_keys(old) == with_sorted_keys(new)
        return "the same JSON with keys in another order" * is_reordered


def matched_blocks(
    before: Sequence[VersionBlock], after: Sequence[VersionBlock]
) -> list[BlockChange]:
    """Return every block of both requests once, tier by tier, in the second request's order.

    A removed block keeps its place between its neighbours.
    """
    changes: list[BlockChange] = []
    for tier in TIERS:
        old = [block for block in before if block.tier == tier]
        new = [block for block in after if block.tier == tier]
        changes += _Tier(old, new).changes()
    return changes


class _Tier:
    """The blocks of one tier in the first request (`old`, index i) and the second (`new`, j)."""

    def __init__(self, old: list[VersionBlock], new: list[VersionBlock]) -> None:
        self.old, self.new = old, new
        first, second = ([block.identity for block in side] for side in (old, new))
        matcher = SequenceMatcher(a=first, b=second, autojunk=False)
        self.stretches = matcher.get_opcodes()
        self.partner: dict[int, tuple[int, Kind]] = {}  # j -> the matching i, and the change
        unmatched = {i for tag, a, b, _, _ in self.stretches if tag != "equal" for i in range(a, b)}
        for tag, a, b, c, _ in self.stretches:
            if tag == "equal":
                self.partner |= {c + i - a: (i, "same") for i in range(a, b)}
        self._match_moved(unmatched)
        self._match_tools(unmatched)
        for _, a, b, c, d in self.stretches:
            self._match_similar([i for i in range(a, b) if i in unmatched], range(c, d), unmatched)
        self.removed = unmatched

    def _unmatched_new(self) -> Iterator[int]:
        return (j for j in range(len(self.new)) if j not in self.partner)

    def _match_moved(self, unmatched: set[int]) -> None:
        """Match blocks with the same text at another place."""
        places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for i in sorted(unmatched, reverse=True):
            places[self.old[i].identity].append(i)
        for j in list(self._unmatched_new()):
            if places[self.new[j].identity]:
                self._pair(places[self.new[j].identity].pop(), j, "moved", unmatched)

    def _match_tools(self, unmatched: set[int]) -> None:
        names = {self.old[i].name: i for i in unmatched if self.old[i].tier == "tools"}
        for j in list(self._unmatched_new()):
            i = names.get(self.new[j].name) if self.new[j].tier == "tools" else None
            if i in unmatched:
                self._pair(i, j, "changed", unmatched)

    def _match_similar(self, old: list[int], new: range, unmatched: set[int]) -> None:
        """Match the blocks between two matches by the words they share, the most similar first."""
        free = [j for j in new if j not in self.partner]
        if len(old) * len(free) > _MOST_PAIRS or (old and self.old[old[0]].tier == "tools"):
            return
        blocks = [*(self.old[i] for i in old), *(self.new[j] for j in free)]
        words = {id(b): Counter(_WORD.findall(b.text)[:_MOST_WORDS]) for b in blocks}
        pairs = [
            (share, i, j)
            for i in old
            for j in free
            if _role_and_kind(self.old[i]) == _role_and_kind(self.new[j])
            and (share := _overlap(words[id(self.old[i])], words[id(self.new[j])])) >= _SIMILAR
        ]
        for _, i, j in sorted(pairs, key=lambda pair: (-pair[0], abs(pair[1] - pair[2]))):
            if i in unmatched and j not in self.partner:
                self._pair(i, j, "changed", unmatched)

    def _pair(self, i: int, j: int, kind: Kind, unmatched: set[int]) -> None:
        self.partner[j] = (i, kind)
        unmatched.discard(i)

    def changes(self) -> Iterator[BlockChange]:
        for _, a, b, c, d in self.stretches:
            for i in range(a, b):
                if i in self.removed:
                    yield BlockChange("removed", self.old[i], None)
            for j in range(c, d):
                if j in self.partner:
                    i, kind = self.partner[j]
                    yield BlockChange(kind, self.old[i], self.new[j])
                else:
                    yield BlockChange("added", None, self.new[j])


def _role_and_kind(block: VersionBlock) -> tuple[str, str]:
    return block.role, block.kind


def _overlap(first: Counter[str], second: Counter[str]) -> float:
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0
