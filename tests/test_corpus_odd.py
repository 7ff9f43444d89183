"""Corpora and sessions that are not as today's are: one clear line each, and nothing else lost."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import ROOT

import playground as pg
from playground.cli import main
from playground.corpora.building import Built, build_corpus
from playground.corpora.compaction import compact_corpus
from playground.corpora.layout import ANALYSIS
from playground.corpora.simulating import simulate_corpus
from playground.errors import InputFault

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
    assert message.startswith("nobody knows the dialect 'harbour-***")
    held = [path.read_text("latin-1") for path in (tmp_path / "o").rglob("*") if path.is_file()]
    assert not any(key in text for text in held)


def test_what_ended_a_shard_is_one_short_line_without_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + "ant-api03-" + "a1B2" * 12

    def ends(*_: Any) -> None:
        raise RuntimeError(f"at {key} " + "known: " + ", ".join(pg.dialect_names()) + "\nmore")

    monkeypatch.setattr("playground.corpora.shards.opened", ends)
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
    assert sorted(told) == ["odd\udcff.json", "spoiled.jsonl.zst"]
    assert "its name is no UTF-8" in told["odd\udcff.json"]
    assert "spoiled.jsonl.zst: not a whole file" in told["spoiled.jsonl.zst"]
    titles = [row[1] for row in pg.corpus(tmp_path / "o").ask("sessions").rows]
    assert len(titles) == 3


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
