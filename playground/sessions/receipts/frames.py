"""Streams and packed bodies in a file: frames of a stream, HTTP messages, gzip and Base64."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from typing import Any, Final

from playground.base.json_numbers import load_json
from playground.recordings.framing import LineReader
from playground.sessions.source import Source

_UNZIPPED: Final = 64 * 1024 * 1024  # bytes: the rest of a longer body is dropped
_FIRST_VALUES: Final = 12  # values of a file that decide if it is a stream
_CONVERSE_FIELDS: Final = frozenset({"contentBlockDelta", "contentBlockStop", "messageStart"})
_EVENT: Final = re.compile(
    r"response\.|content_block_|message_(?:start|delta|stop)$|(?:content|message|tool-call)-"
)
_EVENT_LINE: Final = re.compile(r"(?m)^(?:data|event|id|retry)?:[^\n]*\n?|^\s*\n?")
_DONE: Final = b"[DONE]"
HTTP_HEAD: Final = re.compile(
    rb"(?:\r?\n?\d+ \d+\n)?"  # sizes that httprr writes between two exchanges
    rb"(HTTP/\d(?:\.\d)? \d{3}[^\r\n]*|[A-Z]{3,7} \S+ HTTP/\d(?:\.\d)?)\r\n"
    rb"((?:[^\r\n]+\r?\n)*)\r\n"
)
_CHUNK: Final = re.compile(rb"([0-9a-fA-F]+)[^\r\n]*\r\n")  # the size before a chunk of HTTP


def frames_of_lines(source: Source) -> list[Any]:
    """Return the frames of a stream with one in each line; [] for a file of other lines."""
    first = [value for value in source.head[:_FIRST_VALUES] if isinstance(value, dict)]
    inner = [v["chunk"] if isinstance(v.get("chunk"), dict) else v for v in first]
    if sum(map(is_frame, inner)) * 2 <= len(inner) or not inner:
        return []
    lines = source.data.decode("utf-8-sig", "replace").split("\n")
    found = [value for line in lines if line.strip() for value in json_values(line)]
    return [v["chunk"] if isinstance(v, dict) and "chunk" in v else v for v in found]


def is_frame(value: dict[Any, Any]) -> bool:
    """Return True for an object with the fields, or the event's name, of a piece of a stream."""
    # Llama Stack's form, which wraps each object with its type
    if isinstance(value.get("__data__"), dict):
        value = value["__data__"]
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    is_piece = isinstance(choice, dict) and "message" not in choice
    if is_piece or "candidates" in value or not _CONVERSE_FIELDS.isdisjoint(value):
        return "request" not in value
    return _EVENT.match(str(value.get("type") or "")) is not None or "done" in value


def frames_in(text: str) -> list[Any]:
    """Return the frames of server-sent events, or of JSON lines within a string (if more than half
    of them can be read); [] for any other text. An event's data that is not JSON becomes a text."""
    if text.lstrip()[:1] == "{" and "\n" in text:
        lines = [line for line in text.split("\n") if line.strip()]
        frames = [value for line in lines for value in json_values(line)]
        return frames if len(frames) * 2 > len(lines) else []
    if "data:" not in text or _EVENT_LINE.sub("", text).strip():
        return []
    reader = LineReader()
    events = [*reader.feed(text.encode("utf-8", "replace")), *reader.finish()]
    frames = [
        value
        for event in events
        if event.data.strip() != _DONE
        for data in [event.data.decode("utf-8", "replace")]
        for value in json_values(data) or _of_lines(data)
    ]
    return frames if any(isinstance(frame, dict | list) for frame in frames) else []


def _of_lines(data: str) -> list[Any]:
    """Read an event's data line by line: a line of JSON as its value, any other line as a text."""
    lines = [line for line in data.split("\n") if line.strip()]
    return [value for line in lines for value in json_values(line) or [line]]


def json_values(text: str) -> list[Any]:
    try:
        return [load_json(text, strict=True)]
    except (ValueError, RecursionError):
        return []


def are_frames(items: list[Any]) -> bool:
    """Return True for several frames of a stream, none of which is a complete message."""
    return len(items) > 1 and all(isinstance(i, dict) and "role" not in i for i in items)


def unchunked(body: bytes) -> bytes:
    """Return a body without the sizes that HTTP writes between its chunks."""
    pieces, at = [], 0
    while (size := _CHUNK.match(body, at)) is not None and int(size[1], 16):
        stop = size.end() + int(size[1], 16)
        pieces.append(body[size.end() : stop])
        at = stop + 2
    return b"".join(pieces) or body


def unzipped(data: bytes) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, _UNZIPPED)
    except zlib.error:
        return data


def from_hex(pieces: list[Any]) -> bytes:
    """Return the bytes of a list of hexadecimal pieces; b"" for any other list."""
    try:
        return bytes.fromhex("".join(pieces))
    except (ValueError, TypeError):
        return b""


def from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
