"""Open a corpus, and answer questions about it. Every question has limits on rows, seconds and
memory. A question that takes too long is interrupted and raises InputFault."""

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
from playground.plugins.corpus.bounds import MOST_ROWS, check_limit, time_limit
from playground.plugins.corpus.catalog import Catalog, for_analysis, read_catalog
from playground.plugins.corpus.filters import Filters, question_sql
from playground.plugins.corpus.layout import CorpusFolder
from playground.plugins.corpus.optional_dependencies import require_extra
from playground.plugins.corpus.questions import (
    OTHERS,
    QUESTIONS,
    analyses,
    clusters,
    question_names,
    receipts,
    versions,
)
from playground.plugins.corpus.receipt_figures import kept_figures
from playground.plugins.corpus.signatures import BANDS
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.storing import stored_session
from playground.sessions.session import Session

SECONDS: Final = 30.0
_DEFAULT_ROWS: Final = 50  # default limit of the questions that need more than SQL
_ID_DIGITS: Final = 16  # of a session's id


@takes(path=(str, PathLike), analysis=(int, NoneType))
def corpus(path: str | PathLike[str], analysis: int | None = None) -> Corpus:
    """Open the corpus that `playground corpus build` made in a folder or at an address.

    `analysis` is the number of an older version of our analysis, whose facts are then used.

    Raises InputFault if there is no such corpus, if a newer playground made it, or if it has no
    facts of that version.
    """
    require_extra()
    return Corpus(CorpusFolder(store_at(path)), analysis)


def state_of(path: str | PathLike[str]) -> str:
    """Return the state of a corpus, given its folder or address: a text that every build changes.

    Raises InputFault as `corpus` does.
    """
    return read_catalog(CorpusFolder(store_at(path))).state


