"""VCR cassettes: recorded HTTP as YAML or JSON, of Python (vcrpy, google-genai's replays, httpx's
transports), Ruby, R and Go.

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
from playground.sessions.shapes.exchanges import (
    Exchange,
    from_base64,
    json_object,
    unzip,
)
from playground.sessions.source import Source


class VcrCassette(RecordedHttp):
    name = "vcr-cassette"
    title = "VCR cassette"
    keeps = Keeps(
        tools="yes",
        times="of answers, where headers say",
        usage="yes",
        chunks="yes",
        missing="other headers; chunk times are not in it",
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
            finding("lines-left-out", f"interactions.{index}", "an exchange that is no object")
            for index, item in enumerate(interactions)
            if not isinstance(item, dict)
        ]
        if exchanges and exchanges[-1].status is None and not isinstance(source.document, dict):
            where = str(exchanges[-1].place)  # YAML that is cut off may still be whole YAML
            source.findings.append(finding("torn-end", where, "an exchange without its status"))
        return exchanges


def _interactions(value: Any) -> list[Any] | None:
    """Return the list of exchanges: `interactions` in Python and Go, `http_interactions` in Ruby
    and R.
    """
    for key in ("interactions", "http_interactions"):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            found: list[Any] = value[key]
            return found
    return None


def _exchange(item: dict[str, Any], place: Place) -> Exchange:
    request, response = _object(item.get("request")), _object(item.get("response"))
    status = response.get("status")  # in Go a text, with the number beside it as `code`
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
    """Return when a request was answered, by the reply's headers: nothing else says so."""
    for name, given in _object(response.get("headers")).items():
        if str(name).lower() == "date":
            return given[0] if isinstance(given, list) and given else given
    return ""


def _body(message: dict[str, Any]) -> bytes:
    """Return a request's or response's bytes: text, binary, Base64, gzip, or parsed by a
    serialiser.
    """
    segments = message.get("body_segments")  # google-genai's: a body, or the frames of a stream
    if isinstance(segments, list) and segments:
        return "\n".join(map(dump_again, segments)).encode()
    for key in ("parsed_body", "body", "content"):
        given = message.get(key)
        if key != "parsed_body" and isinstance(given, dict) and _is_form(given):
            given = _in_form(given)
        if isinstance(given, dict | list) and given:
            return dump_again(given).encode()
        if isinstance(given, str):
            given = given.encode("utf-8", "surrogatepass")
        if isinstance(given, bytes) and given:
            return unzip(given)
    return b""


_FORMS: Final = {"string", "base64_string", "encoding", "raw_gzip", "base64"}  # of no API's body
_ALONE: Final = {"json", "text"}  # forms, too, but a reply may have a field of that name
_HELD: Final = ("string", "json", "text", "data")


def _is_form(given: dict[str, Any]) -> bool:
    """Return True if a field says how a body is stored, and is not the body itself."""
    return bool(_FORMS & given.keys()) or given.keys() <= _ALONE


def _in_form(given: dict[str, Any]) -> Any:
    """Return a body that says how it is kept: as text, as Base64, or as JSON."""
    for key in ("base64_string", "raw_gzip", "base64"):
        if isinstance(given.get(key), str):
            return from_base64("".join(given[key].split()))
    held = next((given[k] for k in _HELD if given.get(k) is not None), "")
    if str(given.get("encoding")).lower() == "base64" and isinstance(held, str):
        return from_base64("".join(held.split())) or held
    return held


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
