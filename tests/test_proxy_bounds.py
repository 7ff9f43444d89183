"""What one exchange may cost the recorder, the disk and everybody else, and that it is told."""

from __future__ import annotations

import asyncio
import gzip
import json
import signal
import threading
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proxied import MODEL, Seen, World, a_world, exchange, look, raw_upstream, said

from playground.plugins.proxy import exchange as exchanges
from playground.plugins.proxy.commands import _line_writer
from playground.plugins.proxy.connection import Protocol
from playground.plugins.proxy.exchange import Opened, WatchedExchange
from playground.plugins.proxy.joined_pieces import join_pieces
from playground.plugins.proxy.terminal_report import TerminalReport
from playground.plugins.proxy.watched_run import WatchedRun, read_run
from playground.plugins.proxy.watcher_pipe import WatcherPipe
from playground.plugins.proxy.watching import RunWatcher
from playground.recordings.scrubbing import TooMuchWork, searcher
from playground.recordings.unpacking import TooMuchUnpacked, Unpacker
from playground.recordings.value_scrubbing import BodyScrubber

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
MB = 1 << 20


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("proxy") / "run") as found:
        yield found


@pytest.fixture
def seen(world: World) -> Seen:
    return look(world)


def packed_answer(packed: bytes, coding: bytes = b"gzip", kind: bytes = b"text/plain") -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-encoding: %s\r\n" % (kind, coding)
    return head + b"content-length: %d\r\n\r\n" % len(packed) + packed


# answers that are packed


def test_a_small_answer_that_unpacks_to_much_is_recorded_to_a_bound(seen: Seen) -> None:
    """Two hundred megabytes in 204 kB; the client gets every byte."""
    packed = gzip.compress(b"a" * (200 * MB), 9)
    assert len(packed) < 210_000
    with raw_upstream(seen, packed_answer(packed)):
        with httpx.stream("POST", f"{seen.url}/v1/messages", json=seen.body()) as got:
            assert b"".join(got.iter_raw()) == packed
        row = seen.over(1, seconds=60)[0]
    lines = seen.file(row)
    assert said(lines) == b"a" * (8 * MB)
    assert row["fault"].startswith("the answer unpacks to more than 8,388,608 bytes, ")
    assert row["fault"].endswith("; the rest is forwarded and not recorded")
    assert lines[-1]["error"] == {"type": "unreadable", "message": row["fault"]}
    assert next(line["not_kept"] for line in lines if "not_kept" in line)["packed"] > 150_000


