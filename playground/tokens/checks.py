"""Findings about a counted request: control tokens in texts, a doubled BOS, marks in tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.nouns.wire_blocks import WireBlock, read_wire
from playground.nouns.wire_bodies import holds_marks
from playground.tokens.pieces import Framed, Piece
from playground.tokens.tokenizer import Tokenizer

_SHOWN: Final = 5  # most places that are reported in one text
_REACH: Final = 80  # characters that are read on either side of a mark: no token is longer


def checks(framed: Framed, tokenizer: Tokenizer) -> list[Finding]:
    """Report control tokens in the texts of messages and tools, and a doubled BOS.

    The findings are `token-injection` and `doubled-bos`.
    """
    pieces = (
        piece for row in framed.rows for piece in row if piece.message is not None or piece.tool
    )
    pattern = _pattern(tokenizer)
    findings = [f for piece in pieces for f in _injected(piece, pattern)] if pattern else []
    if framed.control and (twice := _doubled_bos(framed, tokenizer)):
        findings.append(twice)
    return findings


def _injected(piece: Piece, pattern: re.Pattern[str]) -> Iterator[Finding]:
    for match in islice(pattern.finditer(piece.text), _SHOWN):
        place = f"tool {piece.tool}" if piece.message is None else f"message {piece.message}"
        text = f"{match[0]!r} at character {match.start()} of the {piece.origin}"
        yield finding("token-injection", place, text)


def _pattern(tokenizer: Tokenizer) -> re.Pattern[str] | None:
    # Short control tokens such as `<s>` and `<unk>` are left out, because other markup has them
    # too, and they begin no turn.
    controls = sorted((c for c in tokenizer.controls if len(c) > 5), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, controls))) if controls else None


def _doubled_bos(framed: Framed, tokenizer: Tokenizer) -> Finding | None:
    """Report a BOS at the start of the text if the server, or a template, writes one too."""
    begins = [c for c in tokenizer.controls if c in BEGINNINGS]
    text = "".join(piece.text for row in framed.rows for piece in row)
    added = bool(framed.rows) and framed.rows[0][0].fixed > 0 and not framed.rows[0][0].text
    for token in begins:
        rest = text.removeprefix(token)
        if rest != text and (added or rest.startswith(token)):
            return finding("doubled-bos", "prompt", f"it begins with {token} twice")
    return None


BEGINNINGS: Final = (
    "<|begin_of_text|>",
    "<s>",
    "<bos>",
    "<|startoftext|>",
    "<|begin▁of▁sentence|>",
)


def marks_in_tokens(body: Mapping[str, Any], tokenizer: Tokenizer) -> list[Finding]:
    """Report each cache mark at which one token would span both texts (`mark-in-token`).

    The provider cuts the text at the mark, so the model reads other tokens than without the mark:
    moving the mark changes the model's input.
    """
    if not holds_marks(body):  # most bodies hold none, and reading blocks takes as long as counting
        return []
    pairs = pairwise(read_wire(dict(body)).blocks)
    return [mark for first, second in pairs if (mark := _mark_in_token(first, second, tokenizer))]


def _mark_in_token(first: WireBlock, second: WireBlock, tokenizer: Tokenizer) -> Finding | None:
    same = first.place and second.place and first.place[0] == second.place[0]
    adjacent = same or (first.place is None and second.place is None and first.tier == "system")
    are_texts = first.kind == second.kind == "text" and first.tier == second.tier
    if first.ttl is None or not adjacent or not are_texts:
        return None
    before, after = first.text[-_REACH:], second.text[:_REACH]
    if not before or not after or len(before) in tokenizer.starts(before + after):
        return None
    place = "system" if first.place is None else "message {} part {}".format(*first.place)
    text = f"…{before[-8:]!r} and {after[:8]!r}… share a token of {tokenizer.name}"
    return finding("mark-in-token", place, text)
