"""Recorders that are killed, recordings that are cut: what had come must load."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import playground as pg
from playground.base.errors import InputFault
from playground.plugins.trials.demo_server import serving
from playground.recordings.append_only_file import LinesInMemory
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import searcher

from . import Try

KILLS = 20
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PLAIN = ["record", "--session", "01-plain-chat", "--model", "openai/demo-slow"]
STEP = 29  # bytes between two cuts
# LiteLLM takes seconds to load, a processor's all: it is loaded once, and each recorder is a fork.
FORKER = """
import os, sys
from playground.cli import main
from playground.llm.library import litellm
litellm()
for line in sys.stdin:
    *command, path = line.rstrip("\\n").split("\\t")
    pid = os.fork()
    if not pid:
        said = os.open(path + ".said", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1), os.dup2(said, 2)
        main([*command, "-o", path])
        os._exit(0)
    print(pid, flush=True)
    sys.stdin.readline()
    print(os.waitpid(pid, 0)[1], flush=True)
"""


def tries() -> Iterator[Try]:
    yield from _killed()
    yield from _cut()


def _killed() -> Iterator[Try]:
    """The real command, a real server on loopback, signals at random moments."""
    dice = random.Random(20)
    with (
        serving(delay=0.05) as server,
        tempfile.TemporaryDirectory() as place,
        subprocess.Popen(
            [sys.executable, "-c", FORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as forker,
    ):
        for number in range(KILLS):
            path, asked = Path(place, f"{number}.jsonl"), SIGNALS[number % len(SIGNALS)]
            command = [*PLAIN, "--base-url", f"{server.url}/v1", str(path)]
            pid = int(_told(forker, "\t".join(command)))
            if number % 4:  # each fourth is anywhere on its way
                _wait(path)
            time.sleep(dice.random() * 0.8)
            os.kill(pid, asked)
            _told(forker, "wait")
            yield _loads(f"{asked.name} {number}", path, Path(f"{path}.said").read_text())


def _told(process: subprocess.Popen[str], line: str) -> str:
    """Return the process' answer to a line."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline()


def _wait(path: Path) -> None:
    """Until the answer has begun."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if path.exists() and '"raw"' in path.read_text():
            return
        time.sleep(0.02)


def _loads(name: str, path: Path, said: str) -> Try:
    try:
        recording = pg.load_recording(path)
    except InputFault as fault:
        nothing = not path.exists()  # it had not come to asking
        return Try(name, nothing, f"{fault} {said[:300]}")
    marked = recording.error is not None or recording.stop_reason != ""
    return Try(name, marked, "neither an end nor marked as cut")


def _cut() -> Iterator[Try]:
    """A recording of each API, cut every few bytes after the format's name."""
    for name, data in _streams().items():
        lines = LinesInMemory()
        recorder = Recorder(lines, searcher(), name=name, dialect="native", model="m")
        recorder.record_request("http://x", {"model": "m", "messages": []})
        for at in range(0, len(data), 97):
            recorder.record_bytes(at / 1000, data[at : at + 97])
        whole = recorder.end(None, cut=False).reply.content
        text = "".join(lines.lines).encode()
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "r.jsonl")
            for stop in range(text.index(b'"timing"'), len(text) - 1, STEP):
                path.write_bytes(text[:stop])
                recording = pg.load_recording(path)
                held = whole.startswith(recording.reply.content) and recording.error is not None
                yield Try(f"{name} cut at {stop}", held, recording.reply.content[-80:])


def _streams() -> dict[str, bytes]:
    import httpx

    ask = {"model": "demo", "messages": [{"role": "user", "content": "x"}], "stream": True}
    found = {}
    with serving() as server:
        for path in ("/v1/chat/completions", "/v1/messages", "/api/chat"):
            found[path] = httpx.post(server.url + path, json=ask, timeout=30).content
    return found
