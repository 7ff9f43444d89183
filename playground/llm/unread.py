"""Answers that a client leaves unread, closed where that is safe.

LiteLLM stops at a stream's last frame, and who streams may stop before. What httpcore has for such
an answer was then closed by Python's collector: at any moment, also while the same thread held the
lock that closing takes, which stopped it for ever. So the open ones are held here, and what
was left is closed before the next request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

_open: dict[object, tuple[Any, Iterator[bytes]]] = {}  # by what stands for each, and dies last
_left: deque[object] = deque()  # of those, what nobody can read any more


def held(response: httpx.Response) -> httpx.Response:
    """Return the answer, whose body the collector does not close."""
    response.stream = _held_stream()(response.stream)
    return response


def close_left() -> None:
    """Close what was left unread. It may be called wherever no request is under way."""
    with suppress(IndexError):  # all are closed, here or by another thread
        while True:
            stream, _ = _open.pop(_left.popleft())
            with suppress(Exception):  # the connection may be gone
                stream.close()


@cache
def _held_stream() -> type[Any]:
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
                _left.append(self._place)

    return Held
