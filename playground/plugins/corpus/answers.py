"""The answer of a corpus: a table, its SQL, and the seconds that the SQL took."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from playground.base.display import Drawn


@dataclass(frozen=True)
class CorpusAnswer(Drawn):
    """An answer as a table: `rows` of values in the order of `columns`.

    `sql` is what DuckDB ran, in `seconds`. `cut` is True if the limit left out rows; `notes` say
    what else is left out.
    """

    question: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    sql: str = ""
    seconds: float = 0.0
    cut: bool = False
    notes: list[str] = field(default_factory=list)

    def records(self) -> list[dict[str, Any]]:
        """Return each row as a dict from column to value."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def plain(self) -> dict[str, Any]:
        """Return the answer as JSON values: times become texts, decimals floats."""
        head = {name: getattr(self, name) for name in ("question", "seconds", "cut", "notes")}
        rows = [
            {name: _plain(value) for name, value in record.items()} for record in self.records()
        ]
        return {**head, "columns": self.columns, "rows": rows}


def _plain(value: Any) -> Any:
    match value:
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case list():
            return [_plain(item) for item in value]
        case None | bool() | int() | float() | str() | dict():
            return value
        case _:
            return str(value)
