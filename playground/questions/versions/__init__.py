"""Compare two versions of a request: in words, in tokens and in what a cache still reads."""

from playground.questions.versions.difference import VersionDiff, diff

__all__ = ["VersionDiff", "diff"]
