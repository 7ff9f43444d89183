"""Estimate requests to models with an unpublished tokenizer: count with another tokenizer and
multiply by a ratio.

The estimate is the sum of `ratio` for each token of o200k_base in the request's texts, `message`
for each message, `per_request`, and `tools` if there are any tools. Each figure is a triple:
lowest, middle, highest. Measured 2026-11 over 380 recorded requests of pydantic-ai's and
openllmetry's tests; the estimate is tested with other requests. Anthropic documents what the
presence of tools costs ("Tool use": 159 to 530 tokens by model and choice).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf, isinf
from typing import Any, Final, NamedTuple

from playground.nouns.messages import PICTURE_KINDS
from playground.nouns.wire_blocks import Tier, WireBlock, read_wire
from playground.nouns.wire_estimates import tokens_of
from playground.tokens.pictures import Area, size_of_data
from playground.tokens.pieces import Origin, Piece, more_of_digits, origin_of
from playground.tokens.registry import PACKAGED, STAND_IN, packaged
from playground.tokens.tokenizer import count

Triple = tuple[float, float, float]
_MEDIA: Final = re.compile(r"image|document|file|audio|video|inline_?data|media", re.IGNORECASE)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_-]{300}")  # pictures and signatures
_TENTH_OF_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_-]{30}")  # fast: every tenth character
_MEDIUM_IN_RESULT: Final = re.compile(  # a tool's result that holds a picture or document
    r'"(?:type": "(?:image|document|file|audio|video|input_image|image_url)"'
    r'|(?:inlineData|fileData|image|document|file_id)":)'
)
_DATA: Final = re.compile(  # of a picture's own fields: in a text, these quotes would be escaped
    r'"(?:(?:image_)?url": "data:[^"]*?;base64,|(?:data|bytes)": ")([A-Za-z0-9+/=]{40,})'
)
_BILLED_UNSEEN: Final = re.compile(  # the provider adds text: instructions, search results
    r'"citations": \{"enabled": true|"type": "server_tool_use"'
)
_THOUGHT_OVER: Final = "</think>"  # earlier turns with this tag are billed in part, or not at all
_THINKING: Final = ("thinking", "reasoning", "reasoning_effort", "thinkingConfig", "think")
_THINKING_TOKENS: Final = 40  # most tokens that a request to think adds: Anthropic adds some 29
_FORMAT: Final = (
    "output_config", "output_format", "response_format", "outputConfig", "responseSchema",
    "responseJsonSchema", "responseMimeType", "response_schema", "response_json_schema", "format",
)  # fmt: skip
# Without a tokenizer: tokens of o200k_base for each token counted by bytes, over 664 texts in ten
# scripts; the lowest is of Hindi, the highest of encoded data.
_BY_BYTES: Final = (0.4, 2.9)
_FORM_TOKENS: Final = 700  # most tokens that a required form of the answer adds
_MEDIUM_TOKENS: Final = 1_000  # tokens of an image or a document whose size cannot be seen
_ON_THE_SERVER: Final = (
    "mcp_servers", "context_management", "cachedContent", "preset", "previous_response_id",
    "conversation",
)  # fmt: skip
_FUNCTION_KEYS: Final = frozenset(("name", "function", "toolSpec", "functionDeclarations",
                                   "function_declarations", "cachePoint"))  # fmt: skip
_NESTED: Final = ("generationConfig", "generation_config", "additionalModelRequestFields", "config")
# The requests of a session repeat texts, perhaps in other messages; longer texts are not cached.
_REPEATED: Final = 8_192  # texts
_SHORT: Final = 4_096  # characters
_HALF: Final = 0.5  # share of a block of JSON that is certainly billed: providers may shorten it


@dataclass(frozen=True, slots=True)
class Family:
    """Models whose names match a pattern, with their costs as triples: lowest, middle, highest.

    `shown` is the share of the tools' text that is certainly billed; some servers leave tools out.
    If `digits`, each digit is a token. `hidden` is the reason why a bill has no upper limit.
    """

    names: re.Pattern[str]
    title: str
    ratio: Triple
    message: Triple
    per_request: Triple
    tools: Triple
    shown: float = 1.0
    digits: bool = False
    hidden: str = ""
    area: Area | None = None


def _family(
    names: str, title: str, ratio: Triple, message: Triple, per_request: Triple, tools: Triple,
    shown: float = 1.0, digits: bool = False, hidden: str = "", area: Area | None = None,
) -> Family:  # fmt: skip
    pattern = re.compile(names, re.IGNORECASE)
    return Family(pattern, title, ratio, message, per_request, tools, shown, digits, hidden, area)


FAMILIES: Final[Sequence[Family]] = (
    _family(r"claude-(?:opus-4-[7-9]|[a-z]+-[5-9](?!\d))", "Claude from 4.7 on",
            (0.95, 1.45, 2.1), (2, 4, 5), (1, 3, 8), (150, 470, 850), area=Area(2_576, 4_784)),
    _family(r"claude", "Claude", (0.85, 1.1, 1.5), (2, 4, 5), (1, 3, 8), (150, 420, 620),
            area=Area(1_568, 1_600)),
    _family(r"gemini", "Gemini", (0.65, 1.0, 1.2), (0, 1, 2), (0, 0, 4), (-130, -50, 120),
            shown=0.3, digits=True),
    _family(r"nova-2", "Nova 2", (0.9, 1.1, 1.6), (0, 1, 3), (40, 46, 110), (300, 480, 900)),
    _family(r"nova", "Nova", (0.9, 1.0, 1.35), (0, 0, 2), (0, 0, 14), (280, 330, 740)),
    _family(r"grok", "Grok", (0.8, 1.1, 1.6), (0, 4, 8), (0, 160, 700), (-60, 100, 400),
            shown=0, hidden="xAI writes a system prompt of its own"),
    _family(r"groq/compound|-online$|sonar", "systems that search", (0.8, 1.1, 1.6), (0, 4, 8),
            (0, 2, 90), (-60, 100, 400), shown=0, hidden="what the system reads is not seen"),
    _family(r"", "other models", (0.8, 1.1, 1.6), (0, 4, 8), (0, 2, 90), (-60, 100, 400),
            shown=0, digits=True),
)  # fmt: skip


class Sums(NamedTuple):
    """Sums over the pieces of a prompt or of its beginning, from which an estimate is computed.

    `text_tokens` are the texts' tokens by another tokenizer, `sure` the part of them that is
    certainly billed, `more_for_digits` how many more there are if each digit is a token. `media`
    are the tokens of pictures and documents, `most_media` the most that they can have (infinite if
    a size is unknown). If `unseen`, a bill may hold parts that the request does not show; if
    `forgets`, earlier messages may be dropped.
    """

    text_tokens: int = 0
    sure: float = 0.0
    messages: int = 0
    tools: bool = False
    media: int = 0
    most_media: float = 0
    more_for_digits: int = 0
    unseen: bool = False
    forgets: bool = False

    def plus(self, family: Family, piece: Piece, size: int) -> Sums:
        """Return the sums with one more piece, whose text has `size` tokens."""
        media, most_media = media_of(family, piece)
        return Sums(
            self.text_tokens + size,
            self.sure + size * (family.shown if piece.origin == "tools" else piece.sure),
            self.messages + (piece.fixed > 0),  # it begins a message (`pieces_of`)
            self.tools or piece.origin == "tools",
            self.media + media,
            self.most_media + most_media,
            self.more_for_digits + (more_of_digits(piece.text) if family.digits else 0),
            self.unseen or piece.unseen or bool(_BILLED_UNSEEN.search(piece.text)),
            self.forgets or piece.forgets,
        )


def media_of(family: Family, piece: Piece) -> tuple[int, float]:
    """Return the likely and the most tokens of a piece's pictures or document."""
    if family.area and piece.sizes:
        return sum(map(family.area.cost, piece.sizes)), family.area.most * len(piece.sizes)
    return (_MEDIUM_TOKENS, inf) if piece.medium else (0, 0)


