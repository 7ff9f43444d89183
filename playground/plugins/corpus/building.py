"""`build_corpus`: from files to a corpus, in as many steps as it takes.

A kill at any moment leaves a corpus that was one; the next build goes on where this one ended.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.user_files import check_regular_file
from playground.plugins.corpus import catalog as catalogs
from playground.plugins.corpus.catalog import Catalog
from playground.plugins.corpus.engines import Engine, get_engine
from playground.plugins.corpus.inputs import PIECE_BYTES, InputPiece, number_of
from playground.plugins.corpus.layout import CorpusFolder
from playground.plugins.corpus.optional_dependencies import needed
from playground.plugins.corpus.outcomes import Outcome
from playground.plugins.corpus.places import is_of_one_process, is_remote, place_at
from playground.plugins.corpus.planning import Progress, again, halves, jobs, plan
from playground.plugins.corpus.store_protocol import CATALOG
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.tables import SCHEMAS

TRIES: Final = 3
_APART: Final = 2.0  # seconds between two commits
_SHARE: Final = 20  # at least so many times as long as one takes: it tells of every file
_MOST_FAULTS: Final = 1_000  # that the catalog lists


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build.

    It holds the shards that were made and that were there, rows by table, what could not be read,
    what was set aside because it killed its reader, and how many secrets of which kind were starred
    out: each once a shard.
    """

    made: int
    kept: int
    rows: dict[str, int]
    faults: list[dict[str, str]]
    aside: list[dict[str, str]]
    starred: dict[str, int]


def build_corpus(
    out: str | Path,
    inputs: Sequence[str | Path],
    *,
    redact: bool = False,
    engine: str = "pool",
    workers: int = 0,
    address: str = "",
    shard_bytes: int = PIECE_BYTES,
    progress: Progress | None = None,
) -> Built:
    """Build or refresh the corpus in `out`, a folder or an address, from files, folders, patterns
    and addresses.

    What is there by its content is not built again; what changed or went takes its rows with it.
    `redact` keeps no text. Raises InputFault where another build is at work there, where nothing
    is to be read, where the disk is full, and for a corpus of the other kind of redaction.
    """
    needed()
    if engine != "serial" and any(map(is_of_one_process, (str(out), *inputs))):
        told = f"memory:// is seen by one process alone, and the engine {engine} has several"
        raise InputFault(told, expected="the engine serial")
    for each in map(str, inputs):  # before there is a folder, which a page names after them
        if is_remote(each):
            place_at(each)
            continue
        with suppress(OSError, ValueError):  # a pattern, say; what is none is told later
            check_regular_file(each, "a file: it is read more than once")
    folder = CorpusFolder(store_at(out))
    with folder.store.locked():
        runs = get_engine(engine, workers, address)
        return _Build(folder, runs, redact, progress).run(inputs, shard_bytes)


@dataclass(frozen=True, slots=True)
class _Shard:
    """The parts of a shard's manifest that a build needs.

    They are the hashes of its pieces and of those whose rows count, rows by table, faults, and the
    months by which its facts lie.
    """

    pieces: list[str]
    contents: list[str]
    rows: dict[str, int]
    faults: list[dict[str, str]]
    months: list[str]
    starred: dict[str, int]

    @classmethod
    def told_by(cls, manifest: dict[str, Any]) -> _Shard:
        pieces = [each["content"] for each in manifest["pieces"]]
        spoiled = set(manifest["spoiled"])
        sound = [each for each in pieces if each not in spoiled] if spoiled else pieces
        rows, faults = manifest["rows"], manifest["faults"]
        months, starred = manifest.get("months", []), manifest.get("starred", {})
        return cls(pieces, sound, rows, faults, months, starred)


