"""A provider's rules, completed by the price lists."""

from __future__ import annotations

from playground.cache.prices import listed_price
from playground.cache.rules import Rules, rules_of
from playground.dialects.marks.providers import UNKNOWN, provider_of


def known_rules(provider: str, model: str) -> Rules:
    """Return the rules, with the lists' figures where the rules do not name the model.

    An empty `provider` is derived from the model's name; it is "unknown-provider" if there are no
    rules. Raises UnknownNameError for an unknown provider.
    """
    own = provider_of(model)
    rules, price = rules_of(provider or own), listed_price(model)
    is_own = own == (provider or own) != UNKNOWN
    return rules.knowing(price.figures()) if price and is_own else rules
