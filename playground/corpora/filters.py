"""What a question is narrowed to: values of columns and times, as SQL and its parameters."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from playground.corpora.questions import COLUMNS, Question, shown
from playground.errors import InputFault, UnknownNameError

_TIMES: Final = ("since", "until", "split")


class Filters:
    """Filters as SQL and its parameters. Raises InputFault for a column that the table has not."""

    def __init__(self, table: str, given: Mapping[str, Any]) -> None:
        if table not in COLUMNS:
            raise UnknownNameError("table", table, list(COLUMNS))
        self.values: dict[str, Any] = {}
        self._parts: list[str] = []
        for name, value in given.items():
            if value is None or value == [] or value == "":
                continue
            if name in _TIMES:
                self.values[name] = _time(name, value)
                self._parts += _BOUNDS.get(name, [])
                continue
            if name not in COLUMNS[table]:
                expected = f"one of: {', '.join((*COLUMNS[table], *_TIMES))}"
                raise InputFault(f"no filter {name!r} of {table}", expected=expected)
            self.values[name] = list(value) if isinstance(value, list | tuple) else [value]
            missing = f" OR {name} IS NULL" if None in self.values[name] else ""
            self._parts.append(f"({shown(name)} IN (SELECT unnest(${name})){missing})")

    @property
    def where(self) -> str:
        return f"WHERE {' AND '.join(self._parts)}" if self._parts else ""

    @property
    def and_where(self) -> str:
        return "".join(f" AND {part}" for part in self._parts)


_BOUNDS: Final = {"since": ["sent_at >= $since"], "until": ["sent_at < $until"]}


def behind_row(
    asked: Question, by: Sequence[str], row: Mapping[str, Any], narrowed: Mapping[str, Any]
) -> dict[str, Any]:
    """What the rows of its table have in common that one row of an answer counts; `narrowed` is
    what the question was narrowed to."""
    found = dict(narrowed)
    own = [name for name in (*by, *_NAMED.get(asked.name, ())) if name in COLUMNS[asked.table]]
    if asked.name in ("failures", "shapes"):
        found["ok"] = [False]
    found |= {name: [row[name]] for name in own}
    for name in set(by) & set(_LAST_DAY):
        first = row[name]
        if first is None:
            continue
        since, until = (_time(each, found[each]) if found.get(each) else None for each in _ENDS)
        begin = datetime.combine(first, time())
        end = datetime.combine(_LAST_DAY[name](first) + timedelta(days=1), time())
        found["since"] = max(begin, since or begin)
        found["until"] = min(end, until or end)
    return found


_ENDS: Final = ("since", "until")
_NAMED: Final = {"tools": ("tool",), "shapes": ("shape",)}  # columns that a question is always by
_LAST_DAY: Final[dict[str, Callable[[date], date]]] = {
    "day": lambda day: day,
    "week": lambda day: day + timedelta(days=6),
    "month": lambda day: day.replace(day=monthrange(day.year, day.month)[1]),
}


def written(asked: Question, names: Sequence[str], where: Filters) -> str:
    """The question's SQL by these names."""
    if names and not asked.is_grouped:
        raise InputFault(f"{asked.name} is asked by nothing", expected="the question alone")
    try:
        columns = [f"{asked.column(name.strip())} AS {name.strip()}, " for name in names]
    except KeyError as error:
        raise InputFault(
            f"{asked.name} cannot be asked by {error.args[0]!r}",
            expected=f"any of: {', '.join(asked.names)}",
        ) from error
    return asked.sql.format(by="".join(columns), where=where.where, and_where=where.and_where)


def _time(name: str, value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError as error:
        expected = "a time such as 2026-11-22 or 2026-11-22T10:00"
        raise InputFault(f"{value!r} is no time", field=name, expected=expected) from error
