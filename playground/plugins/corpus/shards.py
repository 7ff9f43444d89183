"""Build one shard: make Parquet files and blocks from pieces. Every engine runs `build_shard`.

This function takes and returns plain data, so that it can run on another machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from playground.base.errors import InputFault
from playground.plugins.corpus.blocks import BlockReader, BlockWriter
from playground.plugins.corpus.cleaning import Cleaner
from playground.plugins.corpus.facts import SessionFacts, SessionPlace, file_facts
from playground.plugins.corpus.inputs import InputPiece, open_piece
from playground.plugins.corpus.layout import LAYOUT, CorpusFolder
from playground.plugins.corpus.requests import sent_requests
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.storing import SessionStore, StoredRequest, stored_session
from playground.plugins.corpus.tables import NAMES, SCHEMAS, Fact
from playground.questions.fast_detection import LikeliestDialect
from playground.sessions.loading import LoadedSession, read_sessions

_ROWS_AT_ONCE: Final = 20_000  # rows of a table that are written at once
_SESSIONS_AT_ONCE: Final = 16  # sessions that are processed together, because that is faster
_MOST_WAITING_BYTES: Final = 1 << 20  # once so much is read, fewer sessions are processed together
_MOST_FAULTS: Final = 20  # faults that are listed for one piece


def build_shard(job: dict[str, Any]) -> dict[str, Any]:
    """Build the shard of a job, and return its manifest, which is written last.

    A job has the keys out, analysis, shard, redacts and pieces (`planning.py`). With the key
    `before`, the number of an older analysis, only the facts are made again, from the sessions in
    the shard's blocks.

    A piece that cannot be read is a fault in the manifest. Raises InputFault if the disk is full.
    """
    folder = CorpusFolder(store_at(job["out"]), job["analysis"])
    entries = _rebuild_facts(folder, job) if "before" in job else _build_from_pieces(folder, job)
    manifest = {
        "layout": LAYOUT,
        "analysis": folder.analysis,
        "shard": job["shard"],
        "redacts": job["redacts"],
        "pieces": job["pieces"],
        **entries,
        "files": folder.sizes(job["shard"]),
    }
    folder.store.write(folder.manifest(job["shard"]), json.dumps(manifest))
    return manifest


def _build_from_pieces(folder: CorpusFolder, job: dict[str, Any]) -> dict[str, Any]:
    """Build a shard from its pieces; return its entries of the manifest."""
    with ExitStack() as stack:
        writer = _ShardWriter(folder, job["shard"], stack, redacts=job["redacts"])
        for piece in (InputPiece(**piece_data) for piece_data in job["pieces"]):
            writer.add_piece(piece)
        writer.close()
    return {
        "spoiled": writer.spoiled,
        "faults": writer.faults,
        "rows": writer.facts.counts,
        "starred": writer.starred,
        "rereadable": writer.rereadable,
    }


def _rebuild_facts(folder: CorpusFolder, job: dict[str, Any]) -> dict[str, Any]:
    """Make a shard's facts from its blocks and older facts; return its entries of the manifest."""
    older, shard = folder.with_analysis(job["before"]), job["shard"]
    manifest = json.loads(folder.store.read(older.manifest(shard)))
    blocks = BlockReader(folder.store, folder.pack(shard), folder.index(shard))
    cleaner, dialects = Cleaner(), LikeliestDialect()
    with ExitStack() as stack:
        facts = FactsWriter(folder, shard, stack)
        for place, skeleton, stored in _stored_sessions(
            older, shard, manifest.get("months", ()), blocks
        ):
            session, file_facts = stored_session(blocks, skeleton)
            requests = sent_requests(session)
            session_facts = SessionFacts(
                session, file_facts, place, requests, cleaner, dialects, redacts=False
            )
            facts.add(session_facts.rows(skeleton, stored))
        facts.close()
    unchanged = {name: manifest[name] for name in _UNCHANGED if name in manifest}
    return {**unchanged, "rows": facts.counts}


def _stored_sessions(
    older: CorpusFolder, shard: str, months: Sequence[str], blocks: BlockReader
) -> Iterator[tuple[SessionPlace, int, list[StoredRequest]]]:
    """Yield the sessions of a shard, each as its place, the block number of its skeleton, and its
    requests as they are stored."""
    files = (older.fact_files(table, shard, months) for table in ("sessions", "requests"))
    for sessions_file, requests_file in zip(*files, strict=True):
        columns = ["session", "kept", "added"]
        requests: dict[int, list[StoredRequest]] = {}
        for row in _rows(older, requests_file, columns):
            hashes = [blocks.key(number) for number in row["added"]]
            request = StoredRequest(row["kept"], row["added"], hashes)
            requests.setdefault(row["session"], []).append(request)
        columns = ["session", "piece", "number", "text"]
        for row in _rows(older, sessions_file, columns):
            place = SessionPlace(row["piece"], row["number"])
            yield place, row["text"], requests.get(row["session"], [])


def _rows(folder: CorpusFolder, name: str, columns: list[str]) -> list[dict[str, Any]]:
    with folder.store.open_file(name) as file:
        return pq.read_table(file, columns=columns).to_pylist()  # type: ignore[no-any-return]


# entries of a manifest that stay when facts are made again
_UNCHANGED: Final = ("spoiled", "faults", "starred", "rereadable")


