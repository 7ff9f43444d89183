"""One client's connection: heads are read with bounds, and every refusal is one clear line.

uvicorn's protocol with h11 does the work. What it lacks is here: h11 bounds a head only as long as
it is incomplete, and counts no headers; uvicorn says "Invalid HTTP request received." of all that
h11 refuses, and waits for a head for ever.
"""

from __future__ import annotations

import asyncio
import re
import time
from http import HTTPStatus
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from playground.plugins.proxy.refusals import Refusal, unquoted

MOST_HEADERS: Final = 256
MOST_HEAD: Final = 256 * 1024  # bytes of a request line and its headers
HEAD_SECONDS: Final = 30.0  # in which a head has to come
_LINGER_SECONDS: Final = 1.0
_READ: Final = 32 * 1024  # bytes at a time; of a client whose bytes cost much work ever fewer
_LEAST_READ: Final = 1024
_MOST_WORK: Final = 0.01  # seconds on one reading: chunks of one byte cost a thousand times more
_HEAD_END: Final = re.compile(rb"\n\r?\n")


class BoundedConnection(h11.Connection):
    """h11's connection; `fault` is why it refused what came.

    A head is looked at before h11 reads it. The counts of what has come bound those of what waits
    to be read, so that a look through all of it is needed only where they are passed: what is read
    in all grows with what comes.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MOST_HEAD)
        self.fault: h11.RemoteProtocolError | None = None
        self.looks = 0  # through all that waits
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
        """Raises RemoteProtocolError for a head that is too long, or has too many lines."""
        if self._size <= MOST_HEAD and self._lines <= MOST_HEADERS + 2:
            return
        self.looks += 1
        waiting, _ = self.trailing_data
        self._size, self._lines = len(waiting), waiting.count(b"\n")
        end = _HEAD_END.search(waiting)
        head = waiting[: end.end()] if end else waiting
        if b"\n" not in head[:MOST_HEAD] and len(head) > MOST_HEAD:
            raise h11.RemoteProtocolError("its first line has no end", error_status_hint=414)
        if len(head) > MOST_HEAD:
            told = f"its headers have more than {MOST_HEAD:,} bytes"
            raise h11.RemoteProtocolError(told, error_status_hint=431)
        # of its lines one is the request line, and one is empty
        if head.count(b"\n") > MOST_HEADERS + (2 if end else 1):
            told = f"it has more than {MOST_HEADERS} headers"
            raise h11.RemoteProtocolError(told, error_status_hint=431)


class Protocol(H11Protocol):
    """One connection of a client. It is closed after a refusal, and if no head comes in time."""

    most_connections: int = 1 << 30

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn: BoundedConnection = BoundedConnection()
        self._refused = False
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._read(_READ)
        if len(self.connections) > self.most_connections:
            told = f"there are {self.most_connections} connections already; try again later"
            self._refuse(Refusal(503, "too_many_connections", told), linger=False)
        else:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:  # what is on its way already; closing on it would lose the refusal
            return
        began = time.thread_time()
        super().data_received(data)
        if time.thread_time() - began > _MOST_WORK:
            self._read(max(_LEAST_READ, len(data) // 4))
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._patience is None:
            self._wait_for_head()

    def send_400_response(self, msg: str) -> None:
        """Say why nothing can be read, in place of uvicorn's one sentence for all."""
        fault = self.conn.fault
        status = fault.error_status_hint if fault is not None else 400
        why = unquoted(str(fault)) if fault is not None else msg
        told = f"the request cannot be read: {why}"
        self._refuse(Refusal(status, "unreadable_request", told))

    def _read(self, size: int) -> None:
        """Read so many bytes at a time: the loop has a turn for everybody else between two."""
        if hasattr(self.transport, "max_size"):  # asyncio's own, whose 256 kB no option changes
            self.transport.max_size = size

    def _wait_for_head(self) -> None:
        self._patience = self.loop.call_later(HEAD_SECONDS, self._lose_patience)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        self._patience = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            told = f"no whole head of a request came within {HEAD_SECONDS:g} seconds"
            self._refuse(Refusal(408, "slow_head", told))

    def _refuse(self, refusal: Refusal, *, linger: bool = True) -> None:
        """Answer, and close: what follows cannot be told from what was refused. To `linger` is to
        take what is on its way, since a client that is hung up on reads no answer."""
        self._stop_waiting()
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # nothing more of it can be read
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # in the middle of an answer there is no place for another
            return
        self.transport.write(_answer_bytes(refusal))
        if not linger:
            self.transport.close()
            return
        self.flow.resume_reading()
        self.transport.write_eof()
        self.loop.call_later(_LINGER_SECONDS, self.transport.close)


def _answer_bytes(refusal: Refusal) -> bytes:
    """Return a whole answer. By hand, for h11 has its own mind about what it refused."""
    lines = [f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}".encode()]
    headers = [*refusal.headers(), (b"connection", b"close")]
    lines += [name + b": " + value for name, value in headers]
    return b"\r\n".join([*lines, b"", refusal.body()])


def limited(most_connections: int) -> type[Protocol]:
    """Return the protocol of a server that takes at most so many connections at once."""
    return type("LimitedProtocol", (Protocol,), {"most_connections": most_connections})
