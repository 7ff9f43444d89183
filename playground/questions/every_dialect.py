"""Read one reply in every dialect, and count what each dialect reads in it.

`detect` ranks these readings; `cross_read` compares them with the reading of the recording's own
dialect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from playground.dialects import dialect_names
from playground.nouns.events import ArgumentEvent, Event, MarkupEvent, TextEvent
from playground.parsing.result import ParseResult

Progress = Callable[[int, int], None]  # the dialects that have read the reply, and all dialects


@dataclass(frozen=True, slots=True)
class DialectReading:
    """A reply as one dialect reads it, in characters.

    `text` counts what the user would see; `markup` and `arguments` count what belongs to calls;
    `findings` has the number of findings with each code.
    """

    dialect: str
    result: ParseResult
    text: int
    markup: int
    arguments: int
    findings: dict[str, int]

    @property
    def calls(self) -> int:
        """The number of complete calls."""
        return len(self.result.tool_calls)

    @property
    def aborted(self) -> int:
        """The number of calls that were cut off or broken."""
        return len(self.result.aborted)


def read_in_every_dialect(
    read: Callable[[str], ParseResult],
    first: str = "",
    names: Sequence[str] = (),
    progress: Progress | None = None,
) -> Iterator[DialectReading]:
    """Yield the reading of `first`, then those of all other dialects, in the registry's order.

    `names`, in that order, limits the dialects. `read` parses the reply in the dialect with the
    given name. `progress` is called after each reading with the number of dialects that have read,
    and the number of all. Readings are yielded one by one, because the events of a long reply in
    eighty dialects need too much memory.
    """
    ordered_names = sorted(names or dialect_names(), key=lambda name: name != first)
    for number, name in enumerate(ordered_names, 1):
        yield _reading_of(name, read(name))
        if progress:
            progress(number, len(ordered_names))


def _reading_of(dialect: str, result: ParseResult) -> DialectReading:
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
