"""Host names, addresses and ports of servers on this machine."""

from __future__ import annotations

import errno
import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from playground.base.errors import InputFault

_BACKLOG: Final = 2048
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?", re.ASCII)
_LONGEST_NAME: Final = 100


def is_loopback(address: str) -> bool:
    """Return True if an address reaches only this machine. An empty address means every interface,
    which is not loopback."""
    bare = address.strip("[]")
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def own_names(address: str) -> tuple[str, ...]:
    """Return the host names by which a server on loopback may be called. A request with another
    Host header comes from a foreign page."""
    return tuple(dict.fromkeys(("127.0.0.1", "localhost", as_host(address))))


def as_host(address: str) -> str:
    """Return an address as a Host header writes it: an IPv6 address in brackets."""
    return f"[{address.strip('[]')}]" if ":" in address else address


def listening_socket(address: str, port: int) -> socket.socket:
    """Return a socket that listens at an address. Raises InputFault if it cannot."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((address.strip("[]"), port))
        server.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        server.close()
        raise port_fault(error, address, port) from error
    return server


def port_fault(error: OSError | OverflowError, address: str, port: int) -> InputFault:
    """Make the fault that says why no socket can listen at an address."""
    problem = getattr(error, "strerror", None) or str(error)
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        problem = "the port is taken: another program listens there"
    return InputFault(problem, where=f"{as_host(address)}:{port}", expected="a free port")


def foreign_host(header: str, names: Sequence[str]) -> str:
    """Return the reason why a server with these names refuses a Host header; "" if it does not. The
    name `*.example.com` matches all names with this ending. Without any names, no header is
    refused."""
    if not names:
        return ""
    own_names = ", ".join(names)
    if not header:
        return f"the request has no Host header; this server answers to {own_names}"
    parts = _HOST.fullmatch(header)
    if parts is None:
        return f"the Host header {header[:_LONGEST_NAME]!r} is not a name, with or without a port"
    host = parts[1].lower()
    if any(_matches_name(host, name.lower()) for name in names):
        return ""
    return f"this server does not answer to the host {host[:_LONGEST_NAME]!r}, but to {own_names}"


def _matches_name(host: str, name: str) -> bool:
    return host == name or (name.startswith("*.") and host.endswith(name[1:]))


class HostGate:
    """ASGI middleware that answers 400 to a foreign Host header, as DNS rebinding sends it."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self._app, self._names = app, () if "*" in hosts else hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._app
        if scope["type"] in ("http", "websocket"):
            problem = foreign_host(Headers(scope=scope).get("host", ""), self._names)
            if problem:
                app = PlainTextResponse(f"{problem}\n", 400)
        await app(scope, receive, send)
