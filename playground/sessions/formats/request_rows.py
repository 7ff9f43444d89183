"""Read rows of provider requests, grouped by session: claude-tap's traces, and logs of gateways.

Each row is a complete request. Rows that continue one another are one conversation. A session may
have several conversations: the agent's, and those of helpers and sub-agents.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

from playground.base.json_numbers import dump_again
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.first_look import has_field
from playground.sessions.formats.base import Keeps
from playground.sessions.formats.chat_lines import rows
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.rows import NO_REFERENCES
from playground.sessions.session import Agent
from playground.sessions.shapes.exchanges import Exchange, json_object, read_exchanges
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.requests import conversation
from playground.sessions.source import Source
from playground.sessions.times import in_seconds, seconds_before

_REQUESTS: Final = ("request", "request_body", "requestBody", "req", "body", "params", "modelInput")
_RESPONSES: Final = (
    "response",
    "response_body",
    "responseBody",
    "resp",
    "output",
    "modelOutput",
    "response_sse",
)
_SESSIONS: Final = ("session_id", "sessionId", "session", "conversation_id", "thread_id")
_TIMES: Final = ("start_time", "startTime", "timestamp", "created_at", "time", "ts", "date")
_TAPPED_FIELDS: Final = {"request_id", "turn", "duration_ms"}  # of each row of claude-tap's
# each row has at least one of these fields
_ROW_FIELDS: Final = {*_RESPONSES, *_SESSIONS, "request", "custom_id"}
_LISTS: Final = ("records", "data", "requests")  # fields of a document that may hold the rows
_FILE_FIELDS: Final = (*_REQUESTS, *_LISTS)  # a file has one of these, in a row or around the rows
_HTTP_FIELDS: Final = {"method", "path", "headers", "url", "status"}


class RequestRows(RecordedHttp):
    name = "request-rows"
    left_aside = {**RecordedHttp.left_aside, "**.date": "the time of an answer, held in UTC"}
    title = "Rows of provider requests with their replies (claude-tap, logs of gateways)"
    keeps = Keeps("yes", "yes", "yes", "of streams in it", "headers are not read")

    def recognises(self, source: Source) -> bool:
        if not has_field(source, _FILE_FIELDS):
            return False
        found = source.head if source.is_lines else source.document
        if isinstance(found, dict):
            found = [found] if _is_exchange(found) else found.get(_list_in(found))
        return isinstance(found, list) and any(_is_row(value) for value in found[:12])

    def exchanges(self, source: Source) -> Iterator[Exchange]:
        for place, value in _rows(source):
            if _is_row(value):
                yield from _exchanges(value, place)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        groups: dict[str, list[Exchange]] = {}
        others: list[str] = []
        shared = SharedValues()
        for place, value in _rows(source):
            if _is_row(value):
                for exchange in _exchanges(value, place):
                    if exchange.request is not None:
                        exchange.request = shared.body(exchange.request)
                    groups.setdefault(exchange.agent.session, []).append(exchange)
            else:
                others.append(str(place))
        for session in list(groups):
            exchanges = groups.pop(session)  # frees the memory after reading
            for builder in read_exchanges(exchanges, session or source.stem, source.name):
                if others:
                    builder.note_loss(
                        f"{len(others)} rows without a request", Place(field=others[0])
                    )
                    others = []
                yield builder


def _rows(source: Source) -> Iterator[tuple[Place, Any]]:
    document = None if source.is_lines else source.value
    if isinstance(document, dict) and _is_exchange(document):
        yield Place(), document
    elif isinstance(document, dict) and (key := _list_in(document)):
        for index, item in enumerate(document[key]):
            yield Place(field=f"{key}.{index}"), item
    else:
        yield from rows(source)


def _list_in(document: dict[str, Any]) -> str:
    """Return the field of a document that holds the rows; "" if no field does."""
    return next((key for key in _LISTS if isinstance(document.get(key), list)), "")


def _is_row(value: Any) -> bool:
    if not isinstance(value, dict) or "messages" in value or _ROW_FIELDS.isdisjoint(value):
        return False
    return _request(value) is not None


def _is_exchange(document: dict[str, Any]) -> bool:
    """Return True for one request with its answer, as Datadog's test agent stores them."""
    request, response = document.get("request"), document.get("response")
    if not (isinstance(request, dict) and isinstance(response, dict)):
        return False
    return bool(_HTTP_FIELDS & request.keys()) and "body" in response and _is_row(document)


