"""Work in a thread of its own: watched and stopped from elsewhere, its fault kept for who looks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from playground.base.errors import PlaygroundError


@dataclass(kw_only=True)
class BackgroundRun:
    """Something under way; `fault` says what ended it before its time.

    Stopping only asks: the work looks at `cancel` where it can stop.
    """

    fault: str = ""
    cancel: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def under_way(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Ask it to stop; what has come is kept."""
        self.cancel.set()

    def wait(self, seconds: float) -> None:
        """Until it is over, or the time is."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _do(self, work: Callable[[], None]) -> None:
        """The work at once. A fault is kept, not raised: nobody would catch it in a thread."""
        try:
            work()
        except PlaygroundError as fault:
            self.fault = str(fault)

    def _begin(self, work: Callable[[], None], name: str) -> None:
        """The work in the background, in a thread that does not keep the program from ending."""
        self._thread = threading.Thread(target=self._do, args=(work,), daemon=True, name=name)
        self._thread.start()
