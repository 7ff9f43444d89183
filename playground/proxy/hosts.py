"""Which names a server on this machine answers to, and which addresses reach this machine alone."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?", re.ASCII)
_LONGEST_NAME: Final = 100


def is_loopback(address: str) -> bool:
    """Whether an address reaches this machine alone; no address at all means every interface."""
    bare = address.strip("[]")
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def own_names(address: str) -> tuple[str, ...]:
    """What a server on loopback is called: by any other name a page of somebody else's asks."""
    return tuple(dict.fromkeys(("127.0.0.1", "localhost", as_host(address))))


def as_host(address: str) -> str:
    """As a Host header has it: an IPv6 address in brackets."""
    return f"[{address.strip('[]')}]" if ":" in address else address


def foreign_host(given: str, names: Sequence[str]) -> str:
    """Return why a server with these names does not answer to a Host header, in words; "" if it
    does. A name such as `*.example.com` stands for all that end so; no names at all are every one.
    """
    if not names:
        return ""
    own = ", ".join(names)
    if not given:
        return f"no Host header names this server, which answers to {own}"
    parts = _HOST.fullmatch(given)
    if parts is None:
        return f"the Host header {given[:_LONGEST_NAME]!r} is no name with a port or without one"
    host = parts[1].lower()
    if any(_is_called(host, name.lower()) for name in names):
        return ""
    return f"this server does not answer to the host {host[:_LONGEST_NAME]!r}, but to {own}"


def _is_called(host: str, name: str) -> bool:
    return host == name or (name.startswith("*.") and host.endswith(name[1:]))


class HostGate:
    """Answers 400 to a name that is not ours: DNS rebinding brings a page under one of its own."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self._app, self._names = app, () if "*" in hosts else hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._app
        if scope["type"] in ("http", "websocket"):
            problem = foreign_host(Headers(scope=scope).get("host", ""), self._names)
            if problem:
                app = PlainTextResponse(f"{problem}\n", 400)
        await app(scope, receive, send)
