"""Notes on what a grammar allows beyond the schemas, or does not allow: each is kept once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from playground.base.findings import Finding, finding


@dataclass
class Notes:
    """Findings, each once, in the order in which they were made."""

    findings: dict[Finding, None] = field(default_factory=dict)

    def wider(self, place: str, text: str) -> None:
        """Note that the grammar takes what the schema or the reader does not."""
        self.findings[finding("grammar-wider", place, text)] = None

    def narrower(self, place: str, text: str) -> None:
        """Note that the grammar does not take all that the schema or the reader takes."""
        self.findings[finding("grammar-narrower", place, text)] = None

    def none(self, place: str, text: str) -> None:
        """Note that there is no grammar."""
        self.findings[finding("no-grammar", place, text)] = None


def quote_words(words: Iterable[str]) -> str:
    """List words for a message, each in quotes."""
    return ", ".join(repr(word) for word in words)