def _request(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return a request's body, from one of the row's fields, or from `body` inside that field."""
    for key in _REQUESTS:
        found = json_or_text(value.get(key))
        if isinstance(found, dict) and conversation(found) is not None:
            return found
        inner = json_object(found.get("body")) if isinstance(found, dict) else None
        if isinstance(found, dict) and _HTTP_FIELDS & found.keys() and "ws_events" in found:
            return inner or {}  # a socket's request: its messages are in the events
        if inner is not None and conversation(inner) is not None:
            return inner
    return None


def _exchanges(value: dict[str, Any], place: Place) -> Iterator[Exchange]:
    request = value.get("request")
    at = next((value[key] for key in _TIMES if value.get(key)), "")
    seconds = in_seconds(value.get("duration_ms", value.get("latency_ms")))
    facts: dict[str, Any] = {
        "url": _url(value),
        # claude-tap writes a row, and its time, when the answer has ended
        "at": seconds_before(at, seconds) if value.keys() >= _TAPPED_FIELDS else at,
        "seconds": seconds,
        "agent": _agent(value, _request(value) or {}),
        "usage": value.get("usage"),
    }
    response = _response(value)
    sent, received = mapping(request).get("ws_events"), mapping(response).get("ws_events")
    if isinstance(sent, list) and isinstance(received, list):
        yield from _socket_exchanges(sent, received, place, facts)
        return
    if isinstance(received, list):
        response = {"sse_events": received}
    yield Exchange(_request(value), _bytes(response), place, **facts)


def _response(value: dict[str, Any]) -> Any:
    return next((json_or_text(value[k]) for k in _RESPONSES if value.get(k) is not None), None)


def _bytes(response: Any) -> bytes:
    """Return a reply's bytes: the events of a stream, a body inside the response, or the
    response."""
    if isinstance(response, dict):
        for key in ("sse_events", "events", "chunks"):
            if isinstance(response.get(key), list) and response[key]:
                return _stream(response[key])
        if _HTTP_FIELDS & response.keys() and "body" in response:
            response = json_or_text(response["body"])
    if isinstance(response, str):
        return response.encode("utf-8", "surrogatepass")
    return dump_again(response).encode() if response is not None else b""


def _stream(events: list[Any]) -> bytes:
    """Return events as server-sent events; an event may have its data in `data`."""
    lines = []
    for event in events:
        data = event.get("data", event) if isinstance(event, dict) else event
        text = data if isinstance(data, str) else dump_again(data)
        lines += [f"data: {line}" for line in text.split("\n")] + [""]
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")


def _socket_exchanges(
    sent: list[Any], received: list[Any], place: Place, facts: dict[str, Any]
) -> Iterator[Exchange]:
    """Yield the exchanges over one socket, from the events `sent` and `received`. A request that
    continues the previous one holds only new items, so the items of the previous reply are added.
    """
    replies: list[list[Any]] = [[]]
    for event in received:
        replies[-1].append(event)
        kind = event.get("type") if isinstance(event, dict) else None
        if kind in ("response.completed", "response.failed", "response.incomplete"):
            replies.append([])
    creates = [each for each in sent if isinstance(each, dict) and "input" in each]
    reply_items: list[Any] = []
    for number, body in enumerate(creates):
        new, follows = _input(body["input"]), bool(number and body.get("previous_response_id"))
        events = replies[number] if number < len(replies) else []
        where = place.at("request", "ws_events", number)
        yield Exchange(
            {**body, "input": [*reply_items, *new] if follows else new},
            _stream(events) if events else b"",
            where,
            **facts,
            follows=follows,
        )
        reply_items = _items(events)


def _input(value: Any) -> list[Any]:
    """Return a request's input as a list; a text becomes a message of the user."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else listed(value)


def _items(events: list[Any]) -> list[Any]:
    """Return the output items of the last response in a stream's events."""
    responses = [mapping(event).get("response") for event in events]
    last = next((each for each in reversed(responses) if isinstance(each, dict)), {})
    return listed(last.get("output"))


def _url(value: dict[str, Any]) -> str:
    request = value.get("request")
    path = (request.get("path") or request.get("url") or "") if isinstance(request, dict) else ""
    base = value.get("upstream_base_url")
    return f"{base or ''}{path}" if base or path else str(value.get("uri") or "")


def _agent(value: dict[str, Any], body: dict[str, Any]) -> Agent:
    """Return the agent and session of a request, found in the row, its metadata or headers."""
    capture, metadata = value.get("capture"), body.get("metadata")
    holders = [value, capture, metadata]
    session = next(
        (
            str(holder[key])
            for holder in holders
            if isinstance(holder, dict)
            for key in _SESSIONS
            if isinstance(holder.get(key), str | int)
        ),
        "",
    )
    user = mapping(metadata).get("user_id")
    if not session and isinstance(user, str) and "session_" in user:  # Claude Code's id
        session = user.rpartition("session_")[2]
    name, _, version = _client(value.get("request")).partition("/")
    return Agent(name=name, version=version.split(" ")[0], session=session)


def _client(request: Any) -> str:
    headers = mapping(mapping(request).get("headers"))
    values = (str(value) for key, value in headers.items() if str(key).lower() == "user-agent")
    return next(values, "")


class SharedValues:
    """The values of a file's requests. Equal values share one object, so nothing may change them:
    each request repeats the history, which would otherwise be in memory many times."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body; its fields and list entries are replaced by earlier equal objects."""
        return {key: self._field(value) for key, value in body.items()}

    def _field(self, value: Any) -> Any:
        if type(value) is list:
            return [self._shared(entry) for entry in value]
        return self._shared(value)

    def _shared(self, value: Any) -> Any:
        if type(value) is not dict and type(value) is not str:
            return value
        try:
            written = marshal.dumps(value, NO_REFERENCES)
        except ValueError:  # the value is nested too deeply
            return value
        return self._known.setdefault(blake2b(written, digest_size=16).digest(), value)
