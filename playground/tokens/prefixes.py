"""Count every prefix of a request, so that the whole request has the count of `count_request`.

If a tokenizer is published for the model, only whole requests are counted (`whole_bounds`). For any
other model the estimate is a sum over blocks, so every prefix has an estimate (`sums_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from playground.base.errors import InputFault
from playground.nouns.wire_blocks import WireBlock
from playground.tokens.estimate import (
    FAMILIES,
    Bounds,
    Family,
    Sums,
    any_text_counter,
    family_of,
    pieces_of,
)


@lru_cache(maxsize=256)
def unpublished(model: str) -> Family | None:
    """Return the figures by which a model's prompts are estimated; None if the model's tokenizer is
    published, unless no tokenizer at all is installed."""
    family = family_of(model)
    if family is FAMILIES[-1]:
        from playground.tokens.models import rule_for

        return None if rule_for(model) and any_text_counter()[1] else family
    return family


def sums_of(family: Family, blocks: Sequence[WireBlock], start: Sums) -> list[Sums]:
    """Return the sums at the end of each block; `start` has the sums before the first.

    The blocks begin with the first block of a message.
    """
    counter, sums = any_text_counter()[0], list[Sums]()
    for block, piece in zip(blocks, pieces_of({}, blocks), strict=True):
        size = counter(piece.text) if block.size is None else block.size
        start = start.plus(family, piece, size)
        sums.append(start)
    return sums


def whole_bounds(body: Mapping[str, Any], model: str, api: str = "") -> Bounds | None:
    """Return the tokens of a whole request to a model with a published tokenizer.

    It is None for any other model, if no tokenizer is installed, or if the body cannot be counted.
    """
    if unpublished(model) is not None or not any_text_counter()[1]:
        return None
    from playground.tokens.count import count_request

    try:
        counted = count_request(body, model, api)
    except InputFault:
        return None
    return Bounds(counted.tokens, *counted.range)
