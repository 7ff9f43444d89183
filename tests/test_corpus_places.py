"""Inputs behind an address are read as those of a folder, piece for piece, and keep no key."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import fsspec
import pyarrow as pa
import pytest
from conftest import ROOT
from test_corpus import facts, needs_ray, titles

import playground as pg
from playground.base.errors import InputFault
from playground.plugins.corpus import remote_stores
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.compaction import compact_corpus
from playground.plugins.corpus.places import place_at
from playground.plugins.corpus.stores import store_at

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data


def line(number: int) -> str:
    return json.dumps(data.text_session(number, data.Truth())) + "\n"


def tar_of(*numbers: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for number in numbers:
            member = tarfile.TarInfo(f"{number}.json")
            member.size = len(line(number))
            tar.addfile(member, io.BytesIO(line(number).encode()))
    return packed.getvalue()


def files() -> dict[str, bytes]:
    """One of each kind of file, a long one of lines among them, and one that nobody means. Packed
    without the time, so that two of one name are the same bytes.
    """
    return {
        "a/one.json": line(0).encode(),
        "a/b/long.jsonl": "".join(map(line, range(10, 18))).encode(),
        "a/three.jsonl.gz": gzip.compress(line(3).encode(), mtime=0),
        "four.jsonl.zst": pa.Codec("zstd").compress(line(4).encode(), asbytes=True),
        "old.tar": tar_of(5, 6),
        "old.tar.gz": gzip.compress(tar_of(7, 8), mtime=0),
        ".hidden.json": line(9).encode(),
    }


def written(folder: Path) -> Path:
    for name, content in files().items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


@pytest.fixture
def memory() -> Iterator[str]:
    system = fsspec.filesystem("memory")
    for name, content in files().items():
        system.pipe(f"/harbour/logs/{name}", content)
    yield "memory://harbour/logs"
    system.rm("/harbour", recursive=True)


def test_an_address_is_read_as_a_folder_is(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "playground.plugins.corpus.inputs.PIECE_BYTES", 20_000
    )  # the long one is cut
    folder = written(tmp_path / "in")
    here = build_corpus(tmp_path / "here", [folder], engine="serial")
    there = build_corpus(tmp_path / "there", [memory], engine="serial")
    assert here.faults == there.faults == []
    assert there.rows["sessions"] == 15
    assert facts(tmp_path / "there") == facts(tmp_path / "here")
    assert build_corpus(tmp_path / "there", [memory], engine="serial").made == 0
    fsspec.filesystem("memory").rm("/harbour/logs/a", recursive=True)
    build_corpus(tmp_path / "there", [memory], engine="serial")
    assert titles(tmp_path / "there") == [f"text {number}" for number in range(4, 9)]


def test_a_pattern_takes_nothing_away_that_it_does_not_mean(tmp_path: Path) -> None:
    """Files of a folder that was built before are no part of `*.json` above it."""
    folder, out = tmp_path / "in", tmp_path / "o"
    (folder / "sub").mkdir(parents=True)
    (folder / "one.json").write_text(line(1))
    (folder / "sub" / "two.json").write_text(line(2))
    build_corpus(out, [folder / "sub"], engine="serial")
    build_corpus(out, [folder / "*.json"], engine="serial")
    assert titles(out) == ["text 1", "text 2"]
    (folder / "sub" / "two.json").unlink()
    build_corpus(out, [folder / "**" / "*.json"], engine="serial")
    assert titles(out) == ["text 1"]


def test_patterns_and_single_files_behind_an_address(memory: str, tmp_path: Path) -> None:
    build_corpus(tmp_path / "o", [f"{memory}/a/*.json", f"{memory}/old.tar"], engine="serial")
    assert titles(tmp_path / "o") == ["text 0", "text 5", "text 6"]


ODD: Final = ("a b.json", "a%20b.json", "a#b.json", "a?b.json", "100%.json", "ü.json", "*.json")


def test_a_name_is_read_as_it_is_whatever_it_means_in_an_address(tmp_path: Path) -> None:
    """`a%20b.json` was read as `a b.json`; others were not found."""
    folder = tmp_path / "all in one"
    folder.mkdir()
    for number, name in enumerate(ODD):
        (folder / name).write_text(line(number))
    address = f"file://{quote(str(folder))}"
    assert build_corpus(tmp_path / "o", [address], engine="serial").faults == []
    assert titles(tmp_path / "o") == [f"text {number}" for number in range(len(ODD))]
    listed = pg.corpus(tmp_path / "o").sql("SELECT path FROM files").rows
    assert {unquote(str(path)) for (path,) in listed} == {f"file://{folder}/{n}" for n in ODD}
    build_corpus(tmp_path / "p", [f"{address}/a*b.json"], engine="serial")
    assert titles(tmp_path / "p") == [f"text {number}" for number in range(4)]


def test_a_name_in_memory_is_read_as_it_is_too(tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    for number, name in enumerate(("a b.json", "a%20b.json", "a#b.json")):
        system.pipe(f"/odd/{name}", line(number).encode())
    built = build_corpus(tmp_path / "o", ["memory://odd/a*"], engine="serial")
    system.rm("/odd", recursive=True)
    assert (built.faults, titles(tmp_path / "o")) == ([], ["text 0", "text 1", "text 2"])


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("simplecache::memory://{key}:{key}@harbour/logs", "with a key or a user in it"),
        ("zip://a.json::s3://{key}:{key}@bucket/a.zip", "with a key or a user in it"),
        ("reference://x", "no reader for it"),
        ("memory://harbour/none", "nothing is there"),
        ("quay://harbour/logs", "no reader for it"),
        ("s3://{key}:{key}@bucket/logs", "an address of s3 with a key or a user in it"),
        ("https://host/a.json?X-Amz-Signature={key}", "with the option 'X-Amz-Signature'"),
    ],
)
def test_a_bad_address_is_one_line_that_shows_no_key(
    tmp_path: Path, address: str, told: str
) -> None:
    key = "A" * 20
    with pytest.raises(InputFault, match=told) as caught:
        build_corpus(tmp_path / "o", [address.format(key=key)], engine="serial")
    assert key not in str(caught.value)


def test_a_public_bucket_is_named_without_a_key() -> None:
    assert place_at("gs://anonymous@harbour/logs").path == "harbour/logs"


# S3 itself


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of files in a bucket that a server on this machine keeps."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "harbour")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "harbour")
    server = subprocess.Popen(
        ["moto_server", "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL
    )
    options = f"?scheme=http&endpoint_override=127.0.0.1%3A{port}&region=us-east-1"
    try:
        _answers(port)
        _put(port, "", b"")
        for name, content in files().items():
            _put(port, f"logs/{name}", content)
        yield f"s3://harbour/logs{options}"
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("moto_server does not answer")


def _put(port: int, name: str, content: bytes) -> None:
    where = f"http://127.0.0.1:{port}/harbour/{name}"
    kind = {"Content-Type": "application/octet-stream"}
    request = urllib.request.Request(where, data=content, headers=kind, method="PUT")
    urllib.request.urlopen(request, timeout=20).close()


S3 = pytest.mark.skipif(
    shutil.which("moto_server") is None,
    reason="NOT RUN: no moto_server on the path (pip install 'moto[server]')",
)


@pytest.mark.long
@S3
def test_a_bucket_is_read_by_the_workers_of_a_pool(bucket: str, tmp_path: Path) -> None:
    written(tmp_path / "in")
    build_corpus(tmp_path / "here", [tmp_path / "in"], engine="serial")
    built = build_corpus(tmp_path / "there", [bucket], engine="pool", workers=2)
    assert built.faults == []
    assert facts(tmp_path / "there") == facts(tmp_path / "here")
    assert build_corpus(tmp_path / "there", [bucket], engine="serial").made == 0


@pytest.mark.long
@S3
@pytest.mark.parametrize("engine", ["pool", pytest.param("ray", marks=needs_ray)])
def test_a_bucket_holds_a_corpus(bucket: str, tmp_path: Path, engine: str) -> None:
    """Built by two workers, asked, built again, compacted, and built by one machine at a time."""
    corpus = bucket.replace("/logs?", "/corpus?")
    data.write_sessions(tmp_path / "in", 40)
    build_corpus(tmp_path / "here", [tmp_path / "in"], engine="serial")
    given = [tmp_path / "in"]
    built = build_corpus(corpus, given, engine=engine, workers=2, shard_bytes=100_000)
    assert (built.aside, built.faults) == ([], [])
    assert facts(corpus) == facts(tmp_path / "here")
    assert build_corpus(corpus, given, engine="serial").made == 0
    with pytest.MonkeyPatch.context() as within:
        within.setenv("PLAYGROUND_HOME", str(tmp_path / "other machine"))
        other = store_at(corpus)
    with pytest.MonkeyPatch.context() as within:
        within.setattr(remote_stores, "BEAT", 0.2)
        within.setattr(remote_stores, "SILENCE", 2.0)
        with other.locked(), pytest.raises(InputFault, match="another build"):
            compact_corpus(corpus)
    assert compact_corpus(corpus)["sessions"] == 40
    assert facts(corpus) == facts(tmp_path / "here")
    assert len(pg.corpus(corpus).ask("twins").rows) == len(
        pg.corpus(tmp_path / "here").ask("twins").rows
    )
    build_corpus(corpus, [bucket], engine="serial")
    assert len(titles(corpus)) == 55


@pytest.mark.long
@S3
def test_a_bucket_that_does_not_answer_is_one_line(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(line(0))
    for address, told in (
        (bucket.replace("s3://harbour/", "s3://nowhere/"), "NO_SUCH_BUCKET"),
        (re.sub("%3A[0-9]+", "%3A1", bucket), "onnect"),
    ):
        with pytest.raises(InputFault, match=told) as caught:
            build_corpus(address, [tmp_path / "a.json"], engine="serial")
        assert "\n" not in str(caught.value) and "?" not in str(caught.value)
