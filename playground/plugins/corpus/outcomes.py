"""The outcome of an engine's job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playground.base.errors import InputFault


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job: its manifest, or the problem that ended it, in words."""

    job: dict[str, Any]
    manifest: dict[str, Any] | None = None
    problem: str = ""


def outcome(job: dict[str, Any], answer: dict[str, Any]) -> Outcome:
    """Return an answer of `working.py` as an outcome. Raises InputFault for what is no shard's
    fault.
    """
    if "fault" in answer:
        raise InputFault(**answer["fault"])
    return Outcome(job, answer.get("manifest"), answer.get("problem", ""))
