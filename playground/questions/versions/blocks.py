"""Cut a request into the blocks that people compare: tools, sections of a system prompt, parts.

Only people see sections: for a provider's cache, and for its prices, a text is one block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from playground.nouns.wire_blocks import Tier, WireBlock
from playground.tokens.estimate import pieces_of
from playground.tokens.pieces import text_of
from playground.tokens.texts import text_counter

_LONG: Final = 1_500  # characters; a longer text is shown in sections
_HEADING: Final = re.compile(r"^(?=#{1,4} |<[A-Za-z][\w-]*>[ \t]*$)", re.MULTILINE)
_PARAGRAPH: Final = re.compile(r"\n\s*\n(?=\S)")
_LABEL: Final = 60  # characters
_PICTURE_TOKENS: Final = 1_000  # assumed, as a block does not show its size
_ENVELOPES: Final = ("function", "toolUse", "toolResult", "functionCall", "functionResponse")
_CONTENT_FIELDS: Final = ("name", "arguments", "input", "args", "output", "content", "response")
_NAME: Final = re.compile(r'"name": "([^"]+)"')
_MCP: Final = re.compile(r"mcp__(.+?)__")
# Texts that agents write into a user's turn: Claude Code, Codex, Cline, OpenHands, Copilot.
_INJECTED: Final = re.compile(
    r"\s*<(?:system-reminder|environment_(?:context|details)|env|user_instructions|INSTRUCTIONS|"
    r"permissions[ _]instructions|EXECUTION_RESULT|ENVIRONMENT|RUNTIME_INFORMATION|attachments?|"
    r"context|editorContext|reminderInstructions|command-\w+|local-command-\w+)\b"
    r"|\s*# (?:AGENTS|CLAUDE)\.md\b"
)


@dataclass(frozen=True, slots=True)
class VersionBlock:
    """A part of a request; `number` is its index.

    `writer` is who wrote it: the agent, an MCP server, the user, the model, or a tool.
    """

    tier: Tier
    role: str
    kind: str
    name: str
    text: str
    number: int
    writer: str
    tokens: int

    @property
    def identity(self) -> tuple[str, str, str, str]:
        return self.tier, self.role, self.kind, self.text


class _Part(NamedTuple):
    """A part of a wire block that becomes a VersionBlock; `title` is its name without its place."""

    title: str
    text: str
    writer: str
    tokens: int


_Key = tuple[str, ...]
KnownParts = dict[_Key, list[_Part]]  # parts of a wire block, by everything that determines them


def blocks_of(
    body: dict[str, Any],
    wire_blocks: Sequence[WireBlock],
    model: str,
    by_tool: dict[str, int],
    known: KnownParts,
) -> list[VersionBlock]:
    """Return a request's blocks in order, cut from its wire blocks. `by_tool` holds the tokens of
    each tool with the text that its provider adds; all other tokens are those of the text alone.
    `known` is filled with parts, so that the common blocks of two requests are read once."""
    size, _ = text_counter(model)
    blocks: list[VersionBlock] = []
    for block, piece in zip(wire_blocks, pieces_of(body, wire_blocks), strict=True):
        origin = piece.origin if piece.text else "picture"
        key = (model, origin, block.tier, block.role, block.kind, block.text)
        parts = known.get(key)
        if parts is None:
            parts = known[key] = list(_parts(block, origin, size))
        place = _place(block)
        for title, text, writer, tokens in parts:
            if block.tier == "tools":
                tokens = by_tool.get(title) or tokens
            description = (block.tier, block.role, block.kind, place + title, text)
            blocks.append(VersionBlock(*description, len(blocks), writer, tokens))
    return blocks


def _place(block: WireBlock) -> str:
    """Return the beginning of a block's name: its place in the request, "" for a tool."""
    if block.tier == "tools":
        return ""
    label = block.role or block.tier
    if block.place and block.tier == "messages":
        label = f"message {block.place[0]} {label}"
    return label


def _parts(block: WireBlock, origin: str, size: Callable[[str], int]) -> Iterator[_Part]:
    """Cut a block into parts. Together their texts are the block's text, except that JSON (of
    tools, calls …) is indented."""
    if block.tier == "tools":
        for name, text in _tools(block.text):
            yield _Part(name, text, _writer(block, name, text), size(text))
        return
    is_json = origin in ("calls", "results")
    if block.kind == "text":
        by_agent = block.tier == "system" or block.role in ("system", "developer")
        texts = sections(block.text) if by_agent else [block.text]
        titled = [(f": {_first_line(t)}", t, _parsed(t) if is_json else None) for t in texts]
    else:
        called, value = _NAME.search(block.text), _parsed(block.text)
        text = block.text if value is None else _pretty(value)
        titled = [(f" {block.kind}{f' {called[1]}' if called else ''}", text, value)]
    for title, text, value in titled:
        if origin == "picture":
            tokens = _PICTURE_TOKENS * bool(text)
        else:
            tokens = size(_as_read(value, text) if is_json else text)
        yield _Part(title, text, _writer(block, title, text), tokens)


def _parsed(text: str) -> Any:
    """Return the value of a JSON text; None for any other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_read(value: Any, text: str) -> str:
    """Return the content of a call or a result, without the ids and keys around it. `text` is the
    value as JSON."""
    if not isinstance(value, dict):
        return text
    for key in _ENVELOPES:
        inner = value.get(key)
        value = inner if isinstance(inner, dict) else value
    texts = [_plain_text(value[key]) for key in _CONTENT_FIELDS if value.get(key) is not None]
    return " ".join(texts) or text


def _plain_text(value: Any) -> str:
    text, others = text_of(value) if isinstance(value, str | list) else ("", [value])
    return text if not others else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tools(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and JSON of each tool; Gemini has all tools in one entry."""
    value = json.loads(text)
    for key in ("functionDeclarations", "function_declarations"):
        for tool in value.pop(key, None) or ():
            yield str(tool.get("name") or "tool"), _pretty(tool)
    if value:
        inner = value.get("function") or value.get("toolSpec") or value
        yield str(inner.get("name") or value.get("type") or "tool"), _pretty(value)


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def sections(text: str) -> list[str]:
    """Cut a long text before its headings, or into paragraphs if it has fewer than two.

    The sections together are the text.
    """
    if len(text) < _LONG:
        return [text]
    starts = [match.start() for match in _HEADING.finditer(text)]
    if len(starts) < 2:
        starts = [match.end() for match in _PARAGRAPH.finditer(text)]
    edges = [0, *(start for start in starts if start), len(text)]
    return [text[a:b] for a, b in zip(edges, edges[1:], strict=False) if a < b]


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"


def _writer(block: WireBlock, name: str, text: str) -> str:
    if block.tier == "tools":
        server = _MCP.match(name)
        return f"MCP server {server[1]}" if server else "agent"
    if block.tier == "system" or block.role in ("system", "developer"):
        return "agent"
    if block.kind.endswith(("_result", "_output")):
        return "tool"
    if block.role in ("assistant", "model") or block.kind.endswith(("tool_use", "_call")):
        return "model"
    return "agent" if _INJECTED.match(text) else "user"
