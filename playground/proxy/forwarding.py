"""What forwards: an ASGI application, from the client to the provider and back, piece by piece.

The one rule: what is forwarded is what came. Only what belongs to one connection is made anew (the
framing of a body, `Host`), and of packings those are asked for that the recorder can read, if the
client takes them. What breaks off on one side breaks off on the other.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from itertools import count
from typing import Any, Final

import httpx
from starlette.types import Receive, Scope, Send

from playground.proxy.addresses import Upstreams, api_of, asks_a_model, signed
from playground.proxy.exchange import MOST_BODY
from playground.proxy.headers import for_client, for_provider
from playground.proxy.hosts import is_loopback
from playground.proxy.seer import Seer

_CONNECT_SECONDS: Final = 30.0
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


class _Cookies(DefaultCookiePolicy):
    """Keeps none: those of one client are not another's."""

    def set_ok(self, cookie: Any, request: Any) -> bool:
        return False


def new_client() -> httpx.AsyncClient:
    """The client that asks providers: it follows nowhere, keeps nothing, and waits as long as its
    own client does."""
    client = httpx.AsyncClient(
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=256),
    )
    client.cookies.jar.set_policy(_Cookies())
    return client


@dataclass
class _Passing:
    """One exchange on its way. Times are seconds since it came."""

    number: int
    began: float
    headers: dict[str, str]
    url: str
    done: asyncio.Event = field(default_factory=asyncio.Event)  # the request's body was read
    started: bool = False  # the answer has

    @property
    def at(self) -> float:
        return time.perf_counter() - self.began


