"""Notes on differences between a grammar or a response template and its declaration."""

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
        """Note that the grammar accepts more than the schema or the reader."""
        self.add("wider", place, text)

    def narrower(self, place: str, text: str) -> None:
        """Note that the grammar accepts less than the schema or the reader."""
        self.add("narrower", place, text)

    def refuse(self, place: str, text: str) -> None:
        """Note that no grammar or template can be made."""
        self.findings[finding(f"no-{self.subject}", place, text)] = None

    def add(self, kind: str, place: str, text: str) -> None:
        """Add a finding about the subject; `kind` is the last word of its code."""
        self.findings[finding(f"{self.subject}-{kind}", place, text)] = None


def quote_words(words: Iterable[str]) -> str:
    """List words for a message, each in quotes."""
    return ", ".join(repr(word) for word in words)
