"""Conversation templates: programs that guide an assistant, run against answers of any origin."""

from playground.conversations.bot import Answers, Outcome, Sent, Step, run
from playground.conversations.sets import TemplateSet, load_templates, parse_templates

__all__ = [
    "Answers",
    "Outcome",
    "Sent",
    "Step",
    "TemplateSet",
    "load_templates",
    "parse_templates",
    "run",
]
