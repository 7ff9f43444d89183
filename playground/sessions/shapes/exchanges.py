"""HTTP exchanges into sessions: requests that continue one another are one conversation."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final
from urllib.parse import unquote

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.json_numbers import load_json
from playground.recordings.decoding import decode_stream
from playground.recordings.recording import Recording
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.rows import packed, packed_further
from playground.sessions.session import Agent
from playground.sessions.shapes.conversations import Conversations
from playground.sessions.shapes.own_replies import Answered, put_replies
from playground.sessions.shapes.requests import (
    conversation,
    read_recording,
    read_reply,
    read_request,
    reply_facts,
)
from playground.sessions.shapes.threads import is_of_thread, read_threads

_PLACES: Final = 40  # of exchanges that are no chat
_UNZIPPED: Final = 64 * 1024 * 1024


@dataclass
class Exchange:
    """One request with its answer: the raw bytes of a stream, or a JSON body."""

    request: dict[str, Any] | None
    response: bytes
    place: Place
    url: str = ""
    at: Any = ""
    seconds: Any = None  # as the file gives them, or a text that is no number
    status: int | None = None
    agent: Agent = field(default_factory=Agent)
    # It goes on with the exchange before it, and its `input` is only what is new since then: a
    # socket's requests made whole would be as long as the square of their number.
    follows: bool = False

    @cached_property
    def reply(self) -> dict[str, Any] | None:
        """The response where it is one JSON object."""
        return _json(self.response)


@dataclass
class _Conversation:
    builder: SessionBuilder
    last: Exchange
    streams: list[tuple[Recording, Place]] = field(default_factory=list)
    body: dict[str, Any] | None = None  # of the last row
    answered: list[Answered] = field(default_factory=list)


def read_exchanges(
    exchanges: Iterable[Exchange], title: str, where: str, *, single: bool = False
) -> Iterator[SessionBuilder]:
    """Yield a session for each conversation; its messages are those of its last request and
    answer.

    Where the caller knows that they are of a `single` one, also what does not go on with it is.

    Every request is a row of its session, whole as it was sent. Exchanges that are no chat are one
    finding; where there are no others it is an InputFault. `where` names the file in it.
    """
    given = list(exchanges)
    threads = list(read_threads((one for one in given if is_of_thread(one.url)), title))
    asked = (one for one in given if not is_of_thread(one.url))
    chats, others = _conversations(asked, title, single)
    if others and not chats and not threads:
        fault = _no_chats(others)[0]
        raise InputFault(fault.message, where=where, field=fault.where, expected="a chat")
    for number, builder in enumerate(chain(map(_finish, chats), threads)):
        builder.findings += _no_chats(others) if number == 0 else []
        yield builder


def _conversations(
    exchanges: Iterable[Exchange], title: str, single: bool
) -> tuple[list[_Conversation], list[Exchange]]:
    """Return the conversations, and the exchanges that belong to none."""
    found: list[_Conversation] = []
    known: Conversations[_Conversation] = Conversations()
    others: list[Exchange] = []
    for run in _chains(enumerate(map(_of_bedrock, exchanges), 1)):
        first = run[0][1]
        if not _is_chat(first):
            others += [exchange for _, exchange in run]
            continue
        going_on, known_by = known.going_on(conversation(first.request) or ())
        going_on = found[0] if single and found else going_on
        if going_on is None:
            found.append(going_on := _Conversation(SessionBuilder(title=title), first))
        for number, exchange in run:
            _add(going_on, exchange, f"{title} {number}")
        if len(run) > 1:
            known_by = known.known_by(conversation(going_on.last.request) or ())
        known.keep(going_on, known_by)
    for number, one in enumerate(found if len(found) > 1 else (), 1):
        one.builder.title = f"{title} {number}"
    return found, others


def _chains(
    exchanges: Iterable[tuple[int, Exchange]],
) -> Iterator[list[tuple[int, Exchange]]]:
    """Yield each numbered exchange with those that follow it."""
    run: list[tuple[int, Exchange]] = []
    for number, exchange in exchanges:
        if run and not exchange.follows:
            yield run
            run = []
        run.append((number, exchange))
    if run:
        yield run


def _add(found: _Conversation, exchange: Exchange, name: str) -> None:
    """The conversation's next exchange; `name` is that of its recording."""
    _row(found, exchange)
    if exchange.follows:
        exchange = replace(exchange, request=found.body)
    found.last = exchange
    recording = _stream(exchange, name)
    if recording is not None:
        found.streams.append((recording, exchange.place))
    found.answered.append(_answered(exchange, recording, found.builder))


def _no_chats(others: list[Exchange]) -> list[Finding]:
    if not others:
        return []
    urls = ", ".join(dict.fromkeys(one.url.partition("?")[0][:80] for one in others if one.url))
    number = (
        f"{len(others)} exchanges that belong" if len(others) > 1 else "an exchange that belongs"
    )
    message = f"{number} to no chat ({urls[:200] or 'without an address'})"
    if len(others) > 1:
        places = ", ".join(str(one.place) for one in others[:_PLACES])
        message += f", at {places}{', …' if len(others) > _PLACES else ''}"
    return [finding("lines-left-out", str(others[0].place), message)]


