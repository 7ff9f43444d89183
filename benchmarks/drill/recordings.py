"""Recorders that are killed, recordings that are cut: what had come must load."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import playground as pg
from playground.errors import InputFault
from playground.llm.demo_server import serving
from playground.recordings.growing import LinesInMemory
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import searcher

from . import Try

KILLS = 20
AT_ONCE = 4
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PLAIN = ["record", "--session", "01-plain-chat", "--model", "openai/demo-slow"]


def tries() -> Iterator[Try]:
    yield from _killed()
    yield from _cut()


def _killed() -> Iterator[Try]:
    """The real command, a real server on loopback, signals at random moments."""
    dice = random.Random(20)
    with serving(delay=0.05) as server, tempfile.TemporaryDirectory() as place:
        for start in range(0, KILLS, AT_ONCE):
            paths = [Path(place, f"{number}.jsonl") for number in range(start, start + AT_ONCE)]
            running = [_recorder(server.url, path) for path in paths]
            _wait(paths)
            for number, (process, path) in enumerate(zip(running, paths, strict=True), start):
                time.sleep(dice.random() * 0.6)
                asked = SIGNALS[number % len(SIGNALS)]
                process.send_signal(asked)
                _, said = process.communicate(timeout=60)
                yield _loads(f"{asked.name} {number}", path, said)


def _recorder(url: str, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "playground.cli", *PLAIN]
    return subprocess.Popen(
        [*command, "--base-url", f"{url}/v1", "-o", str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _wait(paths: list[Path]) -> None:
    """Until the first answer has begun; the others are anywhere on their way."""
    until = time.monotonic() + 90
    while time.monotonic() < until:
        if any(path.exists() and '"raw"' in path.read_text() for path in paths):
            return
        time.sleep(0.05)


def _loads(name: str, path: Path, said: str) -> Try:
    try:
        recording = pg.load_recording(path)
    except InputFault as fault:
        nothing = not path.exists()  # it had not come to asking
        return Try(name, nothing, f"{fault} {said[:300]}")
    marked = recording.error is not None or recording.stop_reason != ""
    return Try(name, marked, "neither an end nor marked as cut")


def _cut() -> Iterator[Try]:
    """A recording of each API, cut at every fifth byte after the format's name."""
    for name, data in _streams().items():
        lines = LinesInMemory()
        recorder = Recorder(lines, searcher(), name=name, dialect="native", model="m")
        recorder.sent("http://x", {"model": "m", "messages": []})
        for at in range(0, len(data), 97):
            recorder.piece(at / 1000, data[at : at + 97])
        whole = recorder.end(None, cut=False).reply.content
        text = "".join(lines.lines).encode()
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "r.jsonl")
            for stop in range(text.index(b'"timing"'), len(text) - 1, 5):
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
