"""A worker: builds the shards that it is given, one line of JSON each, and answers with a line.

Its memory is bounded, so that one hostile file ends one worker and not the machine.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import threading
import time
from contextlib import suppress
from typing import Any, Final

from playground.base.errors import InputFault

_COLLECTED: Final = (50_000, 20, 50)  # objects: at the usual 700 a fifth of the time goes there
_MOST_SAID: Final = 200  # characters of what ended a shard
MEMORY_BYTES: Final = 3 << 30  # of private memory; a shard of 32 MB takes about 0.2
_LOOK: Final = 0.5  # seconds between two looks whether the build is still there


def outcome_of(job: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a job's shard; or the `problem` that is its own, or the `fault` of a
    disk.
    """
    from playground.plugins.corpus.cleaning import Cleaner
    from playground.plugins.corpus.shards import build_shard

    try:
        return {"manifest": build_shard(job)}
    except InputFault as fault:
        known = ("problem", "where", "line", "field", "expected")
        return {"fault": {name: getattr(fault, name) for name in known}}
    except MemoryError:
        return {
            "problem": f"it takes more than {MEMORY_BYTES / (1 << 30):.2g} GB of memory: a session "
            "is held whole, and so is a log in which sessions lie between one another; give it in "
            "parts"
        }
    except Exception as error:  # ours: a shard may end itself, not the run, which goes on and tells
        said = Cleaner().text(str(error)).strip().splitlines() or [""]  # it may quote what it read
        more = "…" if len(said[0]) > _MOST_SAID else ""
        return {"problem": f"{type(error).__name__}: {said[0][:_MOST_SAID]}{more}"}


class _NoPandas:
    """Says that there is no pandas: pyarrow loads it to see whether it was given some, which is
    40 MB of each worker, and half a second."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("a worker needs no pandas", name=name)


def _end_with(build: int) -> None:
    """End where the build has ended that gives the jobs, as one that was killed: the next build is
    not to write beside what is left of it, which nobody waits for."""
    while os.getppid() == build:
        time.sleep(_LOOK)
    os._exit(1)


def main() -> None:
    """Answer every job of standard input; what else is printed goes to standard error."""
    sys.meta_path.insert(0, _NoPandas())
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    gc.freeze()  # what was imported stays: no look at it again and again
    gc.set_threshold(*_COLLECTED)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        answer = json.dumps(outcome_of(json.loads(line))).encode() + b"\n"
        with suppress(BrokenPipeError):  # nobody waits for it any more
            while answer:
                answer = answer[os.write(answers, answer) :]


if __name__ == "__main__":
    main()
