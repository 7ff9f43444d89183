"""One session in several dialects, side by side: texts with their origins, counts, differences."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from playground.dialects import Dialect, dialect_names, get_dialect
from playground.dialects.base import message_text
from playground.dialects.checking import check_session
from playground.dialects.rendering import Block, Rendering
from playground.findings import Finding
from playground.parsing.values import dump_json
from playground.sessions.session import Session

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

CountTokens = Callable[[Sequence[str], str], int]


@dataclass(frozen=True)
class Column:
    """A session in one dialect."""

    dialect: Dialect
    session: Session

    @cached_property
    def rendering(self) -> Rendering:
        return self.dialect.render(self.session.prompt_data())

    @cached_property
    def findings(self) -> list[Finding]:
        return check_session(self.dialect, self.session.prompt_data())

    @cached_property
    def blocks(self) -> list[Block]:
        """Every piece of the request's text; a native request's tools come first."""
        tools = [
            Block(f"tool:{tool['function']['name']}", "tool docs", dump_json(tool))
            for tool in self.rendering.tools or []
        ]
        return [*tools, *(block for blocks in self.rendering.blocks for block in blocks)]

    @cached_property
    def characters(self) -> dict[str, int]:
        """Characters by kind of text; their sum is all that is sent as text."""
        counts: Counter[str] = Counter()
        for block in self.blocks:
            counts[block.kind] += len(block.text)
        return dict(counts)

    @property
    def text(self) -> str:
        """The request as one text, a heading before each message: what a diff compares."""
        tools = [dump_json(tool) for tool in self.rendering.tools or []]
        head = ["=== tools ===", *tools] if tools else []
        messages = [
            f"=== {message['role']} ===\n{message_text(message)}"
            for message in self.rendering.messages
        ]
        return "\n".join([*head, *messages])

    def tokens(self, count: CountTokens) -> int:
        """Tokens of all texts for the session's model, an estimate."""
        return count([block.text for block in self.blocks], self.session.task.model_name)


@dataclass(frozen=True)
class Comparison:
    """A session in several dialects. Displays itself in a notebook."""

    session: Session
    columns: list[Column]

    def column(self, dialect: str) -> Column:
        return next(column for column in self.columns if column.dialect.name == dialect)

    def diff(self, first: str, second: str) -> list[DiffLine]:
        """Line by line, from one dialect's request to another's."""
        return diff_lines(self.column(first).text, self.column(second).text)

    def frame(self) -> pd.DataFrame:
        """One row a dialect: messages, characters by kind, findings."""
        from playground.show import frames

        return frames.comparison(self)

    def figure(self) -> go.Figure:
        """Stacked bars: the share of each part in each dialect."""
        from playground.show import figures

        return figures.comparison(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from playground.show import bundles

        return bundles.comparison(self)


def compare(session: Session, dialects: Sequence[str | Dialect] = ()) -> Comparison:
    """Render a session in the given dialects, or in all of them."""
    chosen = [get_dialect(d) if isinstance(d, str) else d for d in dialects or dialect_names()]
    return Comparison(session, [Column(dialect, session) for dialect in chosen])


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff; invisible characters are shown by `visible`."""

    change: Literal["same", "removed", "added"]
    text: str


def diff_lines(first: str, second: str) -> list[DiffLine]:
    """A line diff in order; lines keep their ends, so that a CR or a missing newline shows."""
    left, right = _lines(first), _lines(second)
    return list(_diff(left, right))


def _lines(text: str) -> list[str]:
    pieces = text.split("\n")
    return [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _diff(left: list[str], right: list[str]) -> Iterator[DiffLine]:
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=len(left) + len(right) > 4_000)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield from (DiffLine("same", line) for line in left[a:b])
        else:
            yield from (DiffLine("removed", line) for line in left[a:b])
            yield from (DiffLine("added", line) for line in right[c:d])


_NAMES = {"\r": "␍", "\t": "⇥", "\u00a0": "⍽", "\ufeff": "⟨BOM⟩", "\u200b": "⟨ZWSP⟩"}


def visible(text: str) -> str:
    """Invisible characters made visible: line ends ↵, tabs, blanks at line ends, controls."""
    shown = "".join(_visible(char) for char in text)
    body = shown.rstrip(" ↵")
    return body + shown[len(body) :].replace(" ", "·")


def _visible(char: str) -> str:
    if char == "\n":
        return "↵"
    if char in _NAMES:
        return _NAMES[char]
    if char.isprintable():
        return char
    return f"⟨U+{ord(char):04X}⟩"
