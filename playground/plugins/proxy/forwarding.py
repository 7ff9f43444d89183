"""What forwards: an ASGI application, from the client to the provider and back, piece by piece.

The one rule: what is forwarded is what came. Only what belongs to one connection is made anew (the
framing of a body, `Host`), and of packings those are asked for that the recorder can read, if the
client takes them. What breaks off on one side breaks off on the other.
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
from playground.plugins.proxy.joined_pieces import joined
from playground.plugins.proxy.refusals import (
    Refusal,
    RequestHead,
    answer,
    read_head,
    refusal_of,
    unquoted,
)
from playground.plugins.proxy.upstream import Upstream
from playground.plugins.proxy.upstream_client import UpstreamClient
from playground.plugins.proxy.watcher_pipe import WatcherPipe
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import scrubbed

_LONGEST_AGENT: Final = 4096  # of which less is kept, once its secrets are out
_LONGEST_WORDS: Final = 300  # of an error, which may quote what came
_CREDENTIALS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_SESSION_NAMES: Final = (  # in which clients name their session
    "x-claude-code-session-id",
    "thread-id",  # Codex: of a sub-agent it is another than the session's
    "session_id",
    "session-id",
    "x-session-id",
    "x-session-affinity",
    "conversation_id",
)


class HungUp(Exception):
    """The client has gone."""


class BrokenOff(Exception):
    """The provider's answer broke off: so does ours. The server closes the connection on it."""


@dataclass
class _Passing:
    """One exchange on its way. Times are seconds since it came."""

    number: int
    began: float
    head: RequestHead
    upstream: Upstream
    path: str  # as it is sent, but for what the upstream's address holds
    done: asyncio.Event = field(default_factory=asyncio.Event)  # the request's body was read
    started: bool = False  # the answer has

    @property
    def at(self) -> float:
        return time.perf_counter() - self.began


