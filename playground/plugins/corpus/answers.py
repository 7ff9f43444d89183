"""The answer of a corpus: rows, their origin, and how long they took."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from playground.base.display import Drawn


@dataclass(frozen=True)
class CorpusAnswer(Drawn):
    """A question's answer: `rows` under `columns`; `sql` was asked of DuckDB, in `seconds`.

    `cut` is true if there are more rows than were asked for.
    """

    question: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    sql: str = ""
    seconds: float = 0.0
    cut: bool = False
    notes: list[str] = field(default_factory=list)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows by the names of their columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def plain(self) -> dict[str, Any]:
        """Return the answer as JSON has it: times as texts, decimal numbers as numbers."""
        told = {name: getattr(self, name) for name in ("question", "seconds", "cut", "notes")}
        rows = [{name: _plain(value) for name, value in each.items()} for each in self.records()]
        return {**told, "columns": self.columns, "rows": rows}


def _plain(value: Any) -> Any:
    match value:
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case list():
            return [_plain(each) for each in value]
        case None | bool() | int() | float() | str() | dict():
            return value
        case _:
            return str(value)
