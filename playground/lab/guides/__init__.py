"""Guides of dialects: what a model reads, what it answers, and what a parser reads of that."""

from playground.lab.guides.guide import Guide, NoGuide, guide_for
from playground.lab.guides.use_case import Dialog, TextCompletion, UseCase

__all__ = ["Dialog", "Guide", "NoGuide", "TextCompletion", "UseCase", "guide_for"]
