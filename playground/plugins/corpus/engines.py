"""Build shards in this process or in several; always by `build_shard`.

An engine takes jobs and gives outcomes. The end of a worker is an outcome too, never the end of
the run: `building.py` tries such a shard again, and sets aside what goes on killing.
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
from playground.plugins.corpus.build_worker import outcome_of
from playground.plugins.corpus.outcomes import Outcome, outcome

_MOST_WORKERS: Final = 16


class Engine(Protocol):
    """Takes jobs while there is room, and gives their outcomes as they come. `is_apart`: what ends
    who builds a shard does not end the build."""

    is_apart: bool

    def has_room(self) -> bool: ...
    def submit(self, job: dict[str, Any]) -> None: ...
    def outcomes(self) -> list[Outcome]:
        """At least one, waited for. Raises InputFault where nothing can be written any more."""
        ...

    def close(self) -> None: ...


class SerialEngine:
    """One shard after another, in this process. What kills it kills the build; the next one knows,
    since every attempt is noted in the corpus."""

    is_apart = False

    def __init__(self) -> None:
        self._jobs: deque[dict[str, Any]] = deque()

    def has_room(self) -> bool:
        return not self._jobs

    def submit(self, job: dict[str, Any]) -> None:
        self._jobs.append(job)

    def outcomes(self) -> list[Outcome]:
        job = self._jobs.popleft()
        return [outcome(job, outcome_of(job))]

    def close(self) -> None:
        self._jobs.clear()


@dataclass
class _Worker:
    """A process of this same Python, which takes a job a line and answers each with a line. It is
    started with `-m`: nothing of the user's script runs again in it."""

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
        with suppress(BrokenPipeError):  # it has ended: its silence says so
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return the outcome of its job; that it ended, if it says nothing."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line.endswith(b"\n"):
            found: dict[str, Any] = json.loads(line)
            return found
        status = self.process.wait()
        told = f"signal {-status}" if status < 0 else f"exit status {status}"
        return {"problem": f"it ended the process that read it ({told})"}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


class PoolEngine:
    """Several processes of this machine; one that ends is replaced."""

    is_apart = True

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
        return outcome(job, answer)


def usual_workers() -> int:
    """One for each processor that this process may use."""
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
    """Return the engine of this name; `workers` 0: as many as fit, `address` that of a Ray
    cluster. Raises UnknownNameError, and InputFault for an address that the engine has no use for.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, list(ENGINES))
    if address and name != "ray":
        raise InputFault(f"an address, and the engine {name}", expected="the engine ray")
    return ENGINES[name](workers or usual_workers(), address)
