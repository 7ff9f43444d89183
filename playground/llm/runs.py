"""Running requests, each in its own thread, which other threads watch and stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.llm.background import BackgroundRun
from playground.llm.record import Limits, Recorded, record
from playground.recordings.append_only_file import create_numbered


@dataclass
class Run(BackgroundRun):
    """A request to a model: the progress of its answer, and its recording at the end."""

    model: str
    dialect: str
    chunks: int = 0
    pieces: list[str] = field(default_factory=list)
    recorded: Recorded | None = None
    path: Path | None = None  # the recording's file, if there is one

    @property
    def text(self) -> str:
        """The answer's text so far."""
        return "".join(self.pieces)

    def start(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        folder: Path | None = None,
        alive: Callable[[], bool] = lambda: True,
        **more: Any,
    ) -> None:
        """Send the request; `more` goes to `record`.

        If `folder` is given, the recording grows there; raises InputFault if it cannot. When
        `alive` returns False, the request ends and the answer so far is kept.
        """
        if folder is not None:
            name = f"{self.dialect}-{self.model.replace('/', '-')}.jsonl"
            more["out"] = create_numbered(folder / name)
            self.path = more["out"].path

        def count_chunk(count: int, text: str) -> None:
            self.chunks = count
            self.pieces.append(text)

        def send() -> None:
            self.recorded = record(
                messages,
                self.model,
                tools=tools,
                dialect=self.dialect,
                progress=count_chunk,
                cancel=self.cancel,
                limits=Limits(alive=alive),
                **more,
            )

        self._begin(send, f"run {self.model}")