class Bounds(NamedTuple):
    """The tokens of a prompt: the likely number, the least and the most (None without a limit)."""

    tokens: int
    least: int
    most: int | None


def family_of(model: str) -> Family:
    return next(family for family in FAMILIES if family.names.search(model))


@lru_cache(maxsize=1)
def any_text_counter() -> tuple[Callable[[str], int], bool]:
    """Return a function that counts a text, and True if it counts with a tokenizer.

    The package with the tokenizer is optional. Without it, texts are counted by kinds of bytes.
    """
    if PACKAGED[STAND_IN].path() is None:
        return lambda text: tokens_of(text) if text else 0, False
    counter = partial(count, packaged(STAND_IN))
    cached = lru_cache(_REPEATED)(counter)
    return lambda text: (cached if len(text) <= _SHORT else counter)(text), True


def bounds(family: Family, sums: Sums, settings: Mapping[str, Any]) -> Bounds:
    """Return the tokens of a prompt, or of its beginning, in a request with these settings.

    `sums` are of texts that `any_text_counter` has counted. Without a tokenizer the range is wider.
    """
    tokens = likely(family, sums)
    least, most = _cost(family, sums, 0, sums.sure), _cost(family, sums, 2, sums.text_tokens)
    extra = sums.more_for_digits + _THINKING_TOKENS * _has_key(settings, _THINKING)
    most += extra + _FORM_TOKENS * _has_key(settings, _FORMAT)
    # the provider may summarise earlier messages, or clear results
    sure = 0 if sums.forgets or settings.get("context_management") else max(0, int(least))
    unlimited = (
        isinf(sums.most_media) or sums.unseen or family.hidden or _bills_unseen_parts(settings)
    )
    if not any_text_counter()[1]:
        sure, most = int(_BY_BYTES[0] * sure), _BY_BYTES[1] * most
    end = None if unlimited else max(tokens, round(most + sums.most_media) + 1)
    return Bounds(tokens, min(sure, tokens), end)


