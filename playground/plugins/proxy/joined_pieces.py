"""Join pieces of a body that have already arrived, so that tiny pieces do not block the event loop.

A small piece takes as much work as a large one. For example, 200,000 pieces of one byte blocked the
loop for seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

_MOST_WAITING: Final = 256 * 1024  # bytes
_TURN_SECONDS: Final = 0.003  # of reading, before other tasks get their turn


async def join_pieces(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield a body as it comes. Pieces that have arrived already are joined; no piece waits for
    pieces that are still to come."""
    waiting: list[bytes] = []
    changed = asyncio.Event()  # set when a piece has come, or the end
    taken = asyncio.Event()  # set when the waiting pieces were joined
    reading = asyncio.ensure_future(_read(pieces, waiting, changed, taken))
    reading.add_done_callback(lambda _: changed.set())
    try:
        while True:
            await changed.wait()
            changed.clear()
            is_over = reading.done()
            data = b"".join(waiting)
            waiting.clear()
            taken.set()
            if data:
                yield data
            if is_over:
                reading.result()  # raises the error of reading, if any
                return
    finally:
        reading.cancel()
        with suppress(BaseException):  # raised above already, or the caller has stopped
            await reading


async def _read(
    pieces: AsyncIterator[bytes], waiting: list[bytes], changed: asyncio.Event, taken: asyncio.Event
) -> None:
    """Add the pieces to `waiting`; pause while too many bytes wait."""
    size, turn = 0, time.perf_counter()
    async for data in pieces:
        size = size + len(data) if waiting else len(data)
        waiting.append(data)
        changed.set()
        if size > _MOST_WAITING:
            taken.clear()
            await taken.wait()
        elif time.perf_counter() - turn > _TURN_SECONDS:
            await asyncio.sleep(0)
            turn = time.perf_counter()
