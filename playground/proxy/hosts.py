"""Which names a server on this machine answers to, and which addresses reach this machine alone."""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send


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
