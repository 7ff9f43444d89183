"""The parent of the workers: starts them, gives them tasks, and kills those that take too long."""

from __future__ import annotations

import atexit
import json
import marshal
import os
import select
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Literal

from playground.base.confined.frames import HEAD, write_frame
from playground.base.errors import InputFault, PlaygroundError

MOST_WORKERS: Final = 4  # a fifth task waits until one of them is free
MEMORY_BYTES: Final = 1 << 30
START_SECONDS: Final = 30.0  # a loaded machine starts Python slowly
MOST_ANSWER: Final = 400_000_000  # bytes; enough for a text of 20 million characters as JSON
# The environment variables that a worker gets: paths, languages and the time zone, but no keys.
_PASSED_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "SYSTEMROOT")


class Stopped(PlaygroundError):
    """Raised if a task was stopped by a limit, or ended its process (`detail` is the error)."""

    def __init__(
        self, reason: Literal["time", "memory", "ended"], seconds: float, detail: str = ""
    ) -> None:
        self.reason = reason
        words = {
            "time": f"runs for more than {seconds:g} s",
            "memory": f"needs more than {MEMORY_BYTES >> 20:,} MB of memory",
            "ended": f"ended the process that it ran in{f' ({detail})' if detail else ''}",
        }
        super().__init__(words[reason])


class Unavailable(PlaygroundError):
    """Raised if no worker process can be started here, so that nothing can be run within limits."""


@dataclass
class Budget:
    """Wall time, in seconds, that several tasks share. `seconds_left` are not used yet."""

    seconds: float
    seconds_left: float = field(init=False)

    def __post_init__(self) -> None:
        self.seconds_left = self.seconds


def run(task: str, value: Any, budget: Budget) -> Any:
    """Run `task` ("playground.room.module:function") on plain data, within limits. Return its
    result.

    `value` must be data for `marshal` (None, bool, int, float, str, list, tuple, dict), the result
    is JSON. The start of a worker and the import of the task's module do not count against the
    budget; a task that is stopped uses the budget up. Raises InputFault if `value` is other data or
    the task reports a user's mistake, Stopped, or Unavailable.
    """
    if budget.seconds_left <= 0:
        raise Stopped("time", budget.seconds)
    try:
        frame = marshal.dumps((task, budget.seconds_left, value))
    except ValueError as error:
        raise InputFault(f"data that cannot be passed to a worker: {error}") from error
    with _POOL.worker() as worker:
        answer = worker.prepare(task)
        start = time.monotonic()
        answer = answer or worker.ask(frame, budget.seconds_left)
    budget.seconds_left -= time.monotonic() - start
    if "fault" in answer:
        raise InputFault(**answer["fault"])
    if "stopped" in answer:
        budget.seconds_left = 0.0
        raise Stopped(answer["stopped"], budget.seconds, answer.get("detail", ""))
    return answer["result"]


def _module_folders() -> list[str]:
    """Return the folders where a worker looks for modules: Python's own, installed ones, and ours.

    The folder of the user's script or notebook is left out: a `jinja2.py` there is not the library.
    """
    project_folder = Path(__file__).resolve().parents[3]
    library = Path(sysconfig.get_path("stdlib"))
    folders = [
        folder
        for folder in filter(os.path.isabs, sys.path)
        if Path(folder).name in ("site-packages", "dist-packages")
        or Path(folder).is_relative_to(library)
    ]
    return [*folders, str(project_folder)]


