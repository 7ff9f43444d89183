"""A recording survives its recorder: real processes, signals and disks, a server on loopback."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from serving import widened
from streaming import answering, event, events

import playground as pg
from playground.base.errors import InputFault
from playground.llm.library import litellm
from playground.llm.record import Limits, record
from playground.llm.runs import Run
from playground.recordings.append_only_file import AppendOnlyFile, LinesInMemory, create_numbered
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import searcher

pytestmark = pytest.mark.early

ASK = [{"role": "user", "content": "Say something."}]
KEY = "sk-proj-" + "aB3" * 12
# What `record` does, without LiteLLM, which takes seconds to load.
RECORDER = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, and what it starts, ignore it
import sys, threading, httpx
from playground.llm.wiretap import Tap, tapped
from playground.recordings.append_only_file import AppendOnlyFile
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import searcher
file = AppendOnlyFile(sys.argv[2])
recorder = Recorder(file, searcher(), name="r", dialect="native", model="m")
def tick():
    while not over.wait(0.1):
        recorder.tick()
over = threading.Event()
threading.Thread(target=tick, daemon=True).start()
with tapped(Tap(recorder, lambda: True, 60, 1 << 30)):
    with httpx.stream("POST", sys.argv[1], json={"model": "m"}, timeout=60) as answer:
        print("begun", flush=True)
        for _ in answer.iter_bytes():
            pass
recorder.end(None, cut=False)
file.close()
"""


def drip() -> Iterator[bytes | float]:
    for number in range(100_000):
        yield event(f"word{number} ")
        yield 0.01


def recorded(*pieces: bytes, cut: bool = False) -> list[str]:
    """The lines of a recording of these pieces."""
    lines = LinesInMemory()
    recorder = Recorder(lines, searcher(), name="r", dialect="native", model="m")
    recorder.record_request("http://x/v1", {"model": "m", "messages": ASK})
    for number, piece in enumerate(pieces):
        recorder.record_bytes(number / 10, piece)
    recorder.end({"type": "cut", "message": "x"} if cut else None, cut=cut)
    return lines.lines


def test_what_had_come_is_there_after_any_signal(tmp_path: Path) -> None:
    names = ("SIGKILL", "SIGTERM", "SIGHUP")
    paths = [tmp_path / f"{number}.jsonl" for number in range(len(names))]
    with answering(drip) as server:
        running = [
            subprocess.Popen(
                [sys.executable, "-c", RECORDER, server.url, str(path)],
                stdout=subprocess.PIPE,
                text=True,
            )
            for path in paths
        ]
        for process, name in zip(running, names, strict=True):
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.8 + random.random() * 0.1)
            process.send_signal(getattr(signal, name))
            process.communicate(timeout=20)
    for path in paths:
        recording = pg.load_recording(path)
        words = recording.reply.content.split()
        assert words == [f"word{number}" for number in range(len(words))]
        assert len(words) > 15  # all but the last second or less
        assert recording.error is not None
        assert recording.error["type"] == "cut"
        assert recording.stop_reason == ""


