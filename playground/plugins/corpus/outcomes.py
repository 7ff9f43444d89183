"""The outcome of one job of a build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playground.base.errors import InputFault


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job: the manifest of its shard, or the problem that ended the job."""

    job: dict[str, Any]
    manifest: dict[str, Any] | None = None
    problem: str = ""


def read_outcome(job: dict[str, Any], answer: dict[str, Any]) -> Outcome:
    """Turn a worker's answer (`build_worker.py`) into an outcome.

    Raises InputFault if the disk or the store failed, because the shard is not at fault then.
    """
    if "fault" in answer:
        raise InputFault(**answer["fault"])
    return Outcome(job, answer.get("manifest"), answer.get("problem", ""))
