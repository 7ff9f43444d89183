"""What is not forwarded, and what its client is told: a status and one clear line.

Nothing of a refused request is recorded, and nothing of it is repeated but a name of a host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.types import Scope, Send

from playground.base.hosts import foreign_host, is_loopback
from playground.plugins.proxy.addresses import signed
from playground.plugins.proxy.dot_segments import has_dot_segments

MOST_ADDRESS: Final = 64 * 1024  # characters of a path with its query
_VERSIONS: Final = ("1.0", "1.1")
_LONGEST_NAME: Final = 100  # characters of what a client called a host
_QUOTED: Final = re.compile(r":?\s*(?:bytearray\()?b['\"]")
_ORIGIN: Final = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?", re.I)


def unquoted(words: str) -> str:
    """Return a library's words on a fault up to where they quote bytes that came."""
    return _QUOTED.split(words, maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer of the proxy's own, in place of a provider's."""

    status: int
    kind: str
    words: str

    def body(self) -> bytes:
        """Return an error in which OpenAI's, Anthropic's and Gemini's clients find its message."""
        message = f"playground proxy: {self.words}"
        error = {"type": self.kind, "message": message, "code": self.kind}
        return json.dumps({"type": "error", "error": error}, ensure_ascii=False).encode()

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers that go with the body."""
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body())).encode()),
            (b"x-should-retry", b"false"),  # the SDKs of OpenAI and Anthropic try a 409 again
        ]
        if self.status == 426:
            headers.append((b"upgrade", b"HTTP/1.1"))  # RFC 9110, 15.5.22
        if self.status == 405:
            headers.append((b"connection", b"close"))  # what follows CONNECT is for somebody else
        return headers


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request before its body: path and query as they were written."""

    method: str
    version: str
    path: str
    query: str
    headers: Mapping[str, str]
    raw_headers: Sequence[tuple[bytes, bytes]]
    names: tuple[str, ...]  # that the proxy answers to; none are all


def read_head(scope: Scope, names: tuple[str, ...]) -> RequestHead:
    """Read what the server tells of a request."""
    raw = scope.get("raw_path") or scope["path"].encode()
    return RequestHead(
        method=scope["method"],
        version=scope.get("http_version", "1.1"),
        path=raw.decode("latin-1").partition("?")[0],
        query=scope["query_string"].decode("latin-1"),
        headers={k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]},
        raw_headers=scope["headers"],
        names=names,
    )


def refusal_of(head: RequestHead) -> Refusal | None:
    """Return why a request is not forwarded; None if it is."""
    return next(filter(None, (check(head) for check in _CHECKS)), None)


async def answer(send: Send, refusal: Refusal) -> None:
    """Answer a request with a refusal."""
    start = {"status": refusal.status, "headers": refusal.headers()}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": refusal.body(), "more_body": False})


def _foreign_host(head: RequestHead) -> Refusal | None:
    host = head.headers.get("host", "")
    if problem := foreign_host(host, head.names):
        return Refusal(400, "foreign_host", problem)
    return None


def _unknown_version(head: RequestHead) -> Refusal | None:
    if head.version in _VERSIONS:
        return None
    return Refusal(505, "unknown_version", "the proxy speaks HTTP/1.1 and HTTP/1.0 alone")


def _forward_proxy(head: RequestHead) -> Refusal | None:
    if head.method != "CONNECT" and head.path.startswith("/"):
        return None
    told = "this is a proxy by base URL, none for every address: give its address as the base URL"
    return Refusal(405, "not_a_forward_proxy", f"{told} of the client")


def _trace(head: RequestHead) -> Refusal | None:
    if head.method != "TRACE":
        return None
    told = "TRACE has a server repeat what it got, which may be more than the client sent"
    return Refusal(405, "no_trace", told)


def _websocket(head: RequestHead) -> Refusal | None:
    if head.headers.get("upgrade", "").lower() != "websocket":
        return None
    # 426 is what Codex takes for an answer; other statuses it tries six times
    told = "the proxy speaks HTTP alone; use the API without sockets"
    return Refusal(426, "no_websockets", told)


def _foreign_page(head: RequestHead) -> Refusal | None:
    """A page of another origin could write into the workspace, and spend what an upstream's address
    holds. Browsers tell of it; for a picture, say, without an Origin."""
    origin = head.headers.get("origin")
    if origin is not None and not _is_ours(origin):
        told = f"a page of {origin[:_LONGEST_NAME]!r} may not use this proxy"
        return Refusal(403, "foreign_origin", told)
    if head.headers.get("sec-fetch-site", "").lower() == "cross-site":
        return Refusal(403, "foreign_origin", "a page of another site may not use this proxy")
    return None


def _is_ours(origin: str) -> bool:
    """Return True if a page's origin is this machine; a file or an extension is no such origin."""
    parts = _ORIGIN.fullmatch(origin)
    return parts is not None and is_loopback(parts[1].lower())


def _signed_request(head: RequestHead) -> Refusal | None:
    if not signed(head.headers, head.query):
        return None
    told = (
        "the request is signed (SigV4) for the address that it was sent to, which is not "
        "the provider's: use a Bedrock API key (AWS_BEARER_TOKEN_BEDROCK)"
    )
    return Refusal(403, "signed_request", told)


def _long_address(head: RequestHead) -> Refusal | None:
    if len(head.path) + len(head.query) <= MOST_ADDRESS:
        return None
    told = f"an address has at most {MOST_ADDRESS:,} characters here; put the rest into the body"
    return Refusal(414, "address_too_long", told)


def _dot_segments(head: RequestHead) -> Refusal | None:
    if not has_dot_segments(head.path):
        return None
    told = "a path with `.` or `..` in it, however encoded, may lead elsewhere than it says"
    return Refusal(400, "dot_segments", f"{told}; write it without them")


# In this order: who may ask at all comes first.
_CHECKS: Final[tuple[Callable[[RequestHead], Refusal | None], ...]] = (
    _foreign_host,
    _unknown_version,
    _forward_proxy,
    _trace,
    _websocket,
    _foreign_page,
    _signed_request,
    _long_address,
    _dot_segments,
)
