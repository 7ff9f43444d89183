"""Count the tokens of texts alone, without a framing."""

from __future__ import annotations

from collections.abc import Callable

from playground.tokens.estimate import any_text_counter, family_of
from playground.tokens.models import rule_for
from playground.tokens.registry import PACKAGED, packaged
from playground.tokens.tokenizer import count


def text_counter(model: str) -> tuple[Callable[[str], int], bool]:
    """Return a function that counts a text's tokens for a model, and True if it is exact.

    The count is exact with the model's own tokenizer. Without it, the function counts as
    `any_text_counter` does and multiplies by the ratio measured for the model's family.
    """
    rule = rule_for(model)
    if rule and PACKAGED[rule.tokenizer].path() is not None:
        tokenizer = packaged(rule.tokenizer)
        return lambda text: count(tokenizer, text), True
    counter, ratio = any_text_counter()[0], family_of(model).ratio[1]
    return lambda text: round(ratio * counter(text)), False
