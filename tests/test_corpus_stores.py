"""A corpus behind an address is built and asked as one in a folder, and by one build at a time."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner
from conftest import ROOT
from fsspec.implementations.local import LocalFileSystem
from streamlit.testing.v1 import AppTest
from test_corpus import facts, killing, titles

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault
from playground.base.waits import telling_waits
from playground.cli import main
from playground.plugins.corpus import remote_stores
from playground.plugins.corpus.asking import Corpus, state_of
from playground.plugins.corpus.building import Built, build_corpus
from playground.plugins.corpus.compaction import compact_corpus
from playground.plugins.corpus.layout import ANALYSIS, CorpusFolder
from playground.plugins.corpus.places import place_at
from playground.plugins.corpus.questions import question_names
from playground.plugins.corpus.simulating import simulate_corpus
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.temporary_files import ScratchFolder
from playground.plugins.corpus.views import connect

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data

LAGOON = (  # an fsspec file system that other processes see, too
    "import fsspec\n"
    "from fsspec.implementations.local import LocalFileSystem\n"
    "class Lagoon(LocalFileSystem):\n"
    "    protocol = 'lagoon'\n"
    "    @classmethod\n"
    "    def _strip_protocol(cls, path):\n"
    "        return super()._strip_protocol(path.removeprefix('lagoon://'))\n"
    "fsspec.register_implementation('lagoon', Lagoon, clobber=True)\n"
)


def serial(out: str | Path, *inputs: str | Path, **more: Any) -> Built:
    return build_corpus(out, inputs, engine="serial", **more)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Forty sessions of all kinds, and their corpus in a folder."""
    folder = tmp_path_factory.mktemp("few")
    data.write_sessions(folder / "in", 40)
    serial(folder / "o", folder / "in", shard_bytes=100_000)
    return folder / "in", folder / "o"


@pytest.fixture
def memory() -> Iterator[str]:
    yield "memory://harbour/corpus"
    system = fsspec.filesystem("memory")
    for name in system.find("/harbour"):
        system.rm(name)


@pytest.fixture
def lagoon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(LAGOON)
    monkeypatch.syspath_prepend(tmp_path / "site")
    exec(LAGOON, {})
    return f"lagoon://{tmp_path}/corpus"


