"""The client that asks upstreams: bytes go out as they came, and nothing is kept between requests.

httpx's transports, without its client: that one reads cookies (with a look through all headers for
each header), builds redirects, and writes addresses anew.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from playground.base.errors import InputFault
from playground.plugins.proxy.upstream import Upstream, password_secrets

_CONNECT_SECONDS: Final = 30.0
# It waits as long as its own client does.
_TIMEOUT: Final = httpx.Timeout(None, connect=_CONNECT_SECONDS).as_dict()
_LIMITS: Final = httpx.Limits(max_connections=None, max_keepalive_connections=256)
_DIRECT: Final = ""


class ExactUrl(httpx.URL):
    """An address whose path and query are sent as they are: httpx would mend them."""

    def __init__(self, origin: str, target: str) -> None:
        super().__init__(origin)
        self._target = target.encode("latin-1")

    @property
    def raw_path(self) -> bytes:
        return self._target


class UpstreamClient:
    """Connections to upstreams, through the environment's proxies where it names them.

    Raises InputFault for a proxy that no connection can be made through.
    """

    def __init__(self) -> None:
        self._proxies = {
            scheme: address
            for scheme, address in getproxies().items()
            if scheme in ("http", "https", "all") and address
        }
        self._transports = {_DIRECT: httpx.AsyncHTTPTransport(limits=_LIMITS)}
        for scheme, address in self._proxies.items():
            self._transports[scheme] = _through(scheme, address)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is secret of the environment's proxies' addresses."""
        users = (each.rpartition("@")[0].rpartition("://")[2] for each in self._proxies.values())
        return tuple(secret for user in users if user for secret in password_secrets(user))

    async def send(
        self,
        method: str,
        upstream: Upstream,
        target: str,
        headers: Sequence[tuple[bytes, bytes]],
        content: AsyncIterator[bytes] | bytes | None,
    ) -> httpx.Response:
        """Send a request; the answer's body is still to be read. Raises httpx.HTTPError."""
        request = httpx.Request(
            method,
            upstream.origin,
            headers=list(headers),
            content=content,
            extensions={"timeout": _TIMEOUT},
        )
        request.url = ExactUrl(upstream.origin, target)
        transport = self._transports[self._route(request.url)]
        return await transport.handle_async_request(request)

    async def close(self) -> None:
        """Close all connections."""
        for transport in self._transports.values():
            await transport.aclose()

    def _route(self, url: httpx.URL) -> str:
        """Return which of the environment's proxies leads to an address."""
        scheme = next((each for each in (url.scheme, "all") if each in self._proxies), _DIRECT)
        if scheme and proxy_bypass(f"{url.host}:{url.port}" if url.port else url.host):
            return _DIRECT
        return scheme


def _through(scheme: str, address: str) -> httpx.AsyncHTTPTransport:
    address = address if "://" in address else f"http://{address}"
    try:
        _ = urlsplit(address).port  # which httpx does not look at
        proxy = httpx.Proxy(address)
        return httpx.AsyncHTTPTransport(limits=_LIMITS, proxy=proxy)
    except (ValueError, httpx.InvalidURL, ImportError):  # their words quote the address
        raise InputFault(
            "this is no address of a proxy that can be used (not shown: it may hold a password)",
            where=f"{scheme.upper()}_PROXY",
            expected="http://host:port or https://host:port",
        ) from None
