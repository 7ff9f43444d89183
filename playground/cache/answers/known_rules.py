"""A provider's rules, completed by LiteLLM's cost map."""

from __future__ import annotations

from playground.cache.prices import price_of
from playground.cache.rules import Rules, rules_of
from playground.dialects.marks.providers import UNKNOWN, provider_of


def known_rules(provider: str, model: str) -> Rules:
    """Return the rules, with the map's figures where the rules do not name the model.

    An empty `provider` is derived from the model's name; it is "unknown-provider" if there are no
    rules. Raises UnknownNameError for an unknown provider.
    """
    own = provider_of(model)
    rules, price = rules_of(provider or own), price_of(model)
    is_own = own == (provider or own) != UNKNOWN
    return rules.knowing(price.figures()) if price and is_own else rules
