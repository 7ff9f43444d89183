"""Refusals of requests, each with a status and a one-line reason. A refused request is neither
forwarded nor recorded. The answer quotes at most the request's host or origin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.types import Scope, Send

from playground.base.hosts import foreign_host, is_loopback
from playground.plugins.proxy.addresses import is_signed
from playground.plugins.proxy.dot_segments import has_dot_segments

MOST_ADDRESS: Final = 64 * 1024  # characters of a path with its query
_VERSIONS: Final = ("1.0", "1.1")
_LONGEST_NAME: Final = 100  # characters of a host that a client named
_QUOTED: Final = re.compile(r":?\s*(?:bytearray\()?b['\"]")
_ORIGIN: Final = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?", re.I)


def strip_quoted_bytes(words: str) -> str:
    """Return an error's text up to the first bytes that it quotes."""
    return _QUOTED.split(words, maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer of the proxy itself, instead of the provider's."""

    status: int
    kind: str
    words: str

    def body(self) -> bytes:
        """Return an error as JSON in which OpenAI's, Anthropic's and Gemini's clients find the
        message."""
        message = f"playground proxy: {self.words}"
        error = {"type": self.kind, "message": message, "code": self.kind}
        return json.dumps({"type": "error", "error": error}, ensure_ascii=False).encode()

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers that go with the body."""
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body())).encode()),
            (b"x-should-retry", b"false"),  # OpenAI's and Anthropic's SDKs would retry after 409
        ]
        if self.status == 426:
            headers.append((b"upgrade", b"HTTP/1.1"))  # RFC 9110, 15.5.22
        if self.status == 405:
            headers.append((b"connection", b"close"))  # bytes after CONNECT are not HTTP
        return headers


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request's head: method, headers, and the exact text of path and query."""

    method: str
    version: str
    path: str
    query: str
    headers: Mapping[str, str]
    raw_headers: Sequence[tuple[bytes, bytes]]
    names: tuple[str, ...]  # hosts that the proxy answers to; () means any


def read_head(scope: Scope, names: tuple[str, ...]) -> RequestHead:
    """Build the head from an ASGI scope."""
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
    """Return the refusal of a request, or None if it may be forwarded."""
    return next(filter(None, (check(head) for check in _CHECKS)), None)


async def refuse(send: Send, refusal: Refusal) -> None:
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
    return Refusal(505, "unknown_version", "the proxy speaks only HTTP/1.1 and HTTP/1.0")


def _forward_proxy(head: RequestHead) -> Refusal | None:
    if head.method != "CONNECT" and head.path.startswith("/"):
        return None
    reason = "this is not a general HTTP proxy: set its address as the base URL of the client"
    return Refusal(405, "not_a_forward_proxy", reason)


def _trace(head: RequestHead) -> Refusal | None:
    if head.method != "TRACE":
        return None
    reason = "TRACE makes a server repeat the request, which may hold more than the client sent"
    return Refusal(405, "no_trace", reason)


def _websocket(head: RequestHead) -> Refusal | None:
    if head.headers.get("upgrade", "").lower() != "websocket":
        return None
    # Codex accepts a 426; after any other status it tries six times
    reason = "the proxy speaks only HTTP; use the API without sockets"
    return Refusal(426, "no_websockets", reason)


def _foreign_page(head: RequestHead) -> Refusal | None:
    """Refuse a page of another origin, which could write into the workspace and spend a credential.
    Browsers send the page's origin or, as for images, at least that the page is of another site."""
    origin = head.headers.get("origin")
    if origin is not None and not _is_ours(origin):
        reason = f"a page of {origin[:_LONGEST_NAME]!r} may not use this proxy"
        return Refusal(403, "foreign_origin", reason)
    if head.headers.get("sec-fetch-site", "").lower() == "cross-site":
        return Refusal(403, "foreign_origin", "a page of another site may not use this proxy")
    return None


def _is_ours(origin: str) -> bool:
    """Return True if a page's origin is this machine. Files and extensions have other origins."""
    match = _ORIGIN.fullmatch(origin)
    return match is not None and is_loopback(match[1].lower())


def _signed_request(head: RequestHead) -> Refusal | None:
    if not is_signed(head.headers, head.query):
        return None
    reason = (
        "the request is signed (SigV4) for the address that it was sent to, which is not "
        "the provider's: use a Bedrock API key (AWS_BEARER_TOKEN_BEDROCK)"
    )
    return Refusal(403, "signed_request", reason)


def _long_address(head: RequestHead) -> Refusal | None:
    if len(head.path) + len(head.query) <= MOST_ADDRESS:
        return None
    reason = f"an address has at most {MOST_ADDRESS:,} characters here; put the rest into the body"
    return Refusal(414, "address_too_long", reason)


def _dot_segments(head: RequestHead) -> Refusal | None:
    if not has_dot_segments(head.path):
        return None
    reason = "a path with `.` or `..` in it, however encoded, may lead to another place"
    return Refusal(400, "dot_segments", f"{reason}; write it without them")


# The first check that refuses the request decides. Checks of the client come first.
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
