"""The bytes under LiteLLM: what is sent and what comes back, with the times of arrival.

All of LiteLLM's synchronous calls, by whatever client, pass `httpx.HTTPTransport.handle_request`;
within `tapped` those of this thread are copied, and nothing is changed but the encoding asked for.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any


@dataclass
class Wire:
    """One exchange as it passed: the request's body, and pieces with seconds since the request."""

    keep_on: Callable[[], bool]
    url: str = ""
    status: int = 0
    request: dict[str, Any] = field(default_factory=dict)
    pieces: list[tuple[float, bytes]] = field(default_factory=list)


_open_taps: dict[int, Wire] = {}  # by thread: runs at the same time do not see one another


@contextmanager
def tapped(keep_on: Callable[[], bool]) -> Iterator[Wire]:
    """Copy this thread's exchanges into the wire that is given; the last one is kept.

    `keep_on` says whether what a client leaves unread is still to be read: LiteLLM hangs up before
    the last frame of some streams.
    """
    _install()
    wire = _open_taps[threading.get_ident()] = Wire(keep_on)
    try:
        yield wire
    finally:
        del _open_taps[threading.get_ident()]


@cache
def _install() -> None:
    """Put the copying transport in the original's place, once: without a tap it only passes on."""
    import httpx

    original = httpx.HTTPTransport.handle_request

    class Copied(httpx.SyncByteStream):
        def __init__(self, inner: Any, wire: Wire, began: float) -> None:
            self._inner, self._pieces = inner, iter(inner)
            self._wire, self._began = wire, began

        def __iter__(self) -> Iterator[bytes]:
            for piece in self._pieces:
                self._wire.pieces.append((time.perf_counter() - self._began, piece))
                yield piece

        def close(self) -> None:
            try:
                if self._wire.keep_on():
                    for _ in self:
                        pass
            except Exception:  # noqa: BLE001, S110: the client is done; what came is kept
                pass
            self._inner.close()

    def handle(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        wire = _open_taps.get(threading.get_ident())
        if wire is None:
            return original(self, request)
        request.headers["accept-encoding"] = "identity"
        began = time.perf_counter()
        wire.url = str(request.url.copy_with(query=None))
        wire.request, wire.pieces = _body(request), []
        response = original(self, request)
        wire.status = response.status_code
        response.stream = Copied(response.stream, wire, began)
        return response

    httpx.HTTPTransport.handle_request = handle  # type: ignore[method-assign]


def _body(request: Any) -> dict[str, Any]:
    try:
        value = json.loads(request.content)
    except (ValueError, RuntimeError):  # RuntimeError: a body that is a stream
        return {}
    return value if isinstance(value, dict) else {}
