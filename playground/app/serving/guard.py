"""ASGI middleware in front of the app: it checks host names, framing, the origin of WebSockets, and
the token.

The gates are plain ASGI, because Starlette's base class for middleware does not see WebSockets, and
the app uses one.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.app.serving.access import Access
from playground.base import paths
from playground.base.hosts import HostGate

COOKIE: Final = "playground_token"
# Stores keys that are pressed outside fields, until the component `keys` has loaded and handles
# them.
_EARLY_KEYS: Final = """<script>
window.earlyKeys = []
addEventListener("keydown", (e) => e.target.matches?.("body, h1") && window.earlyKeys?.push(e))
</script>"""


class FrameGate:
    """A gate that forbids pages of other origins to show the app in a frame, where they could trick
    the user into clicking *Run*.

    Streamlit's components are in frames of the app's own origin, which are allowed. There are two
    headers, because old browsers know only the older one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def framed(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                headers.append("Content-Security-Policy", "frame-ancestors 'self'")
                headers["X-Frame-Options"] = "SAMEORIGIN"
            await send(message)

        await self._app(scope, receive, framed)


class OriginGate:
    """A gate that refuses a WebSocket to pages of another origin.

    Streamlit compares host names without ports. A page that another program serves on this machine
    is also of `localhost`, and could control the app. If a proxy sets a Host header of its own,
    name the origin in Streamlit's `--server.corsAllowedOrigins`.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._named = {origin.lower().rstrip("/") for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not self._is_ours(Headers(scope=scope)):
            # closed before it is accepted, a WebSocket is answered by a 403
            await send({"type": "websocket.close", "code": 1008})
            return
        await self._app(scope, receive, send)

    def _is_ours(self, headers: Headers) -> bool:
        """Return True if the origin is the app's, or missing, as from a program."""
        if (origin := headers.get("origin")) is None:
            return True
        scheme, _, place = origin.lower().partition("://")
        own = scheme in ("http", "https") and place == headers.get("host", "").lower()
        return own or origin.lower() in self._named


class TokenGate:
    """A gate for visitors who have the token: at first in the link, later in a cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_token(_cookie(scope)):
            await self._app(scope, receive, send)
            return
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
        if scope["type"] == "http" and self._is_token(dict(query).get("token", "")):
            await self._welcome(scope, query)(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            refused = PlainTextResponse(
                "Open this server by the link that contains its token.\n", 403
            )
            await refused(scope, receive, send)

    def _is_token(self, value: str) -> bool:
        """Compare with the token in constant time, so that the time reveals nothing about it."""
        return secrets.compare_digest(value.encode(), self._token.encode())

    def _welcome(self, scope: Scope, query: list[tuple[str, str]]) -> Response:
        """Redirect to the address without the token, which must not stay in the history."""
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        # A path "//other.example" would lead to another host. A "%3F" was decoded to "?".
        path = "/" + quote(scope["path"].lstrip("/"))
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        # With `strict`, the cookie would be missing after a link in a mail, from another site.
        answer.set_cookie(COOKIE, self._token, httponly=True, samesite="lax")
        return answer


class HeadGate:
    """A gate that puts markup into the head of the page for the browser's first paint. If the
    page's script sent the style sheet, it would arrive a second later, and the layout would jump.
    """

    def __init__(self, app: ASGIApp, markup: str) -> None:
        self._app, self._head = app, f"{markup}</head>".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        begun: list[Message] = []
        text = bytearray()

        async def styled(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    begun.append(message)
                    return
            elif begun and message["type"] == "http.response.body":
                text.extend(message.get("body", b""))
                if message.get("more_body"):
                    return
                body = bytes(text).replace(b"</head>", self._head, 1)
                MutableHeaders(scope=begun[0])["content-length"] = str(len(body))
                await send(begun.pop())
                message = {**message, "body": body}
            await send(message)

        plain = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]  # no gzip
        scope = {**scope, "headers": plain} if _is_page(scope["path"]) else scope
        await self._app(scope, receive, styled)


def _is_page(path: str) -> bool:
    """Return True for the address of a page, False for that of a file or of Streamlit itself."""
    return "." not in path and "/_stcore" not in path


def _cookie(scope: Scope) -> str:
    """Return the app's cookie. Programs on other ports of the host share the browser's cookies, and
    may have set malformed ones."""
    return cookie_parser(Headers(scope=scope).get("cookie", "")).get(COOKIE, "")


def gates(access: Access) -> list[Any]:
    """Return the middleware of a server with this access, outermost first."""
    found: list[Any] = [Middleware(FrameGate)]
    if access.hosts:
        found.append(Middleware(HostGate, hosts=access.hosts))
    if access.hosts or access.token:
        origins = st.get_option("server.corsAllowedOrigins") or ()
        found.append(Middleware(OriginGate, origins=origins))
    if access.token:
        found.append(Middleware(TokenGate, token=access.token))
    css = paths.app_file().with_name("app.css").read_text(encoding="utf-8")
    return [*found, Middleware(HeadGate, markup=f"<style>{css}</style>{_EARLY_KEYS}")]
