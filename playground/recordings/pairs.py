"""Join the halves of surrogate pairs that a stream sent in two deltas; replace lone halves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from playground.base.characters import is_whole, replace_half_surrogates
from playground.base.findings import Finding
from playground.recordings.recording import (
    HALF_CHARACTER,
    Chunk,
    ReasoningChunk,
    Recording,
    SignalChunk,
    TextChunk,
    ToolCallChunk,
)

_OF_CHUNK: Final = re.compile(r"(?:other_choices\.\d+\.)?chunks\.\d+\.")
_Channel = tuple[type, object]


def join_halves(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return the chunks, with surrogate pairs joined that were cut between a channel's chunks. A
    channel is the text, the reasoning, or one call's arguments. The first half moves into the
    chunk with the second half. A lone half stays."""
    result: list[Chunk] = []
    first_halves: dict[_Channel, Chunk] = {}  # by channel, a chunk with an unpaired first half
    for chunk in chunks:
        text = _text(chunk)
        if text is None or (text.isascii() and not first_halves):
            result.append(chunk)
            continue
        channel = _channel(chunk)
        if channel not in first_halves and is_whole(text):
            result.append(chunk)
            continue
        first_half = first_halves.pop(channel, None)
        text = ((first_half and _text(first_half)) or "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            first_halves[channel] = _with_text(chunk, text[-1])
            text = text[:-1]
        result.append(_with_text(chunk, _join_surrogates(text)))
    return result + list(first_halves.values())


def _text(chunk: Chunk) -> str | None:
    match chunk:
        case TextChunk(text=text) | ReasoningChunk(reasoning=text):
            return text
        case ToolCallChunk(tool_call=delta):
            arguments: str | None = (delta.get("function") or {}).get("arguments")
            return arguments
        case _:
            return None


def _channel(chunk: Chunk) -> _Channel:
    index = chunk.tool_call.get("index") if isinstance(chunk, ToolCallChunk) else None
    return type(chunk), index


def _with_text(chunk: Chunk, text: str) -> Chunk:
    match chunk:
        case TextChunk():
            return replace(chunk, text=text)
        case ReasoningChunk():
            return replace(chunk, reasoning=text)
        case ToolCallChunk(tool_call=delta):
            function = {**delta["function"], "arguments": text}
            return replace(chunk, tool_call={**delta, "function": function})
        case _:
            return chunk


def _join_surrogates(text: str) -> str:
    if is_whole(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def whole_recording(recording: Recording, at: float) -> Recording:
    """Return the recording without lone surrogate halves, which no file can hold.

    For each field in which halves were replaced, a signal with the time `at` gives a finding.
    """
    findings: list[Finding] = []
    recording = replace_half_surrogates(recording, "", findings)
    fields = dict.fromkeys(_OF_CHUNK.sub("", each.where).partition(".")[0] for each in findings)
    signals = tuple(SignalChunk(HALF_CHARACTER + name, at) for name in fields)
    return replace(recording, chunks=(*recording.chunks, *signals)) if signals else recording
