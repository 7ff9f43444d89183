"""The results of shortening a history: the cost of each turn, with each policy and without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from playground.base.display import Drawn
from playground.base.shared_lists import SharedList
from playground.base.wording import counted, dollars, grouped
from playground.cache.answers.cells import CacheSimulation
from playground.cache.prices import price_of
from playground.nouns.wire_bodies import messages_of
from playground.plugins.savings.one_price import models_note
from playground.plugins.savings.shortening import ON_RESULTS, Shortening, has_result


@dataclass(frozen=True)
class HistoryCut:
    """A cut at a turn (counted from 0), and what is lost from the cache.

    `lost` counts the previous request's tokens that are no longer a prefix. `shorter` is how many
    tokens the cut saves in this turn's request. The previous request had `marks` breakpoints (marks
    and an automatic one); `survive` of them lie in what is still a prefix.
    """

    turn: int
    lost: int
    shorter: int
    survive: int
    marks: int


@dataclass(frozen=True)
class Shorter:
    """A session under one policy of shortening.

    `sent` holds the bodies of the requests, which share their messages. `turns` has the turn of
    each body, because a turn with a summary has two. Costs are by turn, in thousandths of an input
    token's price, and include the tokens of the summaries.
    """

    policy: Shortening
    sent: list[dict[str, Any]]
    turns: list[int]
    simulation: CacheSimulation
    cuts: list[HistoryCut]
    costs: list[int]
    tokens: list[int]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the requests as plain JSON, each with its own list of messages."""
        return [
            {name: list(v) if isinstance(v, SharedList) else v for name, v in body.items()}
            for body in self.sent
        ]

    @property
    def total(self) -> int:
        return sum(self.costs)


@dataclass(frozen=True)
class CompactionWhatIf(Drawn):
    """The costs of every policy; the first row is the complete history.

    Its table has a row for each policy; its figure shows what each has saved up to every turn.
    """

    rows: list[Shorter]
    model: str
    limit: int
    anew: Sequence[int] = ()  # turns at which the session itself compacted its history

    @property
    def everything(self) -> Shorter:
        return self.rows[0]

    def saved(self, row: Shorter) -> list[int]:
        """Return the savings of a policy up to each turn, in thousandths of an input token's price.
        A negative figure is a loss.
        """
        pairs = zip(self.everything.costs, row.costs, strict=True)
        return list(accumulate(before - after for before, after in pairs))

    def pays_back(self, row: Shorter) -> int | None:
        """Return the turn (from 0) from which on the policy has cost no more, in sum, than keeping
        everything; the turn of the first cut if the policy has never cost more.

        Return None if there is no cut, or if the policy costs more in the end.
        """
        saved = self.saved(row)
        if not row.cuts or saved[-1] < 0:
            return None
        later = [turn for turn, sum_ in enumerate(saved) if sum_ < 0]
        return later[-1] + 1 if later else row.cuts[0].turn

    def dollars(self, cost: int) -> float | None:
        """Convert a cost to dollars, if the model's list price is known."""
        price = price_of(self.model)
        return price.nano_dollars(cost) / 1e9 if price else None

    @property
    def headline(self) -> str:
        """A sentence about the cheapest policy."""
        best = min(self.rows, key=lambda row: row.total)
        turns = counted(len(self.everything.costs), "turn")
        if best is self.everything:
            return f"Over {turns}, nothing is cheaper than keeping everything."
        saved = self.everything.total - best.total
        share = grouped(100 * saved / max(1, self.everything.total))
        money = self.dollars(saved)
        price = f" ({dollars(money)})" if money is not None else ""
        turn = self.pays_back(best)
        when = f" It pays from turn {turn + 1} on." if turn is not None else ""
        name = best.policy.name
        less = f"{share} % less than the predicted input cost{price}"
        return f"Over {turns}, “{name}” is cheapest: {less}.{when}"

    @property
    def notes(self) -> list[str]:
        """Notes on an unknown model or several models, on compactions of the session itself, and on
        policies that found no results to clear."""
        on_results = [row.policy.name for row in self.rows if row.policy.name in ON_RESULTS]
        last = self.everything.sent[-1]
        assumption = self.everything.simulation.assumption
        notes = [assumption] if assumption else []
        notes += models_note(self.everything.simulation)
        if self.anew:
            turns = ", ".join(str(turn + 1) for turn in self.anew)
            notes = [
                *notes,
                f"The session itself compacted its history before turn {turns}; every policy "
                "starts from that.",
            ]
        if not on_results or any(map(has_result, messages_of(last))):
            return notes
        names = ", ".join(on_results)
        return [
            *notes,
            f"{names}: the last request has no separate results to clear. In a text dialect, "
            "results are text of messages, which “keep last messages” and “summarise at limit” "
            "shorten.",
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "limit": self.limit,
            "headline": self.headline,
            "assumption": self.everything.simulation.assumption or None,
            "notes": self.notes,
            "policies": [
                {
                    "policy": row.policy.name,
                    "keep": row.policy.keep,
                    "limit": row.policy.limit,
                    "cost": row.total,
                    "dollars": self.dollars(row.total),
                    "tokens": row.tokens,
                    "costs": row.costs,
                    "saved": self.saved(row),
                    "pays_back": self.pays_back(row),
                    "cuts": [asdict(cut) for cut in row.cuts],
                }
                for row in self.rows
            ],
        }
