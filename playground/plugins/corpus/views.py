"""DuckDB over a corpus: views of the facts of all shards in the catalog, with a memory limit.

SQL can read only the corpus' own files. DuckDB could also write there; `check` refuses such SQL.
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
from playground.plugins.corpus.catalog import (
    Catalog,
    built_files,
    files_table,
    has_table,
    manifests,
)
from playground.plugins.corpus.layout import CorpusFolder
from playground.plugins.corpus.tables import SCHEMAS
from playground.plugins.corpus.temporary_files import ScratchFolder

MEMORY_LIMIT: Final = "512MB"  # DuckDB's memory limit; its default is 80 % of the machine
THREADS: Final = 2
_DOCUMENT: Final = "docs/corpus.md"
_SQL_ERRORS: Final = (  # errors about the SQL, not about a file
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.PermissionException,
    duckdb.InterruptException,
    duckdb.OutOfMemoryException,
)
# Claude Code writes a sub-agent's session twice: in part into the agent's transcript, and into a
# separate file. Of a run's sessions with the same sub-agent's name, only the one with the most
# requests counts. Names that the importer invented are not compared.
_REPEATED: Final = "repeated_sessions"
_REPEATED_SQL: Final = """
SELECT session FROM sessions
WHERE sub_agent <> '' AND form = 'claude-code' AND run <> ''
  AND sub_agent <> 'sub-agent' AND NOT starts_with(sub_agent, 'sidechain ')
