"""The named questions over more rows than one builds in an afternoon.

    python benchmarks/corpus_rows.py CORPUS 3 OUT

OUT becomes a corpus as if CORPUS had been built of so many times its input: the rows of every table
again, each time as other sessions of other files (numbers, files and MinHash bands differ). Texts
are not copied. Prints the number of rows of each table and, for each question, the least and the
most of three times.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import playground as pg
from playground.plugins.corpus import catalog
from playground.plugins.corpus.layout import LAYOUT, CorpusFolder
from playground.plugins.corpus.questions import question_names
from playground.plugins.corpus.store_protocol import CATALOG
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.tables import SCHEMAS

OURS: Final = ("session", "piece")  # columns that number what a row is of
VERSIONS: Final = {"first": "1.0", "second": "1.1"}  # of `corpus_data.py`


def main() -> None:
    """Copy the corpus, and time every question over the copy."""
    given, times, out = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    if not (out / CATALOG).exists():
        copied(given, times, out)
    corpus = pg.corpus(out)
    for table in SCHEMAS:
        print(f"{table:10} {corpus.sql(f'SELECT count(*) FROM {table}').rows[0][0]:12,} rows")
    for name in question_names():
        if name == "analyses":  # there is one version of it
            continue
        more: dict[str, Any] = VERSIONS if name == "versions" else {}
        taken = sorted(corpus.ask(name, **more, seconds=600).seconds for _ in range(3))
        print(f"{name:10} {taken[0]:7.3f} to {taken[-1]:.3f} s")


def copied(given: Path, times: int, out: Path) -> None:
    """Write the corpus `out`, with every row of the corpus `given` so many times."""
    folder = CorpusFolder(store_at(given))
    found = catalog.read_catalog(folder)
    target = CorpusFolder(store_at(out), found.analysis)
    folder = folder.with_analysis(found.analysis)
    files = pq.read_table(given / folder.files(found.generation))
    shards, pieces = [], []
    for number in range(times):
        for shard in found.shards:
            shards.append(f"{shard}{number:02x}")  # a number in hex, as its name is
            for table in SCHEMAS:
                _copy(
                    given / folder.facts(table, shard),
                    out / target.facts(table, shards[-1]),
                    number,
                )
        pieces.append(_other(files, number))
    listed = out / target.files(found.generation)
    listed.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.concat_tables(pieces), listed, compression="zstd")
    told = replace(found, shards=shards, months={})
    told_plain = {name: getattr(told, name) for name in told.__slots__}
    (out / CATALOG).write_text(json.dumps({"layout": LAYOUT, **told_plain}))


def _copy(source: Path, target: Path, number: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        pq.ParquetFile(source) as file,
        pq.ParquetWriter(target, file.schema_arrow, compression="zstd") as writer,
    ):
        for group in range(file.num_row_groups):
            writer.write_table(_other(file.read_row_group(group), number))


def _other(table: pa.Table, number: int) -> pa.Table:
    """Return the rows of a table as rows of other sessions, other ones for each number; 0 changes
    nothing."""
    for name in OURS:
        if name in table.column_names:
            table = _with(table, name, pc.bit_wise_xor(table[name], pa.scalar(number, pa.uint64())))
    if "bands" in table.column_names:
        lists = table["bands"].combine_chunks()
        bands = pc.bit_wise_xor(lists.flatten(), pa.scalar(number, pa.uint64()))
        table = _with(table, "bands", pa.ListArray.from_arrays(lists.offsets, bands))
    return table


def _with(table: pa.Table, name: str, values: Any) -> pa.Table:
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(name), values)


if __name__ == "__main__":
    main()
