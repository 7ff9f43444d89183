"""`simulate_cache`: what a row of requests would read, write and cost, before a token is paid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.caching.blocks import read_wire
from playground.caching.rules import rules_of
from playground.caching.simulation import CacheRequest, Simulated, simulate

_APART = 20.0  # seconds between requests


@dataclass(frozen=True)
class CacheSimulation:
    """Every request's outcome, and what all of them cost beside sending everything uncached."""

    provider: str
    requests: list[Simulated]

    @property
    def cost_permille(self) -> int:
        """The cost of all input, in thousandths of what it would be without a cache."""
        uncached = sum(request.total for request in self.requests)
        return sum(request.cost for request in self.requests) // uncached if uncached else 1000

    @property
    def read_share(self) -> float:
        """The share of all input tokens that is read from the cache."""
        total = sum(request.total for request in self.requests)
        return sum(request.read for request in self.requests) / total if total else 0.0


def simulate_cache(
    requests: Iterable[Mapping[str, Any]],
    model: str = "",
    provider: str = "anthropic",
    seconds_apart: float = _APART,
) -> CacheSimulation:
    """Simulate a row of provider request bodies, marks and all, against one cache.

    `model` replaces the bodies' own; `provider` names the rules (see `caching/rules/`). Tokens are
    estimates, four characters each. Raises UnknownNameError for a provider that there are no rules
    of.
    """
    rules = rules_of(provider)
    ttl = rules.value("default_ttl")
    row = [
        CacheRequest(read_wire(dict(body), model, ttl), number * seconds_apart)
        for number, body in enumerate(requests)
    ]
    return CacheSimulation(provider, simulate(row, rules))
