"""The filters of a question, as SQL conditions and parameters: values of columns, and times."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from playground.base.errors import InputFault, UnknownNameError
from playground.plugins.corpus.questions import COLUMNS, Question, sql_column

_TIMES: Final = ("since", "until", "split")


class Filters:
    """Filters of a table as SQL, with their parameters in `values`. A filter without a value is
    ignored.

    Raises UnknownNameError for an unknown table, and InputFault for a column that is not among
    `known` (by default the table's columns), or for a time that cannot be read.
    """

    def __init__(
        self, table: str, filters: Mapping[str, Any], known: Collection[str] | None = None
    ) -> None:
        if table not in COLUMNS:
            raise UnknownNameError("table", table, list(COLUMNS))
        known = COLUMNS[table] if known is None else known
        self.values: dict[str, Any] = {}
        self._sql: dict[str, str] = {}
        for name, value in filters.items():
            if value is None or value == [] or value == "":
                continue
            if name in _TIMES:
                self.values[name] = _time(name, value)
                self._sql |= {name: _TIME_SQL[name]} if name in _TIME_SQL else {}
                continue
            if name == UNDATED:
                self._sql[name] = f"sent_at IS {'' if value in (True, [True]) else 'NOT '}NULL"
                continue
            if name not in known:
                expected = f"one of: {', '.join((*known, *_TIMES, UNDATED))}"
                raise InputFault(f"{name!r} is not a filter of {table}", expected=expected)
            self.values[name] = list(value) if isinstance(value, list | tuple) else [value]
            missing = f" OR {name} IS NULL" if None in self.values[name] else ""
            self._sql[name] = f"({sql_column(name)} IN (SELECT unnest(${name})){missing})"

    @property
    def where(self) -> str:
        return f"WHERE {' AND '.join(self._sql.values())}" if self._sql else ""

    @property
    def and_where(self) -> str:
        return "".join(f" AND {part}" for part in self._sql.values())

    def and_where_of(self, *names: str) -> str:
        """Return the conditions of the filters with these names, each after an AND."""
        return "".join(f" AND {part}" for name, part in self._sql.items() if name in names)


UNDATED: Final = "undated"  # a filter's name; True selects rows without a time, False all others
_TIME_SQL: Final = {"since": "sent_at >= $since", "until": "sent_at < $until"}


def row_filters(
    question: Question, by: Sequence[str], row: Mapping[str, Any], filters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return filters that select those rows of the question's table that one row of its answer
    counts. `by` and `filters` are those with which the question was asked. Of a row of `failures`,
    only the malformed calls are selected or, if there are none, only the failed calls."""
    conditions = dict(filters)
    columns = [
        name for name in (*by, *_FIXED_BY.get(question.name, ())) if name in COLUMNS[question.table]
    ]
    if question.name == "shapes" or (question.name == "failures" and row["malformed"]):
        conditions["ok"] = [False]
    elif question.name == "failures" and row["failed"]:
        conditions["failed"] = [True]
    conditions |= {name: [row[name]] for name in columns}
    for name in set(by) & set(_LAST_DAY):
        first = row[name]
        if first is None:
            conditions[UNDATED] = True
            continue
        since, until = (
            _time(each, conditions[each]) if conditions.get(each) else None for each in _ENDS
        )
        begin = datetime.combine(first, time())
        end = datetime.combine(_LAST_DAY[name](first) + timedelta(days=1), time())
        conditions["since"] = max(begin, since or begin)
        conditions["until"] = min(end, until or end)
    return conditions


_ENDS: Final = ("since", "until")
_FIXED_BY: Final = {"tools": ("tool",), "shapes": ("shape",)}  # question -> grouping columns
_LAST_DAY: Final[dict[str, Callable[[date], date]]] = {
    "day": lambda day: day,
    "week": lambda day: day + timedelta(days=6),
    "month": lambda day: day.replace(day=monthrange(day.year, day.month)[1]),
}


def question_sql(question: Question, names: Sequence[str], where: Filters) -> str:
    """Return a question's SQL, grouped by the columns `names`.

    Raises InputFault if the question cannot be grouped by these columns.
    """
    if names and not question.is_grouped:
        raise InputFault(f"{question.name} cannot be grouped", expected="the question alone")
    try:
        columns = [f"{question.column(name.strip())} AS {name.strip()}, " for name in names]
    except KeyError as error:
        raise InputFault(
            f"{question.name} cannot be grouped by {error.args[0]!r}",
            expected=f"any of: {', '.join(question.names)}",
        ) from error
    return question.sql.format(
        by="".join(columns),
        where=where.where,
        and_where=where.and_where,
        and_where_second=where.and_where_of(*COLUMNS.get(question.second, ()), *_TIMES, UNDATED),
        and_tool=where.and_where_of("tool"),
    )


def _time(name: str, value: Any) -> datetime:
    """Read a time, and return it in UTC without a time zone, as the tables have it.

    A time without a zone counts as UTC. Raises InputFault if the value is not a time.
    """
    try:
        time_value = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return time_value.astimezone(UTC).replace(tzinfo=None) if time_value.tzinfo else time_value
    except (ValueError, OverflowError) as error:
        expected = "a time such as 2026-11-22 or 2026-11-22T10:00"
        raise InputFault(f"{value!r} is no time", field=name, expected=expected) from error
