"""Counts for models whose tokenizer nobody publishes: another's tokens, and what was measured.

A bill is taken to be `ratio` for each token of o200k_base in the request's texts, `message` for
each message, `once` for the request, and `tools` for having tools at all; each of it as the least,
the middle and the most. Measured 2026-11 over 380 recorded requests of pydantic-ai's and
openllmetry's tests that are not among those that test it. Anthropic says what having tools costs
(docs, "Tool use": 159 to 530 tokens by model and choice; LiteLLM's map has it by model).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.caching.blocks import WireBlock, read_wire
from playground.caching.bodies import tools_of
from playground.tokens.pieces import Origin, Piece, origin_of

Three = tuple[float, float, float]
_MEDIA: Final = re.compile(r"image|document|file|audio|video|inline_?data|media", re.IGNORECASE)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_-]{300,}")  # pictures, signatures: never words
_THINKING: Final = ("thinking", "reasoning", "reasoning_effort", "thinkingConfig")
_THOUGHT: Final = 40  # more at the most, where a model is asked to think: Anthropic adds some 29
_FORMAT: Final = ("output_config", "output_format", "response_format", "outputConfig")
_FORMATTED: Final = 500  # more at the most, where the answer's form is asked for
_MEDIUM: Final = 1_000  # of an image or a document, of which the size cannot be seen


@dataclass(frozen=True, slots=True)
class Family:
    """Models by name, and what is billed, each as the least, the middle and the most."""

    names: re.Pattern[str]
    title: str
    ratio: Three
    message: Three
    once: Three
    tools: Three


def _family(
    names: str, title: str, ratio: Three, message: Three, once: Three, tools: Three
) -> Family:
    return Family(re.compile(names, re.IGNORECASE), title, ratio, message, once, tools)


FAMILIES: Final[Sequence[Family]] = (
    _family(r"claude", "Claude", (0.85, 1.1, 1.5), (2, 4, 5), (1, 3, 8), (150, 420, 620)),
    _family(r"gemini", "Gemini", (0.65, 1.0, 1.2), (0, 1, 2), (0, 0, 4), (-130, -50, 60)),
    _family(r"nova", "Nova", (0.9, 1.0, 1.2), (0, 0, 2), (0, 0, 4), (280, 330, 740)),
    _family(r"", "other models", (0.8, 1.1, 1.6), (0, 4, 8), (0, 2, 90), (-60, 100, 400)),
)


@dataclass(frozen=True, slots=True)
class Guess:
    """Pieces with their middle, and the least and the most of all; None where it has no end."""

    sizes: list[int]
    once: int
    least: int
    most: int | None


def family_of(model: str) -> Family:
    return next(family for family in FAMILIES if family.names.search(model))


def guess(
    family: Family, pieces: Sequence[Piece], texts: Sequence[int], body: Mapping[str, Any]
) -> Guess:
    """What a request may be billed; `texts` are the pieces' tokens by another tokenizer."""
    messages = sum(piece.fixed > 0 for piece in pieces)
    tools = any(piece.origin == "tools" for piece in pieces)
    media = sum(not piece.text for piece in pieces)
    words = family.ratio[0] * sum(texts)
    least, middle, most = (
        family.ratio[i] * sum(texts)
        + family.message[i] * messages
        + family.once[i]
        + family.tools[i] * tools
        for i in range(3)
    )
    most += _THOUGHT * any(body.get(key) for key in _THINKING)
    most += _FORMATTED * any(body.get(key) for key in _FORMAT)
    each = family.ratio[1]
    sizes = [
        round(each * size) + (0 if piece.text else _MEDIUM)
        for piece, size in zip(pieces, texts, strict=True)
    ]
    # a tool may cost less than its text, but never so much that the rest costs nothing
    once = round(max(middle, words)) - sum(sizes) + media * _MEDIUM
    end = None if media or serves_itself(body) else round(most) + 1
    return Guess(sizes, once, max(0, int(least)), end)


def serves_itself(body: Mapping[str, Any]) -> bool:
    """Whether the provider runs tools of its own, or remembers what it then bills."""
    if body.get("mcp_servers") or body.get("context_management") or body.get("cachedContent"):
        return True
    given = tools_of(dict(body))
    tools = given if isinstance(given, list) else []
    return any(_is_server_tool(tool) for tool in tools if isinstance(tool, dict))


def _is_server_tool(tool: Mapping[str, Any]) -> bool:
    kind = tool.get("type")
    if isinstance(kind, str):
        return kind not in ("function", "custom")
    known = ("name", "function", "toolSpec", "functionDeclarations", "function_declarations")
    return not any(key in tool for key in (*known, "cachePoint"))


def pieces_of(body: Mapping[str, Any]) -> list[Piece]:
    """The request's blocks as pieces: 1 fixed for the first of a message; pictures,
    and what is encoded, have no text."""
    pieces, before = [], None
    for block in read_wire(dict(body)).blocks:
        message = block.place[0] if block.place else None
        first = message is not None and message != before
        before = message
        hidden = _MEDIA.search(block.kind) or _ENCODED.search(block.text)
        text = "" if hidden else block.text
        pieces.append(Piece(text, _origin(block), message, _name(block), int(first)))
    return pieces


def _origin(block: WireBlock) -> Origin:
    if block.tier == "tools":
        return "tools"
    if block.tier == "system":
        return "system"
    if block.kind in ("tool_use", "function_call", "server_tool_use"):
        return "calls"
    if block.kind.endswith(("_result", "_output")):
        return "results"
    return origin_of(block.role)


def _name(block: WireBlock) -> str:
    found = re.search(r'"name": "([^"]+)"', block.text) if block.tier == "tools" else None
    return found[1] if found else ""
