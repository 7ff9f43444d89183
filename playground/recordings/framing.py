"""Cut bytes into frames: server-sent events, JSON lines, JSON documents, AWS event streams.

A frame has the name of its event ("" if the wire has none) and its data. Bytes may be cut anywhere;
the pieces of a line are joined once, when its end has arrived.
"""

from __future__ import annotations

import json
import struct
from typing import Final, NamedTuple, Protocol


class Frame(NamedTuple):
    event: str
    data: bytes


class FrameReader(Protocol):
    """A reader that cuts one kind of wire into frames."""

    def feed(self, data: bytes) -> list[Frame]: ...
    def finish(self) -> list[Frame]: ...


class LineReader:
    """A reader of server-sent events and JSON lines, which may follow one another.

    A line ends at `\\n`, and in an event stream at a lone `\\r` too, as the standard allows. U+2028
    and the like do not end a line: they are text inside JSON.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._event = ""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[Frame]:
        if b"\n" not in data:
            self._pieces.append(data)
            return []
        self._pieces.append(data)
        *lines, rest = b"".join(self._pieces).split(b"\n")
        self._pieces = [rest]
        return self._frames(lines)

    def finish(self) -> list[Frame]:
        last = b"".join(self._pieces)
        self._pieces = []
        return self._frames([last, b""])

    def _frames(self, lines: list[bytes]) -> list[Frame]:
        frames: list[Frame] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data: {") and not data and line.endswith(b"}"):  # the usual case
                data.append(line[6:])
            elif line in (b"", b"\r"):
                if data:
                    frames.append(
                        Frame(self._event, data[0] if len(data) == 1 else b"\n".join(data))
                    )
                    data.clear()
                self._event = ""
            else:
                for part in line.removesuffix(b"\r").split(b"\r"):
                    frames += self._line(part)
        return frames

    def _line(self, line: bytes) -> list[Frame]:
        frames: list[Frame] = []
        name, _, value = line.lstrip().partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        if not line:
            frames = self._frames([b""])
        elif name == b"data":
            self._data.append(value)
        elif name == b"event":
            if self._data:  # no blank line after the previous event
                frames = self._frames([b""])
            self._event = value.decode("utf-8", "replace").strip()
        elif name in (b"", b"id", b"retry"):
            pass  # a comment, or a field that holds no text of the reply
        else:
            frames = [*self._frames([b""]), Frame("", line)]
        return frames


class DocumentReader:
    """A reader of JSON documents of several lines, which are read when the stream has ended."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> list[Frame]:
        self._pieces.append(data)
        return []

    def finish(self) -> list[Frame]:
        text = b"".join(self._pieces).decode("utf-8", "surrogateescape")
        self._pieces = []
        frames: list[Frame] = []
        decoder, place = json.JSONDecoder(), 0
        while place < len(text):
            if text[place] in " \t\r\n,]":
                place += 1
                continue
            if text[place] == "[":  # a list of chunks, each of which is a frame
                place += 1
                continue
            try:
                value, place = decoder.raw_decode(text, place)
                data = json.dumps(value)
            except (ValueError, RecursionError):
                data, place = text[place:], len(text)
            frames.append(Frame("", data.encode("utf-8", "surrogateescape")))
        return frames


class EventStreamReader:
    """A reader of AWS event streams (`application/vnd.amazon.eventstream`), as Bedrock sends them.

    A message is its length, the length of its headers, a checksum, headers, payload, a checksum.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        buffer = self._buffer
        buffer += data
        frames: list[Frame] = []
        place = 0
        while len(buffer) - place >= 16:  # bytes of a message without headers and payload
            total, headers = struct.unpack_from(">II", buffer, place)
            if total < 16 + headers or len(buffer) - place < total:
                break
            names = _headers(bytes(buffer[place + 12 : place + 12 + headers]))
            event = names.get(":event-type") or names.get(":exception-type", "")
            payload = bytes(buffer[place + 12 + headers : place + total - 4])
            if ":error-code" in names:  # an error of the transport, which has no payload
                event = "error"
                error = {"code": names[":error-code"], "message": names.get(":error-message", "")}
                payload = json.dumps(error).encode()
            key = json.dumps(event).encode()
            frames.append(Frame(event, b"{" + key + b":" + (payload or b"{}") + b"}"))
            place += total
        del buffer[:place]
        return frames

    def finish(self) -> list[Frame]:
        rest = bytes(self._buffer)
        self._buffer.clear()
        return [Frame("", rest)] if rest else []


_SIZES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # of header values, by type


def _headers(data: bytes) -> dict[str, str]:
    """Return the string headers of a message, except one that is cut off."""
    strings: dict[str, str] = {}
    place = 0
    while place < len(data):
        start = place + 1 + data[place]
        name = data[place + 1 : start].decode("ascii", "replace")
        kind = data[start] if start < len(data) else -1
        if kind in _SIZES:
            place = start + 1 + _SIZES[kind]
            continue
        if kind not in (6, 7) or start + 3 > len(data):  # only bytes and strings state a length
            break
        (length,) = struct.unpack_from(">H", data, start + 1)
        place = start + 3 + length
        if kind == 7:
            strings[name] = data[start + 3 : place].decode("utf-8", "replace")
    return strings


_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"  # some streams begin with it


class Framing:
    """The reader of any stream: the first bytes decide which frame reader reads it."""

    def __init__(self) -> None:
        self._reader: FrameReader | None = None
        self._start: list[bytes] = []

    def feed(self, data: bytes) -> list[Frame]:
        if self._reader is not None:
            return self._reader.feed(data)
        if not data:
            return []
        self._start.append(data)
        is_binary = self._start[0].startswith(b"\x00")
        if b"\n" not in data and not is_binary:
            return []  # the first line decides
        start = b"".join(self._start)
        mark = _BYTE_ORDER_MARK if start.startswith(_BYTE_ORDER_MARK) else b""
        line = start[len(mark) :].lstrip()
        if b"\n" not in line and not is_binary:  # wait for a complete first line
            self._start = [start if line else mark + b"\n"]
            return []
        return self._choose(start)

    def finish(self) -> list[Frame]:
        if self._reader is None:
            frames = self._choose(b"".join(self._start))
            return frames + (self._reader.finish() if self._reader else [])
        return self._reader.finish()

    def _choose(self, start: bytes) -> list[Frame]:
        self._start = []
        start = start.removeprefix(_BYTE_ORDER_MARK)
        first = start.lstrip().partition(b"\n")[0].strip()
        if start.startswith(b"\x00"):
            self._reader = EventStreamReader()
        elif first.startswith((b"{", b"[")) and not _is_object(first):
            self._reader = DocumentReader()
        else:
            self._reader = LineReader()
        return self._reader.feed(start)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
