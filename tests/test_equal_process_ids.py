"""Programs that share a folder and a process id, as in containers on one volume, do no harm.

Each test runs in two PID namespaces, in which every program is process 1. Where a machine makes
none, and with `make long`, the number is faked, which needs no rights.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT
from test_corpus import facts

import playground as pg
from playground.base.output import create_beside, remove_leftovers, write_file
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.temporary_files import ScratchFolder

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data

pytestmark = pytest.mark.early

PLAIN = json.loads((ROOT / "sample_sessions" / "01-plain-chat.json").read_text())
FAKED = "import os, secrets; os.getpid = lambda: 1\n"
UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
ROUNDS = 25


@cache
def refused() -> str:
    """Why this machine makes no PID namespaces; "" where it does."""
    try:
        done = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return done.stderr.strip() if done.returncode else ""


# Namespaces show all that the fake shows; the tests take as long again with it.
FAKE = pytest.param("faked", marks=[] if refused() else pytest.mark.long)
BOTH = pytest.mark.parametrize("way", ["namespaces", FAKE])


def started(way: str, program: str, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """A program of Python that is process 1, or believes so."""
    if way == "namespaces" and refused():
        pytest.skip(f"NO PID NAMESPACES HERE: {refused()}")
    before = UNSHARE if way == "namespaces" else []
    return subprocess.Popen(
        [*before, sys.executable, "-c", (FAKED if way == "faked" else "") + program, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "benchmarks")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def at_once(
    way: str, program: str, each: Sequence[Sequence[str]], cwd: Path
) -> list[tuple[int, str, str]]:
    """The same program several times at once: exit status, output and errors of each."""
    waits = "import sys; print('ready', flush=True); sys.stdin.readline()\n"
    running = [started(way, waits + program, *arguments, cwd=cwd) for arguments in each]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = []
    for process in running:
        out, err = process.communicate(timeout=120)
        found.append((process.returncode, out, err))
    return found


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".playground-*")]


def session_file(folder: Path, title: str) -> Path:
    path = folder / f"in-{title}.json"
    path.write_text(json.dumps(PLAIN | {"title": title * 40}))
    return path


# a command's output

IMPORTS = """
import os, sys
from playground.cli import main
assert os.getpid() == 1
who, given, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
ended = []
for number in range(rounds):
    try:
        main(["import", given, "-o", (sys.argv[4] or who) + f"-{number}.json"])
    except SystemExit as end:
        ended.append(end.code)
print("ended", *ended)
"""


def ended(said: str) -> list[int]:
    """The exit status of each import of `IMPORTS`."""
    (line,) = [line for line in said.splitlines() if line.startswith("ended ")]
    return [int(status) for status in line.split()[1:]]


@BOTH
def test_imports_at_once_into_one_folder_all_write_their_own_file(way: str, tmp_path: Path) -> None:
    """Of two, both ended with status 2, or one had an empty file."""
    each = [[who, str(session_file(tmp_path, who)), str(ROUNDS), ""] for who in ("a", "b")]
    for status, said, told in at_once(way, IMPORTS, each, tmp_path):
        assert (status, ended(said)) == (0, [0] * ROUNDS), told
    for who in ("a", "b"):
        for number in range(ROUNDS):
            made = json.loads((tmp_path / f"{who}-{number}.json").read_text())
            assert made["title"] == who * 40
    assert leftovers(tmp_path) == []


@BOTH
def test_of_two_that_want_one_name_one_has_it_and_the_other_is_told(
    way: str, tmp_path: Path
) -> None:
    """The loser took the winner's file away on its way out."""
    each = [[who, str(session_file(tmp_path, who)), str(ROUNDS), "same"] for who in ("a", "b")]
    found = at_once(way, IMPORTS, each, tmp_path)
    for number, pair in enumerate(zip(*(ended(said) for _, said, _ in found), strict=True)):
        assert sorted(pair) == [0, 2]
        winner = "ab"[pair.index(0)]
        made = json.loads((tmp_path / f"same-{number}.json").read_text())
        assert made["title"] == winner * 40
    told = [line for _, _, err in found for line in err.splitlines() if line]
    assert len(told) == ROUNDS
    assert all("exists" in line and line.endswith("another name, or --force") for line in told)
    assert leftovers(tmp_path) == []


