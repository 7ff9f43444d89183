"""Shards built by Ray's workers, on this machine or on a cluster's: the function of every engine.

A worker that ends is an outcome here as in the pool. Ray tries nothing again by itself: every
attempt is noted in the corpus, and `building.py` decides.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from playground.base.errors import InputFault
from playground.plugins.corpus.build_worker import outcome_of
from playground.plugins.corpus.outcomes import Outcome, outcome

_AHEAD = 2  # jobs that wait for each processor, so that none is idle


class RayEngine:
    """Ray core tasks, one a shard. `address` is a cluster's; without one Ray is started here, with
    so many `workers`, and listens on this machine alone."""

    is_apart = True

    def __init__(self, workers: int, address: str) -> None:
        self._ray = _started(workers, address)
        self._build = self._ray.remote(num_cpus=1, max_retries=0)(outcome_of)
        self._jobs: dict[Any, dict[str, Any]] = {}

    def has_room(self) -> bool:
        processors = self._ray.cluster_resources().get("CPU", 1)
        return bool(len(self._jobs) < _AHEAD * processors)

    def submit(self, job: dict[str, Any]) -> None:
        self._jobs[self._build.remote(job)] = job

    def outcomes(self) -> list[Outcome]:
        done, _ = self._ray.wait(list(self._jobs), num_returns=1)
        return [self._outcome(each) for each in done]

    def close(self) -> None:
        self._jobs = {}
        self._ray.shutdown()

    def _outcome(self, reference: Any) -> Outcome:
        job = self._jobs.pop(reference)
        try:
            answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            said = type(error).__name__
            return Outcome(job, problem=f"it ended the worker that read it ({said})")
        return outcome(job, answer)


def _started(workers: int, address: str) -> Any:
    """Ray, connected to the cluster or started here. Raises InputFault where there is none."""
    if not address:
        # read when Ray is loaded: without it Ray listens at every address of the machine
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray
    except ImportError as error:
        expected = "pip install 'dialect-playground[cluster]'"
        raise InputFault("the engine ray needs Ray", expected=expected) from error
    if address:
        try:
            ray.init(address=address, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputFault(
                f"no Ray cluster answers ({str(error).splitlines()[0]})",
                where=address,
                expected="the address of one, such as ray://head:10001",
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
