"""A provider's rules with what LiteLLM's cost map says of the model."""

from __future__ import annotations

from playground.cache.prices import price_of
from playground.cache.rules import Rules, rules_of
from playground.dialects.marks.providers import UNKNOWN, provider_of


def known_rules(provider: str, model: str) -> Rules:
    """The rules, and the map's figures where they do not name the model.

    `provider` may be empty: it is told from the model's name, and is "unknown-provider" where
    nobody noted the rules. Raises UnknownNameError for a provider that there is none of.
    """
    own = provider_of(model)
    rules, price = rules_of(provider or own), price_of(model)
    is_own = own == (provider or own) != UNKNOWN
    return rules.knowing(price.figures()) if price and is_own else rules
