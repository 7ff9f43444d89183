"""Compare two versions of a request: block by block, in tokens, and by what a cache still reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from typing import Any

from playground.base.arguments import formerly_positional, takes, texts
from playground.base.display import Live
from playground.base.wording import counted, dollars, grouped
from playground.questions.token_counts import as_json as count_json
from playground.questions.versions.blocks import KnownParts, blocks_of
from playground.questions.versions.costs import PrefixCost, prefix_costs
from playground.questions.versions.matching import KINDS, BlockChange, matched_blocks
from playground.questions.versions.sides import Given, Version, both_versions
from playground.sessions.collector import seldom
from playground.sessions.session import Session


@dataclass(frozen=True)
class VersionDiff(Live):
    """Two versions: the change of each block, and how much a cache still reads. `form` names the
    form in which both are compared. The table has a row for each block."""

    first: Version
    second: Version
    form: str
    changes: list[BlockChange]
    providers: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """The tokens that the second version has more than the first; negative if fewer."""
        return self.second.count.tokens - self.first.count.tokens

    @property
    def is_exact(self) -> bool:
        return self.first.count.kind == self.second.count.kind == "exact"

    @property
    def kinds(self) -> dict[str, int]:
        """The number of blocks that are the same, moved, changed, added, removed."""
        counts = Counter(change.kind for change in self.changes)
        return {kind: counts[kind] for kind in KINDS}

    @cached_property
    def costs(self) -> list[PrefixCost]:
        """The cost of the second version after the first, at each provider."""
        return prefix_costs(self.first, self.second, self.providers)

    @property
    def by_writer(self) -> dict[str, tuple[int, int]]:
        """Tokens in the first and in the second version, by who wrote them."""
        tokens: dict[str, tuple[int, int]] = {}
        for change in self.changes:
            for side, index in ((change.before, 0), (change.after, 1)):
                if side is not None:
                    sums = list(tokens.get(side.writer, (0, 0)))
                    sums[index] += side.tokens
                    tokens[side.writer] = (sums[0], sums[1])
        return tokens

    @property
    def headline(self) -> str:
        """The difference in a few sentences: blocks, tokens, and the cost at the first provider."""
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.kinds.items() if n and kind != "same")
        sign = "" if self.is_exact else "~"
        direction = "more" if self.tokens >= 0 else "fewer"
        parts = [
            f"{counted(len(self.changes), 'block')}: {kinds or 'nothing is different'}.",
            f"{sign}{grouped(abs(self.tokens))} tokens {direction} "
            f"({self.first.size}, then {self.second.size}).",
        ]
        if self.costs:
            parts.append(cost_words(self.costs[0]))
        return " ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "form": self.form,
            "headline": self.headline,
            "tokens": self.tokens,
            "kinds": self.kinds,
            "by_writer": {name: list(pair) for name, pair in self.by_writer.items()},
            "versions": [_side(self.first), _side(self.second)],
            "blocks": [_change(change) for change in self.changes],
            "costs": [{**asdict(cost), "lost": cost.lost} for cost in self.costs],
        }


def _side(version: Version) -> dict[str, Any]:
    return {
        "name": version.name,
        "agent": version.agent,
        "model": version.model,
        "request": version.request,
        "requests": version.requests,
        "count": count_json(version.count),
    }


def _change(change: BlockChange) -> dict[str, Any]:
    block = change.block
    return {
        "change": change.kind,
        "tier": change.tier,
        "name": block.name,
        "role": block.role,
        "kind": block.kind,
        "writer": block.writer,
        "tokens": list(change.tokens),
        "note": change.note,
        "words": [list(run) for run in change.words] if change.kind != "same" else [],
    }


def cost_words(cost: PrefixCost) -> str:
    """Return a sentence on one provider's cost, and sentences on assumed marks and rules."""
    return " ".join(filter(None, (_lost_words(cost), cost.condition, cost.assumption)))


def _lost_words(cost: PrefixCost) -> str:
    if not cost.cached_before:
        return f"{cost.title}: the first leaves nothing in the cache, so nothing is lost."
    cached = grouped(cost.cached_before)
    share = f"{grouped(cost.read)} of the {cached} tokens that the first leaves"
    sentence = f"{cost.title}: {cost.caution}{share} in the cache are read"
    if not cost.lost:
        return f"{sentence}; nothing is lost."
    price = f", about {dollars(cost.nano_dollars / 1e9)}" if cost.nano_dollars else ""
    return f"{sentence}; {cost.caution}{grouped(cost.lost)} are paid again, once{price}."


@formerly_positional(2, "model", "dialect", "request", "providers", "names")
@takes(
    first=(Session, Mapping, str, PathLike),
    second=(Session, Mapping, str, PathLike),
    model="text",
    dialect="text",
    request="number",
    providers="list",
    names="list",
)
@seldom()
def diff(
    first: Given,
    second: Given,
    *,
    model: str = "",
    dialect: str = "",
    request: int = 0,
    providers: Sequence[str] = (),
    names: Sequence[str] = ("", ""),
) -> VersionDiff:
    """Compare two versions of an agent, a session or a request.

    `first` and `second` are sessions, request bodies, or files of any format. One request of each
    is compared: the last, unless `request` (from 1) names another. If both were sent to the same
    API and no `dialect` is named, they are compared as sent; otherwise both are written in
    `dialect`, by default native. `model` replaces both models. The caches of `providers` are
    simulated, by default of the model's own and six others. Tokens are counted by `count_tokens`; a
    block's tokens are those of its text. Nothing is sent. Raises InputFault and UnknownNameError.
    """
    named = (*texts("diff(names=…)", names), "", "")
    caches = texts("diff(providers=…)", providers)
    left, right, form = both_versions(first, second, (named[0], named[1]), model, dialect, request)
    known: KnownParts = {}
    blocks = [
        blocks_of(each.body, each.wire("5m").blocks, each.model, each.count.by_tool, known)
        for each in (left, right)
    ]
    return VersionDiff(left, right, form, matched_blocks(*blocks), caches)