QUALIFY row_number() OVER (PARTITION BY run, sub_agent
  ORDER BY requests DESC, messages DESC, calls DESC, number, session) > 1"""


def connect(folder: CorpusFolder, spill: Path) -> duckdb.DuckDBPyConnection:
    """Open DuckDB with our limits; data that does not fit in memory goes to the folder `spill`. No
    other process may use `spill`, because DuckDB names its files by process id, and processes in
    two containers may have the same id.
    """
    connection = duckdb.connect(config={"memory_limit": MEMORY_LIMIT, "threads": THREADS})
    folder.store.attach(connection)
    connection.execute(f"SET temp_directory = {sql_text(spill)}")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET preserve_insertion_order = false")
    # without this setting, a progress bar goes to standard output after two seconds
    connection.execute("SET enable_progress_bar = false")
    return connection


class Database:
    """A DuckDB connection with a view for each table of facts, and the view `files`."""

    def __init__(self, folder: CorpusFolder, catalog: Catalog) -> None:
        self._folder, self._catalog = folder, catalog
        spill = folder.store.scratch / "duckdb"
        with suppress(OSError):  # a read-only corpus: answers must fit in memory
            scratch = ScratchFolder(folder.store.scratch)
            weakref.finalize(self, scratch.close)
            spill = scratch.path
        self._connection = connect(folder, spill)
        self._has_repeated = False
        self._view("sessions")
        self._has_repeated = self._find_repeated()
        for table in SCHEMAS:
            self._view(table)
        self._view_files()
        allowed = ", ".join(sql_text(path) for path in (folder.store.root, spill))
        self._connection.execute(f"SET allowed_directories = [{allowed}]")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def fetch(
        self, sql: str, values: Mapping[str, Any], most: int, expected: str = ""
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names of the columns of an answer to SQL, and at most `most` of its rows.

        `values` are parameters; those that the SQL does not name are ignored. Raises InputFault,
        with `expected` as the advice, if DuckDB refuses the SQL.
        """
        used = {name: value for name, value in values.items() if f"${name}" in sql}
        try:
            result = self._connection.execute(sql, used or None)
            columns = [str(column[0]) for column in result.description or ()]
            return columns, result.fetchmany(most)
        except duckdb.Error as error:
            raise self._fault(error, expected) from error

    def check(self, sql: str) -> None:
        """Raise InputFault if SQL is not exactly one SELECT, or if it writes.

        The SQL is put in brackets, because within them DuckDB 2 allows no COPY or INSERT in a WITH.
        """
        try:
            statements = self._connection.extract_statements(sql)
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                kinds = " and ".join(statement.type.name for statement in statements) or "nothing"
                expected = f"one SELECT: SQL over the views of {_DOCUMENT}"
                raise InputFault(f"{kinds} is no question", expected=expected)
            self._connection.execute(
                f"EXPLAIN FROM (\n{statements[0].query.rstrip().rstrip(';')}\n)"
            )
        except duckdb.Error as error:
            raise self._fault(error) from error

    def interrupt(self) -> None:
        """Interrupt the running question, from another thread."""
        self._connection.interrupt()

    def _find_repeated(self) -> bool:
        """Make a table of the sessions that another session repeats; return True if there are any.
        A view with a list of them would be slower, because each row would be compared with each
        entry of the list.
        """
        try:
            self._connection.execute(f"CREATE TABLE {_REPEATED} AS {_REPEATED_SQL}")
            # `fetchall`, because DuckDB treats a result as in use until it is read to its end
            return bool(self._connection.execute(f"FROM {_REPEATED} LIMIT 1").fetchall())
        except duckdb.Error:  # a file is damaged: the first question about it will fail
            return False

    def _view(self, table: str) -> None:
        folder, catalog = self._folder, self._catalog
        shards = catalog.shards
        if not self._create(table, shards):  # a file is damaged, or older than this table
            complete = manifests(folder, redacts=catalog.redacts)
            older = {each["shard"] for each in complete if not has_table(folder, each, table)}
            self._create(table, [shard for shard in shards if shard not in older], must=True)

    def _view_files(self) -> None:
        """Create the view `files`. If a later build has deleted the list of files, use the
        manifests."""
        folder, catalog = self._folder, self._catalog
        listed = sql_list(folder, [folder.files(catalog.generation)])
        try:
            self._connection.execute(f"CREATE VIEW files AS SELECT * FROM read_parquet({listed})")
        except duckdb.Error:
            self._connection.register("built_files", files_table(built_files(folder, catalog)))
            self._connection.execute("CREATE VIEW files AS SELECT * FROM built_files")

    def _create(self, table: str, shards: Sequence[str], *, must: bool = False) -> bool:
        """Create the view of a table over these shards. Return False if that fails.

        With `must`, raises InputFault instead.
        """
        folder, catalog = self._folder, self._catalog
        if not shards:
            self._connection.register(f"no_{table}", SCHEMAS[table].empty_table())
            self._connection.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM no_{table}")
            return True
        months = catalog.months
        listed = sql_list(
            folder,
            (
                name
                for shard in shards
                for name in folder.fact_files(table, shard, months.get(shard, ()))
            ),
        )
        # a toolset belongs to a piece of the inputs (`piece`), not to a session
        skips_repeated = self._has_repeated and table != "toolsets"
        condition = f" ANTI JOIN {_REPEATED} USING (session)" if skips_repeated else ""
        if catalog.dropped:
            condition += f" WHERE piece NOT IN ({', '.join(map(str, catalog.dropped))})"
        views = {table: f"* FROM read_parquet({listed})"}
        if table == "sessions":  # the file's name tells the shard, which has the session's texts
            views["session_files"] = (
                f"session, text, filename FROM read_parquet({listed}, filename=true)"
            )
        try:
            for name, columns in views.items():
                self._connection.execute(
                    f"CREATE OR REPLACE VIEW {name} AS SELECT {columns}{condition}"
                )
        except duckdb.Error as error:
            if must:
                raise self._fault(error) from error
            return False
        return True

    def _fault(self, error: duckdb.Error, expected: str = "") -> InputFault:
        """Turn an error of DuckDB into an InputFault that names a damaged shard or file, if any."""
        shards, redacts = self._catalog.shards, self._catalog.redacts
        complete = {manifest["shard"] for manifest in manifests(self._folder, redacts=redacts)}
        damaged = [shard for shard in shards if shard not in complete]
        if damaged:
            return InputFault(
                f"{len(damaged)} of {len(shards)} shards are damaged or missing ({damaged[0]})",
                where=self._folder.store.name,
                expected="`playground corpus build` with the same inputs, which builds them again",
            )
        damaged_file = "" if isinstance(error, _SQL_ERRORS) else self._damaged_file()
        if damaged_file:
            return InputFault(
                "this file is damaged",
                where=f"{self._folder.store.name}/{damaged_file}",
                expected="that you delete it, and run `playground corpus build` with the same "
                "inputs, which makes it again",
            )
        expected = expected or f"SQL over the views of {_DOCUMENT}"
        return InputFault(error_text(error), where=self._folder.store.name, expected=expected)

    def _damaged_file(self) -> str:
        """Return the name of the first file of facts that cannot be read, or "" if all can."""
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
        with folder.store.open_file(name) as file:
            for _ in pq.ParquetFile(file).iter_batches():
                pass
    except FileNotFoundError:  # a shard that is older than this table
        return True
    except (OSError, pa.ArrowException):
        return False
    return True


def error_text(error: Exception) -> str:
    """Return DuckDB's message without its excerpt of the SQL, and without a stack or traceback."""
    message = str(error).partition("\n\nLINE")[0].partition("\n\nStack")[0].strip()
    if "Traceback" in message:  # an error of our store during DuckDB's reading
        message = message.splitlines()[-1]
    return message


def sql_list(folder: CorpusFolder, names: Iterable[str]) -> str:
    """Return files of a corpus as a list in SQL."""
    return f"[{', '.join(sql_text(f'{folder.store.root}/{name}') for name in names)}]"


def sql_text(value: Path | str) -> str:
    """Return a path or name as a string literal of SQL."""
    return "'" + str(value).replace("'", "''") + "'"
