"""HTTP archives (HAR 1.2), as browsers and proxies save them; http://www.softwareishard.com/blog/har-12-spec/."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.exchanges import (
    Exchange,
    from_base64,
    json_object,
    read_exchanges,
    unpacked,
)
from playground.sessions.source import Source


class Har(SessionFormat):
    name = "har"
    title = "HTTP archive (HAR)"
    keeps = Keeps("yes", "one per exchange", "yes", "yes", "headers; chunk times are not in it")

    def recognises(self, source: Source) -> bool:
        document = source.document
        log = document.get("log") if isinstance(document, dict) else None
        return isinstance(log, dict) and isinstance(log.get("entries"), list)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        entries = source.value["log"]["entries"]
        exchanges = (
            _exchange(entry, Place(field=f"log.entries.{index}"))
            for index, entry in enumerate(entries)
            if isinstance(entry, dict)
        )
        yield from read_exchanges(exchanges, source.stem, source.name)


def _exchange(entry: dict[str, Any], place: Place) -> Exchange:
    request, response = entry.get("request") or {}, entry.get("response") or {}
    content = response.get("content") or {}
    text = content.get("text") or ""
    data = text.encode("utf-8", "surrogatepass")
    if content.get("encoding") == "base64":
        data = unpacked(from_base64(text) or b"")
    time = entry.get("time")
    return Exchange(
        json_object((request.get("postData") or {}).get("text")),
        data,
        place,
        str(request.get("url", "")),
        str(entry.get("startedDateTime") or ""),
        time / 1000 if isinstance(time, int | float) else time,
        response.get("status"),
    )
