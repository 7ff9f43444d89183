"""One shard: from pieces to Parquet and blocks. The one function that every engine runs.

It takes and gives plain data, so that it can be handed to another process or another machine.
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
from playground.plugins.corpus.facts import SessionFacts, SessionPlace, noticed_of
from playground.plugins.corpus.inputs import InputPiece, opened
from playground.plugins.corpus.layout import LAYOUT, CorpusFolder
from playground.plugins.corpus.requests import sent_requests
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.storing import SessionStore, StoredRequest, stored_session
from playground.plugins.corpus.tables import NAMES, SCHEMAS, Fact
from playground.questions.fast_detection import LikeliestDialect
from playground.sessions.loading import LoadedSession, read_sessions

_ROWS: Final = 20_000  # of a table that wait in memory
_AT_ONCE: Final = 16  # sessions that go from step to step: each step's code is then at hand
_WAITING: Final = 1 << 20  # bytes of them after which no more wait
_MOST_FAULTS: Final = 20  # that are told of one piece


def build_shard(job: dict[str, Any]) -> dict[str, Any]:
    """Build a shard of `job` (out, analysis, shard, redacts, pieces), and give its manifest, which
    is written last. With `before`, the number of an older analysis, only its facts are made anew,
    from what the corpus keeps of its sessions.

    What cannot be read of a piece is a fault in the manifest; only what is no fault of a file is
    raised, InputFault where the disk is full.
    """
    folder = CorpusFolder(store_at(job["out"]), job["analysis"])
    told = _reread(folder, job) if "before" in job else _built(folder, job)
    manifest = {
        "layout": LAYOUT,
        "analysis": folder.analysis,
        "shard": job["shard"],
        "redacts": job["redacts"],
        "pieces": job["pieces"],
        **told,
        "files": folder.sizes(job["shard"]),
    }
    folder.store.write(folder.manifest(job["shard"]), json.dumps(manifest))
    return manifest


def _built(folder: CorpusFolder, job: dict[str, Any]) -> dict[str, Any]:
    """Return a shard from its pieces; what its manifest tells of that."""
    with ExitStack() as stack:
        writer = _ShardWriter(folder, job["shard"], stack, redacts=job["redacts"])
        for piece in (InputPiece(**each) for each in job["pieces"]):
            writer.piece(piece)
        writer.close()
    return {
        "spoiled": writer.spoiled,
        "faults": writer.faults,
        "rows": writer.facts.counts,
        "starred": writer.starred,
        "rereadable": writer.rereadable,
    }


def _reread(folder: CorpusFolder, job: dict[str, Any]) -> dict[str, Any]:
    """Return a shard's facts from its own blocks and its older facts."""
    before, shard = folder.of(job["before"]), job["shard"]
    known = json.loads(folder.store.read(before.manifest(shard)))
    blocks = BlockReader(folder.store, folder.pack(shard), folder.index(shard))
    cleaner, dialects = Cleaner(), LikeliestDialect()
    with ExitStack() as stack:
        facts = FactsWriter(folder, shard, stack)
        for place, skeleton, stored in _stored(before, shard, known.get("months", ()), blocks):
            session, noticed = stored_session(blocks, skeleton)
            requests = sent_requests(session)
            taken = SessionFacts(
                session, noticed, place, requests, cleaner, dialects, redacts=False
            )
            facts.add(taken.rows(skeleton, stored))
        facts.close()
    return {**{name: known[name] for name in _KEPT if name in known}, "rows": facts.counts}


