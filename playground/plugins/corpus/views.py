"""DuckDB over a corpus: its tables as views of the shards that count, within bounds.

Nothing but the corpus's own files can be read from SQL, and none be written: what somebody asks
stays a question. DuckDB itself would write wherever it may read.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from playground.base.errors import InputFault
from playground.base.output import ScratchFolder
from playground.plugins.corpus.catalog import (
    Catalog,
    built_files,
    files_table,
    has_table,
    manifests,
)
from playground.plugins.corpus.layout import CorpusFolder
from playground.plugins.corpus.tables import SCHEMAS

MEMORY_LIMIT: Final = "512MB"  # of DuckDB's own 80 % of the machine
THREADS: Final = 2
_DOCUMENT: Final = "docs/corpus.md"
_OF_SQL: Final = (  # what DuckDB says of a question, and of no file
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.PermissionException,
    duckdb.InterruptException,
    duckdb.OutOfMemoryException,
)
# Claude Code tells of a sub-agent in the transcript of its agent, though not all, and in a file of
# its own: of those with one name the longest counts. Names that we gave are of one file alone.
_TOLD_TWICE: Final = "told_twice"
_DOUBLES: Final = """
SELECT session FROM sessions
WHERE sub_agent <> '' AND form = 'claude-code' AND run <> ''
  AND sub_agent <> 'sub-agent' AND NOT starts_with(sub_agent, 'sidechain ')
QUALIFY row_number() OVER (PARTITION BY run, sub_agent
  ORDER BY requests DESC, messages DESC, calls DESC, number, session) > 1"""


def connected(folder: CorpusFolder, spill: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB within our bounds: what does not fit in its memory goes to `spill`, which nobody else
    may use: it names its files by its process id, which programs in several containers share."""
    made = duckdb.connect(config={"memory_limit": MEMORY_LIMIT, "threads": THREADS})
    folder.store.attach(made)
    made.execute(f"SET temp_directory = {text_of(spill)}")
    made.execute("SET autoinstall_known_extensions = false")
    made.execute("SET preserve_insertion_order = false")
    made.execute("SET enable_progress_bar = false")  # it goes to standard output, after two seconds
    return made


