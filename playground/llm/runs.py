"""Requests under way: each in a thread of its own, watched and stopped from elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.errors import PlaygroundError
from playground.llm.record import Recorded, record


@dataclass
class Run:
    """One request: how far its answer has come, and what became of it."""

    model: str
    dialect: str
    cancel: threading.Event = field(default_factory=threading.Event)
    chunks: int = 0
    pieces: list[str] = field(default_factory=list)
    recorded: Recorded | None = None
    fault: str = ""
    _thread: threading.Thread | None = None

    @property
    def under_way(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def text(self) -> str:
        """The answer's text so far."""
        return "".join(self.pieces)

    def start(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], **more: Any
    ) -> None:
        """Send the request; `more` goes to `record`."""

        def moved(count: int, text: str) -> None:
            self.chunks = count
            self.pieces.append(text)

        def send() -> None:
            try:
                self.recorded = record(
                    messages,
                    self.model,
                    tools=tools,
                    dialect=self.dialect,
                    progress=moved,
                    cancel=self.cancel,
                    **more,
                )
            except PlaygroundError as error:
                self.fault = str(error)

        self._thread = threading.Thread(target=send, daemon=True, name=f"run {self.model}")
        self._thread.start()

    def stop(self) -> None:
        """Ask it to stop; what has come is kept."""
        self.cancel.set()

    def wait(self, seconds: float) -> None:
        """Until it is over, or the time is."""
        if self._thread is not None:
            self._thread.join(seconds)
