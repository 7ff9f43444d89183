"""Read a model's price from the installed `genai-prices`, by the model's name.

The library itself also accepts a name that only begins like a known one; here `claude-opus-5-9` is
not taken for `claude-opus-5`. The library takes a tenth of a second to load, so it is loaded only
when the first price is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from playground.cache.rules.names import plain_name
from playground.dialects.marks.providers import provider_of

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

# The day whose prices are used if a request has no date; the core reads no clock.
_PRICE_DAY: Final = "2026-11-27"
_FEEDS: Final = {  # the beginning of a rule set's name -> the provider's id in the feed
    "anthropic": "anthropic",
    "azure": "azure",
    "bedrock": "aws",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "gemini": "google",
    "groq": "groq",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "openrouter": "openrouter",
    "vertex": "google",
    "xai": "x-ai",
    "zai": "zai",
}


class FeedPrice(NamedTuple):
    """A model's prices for a token, in pico-dollars, by the feed.

    `tiers` are prices of input by two keys: the thousands of tokens above which a price holds (0:
    none), and the service tier ("": none). `days` are prices of input by the day on which each
    began.
    """

    source: str
    uncached: int
    read: int | None
    output: int | None
    tiers: dict[tuple[int, str], int]
    days: tuple[tuple[str, int], ...]


def feed_price(model: str) -> FeedPrice | None:
    """Return the price of a model by its name, by the part after its last "/", or by its plain
    name if only one model has that; None if the feed lists none of these names.

    A price that depends on the hour is left out, because the feed has no weekdays and holidays.
    """
    route, _, rest = model.lower().partition("/")
    rules = "openrouter" if route == "openrouter" else provider_of(model)
    providers = (feed for name, feed in _FEEDS.items() if rules.startswith(name))
    model_info = _find(next(providers, ""), rest or route)
    return _price(model_info) if model_info else None


def _find(provider: str, name: str) -> ModelInfo | None:
    exact, plain = _names(provider)
    match = exact.get(name) or exact.get(name.rpartition("/")[2])
    alike = plain.get(plain_name(name), [])
    return match or (alike[0] if len(alike) == 1 else None)


@cache
def _names(provider: str) -> tuple[dict[str, ModelInfo], dict[str, list[ModelInfo]]]:
    """Return the models of a provider and its fallbacks: by names in the feed, by `plain_name`."""
    from genai_prices.data_snapshot import get_snapshot

    every = {each.id: each for each in get_snapshot().providers}
    own = every.get(provider)
    exact: dict[str, ModelInfo] = {}
    plain: dict[str, list[ModelInfo]] = {}
    fallbacks = (own.fallback_model_providers if own else None) or ()
    for source in [own, *(every[name] for name in fallbacks)] if own else []:
        pairs = [(name, model) for model in source.models for name in _spellings(model)]
        more: dict[str, list[ModelInfo]] = {}
        for name, model in pairs:
            exact.setdefault(name, model)
            same = more.setdefault(plain_name(name), [])
            same += [] if any(model is each for each in same) else [model]
        plain = more | plain
    return exact, plain


def _spellings(model: ModelInfo) -> Iterator[str]:
    yield model.id.lower()
    clauses: list[Any] = [model.match]
    while clauses:
        clause = clauses.pop()
        if name := getattr(clause, "equals", ""):
            yield str(name).lower()
        clauses += getattr(clause, "or_", ())


def _price(model: ModelInfo) -> FeedPrice | None:
    """Return a model's price on `_PRICE_DAY`; None without one, or if it depends on the hour."""
    dated = model.prices if isinstance(model.prices, list) else []
    if any(hasattr(each.constraint, "start_time") for each in dated):
        return None
    starts = [(str(getattr(each.constraint, "start_date", "")), each.prices) for each in dated]
    own = next((p for since, p in reversed(starts) if since <= _PRICE_DAY), None)
    prices = own or (model.prices if not isinstance(model.prices, list) else None)
    if prices is None or not (uncached := _pico(prices, "input_mtok")):
        return None
    days = [(since, _pico(each, "input_mtok") or uncached) for since, each in starts]
    return FeedPrice(
        source=f"genai-prices {version('genai-prices')}, {model.id}, {_PRICE_DAY}",
        uncached=uncached,
        read=_pico(prices, "cache_read_mtok"),
        output=_pico(prices, "output_mtok"),
        tiers={**_tiers(prices, ""), **_variants(model)},
        days=tuple(days) if {pico for _, pico in days} - {uncached} else (),
    )


def _pico(prices: ModelPrice, key: str) -> int | None:
    """Return the price of a token in pico-dollars, up to the first tier."""
    price: Any = getattr(prices, key, None)
    base = getattr(price, "base", price)
    return None if base is None else round(base * 1_000_000)


def _tiers(prices: ModelPrice, service_tier: str) -> dict[tuple[int, str], int]:
    per_million: Any = getattr(prices, "input_mtok", None)
    borders = getattr(per_million, "tiers", ())
    return {(round(t.start / 1000), service_tier): round(t.price * 1_000_000) for t in borders}


def _variants(model: ModelInfo) -> dict[tuple[int, str], int]:
    """Return the prices of service tiers."""
    tiers: dict[tuple[int, str], int] = {}
    for variant in model.price_variants or ():
        tier, price = variant.when.get("service_tier"), _pico(variant.prices, "input_mtok")
        if tier and len(variant.when) == 1 and price is not None:
            tiers |= {(0, tier): price, **_tiers(variant.prices, tier)}
    return tiers
