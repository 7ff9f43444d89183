"""The bytes under LiteLLM: what is sent and what comes back, with the times of arrival.

All of LiteLLM's synchronous calls, by whatever client, pass `httpx.HTTPTransport.handle_request`;
within `tapped` those of this thread are copied, and nothing is changed but the encoding asked for.
Within `behind_closed_door` they are answered on the spot, and nothing leaves the process.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx


@dataclass
class Wire:
    """One exchange as it passed: the request's body, and pieces with seconds since the request."""

    keep_on: Callable[[], bool]
    url: str = ""
    status: int = 0
    request: dict[str, Any] = field(default_factory=dict)
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    close: Callable[[], None] = lambda: None


Answer = Callable[[str, str, dict[str, Any]], tuple[int, dict[str, Any]]]

_open_taps: dict[int, Wire] = {}  # by thread: runs at the same time do not see one another
_closed_doors: dict[int, Answer] = {}


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
        # a stream left to the garbage collector is closed at any moment, also while httpcore holds
        # the lock that closing takes: a deadlock
        wire.close()
        del _open_taps[threading.get_ident()]


@contextmanager
def behind_closed_door(answer: Answer) -> Iterator[None]:
    """Answer this thread's requests (method, URL, body) by a status and a JSON body."""
    _install()
    _closed_doors[threading.get_ident()] = answer
    try:
        yield
    finally:
        del _closed_doors[threading.get_ident()]


@cache
def _install() -> None:
    """Put the copying transport in the original's place, once: without a tap it only passes on."""
    import httpx

    original = httpx.HTTPTransport.handle_request

    class Copied(httpx.SyncByteStream):
        def __init__(self, inner: Any, wire: Wire, began: float) -> None:
            self._inner, self._pieces = inner, iter(inner)
            self._wire, self._began, self._closed = wire, began, False

        def __iter__(self) -> Iterator[bytes]:
            for piece in self._pieces:
                self._wire.pieces.append((time.perf_counter() - self._began, piece))
                yield piece

        def close(self) -> None:
            if self._closed:
                return
            self._closed = True
            with suppress(Exception):  # the client is done; what came is kept
                if self._wire.keep_on():
                    deque(self, maxlen=0)
            self._inner.close()

    def handle(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if (answer := _closed_doors.get(threading.get_ident())) is not None:
            return _answered(request, answer)
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
        wire.close = response.stream.close
        return response

    httpx.HTTPTransport.handle_request = handle  # type: ignore[method-assign]


def _answered(request: Any, answer: Answer) -> httpx.Response:
    """The response of a closed door."""
    import httpx

    status, body = answer(request.method, str(request.url), _body(request))
    return httpx.Response(status, json=body, request=request)


def _body(request: Any) -> dict[str, Any]:
    try:
        value = json.loads(request.content)
    except (ValueError, RuntimeError):  # RuntimeError: a body that is a stream
        return {}
    return value if isinstance(value, dict) else {}
