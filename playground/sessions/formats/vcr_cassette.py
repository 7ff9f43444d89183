"""VCR cassettes (vcrpy, pytest-recording): recorded HTTP as YAML; https://vcrpy.readthedocs.io."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from playground.errors import InputFault
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.exchanges import Exchange, json_object, read_exchanges, unpacked
from playground.sessions.source import Source


class VcrCassette(SessionFormat):
    name = "vcr-cassette"
    title = "VCR cassette"
    keeps = Keeps(
        tools="yes", usage="yes", chunks="yes", missing="headers; chunk times are not in it"
    )

    def recognises(self, source: Source) -> bool:
        if source.suffix in (".yaml", ".yml"):
            return "interactions:" in source.text[:4096]
        document = source.document
        return isinstance(document, dict) and isinstance(document.get("interactions"), list)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = source.document or source.yaml
        interactions = value.get("interactions") if isinstance(value, dict) else None
        if not isinstance(interactions, list):
            raise InputFault(
                "no list of interactions",
                where=source.name,
                field="interactions",
                expected="a list",
            )
        exchanges = (
            _exchange(item, Place(field=f"interactions.{index}"))
            for index, item in enumerate(interactions)
            if isinstance(item, dict)
        )
        yield from read_exchanges(exchanges, source.stem)


def _exchange(item: dict[str, Any], place: Place) -> Exchange:
    request, response = item.get("request") or {}, item.get("response") or {}
    body = request.get("parsed_body")
    body = request.get("body") if body is None else body
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    return Exchange(
        json_object(body), _body(response), place, str(request.get("uri", "")), status=code
    )


def _body(response: dict[str, Any]) -> bytes:
    """The response's bytes: text, binary, gzip, or parsed by a custom serialiser."""
    if response.get("parsed_body") is not None:
        return json.dumps(response["parsed_body"]).encode()
    body = response.get("body") or {}
    given = body.get("string", body.get("base64_string", "")) if isinstance(body, dict) else body
    if isinstance(given, str):
        given = given.encode("utf-8", "surrogatepass")
    return unpacked(given) if isinstance(given, bytes) else b""
