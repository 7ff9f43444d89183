"""Feed a recording's chunks to a parser, each kind through its own method."""

from __future__ import annotations

import base64

from playground.nouns.events import Event
from playground.parsing.parser import DialectParser
from playground.recordings.recording import (
    BytesChunk,
    Chunk,
    ReasoningChunk,
    SignalChunk,
    TextChunk,
    ToolCallChunk,
)


def feed(parser: DialectParser, chunk: Chunk) -> list[Event]:
    """Return a chunk's events; a signal has none."""
    match chunk:
        case TextChunk(text=text):
            return parser.feed_text(text)
        case BytesChunk(base64=text):
            return parser.feed(base64.b64decode(text))
        case ReasoningChunk(reasoning=text):
            return parser.feed_reasoning(text)
        case ToolCallChunk(tool_call=delta):
            return parser.feed_tool_call_delta(delta)
        case SignalChunk():
            return []


def describe_chunk(chunk: Chunk) -> tuple[str, str]:
    """Return a chunk's kind and its content as text, for a list of steps."""
    match chunk:
        case TextChunk(text=text):
            return "text", text
        case BytesChunk(base64=text):
            return "text", base64.b64decode(text).decode("utf-8", "replace")
        case ReasoningChunk(reasoning=text):
            return "reasoning", text
        case ToolCallChunk(tool_call=delta):
            return "tool call", str(delta)
        case SignalChunk(signal=name):
            return "signal", name
