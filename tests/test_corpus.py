"""A corpus: what was planted is found, and nothing that happens to a build costs what was built."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import terminals
from conftest import ROOT
from keyed_sessions import Keys
from test_secrets import KINDS

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault, UnknownNameError
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.plugins.corpus import building, catalog, planning, shards
from playground.plugins.corpus.asking import Corpus
from playground.plugins.corpus.building import Built, build_corpus
from playground.plugins.corpus.cleaning import Cleaner
from playground.plugins.corpus.compaction import compact_corpus
from playground.plugins.corpus.engines import SerialEngine
from playground.plugins.corpus.inputs import open_piece, pieces_of
from playground.plugins.corpus.layout import ANALYSIS, CorpusFolder
from playground.plugins.corpus.questions import question_names, versions
from playground.plugins.corpus.stores import store_at
from playground.plugins.corpus.tables import SCHEMAS
from playground.recordings.scrubbing import scrubbed
from playground.sessions.native_format import dump_session
from playground.sessions.session import RequestRecord, Session

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data
from corpus import differences

SESSIONS = 300
NEWER = ANALYSIS + 1


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, data.Truth]:
    folder = tmp_path_factory.mktemp("planted") / "sessions"
    return folder, data.write_sessions(folder, SESSIONS)


@pytest.fixture(scope="module")
def built(
    planted: tuple[Path, data.Truth], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Built]:
    out = tmp_path_factory.mktemp("built") / "corpus"
    return out, build_corpus(out, [planted[0]], engine="serial", shard_bytes=1 << 20)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Forty sessions of all kinds, and their corpus in one shard."""
    folder = tmp_path_factory.mktemp("few")
    data.write_sessions(folder / "in", 40)
    build_corpus(folder / "o", [folder / "in"], engine="serial")
    return folder / "in", folder / "o"


@pytest.fixture
def asked(built: tuple[Path, Built]) -> Corpus:
    return pg.corpus(built[0])


def present(planted: dict[str, int]) -> dict[str, int]:
    return {key: value for key, value in planted.items() if value}


# what was planted


def test_every_planted_figure_is_found(planted: tuple[Path, data.Truth], asked: Corpus) -> None:
    assert planted[1].sessions == SESSIONS
    assert sum(planted[1].breaks.values()) > 10
    assert list(differences(asked, planted[1])) == []


def test_the_named_questions_say_the_same(planted: tuple[Path, data.Truth], asked: Corpus) -> None:
    truth = planted[1]
    failures = asked.ask("failures", "dialect").records()
    malformed = sum(row["malformed"] for row in failures)
    assert malformed == sum(truth.malformed.values())
    assert {r["cause"]: r["breaks"] for r in asked.ask("breaks").records()} == truth.breaks
    billed = asked.ask("breaks", "state", state="billed").records()
    assert sum(row["lost_tokens"] for row in billed) == truth.lost_tokens
    errors = asked.ask("errors").records()
    assert sorted(row["errors"] for row in errors) == sorted(truth.errors.values())
    unused = [r["tool"] for r in asked.ask("tools").records() if r["note"] == "never used"]
    assert unused == list(data.UNUSED)
    twins = [row for row in asked.ask("twins").records() if row["bands"] > 4]
    assert len(twins) == truth.duplicates
    drift = asked.ask("drift", split="2026-10-05").records()
    noted = {
        f"{row['code']}|{window}": row[window] for row in drift for window in ("before", "after")
    }
    assert {key: noted.get(key, 0) for key in present(truth.findings)} == present(truth.findings)


def test_two_versions_are_compared_with_the_chance_of_such_a_difference(asked: Corpus) -> None:
    answer = asked.ask("versions", first="1.0", second="1.1", agent="harbour")
    assert answer.columns == ["figure", "harbour 1.0", "harbour 1.1", "change", "p"]
    row = next(row for row in answer.records() if row["figure"] == "malformed calls")
    difference = row["harbour 1.1"] - row["harbour 1.0"]
    assert row["change"] == pytest.approx(difference, abs=1e-5)
    assert 0 <= row["p"] <= 1
    with pytest.raises(InputFault, match="no agent has 1.0 and 9; expected two of one agent: .*"):
        asked.ask("versions", first="1.0", second="9")


def test_versions_are_of_one_agent_and_in_the_order_of_their_numbers() -> None:
    """2.1.80 stood before 2.1.9, and an agent's version beside another agent's."""
    counted = {"a": {"2.1.9": 1, "2.1.112": 1, "2.1.80": 2, "": 9}, "b": {"1.0": 3}}
    rows = [
        {"agent": agent, "version": version, "sessions": sessions}
        for agent, by_version in counted.items()
        for version, sessions in by_version.items()
    ]
    newest = [(row["agent"], row["version"]) for row in versions.choose_versions(rows, [])]
    assert newest == [("a", "2.1.80"), ("a", "2.1.112")]
    assert [row["sessions"] for row in versions.choose_versions(rows, ["2.1.9", "2.1.80"])] == [
        1,
        2,
    ]
    with pytest.raises(InputFault, match="a 2.1.9, 2.1.80, 2.1.112; b 1.0"):
        versions.choose_versions(rows, ["2.1.9", "1.0"])
    odd = ["1.0", "1.0-beta", "1.0.1", "0.9", "9" * 5_000]
    rows = [{"agent": "a", "version": version, "sessions": 1} for version in odd]
    with pytest.raises(InputFault, match=r"a 0\.9, 1\.0-beta, 1\.0, 1\.0\.1, 9999"):
        versions.choose_versions(rows, ["none"])


# in this corpus there is one analysis, and no provider's word on its cache
ELSEWHERE = ("analyses", "diagnoses")


@pytest.mark.parametrize("name", [name for name in question_names() if name not in ELSEWHERE])
def test_every_question_answers_within_a_second(asked: Corpus, name: str) -> None:
    more: dict[str, Any] = {"first": "1.0", "second": "1.1"} if name == "versions" else {}
    answer = asked.ask(name, limit=5, **more)
    assert 0 < len(answer.rows) <= 5
    assert all(len(row) == len(answer.columns) for row in answer.rows)
    json.dumps(answer.plain())


