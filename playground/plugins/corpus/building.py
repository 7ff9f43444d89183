"""Build a corpus from files, shard by shard.

If a build is killed at any moment, a consistent corpus remains, and the next build continues.
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
from playground.plugins.corpus.optional_dependencies import require_extra
from playground.plugins.corpus.outcomes import Outcome
from playground.plugins.corpus.places import is_of_one_process, is_remote, place_at
from playground.plugins.corpus.planning import Progress, jobs, plan, rebuild_job, split_job
from playground.plugins.corpus.receipt_figures import keep_figures
from playground.plugins.corpus.store_protocol import CATALOG
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.tables import SCHEMAS

TRIES: Final = 3
_COMMIT_PAUSE: Final = 2.0  # the least number of seconds between two commits
_PAUSE_FACTOR: Final = 20  # that pause is also at least so many times as long as the last commit
_MOST_FAULTS: Final = 1_000  # faults that the catalog lists


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build.

    `made` is the number of new shards, `kept` that of the shards from earlier builds, `rows` each
    table's number of rows, `faults` the faults of unreadable inputs. `aside` are the pieces that
    were left out because every attempt to build them failed. `starred` counts the secrets that were
    replaced by stars, by kind; a secret that is in several shards counts once for each.
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
    receipts: bool = False,
    engine: str = "pool",
    workers: int = 0,
    address: str = "",
    shard_bytes: int = PIECE_BYTES,
    progress: Progress | None = None,
) -> Built:
    """Build or refresh the corpus in `out`, a folder or an address, from files, folders, patterns
    and addresses.

    Content that was built before is not built again; the rows of files that changed or are gone are
    removed. With `redact` no text is stored. With `receipts` each new file is read once more, and
    the figures of its receipt (how much of it is in its sessions) are stored.

    Raises InputFault if another build is running in `out`, if an input does not exist, if the disk
    is full, if the corpus exists with another `redact`, or for memory:// with several processes.
    """
    require_extra()
    if engine != "serial" and any(map(is_of_one_process, (str(out), *inputs))):
        problem = f"only one process can see memory://, and the engine {engine} has several"
        raise InputFault(problem, expected="the engine serial")
    for source in map(str, inputs):  # checked before a folder is made for the corpus
        if is_remote(source):
            place_at(source)
            continue
        with suppress(OSError, ValueError):  # a pattern is no file; other bad inputs fail later
            check_regular_file(source, "a file: it is read more than once")
    folder = CorpusFolder(store_at(out))
    with folder.store.locked():
        runs = get_engine(engine, workers, address)
        built = _Build(folder, runs, redact, progress).run(inputs, shard_bytes)
        if receipts:
            catalog = _open_catalog(folder, redact)
            keep_figures(folder, catalogs.built_files(folder, catalog))
        return built


@dataclass(frozen=True, slots=True)
class _Shard:
    """The fields of a shard's manifest that a build needs.

    `pieces` are the hashes of its pieces, `contents` the hashes of those pieces whose rows are
    valid. `months` are the months into which its facts are split.
    """

    pieces: list[str]
    contents: list[str]
    rows: dict[str, int]
    faults: list[dict[str, str]]
    months: list[str]
    starred: dict[str, int]

    @classmethod
    def from_manifest(cls, manifest: dict[str, Any]) -> _Shard:
        pieces = [piece["content"] for piece in manifest["pieces"]]
        spoiled = set(manifest["spoiled"])
        contents = [content for content in pieces if content not in spoiled] if spoiled else pieces
        rows, faults = manifest["rows"], manifest["faults"]
        months, starred = manifest.get("months", []), manifest.get("starred", {})
        return cls(pieces, contents, rows, faults, months, starred)


class _Build:
    def __init__(
        self, folder: CorpusFolder, engine: Engine, redacts: bool, progress: Progress | None
    ) -> None:
        self._folder, self._engine, self._progress = folder, engine, progress
        self._catalog = _open_catalog(folder, redacts)
        self._shards = {
            manifest["shard"]: _Shard.from_manifest(manifest)
            for manifest in catalogs.manifests(folder, redacts=redacts)
            # Other shards are built again: a piece changed during the build, or a table is missing.
            if not manifest["spoiled"]
            and manifest["rows"].keys() >= SCHEMAS.keys()
            and all(catalogs.has_table(folder, manifest, table) for table in SCHEMAS)
        }
        self._is_older = self._catalog.analysis != folder.analysis  # True: commit nothing yet
        self._pieces: list[InputPiece] = []
        self._given_up_shards: set[str] = set()
        self._made = self._done = self._total = 0
        self._next_commit = time.monotonic() + _COMMIT_PAUSE

    def run(self, inputs: Sequence[str | Path], shard_bytes: int) -> Built:
        planned = plan(
            inputs,
            self._folder,
            catalogs.built_files(self._folder, self._catalog),
            self._progress,
        )
        self._pieces = planned.pieces
        self._catalog.aside = []
        existing = len(self._shards)
        try:
            self._rebuild_facts()
            self._catalog.analysis, self._is_older = self._folder.analysis, False
            new_pieces = self._new_pieces()
            self._total = self._done + sum(piece.size for piece in new_pieces)
            self._report_progress()
            self._commit()
            redacts = self._catalog.redacts
            self._build(jobs(new_pieces, self._folder, redacts=redacts, shard_bytes=shard_bytes))
        finally:
            self._engine.close()
        self._list_shards()
        faults = [*planned.faults, *self._faults()]
        self._catalog.faults = faults[:_MOST_FAULTS]
        self._commit()
        catalogs.delete_others(self._folder, keep=self._catalog.shards)
        self._forget_attempts()
        aside, starred = self._catalog.aside, self._starred()
        return Built(self._made, existing, self._rows(), faults, aside, starred)

    def _rebuild_facts(self) -> None:
        """Make new facts for shards of an older analysis, from the sessions in their blocks.

        The corpus stays unchanged until the facts of all these shards are made.
        """
        wanted = {piece.content for piece in self._pieces}
        older: dict[str, dict[str, Any]] = {}
        for analysis in self._folder.analyses:
            if analysis < self._folder.analysis:
                manifests = catalogs.manifests(
                    self._folder.with_analysis(analysis), redacts=self._catalog.redacts
                )
                older |= {manifest["shard"]: manifest for manifest in manifests}
        waiting = [
            rebuild_job(manifest, self._folder)
            for shard, manifest in older.items()
            if shard not in self._shards
            and manifest["rereadable"]
            and not wanted.isdisjoint(_Shard.from_manifest(manifest).contents)
        ]
        self._total = sum(piece["size"] for job in waiting for piece in job["pieces"])
        self._build(waiting)

    def _new_pieces(self) -> list[InputPiece]:
        """Return the pieces whose content no shard has, one piece for each content."""
        built = {content for shard in self._shards.values() for content in shard.contents}
        new: dict[str, InputPiece] = {}
        for piece in self._pieces:
            if piece.content not in built:
                new.setdefault(piece.content, piece)
        return list(new.values())

    def _build(self, jobs: Iterable[dict[str, Any]]) -> None:
        # Jobs are made one at a time: each lists its files, so all together would fill the memory.
        waiting = iter(jobs)
        retries: deque[dict[str, Any]] = deque()
        running: dict[str, dict[str, Any]] = {}
        try:
            while True:
                while self._engine.has_room():
                    job = retries.popleft() if retries else next(waiting, None)
                    if job is None:
                        break
                    if self._is_out_of_attempts(job):
                        retries.extendleft(self._give_up(job, "it ended the build that read it"))
                    else:
                        running[job["shard"]] = job
                        self._engine.submit(job)
                if not running:
                    return
                for outcome in self._engine.outcomes():
                    del running[outcome.job["shard"]]
                    retries.extendleft(self._take_outcome(outcome))
        except BaseException:  # an interruption or a full disk, which no shard has caused
            for job in running.values():
                self._take_back_attempt(job)
            raise

    def _take_outcome(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Record the outcome of a job; return the jobs that must now be tried."""
        job = outcome.job
        if outcome.manifest is None:
            may_retry = _attempts(self._folder, job) < TRIES
            return [job] if may_retry else self._give_up(job, outcome.problem)
        self._folder.store.remove(self._folder.attempts(job["shard"]))
        self._shards[job["shard"]] = _Shard.from_manifest(outcome.manifest)
        self._made += 1
        self._done += sum(piece["size"] for piece in job["pieces"])
        self._report_progress()
        if time.monotonic() > self._next_commit and not self._is_older:
            self._commit()
        return []

    def _report_progress(self) -> None:
        if self._progress is not None:
            self._progress("building", self._done, self._total)

    def _is_out_of_attempts(self, job: dict[str, Any]) -> bool:
        """Return True if a shard has used all its attempts; otherwise count one more. If shards are
        built in other processes, each build tries a shard at least once, because a shard cannot end
        such a build: if earlier builds ended during an attempt, they were killed from outside.
        """
        tried = _attempts(self._folder, job)
        if self._engine.uses_processes:
            tried = min(tried, TRIES - 1)
        if tried < TRIES:
            self._folder.store.write(self._folder.attempts(job["shard"]), str(tried + 1))
        return tried >= TRIES

    def _take_back_attempt(self, job: dict[str, Any]) -> None:
        """Reduce a shard's count of attempts by one."""
        tried, name = _attempts(self._folder, job), self._folder.attempts(job["shard"])
        with suppress(InputFault):  # an error here would hide the one that ended the build
            if tried > 1:
                self._folder.store.write(name, str(tried - 1))
            else:
                self._folder.store.remove(name)

    def _forget_attempts(self) -> None:
        """Delete the counts of attempts, except for shards that were given up.

        The deleted counts are of builds that were killed, or of shards that no longer exist.
        """
        for shard in set(self._folder.store.names("attempts")) - self._given_up_shards:
            self._folder.store.remove(self._folder.attempts(shard))

    def _give_up(self, job: dict[str, Any], problem: str) -> list[dict[str, Any]]:
        """Give up on a shard. Return jobs for its two halves; if it has only one piece, leave the
        piece out and report it."""
        self._given_up_shards.add(job["shard"])
        if len(job["pieces"]) > 1:
            return split_job(job, self._folder)
        name = job["pieces"][0]["name"]
        self._catalog.aside.append({"name": name, "problem": problem})
        return []

    def _list_shards(self) -> None:
        """Record in the catalog which shards are used, so that no content is counted twice."""
        wanted = {piece.content for piece in self._pieces}
        listed: dict[str, set[str]] = {}
        seen: set[str] = set()
        gone: set[int] = set()
        for shard, parts in sorted(self._shards.items()):
            contents = wanted.intersection(parts.contents)
            if contents - seen or not parts.pieces:
                listed[shard] = contents
            seen |= contents
        for shard, contents in listed.items():
            pieces = self._shards[shard].pieces
            gone |= {number_of(content) for content in pieces if content not in contents}
        self._catalog.shards = sorted(listed)
        self._catalog.dropped = sorted(gone)
        self._catalog.months = {
            shard: months for shard in listed if (months := self._shards[shard].months)
        }

    def _commit(self) -> None:
        began = time.monotonic()
        self._list_shards()
        catalogs.commit(self._folder, self._catalog, self._pieces)
        ended = time.monotonic()
        self._next_commit = ended + max(_COMMIT_PAUSE, _PAUSE_FACTOR * (ended - began))

    def _faults(self) -> list[dict[str, str]]:
        listed = (self._shards[shard] for shard in self._catalog.shards)
        return [fault for shard in listed for fault in shard.faults]

    def _starred(self) -> dict[str, int]:
        listed = (Counter(self._shards[shard].starred) for shard in self._catalog.shards)
        return dict(sum(listed, Counter[str]()))

    def _rows(self) -> dict[str, int]:
        listed = [self._shards[shard].rows for shard in self._catalog.shards]
        return {table: sum(rows[table] for rows in listed) for table in SCHEMAS}


def _open_catalog(folder: CorpusFolder, redacts: bool) -> Catalog:
    if CATALOG not in folder.store.names(""):
        return Catalog(redacts=redacts)
    catalog = catalogs.read_catalog(folder)
    if catalog.redacts != redacts:
        raise InputFault(
            f"this corpus is {'redacted' if catalog.redacts else 'not redacted'}",
            where=folder.store.name,
            expected="the same choice of --redact, or another folder",
        )
    return catalog


def _attempts(folder: CorpusFolder, job: dict[str, Any]) -> int:
    try:
        return int(folder.store.read(folder.attempts(job["shard"])))
    except (OSError, ValueError):
        return 0
