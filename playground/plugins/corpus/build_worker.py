"""A worker process: it reads a job per line of JSON, builds its shard, and answers with a line.

Its memory is limited, so that a hostile file ends only one worker, not the machine.
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

# Thresholds of garbage collection. With Python's usual 700, it takes a fifth of a build's time.
_GC_THRESHOLDS: Final = (50_000, 20, 50)
_LONGEST_MESSAGE: Final = 200  # characters of an error's message
MEMORY_BYTES: Final = 3 << 30  # of private memory; a shard of 32 MB takes about 0.2 GB
_CHECK_SECONDS: Final = 0.5  # seconds between two checks that the build still runs


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Build a job's shard and return its `manifest`.

    If that fails, return a dict with the shard's `problem`, or the `fault` of the disk or store.
    """
    from playground.plugins.corpus.cleaning import Cleaner
    from playground.plugins.corpus.shards import build_shard

    try:
        return {"manifest": build_shard(job)}
    except InputFault as fault:
        names = ("problem", "where", "line", "field", "expected")
        return {"fault": {name: getattr(fault, name) for name in names}}
    except MemoryError:
        return {
            "problem": f"it takes more than {MEMORY_BYTES / (1 << 30):.2g} GB of memory: a session "
            "must fit into memory, and so must a log with interleaved sessions; split the file"
        }
    except Exception as error:  # a bug of ours must not end the whole build
        # the message may quote a secret
        lines = Cleaner().text(str(error)).strip().splitlines() or [""]
        more = "…" if len(lines[0]) > _LONGEST_MESSAGE else ""
        return {"problem": f"{type(error).__name__}: {lines[0][:_LONGEST_MESSAGE]}{more}"}


class _NoPandas:
    """An import hook that hides pandas from pyarrow, to save 40 MB and half a second."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("a worker needs no pandas", name=name)


def _exit_with(build_process: int) -> None:
    """Exit this worker when the build process ends, even if it was killed.

    Otherwise this worker would go on writing while the next build writes.
    """
    while os.getppid() == build_process:
        time.sleep(_CHECK_SECONDS)
    os._exit(1)


def main() -> None:
    """Answer every job from standard input; any other output goes to standard error."""
    sys.meta_path.insert(0, _NoPandas())
    threading.Thread(target=_exit_with, args=(os.getppid(),), daemon=True).start()
    gc.freeze()  # the collector then skips the imported modules
    gc.set_threshold(*_GC_THRESHOLDS)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        answer = json.dumps(run_job(json.loads(line))).encode() + b"\n"
        with suppress(BrokenPipeError):  # the build has ended
            while answer:
                answer = answer[os.write(answers, answer) :]


if __name__ == "__main__":
    main()