def _stored(
    before: CorpusFolder, shard: str, months: Sequence[str], blocks: BlockReader
) -> Iterator[tuple[SessionPlace, int, list[StoredRequest]]]:
    """Yield the sessions of a shard in their order: where each came from, the block of its
    skeleton, and what its requests keep and add.
    """
    both = (before.fact_files(table, shard, months) for table in ("sessions", "requests"))
    for sessions_file, requests_file in zip(*both, strict=True):
        named = ["session", "kept", "added"]
        requests: dict[int, list[StoredRequest]] = {}
        for row in _rows(before, requests_file, named):
            hashes = [blocks.key(number) for number in row["added"]]
            request = StoredRequest(row["kept"], row["added"], hashes)
            requests.setdefault(row["session"], []).append(request)
        named = ["session", "piece", "number", "text"]
        for row in _rows(before, sessions_file, named):
            place = SessionPlace(row["piece"], row["number"])
            yield place, row["text"], requests.get(row["session"], [])


def _rows(folder: CorpusFolder, name: str, columns: list[str]) -> list[dict[str, Any]]:
    with folder.store.opened(name) as file:
        return pq.read_table(file, columns=columns).to_pylist()  # type: ignore[no-any-return]


# of a manifest whose facts are made anew
_KEPT: Final = ("spoiled", "faults", "starred", "rereadable")


class FactsWriter:
    """The tables of a shard while they are written; rows go out in batches."""

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
        """Take the facts of a session."""
        for fact in self._distinct(facts):
            name = NAMES[type(fact)]
            self._waiting[name].append(fact)
            if len(self._waiting[name]) >= _ROWS:
                self._flush(name)

    def close(self) -> None:
        """Write what waits."""
        for name, writer in self._tables.items():
            self._flush(name)
            writer.close()

    def _distinct(self, facts: list[Fact]) -> Iterator[Fact]:
        """Yield the facts, but of lists of tools each one once a piece."""
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
    """The files of one shard while they are written from its pieces."""

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
        self.spoiled: list[str] = []  # contents whose rows do not count
        self.rereadable = not redacts  # whether its blocks tell all that its facts were taken from
        self._waiting: list[tuple[LoadedSession, SessionPlace]] = []
        self._read = 0  # bytes since the last of them were taken

    def piece(self, piece: InputPiece) -> None:
        """All sessions of a piece; what of it cannot be read is a fault."""
        faults: list[InputFault] = []
        number = 0
        try:
            with opened(piece, self._folder.store.scratch) as sources:
                for source in sources:
                    source.left_out = faults
                    source.progress = self._progress()
                    is_long = source.size > _WAITING and not source.is_lines
                    with source.going_on():
                        for loaded in read_sessions(source):
                            self._waiting.append((loaded, SessionPlace(piece.number, number)))
                            number += 1
                            self._take(1 if is_long else _AT_ONCE)
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
        """Write what waits."""
        self._take(1)
        self.facts.close()
        self._blocks.close()

    def _progress(self) -> Callable[[int, int], None]:
        """Counts what is read of a source of lines."""
        before = 0

        def progress(read: int, _size: int) -> None:
            nonlocal before
            self._read += max(0, read - before)  # some formats read it twice
            before = read

        return progress

    def _take(self, least: int) -> None:
        """Take the facts of the sessions that wait, if there are so many, or they are long: a step
        for all of them, then the next one, which is a fifth quicker than one by one."""
        if len(self._waiting) < least and self._read < _WAITING:
            return
        waiting, self._waiting, self._read = self._waiting, [], 0
        cleaner, redacts = self._cleaner, self._redacts
        try:
            clean = [cleaner.session(loaded.session) for loaded, _ in waiting]
        except InputFault as fault:  # no disk's: nothing is written yet
            raise ValueError(str(fault)) from fault
        noticed = [noticed_of(loaded, cleaner) for loaded, _ in waiting]
        places = [place for _, place in waiting]
        del waiting
        self.rereadable &= not any(each.recorded for each in noticed)
        sent = [sent_requests(each.session) for each in clean]
        steps = zip(clean, sent, noticed, strict=True)
        kept = [self._store.store(each, seen.requests, told) for each, seen, told in steps]
        for each, told, place, seen, blocks in zip(clean, noticed, places, sent, kept, strict=True):
            taken = SessionFacts(
                each.session, told, place, seen, cleaner, self._dialects, redacts=redacts
            )
            self.facts.add(taken.rows(*blocks))