class _Worker:
    """A worker process. `alive` is False once it was killed or has ended."""

    def __init__(self) -> None:
        if sys.platform == "win32":
            raise Unavailable("worker processes are bounded on Linux and macOS only")
        self.alive = True
        self._prepared: set[str] = set()
        environment = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(_module_folders())
        # -P: do not load a `json.py` from the user's folder; -B: write no bytecode (it would fail)
        command = [sys.executable, "-P", "-B", "-m", "playground.base.confined.child"]
        try:
            self._process = subprocess.Popen(
                [*command, str(MEMORY_BYTES)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # foreign code must not write to the terminal
                env=environment,
                cwd="/",  # an idle worker must not keep a disk from being unmounted
                start_new_session=True,  # Ctrl-C must not reach it; a closed pipe ends it
            )
        except (OSError, ValueError) as error:
            raise Unavailable(f"no process can be started here ({error})") from error
        if self._read(START_SECONDS) != {"ready": True}:
            self.kill()
            raise Unavailable("a worker process does not start here")

    def prepare(self, task: str) -> dict[str, Any]:
        """Import a task's module in the worker, before the task's time begins to count. Return {},
        or an answer that says what went wrong. Raises Unavailable after START_SECONDS."""
        if task in self._prepared:
            return {}
        answer = self.ask(marshal.dumps((task, None, None)), START_SECONDS)
        if answer.get("stopped") == "time":
            raise Unavailable("a worker process does not start here")
        if "result" not in answer:
            return answer
        self._prepared.add(task)
        return {}

    def ask(self, frame: bytes, seconds: float) -> dict[str, Any]:
        """Send a task and return the worker's answer. A worker that does not answer is killed."""
        try:
            write_frame(self._stream(self._process.stdin), frame)
        except OSError:
            self.kill()
            return {"stopped": "ended"}
        return self._read(seconds)

    def is_running(self) -> bool:
        """Return True if the worker still runs. It may have been killed while it was idle."""
        return self.alive and self._process.poll() is None

    def kill(self) -> None:
        self.alive = False
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # closing may flush to the process, which has ended
                self._stream(stream).close()

    def _read(self, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        head = self._bytes(HEAD, deadline)
        if isinstance(head, str):
            return self._kill_for(head)
        size = int.from_bytes(head, "big")
        if size > MOST_ANSWER:
            return self._kill_for("memory")
        data = self._bytes(size, deadline)
        if isinstance(data, str):
            return self._kill_for(data)
        answer: dict[str, Any] = json.loads(data)
        if answer.get("stopped"):  # after running out of memory once, it would do so again
            self.kill()
        return answer

    def _kill_for(self, why: str) -> dict[str, Any]:
        self.kill()
        return {"stopped": why}

    def _bytes(self, count: int, deadline: float) -> bytes | Literal["time", "ended"]:
        """Return the next `count` bytes of the answer; "time" or "ended" if they do not come."""
        pieces: list[bytes] = []
        descriptor = self._stream(self._process.stdout).fileno()
        ready = select.poll()  # select() fails for a descriptor above 1,023
        ready.register(descriptor, select.POLLIN)
        while count:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not ready.poll(remaining * 1000):
                return "time"
            piece = os.read(descriptor, min(count, 1 << 20))
            if not piece:
                return "ended"
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        assert stream is not None
        return stream


@dataclass
class _Pool:
    """The idle workers, and slots for all workers. A fork of this process starts without any."""

    idle: list[_Worker] = field(default_factory=list)
    owner: int = field(default_factory=os.getpid)
    lock: threading.Lock = field(default_factory=threading.Lock)
    slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(MOST_WORKERS))

    @contextmanager
    def worker(self) -> Iterator[_Worker]:
        """Yield a worker for one task. A worker that is interrupted is not used again."""
        worker = self.take()
        try:
            yield worker
        except BaseException:  # Ctrl-C: a late answer would be taken for the next task's
            worker.kill()
            raise
        finally:
            self.give_back(worker)

    def take(self) -> _Worker:
        self.slots.acquire()
        try:
            with self.lock:
                if self.owner != os.getpid():  # after a fork: the pipes belong to the parent
                    self.idle, self.owner = [], os.getpid()
                while self.idle:
                    worker = self.idle.pop()
                    if worker.is_running():
                        return worker
            return _Worker()  # outside of the lock, so that others need not wait for its start
        except BaseException:
            self.slots.release()
            raise

    def give_back(self, worker: _Worker) -> None:
        with self.lock:
            if worker.alive:
                self.idle.append(worker)
        self.slots.release()

    def close(self) -> None:
        with self.lock:
            idle, self.idle = self.idle, []
        if self.owner == os.getpid():
            for worker in idle:
                worker.kill()


_POOL: Final = _Pool()
atexit.register(_POOL.close)