@pytest.mark.parametrize("size", [100, 4096, 1 << 20])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@pytest.mark.parametrize("plain", [b"a", b'data: {"choices": []}\n\n'])
def test_what_is_recorded_of_it_is_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: bytes, coding: str, size: int
) -> None:
    monkeypatch.setattr(exchanges, "_MOST_UNPACKED", 100_000)
    whole = plain * (4 * MB // len(plain))
    packed = (gzip.compress if coding == "gzip" else zlib.compress)(whole, 9)
    found = watched(tmp_path)
    found.begin_answer(0.1, 200, coding, "text/event-stream")
    for start in range(0, len(packed), size):
        found.add_answer_piece(0.2, packed[start : start + size])
    found.end(None)
    lines = [json.loads(line) for line in (tmp_path / "00001.jsonl").read_text().splitlines()]
    kept = said(lines)
    assert 100_000 <= len(kept) <= max(100_000, 50 * len(packed))
    assert kept == whole[: len(kept)] and "unpacks to more than" in found.fault


def test_text_that_is_packed_as_text_is_recorded_whole(seen: Seen) -> None:
    """A model's words are packed to a tenth or so."""
    words = b"".join(b'data: {"n": %d, "text": "%x"}\n\n' % (n, n * n * 7919) for n in range(9000))
    packed = gzip.compress(words)
    assert 3 < len(words) / len(packed) < 50
    with raw_upstream(seen, packed_answer(packed)):
        seen.ask(json=seen.body())
        row = seen.over(1)[0]
    assert said(seen.file(row)) == words and "fault" not in row


@pytest.mark.parametrize("size", [1, 1000, 16 * 1024, MB])
def test_an_unpacker_gives_its_bound_and_not_a_byte_more(size: int) -> None:
    packed = gzip.compress(b"a" * 100_000)
    pieces: list[bytes] = []
    with pytest.raises(TooMuchUnpacked, match="more than 99,999 bytes"):
        unpack(Unpacker(99_999), packed, size, pieces)
    assert b"".join(pieces) == b"a" * 99_999
    pieces.clear()
    unpack(Unpacker(100_000), packed, size, pieces)
    assert b"".join(pieces) == b"a" * 100_000
    assert max(map(len, pieces)) <= 64 * 1024
    pieces.clear()
    times = 100_000 // len(packed)
    with pytest.raises(TooMuchUnpacked):
        unpack(Unpacker(1, times), packed, size, pieces)
    assert len(b"".join(pieces)) <= times * len(packed)


def unpack(unpacker: Unpacker, packed: bytes, size: int, into: list[bytes]) -> None:
    """Unpack what comes in pieces of a size, as far as that goes."""
    for start in range(0, len(packed), size):
        into.extend(unpacker.pieces(packed[start : start + size]))


def test_archives_in_a_row_are_read_up_to_a_number() -> None:
    """Each empty one of twenty bytes asks for a reader: a million of them would take minutes."""
    assert b"".join(Unpacker().pieces(gzip.compress(b"ab") * 4096)) == b"ab" * 4096
    with pytest.raises(TooMuchUnpacked, match="more than 4,096 archives"):
        list(Unpacker().pieces(gzip.compress(b"") * 1_000_000))


def test_a_request_of_many_archives_is_forwarded_and_kept_as_bytes(seen: Seen) -> None:
    sent = gzip.compress(b"") * 100_000
    with raw_upstream(seen, OK) as upstream:
        seen.ask(content=sent, headers={"content-encoding": "gzip"})
        row = seen.over(1)[0]
    assert upstream.got[0].endswith(sent) and "expected" not in row


# answers that are long, and disks that are full


def watched(folder: Path, sent: bytes | None = None, **more: Any) -> WatchedExchange:
    """An exchange as the recorder has it, whose request was sent."""
    known: dict[str, Any] = {"api": "anthropic", "model": "", "agent": "", "client": ""}
    known |= {"session": "", "coding": "", "asks": True, **more}
    search = searcher(())
    opened = Opened(1, 0.0, "https://a.example/v1/messages", **known)
    found = WatchedExchange(opened, folder, BodyScrubber(search), search)
    found.add_request_piece(b'{"messages": []}' if sent is None else sent)
    found.end_request()
    return found


def test_of_a_models_answer_so_much_is_recorded_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "_MOST_ANSWER", 1000)
    found = watched(tmp_path)
    found.begin_answer(0.1, 200, "", "text/plain")
    for _ in range(30):
        found.add_answer_piece(0.2, b"a" * 100)
    found.end(None)
    lines = [json.loads(line) for line in (tmp_path / "00001.jsonl").read_text().splitlines()]
    assert said(lines) == b"a" * 1000
    assert {"not_kept": {"came": 2000}} in lines
    told = "the answer has more than 1,000 bytes; the rest is forwarded and not recorded"
    assert found.fault == told
    assert lines[-1]["error"] == {"type": "unrecorded", "message": told}


