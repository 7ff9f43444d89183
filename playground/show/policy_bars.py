"""Policies as bars, the cheapest first: the cost of tokens read, written and uncached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from playground.base.wording import dollars, percent
from playground.cache.answers.as_sent import AS_SENT
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.headline import doubt
from playground.dialects.marks.policies import OWN

CLICKED: Final = "clicked"  # the policy made of the marks that the user clicked
_TITLES: Final = {
    AS_SENT: "As sent",
    OWN: "The dialect's own marks",
    "azad": "Default marks",
    "none": "No marks",
    "system-only": "System prompt only",
    "system-and-last-two-users": "System prompt, last two user messages",
    "claude-code": "Claude Code's marks",
    "cline": "Cline's marks",
    "kodu": "Kodu's marks",
    "goose": "Goose's marks",
    "openhands": "OpenHands's marks",
    "swe-agent": "SWE-agent's marks",
    "mini-swe-agent": "mini-SWE-agent's marks",
    "langchain": "LangChain's marks",
    "pydantic-ai": "Pydantic AI's marks",
    "litellm-injection": "LiteLLM's injected marks",
    "opencode": "opencode's marks",
    "vscode": "VS Code's marks",
    "hermes-agent": "Hermes Agent's marks",
    "aider": "Aider's marks",
    "automatic": "Anthropic's automatic caching",
    CLICKED: "The marks you set",
}


def title(policy: str) -> str:
    """Return a policy's title; for a policy of the user's own, its name."""
    return _TITLES.get(policy, policy)


class PricedPolicy(NamedTuple):
    """One way to send the requests: its key, its name, and its simulation."""

    key: str
    name: str
    cell: CacheSimulation


def policy_bars(candidates: Sequence[PricedPolicy], chosen: str) -> list[dict[str, Any]]:
    """Return a bar for each outcome (cost, tokens read, tokens uncached), with all its policies.

    A bar has the name of the chosen policy, or else of its first policy; `title` has all names. A
    cost is a share of the bar's own full price; if the bars' tokens differ, each bar names its
    tokens. Policies that the provider refuses have no bar.
    """
    priced = [each for each in candidates if not each.cell.errors]
    priced.sort(key=lambda each: (each.cell.cost_permille, each.key != chosen))
    by_outcome: dict[tuple[int, ...], list[PricedPolicy]] = {}
    for each in priced:
        by_outcome.setdefault(_outcome(each.cell), []).append(each)
    differ = len({_tokens(group[0].cell) for group in by_outcome.values()}) > 1
    return [_row(group, chosen, differ) for group in by_outcome.values()]


def cheaper_policy(
    candidates: Sequence[PricedPolicy], cell: CacheSimulation
) -> PricedPolicy | None:
    """Return the cheapest policy for the requests of `cell`, in the same dialect.

    Return None if no policy costs less, or if a request of `cell` would be refused. Requests as
    they were sent are not compared with a dialect's, because their text may differ.
    """
    alike = [each for each in candidates if each.cell.dialect == cell.dialect]
    priced = [each for each in alike if not each.cell.errors]
    best = min(priced, key=lambda each: each.cell.cost_permille, default=None)
    return (
        best if best and not cell.errors and best.cell.cost_permille < cell.cost_permille else None
    )


def best_saving(candidates: Sequence[PricedPolicy], cell: CacheSimulation) -> str:
    """Return a sentence on how much less than `cell` the cheapest policy costs; "" if nothing."""
    best = cheaper_policy(candidates, cell)
    if best is None:
        return ""
    sure = "" if not (doubt(cell) or doubt(best.cell)) else " probably"
    saves = f"{best.name} would{sure} save"
    before, after = cell.nano_dollars, best.cell.nano_dollars
    if before is None or after is None:
        saved = (cell.cost_permille - best.cell.cost_permille) / 1000
        return f"{saves} {percent(saved)} of the uncached price."
    return f"{saves} {dollars((before - after) / 1e9)} of {dollars(before / 1e9)}."


def _row(group: Sequence[PricedPolicy], chosen: str, differ: bool) -> dict[str, Any]:
    first, *others = group
    return {
        "key": first.key,
        "name": first.name + (f" and {len(others)} more" if others else ""),
        "title": ", ".join(["Choose " + first.name, *(each.name for each in others)]),
        "shares": _paid_for(first.cell),
        "figure": _price(first.cell, differ),
        "on": any(each.key == chosen for each in group),
    }


def _outcome(cell: CacheSimulation) -> tuple[int, ...]:
    reads = sum(one.read for one in cell.requests)
    return (cell.cost_permille, reads, sum(one.uncached for one in cell.requests))


def _paid_for(cell: CacheSimulation) -> list[float]:
    """Return the costs of tokens read, written and uncached, as shares of the full price."""
    total = _tokens(cell) or 1
    price = cell.rules.read_permille(cell.model) if cell.rules else 1000
    reads = sum(one.read for one in cell.requests) * price / 1000 / total
    full = sum(one.uncached for one in cell.requests) / total
    return [reads, max(0.0, cell.cost_permille / 1000 - reads - full), full]


def _tokens(cell: CacheSimulation) -> int:
    return sum(one.total for one in cell.requests)


def _price(cell: CacheSimulation, differ: bool) -> str:
    nano = cell.nano_dollars
    money = f" · {dollars(nano / 1e9)}" if nano is not None else ""
    of_tokens = f" of {_tokens(cell):,} tokens" if differ else ""
    return f"{percent(cell.cost_permille / 1000)}{of_tokens}{money}"
