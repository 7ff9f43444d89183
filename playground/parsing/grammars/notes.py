"""Notes on what a grammar or a response template takes beyond a declaration, or does not take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from playground.base.findings import Finding, finding


@dataclass
class Notes:
    """Findings about a `subject`, each once, in the order in which they were made."""

    subject: str = "grammar"
    findings: dict[Finding, None] = field(default_factory=dict)

    def wider(self, place: str, text: str) -> None:
        """Note that the grammar takes what the schema or the reader does not."""
        self.add("wider", place, text)

    def narrower(self, place: str, text: str) -> None:
        """Note that the grammar does not take all that the schema or the reader takes."""
        self.add("narrower", place, text)

    def none(self, place: str, text: str) -> None:
        """Note that there is none at all."""
        self.findings[finding(f"no-{self.subject}", place, text)] = None

    def add(self, kind: str, place: str, text: str) -> None:
        """Note a finding of the subject by the last word of its code."""
        self.findings[finding(f"{self.subject}-{kind}", place, text)] = None


def quote_words(words: Iterable[str]) -> str:
    """List words for a message, each in quotes."""
    return ", ".join(repr(word) for word in words)