def write(folder: Path, *numbers: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        text = json.dumps(data.text_session(number, data.Truth()))
        (folder / f"{number}.json").write_text(text)
    return folder


def answers(corpus: Corpus) -> Iterator[tuple[str, list[str]]]:
    for name in question_names():
        more: dict[str, Any] = {"first": "1.0", "second": "1.1"} if name == "versions" else {}
        if name != "analyses":
            yield name, sorted(map(repr, corpus.ask(name, **more).rows))
    yield "simulate", sorted(map(repr, simulate_corpus(corpus).rows))


# the same as in a folder


def test_it_says_what_a_corpus_in_a_folder_says(few: tuple[Path, Path], memory: str) -> None:
    folder, out = few
    assert serial(memory, folder, shard_bytes=100_000).made == len(pg.corpus(out).catalog.shards)
    assert facts(memory) == facts(out)
    here, there = pg.corpus(out), pg.corpus(memory)
    assert dict(answers(there)) == dict(answers(here))
    ids = [row["id"] for row in here.ask("sessions").records()]
    assert [there.session(each) for each in ids] == [here.session(each) for each in ids]
    assert there.behind("calls", ok=False).rows == here.behind("calls", ok=False).rows
    assert serial(memory, folder, shard_bytes=100_000).made == 0


@pytest.mark.parametrize("opened", ["open_input_file", "open_input_stream"])
def test_each_reader_has_a_place_of_its_own(memory: str, opened: str) -> None:
    """fsspec gives one file in memory to all, and DuckDB's threads moved it under each other."""
    fsspec.filesystem("memory").pipe("/harbour/corpus/a", b"0123456789")
    system, path, _ = place_at(f"{memory}/a")
    with getattr(system, opened)(path) as first, getattr(system, opened)(path) as second:
        assert (first.read(4), second.read(3), first.read()) == (b"0123", b"012", b"456789")


def test_it_is_compacted_as_one_in_a_folder_is(few: tuple[Path, Path], memory: str) -> None:
    serial(memory, few[0], shard_bytes=100_000)
    before = dict(answers(pg.corpus(memory)))
    assert compact_corpus(memory)["sessions"] == 40
    assert facts(memory) == facts(few[1])
    assert dict(answers(pg.corpus(memory))) == before
    held = fsspec.filesystem("memory").find("/harbour/corpus/blocks")
    assert len(held) == 2
    assert serial(memory, few[0]).made == 0


def test_what_changed_or_went_takes_its_rows_with_it(memory: str, tmp_path: Path) -> None:
    given = write(tmp_path / "in", 0, 1, 2)
    serial(memory, given)
    state = state_of(memory)
    (given / "0.json").unlink()
    write(given, 3)
    serial(memory, given)
    assert titles(memory) == ["text 1", "text 2", "text 3"]
    assert state_of(memory) != state
    files = fsspec.filesystem("memory").find("/harbour/corpus")
    assert not [name for name in files if "/locks/" in name or "/attempts/" in name]


def test_a_torn_object_is_told_and_built_again(memory: str, tmp_path: Path) -> None:
    given, system = write(tmp_path / "in", 0, 1), fsspec.filesystem("memory")
    serial(memory, given)
    (name,) = system.find(f"/harbour/corpus/facts/v{ANALYSIS}/calls")
    system.pipe(name, system.cat(name)[:-200])
    with pytest.raises(InputFault, match="1 of 1 shards are damaged or missing") as caught:
        pg.corpus(memory).ask("failures")
    assert "\n" not in str(caught.value)
    assert serial(memory, given).made == 1
    assert len(pg.corpus(memory).ask("failures").rows) > 0


def test_sql_reads_the_corpus_and_writes_nothing(memory: str, tmp_path: Path) -> None:
    serial(memory, write(tmp_path / "in", 0))
    system = fsspec.filesystem("memory")
    system.pipe("/harbour/other.csv", b"a\n1\n")
    before = {name: system.cat(name) for name in system.find("/harbour")}
    for sql in (
        "FROM read_csv('memory://harbour/other.csv')",
        "FROM read_csv('corpus://here/../other.csv')",
        "FROM read_csv('/etc/hostname')",
        "COPY (SELECT 1) TO 'corpus://here/corpus.json'",
        "WITH x AS (COPY (SELECT 1) TO 'corpus://here/corpus.json') SELECT * FROM x",
        "ATTACH 'corpus://here/x.db'",
    ):
        with pytest.raises(InputFault) as caught:
            pg.corpus(memory).sql(sql)
        assert "\n" not in str(caught.value) and "Traceback" not in str(caught.value)
    assert {name: system.cat(name) for name in system.find("/harbour")} == before


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_what_does_not_fit_in_memory_goes_to_a_disk(
    memory: str, tmp_path: Path, where: str
) -> None:
    """DuckDB makes no folder within a folder that is not there."""
    out = memory if where == "memory" else tmp_path / "o"
    serial(out, write(tmp_path / "in", 0))
    folder = CorpusFolder(store_at(out))
    with closing(ScratchFolder(folder.store.scratch)) as spill:
        made = connect(folder, spill.path)
        made.execute("SET memory_limit = '20MB'")
        sql = "CREATE TABLE t AS SELECT hash(range)::VARCHAR || range AS s FROM range(1000000)"
        assert made.execute(sql).fetchall() == [(1_000_000,)]
        assert list(spill.path.iterdir())
    assert not list(folder.store.scratch.glob(".playground-*"))


def test_the_page_asks_it(memory: str, tmp_path: Path) -> None:
    serial(memory, write(tmp_path / "in", 0, 1))
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.run()
    app.switch_page(str(paths.pages() / "corpus.py"))
    app.query_params["corpus"] = memory
    app.query_params["view"] = "Questions"
    app.run()
    assert not app.exception and not app.error
    assert any(re.match(r"\d+ rows? in ", each.value) for each in app.caption)


def test_an_address_of_this_machine_is_its_folder(tmp_path: Path) -> None:
    given = write(tmp_path / "in", 0)
    for scheme in ("file", "local"):  # the second is fsspec's
        serial(f"{scheme}://{tmp_path}/{scheme}", f"{scheme}://{given}")
        assert (tmp_path / scheme / "lock").is_file()
        assert titles(tmp_path / scheme) == ["text 0"]


def test_what_is_built_is_no_input(memory: str, tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    for path in write(tmp_path / "in", 0, 1).iterdir():
        system.pipe(f"/harbour/{path.name}", path.read_bytes())
    for _ in range(2):
        assert serial(memory, "memory://harbour").faults == []
    assert titles(memory) == ["text 0", "text 1"]
    row = pg.corpus(memory).ask("sessions").records()
    told = {pg.corpus(memory).source(each["id"])[0] for each in row}
    assert told == {"memory://harbour/0.json", "memory://harbour/1.json"}


def test_what_has_the_stamp_that_it_had_is_not_read_again(memory: str, tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    texts = [path.read_bytes() for path in sorted(write(tmp_path / "in", 0, 1).iterdir())]
    length = max(map(len, texts))
    first, other = (text.ljust(length) for text in texts)
    system.pipe("/harbour/in/a.json", first)
    own = system.store["/harbour/in/a.json"]
    own.modified = datetime(2026, 1, 1, tzinfo=UTC)
    serial(memory, "memory://harbour/in")
    own.seek(0)
    own.write(other)  # of the same length, and nobody tells
    own.modified = datetime(2026, 1, 1, tzinfo=UTC)
    assert serial(memory, "memory://harbour/in").made == 0
    own.modified = datetime(2026, 1, 2, tzinfo=UTC)
    assert serial(memory, "memory://harbour/in").made == 1
    assert titles(memory) == ["text 1"]
    own.seek(0)
    own.write(first)
    own.modified = datetime.now(UTC)  # so new that the time may stay as it is
    serial(memory, "memory://harbour/in")
    own.seek(0)
    own.write(other)
    serial(memory, "memory://harbour/in")
    assert titles(memory) == ["text 1"]


# several processes


def test_pool_and_serial_find_the_same(lagoon: str, few: tuple[Path, Path]) -> None:
    built = build_corpus(lagoon, [few[0]], engine="pool", workers=2, shard_bytes=100_000)
    assert (built.aside, built.faults) == ([], [])
    assert facts(lagoon) == facts(few[1])


def test_a_build_that_is_killed_goes_on_where_it_ended(
    lagoon: str, few: tuple[Path, Path], tmp_path: Path
) -> None:
    code = (
        "import sys; from playground.plugins.corpus.building import build_corpus\n"
        "build_corpus(sys.argv[1], sys.argv[2:], engine='serial', shard_bytes=50_000)"
    )
    place = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT)])}
    process = subprocess.Popen([sys.executable, "-c", code, lagoon, str(few[0])], env=place)
    manifests = tmp_path / "corpus" / "manifest"
    while not manifests.is_dir() or len(list(manifests.glob(f"*.v{ANALYSIS}.json"))) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert pg.corpus(lagoon).sql("SELECT count(*) FROM sessions").rows[0][0] >= 0
    began = time.monotonic()
    again = serial(lagoon, few[0], shard_bytes=50_000)
    assert time.monotonic() - began < remote_stores.SILENCE  # its lock was of this machine
    assert again.kept >= 1 and again.made >= 1
    assert facts(lagoon) == facts(few[1])


