"""Read HTTP archives of browsers and proxies: http://www.softwareishard.com/blog/har-12-spec/."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.base.errors import InputFault
from playground.base.json_numbers import dump_again
from playground.sessions.building import Place
from playground.sessions.formats.base import Keeps
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.shapes.exchanges import (
    Exchange,
    from_base64,
    json_object,
    unzip,
)
from playground.sessions.shapes.fields import list_in, mapping
from playground.sessions.source import Source
from playground.sessions.times import in_seconds


class Har(RecordedHttp):
    name = "har"
    title = "HTTP archive (HAR)"
    left_aside = {**RecordedHttp.left_aside, "log.creator": "the program that saved the archive"}
    keeps = Keeps(
        "yes", "one per exchange", "yes", "yes", "the file has no chunk times; headers are not read"
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        log = document.get("log") if isinstance(document, dict) else None
        return isinstance(log, dict) and isinstance(log.get("entries"), list)

    def exchanges(self, source: Source) -> Iterator[Exchange]:
        entries = list_in(source, "log", "entries")
        if not entries:
            problem = "a HAR without entries"
            raise InputFault(problem, where=source.name, expected="a HAR with its entries")
        for index, entry in enumerate(entries):
            yield _exchange(mapping(entry), Place(field=f"log.entries.{index}"))


def _exchange(entry: dict[str, Any], place: Place) -> Exchange:
    request, response = mapping(entry.get("request")), entry.get("response")
    return Exchange(
        json_object(mapping(request.get("postData")).get("text")),
        _bytes(response),
        place,
        str(request.get("url", "")),
        str(entry.get("startedDateTime") or ""),
        in_seconds(entry.get("time")),
        mapping(response).get("status"),
    )


def _bytes(response: Any) -> bytes:
    """Return a response's body. A response that is not as HAR has it is returned as JSON, which
    becomes a finding later."""
    content = response.get("content") if isinstance(response, dict) else response
    text = content.get("text") if isinstance(content, dict) else content
    if not isinstance(content, dict) or not isinstance(text, str):
        return dump_again(text).encode() if text else b""
    if content.get("encoding") == "base64":
        return unzip(from_base64(text) or b"")
    return text.encode("utf-8", "surrogatepass")
