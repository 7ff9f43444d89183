"""What a server on this machine answers to, who reaches it, and whether its port is free."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Final

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from playground.errors import InputFault

_BACKLOG: Final = 2048


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


def listening(address: str, port: int) -> socket.socket:
    """Return a socket that listens there. Raises InputFault if the port cannot be had."""
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
    """Build the fault that says why nothing can listen there."""
    problem = getattr(error, "strerror", None) or str(error)
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        problem = "the port is taken: another program listens there"
    return InputFault(problem, where=f"{as_host(address)}:{port}", expected="a free port")


class HostGate:
    """Answers 400 to a name that is not ours: DNS rebinding brings a page under one of its own.

    Starlette's middleware cuts an IPv6 address at its first colon, so `[::1]` is let through here.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        named = [host for host in hosts if not host.startswith("[")]
        self._literal = {host for host in hosts if host.startswith("[")}
        self._app, self._checked = app, TrustedHostMiddleware(app, named, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = Headers(scope=scope).get("host", "") if scope["type"] != "lifespan" else ""
        literal = host[: host.find("]") + 1] in self._literal
        await (self._app if literal else self._checked)(scope, receive, send)
