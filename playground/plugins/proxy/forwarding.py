"""The forwarder: an ASGI application that passes each piece to the provider and back.

Bytes are forwarded unchanged. Only headers that concern one connection are replaced (a body's
framing, `Host`), `Accept-Encoding` is reduced to compressions that the recorder can read, and
credentials in an upstream's address replace the client's `Authorization`. If one side breaks off,
the proxy breaks off on the other side.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import httpx
from starlette.types import Receive, Scope, Send

from playground.plugins.proxy.addresses import Upstreams, api_of, asks_a_model
from playground.plugins.proxy.exchange import MOST_BODY
from playground.plugins.proxy.headers import credentials, for_client, for_provider
from playground.plugins.proxy.joined_pieces import join_pieces
from playground.plugins.proxy.refusals import (
    Refusal,
    RequestHead,
    read_head,
    refusal_of,
    refuse,
    strip_quoted_bytes,
)
from playground.plugins.proxy.upstream import Upstream
from playground.plugins.proxy.upstream_client import UpstreamClient
from playground.plugins.proxy.watcher_pipe import WatcherPipe
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import scrubbed

# characters of the User-Agent header; the recorder removes its secrets, and then shortens it more
_LONGEST_USER_AGENT: Final = 4096
_LONGEST_ERROR: Final = 300  # characters of an error's text
_CREDENTIALS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_SESSION_HEADERS: Final = (  # headers in which clients send their session's id
    "x-claude-code-session-id",
    "thread-id",  # Codex: sub-agents have their own, but share the session's id
    "session_id",
    "session-id",
    "x-session-id",
    "x-session-affinity",
    "conversation_id",
)


class HungUp(Exception):
    """Raised when the client has closed the connection."""


class BrokenOff(Exception):
    """Raised when an answer that has begun cannot be completed, so that the server closes the
    client's connection."""


@dataclass
class _Exchange:
    """An exchange that is being forwarded. `at` is the time in seconds since `began`."""

    number: int
    began: float  # time of the request, by `time.perf_counter`
    head: RequestHead
    upstream: Upstream
    path: str  # relative to the path of the upstream's address
    request_read: asyncio.Event = field(default_factory=asyncio.Event)  # set when the body is read
    started: bool = False  # True if the answer has begun

    @property
    def at(self) -> float:
        return time.perf_counter() - self.began


