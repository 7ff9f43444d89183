"""A provider's rules, completed by LiteLLM's cost map."""

from __future__ import annotations

from playground.cache.prices import Price, price_of
from playground.cache.rules import Rules, rules_of
from playground.dialects.marks.providers import UNKNOWN, provider_of


def known_rules(provider: str, model: str) -> Rules:
    """Return the rules, with the map's figures where the rules do not name the model.

    An empty `provider` is derived from the model's name; it is "unknown-provider" if there are no
    rules. Raises UnknownNameError for an unknown provider.
    """
    rules = rules_of(provider or provider_of(model))
    price = price_under(rules, model)
    return rules.knowing(price.figures()) if price and rules.provider != UNKNOWN else rules


def price_under(rules: Rules, model: str) -> Price | None:
    """Return a model's list price where these rules are its own; no provider sells another
    maker's model at the maker's price.
    """
    is_own = rules.provider == provider_of(model) or rules.knows(model)
    return price_of(model) if is_own else None