def likely(family: Family, sums: Sums) -> int:
    """Return the likely tokens of a prompt, or of its beginning, as `bounds` has them."""
    middle = _cost(family, sums, 1, sums.text_tokens)
    # Tools may cost less than their text, but the whole request costs at least the lowest estimate
    # of its texts.
    return round(max(middle, family.ratio[0] * sums.text_tokens)) + sums.media


def _cost(family: Family, sums: Sums, which: int, text_tokens: float) -> float:
    """Return the lowest (`which` is 0), middle or highest cost of a prompt."""
    return (
        family.ratio[which] * text_tokens
        + family.message[which] * sums.messages
        + family.per_request[which]
        + family.tools[which] * sums.tools
    )


def shares(
    family: Family, pieces: Sequence[Piece], counts: Sequence[int], tokens: int
) -> tuple[list[int], int]:
    """Divide the estimated tokens of a request among its pieces: return each piece's size, and the
    remainder. `counts` are the pieces' token counts by another tokenizer."""
    ratio = family.ratio[1]
    sizes = [
        round(ratio * size) + media_of(family, piece)[0]
        for piece, size in zip(pieces, counts, strict=True)
    ]
    rest = tokens - sum(sizes)
    # a negative remainder is taken off the tools first, then off the other pieces
    for tools_only in (True, False):
        indexes = [i for i, piece in enumerate(pieces) if (piece.origin == "tools") == tools_only]
        rest += _reduce(sizes, indexes, max(0, -rest))
    return sizes, rest


def _reduce(sizes: list[int], places: Sequence[int], amount: int) -> int:
    """Reduce the sizes at these places by `amount` in all, in proportion; return the reduction."""
    total = sum(sizes[place] for place in places)
    reduction = min(amount, total)
    so_far = shared = 0
    for place in places:
        so_far += sizes[place]
        share = round(reduction * so_far / total) - shared if total else 0
        sizes[place] -= share
        shared += share
    return reduction


def _has_key(settings: Mapping[str, Any], keys: Sequence[str]) -> bool:
    """Return True if a request has one of the keys, at the top or in an object of settings."""
    inner = (settings.get(key) for key in _NESTED)
    places = [settings, *(item for item in inner if isinstance(item, Mapping))]
    return any(place.get(key) for place in places for key in keys)


def _bills_unseen_parts(settings: Mapping[str, Any]) -> bool:
    """Return True if a request's settings show that a bill may include unseen parts."""
    if settings.get("format") and settings.get("think"):  # Ollama then bills two calls of the model
        return True
    return any(settings.get(key) for key in _ON_THE_SERVER)