class Corpus:
    """An open corpus. Its answers are about the state in which it was opened, even if a build
    changes the files."""

    def __init__(
        self, folder: CorpusFolder, analysis: int | None = None, catalog: Catalog | None = None
    ) -> None:
        current = catalog or read_catalog(folder)
        self.folder = folder.with_analysis(current.analysis if analysis is None else analysis)
        self.catalog = for_analysis(self.folder, current)
        from playground.plugins.corpus.views import Database  # which loads DuckDB

        self._database = Database(self.folder, self.catalog)
        self._lock = threading.Lock()
        self._asking = 0  # number of the thread that is asking

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
        """Answer a named question (`question_names`), grouped `by` columns of its table or by
        `day`, `week` or `month`.

        `filters` are values of columns (a list means any of its items) and times: `since`
        (included) and `until` (not included). `drift` compares the times before and after `split`;
        `versions` and `analyses` compare `first` with `second`.

        Raises UnknownNameError for an unknown question, and InputFault for an unknown column or
        filter, a wrong `by` or `limit`, and a question that takes too long.
        """
        if question in OTHERS:
            if by:
                raise InputFault(f"{question} cannot be grouped", expected="the question alone")
            most = check_limit(_DEFAULT_ROWS if limit is None else limit)
            return getattr(self, f"_{question}")(most, seconds, filters)  # type: ignore[no-any-return]
        if question not in QUESTIONS:
            raise UnknownNameError("question", question, list(question_names()))
        definition = QUESTIONS[question]
        names = definition.by if by is None else by.split(",") if isinstance(by, str) else tuple(by)
        most = check_limit(definition.limit if limit is None else limit)
        where = Filters(definition.table, filters, definition.filters or None)
        if "$split" in definition.sql:
            where.values.setdefault("split", self._split())
        sql = question_sql(definition, [name for name in names if name], where)
        return self._answer(question, sql, {**where.values, "limit": most + 1}, most, seconds)

    @takes(text="text")
    def sql(self, text: str, *, limit: int = 1_000, seconds: float = SECONDS) -> CorpusAnswer:
        """Answer SQL over the views `sessions`, `requests`, `calls`, `findings`, `breaks`,
        `toolsets`, `histories`, `wires` and `files`.

        Raises InputFault if DuckDB refuses it, if it is not a single SELECT that writes nothing, or
        if it takes too long.
        """
        most = check_limit(limit)
        with self._lock, self._bounded(seconds):
            self._asking = threading.get_ident()
            self._database.check(text)
        return self._answer("sql", text, {}, most, seconds)

    @takes(id=(str, int))
    def session(self, id: str | int) -> Session:
        """Return a session by its id (16 hexadecimal digits), as the corpus stores it.

        The session has no recordings and no secrets; from a redacted corpus, it has no texts
        either. Raises InputFault if there is no such session.
        """
        number = _number(id)
        shard, skeleton = self._shard_and_block(number)
        blocks = BlockReader(self.folder.store, self.folder.pack(shard), self.folder.index(shard))
        return stored_session(blocks, skeleton)[0]

    @takes(id=(str, int))
    def source(self, id: str | int) -> tuple[str, str, int]:
        """Return the origin of a session: the path or address of its file; the name of the piece
        that was read at once (the file, a stretch of it, or a member of a tar); and the session's
        number in this piece.

        Raises InputFault if there is no such session.
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
        """Return the sessions that have rows in a table which pass the filters. Each comes with the
        number of these rows (`rows`), and the first request that one of them is about (`first`)."""
        where = Filters(table, filters)
        sql = (
            "SELECT format('{:016x}', s.session) AS id, s.title, s.agent, s.version, s.model, "
            "s.dialect, s.form, s.sent_at, b.rows, b.first FROM sessions s JOIN (SELECT session, "
            f"count(*) AS rows, min({_first_request_sql(table)}) AS first "
            f"FROM {table} {where.where} "
            "GROUP BY session) b USING (session) ORDER BY s.sent_at DESC NULLS LAST, s.session "
            "LIMIT $limit"
        )
        values = {**where.values, "limit": check_limit(limit) + 1}
        return self._answer("behind", sql, values, limit, seconds)

    def of_shards(self, shards: Sequence[str]) -> Corpus:
        """Return the same corpus with only some of its shards."""
        return Corpus(self.folder, catalog=replace(self.catalog, shards=list(shards)))

    def interrupt(self, thread: int | None = None) -> None:
        """Interrupt the running question, from another thread.

        With `thread`, the number of a thread, only a question of that thread is interrupted.
        """
        if thread in (None, self._asking):
            self._database.interrupt()

    # questions that need more than SQL

    def _errors(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        where, began = Filters("calls", filters), time.monotonic()
        sql = clusters.ERRORS.format(and_where=where.and_where)
        most = clusters.MOST_SIGNATURES
        answer = self._answer("errors", sql, {**where.values, "most": most + 1}, most, seconds)
        notes = [f"only the {most:,} commonest error signatures were grouped"] if answer.cut else []
        groups = clusters.cluster_errors(answer.rows)
        remaining = max(0.1, seconds - (time.monotonic() - began))
        sessions = self._sessions_of(groups[:limit], where, remaining)
        rows = [cluster.row(count) for cluster, count in zip(groups, sessions, strict=False)]
        columns, spent = list(clusters.ERROR_COLUMNS), round(time.monotonic() - began, 3)
        return CorpusAnswer("errors", columns, rows, sql, spent, len(groups) > limit, notes)

    def _sessions_of(
        self, groups: Sequence[clusters.Cluster], where: Filters, seconds: float
    ) -> list[int]:
        """Return for each cluster the number of sessions with its errors. A session counts once,
        even if it has errors of several signatures. Clusters of one signature need no SQL."""
        several = [(n, cluster) for n, cluster in enumerate(groups) if len(cluster.signatures) > 1]
        pairs = [
            (number, signature) for number, cluster in several for signature in cluster.signatures
        ]
        counts: dict[int, int] = {}
        if pairs:
            numbers, signatures = (list(column) for column in zip(*pairs, strict=True))
            values = {**where.values, "numbers": numbers, "signatures": signatures}
            sql = clusters.SESSIONS.format(and_where=where.and_where)
            counts = dict(self._answer("errors", sql, values, len(groups), seconds).rows)
        return [counts.get(number, cluster.sessions) for number, cluster in enumerate(groups)]

    def _twins(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        where = Filters("sessions", filters)
        began, bands, cut = time.monotonic(), [], False
        for number in range(1, BANDS + 1):
            sql = clusters.BAND.format(number=number, and_where=where.and_where)
            remaining = max(0.1, seconds - (time.monotonic() - began))
            values = {**where.values, "most": clusters.MOST_IN_A_BAND}
            answer = self._answer("twins", sql, values, MOST_ROWS, remaining)
            bands.append([row[0] for row in answer.rows])
            cut = cut or answer.cut
        all_pairs = clusters.find_twins(bands)
        pairs = all_pairs[:limit]
        titles = self._titles({session for pair in pairs for session in pair[:2]})
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
        notes += (
            [f"in each of {BANDS} comparisons, only {MOST_ROWS:,} groups were read"] if cut else []
        )
        columns, spent = list(clusters.TWIN_COLUMNS), round(time.monotonic() - began, 3)
        return CorpusAnswer("twins", columns, rows, sql, spent, len(all_pairs) > limit, notes)

    def _titles(self, sessions: set[int]) -> dict[int, str]:
        listed = ", ".join(map(str, sorted(sessions))) or "0"
        sql = f"SELECT session, title FROM sessions WHERE session IN ({listed})"
        return {row[0]: row[1] for row in self.sql(sql, limit=MOST_ROWS).rows}

    def _versions(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        remaining = dict(filters)
        wanted = _two_of(remaining, "versions")
        where = Filters("sessions", remaining)
        sql = versions.SQL.format(where=where.where)
        answer = self._answer("versions", sql, where.values, MOST_ROWS, seconds)
        first, second = versions.choose_versions(answer.records(), wanted)
        names = [f"{row['agent'] or ''} {row['version']}".strip() for row in (first, second)]
        columns = [versions.COLUMNS[0], *names, *versions.COLUMNS[3:]]
        rows = versions.compare_versions(first, second)
        more = len(rows) > limit
        return CorpusAnswer("versions", columns, rows[:limit], sql, answer.seconds, more)

    def _receipts(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        where, began = Filters("sessions", filters), time.monotonic()
        sql = receipts.SQL.format(where=where.where)
        answer = self._answer("receipts", sql, where.values, MOST_ROWS, seconds)
        files = [
            receipts.CorpusFile(str(path), str(form), bool(part), str(content) * (pieces == 1))
            for path, form, part, _, content, pieces in answer.rows
        ]
        stored = kept_figures(self.folder)
        rows, notes = receipts.receipts(files, stored, max(0.1, seconds - answer.seconds))
        spent = round(time.monotonic() - began, 3)
        columns, more = list(receipts.COLUMNS), len(rows) > limit
        return CorpusAnswer("receipts", columns, rows[:limit], sql, spent, more, notes)

    def _analyses(self, limit: int, seconds: float, filters: Mapping[str, Any]) -> CorpusAnswer:
        remaining = dict(filters)
        existing = self.folder.analyses
        numbers = _two_of(remaining, "analyses") or existing[-2:]
        if len(numbers) < 2 or not set(map(str, numbers)) <= set(map(str, existing)):
            expected = f"two of: {', '.join(map(str, existing))}"
            problem = "two analyses of this corpus are needed"
            raise InputFault(problem, where=self.folder.store.name, expected=expected)
        where = Filters("sessions", remaining)
        sql = analyses.SQL.format(where=where.where)
        corpora = [
            Corpus(self.folder.with_analysis(int(number)), int(number)) for number in numbers
        ]
        shared = [s for s in corpora[0].catalog.shards if s in set(corpora[1].catalog.shards)]
        answers = [
            corpus.of_shards(shared)._answer("analyses", sql, where.values, MOST_ROWS, seconds)
            for corpus in corpora
        ]
        rows = analyses.changed_counts(*(analyses.counts_by_key(each.rows) for each in answers))
        columns = list(analyses.COLUMNS)
        columns[2:4] = [f"analysis {number}" for number in numbers]
        spent = round(sum(answer.seconds for answer in answers), 3)
        return CorpusAnswer("analyses", columns, rows[:limit], sql, spent, len(rows) > limit)

    def _split(self) -> datetime | None:
        """Return the default `split` of `drift`: seven days before the last request."""
        sql = "SELECT max(sent_at) - INTERVAL 7 DAY FROM requests"
        begin: datetime | None = self.sql(sql).rows[0][0]
        return begin

    def _shard_and_block(self, session: int) -> tuple[str, int]:
        """Return the shard of a session, and the number of the block that has the session without
        its texts (the skeleton)."""
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
            expected = (
                "" if question == "sql" else "filter values of the same type as their columns"
            )
            columns, rows = self._database.fetch(sql, values, most + 1, expected)
        spent = round(time.monotonic() - began, 3)
        return CorpusAnswer(question, columns, rows[:most], sql, spent, len(rows) > most)

    def _bounded(self, seconds: float) -> AbstractContextManager[None]:
        return time_limit(seconds, self._database.interrupt, self.folder.store.name)


def _two_of(filters: dict[str, Any], question: str) -> list[Any]:
    """Remove `first` and `second`, which a question compares, from its filters; return both, or [].

    Raises InputFault if only one of them is set.
    """
    values = {name: filters.pop(name, None) for name in ("first", "second")}
    missing = [name for name, value in values.items() if value is None]
    if len(missing) == 1:
        problem = f"{missing[0]!r} is missing"
        raise InputFault(problem, where=question, expected="'first' and 'second', or neither")
    return [] if missing else list(values.values())


def _first_request_sql(table: str) -> str:
    """Return SQL for the number, from 1, of the request that a row is about (NULL if none); the
    row of a session is about its first request."""
    return "if(requests > 0, 1, NULL)" if table == "sessions" else "if(n < 0, NULL, n + 1)"


def _number(id: str | int) -> int:
    """Return a session's number, given its id or the number itself. A text of decimal digits,
    perhaps with commas, is the number as SQL shows it, unless it has 16 digits, as an id has. Any
    other text is read as hexadecimal. Raises InputFault for a number that no session can have.
    """
    if isinstance(id, int):
        number = id
    else:
        digits = id.replace(",", "")
        base = 10 if digits.isdecimal() and len(digits) != _ID_DIGITS else 16
        try:
            number = int(digits, base)
        except ValueError as error:
            raise _no_session(id) from error
    if not 0 <= number < 1 << 64:  # DuckDB's error would be about our SQL
        raise _no_session(id)
    return number


def _no_session(id: str | int) -> InputFault:
    shown = f"{id:016x}" if isinstance(id, int) else id
    return InputFault(f"there is no session {shown!r}", expected="an id that an answer gave")
