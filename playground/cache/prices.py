"""Read a model's prices from LiteLLM's cost map, a file, without loading LiteLLM."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from playground.cache.rules import Figure

_FILE: Final = "model_prices_and_context_window_backup.json"
_PICO: Final = 1_000_000_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """A model's list price for input in pico-dollars a token, and what else the map says of it.

    `read` is the price of a token from the cache, `output` that of an answer's token, `minimum`
    the tokens that a prefix needs to be cached; None if the map does not say.
    """

    source: str
    uncached: int
    read: int | None = None
    minimum: int | None = None
    output: int | None = None

    def figures(self) -> dict[str, Figure]:
        """Return the figures of caching rules that the map knows for the model, by the rule's
        name.
        """
        found: dict[str, Figure] = {}
        if self.minimum is not None:
            found["minimum_tokens"] = Figure(self.minimum, self.source)
        if self.read is not None and self.uncached:
            found["read_permille"] = Figure(self.read * 1000 // self.uncached, self.source)
        return found

    def nano_dollars(self, cost: int) -> int:
        """Convert a cost in thousandths of an uncached token to nano-dollars."""
        return cost * self.uncached // 1_000_000


@cache
def price_of(model: str) -> Price | None:
    """Return the map's price of a LiteLLM model name, with or without its provider, or None."""
    models, name = _cost_map(), model.lower()
    _, _, rest = name.partition("/")
    for key in (name, rest, rest.partition("/")[2]):
        entry = models.get(key)
        if entry and "input_cost_per_token" in entry:
            return Price(
                source=f"LiteLLM {version('litellm')} cost map, {key}",
                uncached=_pico(entry, "input_cost_per_token") or 0,
                read=_pico(entry, "cache_read_input_token_cost"),
                minimum=entry.get("prompt_cache_min_tokens"),
                output=_pico(entry, "output_cost_per_token"),
            )
    return None


@cache
def context_tokens(model: str) -> int | None:
    """Return how many tokens a request to the model may have, or None if the map does not say."""
    models, name = _cost_map(), model.lower()
    _, _, rest = name.partition("/")
    for key in (name, rest, rest.partition("/")[2]):
        most = models.get(key, {}).get("max_input_tokens")
        if isinstance(most, int):
            return most
    return None


def _pico(entry: dict[str, Any], name: str) -> int | None:
    dollars = entry.get(name)
    return round(dollars * _PICO) if isinstance(dollars, int | float) else None


@cache
def _cost_map() -> dict[str, dict[str, Any]]:
    found = find_spec("litellm")  # finds the package; does not load it
    if found is None or found.origin is None:
        return {}
    models: dict[str, dict[str, Any]] = json.loads(Path(found.origin).with_name(_FILE).read_bytes())
    return {name.lower(): entry for name, entry in models.items()}
