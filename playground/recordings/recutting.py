"""Cut a recording into other chunks, break it off, or damage it, to test how a parser copes."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, Literal

from playground.recordings.recording import (
    BytesChunk,
    Chunk,
    ReasoningChunk,
    Recording,
    TextChunk,
    ToolCallChunk,
)

Cutting = Literal["1 byte", "7 bytes", "random"]
CUTTINGS: Final[tuple[Cutting, ...]] = ("1 byte", "7 bytes", "random")


_FEWEST: Final = 4  # characters of an invented chunk, about a token
_MOST_CHUNKS: Final = 5_000
_BETWEEN: Final = 0.02  # seconds between two chunks


def synthetic_recording(text: str, name: str, dialect: str) -> Recording:
    """Return a recording of a text that was not streamed; its chunks and times are invented."""
    size = max(_FEWEST, -(-len(text) // _MOST_CHUNKS))
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return Recording(
        name=name,
        dialect=dialect,
        chunks=tuple(TextChunk(piece, i * _BETWEEN) for i, piece in enumerate(pieces)),
        timing="synthetic",
        note=f"A text, not a recorded stream: cut here into chunks of {size} characters.",
    )


def text_size(recording: Recording) -> int:
    """Return the number of bytes of the recording's text, without reasoning and native calls."""
    return sum(len(_data(chunk)) for chunk in recording.chunks)


def recut(recording: Recording, cutting: Cutting, seed: int = 0) -> Recording:
    """Return the content in other chunks: text cut by bytes, reasoning and calls by characters."""
    sizes = _sizes(cutting, seed)
    return replace(
        recording,
        chunks=tuple(piece for run in _runs(recording.chunks) for piece in _cut_up(run, sizes)),
    )


def cut_in_two(recording: Recording, at: int) -> Recording:
    """Return the recording with its text in as few chunks as possible, cut only before byte `at`.
    Reasoning and native calls stay unchanged, in their places."""
    chunks: list[Chunk] = []
    place = 0
    for run in _runs(recording.chunks):
        if not isinstance(run[0], TextChunk | BytesChunk):
            chunks += run
            continue
        data = b"".join(map(_data, run))
        inside = at - place
        pieces = [data[:inside], data[inside:]] if 0 < inside < len(data) else [data]
        chunks += [_bytes_chunk(piece, run[0].at) for piece in pieces]
        place += len(data)
    return replace(recording, chunks=tuple(chunks))


def break_off(recording: Recording, after: int) -> Recording:
    """Return only the first `after` chunks, as a lost connection leaves them."""
    return replace(recording, chunks=recording.chunks[: max(0, after)], stop_reason="")


def drop_chunk(recording: Recording, index: int) -> Recording:
    return replace(recording, chunks=recording.chunks[:index] + recording.chunks[index + 1 :])


def corrupt_chunk(recording: Recording, index: int, seed: int = 0) -> Recording:
    """Return the recording with one byte of a chunk's text changed; a chunk without text stays."""
    chunk = recording.chunks[index]
    chance = random.Random(seed)  # an experiment: the numbers need not be secret

    def corrupted(text: str) -> bytes:
        data = bytearray(text.encode("utf-8", "surrogatepass"))
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(data)

    result: Chunk
    match chunk:
        case TextChunk() | BytesChunk():
            result = _bytes_chunk(corrupted(_data(chunk).decode("utf-8", "replace")), chunk.at)
        case ReasoningChunk(reasoning=text):
            result = replace(chunk, reasoning=corrupted(text).decode("utf-8", "replace"))
        case ToolCallChunk(tool_call=delta):
            function = dict(delta.get("function") or {})
            text = str(function.get("arguments") or "")
            function["arguments"] = corrupted(text).decode("utf-8", "replace")
            result = replace(chunk, tool_call={**delta, "function": function})
        case _:
            result = chunk
    chunks = list(recording.chunks)
    chunks[index] = result
    return replace(recording, chunks=tuple(chunks))


def _runs(chunks: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Yield runs of text, of reasoning, and of a call's further arguments; yield other chunks one
    by one."""

    def kind(pair: tuple[int, Chunk]) -> Any:
        index, chunk = pair
        match chunk:
            case TextChunk() | BytesChunk():
                return "text"
            case ReasoningChunk():
                return "reasoning"
            case ToolCallChunk(tool_call=delta) if _holds_arguments_only(delta):
                return "arguments", delta.get("index")
            case _:
                return "alone", index

    for _, run in groupby(enumerate(chunks), key=kind):
        yield [chunk for _, chunk in run]


def _holds_arguments_only(delta: dict[str, Any]) -> bool:
    """Return True if a delta has only more arguments of a call."""
    return delta.keys() <= {"index", "function"} and _adds_arguments(delta)


def _adds_arguments(delta: dict[str, Any]) -> bool:
    """Return True if a delta has arguments, but neither names nor ends its call."""
    return set(delta.get("function") or ()) == {"arguments"} and "done" not in delta


def _sizes(cutting: Cutting, seed: int) -> Callable[[], int]:
    if cutting == "random":
        chance = random.Random(seed)  # reproducible cuts: the numbers need not be secret
        return lambda: chance.randint(1, 11)
    size = 1 if cutting == "1 byte" else 7
    return lambda: size


def _cut_up(run: list[Chunk], sizes: Callable[[], int]) -> Iterator[Chunk]:
    first = run[0]
    match first:
        case TextChunk() | BytesChunk():
            for piece in _pieces(b"".join(map(_data, run)), sizes):
                yield _bytes_chunk(piece, first.at)
        case ReasoningChunk():
            whole = "".join(c.reasoning for c in run if isinstance(c, ReasoningChunk))
            for piece in _pieces(whole, sizes):
                yield ReasoningChunk(piece, first.at)
        case ToolCallChunk(tool_call=delta) if _adds_arguments(delta):
            texts = [
                c.tool_call["function"]["arguments"] for c in run if isinstance(c, ToolCallChunk)
            ]
            for piece in _pieces("".join(map(str, texts)), sizes):
                yield ToolCallChunk({**delta, "function": {"arguments": piece}}, first.at)
        case _:
            yield from run


def _pieces(whole: Any, sizes: Callable[[], int]) -> Iterator[Any]:
    place = 0
    while place < len(whole):
        size = sizes()
        yield whole[place : place + size]
        place += size


def _data(chunk: Chunk) -> bytes:
    match chunk:
        case TextChunk(text=text):
            return text.encode("utf-8", "surrogatepass")
        case BytesChunk(base64=text):
            return base64.b64decode(text)
        case _:
            return b""


def _bytes_chunk(data: bytes, at: float) -> Chunk:
    """Return a chunk of text, or of Base64 if the bytes are cut inside a character."""
    try:
        return TextChunk(data.decode("utf-8"), at)
    except UnicodeDecodeError:
        return BytesChunk(base64.b64encode(data).decode("ascii"), at)
