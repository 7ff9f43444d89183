"""Findings about the texts of a counted request: control tokens in them, and a doubled BOS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.nouns.wire_blocks import WireBlock, read_wire
from playground.tokens.pieces import Framed, Piece
from playground.tokens.tokenizer import Tokenizer

_SHOWN: Final = 5  # places of one kind
_NEAR: Final = 80  # characters on either side of a mark: no token is longer


def checks(framed: Framed, tokenizer: Tokenizer) -> list[Finding]:
    """Report control tokens in the texts of messages and tools, and a doubled BOS.

    The findings are `token-injection` and `doubled-bos`.
    """
    findings = [one for row in framed.rows for piece in row for one in _injected(piece, tokenizer)]
    if framed.control and (twice := _doubled(framed, tokenizer)):
        findings.append(twice)
    return findings


def _injected(piece: Piece, tokenizer: Tokenizer) -> Iterator[Finding]:
    if piece.message is None and not piece.tool:
        return
    named = _pattern(tokenizer)
    for match in list(named.finditer(piece.text))[:_SHOWN] if named else ():
        where = f"tool {piece.tool}" if piece.message is None else f"message {piece.message}"
        text = f"{match[0]!r} at character {match.start()} of the {piece.origin}"
        yield finding("token-injection", where, text)


def _pattern(tokenizer: Tokenizer) -> re.Pattern[str] | None:
    # not `<s>` and `<unk>`: they are common in other markup, and begin no turn
    marked = sorted((c for c in tokenizer.controls if len(c) > 5), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, marked))) if marked else None


def _doubled(framed: Framed, tokenizer: Tokenizer) -> Finding | None:
    """Report a BOS at the start of the text if the server, or a template, writes one too."""
    begins = [c for c in tokenizer.controls if c in BEGINNINGS]
    text = "".join(piece.text for row in framed.rows for piece in row)
    added = bool(framed.rows) and framed.rows[0][0].fixed > 0 and not framed.rows[0][0].text
    for token in begins:
        rest = text.removeprefix(token)
        if rest != text and (added or rest.startswith(token)):
            return finding("doubled-bos", "prompt", f"{token} stands there twice")
    return None


BEGINNINGS: Final = (
    "<|begin_of_text|>",
    "<s>",
    "<bos>",
    "<|startoftext|>",
    "<|begin▁of▁sentence|>",
)


def marks_in_tokens(body: Mapping[str, Any], tokenizer: Tokenizer) -> list[Finding]:
    """Report each cache mark between two texts that one token would span (`mark-in-token`).

    The provider cuts the text at the mark, so the cached tokens are right. But the model reads
    other tokens than for the same text in one block, and moving the mark changes them.
    """
    pairs = pairwise(read_wire(dict(body)).blocks)
    return [found for one, other in pairs if (found := _spanned(one, other, tokenizer))]


def _spanned(one: WireBlock, other: WireBlock, tokenizer: Tokenizer) -> Finding | None:
    places = one.place and other.place and one.place[0] == other.place[0]
    together = places or (one.place is None and other.place is None and one.tier == "system")
    texts = one.kind == other.kind == "text" and one.tier == other.tier
    if one.ttl is None or not together or not texts:
        return None
    before, after = one.text[-_NEAR:], other.text[:_NEAR]
    if not before or not after or len(before) in tokenizer.starts(before + after):
        return None
    where = "system" if one.place is None else "message {} part {}".format(*one.place)
    text = f"…{before[-8:]!r} and {after[:8]!r}… share a token of {tokenizer.name}"
    return finding("mark-in-token", where, text)