class Forwarder:
    """The application that forwards to `upstreams` and copies all bytes to the `watcher`."""

    def __init__(
        self,
        upstreams: Upstreams,
        watcher: WatcherPipe,
        client: UpstreamClient,
        *,
        names: tuple[str, ...] = (),
        block: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._upstreams, self._watcher, self._client = upstreams, watcher, client
        self._names, self._block, self._clock = names, block, clock
        self._numbers = count(1)
        # salted digests distinguish the clients' keys without revealing them
        self._salt = secrets.token_bytes(16)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        head = read_head(scope, self._names)
        refusal = refusal_of(head)
        if refusal is not None:
            await refuse(send, refusal)
            return
        exchange = self._open_exchange(scope, head)
        error: dict[str, Any] | None = None
        try:
            error = await self._until_hung_up(receive, send, exchange)
        except HungUp:
            error = {"type": "hung up", "message": "the client has hung up"}
        except BrokenOff as broken:
            error = {"type": "broken off", "message": str(broken)}
            raise
        except asyncio.CancelledError:
            error = {"type": "cut", "message": "the proxy was stopped"}
            raise
        except Exception as fault:  # a bug of ours; answered by an error, if still possible
            message = f"a bug of the proxy ({type(fault).__name__}); please report it"
            error = {"type": type(fault).__name__, "message": message}
            if exchange.started:
                raise BrokenOff(message) from fault
            await self._refuse(send, exchange, Refusal(500, "proxy_fault", message))
        finally:
            self._watcher.put("end", exchange.number, exchange.at, error)

    def _open_exchange(self, scope: Scope, head: RequestHead) -> _Exchange:
        api = api_of(head.path, head.headers)
        upstream, path = self._upstreams.route(api, head.path)
        exchange = _Exchange(next(self._numbers), time.perf_counter(), head, upstream, path)
        headers = head.headers
        key = next((headers[name] for name in _CREDENTIALS if name in headers), "")
        key_digest = hashlib.blake2b(key.encode(), key=self._salt, digest_size=6).hexdigest()
        peer = scope["client"][0] if scope.get("client") else ""
        self._watcher.put(
            "open",
            exchange.number,
            self._clock(),
            upstream.shown_address(path),
            api,
            _model(head.path),
            headers.get("user-agent", "")[:_LONGEST_USER_AGENT],
            f"{peer} {key_digest}",
            next((headers[name][:200] for name in _SESSION_HEADERS if name in headers), ""),
            headers.get("content-encoding", "").lower().replace("identity", ""),
            asks_a_model(head.method, head.path),
            credentials(head.raw_headers, head.query),
        )
        return exchange

    async def _until_hung_up(
        self, receive: Receive, send: Send, exchange: _Exchange
    ) -> dict[str, Any] | None:
        """Forward a request; if the client hangs up, cancel the forwarding and raise HungUp."""
        forwarding = asyncio.ensure_future(self._forward(receive, send, exchange))
        leaving = asyncio.ensure_future(_until_client_leaves(receive, exchange.request_read))
        try:
            await asyncio.wait({forwarding, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if forwarding.done():
                return forwarding.result()
            raise HungUp
        finally:
            for task in (forwarding, leaving):
                task.cancel()
            await asyncio.gather(forwarding, leaving, return_exceptions=True)

    async def _forward(
        self, receive: Receive, send: Send, exchange: _Exchange
    ) -> dict[str, Any] | None:
        """Forward a request and its answer.

        Return the error that the client got instead of the provider's answer, or None.
        """
        head, upstream = exchange.head, exchange.upstream
        pieces = self._read_request(receive, exchange)
        body: AsyncIterator[bytes] | bytes | None = self._report_end(pieces, exchange)
        if self._block and asks_a_model(head.method, head.path):
            start = await _hold_body(pieces)
            blocked = await self._watcher.ask_verdict(exchange.number) if start.is_whole else ""
            if blocked:
                await self._refuse(send, exchange, Refusal(409, "cache_break", blocked))
                return {"type": "blocked", "message": blocked}
            rest = self._report_end(_chained(start, pieces), exchange)
            body = b"".join(start.pieces) if start.is_whole else rest
        elif not {"content-length", "transfer-encoding"} & head.headers.keys():
            _ = [data async for data in self._report_end(pieces, exchange)]  # there is no body
            body = None
        headers = for_provider(head.raw_headers, upstream.authorization)
        target = upstream.target(exchange.path, head.query)
        try:
            response = await self._client.send(head.method, upstream, target, headers, body)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            words = self._error_text(error, upstream)
            return await self._refuse_unanswered(send, exchange, words, error)
        try:
            if not 200 <= response.status_code < 600:
                words = f"it sent status {response.status_code}, which no final answer has"
                return await self._refuse_unanswered(send, exchange, words)
            await self._forward_answer(send, exchange, response)
        finally:
            await response.aclose()
        return None

    async def _refuse_unanswered(
        self, send: Send, exchange: _Exchange, words: str, error: Exception | None = None
    ) -> dict[str, Any]:
        """Tell the client that the provider gave no answer; return the error."""
        message = f"{exchange.upstream.host} gave no answer: {words}"
        await self._refuse(send, exchange, Refusal(502, "upstream_unreachable", message))
        return {"type": type(error).__name__ if error else "no answer", "message": message}

    async def _read_request(self, receive: Receive, exchange: _Exchange) -> AsyncIterator[bytes]:
        """Yield the request's body piece by piece, and copy it to the watcher.

        Raises HungUp if the client hangs up.
        """
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HungUp
            more = message.get("more_body", False)
            if data := message.get("body", b""):
                self._watcher.put("sent", exchange.number, data, size=len(data))
                await self._watcher.wait_for_room()
                yield data
        exchange.request_read.set()

    async def _report_end(
        self, pieces: AsyncIterator[bytes], exchange: _Exchange
    ) -> AsyncIterator[bytes]:
        """Yield a body's pieces, and tell the watcher when the body is complete."""
        async for data in pieces:
            yield data
        self._watcher.put("asked", exchange.number, False)  # False: nobody waits for a verdict

    async def _forward_answer(
        self, send: Send, exchange: _Exchange, response: httpx.Response
    ) -> None:
        """Send the provider's answer to the client piece by piece, and copy it to the watcher.

        Raises BrokenOff if the answer ends too early.
        """
        headers = response.headers
        coding = headers.get("content-encoding", "").lower().replace("identity", "")
        kind = headers.get("content-type", "")
        passed = for_client(headers.raw)
        if {"content-length", "transfer-encoding"} <= exchange.head.headers.keys():
            passed.append((b"connection", b"close"))  # RFC 9112, 6.1: against smuggled requests
        exchange.started = True
        start = {"status": response.status_code, "headers": passed}
        await send({"type": "http.response.start", **start})
        number = exchange.number
        self._watcher.put("status", number, exchange.at, response.status_code, coding, kind)
        try:
            async for data in join_pieces(response.aiter_raw()):
                await send({"type": "http.response.body", "body": data, "more_body": True})
                self._watcher.put("piece", number, exchange.at, data, size=len(data))
                await self._watcher.wait_for_room()
        except (httpx.HTTPError, httpx.StreamError) as error:
            words = self._error_text(error, exchange.upstream)
            raise BrokenOff(f"the provider's answer broke off: {words}") from error
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _refuse(self, send: Send, exchange: _Exchange, refusal: Refusal) -> None:
        """Answer with a refusal, and record it as the exchange's answer."""
        body = refusal.body()
        self._watcher.put(
            "status", exchange.number, exchange.at, refusal.status, "", "application/json"
        )
        self._watcher.put("piece", exchange.number, exchange.at, body, size=len(body))
        exchange.started = True
        await refuse(send, refusal)

    def _error_text(self, error: Exception, upstream: Upstream) -> str:
        """Return an error's shortened text without quoted bytes and secrets. An error may
        quote the address of a proxy (HTTPS_PROXY) with its password, for example."""
        secrets = (*environment_secrets(), *self._client.secrets, *upstream.secrets)
        words = scrubbed(strip_quoted_bytes(str(error)) or type(error).__name__, secrets=secrets)
        return words[:_LONGEST_ERROR]


@dataclass(frozen=True, slots=True)
class _HeldBody:
    """The first pieces of a body. If `is_whole` is False, the body is too large for a prediction,
    and more pieces may follow."""

    pieces: list[bytes]
    is_whole: bool


async def _hold_body(pieces: AsyncIterator[bytes]) -> _HeldBody:
    """Read a body into memory, but stop after the piece with which it exceeds MOST_BODY bytes."""
    chunks, size = [], 0
    async for data in pieces:
        chunks.append(data)
        size += len(data)
        if size > MOST_BODY:
            return _HeldBody(chunks, False)
    return _HeldBody(chunks, True)


async def _chained(body: _HeldBody, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces in memory, then the rest of the body."""
    for data in body.pieces:
        yield data
    async for data in rest:
        yield data


def _model(path: str) -> str:
    """Return the model in a path such as Gemini's (`/models/…`), or ""."""
    if "/model/" in path:  # Bedrock's path, whose model is not read here
        return ""
    return path.partition("/models/")[2].partition("/")[0].partition(":")[0]


async def _until_client_leaves(receive: Receive, request_read: asyncio.Event) -> None:
    """Wait until the request is read, and then until the client hangs up."""
    await request_read.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
