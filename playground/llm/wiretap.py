"""The bytes under LiteLLM: what is sent and what comes back, with the times of arrival.

All of LiteLLM's calls pass httpx's transports, and `watch` looks at them there, in one place and
one order. A request `behind_closed_door` is answered on the spot. Any other is cleaned of what is
not for its receiver (`own_servers.py`); within `tapped` what is sent then is copied, with the
answer; and an answer that leads to another server is none.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from playground.llm import own_servers
from playground.llm.unread import close_left, held
from playground.recordings.unpacking import CODINGS, Unpacker

if TYPE_CHECKING:
    import httpx


class Watcher(Protocol):
    """A callback for what passes; times are seconds since the request left."""

    def sent(self, url: str, request: dict[str, Any]) -> None: ...
    def status(self, at: float, status: int) -> None: ...
    def piece(self, at: float, data: bytes) -> None: ...


@dataclass
class Tap:
    """One thread's exchanges as they pass; `watcher` is told of each, of the last one at the end.

    `stall` is how long nothing may come, in seconds; `shown` how many bytes of an answer the
    client gets: what is after them is told to the watcher alone, since clients keep what they get.
    """

    watcher: Watcher
    keep_on: Callable[[], bool]
    stall: float
    shown: int
    size: int = 0
    close: Callable[[], None] = lambda: None
    hung_up: bool = False
    fault: BaseException | None = None  # of the watcher, which no client is to retry
    _socket: Any = None

    def hang_up(self) -> None:
        """End the exchange, from whatever thread: who waits for the next byte waits no more."""
        self.hung_up = True
        with suppress(OSError, AttributeError):  # it may be gone, or not be there yet
            self._socket.shutdown(socket.SHUT_RDWR)

    def connected(self, stream: Any) -> None:
        """This is the connection; one that comes too late is closed at once."""
        self._socket = stream.get_extra_info("socket")
        if self.hung_up:
            self.hang_up()

    def tell(self, told: Callable[..., None], *what: Any) -> None:
        """Tell the watcher; what it raises ends the exchange."""
        try:
            told(*what)
        except BaseException as error:
            self.fault = error
            self.hang_up()
            raise


Responder = Callable[[str, str, dict[str, Any]], tuple[int, dict[str, Any]]]

_open_taps: dict[int, Tap] = {}  # by thread: runs at the same time do not see one another
_closed_doors: dict[int, Responder] = {}


@contextmanager
def tapped(tap: Tap) -> Iterator[Tap]:
    """Tell this thread's exchanges to the tap's watcher.

    `keep_on` says whether what a client leaves unread is still to be read: LiteLLM hangs up before
    the last frame of some streams.
    """
    watch()
    _open_taps[threading.get_ident()] = tap
    try:
        yield tap
    finally:
        tap.close()  # what a client leaves unread may have to be read
        del _open_taps[threading.get_ident()]


@contextmanager
def behind_closed_door(answer: Responder) -> Iterator[None]:
    """Responder this thread's requests (method, URL, body) by a status and a JSON body."""
    watch()
    _closed_doors[threading.get_ident()] = answer
    try:
        yield
    finally:
        del _closed_doors[threading.get_ident()]


