"""A request as a tokenizer reads it: pieces of text with origins, and control tokens around them.

The tokenizer reads a row of pieces as one text: a token may span two pieces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from playground.tokens.pictures import Pictures

Origin = Literal[
    "system", "user", "assistant", "calls", "results", "tools", "framing", "other messages"
]
_DIGITS: Final = re.compile(r"\d+")
_PICTURES: Final = ("image_url", "input_image")
_ORIGINS: Final[dict[str, Origin]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "tool": "results",
    "function": "results",
}


def origin_of(role: object) -> Origin:
    return _ORIGINS.get(str(role), "other messages")


class Piece(NamedTuple):
    """A text and the control tokens around it; `message` counts from 0, `tool` is a tool's name.

    If `medium`, the piece is, or holds, a picture or document of unknown size. `sure`
    is the share of the text that the model certainly gets. `fixed` is the number of other tokens:
    control tokens, or a picture of known size (in `estimate`: 1 if the piece begins a message).
    If `unseen`, a bill may hold more than the text; if `forgets`, earlier messages may be dropped.
    """

    text: str = ""
    origin: Origin = "framing"
    message: int | None = None
    tool: str = ""
    fixed: int = 0
    medium: bool = False
    sure: float = 1.0
    unseen: bool = False
    forgets: bool = False


@dataclass(slots=True)
class Framed:
    """A complete request: rows of pieces, and the reasons why the count is not exact.

    If `control`, the texts hold control tokens, because a template wrote them. `unknown` maps each
    reason to the most tokens that it adds, or to None without a limit (searches that the provider
    runs, a conversation that it stores). `pictures` gives the cost of pictures, if known. If
    `forgets`, the server may leave out earlier messages.
    """

    rows: list[Sequence[Piece]] = field(default_factory=list)
    unknown: dict[str, int | None] = field(default_factory=dict)
    source: str = ""
    control: bool = False
    pictures: Pictures | None = None
    forgets: bool = False

    def add(self, *pieces: Piece) -> None:
        self.rows.append(pieces)

    def add_reason(self, reason: str, most: int | None = None) -> None:
        """Add a reason why the count is not exact, with the most tokens that it may add (None: no
        limit). A repeated reason is added once."""
        self.unknown.setdefault(reason, most)

    def add_other_parts(self, content: Any, origin: Origin, message: int) -> None:
        """Add the cost of a content's parts that are not text, or a reason if it is unknown."""
        for part in _split(content)[1]:
            kind = _kind(part)
            cost = self.pictures.cost(part) if self.pictures and kind in _PICTURES else None
            if cost is None:
                self.add_reason(f"what a part of type {kind} costs is not known")
            else:
                self.add(Piece(origin=origin, message=message, fixed=cost))

    @property
    def most_unknown(self) -> int | None:
        """The most tokens that all unknown parts may add; None if there is no limit."""
        sizes = list(self.unknown.values())
        return None if None in sizes else sum(size or 0 for size in sizes)


@lru_cache(8_192)
def more_of_digits(text: str) -> int:
    """Count the additional tokens if each digit is a token; OpenAI's tokenizers join up to three
    digits."""
    return sum(len(digits) - ceil(len(digits) / 3) for digits in _DIGITS.findall(text))


def text_of(content: Any) -> tuple[str, list[str]]:
    """Return the text of a content, and the kinds of the parts that are not text."""
    text, other_parts = _split(content)
    return text, list(map(_kind, other_parts))


def _split(content: Any) -> tuple[str, list[Any]]:
    if content is None or isinstance(content, str):
        return content or "", []
    texts: list[str] = []
    other_parts: list[Any] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, str):
            texts.append(part)
        else:
            other_parts.append(part)
    return "".join(texts), other_parts


def _kind(part: Any) -> str:
    if not isinstance(part, dict):
        return type(part).__name__
    return str(part.get("type") or next(iter(part), "part"))


def functions_of(tools: Any) -> Iterator[dict[str, Any]]:
    """Yield the functions among a request's tools, without their envelopes."""
    for tool in tools if isinstance(tools, list) else ():
        inner = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            yield inner


def calls_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of a message of Chat Completions, including `function_call`."""
    value = message.get("tool_calls")
    if not value and isinstance(message.get("function_call"), dict):
        value = [{"function": message["function_call"]}]
    calls = value if isinstance(value, list) else []
    return [c for c in calls if isinstance(c, dict) and isinstance(c.get("function"), dict)]


def compact(arguments: Any) -> str:
    """Write arguments as JSON without blanks, as models read them; other text stays unchanged."""
    return _as_json(arguments, (",", ":"))


def spaced(arguments: Any) -> str:
    """Write arguments as JSON with a blank after each comma and colon, as Python does."""
    return _as_json(arguments, (", ", ": "))


def _as_json(arguments: Any, separators: tuple[str, str]) -> str:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return str(arguments)
    return json.dumps(arguments, separators=separators, ensure_ascii=False)
