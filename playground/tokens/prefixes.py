"""Count every prefix of a request, so that the whole request has the count of `count_request`.

If a tokenizer is published for the model, only whole requests are counted (`whole_bounds`). For any
other model the estimate is a sum over the blocks, so each prefix has one (`sums_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final

from playground.base.errors import InputFault
from playground.nouns.wire_blocks import WireBlock
from playground.nouns.wire_estimates import tokens_of
from playground.tokens.estimate import FAMILIES, Bounds, Family, Sums, bounds, family_of, pieces_of
from playground.tokens.registry import PACKAGED, PROXY, packaged
from playground.tokens.tokenizer import count

# The tokens of o200k_base for each token that is estimated by kinds of bytes: lowest, highest
_BY_BYTES: Final = (0.82, 1.2)


@lru_cache(maxsize=256)
def unpublished(model: str) -> Family | None:
    """Return the figures of a model without a published tokenizer; None for any other model."""
    family = family_of(model)
    if family is FAMILIES[-1]:
        from playground.tokens.models import rule_for

        return None if rule_for(model) else family
    return family


@lru_cache(maxsize=1)
def _text_counter() -> tuple[Callable[[str], int], bool]:
    """Return a function that counts a text, and True if it counts with a tokenizer.

    The package with the tokenizer is optional. Without it, texts are counted by kinds of bytes.
    """
    if PACKAGED[PROXY].path() is None:
        return lambda text: tokens_of(text) if text else 0, False
    return partial(count, packaged(PROXY)), True


def sums_of(family: Family, blocks: Sequence[WireBlock], start: Sums) -> list[Sums]:
    """Return the sums at the end of each block; `start` has the sums before the first.

    The blocks begin with the first block of a message.
    """
    counter, sums = _text_counter()[0], list[Sums]()
    for block, piece in zip(blocks, pieces_of({}, blocks), strict=True):
        size = counter(piece.text) if block.size is None else block.size
        start = start.plus(family, piece, size)
        sums.append(start)
    return sums


def prefix_bounds(family: Family, sums: Sums, settings: Mapping[str, Any]) -> Bounds:
    """Return the tokens of a prefix of a request with these settings."""
    tokens, least, most = bounds(family, sums, settings)
    if _text_counter()[1]:
        return Bounds(tokens, least, most)
    low, high = _BY_BYTES
    return Bounds(tokens, int(low * least), None if most is None else int(high * most))


def whole_bounds(body: Mapping[str, Any], model: str, api: str = "") -> Bounds | None:
    """Return the tokens of a whole request to a model with a published tokenizer.

    It is None for any other model, without the package of the tokenizer, and if the body cannot be
    counted.
    """
    if unpublished(model) is not None or not _text_counter()[1]:
        return None
    from playground.tokens.count import count_request

    try:
        counted = count_request(body, model, api)
    except InputFault:
        return None
    return Bounds(counted.tokens, *counted.range)
