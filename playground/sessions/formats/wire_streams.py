"""Read raw streams of a provider, and the recordings that `playground record` writes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from playground.recordings.apis import recognise
from playground.recordings.decoding import decode_stream, holds_frame
from playground.recordings.files import FORMATS, START, cut_header, read_recording_file
from playground.recordings.recording import Recording
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.requests import read_recording, read_request
from playground.sessions.source import Source


class RecordingFile(SessionFormat):
    name = "recording"
    title = "recording of `playground record`"
    keeps = Keeps("yes", "yes", "yes", "yes")
    left_aside = {"raw": "pieces of the stream, which is read as a whole"}

    def recognises(self, source: Source) -> bool:
        if source.head:
            first = source.head[0]
            return isinstance(first, dict) and first.get("format") in FORMATS
        return source.start(len(START)) == START

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        recording, request = _read(source)
        builder = SessionBuilder(title=recording.name or source.stem)
        if request:
            read_request(builder, request, Place(1, "request"))
            # a request names the model without the route by which LiteLLM reaches it
            builder.set_metadata(model=mapping(source.head[0]).get("model"))
        read_recording(builder, recording, Place(2))
        yield builder


def _read(source: Source) -> tuple[Recording, dict[str, Any]]:
    """Return the recording and its request; only the last line may be cut off."""
    outer, source.left_out = source.left_out, []  # collect the lines' faults, and judge them below
    last_line = 0

    def lines() -> Iterator[tuple[int, Any]]:
        nonlocal last_line
        for number, value in source.lines():
            last_line = number
            yield number, value

    try:
        first = next(rest := lines(), None)
        if first is None and source.left_out:
            return cut_header(), {}
        recording, request = read_recording_file(chain([first] if first else [], rest), source.name)
        for fault in source.left_out:
            if (fault.line or 0) < last_line:
                raise fault
    finally:
        source.left_out = outer
    return recording, request


class WireStream(SessionFormat):
    name = "stream"
    title = "raw stream of a provider (server-sent events, JSON lines)"
    left_aside = {
        "response.instructions": "the request's instructions, which a response repeats",
        "response.tools": "the request's tools, which a response repeats",
        "**.item.tools": "lists of the tools of MCP servers",
        "**.output.*.tools": "lists of the tools of MCP servers",
        "**.provider_metadata": "a gateway's account of its route",
        "**.stop_details": "the provider's words for the reason of an end",
        "**.finishMessage": "Gemini's words for the reason of an end",
        "**.metadata.trace": "what a guardrail of Bedrock's found",
    }
    keeps = Keeps(
        usage="yes", chunks="yes", times="of Ollama's chunks", missing="the file has no request"
    )

    def recognises(self, source: Source) -> bool:
        if source.is_folder or source.is_zip:
            return False
        lines = source.head or [source.document]
        if _stream_within(lines[0]):
            return True
        if any(isinstance(value, dict) for value in lines):
            sole = len(lines) == 1
            known = [isinstance(value, dict) and _is_frame(value, sole) for value in lines]
            return sum(known) > len(known) / 2
        document = source.document  # may be a list of frames: Gemini's answer without `alt=sse`
        if isinstance(document, list) and not any(map(_may_be_frame, document[:_MOST_FRAMES])):
            return False
        return any(decode_stream([source.start(size)]).api for size in _STARTS)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        data = (b"" if source.is_lines else _stream_within(source.document)) or source.data
        read_recording(builder, decode_stream([data], name=source.stem), Place())
        yield builder


_MOST_FRAMES: Final = 12  # frames that are examined to recognise a file
_STARTS: Final = (4096, 65536)  # bytes: the first frames of most streams show the API


def _stream_within(value: Any) -> bytes:
    """Return the stream in the body of a stored HTTP answer; b"" for any other body."""
    body = value.get("body") if isinstance(value, dict) and "headers" in value else None
    if not isinstance(body, str) or body.lstrip()[:1] in ("", "{", "["):
        return b""
    data = body.encode("utf-8", "surrogatepass")
    return data if decode_stream([data]).api else b""


def _may_be_frame(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and holds_frame(value))


def _is_frame(value: dict[str, Any], sole: bool) -> bool:
    """Return True for a frame of any API (LiteLLM's dumps wrap it), or for an error's body. `sole`
    is True for a file's only value, which may be a whole completion. A completion without a finish
    reason does not count: as a stream it would seem cut off."""
    frame = mapping(value.get("chunk")) or value
    choices = [mapping(choice) for choice in listed(frame.get("choices"))]
    is_whole = sole and any("message" in choice for choice in choices)
    if is_whole or frame.get("object") == "chat.completion":
        return any(choice.get("finish_reason") for choice in choices)
    return recognise(frame) is not None or (set(frame) == {"error"} and bool(frame["error"]))
