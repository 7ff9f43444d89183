"""Guides: for every dialect what a model reads, what it answers, and what is read from it."""

from playground.guides.guide import Guide, guide_for
from playground.guides.use_case import Dialog, TextCompletion, UseCase

__all__ = ["Dialog", "Guide", "TextCompletion", "UseCase", "guide_for"]
