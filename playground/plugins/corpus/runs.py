"""A build under way in the background: how far it is, and stopped from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.base.waits import telling_waits
from playground.llm.background import BackgroundRun


class _Stopped(Exception):
    pass


@dataclass
class BuildRun(BackgroundRun):
    """One build: where its corpus lies, what is done of it in bytes, and whether it is whole.

    One that is stopped leaves what it has built; the next one of the same inputs goes on there.
    """

    folder: Path
    inputs: Sequence[str | Path]
    what: str = "looking"
    done: int = 0
    size: int = 0  # 0 while it is not known
    is_built: bool = False
    starred: dict[str, int] = field(default_factory=dict)  # secrets out of it, by kind

    def start(self, alive: Callable[[], bool] = lambda: True, **more: Any) -> None:
        """Build; `more` goes to `build_corpus`. Where `alive` says no it ends as if stopped."""

        def moved(what: str, done: int, size: int) -> None:
            self.what, self.done, self.size = what, done, size
            if self.cancel.is_set() or not alive():
                raise _Stopped

        def told(text: str) -> None:
            self.what = text

        def build() -> None:
            from playground.plugins.corpus.building import build_corpus

            try:
                with telling_waits(told):
                    built = build_corpus(self.folder, self.inputs, progress=moved, **more)
                self.starred, self.is_built = built.starred, True
            except _Stopped:
                pass

        self._begin(build, "corpus")
