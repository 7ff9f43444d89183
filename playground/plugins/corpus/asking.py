"""`corpus`: a folder that was built, to be asked.

Every question is bounded: by rows, by seconds, by DuckDB's memory. A question that takes longer is
ended and says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Final

from playground.base.arguments import takes
from playground.base.errors import InputFault, UnknownNameError
from playground.plugins.corpus.answers import CorpusAnswer
from playground.plugins.corpus.blocks import BlockReader
from playground.plugins.corpus.bounds import MOST_ROWS, checked_limit, ended_after
from playground.plugins.corpus.catalog import Catalog, as_of, read_catalog
from playground.plugins.corpus.filters import Filters, written
from playground.plugins.corpus.layout import CorpusFolder
from playground.plugins.corpus.optional_dependencies import needed
from playground.plugins.corpus.questions import (
    OTHERS,
    QUESTIONS,
    analyses,
    clusters,
    question_names,
    receipts,
    versions,
)
from playground.plugins.corpus.signatures import BANDS
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.storing import stored_session
from playground.sessions.session import Session

SECONDS: Final = 30.0
_ROWS: Final = 50  # of a question that is more than SQL
_DIGITS: Final = 16  # of a session's id


@takes(path=(str, PathLike), analysis=(int, NoneType))
def corpus(path: str | PathLike[str], analysis: int | None = None) -> Corpus:
    """Return the corpus in a folder, or behind an address, that `playground corpus build` made, as
    it is now; with `analysis` by the facts of an older version of our analysis, as far as they are
    still there.

    Raises InputFault where there is none, and for one of a newer version.
    """
    needed()
    return Corpus(CorpusFolder(store_at(path)), analysis)


def state_of(path: str | PathLike[str]) -> str:
    """Return the state of the corpus in a folder: another text for each build.

    Raises InputFault as `corpus` does.
    """
    return read_catalog(CorpusFolder(store_at(path))).state


class Corpus:
    """A corpus to be asked. What is built meanwhile is seen by the next one that is opened."""

    def __init__(
        self, folder: CorpusFolder, analysis: int | None = None, catalog: Catalog | None = None
    ) -> None:
        known = catalog or read_catalog(folder)
        self.folder = folder.of(known.analysis if analysis is None else analysis)
        self.catalog = as_of(self.folder, known)
        from playground.plugins.corpus.views import Database  # which loads DuckDB

        self._database = Database(self.folder, self.catalog)
        self._lock = threading.Lock()
        self._asking = 0  # the thread whose question is being answered

    @takes(question="text", by=(str, Sequence, NoneType))
    def ask(
        self,
        question: str,
        by: str | Sequence[str] | None = None,
        *,
        limit: int | None = None,
        seconds: float = SECONDS,
        **filters: Any,
    ) -> CorpusAnswer:
        """Return a named question (`question_names`), `by` columns of its table, `week` and the
        like.

        `filters` are values of columns (a list: one of them), `since` and `until` (a time, the end
        left out), of `drift` the time of its `split`, of `versions` its `first` and `second`.
        Raises UnknownNameError for a question, InputFault for what it cannot be asked by.
        """
        if question in OTHERS:
            if by:
                raise InputFault(f"{question} is asked by nothing", expected="the question alone")
            most = checked_limit(_ROWS if limit is None else limit)
            return getattr(self, f"_{question}")(most, seconds, filters)  # type: ignore[no-any-return]
        if question not in QUESTIONS:
            raise UnknownNameError("question", question, list(question_names()))
        asked = QUESTIONS[question]
        names = asked.by if by is None else by.split(",") if isinstance(by, str) else tuple(by)
        most = checked_limit(asked.limit if limit is None else limit)
        where = Filters(asked.table, filters, asked.filters or None)
        if "$split" in asked.sql:
            where.values.setdefault("split", self._split())
        sql = written(asked, [name for name in names if name], where)
        return self._answer(question, sql, {**where.values, "limit": most + 1}, most, seconds)

    @takes(text="text")
    def sql(self, text: str, *, limit: int = 1_000, seconds: float = SECONDS) -> CorpusAnswer:
        """Return an answer to SQL over the views: `sessions`, `requests`, `calls`, `findings`,
        `breaks`, `toolsets`, `files`. Raises InputFault where DuckDB refuses it, where it is not
        one SELECT that writes nothing, and where it takes too long.
        """
        most = checked_limit(limit)
        with self._lock, self._bounded(seconds):
            self._asking = threading.get_ident()
            self._database.check(text)
        return self._answer("sql", text, {}, most, seconds)

    @takes(id=(str, int))
    def session(self, id: str | int) -> Session:
        """Return a session by its id (16 hexadecimal digits), as the corpus keeps it: without
        recordings, without secrets, and without texts where it is redacted. Raises InputFault.
        """
        number = _number(id)
        shard, skeleton = self._shard_and_block(number)
        blocks = BlockReader(self.folder.store, self.folder.pack(shard), self.folder.index(shard))
        return stored_session(blocks, skeleton)[0]

    @takes(id=(str, int))
    def source(self, id: str | int) -> tuple[str, str, int]:
        """Return the path or address of the file that a session came in, its name there (a tar's
        member), and its number.
        """
        sql = "SELECT path, name, number FROM sessions JOIN files USING (piece) WHERE session = {}"
        rows = self.sql(sql.format(_number(id)), limit=1).rows
        if not rows:
            raise _no_session(id)
        path, name, number = rows[0]
        return str(path), str(name), int(number)

    def behind(
        self, table: str, *, limit: int = 100, seconds: float = SECONDS, **filters: Any
    ) -> CorpusAnswer:
        """Return the sessions behind a number: those with rows of a table that the filters
        leave.
        """
        where = Filters(table, filters)
        sql = (
            "SELECT format('{:016x}', s.session) AS id, s.title, s.agent, s.version, s.model, "
            "s.dialect, s.form, s.sent_at, b.rows, b.first FROM sessions s JOIN (SELECT session, "
            f"count(*) AS rows, min({_first(table)}) AS first FROM {table} {where.where} "
            "GROUP BY session) b USING (session) ORDER BY s.sent_at DESC NULLS LAST, s.session "
            "LIMIT $limit"
        )
        values = {**where.values, "limit": checked_limit(limit) + 1}
        return self._answer("behind", sql, values, limit, seconds)

    def of_shards(self, shards: Sequence[str]) -> Corpus:
        """Return the same corpus, of some of its shards alone."""
        return Corpus(self.folder, catalog=replace(self.catalog, shards=list(shards)))

    def interrupt(self, thread: int | None = None) -> None:
        """End what is being asked, from another thread; of one `thread`, by its number, only what
        that one asks: others may ask the same corpus."""
        if thread in (None, self._asking):
            self._database.interrupt()

    # what SQL alone does not say

    def _errors(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        where, began = Filters("calls", filters), time.monotonic()
        sql = clusters.ERRORS.format(and_where=where.and_where)
        most = clusters.MOST_SIGNATURES
        found = self._answer("errors", sql, {**where.values, "most": most + 1}, most, seconds)
        notes = [f"the {most:,} commonest signatures were put together"] if found.cut else []
        put = clusters.clustered(found.rows)
        left = max(0.1, seconds - (time.monotonic() - began))
        sessions = self._sessions_of(put[:limit], where, left)
        rows = [each.row(count) for each, count in zip(put, sessions, strict=False)]
        columns, spent = list(clusters.ERROR_COLUMNS), round(time.monotonic() - began, 3)
        return CorpusAnswer("errors", columns, rows, sql, spent, len(put) > limit, notes)

    def _sessions_of(
        self, put: Sequence[clusters.Cluster], where: Filters, seconds: float
    ) -> list[int]:
        """In how many sessions each cluster's errors are: one that has errors of several
        signatures is one session nevertheless."""
        several = [(n, each) for n, each in enumerate(put) if len(each.signatures) > 1]
        joined = [(number, one) for number, each in several for one in each.signatures]
        counts: dict[int, int] = {}
        if joined:
            numbers, signatures = (list(each) for each in zip(*joined, strict=True))
            values = {**where.values, "numbers": numbers, "signatures": signatures}
            sql = clusters.SESSIONS.format(and_where=where.and_where)
            counts = dict(self._answer("errors", sql, values, len(put), seconds).rows)
        return [counts.get(number, each.sessions) for number, each in enumerate(put)]

    def _twins(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        where = Filters("sessions", filters)
        began, bands, cut = time.monotonic(), [], False
        for number in range(1, BANDS + 1):
            sql = clusters.BAND.format(number=number, and_where=where.and_where)
            left = max(0.1, seconds - (time.monotonic() - began))
            values = {**where.values, "most": clusters.MOST_IN_A_BAND}
            found = self._answer("twins", sql, values, MOST_ROWS, left)
            bands.append([row[0] for row in found.rows])
            cut = cut or found.cut
        alike_enough = clusters.twins(bands)
        pairs = alike_enough[:limit]
        titles = self._titles({each for pair in pairs for each in pair[:2]})
        rows = [
            (
                f"{one:016x}",
                f"{other:016x}",
                count,
                alike,
                [titles.get(n, "") for n in (one, other)],
            )
            for one, other, count, alike in pairs
        ]
        notes = [f"texts that more than {clusters.MOST_IN_A_BAND} sessions share are left out"]
        notes += [f"of each band {MOST_ROWS:,} texts were looked at"] if cut else []
        columns, spent = list(clusters.TWIN_COLUMNS), round(time.monotonic() - began, 3)
        return CorpusAnswer("twins", columns, rows, sql, spent, len(alike_enough) > limit, notes)

    def _titles(self, sessions: set[int]) -> dict[int, str]:
        listed = ", ".join(map(str, sorted(sessions))) or "0"
        sql = f"SELECT session, title FROM sessions WHERE session IN ({listed})"
        return {row[0]: row[1] for row in self.sql(sql, limit=MOST_ROWS).rows}

    def _versions(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        given = dict(filters)
        wanted = _two_of(given, "versions")
        where = Filters("sessions", given)
        sql = versions.SQL.format(where=where.where)
        found = self._answer("versions", sql, where.values, MOST_ROWS, seconds)
        before, after = versions.chosen(found.records(), wanted)
        names = [f"{row['agent'] or ''} {row['version']}".strip() for row in (before, after)]
        columns = [versions.COLUMNS[0], *names, *versions.COLUMNS[3:]]
        rows = versions.compared(before, after)
        more = len(rows) > limit
        return CorpusAnswer("versions", columns, rows[:limit], sql, found.seconds, more)

    def _receipts(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        where, began = Filters("sessions", filters), time.monotonic()
        sql = receipts.SQL.format(where=where.where)
        found = self._answer("receipts", sql, where.values, MOST_ROWS, seconds)
        files = [(str(path), str(form), bool(is_part)) for path, form, is_part, _ in found.rows]
        rows, notes = receipts.receipts(files, max(0.1, seconds - found.seconds))
        spent = round(time.monotonic() - began, 3)
        columns, more = list(receipts.COLUMNS), len(rows) > limit
        return CorpusAnswer("receipts", columns, rows[:limit], sql, spent, more, notes)

    def _analyses(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        given = dict(filters)
        known = self.folder.analyses
        numbers = _two_of(given, "analyses") or known[-2:]
        if len(numbers) < 2 or not set(map(str, numbers)) <= set(map(str, known)):
            expected = f"two of: {', '.join(map(str, known))}"
            raise InputFault("no two analyses", where=self.folder.store.name, expected=expected)
        where = Filters("sessions", given)
        sql = analyses.SQL.format(where=where.where)
        both = [Corpus(self.folder.of(int(number)), int(number)) for number in numbers]
        shared = [s for s in both[0].catalog.shards if s in set(both[1].catalog.shards)]
        found = [
            each.of_shards(shared)._answer("analyses", sql, where.values, MOST_ROWS, seconds)
            for each in both
        ]
        rows = analyses.changed(*(analyses.counted(each.rows) for each in found))
        columns = list(analyses.COLUMNS)
        columns[2:4] = [f"analysis {number}" for number in numbers]
        spent = round(sum(each.seconds for each in found), 3)
        return CorpusAnswer("analyses", columns, rows[:limit], sql, spent, len(rows) > limit)

    def _split(self) -> datetime | None:
        """Return the begin of the last seven days."""
        sql = "SELECT max(sent_at) - INTERVAL 7 DAY FROM requests"
        found: datetime | None = self.sql(sql).rows[0][0]
        return found

    def _shard_and_block(self, session: int) -> tuple[str, int]:
        """Return the shard of a session, and the block of its skeleton there."""
        sql = "SELECT text, filename FROM session_files WHERE session = $session"
        rows = (
            self.catalog.shards
            and self._answer("session", sql, {"session": session}, 1, SECONDS).rows
        )
        if rows:
            return Path(rows[0][1]).stem, int(rows[0][0])
        raise _no_session(session)

    def _answer(
        self, question: str, sql: str, values: Mapping[str, Any], most: int, seconds: float
    ) -> CorpusAnswer:
        began = time.monotonic()
        with self._lock, self._bounded(seconds):
            self._asking = threading.get_ident()
            expected = "" if question == "sql" else "filters with values as their columns have"
            columns, rows = self._database.fetched(sql, values, most + 1, expected)
        spent = round(time.monotonic() - began, 3)
        return CorpusAnswer(question, columns, rows[:most], sql, spent, len(rows) > most)

    def _bounded(self, seconds: float) -> AbstractContextManager[None]:
        return ended_after(seconds, self._database.interrupt, self.folder.store.name)


def _two_of(given: dict[str, Any], question: str) -> list[Any]:
    """Return the two values that a question compares, taken out of its filters; [] if unset.

    Raises InputFault if only one of the two is named.
    """
    found = {name: given.pop(name, None) for name in ("first", "second")}
    missing = [name for name, value in found.items() if value is None]
    if len(missing) == 1:
        told = f"{missing[0]!r} is missing"
        raise InputFault(told, where=question, expected="'first' and 'second', or neither")
    return [] if missing else list(found.values())


def _first(table: str) -> str:
    """Return a request's number in SQL as people read it, from 1 on; NULL for what is of none."""
    return "if(requests > 0, 1, NULL)" if table == "sessions" else "if(n < 0, NULL, n + 1)"


def _number(id: str | int) -> int:
    """Return a session's number: an id has 16 hexadecimal digits, what SQL gives is a decimal
    number of another length, with or without its commas. Raises InputFault for what is neither.
    """
    if isinstance(id, int):
        number = id
    else:
        digits = id.replace(",", "")
        base = 10 if digits.isdecimal() and len(digits) != _DIGITS else 16
        try:
            number = int(digits, base)
        except ValueError as error:
            raise _no_session(id) from error
    if not 0 <= number < 1 << 64:  # DuckDB would speak of its SQL
        raise _no_session(id)
    return number


def _no_session(id: str | int) -> InputFault:
    shown = f"{id:016x}" if isinstance(id, int) else id
    return InputFault(f"no session {shown!r}", expected="an id that an answer gave")
