"""The worker process: does one task after another from standard input, until that closes."""

from __future__ import annotations

import contextlib
import json
import marshal
import resource
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import IO, Any

from playground.base.confined.frames import read_frame, write_frame
from playground.base.errors import InputFault


def main() -> None:
    """Serve tasks on standard input and output. The first argument is the limit of memory."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # text that a task prints must not get between the answers
    _set_limits(memory_bytes=int(sys.argv[1]))
    write_frame(answers, b'{"ready": true}')
    while (frame := read_frame(requests)) is not None:
        task, seconds, value = marshal.loads(frame)
        if seconds is None:
            _answer(answers, partial(_prepare, task))
            continue
        _allow_time(seconds)
        _answer(answers, partial(_run, task, value))


def _set_limits(memory_bytes: int) -> None:
    """Set limits for the worker's whole life. A limit that the kernel does not know is skipped."""
    bounds = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_FSIZE: 0,  # nothing is written to any file
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in bounds.items():
        with contextlib.suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS
            resource.setrlimit(kind, (most, most))


def _allow_time(seconds: float) -> None:
    """Allow this much more processor time. The limit also ends a worker whose parent is gone."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 2
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]  # a limit that the shell has set stays
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _prepare(task: str) -> None:
    """Import the task's module, so that the import does not count as the task's time: jinja2 alone
    may take half a second on a busy machine."""
    _function(task)


def _run(task: str, value: Any) -> Any:
    return _function(task)(value)


def _answer(answers: IO[bytes], work: Callable[[], Any]) -> None:
    try:
        answer = json.dumps({"result": work()}).encode()
    except InputFault as fault:
        fault_fields = {name: getattr(fault, name) for name in _FAULT_FIELDS}
        answer = json.dumps({"fault": fault_fields}).encode()
    except MemoryError:
        answer = b'{"stopped": "memory"}'
    except Exception as error:  # a bug of this package: the parent reports it in one line
        detail = f"{type(error).__name__}: {error}"[:_MOST_DETAIL]
        answer = json.dumps({"stopped": "ended", "detail": detail}).encode()
    write_frame(answers, answer)


_MOST_DETAIL = 200  # characters of an error
_FAULT_FIELDS = ("problem", "where", "line", "field", "expected")


def _function(task: str) -> Callable[[Any], Any]:
    """Return the function that a task names as `playground.package.module:function`."""
    module, _, name = task.partition(":")
    assert module.startswith("playground."), task
    function: Callable[[Any], Any] = getattr(import_module(module), name)
    return function


if __name__ == "__main__":
    main()