def test_an_answer_that_costs_too_much_is_recorded_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is made of: the work is counted, not the bytes."""
    monkeypatch.setattr(exchanges, "_MOST_SECONDS", 0.05)
    found = watched(tmp_path)
    found.begin_answer(0.1, 200, "", "text/plain")
    for _ in range(100):
        found.add_answer_piece(0.2, b"password: " * 6400)
    found.end(None)
    lines = [json.loads(line) for line in (tmp_path / "00001.jsonl").read_text().splitlines()]
    kept, left = len(said(lines)), next(x["not_kept"] for x in lines if "not_kept" in x)["came"]
    assert kept + left == 6_400_000 and kept < 640_000
    assert found.fault.startswith("the answer took 0.05 seconds to be recorded so far; the rest")


@pytest.mark.parametrize("form", ['{"messages": [{"content": "%s"}]}', '{"a":\n"%s"}', "%s"])
def test_a_request_that_costs_too_much_is_left_out_and_its_answer_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(exchanges, "_MOST_REQUEST_SECONDS", 0.1)
    monkeypatch.setattr(exchanges, "_REQUEST_SECONDS", 0.0)
    began = time.thread_time()
    found = watched(tmp_path, (form % ("password: " * 300_000)).encode())
    assert time.thread_time() - began < 2.0  # and not a second for each of three megabytes
    found.begin_answer(0.1, 200, "", "text/plain")
    found.add_answer_piece(0.2, b"words")
    found.end(None)
    lines = [json.loads(line) for line in (tmp_path / "00001.jsonl").read_text().splitlines()]
    assert not any("request" in line for line in lines) and said(lines) == b"words"
    kept = sum(len(line.get("sent", "")) for line in lines)
    left = next(line["not_kept"] for line in lines if "not_kept" in line)["sent"]
    assert left > 2 * MB and kept + left >= 3_000_000
    if "messages" in form:
        assert found.fault.startswith("the request took more than 0.1 seconds to be searched")


def test_a_search_ends_when_its_time_is_over() -> None:
    text = "password: " * 20_000
    with pytest.raises(TooMuchWork):
        searcher(()).time_limited(0).search(text)
    assert searcher(()).time_limited(60).search(text) == searcher(()).search(text)


def test_a_disk_that_is_nearly_full_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert exchanges.disk_problem(tmp_path) == ""
    monkeypatch.setattr(exchanges, "least_free", lambda total: total + 1)
    found = watched(tmp_path)
    found.end(None)
    assert not list(tmp_path.iterdir())
    assert found.fault.startswith("not recorded: the disk has less than ")


@pytest.mark.parametrize(
    ("total", "least"), [(100 << 30, 1 << 30), (20 << 30, 1 << 30), (1 << 30, 53_687_091)]
)
def test_a_gigabyte_or_a_twentieth_of_a_disk_is_left(total: int, least: int) -> None:
    assert exchanges.least_free(total) == least


# what the recorder stumbles over


def deep(levels: int, opening: bytes, closing: bytes) -> bytes:
    value = opening * levels + b"1" + closing * levels
    return b'{"model": "%s", "messages": [], "x": %s}' % (MODEL.encode(), value)


@pytest.mark.parametrize("levels", [100, 400, 600, 900, 980, 5000])
@pytest.mark.parametrize("pair", [(b"[", b"]"), (b'{"a": ', b"}"), (b'[{"a": ', b"}]")])
def test_a_body_that_is_deep_does_not_end_the_recording(
    seen: Seen, levels: int, pair: tuple[bytes, bytes]
) -> None:
    """Between 330 levels and Python's own bound it ended the process that records, for all."""
    sent = deep(levels, *pair)
    before = [process.pid for process in seen.world.proxy.processes()]
    with raw_upstream(seen, OK) as upstream:
        assert seen.ask(content=sent).status_code == 200
        assert seen.ask(json=seen.body()).status_code == 200
        first, second = seen.over(2)
    assert upstream.got[0].endswith(sent)
    assert second["expected"]["model"] == MODEL
    assert "fault" not in first and first["status"] == 200
    assert [process.pid for process in seen.world.proxy.processes()] == before