def _is_server_tool(text: str) -> bool:
    """Return True for a tool that the provider runs."""
    try:
        tool = json.loads(text)
    except ValueError:  # only the beginning of JSON: comparing prompts cuts it
        return False
    if not isinstance(tool, Mapping):
        return False
    if isinstance(kind := tool.get("type"), str):
        return kind not in ("function", "custom")
    return _FUNCTION_KEYS.isdisjoint(tool)


def texts_of(body: Mapping[str, Any]) -> list[Piece]:
    """Collect all texts of a request: its blocks, and the prompt of an API that has no messages."""
    prompts = [
        Piece(text, "user", fixed=1)
        for key in _PROMPTS
        for text in _texts(body.get(key))
        if "messages" not in body
    ]
    pieces = pieces_of(body)
    return [*(piece for piece in pieces if piece.text or piece.medium or piece.fixed), *prompts]


# Prompt fields of OpenAI's completions, Ollama, Titan, Cohere and Text Generation Inference.
_PROMPTS: Final = ("prompt", "suffix", "inputText", "preamble", "message", "inputs")


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [text for text in items if isinstance(text, str) and text]


def pieces_of(body: Mapping[str, Any], blocks: Sequence[WireBlock] | None = None) -> list[Piece]:
    """Return a piece for each block of the request; `blocks` are its blocks, if already read.

    `fixed` is 1 for the first block of a message. Pictures and encoded data have no text.
    """
    blocks = read_wire(dict(body)).blocks if blocks is None else blocks
    thought = {
        block.place[0]
        for block in blocks
        if block.place and block.role == "assistant" and _THOUGHT_OVER in block.text
    }
    pieces, previous = [], None
    for block in blocks:
        message = block.place[0] if block.place else None
        read = _cached_piece_of if len(block.text) <= _SHORT else _piece_of
        piece = read(block.tier, block.role, block.kind, block.text, block.size, block.opaque)
        sure = 0.0 if message in thought else piece.sure
        is_first = message is not None and message != previous
        previous = previous if message is None else message
        pieces.append(piece._replace(message=message, fixed=int(is_first), sure=sure))
    return pieces


def _piece_of(tier: Tier, role: str, kind: str, text: str, size: int | None, opaque: bool) -> Piece:
    """Return a block's piece without its message; with a `size`, `text` may be just a hash."""
    origin = _origin(tier, role, kind)
    is_text = kind == "text" or (origin in ("results", "calls") and not opaque)
    is_encoded = not is_text and _TENTH_OF_ENCODED.search(text[::10]) and _ENCODED.search(text)
    hidden = bool(_MEDIA.search(kind) or is_encoded)
    in_result = len(_MEDIUM_IN_RESULT.findall(text)) if origin == "results" else 0
    sizes = [*map(size_of_data, _DATA.findall(text))] if in_result or kind in PICTURE_KINDS else []
    is_known = all(sizes) and len(sizes) == max(1, in_result)
    name = re.search(r'"name": "([^"]+)"', text) if tier == "tools" else None
    return Piece(
        _DATA.sub("", text) if in_result else "" if hidden else text,
        origin,
        tool=name[1] if name else "",
        medium=hidden or bool(in_result),
        sure=_certain_share(origin, kind),
        unseen=size is None and kind == "tool" and _is_server_tool(text),
        forgets=kind == "compaction",
        sizes=tuple(filter(None, sizes)) if is_known else (),
    )


_cached_piece_of: Final = lru_cache(_REPEATED)(_piece_of)


def _certain_share(origin: Origin, kind: str) -> float:
    """Return the share of a block's text that a model certainly gets; for tools, Family has it."""
    if origin == "tools" or "reasoning" in kind or "thinking" in kind:
        return 0.0
    return 1.0 if kind in ("text", "") else _HALF


def _origin(tier: Tier, role: str, kind: str) -> Origin:
    if tier != "messages":
        return tier
    if kind in ("tool_use", "function_call", "server_tool_use"):
        return "calls"
    return "results" if kind.endswith(("_result", "_output")) else origin_of(role)
