"""The engine that builds shards with Ray's workers, on this machine or on a cluster.

If a worker dies, its job ends with a problem as its outcome. Ray's own retries are off, because
`building.py` counts the attempts, and decides whether to retry.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from playground.base.errors import InputFault
from playground.base.extras import requirement
from playground.plugins.corpus.build_worker import run_job
from playground.plugins.corpus.outcomes import Outcome, read_outcome

_JOBS_PER_PROCESSOR = 2  # one that runs and one that waits, so that no processor is idle


class RayEngine:
    """An engine that runs each shard as a task of Ray.

    `address` is that of a cluster. Without it, Ray starts `workers` processes on this machine, and
    accepts connections only from this machine.
    """

    uses_processes = True

    def __init__(self, workers: int, address: str) -> None:
        self._ray = _start_ray(workers, address)
        self._build = self._ray.remote(num_cpus=1, max_retries=0)(run_job)
        self._jobs: dict[Any, dict[str, Any]] = {}

    def has_room(self) -> bool:
        processors = self._ray.cluster_resources().get("CPU", 1)
        return bool(len(self._jobs) < _JOBS_PER_PROCESSOR * processors)

    def submit(self, job: dict[str, Any]) -> None:
        self._jobs[self._build.remote(job)] = job

    def outcomes(self) -> list[Outcome]:
        done, _ = self._ray.wait(list(self._jobs), num_returns=1)
        return [self._outcome(reference) for reference in done]

    def close(self) -> None:
        self._jobs = {}
        self._ray.shutdown()

    def _outcome(self, reference: Any) -> Outcome:
        job = self._jobs.pop(reference)
        try:
            answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            kind = type(error).__name__
            return Outcome(job, problem=f"it ended the worker that read it ({kind})")
        return read_outcome(job, answer)


def _start_ray(workers: int, address: str) -> Any:
    """Return the module ray, connected to the cluster at `address` or to a Ray started here.

    Raises InputFault if Ray is not installed or the cluster does not answer.
    """
    if not address:
        # Ray reads this variable when it is imported; without it, Ray listens on all addresses
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray
    except ImportError as error:
        expected = f"pip install {requirement('cluster')}"
        raise InputFault("the engine ray needs Ray", expected=expected) from error
    if address:
        try:
            ray.init(address=address, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputFault(
                f"no Ray cluster answers ({str(error).splitlines()[0]})",
                where=address,
                expected="the address of a running one, such as ray://head:10001",
            ) from error
        return ray
    folders = os.pathsep.join(folder for folder in sys.path if folder)
    ray.init(
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": folders}},
    )
    return ray
