"""Build sessions from HTTP exchanges: requests that continue one another are a conversation."""

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
from urllib.parse import unquote, urlsplit, urlunsplit

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.json_numbers import load_json
from playground.recordings.decoding import decode_stream
from playground.recordings.recording import Recording
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.inner_json import json_value
from playground.sessions.rows import row_after, row_of_new_items
from playground.sessions.session import Agent
from playground.sessions.shapes.conversations import Conversations
from playground.sessions.shapes.own_replies import NO_REPLY, AnsweredRequest, restore_replies
from playground.sessions.shapes.requests import (
    conversation,
    read_recording,
    read_reply,
    read_request,
    reply_facts,
)
from playground.sessions.shapes.threads import is_of_thread, read_threads
from playground.sessions.shapes.whole_replies import recording_of_reply

_PLACES: Final = 40  # most places in the finding about exchanges that are not chats
_MOST_UNZIPPED: Final = 64 * 1024 * 1024  # bytes


@dataclass
class Exchange:
    """A request with its answer: the raw bytes of a stream, or a JSON body."""

    request: dict[str, Any] | None
    response: bytes
    place: Place
    url: str = ""
    at: Any = ""
    seconds: Any = None  # the file's value, even if it is not a number
    status: int | None = None
    agent: Agent = field(default_factory=Agent)
    # True if its `input` holds only the items after the previous exchange, as on a socket.
    # Repeating the complete input in each exchange would take quadratic memory.
    follows: bool = False
    usage: Any = None  # the file's usage; the reply's own takes precedence

    @cached_property
    def reply(self) -> dict[str, Any] | None:
        """The response if it is one JSON object, else None."""
        return _json(self.response)


@dataclass
class _Conversation:
    builder: SessionBuilder
    last: Exchange
    recordings: list[Recording] = field(default_factory=list)
    final: Recording | None = None  # the last answer, if it is a stream
    body: dict[str, Any] | None = None  # complete body of the last row
    answered: list[AnsweredRequest] = field(default_factory=list)


def read_exchanges(
    exchanges: Iterable[Exchange],
    title: str,
    where: str,
    *,
    single: bool = False,
    whole: bool = False,
) -> Iterator[SessionBuilder]:
    """Yield a session for each conversation, with the messages of its last request and answer.

    With `single`, all exchanges are one conversation; with `whole`, answers that were not streamed
    are recordings, too. Every request is a row of its session, as it was sent. All exchanges that
    are not chats share one finding.

    Raises InputFault, for the file `where`, if no exchange is a chat.
    """
    all_exchanges = list(exchanges)
    threads = list(read_threads((one for one in all_exchanges if is_of_thread(one.url)), title))
    requests = (one for one in all_exchanges if not is_of_thread(one.url))
    chats, others = _conversations(requests, title, single, whole)
    if others and not chats and not threads:
        fault = _no_chats(others)[0]
        raise InputFault(fault.message, where=where, field=fault.where, expected="a chat")
    for number, builder in enumerate(chain(map(_finish, chats), threads)):
        builder.findings += _no_chats(others) if number == 0 else []
        yield builder


def _conversations(
    exchanges: Iterable[Exchange], title: str, single: bool, whole: bool
) -> tuple[list[_Conversation], list[Exchange]]:
    """Return the conversations, and the exchanges that are not chats; see `read_exchanges`."""
    found: list[_Conversation] = []
    known: Conversations[_Conversation] = Conversations()
    others: list[Exchange] = []
    for run in _chains(enumerate(map(_with_model_of_address, exchanges), 1)):
        first = run[0][1]
        if not _is_chat(first):
            others += [exchange for _, exchange in run]
            continue
        current, digest = known.take(conversation(first.request) or ())
        current = found[0] if single and found else current
        if current is None:
            found.append(current := _Conversation(SessionBuilder(title=title), first))
        for number, exchange in run:
            _add(current, exchange, f"{title} {number}", whole)
        if len(run) > 1:
            digest = known.digest(conversation(current.last.request) or ())
        known.put(current, digest)
    for number, each in enumerate(found if len(found) > 1 else (), 1):
        each.builder.title = f"{title} {number}"
    return found, others


def _chains(exchanges: Iterable[tuple[int, Exchange]]) -> Iterator[list[tuple[int, Exchange]]]:
    """Yield lists of numbered exchanges: a complete exchange, and the following exchanges that hold
    only new items."""
    run: list[tuple[int, Exchange]] = []
    for number, exchange in exchanges:
        if run and not exchange.follows:
            yield run
            run = []
        run.append((number, exchange))
    if run:
        yield run


def _add(current: _Conversation, exchange: Exchange, name: str, whole: bool) -> None:
    """Add a conversation's next exchange, recorded as `name`; `whole` as for `read_exchanges`."""
    _add_row(current, exchange)
    if exchange.follows:
        exchange = replace(exchange, request=current.body)
    current.last = exchange
    current.final = stream = _stream(exchange, name)
    reply = exchange.reply if whole else None
    recording = stream or (recording_of_reply(reply, name) if reply else None)
    if recording is not None:
        current.recordings.append(recording)
    current.answered.append(_answered(exchange, stream, current.builder))


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


def _add_row(current: _Conversation, exchange: Exchange) -> None:
    """Add the request to the session's rows, as it was sent."""
    if exchange.request is None:
        return
    builder = current.builder
    facts: dict[str, Any] = {
        "at": builder.read_time(exchange.at, exchange.place),
        "seconds": builder.read_seconds(exchange.seconds, exchange.place),
        "reply": exchange.reply,
        "url": _address(exchange.url),
    }
    if exchange.follows and current.body is not None:
        builder.rows.append(row_of_new_items(exchange.request, current.body, **facts))
        # The first follower copies the file's list; later followers add to the copy.
        items = current.body["input"] if current.last.follows else [*current.body["input"]]
        items += exchange.request["input"]
        current.body = {**exchange.request, "input": items}
    else:
        builder.rows.append(row_after(exchange.request, current.body, **facts))
        current.body = exchange.request


