"""Read Gemini CLI's `--record-responses`: each line is an API call with the answer's chunks."""

from __future__ import annotations

from collections.abc import Iterator

from playground.recordings.decoding import decode_values
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.requests import read_recording, read_reply
from playground.sessions.source import Source


class GeminiCliResponses(SessionFormat):
    name = "gemini-cli-responses"
    title = "Gemini CLI recorded responses"
    keeps = Keeps(
        usage="yes",
        chunks="yes",
        missing="the file has no requests: no messages of the user, no tools",
    )

    def recognises(self, source: Source) -> bool:
        first = source.head[0] if source.head else None
        return isinstance(first, dict) and "method" in first and "response" in first

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        for line, value in source.lines():
            place = Place(line)
            method = value.get("method") if isinstance(value, dict) else None
            response = value.get("response") if isinstance(value, dict) else None
            if method == "generateContentStream" and isinstance(response, list):
                recording = decode_values(response, "gemini-generate", f"{source.stem} {line}")
                read_recording(builder, recording, place)
            elif not (isinstance(response, dict) and read_reply(builder, response, place)):
                builder.note_loss(f"the answer of {method!r}", place)
        yield builder