@cache
def watch() -> None:
    """Put our transports in the place of httpx's, once a process."""
    import httpx

    send = httpx.HTTPTransport.handle_request
    send_async = httpx.AsyncHTTPTransport.handle_async_request

    def handle(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if (answer := _closed_doors.get(threading.get_ident())) is not None:
            return _answered(request, answer)
        close_left()
        tap = _open_taps.get(threading.get_ident())
        clean = own_servers.cleaned(request)
        sender = partial(send, self)
        response = held(sender(clean)) if tap is None else _sent(clean, tap, sender)
        fault = own_servers.led_away(clean, response, watched=tap is not None)
        if fault is None:
            return response
        if tap is not None:
            tap.fault = fault
            tap.hang_up()  # its body may have no end
        response.close()
        raise fault

    async def handle_async(
        self: httpx.AsyncHTTPTransport, request: httpx.Request
    ) -> httpx.Response:
        clean = own_servers.cleaned(request)
        response = await send_async(self, clean)
        if fault := own_servers.led_away(clean, response, watched=False):
            await response.aclose()
            raise fault
        return response

    httpx.HTTPTransport.handle_request = handle  # type: ignore[method-assign]
    httpx.AsyncHTTPTransport.handle_async_request = handle_async  # type: ignore[method-assign]
    _refuse_unwatched()


def _refuse_unwatched() -> None:
    """Refuse what a tapped thread, or one behind a closed door, sends by httpx2.

    OpenAI's client has it from 3.0 on. LiteLLM gives that client one of httpx, so that nothing is
    refused; if it ever did not, requests would leave uncleaned, and nobody would know.
    """
    if find_spec("httpx2") is None:
        return
    import httpx2

    def refusing(send: Callable[..., Any]) -> Callable[..., Any]:
        def handle(self: Any, request: Any) -> Any:
            thread = threading.get_ident()
            if thread in _closed_doors or thread in _open_taps:
                raise RuntimeError("LiteLLM sends by httpx2, where nothing is watched")
            return send(self, request)

        return handle

    for transport, name in (
        (httpx2.HTTPTransport, "handle_request"),
        (httpx2.AsyncHTTPTransport, "handle_async_request"),
    ):
        setattr(transport, name, refusing(getattr(transport, name)))


def _sent(
    request: httpx.Request, tap: Tap, send: Callable[[httpx.Request], httpx.Response]
) -> httpx.Response:
    """Return the answer to a request, both told to the tap's watcher as they pass."""
    if tap.fault is not None:  # a client that tries again
        raise tap.fault
    request.headers["accept-encoding"] = "identity"
    request.headers["connection"] = "close"  # a new one is one that can be hung up
    began = time.perf_counter()
    url = str(request.url.copy_with(query=None, username=None, password=None))
    tap.size = 0
    tap.tell(tap.watcher.sent, url, _body(request))
    _guard(request, tap)
    response = send(request)
    tap.tell(tap.watcher.status, time.perf_counter() - began, response.status_code)
    copied = _copied(_unpacked(response), tap, began)
    response.stream, tap.close = copied, copied.close
    return response


class _Unpacked:
    """A body packed as gzip or deflate."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.close = inner.close

    def __iter__(self) -> Iterator[bytes]:
        unpacker = Unpacker()
        for packed in self._inner:
            yield from unpacker.pieces(packed)


def _unpacked(response: httpx.Response) -> Any:
    """Return the body as it is recorded, counted and searched: some servers pack what nobody asked
    for.
    """
    if response.headers.get("content-encoding", "").lower() not in CODINGS:
        return response.stream
    del response.headers["content-encoding"]
    response.headers.pop("content-length", None)
    return _Unpacked(response.stream)


def _copied(inner: Any, tap: Tap, began: float) -> Any:
    """Return the stream of an answer, told to the watcher while the client reads it."""
    import httpx

    class Copied(httpx.SyncByteStream):
        def __init__(self) -> None:
            self._pieces, self._closed = iter(inner), False

        def __iter__(self) -> Iterator[bytes]:
            for piece in self._pieces:
                tap.size += len(piece)
                tap.tell(tap.watcher.piece, time.perf_counter() - began, piece)
                if tap.hung_up:
                    return
                if tap.size <= tap.shown:
                    yield piece

        def close(self) -> None:
            if self._closed:
                return
            self._closed = True
            with suppress(Exception):  # the client is done; what came is kept
                if tap.keep_on():
                    deque(self, maxlen=0)
            inner.close()

    return Copied()


def _guard(request: Any, tap: Tap) -> None:
    """Limits of time for this request, and its connection as soon as there is one."""

    def trace(name: str, info: dict[str, Any]) -> None:
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            tap.connected(info["return_value"])

    limits = dict.fromkeys(("connect", "read", "write", "pool"), tap.stall)
    request.extensions = {**request.extensions, "timeout": limits, "trace": trace}


def _answered(request: Any, answer: Responder) -> httpx.Response:
    """Return the response of a closed door."""
    import httpx

    status, body = answer(request.method, str(request.url), _body(request))
    return httpx.Response(status, json=body, request=request)


def _body(request: Any) -> dict[str, Any]:
    try:
        value = json.loads(request.content)
    except (ValueError, RuntimeError):  # RuntimeError: a body that is a stream
        return {}
    return value if isinstance(value, dict) else {}