@pytest.mark.long
def test_a_worker_that_is_killed_once_costs_nothing(
    lagoon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = write(tmp_path / "in", 0, 1, 2)
    killing(tmp_path, monkeypatch, "1.json", times=1)
    with (tmp_path / "sitecustomize.py").open("a") as file:
        file.write(LAGOON)
    built = build_corpus(lagoon, [given], engine="pool", workers=1)
    assert (tmp_path / "killed").read_text() == "x"
    assert (built.aside, built.made) == ([], 1)
    assert titles(lagoon) == ["text 0", "text 1", "text 2"]


# one build at a time


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_stores, "BEAT", 0.05)
    monkeypatch.setattr(remote_stores, "SILENCE", 0.5)


@pytest.fixture
def elsewhere(memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same corpus as another machine sees it, with a folder of its own for what is made."""
    with monkeypatch.context() as within:
        within.setenv("PLAYGROUND_HOME", str(tmp_path / "other machine"))
        return store_at(memory)


def test_two_builds_at_once_are_refused(memory: str, tmp_path: Path) -> None:
    with store_at(memory).locked(), pytest.raises(InputFault, match="another build"):
        serial(memory, write(tmp_path / "in", 0))
    assert serial(memory, tmp_path / "in").rows["sessions"] == 1


@pytest.mark.usefixtures("quick")
def test_a_build_of_another_machine_is_waited_for_and_refused(
    memory: str, elsewhere: Any, tmp_path: Path
) -> None:
    words: list[str] = []
    told = rf"another build is at work here: process {os.getpid()} on .*; expected to wait"
    with elsewhere.locked(), telling_waits(words.append), pytest.raises(InputFault, match=told):
        serial(memory, write(tmp_path / "in", 0))
    (word,) = words
    assert word.startswith("waiting 0 seconds for a sign of life of another build in memory://har")
    assert f"/corpus: process {os.getpid()} on " in word
    assert serial(memory, tmp_path / "in").rows["sessions"] == 1


@pytest.mark.usefixtures("quick")
def test_the_lock_of_a_machine_that_died_is_taken_away(memory: str, tmp_path: Path) -> None:
    fsspec.filesystem("memory").pipe("/harbour/corpus/locks/1234", b"7")
    assert serial(memory, write(tmp_path / "in", 0)).rows["sessions"] == 1
    assert not fsspec.filesystem("memory").find("/harbour/corpus/locks")


@pytest.mark.usefixtures("quick")
def test_of_two_that_come_at_once_never_both_build(memory: str, elsewhere: Any) -> None:
    inside, most = [0], [0]
    together = threading.Barrier(2)

    def comes(store: Any) -> bool:
        together.wait()
        try:
            with store.locked():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(1)
                inside[0] -= 1
        except InputFault:
            return False
        return True

    with ThreadPoolExecutor(2) as both:
        for _ in range(3):
            list(both.map(comes, (store_at(memory), elsewhere)))
    assert most[0] <= 1


def test_a_build_that_lost_its_lock_commits_nothing_more(memory: str, tmp_path: Path) -> None:
    given = write(tmp_path / "in", 0)
    serial(memory, given)
    write(given, 1)
    system = fsspec.filesystem("memory")

    def taken(what: str, _done: int, _size: int) -> None:
        if what == "building":
            for name in system.find("/harbour/corpus/locks"):
                system.rm(name)

    with pytest.raises(InputFault, match="another build has taken the lock"):
        serial(memory, given, progress=taken)
    assert titles(memory) == ["text 0"]


# what goes wrong


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("s3://{key}:{key}@bucket/corpus", "an address of s3 with a key or a user in it"),
        ("s3://bucket/corpus?secret_key={key}", "with the option 'secret_key'"),
        ("az://container/corpus", "no reader for it is installed (Install adlfs"),
        ("wharf://corpus", "no reader for it (Unrecognized filesystem type"),
        ("memory://harbour/none", "there is no corpus"),
    ],
)
def test_a_bad_address_is_one_line_that_shows_no_key(address: str, told: str) -> None:
    key = "A1b2" * 8
    ran = CliRunner().invoke(main, ["corpus", "ask", address.format(key=key), "failures"])
    assert ran.exit_code == 2
    assert told in ran.stderr
    assert len(ran.stderr.splitlines()) == 1 and key not in ran.stderr


def test_objects_of_somebody_else_are_left_alone(memory: str, tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    system.pipe("/harbour/corpus/photo.png", b"1")
    with pytest.raises(InputFault, match="holds other files"):
        serial(memory, write(tmp_path / "in", 0))
    assert system.find("/harbour/corpus") == ["/harbour/corpus/photo.png"]


def test_what_one_process_alone_sees_is_built_in_one(tmp_path: Path) -> None:
    for out, given in (("memory://harbour/o", tmp_path), (tmp_path / "o", "memory://harbour/in")):
        with pytest.raises(InputFault, match="only one process can see memory://"):
            build_corpus(out, [given], engine="pool")


class Refusing(LocalFileSystem):  # type: ignore[misc]
    """As packages for fsspec do that find no key: with an error of their own."""

    protocol = "refusing"

    def info(self, path: str, *_: Any, **more: Any) -> Any:
        raise LookupError(f"no credentials in\n{path}")

    ls = open = _open = info


def test_what_a_package_refuses_in_its_own_words_is_one_line(tmp_path: Path) -> None:
    fsspec.register_implementation("refusing", Refusing, clobber=True)
    given = write(tmp_path / "in", 0)
    for ask in (
        lambda: pg.corpus("refusing:///corpus"),
        lambda: serial("refusing:///corpus", given),
        lambda: serial(tmp_path / "o", "refusing:///logs"),
    ):
        with pytest.raises(InputFault, match="///[a-z]+: LookupError: no cred") as told:
            ask()
        assert "\n" not in str(told.value)
