"""Conversation templates: programs that guide an assistant, run against answers of any origin."""

from playground.conversations.answers import Answers, RecordedAnswers, recorded_results
from playground.conversations.bot import Outcome, Step, run
from playground.conversations.requests import Sent
from playground.conversations.sets import (
    TemplateSet,
    check_templates,
    dump_templates,
    load_templates,
    parse_templates,
)

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