class _Build:
    def __init__(
        self, folder: CorpusFolder, engine: Engine, redacts: bool, progress: Progress | None
    ) -> None:
        self._folder, self._engine, self._progress = folder, engine, progress
        self._catalog = _begun(folder, redacts)
        self._shards = {
            found["shard"]: _Shard.told_by(found)
            for found in catalogs.manifests(folder, redacts=redacts)
            # what changed while it was read is read again, and what lacks a table of today
            if not found["spoiled"]
            and found["rows"].keys() >= SCHEMAS.keys()
            and all(catalogs.has_table(folder, found, table) for table in SCHEMAS)
        }
        self._is_older = self._catalog.analysis != folder.analysis
        self._pieces: list[InputPiece] = []
        self._given_up_on: set[str] = set()
        self._made = self._done = self._total = 0
        self._next_commit = time.monotonic() + _APART

    def run(self, inputs: Sequence[str | Path], shard_bytes: int) -> Built:
        planned = plan(
            inputs,
            self._folder,
            catalogs.built_files(self._folder, self._catalog),
            self._progress,
        )
        self._pieces = planned.pieces
        self._catalog.aside = []
        kept = len(self._shards)
        try:
            self._make_again()
            self._catalog.analysis, self._is_older = self._folder.analysis, False
            new = self._new_pieces()
            self._total = self._done + sum(piece.size for piece in new)
            self._tell()
            self._commit()
            redacts = self._catalog.redacts
            self._build(jobs(new, self._folder, redacts=redacts, shard_bytes=shard_bytes))
        finally:
            self._engine.close()
        self._list()
        faults = [*planned.faults, *self._faults()]
        self._catalog.faults = faults[:_MOST_FAULTS]
        self._commit()
        catalogs.take_away(self._folder, keep=self._catalog.shards)
        self._forget_attempts()
        aside, starred = self._catalog.aside, self._starred()
        return Built(self._made, kept, self._rows(), faults, aside, starred)

    def _make_again(self) -> None:
        """The facts of shards that an older analysis made, from what is kept of their sessions.
        Until all are there the corpus stays what it was."""
        wanted = {piece.content for piece in self._pieces}
        older: dict[str, dict[str, Any]] = {}
        for analysis in self._folder.analyses:
            if analysis < self._folder.analysis:
                known = catalogs.manifests(self._folder.of(analysis), redacts=self._catalog.redacts)
                older |= {found["shard"]: found for found in known}
        waiting = [
            again(found, self._folder)
            for shard, found in older.items()
            if shard not in self._shards
            and found["rereadable"]
            and not wanted.isdisjoint(_Shard.told_by(found).contents)
        ]
        self._total = sum(piece["size"] for job in waiting for piece in job["pieces"])
        self._build(waiting)

    def _new_pieces(self) -> list[InputPiece]:
        """Return each content once that no shard has."""
        seen = {content for found in self._shards.values() for content in found.contents}
        new: dict[str, InputPiece] = {}
        for piece in self._pieces:
            if piece.content not in seen:
                new.setdefault(piece.content, piece)
        return list(new.values())

    def _build(self, jobs: Iterable[dict[str, Any]]) -> None:
        waiting = iter(jobs)  # each is made when there is room for it: they name every file
        first: deque[dict[str, Any]] = deque()
        busy: dict[str, dict[str, Any]] = {}
        try:
            while True:
                while self._engine.has_room():
                    job = first.popleft() if first else next(waiting, None)
                    if job is None:
                        break
                    if self._is_tried(job):
                        first.extendleft(self._given_up(job, "it ended the build that read it"))
                    else:
                        busy[job["shard"]] = job
                        self._engine.submit(job)
                if not busy:
                    return
                for outcome in self._engine.outcomes():
                    del busy[outcome.job["shard"]]
                    first.extendleft(self._take_outcome(outcome))
        except BaseException:  # who stops a build, or a full disk, is no shard's fault
            for job in busy.values():
                self._untried(job)
            raise

    def _take_outcome(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Note what came of a job; what is to be tried because of it."""
        job = outcome.job
        if outcome.manifest is None:
            again = _attempts(self._folder, job) < TRIES
            return [job] if again else self._given_up(job, outcome.problem)
        self._folder.store.remove(self._folder.attempts(job["shard"]))
        self._shards[job["shard"]] = _Shard.told_by(outcome.manifest)
        self._made += 1
        self._done += sum(piece["size"] for piece in job["pieces"])
        self._tell()
        if time.monotonic() > self._next_commit and not self._is_older:
            self._commit()
        return []

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress("building", self._done, self._total)

    def _is_tried(self, job: dict[str, Any]) -> bool:
        """Return True if a shard has had its attempts; otherwise note one more before it begins.

        Builds that ended may have been killed from outside: a shard that cannot end a build gets
        another try.
        """
        tried = _attempts(self._folder, job)
        if self._engine.is_apart:
            tried = min(tried, TRIES - 1)
        if tried < TRIES:
            self._folder.store.write(self._folder.attempts(job["shard"]), str(tried + 1))
        return tried >= TRIES

    def _untried(self, job: dict[str, Any]) -> None:
        """Take back the attempt that was noted last."""
        tried, place = _attempts(self._folder, job), self._folder.attempts(job["shard"])
        with suppress(InputFault):  # what ended the build is told, not this
            if tried > 1:
                self._folder.store.write(place, str(tried - 1))
            else:
                self._folder.store.remove(place)

    def _forget_attempts(self) -> None:
        """All but those of what is given up: others are of builds that were killed, which knew
        nothing of a shard's end, or began what now stands in other shards."""
        for shard in set(self._folder.store.names("attempts")) - self._given_up_on:
            self._folder.store.remove(self._folder.attempts(shard))

    def _given_up(self, job: dict[str, Any], problem: str) -> list[dict[str, Any]]:
        """A shard that kills is built in halves, until what kills is alone, and set aside."""
        self._given_up_on.add(job["shard"])
        if len(job["pieces"]) > 1:
            return halves(job, self._folder)
        name = job["pieces"][0]["name"]
        self._catalog.aside.append({"name": name, "problem": problem})
        return []

    def _list(self) -> None:
        """List what counts: pieces that stand in a shard and among the files, each content once."""
        wanted = {piece.content for piece in self._pieces}
        listed: dict[str, set[str]] = {}
        seen: set[str] = set()
        gone: set[int] = set()
        for shard, found in sorted(self._shards.items()):
            own = wanted.intersection(found.contents)
            if own - seen or not found.pieces:
                listed[shard] = own
            seen |= own
        for shard, own in listed.items():
            gone |= {number_of(each) for each in self._shards[shard].pieces if each not in own}
        self._catalog.shards = sorted(listed)
        self._catalog.dropped = sorted(gone)
        self._catalog.months = {
            shard: months for shard in listed if (months := self._shards[shard].months)
        }

    def _commit(self) -> None:
        began = time.monotonic()
        self._list()
        catalogs.commit(self._folder, self._catalog, self._pieces)
        ended = time.monotonic()
        self._next_commit = ended + max(_APART, _SHARE * (ended - began))

    def _faults(self) -> list[dict[str, str]]:
        listed = (self._shards[shard] for shard in self._catalog.shards)
        return [fault for found in listed for fault in found.faults]

    def _starred(self) -> dict[str, int]:
        listed = (Counter(self._shards[shard].starred) for shard in self._catalog.shards)
        return dict(sum(listed, Counter[str]()))

    def _rows(self) -> dict[str, int]:
        listed = [self._shards[shard].rows for shard in self._catalog.shards]
        return {table: sum(rows[table] for rows in listed) for table in SCHEMAS}


def _begun(folder: CorpusFolder, redacts: bool) -> Catalog:
    if CATALOG not in folder.store.names(""):
        return Catalog(redacts=redacts)
    found = catalogs.read_catalog(folder)
    if found.redacts != redacts:
        raise InputFault(
            f"this corpus is {'redacted' if found.redacts else 'not redacted'}",
            where=folder.store.name,
            expected="the same choice of --redact, or another folder",
        )
    return found


def _attempts(folder: CorpusFolder, job: dict[str, Any]) -> int:
    try:
        return int(folder.store.read(folder.attempts(job["shard"])))
    except (OSError, ValueError):
        return 0
