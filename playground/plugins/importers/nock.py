"""Read nock fixtures: recorded HTTP of Node.js as a JSON list; https://github.com/nock/nock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.base.json_numbers import dump_again
from playground.sessions.building import Place
from playground.sessions.formats.base import Keeps
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.shapes.exchanges import Exchange, json_object, unzip
from playground.sessions.shapes.fields import list_in, mapping
from playground.sessions.source import Source


class Nock(RecordedHttp):
    name = "nock"
    title = "nock fixture"
    keeps = Keeps(
        tools="yes",
        usage="yes",
        chunks="yes",
        missing="the file has no chunk times; headers are not read",
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        first = document[0] if isinstance(document, list) and document else None
        return isinstance(first, dict) and "scope" in first and "response" in first

    def exchanges(self, source: Source) -> Iterator[Exchange]:
        for index, item in enumerate(map(mapping, list_in(source))):
            yield Exchange(
                json_object(item.get("body")),
                _bytes(item.get("response")),
                Place(field=str(index)),
                f"{item.get('scope', '')}{item.get('path', '')}",
                status=item.get("status"),
            )


def _bytes(response: Any) -> bytes:
    """Return the bytes of a response: text, JSON, hex in a string, or (if zipped) hex in a list."""
    if isinstance(response, list) and all(isinstance(piece, str) for piece in response):
        try:
            return unzip(b"".join(bytes.fromhex(piece) for piece in response))
        except ValueError:
            return "".join(response).encode("utf-8", "surrogatepass")
    if not isinstance(response, str):
        return dump_again(response).encode()
    try:
        return unzip(bytes.fromhex(response)) if response else b""
    except ValueError:
        return response.encode("utf-8", "surrogatepass")