def test_a_bug_ends_the_recording_of_one_exchange(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    word = "hunter2024" + "Winter"
    run = WatchedRun(str(tmp_path), "http://a.example", (word,))
    watcher = RunWatcher(read_run(run.pack()), told.append)
    known = (0.0, "http://a.example/v1/messages", "anthropic", "", "", "", "", "", True)
    for number in (1, 2):
        watcher.handle(("open", number, *known))
    watcher.handle(("sent", 1, None))  # which is no bytes
    watcher.handle(("sent", 2, b'{"messages": []}'))
    for event in (("asked", 2, False), ("status", 2, 0.1, 200, "", ""), ("end", 2, 0.2, None)):
        watcher.handle(event)
    fault = next(line for line in told if "fault" in line)
    assert fault["exchange"] == 1
    assert fault["fault"] == "this exchange is not recorded to its end (TypeError: a bug of ours)"
    assert told[-1]["exchange"] == 2 and told[-1]["status"] == 200
    watcher.handle(("end", 1, 0.3, None))  # nobody knows it any longer
    watcher.finish()


# --block


def test_a_body_that_is_too_much_to_be_looked_at_is_not_held(tmp_path: Path) -> None:
    """Of what is held for `--block` memory has no more than a request's most."""
    with a_world(tmp_path / "run", block=True) as world:
        seen = look(world)
        head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        body = b"x" * (33 * MB)
        answer = b"HTTP/1.1 413 Large\r\ncontent-length: 3\r\n\r\nbig"
        with raw_upstream(seen, answer) as upstream:
            data = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
            assert exchange(seen.url, data, close=False, wait=60).endswith(b"big")
            row = seen.over(1, seconds=60)[0]
        assert upstream.got[0].endswith(body) and row["status"] == 413
        assert {"not_kept": {"sent": 32 * MB}} in seen.file(row)


def test_a_recorder_that_is_behind_holds_no_other_client_up(seen: Seen) -> None:
    """While it works on a packed answer of a megabyte, others are answered."""
    packed = gzip.compress(b"password: " * (MB // 10), 9)
    with raw_upstream(seen, packed_answer(packed)):
        seen.ask(json=seen.body())
    with raw_upstream(seen, OK):
        began = time.monotonic()
        for _ in range(5):
            assert seen.ask(json=seen.body()).status_code == 200
        assert time.monotonic() - began < 10


# bytes one by one


async def _pieces(cut: list[bytes], waits: set[int]) -> AsyncIterator[bytes]:
    for number, data in enumerate(cut):
        if number in waits:
            await asyncio.sleep(0)
        yield data


@given(st.lists(st.binary(max_size=4), max_size=50), st.sets(st.integers(0, 49)))
def test_joined_pieces_are_the_bytes_that_came(cut: list[bytes], waits: set[int]) -> None:
    async def run() -> list[bytes]:
        return [data async for data in join_pieces(_pieces(cut, waits))]

    found = asyncio.run(run())
    assert b"".join(found) == b"".join(cut) and len(found) <= len(waits) + 1


def test_an_answer_of_single_bytes_is_joined_and_breaks_off_as_it_did(seen: Seen) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n"
    for end in (b"0\r\n\r\n", b""):
        with raw_upstream(seen, head + b"1\r\na\r\n" * 20_000 + end):
            data = b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            got = exchange(seen.url, data + b"Content-Length: 2\r\n\r\n{}", close=False)
        row = seen.over(1 if end else 2)[-1]
        assert got.count(b"a\r\n") < 2000 and got.endswith(b"0\r\n\r\n") == bool(end)
        assert said(seen.file(row)) == b"a" * 20_000 and ("error" in row) == (not end)


def test_a_client_whose_bytes_cost_much_work_is_read_in_ever_smaller_pieces(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two of them everybody else has a turn."""
    sizes: list[int] = []
    take = Protocol.data_received

    def noted(self: Protocol, data: bytes) -> None:
        sizes.append(len(data))
        take(self, data)

    monkeypatch.setattr(Protocol, "data_received", noted)
    head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    data = head + b"Connection: close\r\n\r\n" + b"1\r\na\r\n" * 30_000 + b"0\r\n\r\n"
    with raw_upstream(seen, OK) as upstream:
        assert exchange(seen.url, data, close=False).endswith(b"{}")
    assert sum(sizes) == len(data) and max(sizes) <= 32 * 1024 and max(sizes[10:]) <= 8192
    sizes.clear()
    with raw_upstream(seen, OK):
        seen.ask(content=b"x" * MB)
    assert sum(map(bool, sizes)) < 100  # others are read in large ones
    assert len(upstream.got) == 1


# the end


def test_the_end_says_what_it_waits_for(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    pipe = WatcherPipe(WatchedRun(str(tmp_path)), told.append)
    (process,) = pipe.processes
    time.sleep(1.0)
    process.send_signal(signal.SIGSTOP)
    closing = threading.Thread(target=pipe.close)
    closing.start()
    until = time.monotonic() + 10
    while not any("fault" in line for line in told) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGCONT)
    closing.join(20)
    assert not closing.is_alive() and process.returncode == 0
    fault = next(line["fault"] for line in told if "fault" in line)
    assert "still being recorded, for 60 s at most; Ctrl-C" in fault


def test_lines_of_several_threads_come_one_after_the_other(tmp_path: Path) -> None:
    """The pipe's threads and the server report at the same time, also the first line of a file."""
    write = _line_writer(TerminalReport(), False, tmp_path / "said.txt")
    together = threading.Barrier(8)

    def report(number: int) -> None:
        together.wait()
        write({"fault": f"fault {number}"})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(report, range(8)))
    lines = (tmp_path / "said.txt").read_text().splitlines()
    assert sorted(lines) == [f"fault: fault {number}" for number in range(8)]
