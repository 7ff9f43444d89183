"""A provider's rules, completed by the price lists."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from typing import Final

from playground.base.errors import UnknownNameError, nearest_names
from playground.cache.prices import Price, listed_price, price_of
from playground.cache.rules import Rules, rule_sets, rules_of
from playground.cache.rules.names import plain_name
from playground.dialects.marks.providers import UNKNOWN, provider_of

_SIMILARITY: Final = 0.75  # of a misspelt name to the right one; LiteLLM's names are less similar
_OF_VERSION: Final = re.compile(r"(?<=\d)-(?=\d)")


def known_rules(provider: str, model: str) -> Rules:
    """Return a provider's rules, with the list price's figures if these hold for the model.

    If `provider` is empty, it is derived from the model's name: "unknown-provider" if no rules fit.
    Raises UnknownNameError for an unknown provider.
    """
    rules = rules_of(provider or provider_of(model))
    if rules.provider == UNKNOWN or not _takes_list_price(rules, model):
        return rules
    price = listed_price(model)
    return rules.knowing(price.figures()) if price else rules


def price_under(rules: Rules, model: str) -> Price | None:
    """Return a model's list price; None if the list price does not hold under these rules."""
    return price_of(model) if _takes_list_price(rules, model) else None


def stand_in(rules: Rules, model: str) -> str | None:
    """Return the known model whose figures are used for `model`, if the rules do not name `model`.
    Return None if they name it, or without rules; return "" if the rules name no model at all."""
    return None if rules.match == "unknown" or rules.knows(model) else rules.assumed_as(model)


def assumption_of(rules: Rules, model: str) -> str:
    """Return a sentence on the rules that are assumed for a model; "" if the rules name it."""
    if rules.match == "unknown":
        near = f" ({nearest_names(model, known)})" if (known := _misspelt(model)) else ""
        return f"No caching rules are known for this model{near}: all is counted at the full price."
    like = stand_in(rules, model)
    if like is None:
        return ""
    words = f"No rule names this model{f': assumed as for {like}' if like else ''}."
    return " ".join(filter(None, (words, near_names(rules, model))))


def near_names(rules: Rules, model: str) -> str:
    """Ask if a similar model was meant; "" if the name is known, has a price, or resembles none."""
    known, plain = list(rules.models), plain_name(model)
    is_near = bool(get_close_matches(plain, known, 1, _SIMILARITY)) and stand_in(rules, model)
    return f"D{nearest_names(plain, known)[1:]}" if is_near and not price_of(model) else ""


def check_model(model: str, provider: str = "") -> None:
    """Raise UnknownNameError for a name that no rules fit but that is almost a known model's.

    Any other name passes, such as "acme/foo-1": many models are in no list, and their requests are
    counted at the full price.
    """
    if not provider and (known := _misspelt(model)):
        raise UnknownNameError("model", model, known)


@cache
def _misspelt(model: str) -> list[str]:
    """Return all models with rules if `model` seems to be one of them misspelt, otherwise []."""
    if not model or "/" in model or provider_of(model) != UNKNOWN or price_of(model):
        return []
    known: list[str] = []
    for rules in rule_sets().values():
        mark = "." if rules.get("spelling") == "points" else "-"
        known += [_OF_VERSION.sub(mark, each) for each in rules.models]
    return known if get_close_matches(model.lower(), known, 1, _SIMILARITY) else []


def _takes_list_price(rules: Rules, model: str) -> bool:
    """Return True if the list price holds: the rules name the model, or are its provider's."""
    return rules.provider == provider_of(model) or rules.knows(model)
