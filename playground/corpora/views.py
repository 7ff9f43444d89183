"""DuckDB over a corpus: its tables as views of the shards that count, within bounds.

Nothing but the corpus's own files can be read from SQL, and none be written: what somebody asks
stays a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from playground.corpora.catalog import Catalog, manifests
from playground.corpora.layout import CorpusFolder
from playground.corpora.tables import SCHEMAS
from playground.errors import InputFault

MEMORY: Final = "512MB"  # of DuckDB's own 80 % of the machine
THREADS: Final = 2
DOCUMENT: Final = "docs/corpus.md"


def connection(folder: CorpusFolder, catalog: Catalog) -> duckdb.DuckDBPyConnection:
    """A connection with the views `sessions`, `requests`, `calls`, `findings`, `breaks`,
    `toolsets` and `files`."""
    made = duckdb.connect(config={"memory_limit": MEMORY, "threads": THREADS})
    scratch = folder.scratch / "duckdb"
    made.execute(f"SET temp_directory = {_text(scratch)}")
    made.execute("SET autoinstall_known_extensions = false")
    made.execute("SET preserve_insertion_order = false")
    for table in SCHEMAS:
        _view(made, folder, catalog, table)
    listed = _text(folder.files(catalog.generation))
    made.execute(f"CREATE VIEW files AS SELECT * FROM read_parquet({listed})")
    allowed = ", ".join(_text(each) for each in (folder.path, scratch))
    made.execute(f"SET allowed_directories = [{allowed}]")
    made.execute("SET enable_external_access = false")
    made.execute("SET lock_configuration = true")
    return made


def _view(
    made: duckdb.DuckDBPyConnection, folder: CorpusFolder, catalog: Catalog, table: str
) -> None:
    if not catalog.shards:
        made.register(f"no_{table}", SCHEMAS[table].empty_table())
        made.execute(f"CREATE VIEW {table} AS SELECT * FROM no_{table}")
        return
    paths = (folder.facts(table, shard, catalog.analysis) for shard in catalog.shards)
    listed = ", ".join(_text(path) for path in paths)
    gone = ", ".join(map(str, catalog.dropped))
    counts = f" WHERE piece NOT IN ({gone})" if gone else ""
    try:
        made.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{listed}]){counts}")
    except duckdb.Error as error:
        raise fault_of(error, folder, catalog) from error


def fetched(
    made: duckdb.DuckDBPyConnection, sql: str, values: dict[str, Any], most: int
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns of an answer, and so many of its rows at most."""
    used = {name: value for name, value in values.items() if f"${name}" in sql}
    found = made.execute(sql, used or None)
    columns = [str(each[0]) for each in found.description or ()]
    return columns, found.fetchmany(most)


def fault_of(error: duckdb.Error, folder: CorpusFolder, catalog: Catalog) -> InputFault:
    """What DuckDB refuses as one line: files that are torn or gone are named."""
    torn = _torn(folder, catalog.shards, redacts=catalog.redacts)
    if torn:
        return InputFault(
            f"{len(torn)} of {len(catalog.shards)} shards are torn or gone ({torn[0]})",
            where=str(folder.path),
            expected="`playground corpus build` with the same inputs, which builds them again",
        )
    said = str(error).partition("\n\nLINE")[0].partition("\n\nStack")[0]
    return InputFault(said, where=str(folder.path), expected=f"SQL over the views of {DOCUMENT}")


def _torn(folder: CorpusFolder, shards: Sequence[str], *, redacts: bool) -> list[str]:
    whole = {found["shard"] for found in manifests(folder, redacts=redacts)}
    return [shard for shard in shards if shard not in whole]


def _text(value: Path) -> str:
    """A path as a text of SQL."""
    return "'" + str(value).replace("'", "''") + "'"
