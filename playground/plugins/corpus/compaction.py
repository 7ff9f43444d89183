"""Merge all shards of a corpus into one, with sorted facts and each text stored once.

Nothing has to fit in memory: DuckDB sorts facts and hashes within its memory limit, and texts are
copied frame by frame. Each row still names its piece, so that the rows of a deleted file can be
removed later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from playground.base.errors import InputFault
from playground.plugins.corpus import catalog as catalogs
from playground.plugins.corpus.block_ids import BlockNumbering
from playground.plugins.corpus.blocks import BlockFile, BlockReader, block_of
from playground.plugins.corpus.catalog import Catalog
from playground.plugins.corpus.layout import LAYOUT, CorpusFolder
from playground.plugins.corpus.optional_dependencies import require_extra
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.storing import SKELETON, renumber
from playground.plugins.corpus.tables import SCHEMAS
from playground.plugins.corpus.temporary_files import ScratchFolder
from playground.plugins.corpus.views import connect, error_text, sql_list, sql_text

_ROW_GROUP: Final = 122_880  # rows: DuckDB's default
_BLOCK_COLUMNS: Final = {"sessions": ("text",), "requests": ("added",)}  # hold block numbers
_ORDER: Final = {  # table -> the columns by which its rows are sorted
    "sessions": "agent, session",
    "requests": "agent, session, n",
    "calls": "agent, session, n, position",
    "findings": "agent, session, n",
    "breaks": "agent, session, n",
    "toolsets": "piece, tools",
    "histories": "session, tool",
    "wires": "session, n",
}


def compact_corpus(out: str | Path) -> dict[str, int]:
    """Merge the shards of a corpus into one, and return the number of rows of each table.

    If the process is killed, the corpus stays as it was. Raises InputFault if there is no corpus,
    if another build is running, if files cannot be read or written, or if shards are damaged or of
    another analysis, which a new build repairs.
    """
    require_extra()
    folder = CorpusFolder(store_at(out))
    catalog = catalogs.read_catalog(folder)
    with folder.store.locked():
        shards = _valid_manifests(folder, catalog)
        try:
            with closing(ScratchFolder(folder.store.scratch)) as scratch:
                manifest = _Compaction(folder, catalog, shards, scratch.path).run()
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            expected = "readable files, and enough free space; the corpus is unchanged"
            where = folder.store.name
            raise InputFault(error_text(error), where=where, expected=expected) from error
        pieces = catalogs.built_files(folder, catalog)
        catalog.shards, catalog.dropped = [manifest["shard"]], []
        catalog.months = {manifest["shard"]: manifest["months"]}
        catalogs.commit(folder, catalog, pieces)
        catalogs.delete_others(folder, keep={manifest["shard"]})
    rows: dict[str, int] = manifest["rows"]
    return rows


def _valid_manifests(folder: CorpusFolder, catalog: Catalog) -> list[dict[str, Any]]:
    """Return the manifests of all shards in the catalog. Raises InputFault for an invalid one."""
    valid = {each["shard"]: each for each in catalogs.manifests(folder, redacts=catalog.redacts)}
    missing = [shard for shard in catalog.shards if shard not in valid]
    if missing or not catalog.shards:
        problem = f"{len(missing)} of {len(catalog.shards)} shards are damaged or outdated"
        raise InputFault(
            problem if missing else "nothing has been built here yet",
            where=folder.store.name,
            expected="a corpus that `playground corpus build` has brought up to date",
        )
    manifests = [valid[shard] for shard in catalog.shards]
    catalogs.refuse_older(folder, manifests)
    return manifests


class _Compaction:
    def __init__(
        self,
        folder: CorpusFolder,
        catalog: Catalog,
        shards: Sequence[dict[str, Any]],
        scratch: Path,
    ) -> None:
        self._folder, self._catalog, self._shards = folder, catalog, shards
        dropped = set(catalog.dropped)
        pieces = (piece for shard in shards for piece in shard["pieces"])
        by_content = {p["content"]: p for p in pieces if int(p["content"][:16], 16) not in dropped}
        self._pieces = list(by_content.values())
        content = "\0".join(["compacted", *sorted(by_content)])
        self._name = blake2b(content.encode(), digest_size=12).hexdigest()
        self._scratch = scratch

    def run(self) -> dict[str, Any]:
        """Write the merged shard, its manifest last, and return the manifest."""
        self._scratch.mkdir()
        self._copy_texts()
        months, rows = self._write_facts()
        manifest = {
            "layout": LAYOUT,
            "analysis": self._folder.analysis,
            "shard": self._name,
            "redacts": self._catalog.redacts,
            "pieces": self._pieces,
            "spoiled": [],
            "faults": [fault for shard in self._shards for fault in shard["faults"]],
            "rows": rows,
            "rereadable": all(shard["rereadable"] for shard in self._shards),
            "months": months,
            "files": self._folder.sizes(self._name, months),
        }
        self._folder.store.write(self._folder.manifest(self._name), json.dumps(manifest))
        return manifest

    def _connect(self) -> Any:
        return connect(self._folder, self._scratch / "duckdb")

    # texts

    def _copy_texts(self) -> None:
        """Copy every text once, and write the new block numbers into the facts."""
        folder = self._folder
        indexes = [sql_list(folder, [folder.index(shard["shard"])]) for shard in self._shards]
        numbering = BlockNumbering(self._connect(), indexes)
        with ExitStack() as stack:
            pack = stack.enter_context(folder.store.write_whole(folder.pack(self._name)))
            index = stack.enter_context(folder.store.write_whole(folder.index(self._name)))
            file = BlockFile(pack, index)
            stack.callback(file.abandon)
            for index_of_shard, shard in enumerate(self._shards):
                numbers, stays = numbering.numbers_of(index_of_shard)
                self._copy(shard["shard"], file, numbers, stays)
                column = pa.Array.from_buffers(
                    pa.uint32(), len(numbers), [None, pa.py_buffer(numbers)]
                )
                self._renumber(shard, column)
            file.close()

    def _copy(self, shard: str, file: BlockFile, numbers: memoryview, stays: memoryview) -> None:
        """Copy the blocks of a shard that have a flag in `stays`, and every skeleton, with the new
        block numbers."""
        folder = self._folder
        reader = BlockReader(folder.store, folder.pack(shard), folder.index(shard))
        for (kind, key, text), is_copied in zip(reader.all(), stays, strict=True):
            if kind == SKELETON:
                file.append(kind, *block_of(renumber(json.loads(text), numbers)))
            elif is_copied:
                file.append(kind, key, text)

    def _renumber(self, shard: dict[str, Any], numbers: pa.Array) -> None:
        """Write a shard's facts with the new block numbers to the scratch folder."""
        for table, columns in _BLOCK_COLUMNS.items():
            names = self._folder.fact_files(table, shard["shard"], shard.get("months", ()))
            target = self._scratch / f"{table}-{shard['shard']}.parquet"
            with pq.ParquetWriter(target, SCHEMAS[table], compression="zstd") as writer:
                for batch in _batches(self._folder, names):
                    for name in columns:
                        column_index = batch.schema.get_field_index(name)
                        field = SCHEMAS[table].field(name)
                        batch = batch.set_column(
                            column_index, field, _renumber_column(batch[name], numbers)
                        )
                    writer.write_table(batch.cast(SCHEMAS[table]))

    # facts

    def _write_facts(self) -> tuple[list[str], dict[str, int]]:
        """Write each table, sorted, by month; return the months and each table's number of rows."""
        connection = self._connect()
        gone = ", ".join(map(str, self._catalog.dropped)) or "0"  # SQL has no empty list
        for table in SCHEMAS:
            sql = f"CREATE VIEW {table} AS SELECT * FROM read_parquet({self._sources(table)})"
            connection.execute(f"{sql} WHERE piece NOT IN ({gone})")
        connection.execute(
            "CREATE TABLE placed AS SELECT session, any_value(coalesce(strftime(sent_at, '%Y-%m'),"
            " 'none')) AS month FROM sessions GROUP BY session"
        )
        month_rows = connection.execute(
            "SELECT DISTINCT month FROM placed ORDER BY month"
        ).fetchall()
        months = [str(row[0]) for row in month_rows] or ["none"]
        rows = {table: self._write_table(connection, table, months) for table in SCHEMAS}
        return months, rows

    def _sources(self, table: str) -> str:
        """Return the files that a table is read from, as a list in SQL."""
        if table in _BLOCK_COLUMNS:
            files = (self._scratch / f"{table}-{shard['shard']}.parquet" for shard in self._shards)
            return f"[{', '.join(map(sql_text, files))}]"
        names = (
            name
            for shard in self._shards
            for name in self._folder.fact_files(table, shard["shard"], shard.get("months", ()))
        )
        return sql_list(self._folder, names)

    def _write_table(self, connection: Any, table: str, months: Sequence[str]) -> int:
        count = 0
        for month in months:
            (name,) = self._folder.fact_files(table, self._name, [month])
            columns = ", ".join(f"t.{name}" for name in SCHEMAS[table].names)
            rows = (
                f"SELECT {columns} FROM {table} t JOIN placed p USING (session) WHERE p.month = $m"
            )
            # a table without a session column has all its rows in the first month
            if table == "toolsets":
                rows = f"SELECT DISTINCT {columns} FROM {table} t WHERE $m = {sql_text(months[0])}"
            with self._folder.store.write_whole(name) as temporary:
                sql = f"COPY ({rows} ORDER BY {_ORDER[table]}) TO {sql_text(temporary)} "
                sql += "(FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, "
                sql += f"ROW_GROUP_SIZE {_ROW_GROUP})"
                count += connection.execute(sql, {"m": month}).fetchall()[0][0]
        return count


def _batches(folder: CorpusFolder, names: Sequence[str]) -> Iterator[pa.Table]:
    for name in names:
        for batch in pq.ParquetFile(folder.store.open_file(name)).iter_batches(_ROW_GROUP):
            yield pa.Table.from_batches([batch])


def _renumber_column(column: pa.ChunkedArray, numbers: pa.Array) -> pa.Array:
    """Return a column with new block numbers in place of the old ones, which may be in lists."""
    values = column.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0)
    if not pa.types.is_list(values.type):
        return pc.take(numbers, values)
    lengths = pc.list_value_length(values)
    offsets = pa.concat_arrays(
        [pa.array([0], pa.int64()), pc.cumulative_sum(lengths.cast("int64"))]
    )
    return pa.ListArray.from_arrays(offsets.cast("int32"), pc.take(numbers, values.flatten()))
