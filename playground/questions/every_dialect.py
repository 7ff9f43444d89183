"""One reply in every dialect: what each makes of it, counted alike for all who ask.

`detect` ranks these readings, `cross_read` compares them with the recording's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from playground.dialects import dialect_names
from playground.nouns.events import ArgumentEvent, Event, MarkupEvent, TextEvent
from playground.parsing.result import ParseResult

Progress = Callable[[int, int], None]  # dialects that have read it, dialects in all


@dataclass(frozen=True, slots=True)
class DialectReading:
    """What one dialect makes of a reply: `text` is what the user would see of it, in characters,
    `markup` and `arguments` what the calls take; `findings` is how often each code came."""

    dialect: str
    result: ParseResult
    text: int
    markup: int
    arguments: int
    findings: dict[str, int]

    @property
    def calls(self) -> int:
        """Complete calls."""
        return len(self.result.tool_calls)

    @property
    def aborted(self) -> int:
        """Calls that were cut off or broken."""
        return len(self.result.aborted)


def read_in_every_dialect(
    read: Callable[[str], ParseResult],
    first: str = "",
    names: Sequence[str] = (),
    progress: Progress | None = None,
) -> Iterator[DialectReading]:
    """The readings, one at a time, in the order of the registry, but for `first`, which leads.
    `names`, in the same order, are the only dialects that are asked. `progress` is told after each
    how many have read, and of how many.

    `read` gives what the dialect of that name makes of the reply. They are given out singly because
    the events of a long reply, sixty times over, are more than there is room for.
    """
    ordered = sorted(names or dialect_names(), key=lambda name: name != first)
    for number, name in enumerate(ordered, 1):
        yield _counted(name, read(name))
        if progress:
            progress(number, len(ordered))


def _counted(dialect: str, result: ParseResult) -> DialectReading:
    characters: Counter[type[Event]] = Counter()
    for event in result.events:
        if isinstance(event, TextEvent | MarkupEvent | ArgumentEvent):
            characters[type(event)] += len(event.text)
    return DialectReading(
        dialect,
        result,
        text=characters[TextEvent],
        markup=characters[MarkupEvent],
        arguments=characters[ArgumentEvent],
        findings=dict(Counter(finding.code for finding in result.findings)),
    )
