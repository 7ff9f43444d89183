"""Corpora and sessions that are not as today's are: one clear line each, and nothing else lost."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from conftest import ROOT

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.plugins.corpus.asking import Corpus
from playground.plugins.corpus.building import Built, build_corpus
from playground.plugins.corpus.compaction import compact_corpus
from playground.plugins.corpus.inputs import pieces_of
from playground.plugins.corpus.layout import ANALYSIS, CorpusFolder
from playground.plugins.corpus.planning import job
from playground.plugins.corpus.simulating import simulate_corpus
from playground.plugins.corpus.stores import store_at

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data


def serial(out: Path, *inputs: Path) -> Built:
    return build_corpus(out, inputs, engine="serial")


@pytest.fixture
def older(tmp_path: Path) -> tuple[Path, Path]:
    """A corpus as it was built before there was a table `wires`, and its input."""
    given, out = tmp_path / "in.jsonl", tmp_path / "o"
    rows = (row for n in range(4) for row in data.gateway_session(n, data.Truth()))
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    serial(out, given)
    (manifest,) = (out / "manifest").iterdir()
    found = json.loads(manifest.read_text())
    for name in [each for each in found["files"] if "/wires/" in each]:
        (out / name).unlink()
        del found["files"][name]
    del found["rows"]["wires"]
    manifest.write_text(json.dumps(found))
    return out, given


def test_a_corpus_that_is_older_than_a_table_is_asked_for_the_others(
    older: tuple[Path, Path],
) -> None:
    corpus = pg.corpus(older[0])
    assert corpus.sql("SELECT count(*) FROM requests").rows == [(16,)]
    assert corpus.sql("SELECT count(*) FROM wires").rows == [(0,)]
    assert corpus.ask("breaks").rows


def test_what_an_older_corpus_has_not_is_one_line_and_the_next_build_makes_it(
    older: tuple[Path, Path],
) -> None:
    out, given = older
    told = "1 of 1 shards were built before there was a table `wires`"
    with pytest.raises(InputFault, match=told) as caught:
        simulate_corpus(pg.corpus(out))
    assert "`playground corpus build` with the same inputs" in str(caught.value)
    with pytest.raises(InputFault, match=told):
        compact_corpus(out)
    assert serial(out, given).made == 1
    assert simulate_corpus(pg.corpus(out)).rows
    assert serial(out, given).made == 0
    assert compact_corpus(out)["wires"] == 16


def recorded(folder: Path, dialect: str) -> Path:
    """A session whose recording names a dialect, and nothing else of it."""
    call = '<tool_call>\n{"name": "tide", "arguments": {"port": "Quay"}}\n</tool_call>'
    session = {
        "format": "playground-session/1",
        "tools": [{"name": "tide", "description": "", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "parts": [{"type": "text", "text": "When?"}]}],
        "recordings": [{"name": "first", "dialect": dialect, "chunks": [{"text": call}]}],
    }
    path = folder / "a.json"
    path.write_text(json.dumps(session))
    return path


def test_a_recording_of_an_unknown_dialect_is_a_finding_and_its_file_is_kept(
    tmp_path: Path,
) -> None:
    key = "sk-" + "ant-api03-" + "a1B2" * 12
    path = recorded(tmp_path, f"harbour-{key}")
    (tmp_path / "b.json").write_text(path.read_text().replace(f"harbour-{key}", "hermes"))
    built = serial(tmp_path / "o", path, tmp_path / "b.json")
    assert (built.aside, built.faults, built.rows["sessions"]) == ([], [], 2)
    corpus = pg.corpus(tmp_path / "o")
    found = "SELECT place, message FROM findings WHERE code = 'unknown-dialect'"
    ((place, message),) = corpus.sql(found).rows
    assert place == "recording 'first'"
    assert message.startswith("the dialect 'harbour-***")
    held = [path.read_text("latin-1") for path in (tmp_path / "o").rglob("*") if path.is_file()]
    assert not any(key in text for text in held)


def test_what_ended_a_shard_is_one_short_line_without_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + "ant-api03-" + "a1B2" * 12

    def ends(*_: Any) -> None:
        raise RuntimeError(f"at {key} " + "known: " + ", ".join(pg.dialect_names()) + "\nmore")

    monkeypatch.setattr("playground.plugins.corpus.shards.open_piece", ends)
    (tmp_path / "a.json").write_text("{}")
    ran = CliRunner().invoke(
        main,
        ["corpus", "build", str(tmp_path / "o"), str(tmp_path / "a.json"), "--engine", "serial"],
    )
    (line,) = [line for line in ran.stderr.splitlines() if line.startswith("set aside:")]
    assert f"RuntimeError: at {'*' * len(key)} known: " in line
    assert line.endswith("…") and len(line) < 400
    held = [path.read_text("latin-1") for path in (tmp_path / "o").rglob("*") if path.is_file()]
    assert not any(key in text for text in held)


SAID = b'{"messages": [{"role": "user", "content": "%d"}, {"role": "assistant", "content": "a"}]}'


def test_what_lies_in_a_folder_by_chance_costs_itself_alone(tmp_path: Path) -> None:
    """A pipe was waited for, for ever; a name that is no UTF-8 ended the build after all work."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "sound.json").write_bytes(SAID % 1)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.json").symlink_to(folder / "pipe.jsonl")
    (folder / "spoiled.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"tide" * 9)
    (folder / "odd\udcff.json").write_bytes(SAID % 2)
    for name, mode in (("a.tar", "w"), ("b.tar.gz", "w:gz")):
        with tarfile.open(folder / name, mode) as tar:  # type: ignore[call-overload]
            member = tarfile.TarInfo("odd\udcff.json")
            member.size = len(SAID % 3)
            tar.addfile(member, io.BytesIO(SAID % ord(name[0])))
    built = serial(tmp_path / "o", folder)
    told = {Path(each["name"]).name: each["problem"] for each in (*built.faults, *built.aside)}
    assert sorted(told) == ["odd\udcff.json", "pipe.jsonl", "spoiled.jsonl.zst"]
    assert "pipe.jsonl: a pipe, not a file" in told["pipe.jsonl"]
    assert "its name is not UTF-8" in told["odd\udcff.json"]
    assert "spoiled.jsonl.zst: not a whole file" in told["spoiled.jsonl.zst"]
    titles = [row[1] for row in pg.corpus(tmp_path / "o").ask("sessions").rows]
    assert len(titles) == 3


def test_a_file_that_unpacks_to_no_end_is_one_line_and_fills_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight megabytes of blanks came of eight kilobytes; of eight megabytes it would be a disk."""
    monkeypatch.setattr("playground.plugins.corpus.inputs._UNPACKED_BYTES", 1 << 20)
    folder, bomb = tmp_path / "in", SAID % 1 + b" " * (8 << 20)
    folder.mkdir()
    (folder / "a.json.gz").write_bytes(gzip.compress(bomb))
    (folder / "b.json.zst").write_bytes(pa.Codec("zstd").compress(bomb, asbytes=True))
    with tarfile.open(folder / "c.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("inner.json")
        member.size = len(bomb)
        tar.addfile(member, io.BytesIO(bomb))
    (folder / "sound.json.gz").write_bytes(gzip.compress(SAID % 2 + b" " * 5_000))
    built = serial(tmp_path / "o", folder)
    told = {Path(each["name"]).name: each["problem"] for each in built.faults}
    assert sorted(told) == ["a.json.gz", "b.json.zst", "c.tar.gz"]
    for name, problem in told.items():
        times = "5,000" if name == "b.json.zst" else "500"
        assert f"it unpacks to more than {times} times its" in problem
    assert all("unpack it first" in problem for problem in told.values())
    assert len(pg.corpus(tmp_path / "o").ask("sessions").rows) == 1
    assert max(path.stat().st_size for path in (tmp_path / "o").rglob("*")) < 1 << 20


def test_a_reply_alone_is_named_as_left_out(tmp_path: Path) -> None:
    """A reply's text tells neither a model nor a time: it is no session, and the build says so."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "reply.txt").write_text('<tool_call>{"name": "look"}</tool_call>')
    (fault,) = serial(tmp_path / "o", tmp_path / "in").faults
    assert fault["problem"].endswith("lists")
    assert "reply.txt: a file not in any known session format" in fault["problem"]


def test_a_worker_loads_no_pandas(tmp_path: Path) -> None:
    """pyarrow loaded it in each worker, to see whether a list of ours was pandas' own."""
    script = (
        "import sys\nfrom playground.plugins.corpus import build_worker\nbuild_worker.main()\n"
        "import pyarrow as pa\npa.array(['tide'])\nassert 'pandas' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=b"", capture_output=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_what_takes_too_much_memory_is_told_in_words(tmp_path: Path) -> None:
    """It was `MemoryError: `, of a log of 1.4 GB."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps([{"role": "user", "content": "x" * (60 << 20)}]))
    folder = CorpusFolder(store_at(tmp_path / "o"))
    told = json.dumps(job([*pieces_of(str(path))], folder, redacts=False))
    script = (
        "import re, pathlib, playground.plugins.corpus.shards\n"
        "from playground.plugins.corpus import build_worker\n"
        "taken = re.search(r'VmData:\\s+(\\d+)', pathlib.Path('/proc/self/status').read_text())\n"
        "build_worker.MEMORY_BYTES = (int(taken[1]) << 10) + (40 << 20)\n"
        "build_worker.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=told.encode() + b"\n",
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    problem = json.loads(done.stdout)["problem"]
    assert problem.startswith("it takes more than ")
    assert problem.endswith("; split the file")


@pytest.mark.parametrize("table", ["calls", "requests"])
def test_a_compaction_that_cannot_read_is_one_line_and_leaves_the_corpus(
    tmp_path: Path, table: str
) -> None:
    """DuckDB's error, or pyarrow's, came as it was where the bytes of a file had gone bad."""
    out = tmp_path / "o"
    (tmp_path / "a.json").write_text(json.dumps(data.text_session(0, data.Truth())))
    serial(out, tmp_path / "a.json")
    (path,) = (out / "facts" / f"v{ANALYSIS}" / table).iterdir()
    whole = path.read_bytes()
    path.write_bytes(bytes(len(whole)))
    with pytest.raises(InputFault, match="magic bytes") as caught:
        compact_corpus(out)
    assert "\n" not in str(caught.value)
    path.write_bytes(whole)
    assert len(pg.corpus(out).ask("sessions").rows) == 1
    assert compact_corpus(out)["sessions"] == 1


@pytest.mark.parametrize("torn", [None, b"", b"PAR1 and no more"])
def test_a_list_of_files_that_is_gone_or_torn_loses_nothing(
    tmp_path: Path, torn: bytes | None
) -> None:
    out, other = tmp_path / "o", tmp_path / "other.json"
    for number, path in enumerate((other, tmp_path / "one.json")):
        path.write_text(json.dumps(data.text_session(number, data.Truth())))
        serial(out, path)
    (newest,) = (out / "files").glob(f"{pg.corpus(out).catalog.generation}.parquet")
    newest.unlink()
    if torn is not None:
        newest.write_bytes(torn)
    corpus = pg.corpus(out)
    (one, two) = corpus.ask("sessions").records()
    assert {corpus.source(each["id"])[0] for each in (one, two)} == {
        str(other), str(tmp_path / "one.json")
    }  # fmt: skip
    assert serial(out, tmp_path / "one.json").rows["sessions"] == 2
    assert compact_corpus(out)["sessions"] == 2


def test_a_catalog_or_manifest_of_another_shape_is_one_line_or_built_again(tmp_path: Path) -> None:
    out, given = tmp_path / "o", tmp_path / "one.json"
    given.write_text(json.dumps(data.text_session(0, data.Truth())))
    serial(out, given)
    catalog = json.loads((out / "corpus.json").read_text())
    others: list[dict[str, Any]] = [{"generation": "x"}, {"layout": None}, {"months": []}]
    for wrong in (*others, {"shards": 5}):
        (out / "corpus.json").write_text(json.dumps({**catalog, **wrong}))
        with pytest.raises(InputFault, match="not a catalog"):
            pg.corpus(out)
        with pytest.raises(InputFault, match="not a catalog"):
            serial(out, given)
    (out / "corpus.json").write_text(json.dumps(catalog))
    (manifest,) = (out / "manifest").iterdir()
    for text in ("[]", "{}", "null"):
        manifest.write_text(text)
        assert serial(out, given).made == 1


ODD: list[Any] = [None, True, -1, 2**70, 1e308, "", [], {}, [None], {"a": 1}, [[1]], "../x"]


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the values of a JSON document stand; of a list the first."""
    if place:
        yield place
    inner = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value[:1]) if isinstance(value, list) else inner:
        yield from places(each, (*place, key))


def spoiled(text: bytes) -> Iterator[bytes]:
    """A JSON file torn, nested beyond reading, and with an odd value in each of its places."""
    yield from (text[: len(text) // 2], b"", b"null", b"[" * 100_000, b"\xff\xfe" + text)
    for number, (*before, last) in enumerate(places(json.loads(text))):
        inner = whole = json.loads(text)
        for step in before:
            inner = inner[step]
        inner[last] = ODD[number % len(ODD)]
        yield json.dumps(whole).encode()


@pytest.mark.parametrize("which", ["corpus.json", "manifest/*.json"])
def test_no_value_of_a_catalog_or_manifest_is_believed_unseen(which: str, tmp_path: Path) -> None:
    """Each is a clear fault, or is built again: of 188 such files some 50 were a traceback."""
    given, good = tmp_path / "in", tmp_path / "good"
    data.write_sessions(given, 2)
    serial(good, given)
    (place,) = good.glob(which)
    known = pg.corpus(good).sql("SELECT count(*) FROM requests").rows
    sound, whole = place.read_bytes(), 0
    for number, content in enumerate(spoiled(sound)):
        out = tmp_path / f"o{number}"
        shutil.copytree(good, out)
        odd = out / place.relative_to(good)
        odd.write_bytes(content)
        with suppress(InputFault):
            pg.corpus(out).sql("SELECT count(*) FROM requests")
        with suppress(InputFault):
            simulate_corpus(pg.corpus(out))
        with suppress(InputFault):
            serial(out, given)
            whole += pg.corpus(out).sql("SELECT count(*) FROM requests").rows == known
        if odd.read_bytes() != sound:
            with suppress(InputFault):
                compact_corpus(out)
        shutil.rmtree(out)
    assert whole


def test_a_manifest_takes_away_nothing_but_its_own_files(tmp_path: Path) -> None:
    """What a corpus lists that came from elsewhere was removed with its shard: any file."""
    given, out, mine = tmp_path / "in", tmp_path / "o", tmp_path / "mine.txt"
    data.write_sessions(given, 2)
    serial(out, given)
    mine.write_text("mine")
    (manifest,) = (out / "manifest").iterdir()
    for listed in (str(mine), "../mine.txt", "facts/../../mine.txt"):
        found = json.loads(manifest.read_text())
        stray = {**found, "shard": "ab", "files": {listed: 4}}
        (out / f"manifest/ab.v{ANALYSIS}.json").write_text(json.dumps(stray))
        serial(out, given)
        assert mine.read_text() == "mine"
        assert not (out / f"manifest/ab.v{ANALYSIS}.json").exists()


def failed(*errors: str) -> str:
    """A session whose calls came to these errors."""
    named = [{"tool_call_id": str(number), "tool_name": "tide"} for number, _ in enumerate(errors)]
    parts = [{"type": "tool_call", "args": {}, **call} for call in named]
    results = [
        {"role": "tool", "parts": [{"type": "tool_result", "result": e, "is_error": True, **call}]}
        for call, e in zip(named, errors, strict=True)
    ]
    user = {"role": "user", "parts": [{"type": "text", "text": "When?"}]}
    messages = [user, {"role": "assistant", "parts": parts}, *results]
    return json.dumps({"format": "playground-session/1", "messages": messages})


def test_a_session_with_two_errors_that_are_alike_is_one(tmp_path: Path) -> None:
    said = "the tide of the {} harbour could not be read"
    for name, errors in (("a", ("old", "new")), ("b", ("new",)), ("c", ("old",))):
        (tmp_path / f"{name}.json").write_text(failed(*map(said.format, errors)))
    serial(tmp_path / "o", *sorted(tmp_path.glob("*.json")))
    (row,) = pg.corpus(tmp_path / "o").ask("errors").records()
    assert (row["errors"], row["signatures"], row["sessions"]) == (4, 2, 3)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("asked")
    for name, words in (("a", "the harbour is closed"), ("b", "nobody knows this port")):
        (folder / f"{name}.json").write_text(failed(words))
    serial(folder / "o", *sorted(folder.glob("*.json")))
    return pg.corpus(folder / "o")


def test_an_answer_says_that_there_are_more_rows_whatever_was_asked(asked: Corpus) -> None:
    answers = [asked.ask("errors", limit=limit) for limit in (1, 2)]
    assert [(len(each.rows), each.cut) for each in answers] == [(1, True), (2, False)]


@pytest.mark.parametrize("question", ["failures", "errors", "twins", "versions", "analyses"])
@pytest.mark.parametrize("limit", [-1, 0, 10**9, "5", 2.5])
def test_a_limit_that_is_none_is_refused(asked: Corpus, question: str, limit: Any) -> None:
    """Of -1 rows all but the last were given, and of 0 as many as usual."""
    with pytest.raises(InputFault, match=f"a limit of {limit!r}; expected 1 to 100,000 rows"):
        asked.ask(question, limit=limit)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_no_question_is_asked_without_a_bound(asked: Corpus, seconds: float) -> None:
    with pytest.raises(InputFault, match="seconds for a question; expected more than 0"):
        asked.sql("SELECT 1", seconds=seconds)


def test_a_question_is_ended_however_soon(asked: Corpus) -> None:
    """An interruption before DuckDB had begun was forgotten, and the question went on for ever."""
    long = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range < 0"
    for seconds in (1e-9, 0.001, 0.05):
        with pytest.raises(InputFault, match="the question was ended after"):
            asked.sql(long, seconds=seconds)
        assert asked.sql("SELECT 1").rows == [(1,)]


def test_what_is_asked_by_nothing_says_so(asked: Corpus) -> None:
    with pytest.raises(InputFault, match="errors cannot be grouped; expected the question alone"):
        asked.ask("errors", "model")


@pytest.mark.parametrize("id", ["f" * 40, "-5", 2**64, -1])
def test_what_is_no_id_of_a_session_is_told_as_one(asked: Corpus, id: Any) -> None:
    with pytest.raises(InputFault, match="no session '.*'; expected an id that an answer gave"):
        asked.session(id)
    with pytest.raises(InputFault, match="no session '.*'; expected an id that an answer gave"):
        asked.source(id)


@pytest.mark.parametrize("id", [None, 1.5])
def test_an_id_of_another_kind_is_told_by_its_name(asked: Corpus, id: Any) -> None:
    with pytest.raises(InputFault, match=r"session\(id=…\): .* expected a name, or a int"):
        asked.session(id)


def test_a_filter_of_another_kind_is_not_told_as_faulty_sql(asked: Corpus) -> None:
    with pytest.raises(
        InputFault, match="expected filter values of the same type as their columns"
    ):
        asked.ask("failures", model=True)


def test_a_session_that_is_nested_too_deeply_is_set_aside_alone(tmp_path: Path) -> None:
    """It is one file's fault: the build goes on."""
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"a": deep}
    use = {"type": "tool_use", "id": "c", "name": "f", "input": deep}
    for name, content in (("deep", [use]), ("plain", [{"type": "text", "text": "Hello"}])):
        said = [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": content},
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(said))
    built = serial(tmp_path / "out", tmp_path / "deep.json", tmp_path / "plain.json")
    assert built.aside == [
        {
            "name": str(tmp_path / "deep.json"),
            "problem": "ValueError: a value is nested too deeply to be written",
        }
    ]
    assert pg.corpus(tmp_path / "out").sql("SELECT count(*) FROM sessions").rows == [(1,)]


def test_a_time_without_a_zone_is_in_utc_wherever_the_corpus_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "s.json"
    messages = [
        {"role": role, "parts": [{"type": "text", "text": "High water?"}]}
        for role in ("user", "assistant")
    ]
    requests = [{"reply": 1, "at": "2026-11-01T10:00:00"}]
    value = {"format": "playground-session/1", "messages": messages, "requests": requests}
    given.write_text(json.dumps({**value, "title": "naive"}))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        serial(tmp_path / "out", given)
        (row,) = pg.corpus(tmp_path / "out").sql("SELECT sent_at FROM requests").rows
    finally:
        monkeypatch.undo()
        time.tzset()
    assert row[0].isoformat() == "2026-11-01T10:00:00"
