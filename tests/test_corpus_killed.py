"""Builds that are killed: the next one makes what an undisturbed one makes, whatever ended."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import ROOT
from test_corpus import facts

import playground as pg
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.store_protocol import CATALOG

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data

pytestmark = pytest.mark.early

SESSIONS = 1_000
SHARD_BYTES = 200_000  # so that there are many shards, and a kill meets one anywhere
KILLED = 8  # builds, each in the middle
BUILD = (
    "import sys; from playground.plugins.corpus.building import build_corpus\n"
    f"build_corpus(*sys.argv[1:2], sys.argv[2:3], engine=sys.argv[3], shard_bytes={SHARD_BYTES})"
)
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")


def started(out: Path, given: Path, engine: str, *folders: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(map(str, (*folders, ROOT)))
    command = [sys.executable, "-c", BUILD, str(out), str(given), engine]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path})


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def is_there(pid: int) -> bool:
    """Whether a process is at work: one that nobody has asked after since its end is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def sessions_in(out: Path) -> int:
    """What can be asked of a corpus; 0 as long as there is none."""
    if not (out / CATALOG).exists():
        return 0
    ((count,),) = pg.corpus(out).sql("SELECT count(*) FROM sessions").rows
    return int(count)


def attempts(out: Path) -> dict[str, str]:
    """Each begun shard, and how often it was begun."""
    found: dict[str, str] = {}
    for path in (out / "attempts").glob("[0-9a-f]*"):
        with suppress(OSError):  # it has just been built
            found[path.name] = path.read_text()
    return found


@needs_proc
def test_a_build_that_is_killed_takes_its_workers_with_it(tmp_path: Path) -> None:
    """They went on to the end of their shards, beside those of the next build."""
    data.write_sessions(tmp_path / "in", 2)
    (tmp_path / "sitecustomize.py").write_text(
        "import os, time\n"
        "from pathlib import Path\n"
        "from playground.plugins.corpus import inputs\n"
        "def sleeping(piece):\n"
        f"    Path({str(tmp_path / 'at-work')!r}).touch()\n"
        "    time.sleep(600)\n"
        "inputs._read_bytes = sleeping\n"
    )
    process = started(tmp_path / "o", tmp_path / "in", "pool", tmp_path)
    while not (tmp_path / "at-work").exists():
        assert process.poll() is None
        time.sleep(0.02)
    workers = children(process.pid)
    assert workers and all(map(is_there, workers))
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while any(map(is_there, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        assert not any(map(is_there, workers))
    finally:
        for worker in filter(is_there, workers):
            os.kill(worker, signal.SIGKILL)


def test_attempts_at_a_shard_that_is_built_count_no_more(tmp_path: Path) -> None:
    """A build that was killed behind a shard's end left them for ever."""
    data.write_sessions(tmp_path / "in", 2)
    for _ in range(2):
        build_corpus(tmp_path / "o", [tmp_path / "in"], engine="serial")
        assert attempts(tmp_path / "o") == {}
        (shard,) = pg.corpus(tmp_path / "o").catalog.shards
        for each in (shard, "0" * 24):  # the other one is of a shard that was begun otherwise
            (tmp_path / "o" / "attempts" / each).write_text("2")
    build_corpus(tmp_path / "o", [tmp_path / "in"], engine="serial")
    assert attempts(tmp_path / "o") == {}


@needs_proc
@pytest.mark.long
@pytest.mark.parametrize("engine", ["pool", "serial"])
@pytest.mark.parametrize("seed", [1, 2])
def test_builds_and_workers_that_are_killed_at_any_moment_cost_nothing(
    tmp_path: Path, engine: str, seed: int
) -> None:
    given, out, whole = tmp_path / "in", tmp_path / "o", tmp_path / "whole"
    data.write_sessions(given, SESSIONS, processes=2)
    build_corpus(whole, [given], engine="serial")
    chance, killed, seen = random.Random(seed), Counter[str](), 0
    while killed["build"] < KILLED:
        before = attempts(out)
        process = started(out, given, engine)
        while process.poll() is None and attempts(out) == before:
            time.sleep(0.01)
        while process.poll() is None:
            time.sleep(chance.uniform(0, 0.5))
            workers = children(process.pid)
            if not workers or chance.random() < 0.3:
                break
            with suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed["worker"] += 1
        is_ended = process.poll() is not None
        killed["build"] += not is_ended
        process.kill()
        process.wait()
        there = sessions_in(out)
        assert there >= seen  # what was built stays, and can be asked
        seen = there
        if is_ended:  # nothing is left to be killed
            shutil.rmtree(out)
            seen = 0
    # by one engine a file that three builds ended with is read no more, by the other once more
    built = build_corpus(out, [given], engine="pool", shard_bytes=SHARD_BYTES)
    assert killed["worker"] >= (KILLED if engine == "pool" else 0)
    assert (built.aside, built.faults, built.rows["sessions"]) == ([], [], SESSIONS)
    assert facts(out) == facts(whole)
    assert not list(out.rglob("*.part"))
    assert not list((out / "attempts").iterdir())