class FactsWriter:
    """A writer of the tables of a shard; rows are written in batches."""

    def __init__(self, folder: CorpusFolder, shard: str, stack: ExitStack) -> None:
        self._tables = {
            name: stack.enter_context(
                pq.ParquetWriter(
                    stack.enter_context(folder.store.write_whole(folder.facts(name, shard))),
                    schema,
                    compression="zstd",
                )
            )
            for name, schema in SCHEMAS.items()
        }
        self._waiting: dict[str, list[Fact]] = {name: [] for name in SCHEMAS}
        self._toolsets: set[int] = set()
        self.counts = dict.fromkeys(SCHEMAS, 0)

    def add(self, facts: list[Fact]) -> None:
        """Add the facts of a session."""
        for fact in self._distinct(facts):
            name = NAMES[type(fact)]
            self._waiting[name].append(fact)
            if len(self._waiting[name]) >= _ROWS_AT_ONCE:
                self._flush(name)

    def close(self) -> None:
        """Write the last rows and close the files."""
        for name, writer in self._tables.items():
            self._flush(name)
            writer.close()

    def _distinct(self, facts: list[Fact]) -> Iterator[Fact]:
        """Yield the facts, without a list of tools that an earlier session of the piece had."""
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


class _ShardWriter:
    """A writer of all files of one shard from its pieces."""

    def __init__(
        self, folder: CorpusFolder, shard: str, stack: ExitStack, *, redacts: bool
    ) -> None:
        self._folder, self._redacts = folder, redacts
        pack = stack.enter_context(folder.store.write_whole(folder.pack(shard)))
        index = stack.enter_context(folder.store.write_whole(folder.index(shard)))
        self._blocks = BlockWriter(pack, index)
        stack.callback(self._blocks.abandon)
        self._store = SessionStore(self._blocks, redacts=redacts)
        self._cleaner, self._dialects = Cleaner(), LikeliestDialect()
        self.facts = FactsWriter(folder, shard, stack)
        self.faults: list[dict[str, str]] = []
        self.spoiled: list[str] = []  # hashes of pieces that failed half-way; rows are ignored
        self.rereadable = not redacts  # True if all facts can be made again from the blocks
        self._waiting: list[tuple[LoadedSession, SessionPlace]] = []
        self._read = 0  # bytes that were read since sessions were last stored

    def add_piece(self, piece: InputPiece) -> None:
        """Add all sessions of a piece. Whatever cannot be read becomes a fault."""
        faults: list[InputFault] = []
        number = 0
        try:
            with open_piece(piece, self._folder.store.scratch) as sources:
                for source in sources:
                    source.left_out = faults
                    source.progress = self._progress()
                    is_long = source.size > _MOST_WAITING_BYTES and not source.is_lines
                    with source.going_on():
                        for loaded in read_sessions(source):
                            self._waiting.append((loaded, SessionPlace(piece.number, number)))
                            number += 1
                            self._store_waiting(1 if is_long else _SESSIONS_AT_ONCE)
        except InputFault as fault:
            faults.append(fault)
            self.spoiled += [piece.content] if number else []
        for each in faults[:_MOST_FAULTS]:
            self.faults.append({"name": piece.name, "problem": self._cleaner.text(str(each))})

    @property
    def starred(self) -> dict[str, int]:
        """The number of secrets that were starred out, by kind."""
        return self._cleaner.counts

    def close(self) -> None:
        """Write the last sessions and close the files."""
        self._store_waiting(1)
        self.facts.close()
        self._blocks.close()

    def _progress(self) -> Callable[[int, int], None]:
        """Return a function that adds what is read from one source to `_read`."""
        before = 0

        def progress(read: int, _size: int) -> None:
            nonlocal before
            self._read += max(0, read - before)  # `read` falls when a format reads its source again
            before = read

        return progress

    def _store_waiting(self, least: int) -> None:
        """Store the waiting sessions and their facts, if at least `least` sessions wait, or if more
        than `_MOST_WAITING_BYTES` were read for them.

        Each step handles all waiting sessions before the next step begins, which is a fifth faster
        than one session after another.
        """
        if len(self._waiting) < least and self._read < _MOST_WAITING_BYTES:
            return
        waiting, self._waiting, self._read = self._waiting, [], 0
        cleaner, redacts = self._cleaner, self._redacts
        try:
            clean = [cleaner.session(loaded.session) for loaded, _ in waiting]
        except InputFault as fault:  # an InputFault would end the build, as if the disk failed
            raise ValueError(str(fault)) from fault
        from_files = [file_facts(loaded, cleaner) for loaded, _ in waiting]
        places = [place for _, place in waiting]
        del waiting
        self.rereadable &= not any(facts.recorded for facts in from_files)
        sent = [sent_requests(each.session) for each in clean]
        steps = zip(clean, sent, from_files, strict=True)
        stored = [self._store.store(each, seen.requests, facts) for each, seen, facts in steps]
        rows = zip(clean, from_files, places, sent, stored, strict=True)
        for each, facts, place, seen, blocks in rows:
            session_facts = SessionFacts(
                each.session, facts, place, seen, cleaner, self._dialects, redacts=redacts
            )
            self.facts.add(session_facts.rows(*blocks))
