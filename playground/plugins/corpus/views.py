"""DuckDB over a corpus: views of the facts of all shards in the catalog, with a memory limit.

SQL can read only the corpus' own files. DuckDB itself could write wherever it may read; `check`
refuses SQL that does.
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

RENDER_CACHE: Final = "512MB"  # DuckDB's memory limit; its default is 80 % of the machine
THREADS: Final = 2
_DOCUMENT: Final = "docs/corpus.md"
_OF_SQL: Final = (  # errors that are about the SQL, not about a file
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.PermissionException,
    duckdb.InterruptException,
    duckdb.OutOfMemoryException,
)
# Claude Code writes a sub-agent into its agent's transcript, though not completely, and into a file
# of its own. The longest session of each name counts. Names that we made up are not compared.
_TOLD_TWICE: Final = "told_twice"
_DOUBLES: Final = """
SELECT session FROM sessions
WHERE sub_agent <> '' AND form = 'claude-code' AND run <> ''
  AND sub_agent <> 'sub-agent' AND NOT starts_with(sub_agent, 'sidechain ')
QUALIFY row_number() OVER (PARTITION BY run, sub_agent
  ORDER BY requests DESC, messages DESC, calls DESC, number, session) > 1"""


def connected(folder: CorpusFolder, spill: Path) -> duckdb.DuckDBPyConnection:
    """Open DuckDB with our limits; what does not fit in memory goes to the folder `spill`.

    Nobody else may use `spill`: DuckDB names files there by its process id, which may be the same
    in several containers.
    """
    made = duckdb.connect(config={"memory_limit": RENDER_CACHE, "threads": THREADS})
    folder.store.attach(made)
    made.execute(f"SET temp_directory = {text_of(spill)}")
    made.execute("SET autoinstall_known_extensions = false")
    made.execute("SET preserve_insertion_order = false")
    return made


class Database:
    """A DuckDB connection with a view for each table of facts, and the view `files`."""

    def __init__(self, folder: CorpusFolder, catalog: Catalog) -> None:
        self._folder, self._catalog = folder, catalog
        spill = folder.store.scratch / "duckdb"
        with suppress(OSError):  # a read-only corpus: answers must fit in memory
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
        """Return the columns of an answer to SQL, and its first rows, at most `most`.

        `values` are parameters; those that the SQL does not name are ignored. Raises InputFault,
        with `expected` as the advice, if DuckDB refuses the SQL.
        """
        used = {name: value for name, value in values.items() if f"${name}" in sql}
        try:
            found = self._made.execute(sql, used or None)
            columns = [str(each[0]) for each in found.description or ()]
            return columns, found.fetchmany(most)
        except duckdb.Error as error:
            raise self._fault(error, expected) from error

    def check(self, sql: str) -> None:
        """Raise InputFault if SQL is not exactly one SELECT, or if it writes.

        DuckDB 2 allows a COPY or an INSERT in a WITH, but not within brackets.
        """
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
        """Interrupt the running question, from another thread."""
        self._made.interrupt()

    def _found_doubles(self) -> bool:
        """Make a table of sessions that another session repeats; return True if there are any.

        It is a table because a view with a list of them would compare each row with each entry.
        """
        try:
            self._made.execute(f"CREATE TABLE {_TOLD_TWICE} AS {_DOUBLES}")
            # fetchall, because DuckDB would consider a result that is not exhausted as in use
            return bool(self._made.execute(f"FROM {_TOLD_TWICE} LIMIT 1").fetchall())
        except duckdb.Error:  # torn files: the first question about them fails with a message
            return False

    def _view(self, table: str) -> None:
        folder, catalog = self._folder, self._catalog
        shards = catalog.shards
        if not self._create(table, shards):  # torn, or from before there was this table
            known = manifests(folder, redacts=catalog.redacts)
            older = {each["shard"] for each in known if not has_table(folder, each, table)}
            self._create(table, [shard for shard in shards if shard not in older], must=True)

    def _view_files(self) -> None:
        """Create the view `files`, from the manifests if a later build has deleted the list."""
        folder, catalog = self._folder, self._catalog
        listed = listed_of(folder, [folder.files(catalog.generation)])
        try:
            self._made.execute(f"CREATE VIEW files AS SELECT * FROM read_parquet({listed})")
        except duckdb.Error:
            self._made.register("built_files", files_table(built_files(folder, catalog)))
            self._made.execute("CREATE VIEW files AS SELECT * FROM built_files")

    def _create(self, table: str, shards: Sequence[str], *, must: bool = False) -> bool:
        """Create the view of a table over these shards; return False if that fails.

        Raises InputFault instead if it `must` succeed.
        """
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
        # toolsets belong to a piece, not to a session
        once = self._has_doubles and table != "toolsets"
        counts = f" ANTI JOIN {_TOLD_TWICE} USING (session)" if once else ""
        if catalog.dropped:
            counts += f" WHERE piece NOT IN ({', '.join(map(str, catalog.dropped))})"
        views = {table: f"* FROM read_parquet({listed})"}
        if table == "sessions":  # a session's texts lie in the blocks of its shard
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
        """Turn an error of DuckDB into one line, which names a torn or missing file."""
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
        """Return the first file of facts that cannot be read, or "" if all can."""
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
    except FileNotFoundError:  # an older shard lacks this table
        return True
    except (OSError, pa.ArrowException):
        return False
    return True


def said_of(error: Exception) -> str:
    """Return DuckDB's message without its excerpt of the SQL."""
    said = str(error).partition("\n\nLINE")[0].partition("\n\nStack")[0].strip()
    if "Traceback" in said:  # an error of our store while DuckDB read from it
        said = said.splitlines()[-1]
    return said


def listed_of(folder: CorpusFolder, names: Iterable[str]) -> str:
    """Return files of a corpus as a list in SQL."""
    return f"[{', '.join(text_of(f'{folder.store.root}/{name}') for name in names)}]"


def text_of(value: Path | str) -> str:
    """Return a path or name as a string literal of SQL."""
    return "'" + str(value).replace("'", "''") + "'"
