"""Run work in a background thread, which other threads can watch and stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from playground.base.errors import PlaygroundError


@dataclass(kw_only=True)
class BackgroundRun:
    """Work in a background thread. `fault` is the message of the PlaygroundError that ended it.

    The work itself must check `cancel` at points where it can stop.
    """

    fault: str = ""
    cancel: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def under_way(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Ask the work to stop. The results so far are kept."""
        self.cancel.set()

    def wait(self, seconds: float) -> None:
        """Wait until the work has ended, but at most this number of seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _do(self, work: Callable[[], None]) -> None:
        """Do the work in this thread. Store its fault, because no caller can catch it."""
        try:
            work()
        except PlaygroundError as fault:
            self.fault = str(fault)

    def _begin(self, work: Callable[[], None], name: str) -> None:
        """Start the work in a daemon thread, which does not keep the program from ending."""
        self._thread = threading.Thread(target=self._do, args=(work,), daemon=True, name=name)
        self._thread.start()
