"""A client's connection, with limits on a request's head and a clear line for each refusal.

It extends uvicorn's protocol and h11. h11 limits the size of a head only while the head is
incomplete, and does not count headers. uvicorn answers "Invalid HTTP request received." to
everything that h11 refuses, and has no time limit for a head.
"""

from __future__ import annotations

import asyncio
import re
import time
from http import HTTPStatus
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from playground.plugins.proxy.refusals import Refusal, strip_quoted_bytes

MOST_HEADERS: Final = 256
MOST_HEAD: Final = 256 * 1024  # bytes of a request line and its headers
HEAD_SECONDS: Final = 30.0  # the time that a client has to send a head
_LINGER_SECONDS: Final = 1.0
# The most bytes that are read at once. Reading HTTP chunks of one byte takes a thousand times the
# usual work, so after a read that took more than `_MOST_WORK` seconds, fewer bytes are read.
_MOST_READ: Final = 32 * 1024
_LEAST_READ: Final = 1024
_MOST_WORK: Final = 0.01
_HEAD_END: Final = re.compile(rb"\n\r?\n")


class BoundedConnection(h11.Connection):
    """h11's connection, with limits on the size of a head; `fault` is the error that was raised.

    A head is checked before h11 reads it. Received bytes and lines are counted, and the waiting
    data is searched only if a count passes a limit. So the work grows linearly with the data, even
    if the data comes byte by byte. `looks` counts the searches.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MOST_HEAD)
        self.fault: h11.RemoteProtocolError | None = None
        self.looks = 0
        self._size = self._lines = 0

    def receive_data(self, data: bytes) -> None:
        self._size += len(data)
        self._lines += data.count(b"\n")
        super().receive_data(data)

    def next_event(self) -> Any:
        try:
            if self.their_state is h11.IDLE:
                self._check_head()
            return super().next_event()
        except h11.RemoteProtocolError as error:
            self.fault = error
            raise

    def _check_head(self) -> None:
        """Raise RemoteProtocolError if the waiting head is too long or has too many lines."""
        if self._size <= MOST_HEAD and self._lines <= MOST_HEADERS + 2:
            return
        self.looks += 1
        waiting, _ = self.trailing_data
        self._size, self._lines = len(waiting), waiting.count(b"\n")
        end = _HEAD_END.search(waiting)
        head = waiting[: end.end()] if end else waiting
        if b"\n" not in head[:MOST_HEAD] and len(head) > MOST_HEAD:
            reason = f"its first line has more than {MOST_HEAD:,} bytes"
            raise h11.RemoteProtocolError(reason, error_status_hint=414)
        if len(head) > MOST_HEAD:
            reason = f"its headers have more than {MOST_HEAD:,} bytes"
            raise h11.RemoteProtocolError(reason, error_status_hint=431)
        # besides the headers: the request line, and an empty line at the end
        if head.count(b"\n") > MOST_HEADERS + (2 if end else 1):
            reason = f"it has more than {MOST_HEADERS} headers"
            raise h11.RemoteProtocolError(reason, error_status_hint=431)


class Protocol(H11Protocol):
    """A client's connection, which is closed after a refusal, or if no head comes in time."""

    most_connections: int = 1 << 30

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn: BoundedConnection = BoundedConnection()
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit_reads(_MOST_READ)
        if len(self.connections) > self.most_connections:
            reason = f"there are {self.most_connections} connections already; try again later"
            self._refuse(Refusal(503, "too_many_connections", reason), linger=False)
        else:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:  # still receiving, because closing now would lose the refusal
            return
        began = time.thread_time()
        super().data_received(data)
        if time.thread_time() - began > _MOST_WORK:
            self._limit_reads(max(_LEAST_READ, len(data) // 4))
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_timer is None:
            self._start_timer()

    def send_400_response(self, msg: str) -> None:
        """Refuse the request with h11's reason instead of uvicorn's sentence."""
        fault = self.conn.fault
        status = fault.error_status_hint if fault is not None else 400
        cause = strip_quoted_bytes(str(fault)) if fault is not None else msg
        reason = f"the request cannot be read: {cause}"
        self._refuse(Refusal(status, "unreadable_request", reason))

    def _limit_reads(self, size: int) -> None:
        """Read at most `size` bytes at once, so that other connections get their turn."""
        if hasattr(self.transport, "max_size"):  # asyncio's attribute: no option changes its 256 kB
            self.transport.max_size = size

    def _start_timer(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse_slow_head)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse_slow_head(self) -> None:
        self._head_timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            reason = f"no whole head of a request came within {HEAD_SECONDS:g} seconds"
            self._refuse(Refusal(408, "slow_head", reason))

    def _refuse(self, refusal: Refusal, *, linger: bool = True) -> None:
        """Answer with a refusal and close the connection, because further data cannot be read
        safely. With `linger`, go on receiving for a moment, because a client that still sends would
        not read the answer from a closed connection.
        """
        self._stop_timer()
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # nothing more can be read
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # an answer has already begun
            return
        self.transport.write(_answer_bytes(refusal))
        if not linger:
            self.transport.close()
            return
        self.flow.resume_reading()
        self.transport.write_eof()
        self.loop.call_later(_LINGER_SECONDS, self.transport.close)


def _answer_bytes(refusal: Refusal) -> bytes:
    """Return a refusal as the bytes of an HTTP answer, because h11 sends nothing after an error."""
    lines = [f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}".encode()]
    headers = [*refusal.headers(), (b"connection", b"close")]
    lines += [name + b": " + value for name, value in headers]
    return b"\r\n".join([*lines, b"", refusal.body()])


def protocol_for(most_connections: int) -> type[Protocol]:
    """Return the protocol class for a server with at most `most_connections` at once."""
    return type("LimitedProtocol", (Protocol,), {"most_connections": most_connections})
