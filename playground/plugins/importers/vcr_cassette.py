"""Read VCR cassettes: recorded HTTP as YAML or JSON.

Libraries for Python (vcrpy, google-genai's replays, httpx's transports), Ruby, R and Go write them.

https://vcrpy.readthedocs.io, https://benoittgt.github.io/vcr, https://docs.ropensci.org/vcr.
"""

from __future__ import annotations

from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.findings import finding
from playground.base.json_numbers import dump_again
from playground.sessions.building import Place
from playground.sessions.formats.base import Keeps
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.shapes.exchanges import Exchange, from_base64, json_object, unzip
from playground.sessions.shapes.fields import mapping
from playground.sessions.source import Source


class VcrCassette(RecordedHttp):
    name = "vcr-cassette"
    title = "VCR cassette"
    keeps = Keeps(
        tools="yes",
        times="of answers, if headers have them",
        usage="yes",
        chunks="yes",
        missing="the file has no chunk times; other headers are not read",
    )

    def recognises(self, source: Source) -> bool:
        if source.suffix in (".yaml", ".yml"):
            return b"interactions:" in source.start(4096)
        return _interactions(source.document) is not None

    def exchanges(self, source: Source) -> list[Exchange]:
        value = source.document or source.yaml
        interactions = _interactions(value)
        if interactions is None:
            raise InputFault(
                "not a list of interactions",
                where=source.name,
                field="interactions",
                expected="a list",
            )
        exchanges = [
            _exchange(item, Place(field=f"interactions.{index}"))
            for index, item in enumerate(interactions)
            if isinstance(item, dict)
        ]
        source.findings += [
            finding("lines-left-out", f"interactions.{index}", "an exchange that is not an object")
            for index, item in enumerate(interactions)
            if not isinstance(item, dict)
        ]
        if exchanges and exchanges[-1].status is None and not isinstance(source.document, dict):
            where = str(exchanges[-1].place)  # YAML that is cut off may still be valid
            source.findings.append(finding("torn-end", where, "an exchange without its status"))
        return exchanges


def _interactions(value: Any) -> list[Any] | None:
    """Return the list of exchanges: `interactions` (Python, Go), `http_interactions` (Ruby, R)."""
    fields = (mapping(value).get(key) for key in ("interactions", "http_interactions"))
    return next((field for field in fields if isinstance(field, list)), None)


def _exchange(item: dict[str, Any], place: Place) -> Exchange:
    request, response = mapping(item.get("request")), mapping(item.get("response"))
    status = response.get("status")  # a text in Go's files, which have the number in `code`
    code = status.get("code") if isinstance(status, dict) else response.get("code", status)
    code = response.get("status_code") if code is None else code
    url = request.get("uri") or request.get("url") or ""
    return Exchange(
        json_object(_body(request)),
        _body(response),
        place,
        str(url),
        item.get("recorded_at") or _date(response),
        status=code if type(code) is int else None,
    )


def _date(response: dict[str, Any]) -> Any:
    for name, value in mapping(response.get("headers")).items():
        if str(name).lower() == "date":
            return value[0] if isinstance(value, list) and value else value
    return ""


def _body(message: dict[str, Any]) -> bytes:
    """Return the bytes of a body, which may be text, binary, Base64, gzip or parsed JSON."""
    segments = message.get("body_segments")  # google-genai's: a body, or a stream's frames
    if isinstance(segments, list) and segments:
        return "\n".join(map(dump_again, segments)).encode()
    for key in ("parsed_body", "body", "content"):
        body = message.get(key)
        if key != "parsed_body" and isinstance(body, dict) and _is_stored_form(body):
            body = _body_in_form(body)
        if isinstance(body, dict | list) and body:
            return dump_again(body).encode()
        if isinstance(body, str):
            body = body.encode("utf-8", "surrogatepass")
        if isinstance(body, bytes) and body:
            return unzip(body)
    return b""


# fields of a stored body; no API's reply has them
_FORMS: Final = {"string", "base64_string", "encoding", "raw_gzip", "base64"}
_FORMS_ALONE: Final = {"json", "text"}  # a reply may have these fields among others
_CONTENT_FIELDS: Final = ("string", "json", "text", "data")


def _is_stored_form(value: dict[str, Any]) -> bool:
    """Return True if an object is not the body itself, but holds the body in one of these forms."""
    return bool(_FORMS & value.keys()) or value.keys() <= _FORMS_ALONE


def _body_in_form(value: dict[str, Any]) -> Any:
    """Return the body that a stored form holds as text, Base64 or JSON."""
    for key in ("base64_string", "raw_gzip", "base64"):
        if isinstance(value.get(key), str):
            return from_base64("".join(value[key].split()))
    content = next((value[key] for key in _CONTENT_FIELDS if value.get(key) is not None), "")
    if str(value.get("encoding")).lower() == "base64" and isinstance(content, str):
        return from_base64("".join(content.split())) or content
    return content
