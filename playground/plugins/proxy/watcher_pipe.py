"""The forwarding process's end of the pipe: it sends events, and gets lines and verdicts back.

To limit the memory, forwarding waits while over 64 MB are queued for the watching process. If that
process dies, another is started, and forwarding continues.
"""

from __future__ import annotations

import asyncio
import json
import marshal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from playground.base.confined.frames import read_frame, write_frame
from playground.plugins.proxy.watched_run import WatchedRun

MOST_WAITING: Final = 64 * 1024 * 1024  # bytes
_EVENT_BYTES: Final = 100  # that an event counts in addition to its data
_MOST_IN_A_BATCH: Final = 2 * 1024 * 1024  # bytes
_MOST_STARTS: Final = 4  # of a watching process, the first included
_LAST_SECONDS: Final = 60.0  # that the watching process gets at the end
_SILENT_SECONDS: Final = 1.0  # at the end, before a message says that recording goes on
Tell = Callable[[dict[str, Any]], None]


class WatcherPipe:
    """The pipe to the watching process, which it starts.

    `tell` is called, often in another thread, with that process's lines except verdicts, and with
    faults.
    """

    def __init__(self, run: WatchedRun, tell: Tell) -> None:
        self._run, self._tell = run, tell
        self._changed = threading.Condition()
        self._waiting: deque[tuple[int, tuple[Any, ...]]] = deque()
        self._starts = 0
        self._size = 0
        self._closing = False
        self._verdicts: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[str]]] = {}
        self.processes: list[subprocess.Popen[bytes]] = []
        self._process = self._start_process()
        self._sender = threading.Thread(target=self._send, daemon=True, name="watcher")
        self._sender.start()

    def put(self, *event: Any, size: int = 0) -> None:
        """Queue an event for the watching process, and return at once.

        `size` is the number of data bytes in the event.
        """
        with self._changed:
            self._waiting.append((size + _EVENT_BYTES, event))
            self._size += size + _EVENT_BYTES
            self._changed.notify()

    async def wait_for_room(self) -> None:
        """Wait until no more than 64 MB are queued."""
        while self._size > MOST_WAITING:
            await asyncio.sleep(0.005)

    async def ask_verdict(self, number: int) -> str:
        """Return the reason why a complete request may not be forwarded; "" if it may."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[str] = loop.create_future()
        self._verdicts[number] = (loop, future)
        self.put("asked", number, True)
        try:
            return await future
        finally:
            self._verdicts.pop(number, None)

    def close(self) -> None:
        """Wait until the watching process has recorded all queued events, then end it.

        The wait takes a minute at most, and ends on Ctrl-C.
        """
        with self._changed:
            self._closing = True
            self._changed.notify()
        waiting = threading.Thread(target=self._wait_for_end, daemon=True)
        waiting.start()
        try:
            waiting.join(_SILENT_SECONDS)
            if waiting.is_alive():
                fault = f"the traffic is still being recorded, for {_LAST_SECONDS:g} s at most"
                self._tell({"fault": f"{fault}; Ctrl-C leaves the rest out"})
                waiting.join(_LAST_SECONDS)
        except KeyboardInterrupt:
            self._tell({"fault": "the rest is not recorded"})
        if waiting.is_alive():
            self._process.kill()
            waiting.join(_SILENT_SECONDS)

    def _wait_for_end(self) -> None:
        """Wait until the watching process has recorded everything and ended."""
        self._sender.join()
        with suppress(OSError, ValueError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()
        self._reader.join()

    def _start_process(self) -> subprocess.Popen[bytes]:
        self._starts += 1
        process = subprocess.Popen(
            [sys.executable, "-m", "playground.plugins.proxy.watching"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback may quote traffic
            start_new_session=True,  # Ctrl-C reaches the forwarding process, which ends this one
        )
        self.processes.append(process)
        with suppress(OSError):  # the process has died, which `_send_batch` will report
            write_frame(process.stdin, self._run.pack())  # type: ignore[arg-type]
        self._reader = threading.Thread(target=self._listen, args=(process,), daemon=True)
        self._reader.start()
        return process

    def _send(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                batch, size = [], 0
                while self._waiting and size < _MOST_IN_A_BATCH:
                    event_size, event = self._waiting.popleft()
                    size += event_size
                    batch.append(event)
            if not batch:
                return
            self._send_batch(batch)
            with self._changed:
                self._size -= size

    def _send_batch(self, batch: list[tuple[Any, ...]]) -> None:
        try:
            write_frame(self._process.stdin, marshal.dumps(batch))  # type: ignore[arg-type]
        except (OSError, ValueError):
            if self._starts < _MOST_STARTS:
                self._tell({"fault": "the process that records has ended; another one is started"})
                self._process = self._start_process()
            elif self._starts == _MOST_STARTS:
                self._starts += 1
                self._tell({"fault": "nothing is recorded any more; all is still forwarded"})
            for number in list(self._verdicts):
                self._decide(number, "")

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        while (frame := read_frame(process.stdout)) is not None:
            line = json.loads(frame)
            if "verdict" in line:
                self._decide(line["verdict"], line["blocked"])
            else:
                self._tell(line)

    def _decide(self, number: int, blocked: str) -> None:
        loop, future = self._verdicts.get(number, (None, None))
        if loop is not None and future is not None:
            loop.call_soon_threadsafe(_resolve, future, blocked)


def _resolve(future: asyncio.Future[str], blocked: str) -> None:
    if not future.done():
        future.set_result(blocked)
