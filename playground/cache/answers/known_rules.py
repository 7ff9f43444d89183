"""A provider's rules, completed by the price lists."""

from __future__ import annotations

from playground.cache.prices import Price, listed_price, price_of
from playground.cache.rules import Rules, rules_of
from playground.dialects.marks.providers import UNKNOWN, provider_of


def known_rules(provider: str, model: str) -> Rules:
    """Return a provider's rules, with the price lists' figures for a model it made or they name.

    If `provider` is empty, it is derived from the model's name: "unknown-provider" if no rules fit.
    Raises UnknownNameError for an unknown provider.
    """
    rules = rules_of(provider or provider_of(model))
    if rules.provider == UNKNOWN or not _takes_list_price(rules, model):
        return rules
    price = listed_price(model)
    return rules.knowing(price.figures()) if price else rules


def price_under(rules: Rules, model: str) -> Price | None:
    """Return a model's list price if the rules are those of its maker, or name it; None
    otherwise."""
    return price_of(model) if _takes_list_price(rules, model) else None


def stand_in(rules: Rules, model: str) -> str | None:
    """Return the known model that lends its figures to a model that the rules do not name. Return
    None if they name it, or if there are no rules, and "" if the rules name no model at all."""
    if rules.match == "unknown" or rules.knows(model):
        return None
    return rules.assumed_as(model)


def assumption_of(rules: Rules, model: str) -> str:
    """Return a sentence on the rules that are assumed for a model; "" if the rules name it."""
    if rules.match == "unknown":
        return "No caching rules are known for this model: all is counted at the full price."
    like = stand_in(rules, model)
    if like is None:
        return ""
    return f"No rule names this model{f': assumed as for {like}' if like else ''}."


def _takes_list_price(rules: Rules, model: str) -> bool:
    """Return True if the provider made the model, or its rules name it: the list price holds."""
    return rules.provider == provider_of(model) or rules.knows(model)
