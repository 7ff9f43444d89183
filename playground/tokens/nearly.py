"""Count a request with a similar tokenizer if the model's own is known but not installed.

The model's framing is known, so only the tokens of texts are estimated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Final

from playground.tokens.pieces import Framed, more_of_digits
from playground.tokens.registry import Packaged, packaged
from playground.tokens.tokenizer import count

_OTHERS: Final = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class Sized:
    """An estimate in tokens: the likely `sizes` of the texts, and the lowest and highest sum."""

    least: int
    sizes: list[int]
    most: int


def count_with_similar(framed: Framed, model: Packaged) -> Sized:
    """Estimate the tokens of a framed request's texts with the tokenizer that is like `model`'s."""
    controls_by_size = sorted(model.controls, key=len, reverse=True) if framed.control else []
    controls = re.compile("|".join(map(re.escape, controls_by_size))) if controls_by_size else None
    pieces = [piece for row in framed.rows for piece in row]
    sized = [_size(piece.text, model, controls) for piece in pieces]
    least = sum(piece.sure * size[0] for piece, size in zip(pieces, sized, strict=True))
    cuts = len(pieces) - len(framed.rows)  # a token may span two pieces of a row
    most = ceil(sum(size[2] for size in sized))
    return Sized(max(0, floor(least) - cuts), [round(size[1]) for size in sized], most)


def _size(text: str, model: Packaged, controls: re.Pattern[str] | None) -> Sequence[float]:
    if model.like is None:
        raise ValueError(f"nothing is known to be like the tokenizer of {model.package}")
    tokenizer = packaged(model.like.to)
    parts = controls.split(text) if controls else [text]
    other_tokens = sum(count(tokenizer, each) for part in parts for each in _OTHERS.findall(part))
    plain = max(0, sum(count(tokenizer, part) for part in parts) - other_tokens)
    controls_found = len(parts) - 1
    sizes = [
        ratio * plain + other_ratio * other_tokens + controls_found
        for ratio, other_ratio in zip(model.like.ratio, model.like.other_letters, strict=True)
    ]
    if model.like.digits:
        extra = more_of_digits(text)
        sizes[1:] = [sizes[1] + extra, sizes[2] + extra]
    return sizes