BATCHES = """
import os, sys
from playground.base.errors import InputFault
from playground.base.output import Batch
assert os.getpid() == 1
who, rounds = sys.argv[1], int(sys.argv[2])
for number in range(rounds):
    names = ["x", "y", "z"] if who == "a" else ["z", "w", "x"]
    try:
        with Batch() as batch:
            for name in names:
                with batch.file(f"{number}/{name}") as file:
                    file.write(who * 5000)
    except InputFault:
        continue
    print("won", number)
"""


@BOTH
def test_of_batches_that_meet_one_is_there_whole_or_none(way: str, tmp_path: Path) -> None:
    found = at_once(way, BATCHES, [["a", "150"], ["b", "150"]], tmp_path)
    assert [status for status, _, _ in found] == [0, 0], found
    for number in range(150):
        folder = tmp_path / str(number)
        there = (
            {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}
        )
        won = [
            who for who, (_, said, _) in zip("ab", found, strict=True) if f"won {number}\n" in said
        ]
        whole = {"a": dict.fromkeys("xyz", "a" * 5000), "b": dict.fromkeys("zwx", "b" * 5000)}
        assert there == (whole[won[0]] if won else {})
        assert len(won) < 2


HALF = """
import os, sys, time
from playground.base.output import Batch
assert os.getpid() == 1
with Batch(force=True) as batch, batch.file(sys.argv[1]) as file:
    file.write("half" * 10000)
    file.flush()
    print("now", flush=True)
    time.sleep(600)
"""


@BOTH
def test_what_a_killed_program_left_stops_no_later_one(way: str, tmp_path: Path) -> None:
    """The next one of that number said that the file exists, which did not."""
    out = tmp_path / "out.json"
    for _ in range(3):
        process = started(way, HALF, str(out), cwd=tmp_path)
        assert process.stdout is not None and process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
    assert not out.exists()
    assert len(leftovers(tmp_path)) == 3
    each = [["out", str(session_file(tmp_path, "a")), "1", ""]]
    ((_, said, told),) = at_once(way, IMPORTS, each, tmp_path)
    assert ended(said) == [0], told
    assert json.loads((tmp_path / "out-0.json").read_text())["title"] == "a" * 40
    assert len(leftovers(tmp_path)) == 3  # of a folder of the user's nothing is taken away


# a recording that grows

RECORDS = """
import os, sys, time
from pathlib import Path
from playground.recordings.append_only_file import AppendOnlyFile
assert os.getpid() == 1
path = Path(sys.argv[1])
path.write_text("old")
file = AppendOnlyFile(path, force=True)
print("begun", flush=True)
sys.stdin.readline()
file.add(sys.argv[1] + chr(10))
file.answered()
file.close()
"""


@BOTH
def test_recordings_that_replace_others_grow_apart(way: str, tmp_path: Path) -> None:
    running = [started(way, RECORDS, name, cwd=tmp_path) for name in ("a.jsonl", "b.jsonl")]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
    for process in running:
        _, told = process.communicate("go on\n", timeout=60)
        assert process.returncode == 0, told
    assert [(tmp_path / name).read_text() for name in ("a.jsonl", "b.jsonl")] == [
        "a.jsonl\n",
        "b.jsonl\n",
    ]
    assert leftovers(tmp_path) == []


# corpora

WHOLE = """
import os, sys
from pathlib import Path
from playground.plugins.corpus.temporary_files import whole_file
assert os.getpid() == 1
who, rounds = sys.argv[1], int(sys.argv[2])
for number in range(rounds):
    with whole_file(Path(f"{who}-{number}")) as path:
        path.write_text(who * 20000)
"""


