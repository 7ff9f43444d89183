"""A template's run in a thread of its own: watched step by step, stopped from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playground.llm.background import BackgroundRun
from playground.plugins.systems.aichatflow.answers import RecordedAnswers
from playground.plugins.systems.aichatflow.bot import Outcome, run
from playground.plugins.systems.aichatflow.steps import Step


@dataclass
class TemplateRun(BackgroundRun):
    """A run under way or ended, with its result; `steps` are there after a fault too.

    If a model is asked (`answers`), stopping makes the answer under way the last.
    """

    steps: list[Step] = field(default_factory=list)
    outcome: Outcome | None = None
    answers: RecordedAnswers | None = None

    def __post_init__(self) -> None:
        if self.answers is not None:
            self.cancel = self.answers.cancel

    def run(self, *arguments: Any, **more: Any) -> TemplateRun:
        """Run at once; arguments are those of `run`. A fault is kept, not raised."""
        self._do(lambda: self._run(arguments, more))
        return self

    def start(self, *arguments: Any, **more: Any) -> None:
        """Run in the background."""
        self._begin(lambda: self._run(arguments, more), "template run")

    def _run(self, arguments: tuple[Any, ...], more: dict[str, Any]) -> None:
        self.outcome = run(*arguments, watch=self.steps.append, **more)