class Forwarder:
    """Forwards requests to `upstreams` and tells the `watcher` of all that passes."""

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
        self._salt = secrets.token_bytes(16)  # so that what tells keys apart tells nothing of them

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        head = read_head(scope, self._names)
        refusal = refusal_of(head)
        if refusal is not None:
            await answer(send, refusal)
            return
        passing = self._open_exchange(scope, head)
        error: dict[str, Any] | None = None
        try:
            error = await self._until_hung_up(receive, send, passing)
        except HungUp:
            error = {"type": "hung up", "message": "the client has hung up"}
        except BrokenOff as broken:
            error = {"type": "broken off", "message": str(broken)}
            raise
        except asyncio.CancelledError:
            error = {"type": "cut", "message": "the proxy was stopped"}
            raise
        except Exception as fault:  # whatever it is, the client gets a line
            told = f"a bug of the proxy ({type(fault).__name__}); please report it"
            error = {"type": type(fault).__name__, "message": told}
            if passing.started:
                raise BrokenOff(told) from fault
            await self._refuse(send, passing, Refusal(500, "proxy_fault", told))
        finally:
            self._watcher.put("end", passing.number, passing.at, error)

    def _open_exchange(self, scope: Scope, head: RequestHead) -> _Passing:
        api = api_of(head.path, head.headers)
        upstream, path = self._upstreams.route(api, head.path)
        passing = _Passing(next(self._numbers), time.perf_counter(), head, upstream, path)
        headers = head.headers
        key = next((headers[name] for name in _CREDENTIALS if name in headers), "")
        whose = hashlib.blake2b(key.encode(), key=self._salt, digest_size=6).hexdigest()
        peer = scope["client"][0] if scope.get("client") else ""
        self._watcher.put(
            "open",
            passing.number,
            self._clock(),
            upstream.shown_address(path),
            api,
            _model(head.path),
            headers.get("user-agent", "")[:_LONGEST_AGENT],
            f"{peer} {whose}",
            next((headers[name][:200] for name in _SESSION_NAMES if name in headers), ""),
            headers.get("content-encoding", "").lower().replace("identity", ""),
            asks_a_model(head.method, head.path),
            credentials(head.raw_headers, head.query),
        )
        return passing

    async def _until_hung_up(
        self, receive: Receive, send: Send, passing: _Passing
    ) -> dict[str, Any] | None:
        """Forward; where the client goes meanwhile, so does the request to the provider."""
        forwarding = asyncio.ensure_future(self._forward(receive, send, passing))
        leaving = asyncio.ensure_future(_until_client_leaves(receive, passing.done))
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
        self, receive: Receive, send: Send, passing: _Passing
    ) -> dict[str, Any] | None:
        """The exchange; what went wrong on the provider's side, where the client was told."""
        head, upstream = passing.head, passing.upstream
        pieces = self._sent(receive, passing)
        body: AsyncIterator[bytes] | bytes | None = self._told_whole(pieces, passing)
        if self._block and asks_a_model(head.method, head.path):
            held = await _hold_body(pieces)
            blocked = await self._watcher.verdict(passing.number) if held.is_whole else ""
            if blocked:
                await self._refuse(send, passing, Refusal(409, "cache_break", blocked))
                return {"type": "blocked", "message": blocked}
            rest = self._told_whole(_chained(held, pieces), passing)
            body = b"".join(held.pieces) if held.is_whole else rest
        elif not {"content-length", "transfer-encoding"} & head.headers.keys():
            _ = [data async for data in self._told_whole(pieces, passing)]
            body = None
        headers = for_provider(head.raw_headers, upstream.authorization)
        target = upstream.target(passing.path, head.query)
        try:
            response = await self._client.send(head.method, upstream, target, headers, body)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return await self._unanswered(send, passing, self._words(error, upstream), error)
        try:
            if not 200 <= response.status_code < 600:
                words = f"its status {response.status_code} is none of an answer"
                return await self._unanswered(send, passing, words)
            await self._back(send, passing, response)
        finally:
            await response.aclose()
        return None

    async def _unanswered(
        self, send: Send, passing: _Passing, words: str, error: Exception | None = None
    ) -> dict[str, Any]:
        """Tell the client that there is no answer to hand on."""
        told = f"{passing.upstream.host} gave no answer: {words}"
        await self._refuse(send, passing, Refusal(502, "upstream_unreachable", told))
        return {"type": type(error).__name__ if error else "no answer", "message": told}

    async def _sent(self, receive: Receive, passing: _Passing) -> AsyncIterator[bytes]:
        """The request's body as it comes."""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HungUp
            more = message.get("more_body", False)
            if data := message.get("body", b""):
                self._watcher.put("sent", passing.number, data, size=len(data))
                await self._watcher.room()
                yield data
        passing.done.set()

    async def _told_whole(
        self, pieces: AsyncIterator[bytes], passing: _Passing
    ) -> AsyncIterator[bytes]:
        """A body as it comes; the recorder is told when it is whole."""
        async for data in pieces:
            yield data
        self._watcher.put("asked", passing.number, False)

    async def _back(self, send: Send, passing: _Passing, response: httpx.Response) -> None:
        """The answer as it comes."""
        headers = response.headers
        coding = headers.get("content-encoding", "").lower().replace("identity", "")
        kind = headers.get("content-type", "")
        passed = for_client(headers.raw)
        if {"content-length", "transfer-encoding"} <= passing.head.headers.keys():
            passed.append((b"connection", b"close"))  # RFC 9112, 6.1
        passing.started = True
        start = {"status": response.status_code, "headers": passed}
        await send({"type": "http.response.start", **start})
        number = passing.number
        self._watcher.put("status", number, passing.at, response.status_code, coding, kind)
        try:
            async for data in joined(response.aiter_raw()):
                await send({"type": "http.response.body", "body": data, "more_body": True})
                self._watcher.put("piece", number, passing.at, data, size=len(data))
                await self._watcher.room()
        except (httpx.HTTPError, httpx.StreamError) as error:
            words = self._words(error, passing.upstream)
            raise BrokenOff(f"the provider's answer broke off: {words}") from error
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _refuse(self, send: Send, passing: _Passing, refusal: Refusal) -> None:
        """An answer of our own, recorded as one."""
        body = refusal.body()
        self._watcher.put(
            "status", passing.number, passing.at, refusal.status, "", "application/json"
        )
        self._watcher.put("piece", passing.number, passing.at, body, size=len(body))
        passing.started = True
        await answer(send, refusal)

    def _words(self, error: Exception, upstream: Upstream) -> str:
        """Return a library's words on an error without what was sent or came, as far as it tells.

        A proxy of the environment may answer with the password that it was sent.
        """
        secrets = (*environment_secrets(), *self._client.secrets, *upstream.secrets)
        words = scrubbed(unquoted(str(error)) or type(error).__name__, secrets=secrets)
        return words[:_LONGEST_WORDS]


@dataclass(frozen=True, slots=True)
class _Held:
    """A body's pieces so far; of one that is too much to be looked at the rest is still to come."""

    pieces: list[bytes]
    is_whole: bool


async def _hold_body(pieces: AsyncIterator[bytes]) -> _Held:
    """Hold a body, as far as a request is looked at: of a longer one memory has no more."""
    held, size = [], 0
    async for data in pieces:
        held.append(data)
        size += len(data)
        if size > MOST_BODY:
            return _Held(held, False)
    return _Held(held, True)


async def _chained(held: _Held, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what was held of a body, then what is still to come of it."""
    for data in held.pieces:
        yield data
    async for data in rest:
        yield data


def _model(path: str) -> str:
    """The model in an address (Gemini, Bedrock)."""
    _, found, rest = path.partition("/models/") if "/models/" in path else path.partition("/model/")
    return rest.partition("/")[0].partition(":")[0] if found and "/model/" not in path else ""


async def _until_client_leaves(receive: Receive, done: asyncio.Event) -> None:
    """Until the client hangs up, once its request was read."""
    await done.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
