"""A template's run in a thread of its own. Other threads may read its steps so far, and stop it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playground.llm.background import BackgroundRun
from playground.plugins.systems.aichatflow.answers import RecordedAnswers
from playground.plugins.systems.aichatflow.bot import Outcome, run
from playground.plugins.systems.aichatflow.steps import Step


@dataclass
class TemplateRun(BackgroundRun):
    """A run that is under way or has ended. After a fault, `steps` are kept and `outcome` is None.
    If a model answers (`answers`), `stop` cuts off the current answer, and the model is not asked
    again.
    """

    steps: list[Step] = field(default_factory=list)
    outcome: Outcome | None = None
    answers: RecordedAnswers | None = None

    def __post_init__(self) -> None:
        if self.answers is not None:
            self.cancel = self.answers.cancel

    def run(self, *arguments: Any, **options: Any) -> TemplateRun:
        """Run in the calling thread, with the arguments of `bot.run` except `watch`. A fault is
        stored, not raised."""
        self._do(lambda: self._run(arguments, options))
        return self

    def start(self, *arguments: Any, **options: Any) -> None:
        self._begin(lambda: self._run(arguments, options), "template run")

    def _run(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.outcome = run(*arguments, watch=self.steps.append, **options)
