"""One shard: from pieces to Parquet and blocks. The one function that every engine runs.

It takes and gives plain data, so that it can be handed to another process or another machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from playground.corpora.blocks import BlockWriter
from playground.corpora.cleaning import Cleaner
from playground.corpora.facts import SessionFacts, SessionPlace
from playground.corpora.inputs import InputPiece, opened
from playground.corpora.layout import ANALYSIS, LAYOUT, CorpusFolder
from playground.corpora.requests import sent_requests
from playground.corpora.storing import SessionStore
from playground.corpora.tables import NAMES, SCHEMAS, Fact
from playground.errors import InputFault
from playground.output import whole_file, write_file
from playground.sessions.loading import LoadedSession, read_sessions

_ROWS: Final = 20_000  # of a table that wait in memory
_MOST_FAULTS: Final = 20  # that are told of one piece


def build_shard(job: dict[str, Any]) -> dict[str, Any]:
    """Build a shard of `job` (out, shard, redacts, pieces), and give its manifest, written last.

    What cannot be read of a piece is a fault in the manifest; only what is no fault of a file is
    raised, InputFault where the disk is full.
    """
    folder = CorpusFolder(Path(job["out"]))
    pieces = [InputPiece(**each) for each in job["pieces"]]
    with ExitStack() as stack:
        writer = _ShardWriter(folder, job["shard"], stack, redacts=job["redacts"])
        for piece in pieces:
            writer.piece(piece)
        writer.close()
    manifest = {
        "layout": LAYOUT,
        "analysis": ANALYSIS,
        "shard": job["shard"],
        "redacts": job["redacts"],
        "pieces": [asdict(piece) for piece in pieces],
        "spoiled": writer.spoiled,
        "faults": writer.faults,
        "rows": writer.counts,
        "files": _sizes(folder, job["shard"]),
    }
    write_file(folder.manifest(job["shard"]), json.dumps(manifest), force=True)
    return manifest


def _sizes(folder: CorpusFolder, shard: str) -> dict[str, int]:
    """The files of a shard, and how long they are: one of another length is torn."""
    return {
        str(path.relative_to(folder.path)): path.stat().st_size for path in folder.of_shard(shard)
    }


class _ShardWriter:
    """The files of one shard while they are written; rows go out in batches."""

    def __init__(
        self, folder: CorpusFolder, shard: str, stack: ExitStack, *, redacts: bool
    ) -> None:
        self._folder, self._redacts = folder, redacts
        pack = stack.enter_context(whole_file(folder.pack(shard)))
        self._index = stack.enter_context(whole_file(folder.index(shard)))
        self._blocks = BlockWriter(pack)
        stack.callback(self._blocks.abandon)
        self._store = SessionStore(self._blocks, redacts=redacts)
        self._cleaner = Cleaner()
        self._tables = {
            name: stack.enter_context(
                pq.ParquetWriter(
                    stack.enter_context(whole_file(folder.facts(name, shard))),
                    schema,
                    compression="zstd",
                )
            )
            for name, schema in SCHEMAS.items()
        }
        self._waiting: dict[str, list[Fact]] = {name: [] for name in SCHEMAS}
        self._toolsets: set[int] = set()
        self.counts = dict.fromkeys(SCHEMAS, 0)
        self.faults: list[dict[str, str]] = []
        self.spoiled: list[str] = []  # contents whose rows do not count

    def piece(self, piece: InputPiece) -> None:
        """All sessions of a piece; what of it cannot be read is a fault."""
        faults: list[InputFault] = []
        number = 0
        try:
            with opened(piece, self._folder.scratch) as sources:
                for source in sources:
                    source.left_out = faults
                    with source.going_on():
                        for loaded in read_sessions(source):
                            self._session(loaded, SessionPlace(piece.number, number))
                            number += 1
        except InputFault as fault:
            faults.append(fault)
            self.spoiled += [piece.content] if number else []
        for each in faults[:_MOST_FAULTS]:
            self.faults.append({"name": piece.name, "problem": self._cleaner.text(str(each))})

    def close(self) -> None:
        """Write what waits."""
        for name in SCHEMAS:
            self._flush(name)
        self._blocks.close(self._index)
        for writer in self._tables.values():
            writer.close()

    def _session(self, loaded: LoadedSession, place: SessionPlace) -> None:
        loaded = replace(loaded, session=self._cleaner.session(loaded.session))
        requests = sent_requests(loaded.session)
        facts = SessionFacts(loaded, place, requests, self._cleaner, redacts=self._redacts)
        for fact in self._distinct(
            facts.rows(*self._store.store(loaded.session, requests.requests))
        ):
            name = NAMES[type(fact)]
            self._waiting[name].append(fact)
            if len(self._waiting[name]) >= _ROWS:
                self._flush(name)

    def _distinct(self, facts: list[Fact]) -> Iterator[Fact]:
        """The facts, but of lists of tools each one once a piece."""
        for fact in facts:
            if NAMES[type(fact)] == "toolsets":
                key = hash(fact[:2])
                if key in self._toolsets:
                    continue
                self._toolsets.add(key)
            yield fact

    def _flush(self, name: str) -> None:
        rows, schema = self._waiting[name], SCHEMAS[name]
        if not rows:
            return
        columns = zip(*rows, strict=True)
        arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
        self._tables[name].write_table(pa.Table.from_arrays(arrays, schema=schema))
        self.counts[name] += len(rows)
        rows.clear()
