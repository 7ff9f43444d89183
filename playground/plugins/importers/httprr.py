"""Read traces of Go's httprr: for each exchange, two sizes and the bytes of request and reply.

https://pkg.go.dev/golang.org/x/oscar/internal/httprr; the tests of langchaingo and of Google's ADK
for Go record their exchanges in this form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from playground.base.findings import finding
from playground.sessions.building import Place
from playground.sessions.formats.base import Keeps
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.shapes.exchanges import Exchange, json_object, unzip
from playground.sessions.source import Source

_HEAD: Final = b"httprr trace v1\n"
_SIZES: Final = re.compile(rb"(\d+) (\d+)\n")
_CHUNK: Final = re.compile(rb"([0-9a-fA-F]+)[^\r\n]*\r?\n")
_ADDRESS: Final = re.compile(r"^[A-Z]+ (\S+) HTTP/")
_STATUS: Final = re.compile(r"^HTTP/\S+ (\d{3})")
_DATE: Final = re.compile(r"(?im)^date: *([^\r\n]+)")
_HOST: Final = re.compile(r"(?im)^host: *([^\r\n]+)")
_CHUNKED: Final = re.compile(r"(?im)^transfer-encoding:.*\bchunked\b")


class Httprr(RecordedHttp):
    name = "httprr"
    title = "Trace of Go's httprr"
    keeps = Keeps(
        "yes", "of answers, if headers have them", "yes", "yes", "other headers are not read"
    )

    def recognises(self, source: Source) -> bool:
        return not source.is_folder and source.start(len(_HEAD)) == _HEAD

    def exchanges(self, source: Source) -> Iterator[Exchange]:
        data, at, number = source.data, len(_HEAD), 0
        while (sizes := _SIZES.match(data, at)) is not None:
            middle = sizes.end() + int(sizes[1])
            at = middle + int(sizes[2])
            place = Place(field=str(number))
            if at > len(data):
                source.findings.append(finding("torn-end", str(place), "the reply is cut off"))
            yield _exchange(data[sizes.end() : middle], data[middle:at], place)
            number += 1
        if data[at:].strip():
            message = f"{len(data) - at} bytes that are not an exchange"
            source.findings.append(finding("spoiled-rest", str(number), message))


class _Message(NamedTuple):
    head: str
    body: bytes


def _exchange(request_data: bytes, reply_data: bytes, place: Place) -> Exchange:
    request, reply = _message(request_data), _message(reply_data)
    address, status = _ADDRESS.search(request.head), _STATUS.search(reply.head)
    date = _DATE.search(reply.head)
    return Exchange(
        json_object(request.body),
        reply.body,
        place,
        _full_address(address[1] if address else "", request.head),
        date[1] if date else "",
        status=int(status[1]) if status else None,
    )


def _full_address(address: str, head: str) -> str:
    host = _HOST.search(head)
    return f"https://{host[1]}{address}" if host and address.startswith("/") else address


def _message(data: bytes) -> _Message:
    """Return a message's head and its body; the body is unzipped and its chunks are joined."""
    head, _, body = data.partition(b"\r\n\r\n")
    text = head.decode("latin-1")
    return _Message(text, unzip(_join_chunks(body) if _CHUNKED.search(text) else body))


def _join_chunks(body: bytes) -> bytes:
    """Return a body without its chunks' sizes; a body without chunks is unchanged."""
    pieces: list[bytes] = []
    at = 0
    while (size := _CHUNK.match(body, at)) is not None:
        stop = size.end() + int(size[1], 16)
        if stop == size.end() or stop > len(body):
            break
        pieces.append(body[size.end() : stop])
        at = stop + len(b"\r\n")
    return b"".join(pieces) or body
