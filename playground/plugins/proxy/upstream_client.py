"""The client that sends requests to upstreams (the addresses to forward to): byte for byte, and
without state between requests. It uses httpx's transports. httpx's own client stores cookies,
follows redirects, rewrites addresses, and is slow with many headers.
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
# No time limit for an answer, because the proxy waits as long as the agent does.
_TIMEOUT: Final = httpx.Timeout(None, connect=_CONNECT_SECONDS).as_dict()
_LIMITS: Final = httpx.Limits(max_connections=None, max_keepalive_connections=256)
_DIRECT: Final = ""


class ExactUrl(httpx.URL):
    """An address whose path and query are sent unchanged; httpx would normalise them."""

    def __init__(self, origin: str, target: str) -> None:
        super().__init__(origin)
        self._target = target.encode("latin-1")

    @property
    def raw_path(self) -> bytes:
        return self._target


class UpstreamClient:
    """The connections to upstreams, through the environment's proxies, if there are any. Raises
    InputFault if such a proxy's address cannot be used.
    """

    def __init__(self) -> None:
        self._proxies = {
            scheme: address
            for scheme, address in getproxies().items()
            if scheme in ("http", "https", "all") and address
        }
        self._transports = {_DIRECT: httpx.AsyncHTTPTransport(limits=_LIMITS)}
        for scheme, address in self._proxies.items():
            self._transports[scheme] = _proxy_transport(scheme, address)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets in the addresses of the environment's proxies."""
        addresses = self._proxies.values()
        users = (address.rpartition("@")[0].rpartition("://")[2] for address in addresses)
        return tuple(secret for user in users if user for secret in password_secrets(user))

    async def send(
        self,
        method: str,
        upstream: Upstream,
        target: str,
        headers: Sequence[tuple[bytes, bytes]],
        content: AsyncIterator[bytes] | bytes | None,
    ) -> httpx.Response:
        """Send a request and return its response, whose body is not read yet.

        Raises httpx.HTTPError, httpx.InvalidURL or OSError.
        """
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
        """Return the key in `_transports` for an address: its scheme, "all", or "" for no proxy."""
        key = next((each for each in (url.scheme, "all") if each in self._proxies), _DIRECT)
        if key and proxy_bypass(f"{url.host}:{url.port}" if url.port else url.host):
            return _DIRECT
        return key


def _proxy_transport(scheme: str, address: str) -> httpx.AsyncHTTPTransport:
    address = address if "://" in address else f"http://{address}"
    try:
        _ = urlsplit(address).port  # raises ValueError for a bad port; httpx does not check it
        proxy = httpx.Proxy(address)
        return httpx.AsyncHTTPTransport(limits=_LIMITS, proxy=proxy)
    except (ValueError, httpx.InvalidURL, ImportError):  # the errors' messages quote the address
        raise InputFault(
            "this is not the address of a usable proxy (not shown: it may hold a password)",
            where=f"{scheme.upper()}_PROXY",
            expected="http://host:port or https://host:port",
        ) from None
