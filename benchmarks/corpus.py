"""A corpus of generated sessions, built and asked: what that takes, and whether the answers hold.

    python benchmarks/corpus.py 10000 [--engine serial] [--keep FOLDER]

Prints CPU and wall time per session, the build's memory, sizes, and the time of every question; the
exit status is 1 if an answer is not what was planted.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import corpus_data as data

import playground as pg
from playground.plugins.corpus.asking import Corpus
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.questions import question_names


def main() -> int:
    """Generate sessions, build a corpus of them twice, ask it, and compare its answers with the
    truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", type=int)
    parser.add_argument("--engine", default="pool")
    parser.add_argument(
        "--keep",
        type=Path,
        help="Generate and build here, and leave it; sessions "
        "that a run before generated here are taken as they are.",
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        truth = data.planted_in(folder / "in", given.sessions)
        size = sum(path.stat().st_size for path in (folder / "in").rglob("*") if path.is_file())
        print(f"{truth.sessions:,} sessions, {truth.requests:,} requests, {size / 1e6:,.0f} MB")
        _build(folder, given.engine, given.sessions)
        corpus = pg.corpus(folder / "out")
        _sizes(folder / "out")
        for name in (
            n for n in question_names() if n != "analyses"
        ):  # there is one version of it here
            more: dict[str, Any] = {"first": "1.0", "second": "1.1"} if name == "versions" else {}
            answer = corpus.ask(name, **more)
            print(f"{name:10} {answer.seconds:7.3f} s  {len(answer.rows):6,} rows")
        wrong = list(differences(corpus, truth))
        print("\n".join(wrong) or "every planted figure is found")
        return int(bool(wrong))


def _build(folder: Path, engine: str, sessions: int) -> None:
    most = 0.0
    for what in ("built", "again"):
        wall, before = time.monotonic(), _used()
        with _watched() as workers:
            built = build_corpus(folder / "out", [folder / "in"], engine=engine)
        most = max([most, *workers.values()])
        used = _used() - before
        wall = time.monotonic() - wall
        print(
            f"{what}: {built.made} shards, {used / sessions * 1e3:.2f} ms of CPU a session, "
            f"{wall:.1f} s ({sessions / wall:,.0f} sessions/s)"
        )
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak of this process {own:,.0f} MB, of a worker {most:,.0f} MB")


@contextmanager
def _watched() -> Iterator[dict[int, float]]:
    """Yield the most memory that each child of this process has had, in MB, by its id, as Linux
    says twice a second. RUSAGE_CHILDREN would include what the parent held when it started them."""
    found: dict[int, float] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            for path in Path("/proc").glob("[0-9]*/status"):
                with suppress(OSError, KeyError, ValueError):  # it has just ended
                    told = dict(line.split(":", 1) for line in path.read_text().splitlines())
                    if int(told["PPid"]) == os.getpid():
                        found[int(told["Pid"])] = int(told["VmHWM"].split()[0]) / 1024

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()


def _used() -> float:
    """Return the CPU seconds of this process and of the workers that have ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(found.ru_utime + found.ru_stime for found in each)


def _sizes(out: Path) -> None:
    for name in ("facts", "blocks", "files", "manifest"):
        size = sum(path.stat().st_size for path in (out / name).rglob("*") if path.is_file())
        print(f"{name:10} {size / 1e6:9,.1f} MB")


def differences(corpus: Corpus, truth: data.Truth) -> Iterator[str]:
    """Yield a line for every figure that is not the planted one."""
    for name, sql in asked_for().items():
        rows = corpus.sql(sql, limit=100_000).rows
        found = {"|".join(map(str, row[:-1])): row[-1] for row in rows}
        planted = {key: count for key, count in getattr(truth, name).items() if count}
        for key in sorted(found.keys() | planted.keys()):
            if found.get(key) != planted.get(key):
                yield f"{name} {key}: {found.get(key)}, planted {planted.get(key)}"
    totals = "SELECT count(*), CAST(sum(requests) AS BIGINT) FROM sessions"
    lost = "SELECT CAST(sum(lost_tokens) AS BIGINT) FROM breaks WHERE state = 'billed'"
    for sql, planted_row in (
        (totals, (truth.sessions, truth.requests)),
        (lost, (truth.lost_tokens,)),
    ):
        if corpus.sql(sql).rows[0] != planted_row:
            yield f"{sql}: {corpus.sql(sql).rows[0]}, planted {planted_row}"


def asked_for() -> dict[str, str]:
    """Return the SQL for each counter of the truth; a row has the parts of the counter's key, and
    the count."""
    ok, failed = (f"CASE WHEN {name} THEN 'True' ELSE 'False' END" for name in ("ok", "failed"))
    told = (
        "FROM calls c JOIN (SELECT session, form AS came_as, sent_at AS begun FROM sessions) s "
        "USING (session) WHERE came_as <> 'request-rows'"
    )
    week = "CAST(date_trunc('week', begun) AS DATE)"
    window = f"CASE WHEN sent_at < '{data.START:%Y-%m-%d}'::DATE + {7 * data.DRIFT_WEEK}"
    return {
        "calls": f"SELECT dialect, model, {ok}, count(*) {told} GROUP BY ALL",
        "versions": f"SELECT agent, version, {ok}, count(*) {told} GROUP BY ALL",
        "weeks": f"SELECT {week} AS week, {ok}, count(*) {told} GROUP BY ALL",
        "malformed": "SELECT finding, count(*) FROM calls WHERE NOT ok GROUP BY ALL",
        "tools": f"SELECT tool, {failed}, count(*) {told} AND failed IS NOT NULL GROUP BY ALL",
        "breaks": "SELECT cause, count(*) FROM breaks GROUP BY ALL",
        "findings": f"SELECT code, {window} THEN 'before' ELSE 'after' END AS w, count(*) "
        "FROM findings WHERE code IN ('truncated-call', 'unknown-tool', 'relaxed-json') "
        "GROUP BY ALL",
    }


if __name__ == "__main__":
    sys.exit(main())