class Database:
    """The views `sessions`, `requests`, `calls`, `findings`, `breaks`, `toolsets` and `files`."""

    def __init__(self, folder: CorpusFolder, catalog: Catalog) -> None:
        self._folder, self._catalog = folder, catalog
        spill = folder.store.scratch / "duckdb"
        with suppress(OSError):  # a corpus that may be read alone: what fits in memory is answered
            own = ScratchFolder(folder.store.scratch)
            weakref.finalize(self, own.close)
            spill = own.path
        self._made = connected(folder, spill)
        self._has_doubles = False
        self._view("sessions")
        self._has_doubles = self._found_doubles()
        for table in SCHEMAS:
            self._view(table)
        self._view_files()
        allowed = ", ".join(text_of(each) for each in (folder.store.root, spill))
        self._made.execute(f"SET allowed_directories = [{allowed}]")
        self._made.execute("SET enable_external_access = false")
        self._made.execute("SET lock_configuration = true")

    def fetched(
        self, sql: str, values: Mapping[str, Any], most: int, expected: str = ""
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the columns of an answer, and so many of its rows at most; `values` are
        parameters, those that the SQL does not name aside. Raises InputFault for what DuckDB
        refuses; `expected` is what would be right where the SQL is ours.
        """
        used = {name: value for name, value in values.items() if f"${name}" in sql}
        try:
            found = self._made.execute(sql, used or None)
            columns = [str(each[0]) for each in found.description or ()]
            return columns, found.fetchmany(most)
        except duckdb.Error as error:
            raise self._fault(error, expected) from error

    def check(self, sql: str) -> None:
        """Raises InputFault for what is not one SELECT, and for one that writes: DuckDB 2 takes a
        COPY or an INSERT in its WITH, but not within brackets."""
        try:
            found = self._made.extract_statements(sql)
            if [each.type for each in found] != [duckdb.StatementType.SELECT]:
                told = " and ".join(each.type.name for each in found) or "nothing"
                expected = f"one SELECT: SQL over the views of {_DOCUMENT}"
                raise InputFault(f"{told} is no question", expected=expected)
            self._made.execute(f"EXPLAIN FROM (\n{found[0].query.rstrip().rstrip(';')}\n)")
        except duckdb.Error as error:
            raise self._fault(error) from error

    def interrupt(self) -> None:
        """End what is being asked, from another thread."""
        self._made.interrupt()

    def _found_doubles(self) -> bool:
        """Keep the sessions that another one tells again, and say whether there are any: a table,
        for with a list of them in a view each row would be compared with each of them."""
        try:
            self._made.execute(f"CREATE TABLE {_TOLD_TWICE} AS {_DOUBLES}")
            # all of it: DuckDB takes a result that is left for one that is still read
            return bool(self._made.execute(f"FROM {_TOLD_TWICE} LIMIT 1").fetchall())
        except duckdb.Error:  # files that are torn: whoever asks them is told
            return False

    def _view(self, table: str) -> None:
        folder, catalog = self._folder, self._catalog
        shards = catalog.shards
        if not self._create(table, shards):  # torn, or from before there was this table
            known = manifests(folder, redacts=catalog.redacts)
            older = {each["shard"] for each in known if not has_table(folder, each, table)}
            self._create(table, [shard for shard in shards if shard not in older], must=True)

    def _view_files(self) -> None:
        """Create the view of files and contents; later builds may have taken that list away."""
        folder, catalog = self._folder, self._catalog
        listed = listed_of(folder, [folder.files(catalog.generation)])
        try:
            self._made.execute(f"CREATE VIEW files AS SELECT * FROM read_parquet({listed})")
        except duckdb.Error:
            self._made.register("built_files", files_table(built_files(folder, catalog)))
            self._made.execute("CREATE VIEW files AS SELECT * FROM built_files")

    def _create(self, table: str, shards: Sequence[str], *, must: bool = False) -> bool:
        """Make the view of a table over these shards, and say whether it could be made. Raises
        InputFault where it `must`."""
        folder, catalog = self._folder, self._catalog
        if not shards:
            self._made.register(f"no_{table}", SCHEMAS[table].empty_table())
            self._made.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM no_{table}")
            return True
        months = catalog.months
        listed = listed_of(
            folder,
            (
                name
                for shard in shards
                for name in folder.fact_files(table, shard, months.get(shard, ()))
            ),
        )
        # lists of tools are a piece's, and no session's
        once = self._has_doubles and table != "toolsets"
        counts = f" ANTI JOIN {_TOLD_TWICE} USING (session)" if once else ""
        if catalog.dropped:
            counts += f" WHERE piece NOT IN ({', '.join(map(str, catalog.dropped))})"
        views = {table: f"* FROM read_parquet({listed})"}
        if table == "sessions":  # whose texts lie in the blocks of that shard
            views["session_files"] = (
                f"session, text, filename FROM read_parquet({listed}, filename=true)"
            )
        try:
            for name, columns in views.items():
                self._made.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT {columns}{counts}")
        except duckdb.Error as error:
            if must:
                raise self._fault(error) from error
            return False
        return True

    def _fault(self, error: duckdb.Error, expected: str = "") -> InputFault:
        """Turn an error of DuckDB into one line: files that are torn or gone are named."""
        shards, redacts = self._catalog.shards, self._catalog.redacts
        whole = {found["shard"] for found in manifests(self._folder, redacts=redacts)}
        torn = [shard for shard in shards if shard not in whole]
        if torn:
            return InputFault(
                f"{len(torn)} of {len(shards)} shards are torn or gone ({torn[0]})",
                where=self._folder.store.name,
                expected="`playground corpus build` with the same inputs, which builds them again",
            )
        spoiled = "" if isinstance(error, _OF_SQL) else self._spoiled()
        if spoiled:
            return InputFault(
                "this file is damaged",
                where=f"{self._folder.store.name}/{spoiled}",
                expected="that it is taken away, and `playground corpus build` with the same "
                "inputs, which makes it again",
            )
        expected = expected or f"SQL over the views of {_DOCUMENT}"
        return InputFault(said_of(error), where=self._folder.store.name, expected=expected)

    def _spoiled(self) -> str:
        """Return the first file of facts, of the right length, that nobody can read; "" for
        none.
        """
        folder, months = self._folder, self._catalog.months
        listed = (
            name
            for shard in self._catalog.shards
            for table in SCHEMAS
            for name in folder.fact_files(table, shard, months.get(shard, ()))
        )
        return next((name for name in listed if not _is_readable(folder, name)), "")


def _is_readable(folder: CorpusFolder, name: str) -> bool:
    try:
        with folder.store.opened(name) as file:
            for _ in pq.ParquetFile(file).iter_batches():
                pass
    except FileNotFoundError:  # of a table that there was not yet
        return True
    except (OSError, pa.ArrowException):
        return False
    return True


def said_of(error: Exception) -> str:
    """Return DuckDB's message without its excerpt of the SQL."""
    said = str(error).partition("\n\nLINE")[0].partition("\n\nStack")[0].strip()
    if "Traceback" in said:  # of a store's, which it met while it read
        said = said.splitlines()[-1]
    return said


def listed_of(folder: CorpusFolder, names: Iterable[str]) -> str:
    """Files of a corpus as a list of SQL."""
    return f"[{', '.join(text_of(f'{folder.store.root}/{name}') for name in names)}]"


def text_of(value: Path | str) -> str:
    """Return a path, or another name of ours, as a text of SQL."""
    return "'" + str(value).replace("'", "''") + "'"