def test_what_had_come_is_there_where_memory_ends(tmp_path: Path) -> None:
    """A process may have 16 MB more than it has; one event of 15 MB comes after some words."""
    bound = (
        "import resource\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "most = pages * resource.getpagesize() + (16 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
    )
    started = '        print("begun", flush=True)\n'
    bounded = "".join(f"        {line}\n" for line in bound.splitlines())

    def much() -> Iterator[bytes | float]:
        for number in range(20):
            yield event(f"word{number} ")
        yield 0.5
        yield event("too much " * 1_700_000)

    path = tmp_path / "r.jsonl"
    with answering(much) as server:
        done = subprocess.run(
            [sys.executable, "-c", RECORDER.replace(started, bounded), server.url, str(path)],
            capture_output=True,
            text=True,
        )
    assert "MemoryError" in done.stderr
    recording = pg.load_recording(path)
    words = "".join(f"word{number} " for number in range(20))
    # the large event is there as a whole, or not at all
    assert recording.reply.content in (words, words + "too much " * 1_700_000)
    assert recording.error is not None
    assert recording.error["type"] == "cut"


def test_a_recording_that_is_cut_anywhere_loads(tmp_path: Path) -> None:
    text = "".join(recorded(*events("One ", "two “drei” ", "three."))).encode()
    path = tmp_path / "r.jsonl"
    start = text.index(b'"name"')
    step = 7
    for stop in [*range(start, len(text) - 1, step), len(text) - 2]:
        path.write_bytes(text[:stop])
        recording = pg.load_recording(path)
        assert "One two “drei” three.".startswith(recording.reply.content)
        assert recording.error is not None
    path.write_bytes(text)
    whole = pg.load_recording(path)
    assert (whole.error, whole.stop_reason) == (None, "stop")


def test_a_bad_line_in_the_middle_is_no_cut(tmp_path: Path) -> None:
    lines = recorded(*events("One ", "two."))
    path = tmp_path / "r.jsonl"
    path.write_text("".join([*lines[:3], "{no JSON\n", *lines[3:]]))
    with pytest.raises(InputFault, match=r"r\.jsonl:4: not JSON"):
        pg.load_recording(path)


def test_a_recording_of_the_older_form_loads(tmp_path: Path) -> None:
    head = {"format": "playground-recording/1", "name": "old", "request": {"messages": ASK}}
    line = {"t": 0.1, "raw": b"".join(events("As ever.")).decode()}
    path = tmp_path / "r.jsonl"
    path.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")
    recording = pg.load_recording(path)
    assert (recording.name, recording.reply.content) == ("old", "As ever.")
    assert (recording.error, recording.stop_reason) == (None, "stop")
    assert pg.load_session(path).messages[0].role == "user"


def test_the_file_is_on_the_disk_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    seen: list[bool] = []

    def slowly() -> Iterable[bytes | float]:
        yield event("here ")
        yield 1.0
        seen.append("here" in path.read_text())
        yield from events("and there")

    with answering(lambda: events("")) as server:  # LiteLLM loads what it needs for seconds
        record(ASK, "openai/m", base_url=server.url)
    with answering(slowly) as server:
        done = record(ASK, "openai/m", base_url=server.url, out=AppendOnlyFile(path))
    assert seen == [True]
    assert done.recording == pg.load_recording(path)
    assert not done.recording.findings


def test_a_file_that_is_there_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("the user's own")
    with answering(lambda: events("paid")) as server:
        command = [sys.executable, "-m", "playground", "record", "--session", "01-plain-chat"]
        done = subprocess.run(
            [*command, "--model", "openai/m", "--base-url", server.url, "-o", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "exists already" in done.stderr
        assert server.requests == []
    assert path.read_text() == "the user's own"


def test_two_recorders_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = AppendOnlyFile(path)
    first.add("first\n")
    program = (
        "import sys; from playground.recordings.append_only_file import AppendOnlyFile\n"
        "from playground.base.errors import InputFault\n"
        "try: AppendOnlyFile(sys.argv[1], force=len(sys.argv) > 2)\n"
        "except InputFault as fault: print(fault)\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program, str(path), *more], capture_output=True, text=True
        ).stdout
        for more in ([], ["force"])
    ]
    assert "exists already" in said[0]
    assert re.search(rf"process {os.getpid()} \([^)]+\) is writing this recording", said[1])
    first.close()
    assert path.read_text() == "first\n"


def test_names_go_on_counting(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    names = []
    for _ in range(3):
        file = create_numbered(path)
        names.append(file.path.name)
        file.close()
    assert names == ["r.jsonl", "r-2.jsonl", "r-3.jsonl"]


def test_when_nothing_comes_what_was_there_is_back(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("the user's own")
    with pytest.raises(InputFault, match="no answer"):
        record(
            ASK, "openai/m", base_url="http://127.0.0.1:9/v1", out=AppendOnlyFile(path, force=True)
        )
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"r.jsonl": "the user's own"}


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_refusal_takes_the_place_of_no_recording(status: int, tmp_path: Path) -> None:
    """It counted as an answer: with --force the older recording was deleted."""
    path = tmp_path / "r.jsonl"
    path.write_text("the user's own")
    (tmp_path / "r-2.jsonl").write_text("another")
    seen = []

    def refused() -> Iterator[bytes]:
        seen.append(path.read_text())
        yield b'{"error": {"message": "not now"}}'

    with answering(refused, status) as server:
        file = AppendOnlyFile(path, force=True)
        done = record(ASK, "openai/m", base_url=server.url, out=file)
    assert seen == ["the user's own"]
    assert path.read_text() == "the user's own"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r-2.jsonl", "r-3.jsonl", "r.jsonl"]
    assert done.path == tmp_path / "r-3.jsonl"
    assert pg.load_recording(done.path).error is not None


def test_until_an_answer_comes_the_old_file_stands_and_is_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("the user's own")
    file = AppendOnlyFile(path, force=True)
    file.add("new\n")
    file.keep(now=True)
    assert path.read_text() == "the user's own"
    with pytest.raises(InputFault, match="is writing this recording"):
        AppendOnlyFile(path, force=True)
    file.answered()
    assert path.read_text() == "new\n"
    file.add("more\n")
    file.close()
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"r.jsonl": "new\nmore\n"}


def test_a_refusal_says_where_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("the user's own")
    with answering(lambda: [b'{"error": {"message": "no"}}'], 401) as server:
        command = [sys.executable, "-m", "playground", "record", "--session", "01-plain-chat"]
        more = ["--model", "openai/m", "--base-url", server.url, "-o", str(path), "--force"]
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60)
    assert f"the answer is a refusal; {path} is as it was" in done.stderr
    assert f"{tmp_path / 'r-2.jsonl'}: " in done.stdout
    assert path.read_text() == "the user's own"


def test_a_full_disk_ends_the_request_and_keeps_what_is_written(tmp_path: Path) -> None:
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("NO DISK TO FILL: mounting a tmpfs is not permitted")
    path = tmp_path / "r.jsonl"
    sent = []

    def much() -> Iterator[bytes | float]:
        for number in range(3000):
            sent.append(number)
            yield event("x" * 200)
            yield 0.002

    try:
        with (
            answering(much) as server,
            pytest.raises(InputFault, match="No space left on device"),
        ):
            record(ASK, "openai/m", base_url=server.url, out=AppendOnlyFile(path))
        recording = pg.load_recording(path)
        assert len(recording.reply.content) > 2_000
        assert recording.error is not None
        assert len(sent) < 2500
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


class Tab:
    """One that is closed three seconds after it was first asked for."""

    first = 0.0

    def __call__(self) -> bool:
        self.first = self.first or time.monotonic()
        return time.monotonic() - self.first < 3


@pytest.mark.parametrize(
    ("limits", "answer", "kind"),
    [
        (Limits(seconds=3.0), drip, "timeout"),
        (Limits(size=20_000), drip, "limit"),
        (Limits(alive=Tab()), drip, "cut"),
    ],
    ids=["drips for ever", "too large", "the tab is gone"],
)
def test_what_has_no_end_is_ended_and_kept(limits: Limits, answer: Any, kind: str) -> None:
    litellm()  # which takes seconds
    began = time.monotonic()
    with answering(answer) as server:
        done = record(ASK, "openai/m", base_url=server.url, limits=limits)
    assert time.monotonic() - began < 12
    assert done.recording.error is not None
    assert done.recording.error["type"] == kind
    assert [found.code for found in done.recording.findings] == ["stopped"]  # by no provider
    theirs = {"error": {"type": "timeout", "message": "upstream timed out", "code": 504}}
    found = pg.decode_stream(f"data: {json.dumps(theirs)}\n\n".encode())
    assert "stream-error" in [each.code for each in found.findings]
    assert done.recording.reply.content.startswith("word0 word1 ")
    assert done.recording.stop_reason == ""


def test_a_server_that_falls_silent_is_left() -> None:
    def silent() -> Iterator[bytes | float]:
        yield event("word ")
        yield 30.0

    began = time.monotonic()
    with answering(silent) as server:
        done = record(ASK, "openai/m", base_url=server.url, limits=Limits(60, stall=0.5))
    assert time.monotonic() - began < 10
    assert done.recording.reply.content == "word "
    assert done.recording.error is not None


@pytest.mark.parametrize("name", widened(["SIGSTOP", "SIGKILL"]))
def test_what_a_server_said_before_it_was_stopped_is_kept(name: str, tmp_path: Path) -> None:
    """A process of its own: one that is gone, one that holds the connection and says no more."""
    script = (
        "import time; from streaming import answering, event\n"
        "def drip():\n"
        "    for number in range(9999): yield event(f'word{number} '); yield 0.02\n"
        "with answering(drip) as server: print(server.url, flush=True); time.sleep(60)\n"
    )
    path = tmp_path / "r.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT / "tests", stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()

        def stop(count: int, _text: str) -> None:
            if count == 20:
                server.send_signal(getattr(signal, name))

        try:
            done = record(
                ASK,
                "openai/m",
                base_url=url,
                limits=Limits(60, stall=1.0),
                out=AppendOnlyFile(path),
                progress=stop,
            )
        finally:
            server.kill()
    words = done.recording.reply.content.split()
    assert words[:20] == [f"word{number}" for number in range(20)]
    kept = pg.load_recording(path)
    assert kept.reply.content == done.recording.reply.content
    assert kept.stop_reason == ""
    if name == "SIGSTOP":
        assert kept.error is not None
    else:  # to whoever reads until the connection ends, one that is killed ends it as any other
        assert [found.code for found in kept.findings] == ["no-end"]


def test_a_run_that_is_stopped_waits_for_no_further_byte(tmp_path: Path) -> None:
    def silent() -> Iterator[bytes | float]:
        yield event("word ")
        yield 30.0

    with answering(silent) as server:
        run = Run("openai/m", "native")
        run.start(ASK, (), base_url=server.url, folder=tmp_path)
        until = time.monotonic() + 30
        while not run.chunks and time.monotonic() < until:
            time.sleep(0.02)
        began = time.monotonic()
        run.stop()
        run.wait(10)
        assert time.monotonic() - began < 3
    assert run.recorded is not None and run.path is not None
    recording = pg.load_recording(run.path)
    assert recording.reply.content == "word "
    assert recording.error is not None
    assert recording.error["type"] == "cancelled"


@pytest.mark.parametrize(
    ("name", "status"), [("SIGTERM", -15), pytest.param("SIGINT", 130, marks=pytest.mark.long)]
)
def test_what_hears_of_no_stop_is_stopped_all_the_same(name: str, status: int) -> None:
    """LiteLLM that loads on a busy machine did not: SIGTERM took 20 to 36 seconds."""
    script = (
        "import sys, time; from playground.cli import terminal; terminal.GRACE = 0.3\n"
        "@terminal.guarded\n"
        "def busy():\n"
        "    with terminal.stopping():\n"
        "        print('begun', flush=True); time.sleep(60)\n"
        "busy()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        began = time.monotonic()
        process.send_signal(getattr(signal, name))
        assert process.wait(30) == status
    assert time.monotonic() - began < 10


def test_sigterm_ends_record_within_seconds_and_keeps_what_came(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    command = [sys.executable, "-m", "playground", "record", "--session", "01-plain-chat"]
    with answering(drip) as server:
        more = ["--model", "openai/m", "--base-url", server.url, "-o", str(path)]
        with subprocess.Popen(
            [*command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            until = time.monotonic() + 60
            while time.monotonic() < until and not (path.exists() and "word" in path.read_text()):
                time.sleep(0.05)
            began = time.monotonic()
            process.terminate()
            assert process.wait(60) in (143, -15)  # in time, or after the time that it has
    assert time.monotonic() - began < 12
    recording = pg.load_recording(path)
    assert recording.reply.content.startswith("word0 ")
    assert recording.error is not None


def test_a_stop_before_anything_came_is_a_stop_and_no_bad_input() -> None:
    script = (
        "import os, signal; from playground.cli import terminal\n"
        "from playground.base.errors import InputFault\n"
        "@terminal.guarded\n"
        "def asked():\n"
        "    with terminal.stopping() as stop:\n"
        "        os.kill(os.getpid(), signal.SIGTERM); stop.event.wait(20)\n"
        "        raise InputFault('no answer', where='a model', expected='another one')\n"
        "asked()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (143, "playground: stopped (no answer)\n")


def test_memory_does_not_grow_with_the_stream(tmp_path: Path) -> None:
    """4 MB more here, of which no 100 kB may stay; 1 GB by `make long`."""
    peak(tmp_path, 1)  # what is loaded once
    assert peak(tmp_path, 5) < peak(tmp_path, 1) + 100_000


def test_few_lines_wait_in_memory_however_long_no_one_brings_them_to_the_disk(
    tmp_path: Path,
) -> None:
    file = AppendOnlyFile(tmp_path / "r.jsonl")
    for _ in range(300):
        file.add("x" * 999 + "\n")
    assert (tmp_path / "r.jsonl").stat().st_size > 200_000
    file.close()
    assert (tmp_path / "r.jsonl").stat().st_size == 300_000


def peak(folder: Path, megabytes: int, whole: int = 1 << 18) -> int:
    """The most bytes of memory while so many megabytes are recorded."""
    piece = b"".join(event("some words of an answer " * 40) for _ in range(16))
    file = create_numbered(folder / "r.jsonl")
    tracemalloc.start()
    try:
        recorder = Recorder(
            file, searcher(), name="r", dialect="native", model="m", kept_bytes=whole
        )
        for chunk in repeat(piece, megabytes * 1_000_000 // len(piece)):
            recorder.record_bytes(0.0, chunk)
        recorder.end(None, cut=False)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        file.close()


@pytest.mark.long
def test_a_gigabyte_in_constant_memory(tmp_path: Path) -> None:
    """Through LiteLLM and a real connection, in a process of its own."""
    program = (
        "import resource, sys, threading\n"
        "from playground.llm.record import record, Limits\n"
        "from playground.recordings.append_only_file import AppendOnlyFile\n"
        "ask = [{'role': 'user', 'content': 'x'}]\n"
        "done = record(ask, 'openai/m', base_url=sys.argv[1], limits=Limits(3000, 60, 2 << 30),\n"
        "    out=AppendOnlyFile(sys.argv[2]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, done.recording.stop_reason)\n"
    )
    peaks = []
    for megabytes in (100, 1000):

        def much(size: int = megabytes * 1_000_000) -> Iterator[bytes]:
            sent = 0
            while sent < size:
                piece = event(f"{sent}: " + "some words of an answer " * 2000)
                sent += len(piece)
                yield piece
            yield from events("the end")

        path = tmp_path / f"{megabytes}.jsonl"
        with answering(much) as server:
            done = subprocess.run(
                [sys.executable, "-c", program, server.url, str(path)],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        kilobytes, stop = done.stdout.split()
        assert stop == "stop"
        assert path.stat().st_size > megabytes * 1_000_000
        peaks.append(int(kilobytes))
    assert peaks[1] < peaks[0] + 100_000, peaks


def test_ctrl_c_in_the_middle_of_a_step_lets_nothing_out() -> None:
    """What may not have been searched is not written."""
    lines = LinesInMemory()
    recorder = Recorder(lines, searcher(), name="r", dialect="native", model="m")
    interrupt = threading.Event()

    class Interrupted(bytes):
        def decode(self, *arguments: Any) -> str:  # where the step is in the middle
            interrupt.set()
            raise KeyboardInterrupt

    recorder.record_bytes(0.0, event("before "))
    with pytest.raises(KeyboardInterrupt):
        recorder.record_bytes(0.1, Interrupted(event(KEY)))
    recorder.end({"type": "cancelled", "message": "x"}, cut=True)
    assert interrupt.is_set()
    assert KEY not in "".join(lines.lines)
    assert "before" in "".join(lines.lines)


def test_a_folder_made_for_recordings_is_the_users_alone(tmp_path: Path) -> None:
    """Whole prompts were readable by every user of a shared machine."""
    before = os.umask(0o022)
    try:
        AppendOnlyFile(tmp_path / "recordings" / "a.jsonl").close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "recordings").stat().st_mode) == 0o700
