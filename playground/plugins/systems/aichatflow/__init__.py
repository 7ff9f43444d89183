"""AIChatFlow's conversation templates: programs that guide an assistant, with answers of a model, a
recording or a script."""

from playground.plugins.systems.aichatflow.answers import Answers, RecordedAnswers, recorded_results
from playground.plugins.systems.aichatflow.bot import Outcome, run
from playground.plugins.systems.aichatflow.requests import Sent
from playground.plugins.systems.aichatflow.sets import (
    TemplateSet,
    check_templates,
    dump_templates,
    load_templates,
    parse_templates,
)
from playground.plugins.systems.aichatflow.steps import Step

__all__ = [
    "Answers",
    "Outcome",
    "RecordedAnswers",
    "Sent",
    "Step",
    "TemplateSet",
    "check_templates",
    "dump_templates",
    "load_templates",
    "parse_templates",
    "recorded_results",
    "run",
]
