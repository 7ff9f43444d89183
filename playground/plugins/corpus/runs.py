"""A build in a background thread, with its progress; another thread may stop it."""

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
    """A build: the folder of its corpus, and its progress: what it does now, and how many bytes of
    how many are done. `is_built` is True once it is complete. After a stop, the next build with the
    same inputs continues."""

    folder: Path
    inputs: Sequence[str | Path]
    what: str = "looking"
    done: int = 0
    size: int = 0  # 0 while unknown
    is_built: bool = False
    starred_secrets: dict[str, int] = field(default_factory=dict)  # by kind

    def start(self, alive: Callable[[], bool] = lambda: True, **options: Any) -> None:
        """Build in the background; `options` are those of `build_corpus`.

        The build stops if `alive` returns False.
        """

        def on_progress(what: str, done: int, size: int) -> None:
            self.what, self.done, self.size = what, done, size
            if self.cancel.is_set() or not alive():
                raise _Stopped

        def on_wait(text: str) -> None:
            self.what = text

        def build() -> None:
            from playground.plugins.corpus.building import build_corpus

            try:
                with telling_waits(on_wait):
                    built = build_corpus(self.folder, self.inputs, progress=on_progress, **options)
                self.starred_secrets, self.is_built = built.starred, True
            except _Stopped:
                pass

        self._begin(build, "corpus")
