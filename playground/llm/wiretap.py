"""Observe the bytes that LiteLLM sends and receives, with their times.

All requests of LiteLLM go through httpx's transports, which `watch` changes. Inside
`answering_offline`, a request is answered at once and not sent. From any other request, values that
its receiver must not get are removed (`own_servers.py`). Inside `tapped`, the request and its
answer are copied. A redirect to another server is an error. Asynchronous requests are always sent,
and never copied.
"""

from __future__ import annotations

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
from playground.llm.library import litellm
from playground.llm.own_servers import json_object
from playground.recordings.unpacking import CODINGS, Unpacker

if TYPE_CHECKING:
    import httpx


class Watcher(Protocol):
    """Callbacks for a request and its answer; times are seconds since the request was sent."""

    def record_request(self, url: str, request: dict[str, Any]) -> None: ...
    def record_status(self, at: float, status: int) -> None: ...
    def record_bytes(self, at: float, data: bytes) -> None: ...


@dataclass
class Tap:
    """The exchanges of a thread, which are reported to `watcher`.

    `stall` is the longest time without a byte, in seconds. The client gets at most `shown` bytes of
    an answer, because clients keep it in memory; the watcher gets all.
    """

    watcher: Watcher
    keep_on: Callable[[], bool]
    stall: float
    shown: int
    size: int = 0
    close: Callable[[], None] = lambda: None
    hung_up: bool = False
    fault: BaseException | None = (
        None  # a redirect, or an error of the watcher, after which clients must not retry
    )
    _socket: Any = None

    def hang_up(self) -> None:
        """End the exchange. Any thread may call this; the thread that waits for bytes then stops
        waiting."""
        self.hung_up = True
        with suppress(OSError, AttributeError):  # the socket may be closed, or not open yet
            self._socket.shutdown(socket.SHUT_RDWR)

    def connected(self, stream: Any) -> None:
        """Store the connection. If the exchange has already ended, close the connection at once."""
        self._socket = stream.get_extra_info("socket")
        if self.hung_up:
            self.hang_up()

    def report(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call the watcher. An error in the callback ends the exchange."""
        try:
            callback(*arguments)
        except BaseException as error:
            self.fault = error
            self.hang_up()
            raise


Responder = Callable[[str, str, dict[str, Any]], tuple[int, dict[str, Any]]]

_open_taps: dict[int, Tap] = {}  # by thread id, so that parallel runs do not mix
_offline_responders: dict[int, Responder] = {}


@contextmanager
def tapped(tap: Tap) -> Iterator[Tap]:
    """Report this thread's exchanges to the tap's watcher, during the block.

    If the tap's `keep_on` returns True, the rest of an answer is read when the client closes the
    stream, because LiteLLM stops before the last frame of some streams.
    """
    watch()
    _open_taps[threading.get_ident()] = tap
    try:
        yield tap
    finally:
        tap.close()  # this may read the rest of an answer
        del _open_taps[threading.get_ident()]


@contextmanager
def answering_offline(answer: Responder) -> Iterator[None]:
    """Answer this thread's requests without sending them: `answer` returns a status and a JSON
    body."""
    watch()
    _offline_responders[threading.get_ident()] = answer
    try:
        yield
    finally:
        del _offline_responders[threading.get_ident()]


@cache
def watch() -> None:
    """Replace the `handle` methods of httpx's transports by ours, once per process."""
    litellm()  # if it is missing, its error names the extra, which also brings httpx
    import httpx

    send = httpx.HTTPTransport.handle_request
    send_async = httpx.AsyncHTTPTransport.handle_async_request

    def handle(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if (answer := _offline_responders.get(threading.get_ident())) is not None:
            return _offline_response(request, answer)
        _close_abandoned()
        tap = _open_taps.get(threading.get_ident())
        clean = own_servers.clean_request(request)
        sender = partial(send, self)
        response = _keep_open(sender(clean)) if tap is None else _send_tapped(clean, tap, sender)
        fault = own_servers.redirect_fault(clean, response, watched=tap is not None)
        if fault is None:
            return response
        if tap is not None:
            tap.fault = fault
            tap.hang_up()  # the body of the redirect may have no end
        response.close()
        raise fault

    async def handle_async(
        self: httpx.AsyncHTTPTransport, request: httpx.Request
    ) -> httpx.Response:
        clean = own_servers.clean_request(request)
        response = await send_async(self, clean)
        if fault := own_servers.redirect_fault(clean, response, watched=False):
            await response.aclose()
            raise fault
        return response

    httpx.HTTPTransport.handle_request = handle  # type: ignore[method-assign]
    httpx.AsyncHTTPTransport.handle_async_request = handle_async  # type: ignore[method-assign]
    _refuse_unwatched()


def _refuse_unwatched() -> None:
    """Refuse requests by httpx2 from a thread that is tapped or answered offline. OpenAI's client
    uses httpx2 from 3.0 on. LiteLLM gives it an httpx client, so nothing is refused now. If that
    changes, requests would silently go around our transports."""
    if find_spec("httpx2") is None:
        return
    import httpx2

    def refusing(send: Callable[..., Any]) -> Callable[..., Any]:
        def handle(self: Any, request: Any) -> Any:
            thread = threading.get_ident()
            if thread in _offline_responders or thread in _open_taps:
                raise RuntimeError("LiteLLM sends by httpx2, whose requests cannot be watched")
            return send(self, request)

        return handle

    for transport, name in (
        (httpx2.HTTPTransport, "handle_request"),
        (httpx2.AsyncHTTPTransport, "handle_async_request"),
    ):
        setattr(transport, name, refusing(getattr(transport, name)))


def _send_tapped(
    request: httpx.Request, tap: Tap, send: Callable[[httpx.Request], httpx.Response]
) -> httpx.Response:
    """Send a request and return its answer; report both to the tap's watcher."""
    if tap.fault is not None:  # an earlier request failed, and the client retries
        raise tap.fault
    request.headers["accept-encoding"] = "identity"
    request.headers["connection"] = "close"  # a new connection each time: only that can be closed
    start = time.perf_counter()
    url = str(request.url.copy_with(query=None, username=None, password=None))
    tap.size = 0
    tap.report(tap.watcher.record_request, url, json_object(request))
    _guard(request, tap)
    response = send(request)
    tap.report(tap.watcher.record_status, time.perf_counter() - start, response.status_code)
    copied = _copy_stream(_unpack(response), tap, start)
    response.stream, tap.close = copied, copied.close
    return response


class _UnpackedBody:
    """A body that is compressed by gzip or deflate; to iterate over it yields unpacked bytes."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.close = inner.close

    def __iter__(self) -> Iterator[bytes]:
        unpacker = Unpacker()
        for packed in self._inner:
            yield from unpacker.pieces(packed)


def _unpack(response: httpx.Response) -> Any:
    """Return the body, decompressed for recording, because some servers compress it unasked."""
    if response.headers.get("content-encoding", "").lower() not in CODINGS:
        return response.stream
    del response.headers["content-encoding"]
    response.headers.pop("content-length", None)
    return _UnpackedBody(response.stream)


def _copy_stream(inner: Any, tap: Tap, start: float) -> Any:
    """Return the stream of an answer; it reports to the watcher while the client reads."""
    import httpx

    class Copied(httpx.SyncByteStream):
        def __init__(self) -> None:
            self._pieces, self._closed = iter(inner), False

        def __iter__(self) -> Iterator[bytes]:
            for piece in self._pieces:
                tap.size += len(piece)
                tap.report(tap.watcher.record_bytes, time.perf_counter() - start, piece)
                if tap.hung_up:
                    return
                if tap.size <= tap.shown:
                    yield piece

        def close(self) -> None:
            if self._closed:
                return
            self._closed = True
            with suppress(Exception):  # the client has finished; keep the bytes so far
                if tap.keep_on():
                    deque(self, maxlen=0)
            inner.close()

    return Copied()


def _guard(request: Any, tap: Tap) -> None:
    """Set a request's time limits, and pass its connection to the tap."""

    def trace(name: str, info: dict[str, Any]) -> None:
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            tap.connected(info["return_value"])

    limits = dict.fromkeys(("connect", "read", "write", "pool"), tap.stall)
    request.extensions = {**request.extensions, "timeout": limits, "trace": trace}


def _offline_response(request: Any, answer: Responder) -> httpx.Response:
    import httpx

    status, body = answer(request.method, str(request.url), json_object(request))
    return httpx.Response(status, json=body, request=request)


# LiteLLM stops at a stream's last frame, and a caller may stop earlier. Python's garbage collector
# would then close httpcore's objects at any moment. If the same thread held the lock that closing
# needs, it would block for ever. So open answers are referenced here, and abandoned answers are
# closed before the next request.
_open: dict[object, tuple[Any, Iterator[bytes]]] = {}  # each key is a new `object()`
_abandoned: deque[object] = deque()  # the keys of abandoned answers


def _keep_open(response: httpx.Response) -> httpx.Response:
    """Wrap an answer's body so that the garbage collector does not close it; return the answer."""
    response.stream = _kept_stream_class()(response.stream)
    return response


def _close_abandoned() -> None:
    """Close abandoned answers. Must be called only while this thread runs no request."""
    with suppress(IndexError):  # none is left, perhaps because of another thread
        while True:
            stream, _ = _open.pop(_abandoned.popleft())
            with suppress(Exception):  # raised if the connection is gone
                stream.close()


@cache
def _kept_stream_class() -> type[Any]:
    import httpx

    class KeptStream(httpx.SyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream, self._place = stream, object()
            self._pieces: Iterator[bytes] = iter(stream)
            _open[self._place] = (stream, self._pieces)

        def __iter__(self) -> Iterator[bytes]:
            return self

        def __next__(self) -> bytes:
            return next(self._pieces)

        def close(self) -> None:
            if _open.pop(self._place, None):
                self._stream.close()

        def __del__(self) -> None:
            if self._place in _open:
                _abandoned.append(self._place)

    return KeptStream
