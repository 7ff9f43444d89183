"""Decode a provider's stream, whose bytes may be cut anywhere, to a recording (`decode_stream`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic_core import from_json

from playground.base.arguments import pieces_of, pieces_of_stream, takes
from playground.base.characters import is_whole
from playground.base.json_numbers import (
    dump_again,
    finite,
    holds_nan_or_infinity,
    integer_words,
    load_json,
    long_integers,
    read_json_bytes,
)
from playground.recordings.apis import reader_for, recognise
from playground.recordings.apis.base import ApiReader, Sink
from playground.recordings.framing import Frame, Framing
from playground.recordings.pairs import join_halves, whole_recording
from playground.recordings.recording import DONE, UNREADABLE, Chunk, OtherChoice, Recording

_DONE: Final = DONE.encode()
_FRAMED: Final = re.compile(rb"(?:data:\s*+)+")  # a frame within a frame
# fields in which dumps put a frame
_WRAPPERS: Final = ("chunk", "data", "event", "payload", "json", "value")
# most values that wait until the API is known, since a stream may have no end
_UNDECIDED: Final = 4096
_AT_ONCE: Final = 1 << 16  # bytes cut into frames at once, to save memory
LATEST: Final = 1e12  # seconds, thirty thousand years: no float overflows below it
# fields in which dumps list all frames
_LISTS: Final = ("chunks", "events", "stream", "data", "body")


@takes(
    pieces=pieces_of("bytes, or pieces of bytes", bytes, never=(str,)),
    api="text or nothing",
    name="text",
)
def decode_stream(
    pieces: bytes | bytearray | Iterable[bytes], api: str | None = None, name: str = ""
) -> Recording:
    """Decode one stream, whole or in pieces; without `api`, recognise it from the content.

    Frames that cannot be read become findings: a provider's bytes never raise an exception. Raises
    UnknownNameError for an unknown `api` (see `api_names`).
    """
    decoder = StreamDecoder(api)
    for piece in pieces_of_stream(pieces):
        data = memoryview(piece)
        for start in range(0, len(data), _AT_ONCE):
            decoder.feed(bytes(data[start : start + _AT_ONCE]))
    return decoder.finish(name)


def decode_values(values: Iterable[Any], api: str, name: str = "") -> Recording:
    """Decode frames that were read from a file as JSON values."""
    decoder = StreamDecoder(api)
    decoder.read_values(values)
    return decoder.finish(name)


class StreamDecoder:
    """A decoder of a stream while it arrives: `feed` each piece, then `finish` once."""

    def __init__(self, api: str | None = None) -> None:
        self._framing = Framing()
        self._sink = Sink()
        self._reader: ApiReader | None = reader_for(api)(self._sink) if api else None
        self._waiting: list[dict[str, Any]] = []  # values that came before the API was known
        self._wrapper = ""  # the field in which a dump has each frame
        self._returned = 0  # chunks that `feed` has returned
        self._is_whole = True  # False once a frame may have held half a surrogate pair

    def feed(self, piece: bytes, at: float | None = None) -> list[Chunk]:
        """Return the chunks that a piece completes. It arrived `at` seconds after the request."""
        sink = self._sink
        if at is not None:
            sink.at, sink.timed = at, True
        self._read_all(self._framing.feed(piece))
        chunks = sink.chunks[self._returned :]
        self._returned = len(sink.chunks)
        return chunks

    def read_values(self, values: Iterable[Any]) -> None:
        """Read frames that are values already."""
        self._is_whole = False
        for value in values:
            if isinstance(value, dict):
                self._read(value)
            else:
                self._note_unreadable(dump_again(value).encode())

    def note_unreadable(self, description: str) -> None:
        """Add a finding about something unreadable in the file that does not belong to the
        stream."""
        self._sink.signal(UNREADABLE + description)

    def drop_chunks(self) -> None:
        """Drop the chunks that were returned already; `finish` then returns only the others."""
        self._sink.chunks.clear()
        self._returned = 0

    def finish(self, name: str = "", dialect: str = "native") -> Recording:
        """End the stream and return the recording, in which a missing end is a finding."""
        self._read_all(self._framing.finish())
        sink = self._sink
        if self._reader is not None:
            self._reader.finish()
        else:
            self._note_waiting()
        for subject, value in (("a usage", sink.usage), ("an error", sink.error)):
            if holds_nan_or_infinity(value):
                self.note_unreadable(f"{subject} with NaN or infinite numbers, kept as text")
            if digits := long_integers(value):
                self.note_unreadable(f"{subject} with {integer_words(digits)}, kept as text")
        timed = sink.timed or sink.own_times
        recording = Recording(
            name=name,
            dialect=dialect,
            chunks=self._whole_chunks(sink),
            timing="recorded" if timed else "none",
            model=sink.model if isinstance(sink.model, str) else "",
            api=self._reader.name if self._reader else "",
            stop_reason=str(sink.stop_reason),
            usage=finite(sink.usage),
            diagnostics=finite(sink.diagnostics),
            error=finite(sink.error),
            other_choices=tuple(
                OtherChoice(index, self._whole_chunks(other), str(other.stop_reason))
                for index, other in sorted(sink.others.items())
            ),
        )
        if self._is_whole and is_whole(name + dialect):
            return recording
        return whole_recording(recording, sink.at)

    def _whole_chunks(self, sink: Sink) -> tuple[Chunk, ...]:
        return tuple(sink.chunks if self._is_whole else join_halves(sink.chunks))

    def _read_all(self, frames: list[Frame]) -> None:
        for event, data in frames:
            if data == _DONE:
                self._sink.signal(DONE)
                continue
            try:
                value = self._frame_value(data)
            except (ValueError, RecursionError):
                self._read_irregular(event, data)
                continue
            if isinstance(value, dict):
                self._read(value)
            else:
                self._note_unreadable(data)

    def _frame_value(self, data: bytes) -> Any:
        """Return a frame's value; a number that no float holds, such as 1e400, stays text."""
        try:
            return read_json_bytes(data)  # raises ValueError for half a surrogate pair
        except ValueError:
            self._is_whole = False
            return load_json(data.decode("utf-8"), strict=True)

    def _read(self, value: dict[str, Any]) -> None:
        """Read one frame's value, without the wrapper that LiteLLM's and other dumps add."""
        if "chunk" in value:
            value = self._without_chunk_wrapper(value)
        if self._reader is None and not self._choose(value):
            return
        if self._wrapper:
            self._read_unwrapped(value)
        else:
            self._read_frame(value)

    def _without_chunk_wrapper(self, value: dict[str, Any]) -> dict[str, Any]:
        inner, at = value["chunk"], value.get("t")
        if not isinstance(inner, dict):
            return value
        if isinstance(at, int | float) and 0 <= at < LATEST:
            self._sink.at, self._sink.timed = float(at), True
        return inner

    def _choose(self, value: dict[str, Any]) -> bool:
        """Choose the API; return True once it is known, after reading the waiting values."""
        chosen = recognise(value) or self._recognise_inside(value)
        if chosen is None:
            self._waiting.append(value)
            if len(self._waiting) >= _UNDECIDED:
                self._note_waiting()
            return False
        self._reader = chosen(self._sink)
        waiting, self._waiting = self._waiting, []
        for earlier in waiting:
            self._read_unwrapped(earlier)
        return True

    def _recognise_inside(self, value: dict[str, Any]) -> type[ApiReader] | None:
        """Find the API of frames that a dump has put into a field, and remember the field."""
        for key in (*_WRAPPERS, *_LISTS):
            for inner in _frames_in(value.get(key)):
                if chosen := recognise(inner):
                    self._wrapper = key
                    return chosen
        return None

    def _read_unwrapped(self, value: dict[str, Any]) -> None:
        inner = _frames_in(value.get(self._wrapper)) if self._wrapper else []
        for frame in inner or [value]:
            self._read_frame(frame)

    def _read_frame(self, value: dict[str, Any]) -> None:
        """Read a frame; if the API's reader cannot read it, add a finding."""
        assert self._reader is not None
        error = value.get("error")
        if error and not self._reader.recognises(value):
            self._sink.fail(error)
            return
        try:
            self._reader.read(value)
        except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError):
            self._note_unreadable(
                json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
            )

    def _read_irregular(self, event: str, data: bytes) -> None:
        """Read a frame that is not plain JSON: `[DONE]` between blanks, half surrogates, a frame
        within a frame, several lines of JSON, or no JSON at all."""
        if data.strip() == _DONE:
            self._sink.signal(DONE)
            return
        try:
            value = json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            lines = data.split(b"\n")
            if framed := _FRAMED.match(data):  # a proxy has put a frame into another frame
                self._read_all([Frame(event, data[framed.end() :].strip())])
            elif event == "error":
                self._sink.fail(data.decode("utf-8", "replace"))
            elif len(lines) > 1:
                self._read_all([Frame(event, line) for line in lines if line.strip()])
            else:
                self._note_unreadable(data)
            return
        if isinstance(value, dict):
            self._read(value)
        else:
            self._note_unreadable(data)

    def _note_unreadable(self, data: bytes) -> None:
        self._sink.signal(UNREADABLE + data.decode("utf-8", "replace"))

    def _note_waiting(self) -> None:
        """Report the values that wait because no API is known, as errors or as unreadable."""
        waiting, self._waiting = self._waiting, []
        for value in waiting:
            if value.get("error"):
                self._sink.fail(value["error"])
            else:
                self._note_unreadable(
                    json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
                )


def holds_frame(value: dict[str, Any]) -> bool:
    """Return True if a value is a frame of some API, or a dump's wrapper around frames."""
    wrapped = (value.get(key) for key in ("chunk", *_WRAPPERS, *_LISTS))
    return any(map(recognise, [value, *(f for field in wrapped for f in _frames_in(field))]))


def _frames_in(inner: Any) -> list[dict[str, Any]]:
    """Return the frames in a field of a dump: an object, its JSON, or a list of them."""
    if isinstance(inner, str):
        try:
            inner = from_json(inner.removeprefix("data:").encode("utf-8", "replace"))
        except ValueError:
            return []
    items = inner if isinstance(inner, list) else [inner]
    return [frame for frame in items if isinstance(frame, dict)]