def _address(url: str) -> str:
    """Return an address without user, password and query, which may hold a key; "" for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _answered(
    exchange: Exchange, recording: Recording | None, builder: SessionBuilder
) -> AnsweredRequest:
    """Return an exchange in the form for `restore_replies`."""
    if recording is not None:
        facts: dict[str, Any] = {
            "model": recording.model,
            "usage": recording.usage,
            "stop_reason": recording.stop_reason,
            "diagnostics": recording.diagnostics,
        }
    else:
        facts = reply_facts(exchange.reply)
    facts["usage"] = facts.get("usage") or exchange.usage
    at = builder.rows[-1].at if builder.rows else exchange.at
    seconds = exchange.seconds if exchange.seconds is not None else facts.get("seconds")
    facts = {**facts, "at": at or facts.get("at"), "seconds": seconds}
    count = len(conversation(exchange.request) or ())
    place = exchange.place.at("response")

    def read(into: SessionBuilder) -> None:
        _read_answer(into, exchange, recording, place)

    is_complete = recording is None or (recording.error is None and bool(recording.stop_reason))
    return AnsweredRequest(count, facts, place, read, is_complete)


def _json(data: bytes) -> dict[str, Any] | None:
    try:
        value = load_json(data.decode(json.detect_encoding(data), "surrogatepass"), strict=True)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _with_model_of_address(exchange: Exchange) -> Exchange:
    """Return the exchange with the address's model in its body, if the body names none."""
    model = model_in(exchange.url)
    if exchange.request is None or not model or exchange.request.get("model"):
        return exchange
    return replace(exchange, request={**exchange.request, "model": model})


def model_in(address: str) -> str:
    """Return the model that the address of Bedrock, Gemini, Vertex or Azure names, or ""."""
    match = _MODEL.search(address)
    return unquote(match[1]) if match else ""


_MODEL: Final = re.compile(
    r"/(?:models?|deployments)/([^/?:]+(?:(?::|%3A)\d+)?)"
    r"[/:](?:invoke|converse|generate|streamGenerate|rawPredict|streamRawPredict|chat/|completions)"
)


def _is_chat(exchange: Exchange) -> bool:
    if "embedding" in exchange.url:
        return False
    if conversation(exchange.request) is not None:
        return True
    return exchange.request is None and bool(decode_stream([exchange.response]).api)


def _finish(current: _Conversation) -> SessionBuilder:
    builder, last = current.builder, current.last
    builder.agent = last.agent
    if last.request is not None:
        read_request(builder, last.request, last.place.at("request"))
        key = next((k for k in ("messages", "input", "contents") if k in last.request), "")
        restore_replies(builder, current.answered[:-1], last.place.at("request", key))
    else:
        builder.note_loss("a request that cannot be read", last.place.at("request"))
    place = last.place.at("response")
    if current.final is not None:
        current.recordings.pop()  # it is added with its messages
    builder.recordings += current.recordings
    known = len(builder.requests)
    _read_answer(builder, last, current.final, place)
    if len(builder.requests) == known and last.usage:
        builder.add_request(NO_REPLY, usage=last.usage)
    if len(builder.requests) > known:
        _add_facts(builder, last, place)
    return builder


def _add_facts(builder: SessionBuilder, last: Exchange, place: Place) -> None:
    """Add to the last answer's record the time and the usage that the file states outside the
    reply."""
    record = builder.requests[-1]
    if last.at or last.seconds is not None:
        row = builder.rows[-1] if builder.rows else None
        at = row.at if row else builder.read_time(last.at, place)
        seconds = row.seconds if row else builder.read_seconds(last.seconds, place)
        record = replace(record, at=at, seconds=seconds)
    if not record.usage and isinstance(last.usage, dict):
        record = replace(record, usage=last.usage)
    builder.requests[-1] = record


def _read_answer(
    builder: SessionBuilder, exchange: Exchange, recording: Recording | None, place: Place
) -> None:
    """Read a response: a stream or a complete reply. Any other text in it gives a finding."""
    if recording is not None:
        read_recording(builder, recording, place)
    elif exchange.response.strip() and not (
        exchange.reply is not None and read_reply(builder, exchange.reply, place)
    ):
        shown = exchange.response[:60].decode("utf-8", "replace")
        builder.note_loss(f"a response that is not a reply: {shown!r}", place)


def _stream(exchange: Exchange, name: str) -> Recording | None:
    """Return the response as a recording if it is a stream, else None."""
    start = exchange.response.lstrip()[:1]
    lines = exchange.response.strip().count(b"\n")
    if start in (b"{", b"[") and not lines:
        return None
    recording = decode_stream([exchange.response], name=name)
    return recording if recording.api or recording.error is not None else None


def unzip(data: bytes) -> bytes:
    """Unzip the bytes of a body; return them unchanged if they are not gzip or far too large."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        reader = zlib.decompressobj(wbits=31)
        plain = reader.decompress(data, _MOST_UNZIPPED)
    except zlib.error:
        return data
    return data if reader.unconsumed_tail else plain


def from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def json_object(value: Any) -> dict[str, Any] | None:
    """Return a request's body, given as an object, text or bytes; None if the body is not an
    object."""
    if isinstance(value, bytes):
        value = unzip(value).decode("utf-8", "replace")
    value = json_value(value)
    return value if isinstance(value, dict) else None
