"""Close answers that a client has not read to their end, when it is safe.

LiteLLM stops at a stream's last frame, and a caller may stop earlier. Python's garbage collector
would then close httpcore's objects at any moment. If the same thread held the lock that closing
needs, it would block for ever. So open answers are referenced here, and abandoned answers are
closed before the next request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

_open: dict[object, tuple[Any, Iterator[bytes]]] = {}  # each key is a new `object()`
_abandoned: deque[object] = deque()  # the keys of abandoned answers


def keep_open(response: httpx.Response) -> httpx.Response:
    """Wrap an answer's body so that the garbage collector does not close it; return the answer."""
    response.stream = _kept_stream_class()(response.stream)
    return response


def close_abandoned() -> None:
    """Close abandoned answers. Must be called only while this thread runs no request."""
    with suppress(IndexError):  # none is left, perhaps because of another thread
        while True:
            stream, _ = _open.pop(_abandoned.popleft())
            with suppress(Exception):  # raised if the connection is gone
                stream.close()


@cache
def _kept_stream_class() -> type[Any]:
    import httpx

    class Held(httpx.SyncByteStream):
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

    return Held