def test_the_worst_receipt_of_a_file_comes_first(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Weather in Oslo? I mean the capital of Norway"}]
    note = "A remark that stands beside the conversation, and that nobody reads"
    whole, part = ({"chat": {"turns": said}}, {"chat": {"turns": said}, "of": {"mine": note}})
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, value in (("a.json", whole), ("b.json", part)):
        (folder / name).write_text(json.dumps(value))
    build_corpus(tmp_path / "o", [folder], engine="serial")
    answer = pg.corpus(tmp_path / "o").ask("receipts")
    assert [(Path(row[0]).name, row[5], row[7]) for row in answer.rows] == [
        ("b.json", 1, "of.mine"),
        ("a.json", 0, ""),
    ]
    (folder / "b.json").unlink()
    gone = pg.corpus(tmp_path / "o").ask("receipts")
    assert gone.notes == ["1 file was not read: inside an archive, at an address, or deleted"]


def test_a_build_keeps_the_figures_of_receipts(tmp_path: Path) -> None:
    folder, note = tmp_path / "in", "A remark that stands beside the conversation, unread"
    folder.mkdir()
    said = [{"role": "user", "content": "Is it dry in Oslo today, or does it rain?"}]
    for name, value in {"a.json": {"of": {"mine": note}}, "b.json": {}}.items():
        (folder / name).write_text(json.dumps({"turns": {"list": said}, **value}))
    build_corpus(tmp_path / "o", [folder], engine="serial", receipts=True)
    asked = pg.corpus(tmp_path / "o").ask("receipts")
    for name in ("a.json", "b.json"):  # of files that are gone, too
        (folder / name).unlink()
    kept = pg.corpus(tmp_path / "o").ask("receipts")
    assert (kept.rows, kept.notes) == (asked.rows, [])
    assert [row[3] for row in kept.rows] == [len(note) + len(said[0]["content"]), 41]


def test_a_number_opens_the_sessions_behind_it(asked: Corpus) -> None:
    (row,) = asked.ask("failures", "dialect", dialect="hermes").records()
    behind = asked.behind("calls", ok=False, dialect="hermes").records()
    assert sum(each["rows"] for each in behind) == row["malformed"]
    found = asked.session(behind[0]["id"])
    assert found.title == behind[0]["title"]
    path, _, number = asked.source(behind[0]["id"])
    lines = Path(path).read_text().splitlines()
    assert json.loads(lines[number])["title"] == found.title


def test_a_stored_session_is_the_session_that_came(
    planted: tuple[Path, data.Truth], asked: Corpus
) -> None:
    for row in asked.ask("sessions", limit=40).records():
        path, _, number = asked.source(row["id"])
        came = list(pg.load_sessions(path))[number].session
        assert asked.session(row["id"]) == came
        number = int(row["id"], 16)  # as SQL gives it, and as a table prints that
        if len(str(number)) != 16:
            assert asked.session(str(number)) == asked.session(f"{number:,}") == came


# any cutting into shards, any engine


def facts(out: Path | str) -> dict[str, list[str]]:
    """All rows of a corpus, block numbers as the hashes of what they say."""
    folder = CorpusFolder(store_at(out))
    found: dict[str, list[str]] = {name: [] for name in SCHEMAS if name != "toolsets"}
    known = catalog.read_catalog(folder)
    folder = folder.with_analysis(known.analysis)
    for shard in known.shards:
        hashes = pq.read_table(folder.store.open_file(folder.index(shard)))["hash"].to_pylist()
        for name in found:
            for file in folder.fact_files(name, shard, known.months.get(shard, ())):
                for row in pq.ParquetFile(folder.store.open_file(file)).read().to_pylist():
                    row["text"] = ""
                    if "added" in row:
                        row["added"] = [hashes[number].hex() for number in row["added"]]
                    found[name].append(repr(row))
    return {name: sorted(rows) for name, rows in found.items()}


def test_pool_and_serial_find_the_same_for_any_size_of_shards(
    few: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, out = few
    build_corpus(tmp_path / "o", [folder], engine="pool", workers=2, shard_bytes=100_000)
    assert len(pg.corpus(tmp_path / "o").catalog.shards) >= 3
    assert facts(tmp_path / "o") == facts(out)
    serial(tmp_path / "each", folder, shard_bytes=1)
    assert facts(tmp_path / "each") == facts(out)


def test_of_many_small_files_a_shard_holds_some(
    few: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """50,000 files of a few bytes were one shard, whose worker took 358 MB."""
    folder, out = few
    monkeypatch.setattr(planning, "MOST_PIECES", 3)
    serial(tmp_path / "o", folder)
    found = catalog.manifests(CorpusFolder(store_at(tmp_path / "o")), redacts=False)
    assert max(len(each["pieces"]) for each in found) == 3
    assert facts(tmp_path / "o") == facts(out)


@pytest.mark.parametrize("bound", ["_SESSIONS_AT_ONCE", "_MOST_WAITING_BYTES"])
def test_sessions_that_go_from_step_to_step_together_have_the_facts_of_each_alone(
    few: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    folder, out = few
    monkeypatch.setattr(shards, bound, 1)
    serial(tmp_path / "o", folder)
    assert facts(tmp_path / "o") == facts(out)


needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="NOT RUN: Ray is not installed")


@needs_ray
@pytest.mark.long
@pytest.mark.parametrize("shard_bytes", [1, 100_000])
def test_ray_finds_the_same_with_a_worker_that_is_killed_once(
    few: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard_bytes: int
) -> None:
    """Two workers of a Ray of our own, which listens on this machine alone; the one that reads a
    certain file first is killed there."""
    killing(tmp_path, monkeypatch, "text-00000.jsonl", times=1)
    heard: set[str] = set()

    def listening(_what: str, _done: int, _size: int) -> None:
        heard.update(listeners())

    folder, out = few[0], tmp_path / "o"
    built = build_corpus(
        out, [folder], engine="ray", workers=2, shard_bytes=shard_bytes, progress=listening
    )
    assert built.aside == []
    assert (tmp_path / "killed").read_text() == "x"
    assert built.made >= 3
    assert facts(out) == facts(few[1])
    assert heard
    assert {address for address in heard if not address.startswith("127.")} == set()


@needs_ray
@pytest.mark.long
def test_a_file_that_kills_every_worker_of_ray_is_set_aside(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killing(tmp_path, monkeypatch, "1.json")
    built = build_corpus(tmp_path / "o", [small], engine="ray", workers=2)
    assert [each["name"] for each in built.aside] == [str(small / "1.json")]
    assert titles(tmp_path / "o") == ["text 0", "text 2"]


def listeners() -> set[str]:
    """Where processes of Ray listen."""
    found = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in found.splitlines() if "raylet" in line or "gcs_server" in line]
    addresses = {row[3].rpartition(":")[0].strip("[]") for row in rows}
    return {address.removeprefix("::ffff:") for address in addresses}


# what changes, goes, comes back


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        write(folder / f"{number}.json", number)
    return folder


def write(path: Path, number: int) -> None:
    path.write_text(json.dumps(data.text_session(number, data.Truth())))


def titles(out: Path | str) -> list[str]:
    return [row["title"] for row in pg.corpus(out).sql("FROM sessions ORDER BY title").records()]


def serial(out: Path, *inputs: Path, **more: Any) -> Built:
    return build_corpus(out, inputs, engine="serial", **more)


def test_what_is_there_by_its_content_is_not_built_again(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    assert serial(out, small).made == 1
    (small / "0.json").rename(small / "renamed.json")
    again = serial(out, small)
    assert (again.made, again.rows["sessions"]) == (0, 3)
    row = pg.corpus(out).ask("sessions").records()
    paths = {Path(pg.corpus(out).source(each["id"])[0]).name for each in row}
    assert paths == {"renamed.json", "1.json", "2.json"}


def test_a_file_that_changed_or_went_takes_its_rows_with_it(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    serial(out, small)
    write(small / "0.json", 7)
    (small / "1.json").unlink()
    assert serial(out, small).made == 1
    assert titles(out) == ["text 2", "text 7"]
    calls = pg.corpus(out).sql("SELECT count(DISTINCT session) FROM calls").rows
    assert calls == [(2,)]
    write(small / "1.json", 1)  # back again: its rows were kept in its shard
    assert serial(out, small).made == 0
    assert titles(out) == ["text 1", "text 2", "text 7"]


def test_another_folder_is_added_and_the_same_content_counts_once(
    small: Path, tmp_path: Path
) -> None:
    out, other = tmp_path / "o", tmp_path / "other"
    other.mkdir()
    write(other / "copy.json", 2)
    write(other / "9.json", 9)
    serial(out, small)
    serial(out, other)
    assert titles(out) == ["text 0", "text 1", "text 2", "text 9"]


def test_packed_files_and_tars_are_read(small: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "packed", tmp_path / "o"
    folder.mkdir()
    plain = (small / "0.json").read_bytes()
    (folder / "a.json.gz").write_bytes(gzip.compress(plain))
    zstd = pa.Codec("zstd").compress((small / "1.json").read_bytes(), asbytes=True)
    (folder / "b.json.zst").write_bytes(zstd)
    for name in ("c.tar", "d.tar.gz"):
        write(small / "2.json", len(name))
        with tarfile.open(folder / name, "w:gz" if name.endswith("gz") else "w") as tar:
            tar.add(small / "2.json", "inner/2.json")
    (folder / "torn.json.gz").write_bytes(gzip.compress(plain)[:-20])
    write(small / "6.json", 6)
    windows = (small / "6.json").read_text().encode("utf-16")
    (folder / "windows.json.gz").write_bytes(gzip.compress(windows))
    built = serial(out, folder)
    assert titles(out) == ["text 0", "text 1", "text 5", "text 6", "text 8"]
    assert [fault["name"] for fault in built.faults] == [str(folder / "torn.json.gz")]


def test_a_file_that_is_packed_is_the_session_that_it_was(small: Path, tmp_path: Path) -> None:
    out, plain = tmp_path / "o", (small / "0.json").read_bytes()
    serial(out, small)
    before = {row["session"] for row in pg.corpus(out).sql("FROM sessions").records()}
    (small / "0.json.gz").write_bytes(gzip.compress(plain))
    (small / "0.json.zst").write_bytes(pa.Codec("zstd").compress(plain, asbytes=True))
    assert serial(out, small).made == 0
    (small / "0.json").unlink()
    again = serial(out, small)
    assert (again.made, again.rows["sessions"], again.faults) == (0, 3, [])
    assert {row["session"] for row in pg.corpus(out).sql("FROM sessions").records()} == before
    assert serial(tmp_path / "p", small).rows["sessions"] == 3
    (piece,) = pieces_of(str(small / "0.json.gz"))
    (small / "0.json.gz").write_bytes(gzip.compress(plain.replace(b"text", b"next")))
    with pytest.raises(InputFault, match="it changed"), open_piece(piece, tmp_path) as sources:
        next(sources)


def test_a_long_file_of_lines_is_cut_and_what_is_added_to_it_is_all_that_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.plugins.corpus.inputs.PIECE_BYTES", 20_000)
    path, out = tmp_path / "long.jsonl", tmp_path / "o"
    lines = [json.dumps(data.text_session(number, data.Truth())) for number in range(20)]
    path.write_text("\n".join(lines[:16]) + "\n")
    serial(out, path, shard_bytes=20_000)
    with path.open("a") as file:
        file.write("\n".join(lines[16:]) + "\n")
    again = serial(out, path, shard_bytes=20_000)
    assert again.kept > again.made
    assert titles(out) == sorted(f"text {number}" for number in range(20))


# versions of our own analysis


def test_a_newer_analysis_makes_its_facts_from_what_is_kept(
    few: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a look at the inputs: equal where no rule changed, and the older ones stay."""
    folder, out = few[0], tmp_path / "o"
    shutil.copytree(few[1], out)
    monkeypatch.setattr("playground.plugins.corpus.layout.ANALYSIS", NEWER)
    monkeypatch.setattr("playground.plugins.corpus.shards.open_piece", no_input)
    again = build_corpus(out, [folder], engine="serial")
    assert (again.made, again.rows) == (1, build_corpus(out, [folder], engine="serial").rows)
    assert facts(out) == facts(few[1])
    asked = pg.corpus(out)
    assert asked.catalog.analysis == NEWER
    assert asked.ask("analyses").rows == []
    assert pg.corpus(out, analysis=ANALYSIS).ask("failures").rows == asked.ask("failures").rows
    with pytest.raises(
        InputFault,
        match=f"no facts of analysis {NEWER + 1}; expected one of: {ANALYSIS}, {NEWER}",
    ):
        pg.corpus(out, analysis=NEWER + 1)


def no_input(piece: Any, scratch: Path) -> Iterator[Any]:
    raise AssertionError(f"{piece.name} is read again")


def test_what_a_changed_rule_counts_otherwise_is_told(
    few: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = few[0], tmp_path / "o"
    shutil.copytree(few[1], out)
    monkeypatch.setattr("playground.plugins.corpus.layout.ANALYSIS", NEWER)
    monkeypatch.setattr(
        "playground.plugins.corpus.breaks._REASONS", (("had expired", "forgotten"),)
    )
    monkeypatch.setattr("playground.plugins.corpus.breaks.EXPIRED", "forgotten")
    build_corpus(out, [folder], engine="serial")
    expired = pg.corpus(few[1]).ask("breaks", "cause", cause="expired").rows[0][1]
    answer = pg.corpus(out).ask("analyses")
    assert answer.columns == [
        "what",
        "which",
        f"analysis {ANALYSIS}",
        f"analysis {NEWER}",
        "change",
    ]
    assert sorted(answer.rows) == [
        ("breaks", "expired", expired, 0, -expired),
        ("breaks", "forgotten", 0, expired, expired),
    ]


# compaction


@pytest.fixture(scope="module")
def compacted(
    planted: tuple[Path, data.Truth], built: tuple[Path, Built], tmp_path_factory: Any
) -> Path:
    out: Path = tmp_path_factory.mktemp("compacted") / "corpus"
    shutil.copytree(built[0], out)
    assert compact_corpus(out) == built[1].rows | {"toolsets": compact_corpus(out)["toolsets"]}
    return out


def test_a_compacted_corpus_answers_alike(
    planted: tuple[Path, data.Truth], built: tuple[Path, Built], compacted: Path
) -> None:
    before, after = pg.corpus(built[0]), pg.corpus(compacted)
    assert (len(before.catalog.shards) > 1, len(after.catalog.shards)) == (True, 1)
    assert list(differences(after, planted[1])) == []
    for name in ("failures", "findings", "breaks", "tools", "tokens", "sessions"):
        assert after.ask(name).rows == before.ask(name).rows, name
    for row in before.ask("sessions", limit=40).records():
        assert after.session(row["id"]) == before.session(row["id"])
    assert facts(compacted) == facts(built[0])


def test_compacted_facts_lie_by_month_and_in_order_and_texts_once(
    built: tuple[Path, Built], compacted: Path
) -> None:
    after = pg.corpus(compacted)
    (shard,) = after.catalog.shards
    assert after.catalog.months[shard] == ["2026-09", "2026-10", "2026-11"]
    for month in after.catalog.months[shard]:
        (path,) = after.folder.fact_files("requests", shard, [month])
        rows = pq.read_table(compacted / path, columns=["agent", "session", "n"]).to_pylist()
        keys = [tuple(row.values()) for row in rows]
        assert keys == sorted(keys) and keys
    hashes = pq.read_table(compacted / after.folder.index(shard))["hash"].to_pylist()
    assert len(set(hashes)) == len(hashes)
    assert len(list((compacted / "blocks").iterdir())) == 2
    assert size(compacted / "blocks") < size(built[0] / "blocks")


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_file_that_goes_after_compaction_takes_its_rows_with_it(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "o"
    serial(out, small, shard_bytes=1)
    (small / "2.json").unlink()
    write(small / "0.json", 7)
    serial(out, small)
    compact_corpus(out)
    assert titles(out) == ["text 1", "text 7"]
    assert serial(out, small).made == 0
    (small / "1.json").unlink()
    write(small / "5.json", 5)
    assert serial(out, small).made == 1
    assert titles(out) == ["text 5", "text 7"]
    compact_corpus(out)
    monkeypatch.setattr("playground.plugins.corpus.layout.ANALYSIS", NEWER)
    monkeypatch.setattr("playground.plugins.corpus.shards.open_piece", no_input)
    assert serial(out, small).made == 1
    assert titles(out) == ["text 5", "text 7"]


def test_a_compaction_that_is_killed_leaves_the_corpus_as_it_was(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "o"
    serial(out, small, shard_bytes=1)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as within:
        within.setattr("playground.plugins.corpus.stores.write_file", killed)
        with pytest.raises(KeyboardInterrupt):
            compact_corpus(out)
    assert titles(out) == ["text 0", "text 1", "text 2"]
    assert serial(out, small).made == 0
    compact_corpus(out)
    assert titles(out) == ["text 0", "text 1", "text 2"]


# what goes wrong


def test_a_build_that_is_killed_goes_on_where_it_ended(
    few: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, out = few[0], tmp_path / "o"
    code = (
        "import sys; from playground.plugins.corpus.building import build_corpus\n"
        "build_corpus(sys.argv[1], sys.argv[2:], engine='serial', shard_bytes=50_000)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(out), str(folder)], cwd=ROOT)
    manifests = out / "manifest"
    while not manifests.is_dir() or len(list(manifests.glob(f"*.v{ANALYSIS}.json"))) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert pg.corpus(out).sql("SELECT count(*) FROM sessions").rows[0][0] >= 0
    again = serial(out, folder, shard_bytes=50_000)
    assert again.kept >= 2
    assert again.made >= 1
    assert facts(out) == facts(few[1])
    assert not list(out.rglob("*.part"))


def test_a_file_that_kills_its_worker_is_set_aside_and_named(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killing(tmp_path, monkeypatch, "1.json")
    built = build_corpus(tmp_path / "o", [small], engine="pool", workers=1)
    assert [each["name"] for each in built.aside] == [str(small / "1.json")]
    assert "signal 9" in built.aside[0]["problem"]
    assert titles(tmp_path / "o") == ["text 0", "text 2"]


def test_a_worker_that_is_killed_once_costs_nothing(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killing(tmp_path, monkeypatch, "1.json", times=1)
    built = build_corpus(tmp_path / "o", [small], engine="pool", workers=1)
    assert (tmp_path / "killed").read_text() == "x"
    assert (built.aside, built.made) == ([], 1)
    assert titles(tmp_path / "o") == ["text 0", "text 1", "text 2"]


def killing(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, times: int = 99) -> None:
    """Workers load a module that ends the process, so many times, where it reads this file."""
    (folder / "sitecustomize.py").write_text(
        "import os, sys\n"
        "from pathlib import Path\n"
        f"done = Path({str(folder / 'killed')!r})\n"
        "if os.environ.get('KILLED_BY'):\n"
        "    from playground.plugins.corpus import inputs\n"
        "    plain = inputs._read_bytes\n"
        "    def killing(piece):\n"
        "        told = done.read_text() if done.exists() else ''\n"
        f"        if piece.path.endswith(os.environ['KILLED_BY']) and len(told) < {times}:\n"
        "            done.write_text(told + 'x')\n"
        "            os.kill(os.getpid(), 9)\n"
        "        return plain(piece)\n"
        "    inputs._read_bytes = killing\n"
    )
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.setenv("KILLED_BY", name)


def test_a_shard_that_ended_the_build_itself_is_not_tried_for_ever(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "o"
    folder = CorpusFolder(store_at(out))
    (small / "1.json").unlink()
    (small / "2.json").unlink()
    from playground.plugins.corpus.planning import job, plan

    pieces = plan([small], folder, []).pieces
    place = out / folder.attempts(job(pieces, folder, redacts=False)["shard"])
    place.parent.mkdir(parents=True)
    (out / "lock").touch()
    place.write_text(str(building.TRIES))
    built = serial(out, small)
    assert [each["name"] for each in built.aside] == [str(small / "0.json")]
    # it may have been killed from outside: where it ends no build, it is read once more
    monkeypatch.setattr(SerialEngine, "uses_processes", True)
    built = serial(out, small)
    assert (built.aside, titles(out)) == ([], ["text 0"])


def test_what_cannot_be_read_is_named_and_the_rest_is_there(small: Path, tmp_path: Path) -> None:
    (small / "notes.txt").write_text("bought milk")
    (small / "other.json").write_text('{"berths": 3}')
    built = serial(tmp_path / "o", small)
    assert sorted(Path(each["name"]).name for each in built.faults) == ["notes.txt", "other.json"]
    assert len(titles(tmp_path / "o")) == 3


def test_a_file_that_changes_while_it_is_read_counts_at_the_next_build(
    small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "o"

    def changing(what: str, _done: int, _size: int) -> None:
        if what == "looking":
            write(small / "0.json", 8)

    built = serial(out, small, progress=changing)
    assert [each["name"] for each in built.faults] == [str(small / "0.json")]
    assert "changed while it was read" in built.faults[0]["problem"]
    assert titles(out) == ["text 1", "text 2"]
    serial(out, small)
    assert titles(out) == ["text 1", "text 2", "text 8"]


def test_two_builds_at_once_are_refused(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    with store_at(out).locked(), pytest.raises(InputFault, match="another build"):
        serial(out, small)
    assert serial(out, small).rows["sessions"] == 3


def test_a_torn_shard_is_one_line_and_built_again(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    serial(out, small)
    (path,) = (out / "facts" / f"v{ANALYSIS}" / "calls").glob("*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[:-200])
    with pytest.raises(InputFault, match="1 of 1 shards are damaged or missing") as caught:
        pg.corpus(out).ask("failures")
    assert "\n" not in str(caught.value)
    assert serial(out, small).made == 1
    assert len(pg.corpus(out).ask("failures").rows) > 0


@pytest.mark.parametrize("start", [4, -300], ids=["rows", "what tells of them"])
def test_a_file_that_is_damaged_within_is_named_and_made_again(
    small: Path, tmp_path: Path, start: int
) -> None:
    """It has its length: what DuckDB says of it named no file, and asked for other SQL."""
    out = tmp_path / "o"
    serial(out, small)
    (path,) = (out / "facts" / f"v{ANALYSIS}" / "calls").glob("*.parquet")
    spoiled = bytearray(path.read_bytes())
    spoiled[start : start + 200] = b"\xff" * 200
    path.write_bytes(spoiled)
    with pytest.raises(InputFault) as caught:
        pg.corpus(out).sql("FROM calls")
    assert str(caught.value) == (
        f"{path}: this file is damaged; expected that you delete it, and run `playground corpus "
        "build` with the same inputs, which makes it again"
    )
    path.unlink()
    assert serial(out, small).made == 1
    assert len(pg.corpus(out).ask("failures").rows) > 0


@pytest.mark.parametrize("name", ["corpus.json", "manifest"])
def test_a_corpus_of_a_newer_version_is_refused(small: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "o"
    serial(out, small)
    path = out / name
    path = next(path.iterdir()) if path.is_dir() else path
    path.write_text(json.dumps({**json.loads(path.read_text()), "layout": 99}))
    with pytest.raises(InputFault, match="layout 99 is newer"):
        serial(out, small)


def test_a_folder_of_other_files_is_left_alone(small: Path) -> None:
    before = sorted(small.iterdir())
    with pytest.raises(InputFault, match="holds other files"):
        serial(small, small)
    assert sorted(small.iterdir()) == before


def test_there_is_no_corpus_and_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match="there is no corpus"):
        pg.corpus(tmp_path)
    with pytest.raises(InputFault, match="nothing is there"):
        serial(tmp_path / "o", tmp_path / "missing")
    with pytest.raises(UnknownNameError, match="serial, pool, ray"):
        build_corpus(tmp_path / "p", [ROOT / "sample_sessions"], engine="spark")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_ends_the_build_and_leaves_what_was_built(small: Path, tmp_path: Path) -> None:
    """A file may not grow past a limit here, which Parquet and our writers meet as a full disk."""
    out = tmp_path / "o"
    serial(out, small)
    write(small / "3.json", 30)
    code = (
        "import resource, signal, sys\n"
        "from playground.plugins.corpus.building import build_corpus\n"
        "from playground.base.errors import InputFault\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "for size in (600, 5000, 5000, 5000):\n"  # of the list of files, then of a shard
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))\n"
        "    try: build_corpus(sys.argv[1], sys.argv[2:], engine='serial')\n"
        "    except InputFault as fault: print(fault)\n"
    )
    command = [sys.executable, "-c", code, str(out), str(small)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    told = found.stdout.splitlines()
    assert len(told) == 4 and all("File too large" in each for each in told)
    assert titles(out) == ["text 0", "text 1", "text 2"]
    assert serial(out, small).aside == []  # it was the disk, and no file, that ended them
    assert titles(out) == ["text 0", "text 1", "text 2", "text 30"]


# asking


def test_sql_reads_the_views_and_nothing_else(asked: Corpus, tmp_path: Path) -> None:
    views = ("sessions", "requests", "calls", "findings", "breaks", "toolsets", "files")
    for view in views:
        assert asked.sql(f"SELECT count(*) FROM {view}").rows[0][0] > 0
    for sql in (
        "SELECT * FROM read_text('/etc/hostname')",
        f"COPY sessions TO '{tmp_path / 'x.csv'}'",
        "INSTALL httpfs",
        "SET memory_limit = '100GB'",
        "SELECT nothing FROM sessions",
    ):
        with pytest.raises(InputFault, match="SQL over the views"):
            asked.sql(sql)
    assert not (tmp_path / "x.csv").exists()


def test_sql_writes_nothing_not_even_where_it_may_read(small: Path, tmp_path: Path) -> None:
    """DuckDB may write what it may read: `COPY` went over the catalog, a view over a table."""
    out = tmp_path / "o"
    serial(out, small)

    def held() -> dict[Path, bytes]:  # but for the mark of who has the corpus open
        found = (path for path in out.rglob("*") if ".tmp" not in path.parts and path.is_file())
        return {path: path.read_bytes() for path in found}

    before = held()
    corpus, catalog = pg.corpus(out), out / "corpus.json"
    for sql in (
        f"COPY (SELECT 1) TO '{catalog}'",
        f"WITH x AS (COPY (SELECT 1) TO '{catalog}') SELECT * FROM x",
        f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{catalog}'",
        f"SELECT 1; COPY (SELECT 1) TO '{catalog}'",
        f"ATTACH '{out / 'x.db'}'",
        f"EXPORT DATABASE '{out / 'x'}'",
        "CREATE OR REPLACE VIEW sessions AS SELECT 7 AS session",
        "DROP VIEW sessions",
        "BEGIN",
        "",
    ):
        with pytest.raises(InputFault, match="SQL over the views"):
            corpus.sql(sql)
    assert held() == before
    for sql in ("FROM sessions;", "WITH x AS (FROM sessions) FROM x -- all", "SHOW TABLES"):
        assert len(corpus.sql(sql).rows) > 2


def test_a_question_that_takes_too_long_is_ended(asked: Corpus) -> None:
    began = time.monotonic()
    with pytest.raises(InputFault, match=r"ended after 0\.3 s"):
        asked.sql("SELECT count(*) FROM range(100000000000) a, range(1000) b", seconds=0.3)
    assert time.monotonic() - began < 5
    assert asked.sql("SELECT 1").rows == [(1,)]


def test_a_question_is_ended_by_whoever_asks_it_and_by_nobody_else(asked: Corpus) -> None:
    with ThreadPoolExecutor(max_workers=1) as asking:
        thread = asking.submit(threading.get_ident).result()
        answer = asking.submit(asked.sql, "SELECT count(*) FROM range(100000000000) a, range(9) b")
        while asked._asking != thread:
            time.sleep(0.01)
        asked.interrupt(thread + 1)
        time.sleep(0.1)
        assert not answer.done()
        while not answer.done():  # it may have been asked for before DuckDB began
            asked.interrupt(thread)
            time.sleep(0.01)
        with pytest.raises(InputFault, match="INTERRUPT"):
            answer.result()
    assert asked.sql("SELECT 1").rows == [(1,)]


@pytest.mark.parametrize(
    ("asks", "told"),
    [
        ({"question": "weather"}, "unknown question 'weather'"),
        ({"question": "breaks", "by": "colour"}, "cannot be grouped by 'colour'"),
        ({"question": "tools", "by": "agent"}, "cannot be grouped"),
        ({"question": "breaks", "colour": "red"}, "'colour' is not a filter"),
        ({"question": "breaks", "since": "yesterday"}, "is no time"),
        ({"question": "breaks", "limit": 10**9}, "a limit of"),
        ({"question": "analyses", "first": 1}, "'second' is missing"),
        ({"question": "analyses", "second": 1}, "'first' is missing"),
        (
            {"question": "analyses", "first": 1, "second": 0},
            "two analyses of this corpus are needed",
        ),
        ({"question": "versions", "first": "1"}, "'second' is missing"),
    ],
)
def test_what_cannot_be_asked_says_what_can(asked: Corpus, asks: dict[str, Any], told: str) -> None:
    with pytest.raises((InputFault, UnknownNameError), match=told):
        asked.ask(**asks)
    with pytest.raises(InputFault, match="no session"):
        asked.session("zz")


def test_filters_are_values_and_never_sql(asked: Corpus) -> None:
    assert asked.ask("failures", agent="x' OR '1'='1").rows == []


# private


def test_no_key_is_kept_in_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, own = "sk-" + "ant-api03-" + "a1B2" * 12, "Quay" + "7734" + "lantern"
    monkeypatch.setenv("HARBOUR_TOKEN", own)
    session = data.text_session(4, data.Truth())
    session["title"] = f"about {key}"
    session["messages"][0]["parts"][0]["text"] = f"my key is {key}, and {own}"
    session["messages"][2]["parts"][0] |= {"result": f"Error: denied for {key}", "is_error": True}
    broken = f'<tool_call>\n{{"name": "read_fil", "arguments": {{"path": "{key}"}}}}\n</tool_call>'
    session["messages"][1]["parts"][0]["text"] = broken
    path, out = tmp_path / "a.json", tmp_path / "o"
    path.write_text(json.dumps(session))
    serial(out, path)
    for text in everything(out):
        assert key not in text
        assert own not in text
    assert "*" * len(key) in str(pg.corpus(out).sql("SELECT error FROM calls").rows)


@pytest.mark.parametrize("with_rows", [True, False], ids=["with rows", "without"])
@pytest.mark.parametrize("redact", [False, True], ids=["whole", "redacted"])
def test_a_key_in_whatever_field_is_nowhere_in_the_folder(
    tmp_path: Path, with_rows: bool, redact: bool
) -> None:
    keys = Keys()
    text = dump_session(keys.session(with_rows=with_rows))
    assert all(key in text for key in keys.made)
    (tmp_path / "a.json").write_text(text)
    out = tmp_path / "o"
    serial(out, tmp_path / "a.json", redact=redact)
    corpus = pg.corpus(out)
    (row,) = corpus.ask("sessions").records()
    held = [*everything(out), repr(corpus.session(row["id"]))]
    held += [path.read_bytes().decode("latin-1") for path in out.rglob("*") if path.is_file()]
    found = {place for key, place in keys.made.items() if any(key in text for text in held)}
    assert found == set()


def test_each_kind_of_request_keeps_its_parameters_without_keys(tmp_path: Path) -> None:
    key, own = "sk-" + "ant-api03-" + "a1B2" * 12, "Quay" + "7734" + "lantern"
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "When is high water?"}],
        "temperature": 0.25,
        "extra_body": {"api_key": own},
        "mcp_servers": [{"url": "http://tides", "authorization_token": key}],
    }
    (tmp_path / "a.json").write_text(json.dumps(body))
    serial(tmp_path / "o", tmp_path / "a.json")
    corpus = pg.corpus(tmp_path / "o")
    (row,) = corpus.ask("sessions").records()
    found = corpus.session(row["id"]).parameters
    assert found["temperature"] == 0.25
    assert found["api_key"] == "*" * len(own)
    assert found["mcp_servers"] == [{"url": "http://tides", "authorization_token": "*" * len(key)}]


@pytest.mark.parametrize("following", ["--password", "- item", "-----", "{"])
def test_a_text_is_searched_as_if_it_stood_alone(following: str) -> None:
    """One whose key is open at its end was taken for none for the sake of what came behind it."""
    open_piece = "-----BEGIN " + "PRIVATE KEY-----"
    for opener in (open_piece, f"{open_piece}\nMIIEowIBAAKCAQEA7\nabcd"):
        said = [Message("user", (TextPart(opener),)), Message("user", (TextPart(following),))]
        clean = Cleaner().session(Session(messages=tuple(said))).session
        assert clean.messages[0].text == "*" * len(opener)
        assert clean.messages[1].text == following


def test_counts_of_tokens_are_no_clue_and_hide_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every bill says `tokens`, so that each session with one was looked at closely."""
    asked = Message("user", (TextPart("The tide is high."),))
    bill = {"input_tokens": 4, "cache_read_input_tokens": 900, "of": {"output_tokens": 60}}
    listed = 'auth_tokens": ["' + "q1W2e3R4" * 4 + '"]'
    for text in (f'{{"{listed}}}', json.dumps(f'{{"{listed}, "tokens": 4}}'), "It is low."):
        said = Message("assistant", (TextPart(text),))
        billed = Session(messages=(asked, said), requests=(RequestRecord(reply=1, usage=bill),))
        clean = Cleaner().session(billed).session
        assert clean.messages[1].text == scrubbed(text)
        assert clean.requests == billed.requests
        assert (clean == billed) == (text == "It is low.")
    monkeypatch.setattr(Cleaner, "_record", None)  # which looks closely
    assert Cleaner().session(billed).session is billed


def test_of_each_kind_in_each_place_nothing_is_missed() -> None:
    for secret, form in KINDS.values():
        told = form.format(secret)
        key, _, value = told.partition("=")
        around = Message(role="user", parts=(TextPart("The tide is high."), TextPart("And low.")))
        for part in (
            TextPart(told),
            ToolResultPart("1", "run", told),
            ToolCallPart("1", "run", {"path": "a", "text": told, "list": ["b", told]}),
            ToolCallPart("1", "run", {key: value} if value else {"api_key": secret}),
        ):
            said = Message(role="assistant", parts=(part,))
            clean = Cleaner().session(Session(messages=(around, said, around))).session
            alone = Cleaner().session(Session(messages=(said,))).session.messages[0]
            assert clean.messages[1] == alone
            assert alone != said or part.type == "tool_call"


def test_a_redacted_corpus_has_no_text_and_is_asked_alike(
    few: tuple[Path, Path], tmp_path: Path
) -> None:
    out, plain = tmp_path / "o", pg.corpus(few[1])
    serial(out, few[0], redact=True)
    redacted = pg.corpus(out)
    for name in ("failures", "breaks", "tools", "tokens"):
        assert redacted.ask(name).rows == plain.ask(name).rows
    errors = [[row["errors"] for row in each.ask("errors").records()] for each in (plain, redacted)]
    assert errors[0] == errors[1]
    assert any("harbour's books" in text for text in everything(few[1]))
    for text in everything(out):
        assert "harbour's books" not in text
        assert "mooring" not in text
    session = redacted.session(redacted.ask("sessions", limit=1).records()[0]["id"])
    assert "characters" in session.messages[0].text
    with pytest.raises(InputFault, match="this corpus is redacted"):
        serial(out, few[0])


def test_a_redacted_corpus_hides_what_stands_under_a_formats_names_too(tmp_path: Path) -> None:
    """`name` and `id` of an argument are somebody's, those of a message its format's."""
    own = {name: f"Mooring {name}" for name in ("name", "id", "type", "at", "version", "model")}
    given = {**own, "inner": {"ids": [own], "properties": own}}
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": ["Mooring x"], "default": "Mooring y"}},
    }
    parts = [{"type": "tool_call", "tool_call_id": "t1", "tool_name": "book", "args": given}]
    results = [{"type": "tool_result", "tool_call_id": "t1", "tool_name": "book", "result": [own]}]
    use = {"type": "tool_use", "id": "t1", "name": "book", "input": given}
    answer = {"functionResponse": {"name": "book", "response": own}}
    bodies: list[dict[str, Any]] = [
        {"messages": [{"role": "assistant", "content": [use]}], "max_tokens": 9},
        {"contents": [{"role": "user", "parts": [answer]}]},
    ]
    session = pg.load_session(
        {
            "format": "playground-session/1",
            "tools": [{"name": "book", "input_schema": schema}],
            "messages": [{"role": "assistant", "parts": parts}, {"role": "tool", "parts": results}],
            "rows": [{"body": {"model": "claude-sonnet-4-5", **body}} for body in bodies],
        }
    )
    (tmp_path / "a.json").write_text(dump_session(session))
    serial(tmp_path / "o", tmp_path / "a.json", redact=True)
    held = list(everything(tmp_path / "o"))
    corpus = pg.corpus(tmp_path / "o")
    found = corpus.session(corpus.ask("sessions").records()[0]["id"])
    assert [text for text in (*held, repr(found)) if "Mooring" in text] == []
    (call,) = found.messages[0].tool_calls
    assert (call.tool_name, call.args["name"]) == ("book", "12 characters")
    assert found.tools[0].input_schema["properties"]["name"]["type"] == "string"
    assert '"tool_use"' in "".join(held)


def everything(out: Path) -> Iterator[str]:
    """All that a corpus holds, unpacked, but for where the files lie."""
    folder = CorpusFolder(store_at(out))
    corpus = pg.corpus(out)
    for table in SCHEMAS:
        yield repr(corpus.sql(f"FROM {table}", limit=100_000).rows)
    for shard in corpus.catalog.shards:
        for row in pq.read_table(out / folder.index(shard)).to_pylist():
            with (out / folder.pack(shard)).open("rb") as file:
                file.seek(row["frame"])
                packed = file.read(row["packed"])
            yield pa.Codec("zstd").decompress(packed, row["unpacked"], asbytes=True).decode()


# the command line


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return terminals.run("corpus", *arguments)


def test_the_command_line_builds_and_asks(small: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "o")
    (unread := tmp_path / "unread.json").write_text('{"tide": 4.27}')
    made = run("build", out, str(small), str(unread), "--engine", "serial")
    assert made.stdout[:13] == "1 shard built"
    assert " calls in replies, " in made.stdout
    assert made.stderr.startswith(f"left out: {unread}: a JSON object")
    listed = run("ask", out, "failures", "--by", "dialect,week", "--csv").stdout.splitlines()
    assert listed[0].startswith("dialect,week,calls,malformed")
    assert len(listed) == 3  # one of its three sessions is told twice
    answer = json.loads(
        run("ask", out, "--sql", "SELECT count(*) AS n FROM sessions", "--json").stdout
    )
    assert answer["rows"] == [{"n": 3}]
    formula = "SELECT '=1+2' AS a, '@x' AS b, -3 AS c, 'd=1' AS d"  # which a spreadsheet would run
    assert run("ask", out, "--sql", formula, "--csv").stdout == "a,b,c,d\n'=1+2,'@x,-3,d=1\n"
    wrong = run("ask", out, "weather")
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)
    id_ = json.loads(run("ask", out, "sessions", "--json").stdout)["rows"][0]["id"]
    assert json.loads(run("session", out, id_).stdout)["format"] == "playground-session/1"


# the page


def test_the_page_asks_and_opens_a_session(
    few: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from test_pages import page

    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    app = page("corpus", view="Questions")
    app.text_input(key="corpus").set_value(str(few[1])).run()
    assert not app.exception
    shown = pg.corpus(few[1]).ask("failures")
    frames = [each.value for each in app.dataframe]
    assert frames[0]["malformed"].tolist() == [row["malformed"] for row in shown.records()]
    app.selectbox(key="corpus dialect").set_value("hermes").run()
    assert app.dataframe[0].value["dialect"].tolist() == ["hermes"]
    app.selectbox(key="asks").set_value("breaks").run()
    assert not app.exception
    assert any("Not filtered by dialect" in each.value for each in app.caption)
    app.selectbox(key="asks").set_value("sessions").run()
    app.button(key="corpus compare").click().run()
    assert not app.exception
    assert not app.error


def test_the_empty_page_builds_a_corpus_of_what_is_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from test_pages import page

    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    app = page("corpus")
    app.button[-1].click().run()
    assert not app.error
    built = pg.corpus(str(app.text_input(key="corpus").value))
    assert len(built.ask("sessions").rows) == len(paths.samples())
    monkeypatch.setattr(
        "playground.plugins.corpus.optional_dependencies._PACKAGES", ("no_such_package",)
    )
    again = page("corpus")
    again.button[-1].click().run()
    assert [each.value for each in again.error] == ["The corpus could not be built."]
    assert any("pip install" in each.value for each in again.text)


def test_what_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "playground.plugins.corpus.optional_dependencies._PACKAGES", ("duckdb", "no_such_package")
    )
    with pytest.raises(InputFault, match=r"needs no_such_package; expected pip install .*corpus"):
        pg.corpus(tmp_path)