def _row(found: _Conversation, exchange: Exchange) -> None:
    """The request as it was sent, beside the transcript."""
    if exchange.request is None:
        return
    at = found.builder.time(exchange.at, exchange.place)
    seconds = found.builder.seconds(exchange.seconds, exchange.place)
    reply = exchange.reply
    known: dict[str, Any] = {"at": at, "seconds": seconds, "reply": reply}
    if exchange.follows and found.body is not None:
        found.builder.rows.append(packed_further(exchange.request, found.body, **known))
        # The first that follows copies the list, which is the file's; from then on it is our own.
        said = found.body["input"] if found.last.follows else [*found.body["input"]]
        said += exchange.request["input"]
        found.body = {**exchange.request, "input": said}
    else:
        found.builder.rows.append(packed(exchange.request, found.body, **known))
        found.body = exchange.request


def _answered(exchange: Exchange, recording: Recording | None, builder: SessionBuilder) -> Answered:
    """Return what is known of an exchange that a later one may repeat."""
    if recording is not None:
        known: dict[str, Any] = {
            "model": recording.model,
            "usage": recording.usage,
            "stop_reason": recording.stop_reason,
            "diagnostics": recording.diagnostics,
        }
    else:
        known = reply_facts(exchange.reply)
    at = builder.rows[-1].at if builder.rows else exchange.at
    seconds = exchange.seconds if exchange.seconds is not None else known.get("seconds")
    known = {**known, "at": at or known.get("at"), "seconds": seconds}
    count = len(conversation(exchange.request) or ())
    place = exchange.place.at("response")

    def read(into: SessionBuilder) -> None:
        _read_answer(into, exchange, recording, place)

    is_complete = recording is None or (recording.error is None and bool(recording.stop_reason))
    return Answered(count, known, place, read, is_complete)


def _json(data: bytes) -> dict[str, Any] | None:
    try:
        value = load_json(data.decode(json.detect_encoding(data), "surrogatepass"), strict=True)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _of_bedrock(exchange: Exchange) -> Exchange:
    """Bedrock and Gemini name the model in the address and not in the body."""
    named = _MODEL.search(exchange.url)
    if exchange.request is None or named is None or exchange.request.get("model"):
        return exchange
    return replace(exchange, request={**exchange.request, "model": unquote(named[1])})


_MODEL: Final = re.compile(
    r"/models?/([^/?:]+(?:(?::|%3A)\d+)?)(?:[/:](?:invoke|converse|generate|streamGenerate))"
)


def _is_chat(exchange: Exchange) -> bool:
    if "embedding" in exchange.url:
        return False
    if conversation(exchange.request) is not None:
        return True
    return exchange.request is None and bool(decode_stream([exchange.response]).api)


def _finish(found: _Conversation) -> SessionBuilder:
    builder, last = found.builder, found.last
    builder.agent = last.agent
    if last.request is not None:
        read_request(builder, last.request, last.place.at("request"))
        key = next((k for k in ("messages", "input", "contents") if k in last.request), "")
        put_replies(builder, found.answered[:-1], last.place.at("request", key))
    else:
        builder.lost("a request that cannot be read", last.place.at("request"))
    place = last.place.at("response")
    streams = {str(where): recording for recording, where in found.streams}
    final = streams.pop(str(last.place), None)
    builder.recordings += streams.values()
    _read_answer(builder, last, final, place)
    if builder.requests and (last.at or last.seconds is not None):
        record = builder.requests[-1]
        row = builder.rows[-1] if builder.rows else None
        at = row.at if row else builder.time(last.at, place)
        seconds = row.seconds if row else builder.seconds(last.seconds, place)
        builder.requests[-1] = replace(record, at=at, seconds=seconds)
    return builder


def _read_answer(
    builder: SessionBuilder, exchange: Exchange, recording: Recording | None, place: Place
) -> None:
    """Read a response: a stream or a whole reply; anything else is told of."""
    if recording is not None:
        read_recording(builder, recording, place)
    elif exchange.response.strip() and not (
        exchange.reply is not None and read_reply(builder, exchange.reply, place)
    ):
        shown = exchange.response[:60].decode("utf-8", "replace")
        builder.lost(f"a response that is not a reply: {shown!r}", place)


def _stream(exchange: Exchange, name: str) -> Recording | None:
    """Return the response as a recording where it is a stream."""
    start = exchange.response.lstrip()[:1]
    lines = exchange.response.strip().count(b"\n")
    if start in (b"{", b"[") and not lines:
        return None
    recording = decode_stream([exchange.response], name=name)
    return recording if recording.api or recording.error is not None else None


def unpacked(data: bytes) -> bytes:
    """Return the bytes of a body that may be gzip; what unpacks to too much is left as it is."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        reader = zlib.decompressobj(wbits=31)
        plain = reader.decompress(data, _UNZIPPED)
    except zlib.error:
        return data
    return data if reader.unconsumed_tail else plain


def from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def json_object(value: Any) -> dict[str, Any] | None:
    """Return a request's body as an object: given as one, as text or as bytes."""
    if isinstance(value, bytes):
        value = unpacked(value).decode("utf-8", "replace")
    if isinstance(value, str):
        try:
            value = load_json(value, strict=True)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