@BOTH
def test_files_of_shards_hold_their_own_bytes(way: str, tmp_path: Path) -> None:
    """One held the other's, and both builders said that all was well."""
    for status, _, told in at_once(way, WHOLE, [["a", "200"], ["b", "200"]], tmp_path):
        assert status == 0, told
    for who in ("a", "b"):
        for number in range(200):
            assert (tmp_path / f"{who}-{number}").read_text() == who * 20000
    assert leftovers(tmp_path) == []


SHARDS = """
import json, os, sys
from playground.plugins.corpus.build_worker import run_job
assert os.getpid() == 1
for job in json.load(open(sys.argv[1])):
    print(sorted(run_job(job)))
"""


@BOTH
def test_two_workers_of_a_cluster_never_mix_their_shards(way: str, tmp_path: Path) -> None:
    """As Ray's do, on machines that share a file system."""
    from playground.plugins.corpus.layout import CorpusFolder
    from playground.plugins.corpus.planning import jobs, plan
    from playground.plugins.corpus.stores import store_at

    data.write_sessions(tmp_path / "in", 60)
    build_corpus(tmp_path / "alone", [tmp_path / "in"], engine="serial", shard_bytes=10_000)
    build_corpus(tmp_path / "o", [tmp_path / "in"], engine="serial", shard_bytes=10_000)
    folder = CorpusFolder(store_at(tmp_path / "o"))
    shards = pg.corpus(tmp_path / "o").catalog.shards
    for shard in shards:  # all is to be built again, under the catalog that there is
        for name in (folder.manifest(shard), *folder.sizes(shard)):
            (tmp_path / "o" / name).unlink()
    pieces = plan([tmp_path / "in"], folder, []).pieces
    listed = list(jobs(pieces, folder, redacts=False, shard_bytes=10_000))
    assert sorted(job["shard"] for job in listed) == shards and len(shards) > 4
    for who in (0, 1):
        (tmp_path / f"{who}.json").write_text(json.dumps(listed[who::2]))
    for status, said, told in at_once(way, SHARDS, [["0.json"], ["1.json"]], tmp_path):
        assert status == 0, told
        assert set(said.splitlines()) == {"['manifest']"}
    assert facts(tmp_path / "o") == facts(tmp_path / "alone")
    assert leftovers(tmp_path / "o") == []
    found = pg.corpus(tmp_path / "o"), pg.corpus(tmp_path / "alone")
    ids = [row["id"] for row in found[0].ask("sessions", limit=100).records()]
    assert [found[0].session(each) for each in ids] == [found[1].session(each) for each in ids]


BUILDS = """
import os, sys
from playground.cli import main
assert os.getpid() == 1
main(["corpus", "build", "o", "in", "--engine", "serial"])
"""


@BOTH
def test_of_builds_at_once_one_builds_and_the_others_are_told_who(way: str, tmp_path: Path) -> None:
    data.write_sessions(tmp_path / "in", 30)
    build_corpus(tmp_path / "alone", [tmp_path / "in"], engine="serial")
    for _ in range(2):
        found = at_once(way, BUILDS, [[], [], []], tmp_path)
        assert {status for status, _, _ in found} <= {0, 2}
        assert any(status == 0 for status, _, _ in found)
        for status, _, told in found:
            if status == 2:
                assert "o: another build is at work here: process 1 on " in told
                assert told.count("\n") == 1
        assert facts(tmp_path / "o") == facts(tmp_path / "alone")
        assert leftovers(tmp_path / "o") == []


SPILLS = """
import os, sys
import playground as pg
from playground.plugins.corpus import views
assert os.getpid() == 1
views.MEMORY_LIMIT = "20MB"
sql = "SELECT count(*), sum(h % 1000) FROM (SELECT hash(i) h FROM range({}) t(i) ORDER BY h)"
print([pg.corpus("o").sql(sql.format(1_000_000)).rows for _ in range(4)], file=sys.stderr)
"""


