"""Read recordings of httpmock, a mock server for Rust: each YAML document is an exchange.

https://docs.rs/httpmock: `when` is the request, `then` the answer.
"""

from __future__ import annotations

from typing import Any

from playground.base.findings import finding
from playground.base.json_numbers import dump_again
from playground.sessions.building import Place
from playground.sessions.documents import read_yaml_documents
from playground.sessions.formats.base import Keeps
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.shapes.exchanges import Exchange, from_base64, json_object, unzip
from playground.sessions.shapes.fields import mapping
from playground.sessions.source import Source


class Httpmock(RecordedHttp):
    name = "httpmock"
    title = "Recording of httpmock (YAML)"
    keeps = Keeps(
        tools="yes",
        usage="yes",
        chunks="yes",
        missing="the file has no chunk times; headers are not read",
    )

    def recognises(self, source: Source) -> bool:
        if source.suffix not in (".yaml", ".yml"):
            return False
        start = b"\n" + source.start(1 << 16).removeprefix(b"\xef\xbb\xbf")
        return b"\nwhen:" in start and (b"\nthen:" in start or b"\n  method:" in start)

    def exchanges(self, source: Source) -> list[Exchange]:
        documents = read_yaml_documents(source.text, source.name, source.findings)
        while documents and documents[-1] is None:
            documents.pop()
        found = [
            _exchange(mapping(document), Place(field=f"document {number}"))
            for number, document in enumerate(documents, 1)
        ]
        if found and found[-1].status is None and not source.findings:
            where = str(found[-1].place)  # YAML that is cut off may still be valid
            source.findings.append(finding("torn-end", where, "an exchange without its status"))
        return found


def _exchange(document: dict[str, Any], place: Place) -> Exchange:
    request, answer = mapping(document.get("when")), mapping(document.get("then"))
    address = f"{request.get('scheme') or ''}{request.get('host') or ''}{request.get('path') or ''}"
    return Exchange(
        json_object(_body(request)), _body(answer), place, address, status=answer.get("status")
    )


def _body(message: dict[str, Any]) -> bytes:
    """Return the bytes of a body that is text, JSON or Base64."""
    if isinstance(encoded := message.get("body_base64"), str):
        return unzip(from_base64(encoded) or b"")
    body = message.get("body")
    if body is None:
        body = message.get("json_body")
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return dump_again(body).encode() if body else b""
