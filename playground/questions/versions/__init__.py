"""Compare two versions of a request: their words, their tokens, and what a cache still reads."""

from playground.questions.versions.difference import VersionDiff, diff

__all__ = ["VersionDiff", "diff"]