class Forwarder:
    """Forwards requests to `upstreams` and tells the `seer` of all that passes."""

    def __init__(
        self,
        upstreams: Upstreams,
        seer: Seer,
        client: httpx.AsyncClient,
        *,
        block: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._upstreams, self._seer, self._client = upstreams, seer, client
        self._block, self._clock = block, clock
        self._numbers = count(1)
        self._salt = secrets.token_bytes(16)  # so that what tells keys apart tells nothing of them

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        path, query = _target(scope)
        refusal = self._refusal(scope, headers, query)
        if refusal:
            await _answer(send, *refusal)
            return
        passing = self._opened(scope, headers, path)
        address = passing.url + (f"?{query}" if query else "")
        error: dict[str, Any] | None = None
        try:
            error = await self._until_hung_up(scope, receive, send, passing, address)
        except HungUp:
            error = {"type": "hung up", "message": "the client has hung up"}
        except BrokenOff as broken:
            error = {"type": "broken off", "message": str(broken)}
            raise
        except asyncio.CancelledError:
            error = {"type": "cut", "message": "the proxy was stopped"}
            raise
        finally:
            self._seer.put("end", passing.number, passing.at, error)

    def _refusal(
        self, scope: Scope, headers: dict[str, str], query: str
    ) -> tuple[int, str, str] | None:
        """Status, type and words for what is not forwarded."""
        if scope["method"] == "CONNECT" or not scope["path"].startswith("/"):
            told = "this is a proxy by base URL, none for every address: give its address as the"
            return 405, "not_a_forward_proxy", f"{told} base URL of the client"
        if headers.get("upgrade", "").lower() == "websocket":
            # 426 is what Codex takes for an answer; other statuses it tries six times
            return 426, "no_websockets", "the proxy speaks HTTP alone; use the API without sockets"
        origin = headers.get("origin", "")
        if origin and not self._is_ours(origin):
            return 403, "foreign_origin", f"a page of {origin[:100]!r} may not use this proxy"
        if signed(headers, query):
            told = (
                "the request is signed (SigV4) for the address that it was sent to, which is not "
                "the provider's: use a Bedrock API key (AWS_BEARER_TOKEN_BEDROCK)"
            )
            return 403, "signed_request", told
        return None

    def _is_ours(self, origin: str) -> bool:
        """Whether a page's origin is this machine: others could write into the workspace."""
        host = httpx.URL(origin).host if "://" in origin and len(origin) < 300 else ""
        return is_loopback(host) if host else origin != "null"

    def _opened(self, scope: Scope, headers: dict[str, str], path: str) -> _Passing:
        api = api_of(path, headers)
        url = self._upstreams.behind(api, path)
        passing = _Passing(next(self._numbers), time.perf_counter(), headers, url)
        key = next((headers[name] for name in _CREDENTIALS if name in headers), "")
        whose = hashlib.blake2b(key.encode(), key=self._salt, digest_size=6).hexdigest()
        peer = scope["client"][0] if scope.get("client") else ""
        asks = asks_a_model(scope["method"], path)
        self._seer.put(
            "open",
            passing.number,
            self._clock(),
            url,
            api,
            _model(path),
            headers.get("user-agent", "")[:200],
            f"{peer} {whose}",
            next((headers[name][:200] for name in _SESSION_NAMES if name in headers), ""),
            headers.get("content-encoding", "").lower().replace("identity", ""),
            asks,
        )
        return passing

    async def _until_hung_up(
        self, scope: Scope, receive: Receive, send: Send, passing: _Passing, address: str
    ) -> dict[str, Any] | None:
        """Forward; where the client goes meanwhile, so does the request to the provider."""
        forwarding = asyncio.ensure_future(self._forward(scope, receive, send, passing, address))
        leaving = asyncio.ensure_future(_left(receive, passing.done))
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
        self, scope: Scope, receive: Receive, send: Send, passing: _Passing, address: str
    ) -> dict[str, Any] | None:
        """The exchange; what went wrong on the provider's side, where the client was told."""
        body: AsyncIterator[bytes] | bytes | None = self._sent(receive, passing)
        if self._block and asks_a_model(scope["method"], scope["path"]):
            held = [data async for data in self._sent(receive, passing, asks=False)]
            blocked = await self._judged(passing, held)
            if blocked:
                await self._refuse(send, passing, 409, "cache_break", blocked)
                return {"type": "blocked", "message": blocked}
            body = b"".join(held)
        elif not {"content-length", "transfer-encoding"} & passing.headers.keys():
            _ = [data async for data in self._sent(receive, passing)]
            body = None
        request = httpx.Request(
            scope["method"], address, headers=for_provider(scope["headers"]), content=body
        )
        try:
            response = await self._client.send(request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            told = f"{passing.url.split('/', 3)[2]} gave no answer: {_words(error)}"
            await self._refuse(send, passing, 502, "upstream_unreachable", told)
            return {"type": type(error).__name__, "message": told}
        try:
            await self._back(send, passing, response)
        finally:
            await response.aclose()
        return None

    async def _judged(self, passing: _Passing, held: list[bytes]) -> str:
        """Why a request is held up; "" where it is not, or is too much to be looked at."""
        if sum(map(len, held)) > MOST_BODY:
            self._seer.put("asked", passing.number, False)
            return ""
        return await self._seer.verdict(passing.number)

    async def _sent(
        self, receive: Receive, passing: _Passing, asks: bool = True
    ) -> AsyncIterator[bytes]:
        """The request's body as it comes."""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HungUp
            more = message.get("more_body", False)
            if data := message.get("body", b""):
                self._seer.put("sent", passing.number, data, size=len(data))
                await self._seer.room()
                yield data
        if asks:
            self._seer.put("asked", passing.number, False)
        passing.done.set()

    async def _back(self, send: Send, passing: _Passing, response: httpx.Response) -> None:
        """The answer as it comes."""
        headers = response.headers
        coding = headers.get("content-encoding", "").lower().replace("identity", "")
        kind = headers.get("content-type", "")
        start = {
            "type": "http.response.start",
            "status": response.status_code,
            "headers": for_client(headers.raw),
        }
        await send(start)
        passing.started = True
        number = passing.number
        self._seer.put("status", number, passing.at, response.status_code, coding, kind)
        try:
            async for data in response.aiter_raw():
                await send({"type": "http.response.body", "body": data, "more_body": True})
                self._seer.put("piece", number, passing.at, data, size=len(data))
                await self._seer.room()
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise BrokenOff(f"the provider's answer broke off: {_words(error)}") from error
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _refuse(
        self, send: Send, passing: _Passing, status: int, kind: str, told: str
    ) -> None:
        """An answer of our own, recorded as one."""
        body = _body(kind, told)
        self._seer.put("status", passing.number, passing.at, status, "", "application/json")
        self._seer.put("piece", passing.number, passing.at, body, size=len(body))
        await _answer(send, status, kind, told)


def _target(scope: Scope) -> tuple[str, str]:
    """Path and query as they were written."""
    raw = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("latin-1").partition("?")[0], scope["query_string"].decode("latin-1")


def _model(path: str) -> str:
    """The model in an address (Gemini, Bedrock)."""
    _, found, rest = path.partition("/models/") if "/models/" in path else path.partition("/model/")
    return rest.partition("/")[0].partition(":")[0] if found and "/model/" not in path else ""


async def _left(receive: Receive, done: asyncio.Event) -> None:
    """Until the client hangs up, once its request was read."""
    await done.wait()
    while (await receive())["type"] != "http.disconnect":
        pass


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:300]


def _body(kind: str, told: str) -> bytes:
    """An error as OpenAI's, Anthropic's and Gemini's clients all find its message."""
    error = {"type": kind, "message": f"playground proxy: {told}", "code": kind}
    return json.dumps({"type": "error", "error": error}, ensure_ascii=False).encode()


async def _answer(send: Send, status: int, kind: str, told: str) -> None:
    body = _body(kind, told)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-should-retry", b"false"),  # the SDKs of OpenAI and Anthropic try a 409 again
    ]
    if status == 426:
        headers.append((b"upgrade", b"HTTP/1.1"))  # RFC 9110, 15.5.22
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
