"""Read a model's prices: from our dated rules, or else from two installed price lists.

LiteLLM's cost map is read without loading LiteLLM. `genai-prices` adds the models, tiers and days
that the map lacks; if both have a price and disagree, the map's is used and both are named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from playground.cache.rules import Figure, rules_of
from playground.dialects.marks.providers import provider_of

_FILE: Final = "model_prices_and_context_window_backup.json"
_PICO: Final = 1_000_000_000_000
_INPUT: Final = "input_cost_per_token"
_BORDER: Final = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


@dataclass(frozen=True, slots=True)
class Price:
    """A model's list price for input in pico-dollars a token, and its other entries in the list.

    `read` is the price of a token from the cache, `output` that of an answer's token, `minimum` the
    tokens that a prefix needs to be cached; each is None if the list lacks it. `tiers` are the
    prices of input under other terms (long requests, a service tier), by the names that LiteLLM's
    map gives them. `days` are the prices of input by the day on which each began, if it has
    changed.
    """

    source: str
    uncached: int
    read: int | None = None
    minimum: int | None = None
    output: int | None = None
    tiers: tuple[tuple[str, int], ...] = ()
    days: tuple[tuple[str, int], ...] = ()

    def figures(self) -> dict[str, Figure]:
        """Return the figures about the model's cache that the source has, by the rule's name."""
        by_rule: dict[str, Figure] = {}
        if self.minimum is not None:
            by_rule["minimum_tokens"] = Figure(self.minimum, self.source)
        if self.read is not None and self.uncached:
            by_rule["read_permille"] = Figure(self.read * 1000 // self.uncached, self.source)
        return by_rule

    def nano_dollars(self, cost: int, factor: int = 1000) -> int:
        """Convert a cost in thousandths of an uncached token to nano-dollars.

        `factor`, in thousandths, is for the request's length, service tier, place or hour.
        """
        return cost * self.uncached * factor // 1_000_000_000

    def since(self, day: str) -> tuple[str, int]:
        """Return the day on which the price of `day` began, and this price in thousandths of the
        list price."""
        began = [(start, pico) for start, pico in self.days if start <= day]
        start, pico = began[-1] if began else ("", self.uncached)
        return start, round(pico * 1000 / self.uncached)

    def factor(self, tokens: int, tier: str = "") -> int | None:
        """Return the factor for a request of so many tokens in a service tier, in thousandths.

        Return None if the list has no price for the tier. If the request is above a limit of
        tokens, each of its tokens costs more.
        """
        prices, under = dict(self.tiers), f"_{tier}" if tier else ""
        borders = [int(found[1]) for name in prices if (found := _BORDER.fullmatch(name))]
        above = max((n for n in borders if tokens > n * 1000), default=0)
        name = f"{_INPUT}_above_{above}k_tokens{under}" if above else f"{_INPUT}{under}"
        if name == _INPUT or not self.uncached:
            return 1000
        return round(prices[name] * 1000 / self.uncached) if name in prices else None


@cache
def price_of(model: str) -> Price | None:
    """Return the price of a LiteLLM model name, with or without its provider, or None.

    A dated rule of ours takes precedence over both lists.
    """
    if (dated := _price_by_rules(model)) is not None:
        return dated
    from playground.cache.price_feed import feed_price

    listed, feed = _price_in_map(model), feed_price(model)
    if feed is None:
        return listed
    from_feed = Price(
        feed.source, feed.uncached, feed.read, None, feed.output, _map_names(feed.tiers), feed.days
    )
    return _joined(listed, from_feed) if listed else from_feed


def listed_price(model: str) -> Price | None:
    """Return the price by our rules or LiteLLM's map; load the feed only if both lack it."""
    return _price_by_rules(model) or _price_in_map(model) or price_of(model)


def _map_names(tiers: Mapping[tuple[int, str], int]) -> tuple[tuple[str, int], ...]:
    """Return tiers under the names that LiteLLM's map has for them."""
    return tuple(
        (f"{_INPUT}{f'_above_{above}k_tokens' * bool(above)}{f'_{tier}' * bool(tier)}", price)
        for (above, tier), price in tiers.items()
    )


def _price_by_rules(model: str) -> Price | None:
    rules = rules_of(provider_of(model))
    if (nano := rules.of_model("input_nano", model)) is None:
        return None
    rule, output = rules.rules["input_nano"], rules.of_model("output_nano", model)
    return Price(
        source=f"{rule.source}, {rule.seen}",
        uncached=nano * 1000,
        read=nano * rules.figure("read_permille", model).value,
        output=None if output is None else output * 1000,
    )


@cache
def _price_in_map(model: str) -> Price | None:
    entry, key = _entry(model, _INPUT)
    if not entry:
        return None
    return Price(
        source=f"LiteLLM {version('litellm')} cost map, {key}",
        uncached=_pico(entry, _INPUT) or 0,
        read=_pico(entry, "cache_read_input_token_cost"),
        minimum=entry.get("prompt_cache_min_tokens"),
        output=_pico(entry, "output_cost_per_token"),
        tiers=tuple(
            (name, pico)
            for name in entry
            if name.startswith(f"{_INPUT}_") and (pico := _pico(entry, name)) is not None
        ),
    )


def _joined(listed: Price, feed: Price) -> Price:
    """Return the map's price with what the feed adds to it, and both sources. If map and feed
    disagree on a token's price, nothing is added; the source names both prices."""
    if listed.uncached != feed.uncached or _differ(listed.read, feed.read):
        figures = f"${feed.uncached / 10**6:g}, read ${(feed.read or 0) / 10**6:g} a million tokens"
        both = f"{listed.source}; sources disagree: {figures} by {feed.source}"
        return replace(listed, source=both)
    tiers = {**dict(feed.tiers), **dict(listed.tiers)}
    joined = replace(
        listed,
        read=listed.read if listed.read is not None else feed.read,
        output=listed.output if listed.output is not None else feed.output,
        tiers=tuple(tiers.items()),
        days=feed.days,
    )
    adds = len(tiers) > len(listed.tiers) or replace(joined, tiers=listed.tiers) != listed
    return replace(joined, source=f"{listed.source}; {feed.source}") if adds else listed


def _differ(one: int | None, other: int | None) -> bool:
    return None not in (one, other) and one != other


def _entry(model: str, field: str) -> tuple[dict[str, Any], str]:
    """Return the map's first entry for a model's name that has a field, and the entry's key. The
    name is tried as it is, without its first part up to "/", and without its first two parts."""
    models, name = _cost_map(), model.lower()
    _, _, rest = name.partition("/")
    for key in (name, rest, rest.partition("/")[2]):
        entry = models.get(key)
        if entry and field in entry:
            return entry, key
    return {}, ""


@cache
def context_tokens(model: str) -> int | None:
    """Return how many tokens a request to the model may have, or None if the map does not say."""
    most = _entry(model, "max_input_tokens")[0].get("max_input_tokens")
    return most if isinstance(most, int) else None


def _pico(entry: dict[str, Any], name: str) -> int | None:
    dollars = entry.get(name)
    return round(dollars * _PICO) if isinstance(dollars, int | float) else None


@cache
def _cost_map() -> dict[str, dict[str, Any]]:
    spec = find_spec("litellm")  # finds the package without importing it
    if spec is None or spec.origin is None:
        return {}
    models: dict[str, dict[str, Any]] = json.loads(Path(spec.origin).with_name(_FILE).read_bytes())
    return {name.lower(): entry for name, entry in models.items()}
