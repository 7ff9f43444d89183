"""Engines, which build shards in this process or in several, always with `build_shard`.

An engine takes jobs and returns outcomes. The death of a worker is also an outcome, and does not
end the build: `building.py` tries the shard again, and leaves out a piece that fails repeatedly.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from playground.base.errors import InputFault, UnknownNameError
from playground.plugins.corpus.build_worker import run_job
from playground.plugins.corpus.outcomes import Outcome, read_outcome

_MOST_WORKERS: Final = 16


class Engine(Protocol):
    """The interface of engines: they take jobs while they have room, and return outcomes.

    `uses_processes` is True if shards are built in other processes, so that a crash of one does not
    end the build.
    """

    uses_processes: bool

    def has_room(self) -> bool: ...
    def submit(self, job: dict[str, Any]) -> None: ...
    def outcomes(self) -> list[Outcome]:
        """Wait for at least one outcome, and return all. Raises InputFault if nothing can be
        written any more."""
        ...

    def close(self) -> None: ...


class SerialEngine:
    """The engine that builds one shard after another in this process.

    A piece that kills this process ends the build. The corpus counts attempts, so the next build
    knows that this one failed.
    """

    uses_processes = False

    def __init__(self) -> None:
        self._jobs: deque[dict[str, Any]] = deque()

    def has_room(self) -> bool:
        return not self._jobs

    def submit(self, job: dict[str, Any]) -> None:
        self._jobs.append(job)

    def outcomes(self) -> list[Outcome]:
        job = self._jobs.popleft()
        return [read_outcome(job, run_job(job))]

    def close(self) -> None:
        self._jobs.clear()


@dataclass
class _Worker:
    """A process of the same Python that takes jobs and answers them, one line each.

    It is started with `-m`, so that it does not run the user's script again.
    """

    process: subprocess.Popen[bytes] = field(init=False)
    job: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        folders = [folder for folder in sys.path if folder]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "playground.plugins.corpus.build_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        )

    def start(self, job: dict[str, Any]) -> None:
        self.job = job
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # the worker has died, which `answer` will report
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return the worker's answer to its job, or a problem if the worker has died."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line.endswith(b"\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        status = self.process.wait()
        reason = f"signal {-status}" if status < 0 else f"exit status {status}"
        return {"problem": f"it ended the process that read it ({reason})"}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


class PoolEngine:
    """The engine that builds in several processes of this machine, and replaces those that die."""

    uses_processes = True

    def __init__(self, workers: int) -> None:
        self._most = workers
        self._idle: list[_Worker] = []
        self._busy: dict[int, _Worker] = {}

    def has_room(self) -> bool:
        return len(self._busy) < self._most

    def submit(self, job: dict[str, Any]) -> None:
        worker = self._idle.pop() if self._idle else _Worker()
        worker.start(job)
        assert worker.process.stdout is not None
        self._busy[worker.process.stdout.fileno()] = worker

    def outcomes(self) -> list[Outcome]:
        waiting = select.poll()
        for descriptor in self._busy:
            waiting.register(descriptor, select.POLLIN | select.POLLHUP)
        return [self._outcome(descriptor) for descriptor, _ in waiting.poll()]

    def close(self) -> None:
        for worker in (*self._idle, *self._busy.values()):
            worker.end()
        self._idle, self._busy = [], {}

    def _outcome(self, descriptor: int) -> Outcome:
        worker = self._busy.pop(descriptor)
        job, worker.job = worker.job, None
        answer = worker.answer()
        if worker.process.poll() is None:
            self._idle.append(worker)
        else:
            worker.end()
        assert job is not None
        return read_outcome(job, answer)


def usual_workers() -> int:
    """Return the number of processors that this process may use, at most 16."""
    usable = getattr(os, "sched_getaffinity", None)  # macOS has none
    return min(len(usable(0)) if usable else os.cpu_count() or 1, _MOST_WORKERS)


def _ray(workers: int, address: str) -> Engine:
    from playground.plugins.corpus.ray_engine import RayEngine

    return RayEngine(workers, address)


ENGINES: Final[dict[str, Callable[[int, str], Engine]]] = {
    "serial": lambda _workers, _address: SerialEngine(),
    "pool": lambda workers, _address: PoolEngine(workers),
    "ray": _ray,
}


def get_engine(name: str, workers: int = 0, address: str = "") -> Engine:
    """Return the engine with this name and number of workers; 0 means one for each processor.

    `address` is that of a Ray cluster. Raises UnknownNameError for an unknown engine, and
    InputFault for an address that the engine cannot use.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, list(ENGINES))
    if address and name != "ray":
        raise InputFault(f"an address for the engine {name}", expected="the engine ray")
    return ENGINES[name](workers or usual_workers(), address)