def test_questions_that_do_not_fit_in_memory_are_answered_apart(tmp_path: Path) -> None:
    """DuckDB names its files by the process id: they were each other's. It was seen to fail, to
    crash and to give a wrong answer."""
    data.write_sessions(tmp_path / "in", 2)
    build_corpus(tmp_path / "o", [tmp_path / "in"], engine="serial")
    for status, _, told in at_once("namespaces", SPILLS, [[], []], tmp_path):
        assert (status, told) == (0, f"{[[(1_000_000, 499605671)]] * 4}\n")
    assert leftovers(tmp_path / "o") == []


# what killed programs leave in folders of ours

HOLDS = """
import os, sys, time
from contextlib import ExitStack
from pathlib import Path
from playground.base.output import Batch
from playground.plugins.corpus.temporary_files import ScratchFolder, whole_file
assert os.getpid() == 1
with ExitStack() as stack:
    stack.enter_context(whole_file(Path("blocks/shard"))).write_text("whole")
    batch = stack.enter_context(Batch())
    with batch.file("written") as file:
        file.write("written")
    stack.enter_context(batch.file("half")).write("half")
    folder = ScratchFolder(Path("."))
    folder.path.mkdir()
    (folder.path / "spilled").write_text("spilled")
    print("now", flush=True)
    sys.stdin.readline()
folder.close()
"""


@BOTH
def test_leftovers_go_when_their_owner_is_dead_and_never_before(way: str, tmp_path: Path) -> None:
    process = started(way, HOLDS, cwd=tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "now\n"
    held = sorted(leftovers(tmp_path))
    assert len(held) == 5  # a shard's, two of a batch, a mark and its folder
    remove_leftovers(tmp_path)
    assert sorted(leftovers(tmp_path)) == held
    process.kill()
    process.communicate()
    write_file(tmp_path / "another", "another program's")
    path, handle = create_beside(tmp_path / "live")
    with closing(ScratchFolder(tmp_path)) as own:
        own.path.mkdir()
        for _ in range(100):  # a namespace takes a moment to end
            remove_leftovers(tmp_path)
            if sorted(leftovers(tmp_path)) == sorted(
                [path.name, own.path.name, own.path.with_suffix(".part").name]
            ):
                break
        else:
            pytest.fail(f"left: {leftovers(tmp_path)}")
    os.close(handle)
    remove_leftovers(tmp_path)
    assert leftovers(tmp_path) == []
    assert (tmp_path / "another").read_text() == "another program's"


@BOTH
def test_a_program_that_goes_on_finishes_what_was_not_taken_away(way: str, tmp_path: Path) -> None:
    process = started(way, HOLDS, cwd=tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "now\n"
    remove_leftovers(tmp_path)
    _, told = process.communicate("go on\n", timeout=60)
    assert process.returncode == 0, told
    found = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"shard": "whole", "written": "written", "half": "half"}
    assert leftovers(tmp_path) == []


def test_the_workspace_and_a_corpus_take_leftovers_away(home: Path, tmp_path: Path) -> None:
    from playground.sessions.workspaces import on_disk

    data.write_sessions(tmp_path / "in", 2)
    for folder in (home / "workspace", home / "workspace" / "trash", tmp_path / "o" / "facts"):
        folder.mkdir(parents=True)
        (folder / ".playground-1-1.part").write_text("half")  # as before, named by a process id
        (folder / ".playground-0123456789abcdef.part").write_text("half")
    (tmp_path / "o" / "lock").touch()
    on_disk().add("tides", "{}\n")
    build_corpus(tmp_path / "o", [tmp_path / "in"], engine="serial")
    assert leftovers(home) == leftovers(tmp_path) == []
