"""The runs of all browser sessions, by id. A run holds a thread, but a session's state may hold
only plain values, so runs are stored here, and each session's state has the ids of its runs. Adding
a run removes the earlier run of its tab, and finished runs of closed tabs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import uuid4

from playground.llm.background import BackgroundRun

R = TypeVar("R", bound=BackgroundRun)


@dataclass
class Runs(Generic[R]):
    """The runs by id, each with a function that returns True if the run's tab is open."""

    _known: dict[str, tuple[R, Callable[[], bool]]] = field(default_factory=dict)

    def get(self, run_id: str) -> R | None:
        """Return the run of this id, or None if there is none or it was forgotten."""
        known = self._known.get(run_id)
        return known[0] if known else None

    def add(self, run: R, is_open: Callable[[], bool], before: str) -> str:
        """Store a run in place of the tab's run `before`; return its id."""
        self._known.pop(before, None)
        for run_id, (other, others_open) in list(self._known.items()):
            if not other.under_way and not others_open():
                self._known.pop(run_id, None)  # another thread may have removed it
        run_id = uuid4().hex
        self._known[run_id] = (run, is_open)
        return run_id

    def __len__(self) -> int:
        return len(self._known)
