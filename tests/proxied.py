"""A proxy between a test and its provider, both on loopback; what the test sees of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from conftest import ROOT
from rule_provider import RuleServer, provided

from playground.plugins.proxy.addresses import Api, Upstreams
from playground.plugins.proxy.serving import Proxy, ProxySettings, running
from playground.plugins.proxy.upstream import Upstream, read_upstream

KEY = "sk-ant-api03-" + "Ab3" * 31 + "AA"
WAIT = 20.0
MODEL = "claude-sonnet-4-6"


@dataclass
class World:
    """One proxy for many tests: each points it at its provider, and looks at what came since."""

    server: RuleServer
    out: Path
    lines: list[dict[str, Any]] = field(default_factory=list)
    target: str = ""
    proxy: Proxy = None  # type: ignore[assignment]
    tests: int = 0

    def route(self, api: Api, path: str) -> tuple[Upstream, str]:
        """As `Upstreams` says it; the address may change."""
        return Upstreams(read_upstream(self.target)).route(api, path)

    given = None
    all: tuple[Upstream, ...] = ()

    def time(self) -> float:
        return 1.7e9 + self.server.provider.now


@contextmanager
def a_world(out: Path, block: bool = False) -> Iterator[World]:
    with provided() as server:
        world = World(server, out, target=server.url)
        out.mkdir()
        settings = ProxySettings(
            world,  # type: ignore[arg-type]
            world.lines.append,
            block=block,
            clock=world.time,
            out=out,
        )
        with running(settings) as world.proxy:
            yield world


@dataclass
class Seen:
    """What a test sees of the proxy, from its own beginning on."""

    world: World
    start: int  # the last exchange before it

    @property
    def url(self) -> str:
        return self.world.proxy.url

    @property
    def bills(self) -> list[dict[str, Any]]:
        return self.world.server.provider.bills

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [line for line in self.world.lines if line.get("exchange", 0) > self.start]

    def wait(self, seconds: float) -> None:
        """The provider's clock, and the proxy's, move on."""
        self.world.server.provider.now += seconds

    def over(self, count: int, seconds: float = WAIT) -> list[dict[str, Any]]:
        """All that is known of each exchange, once so many are over."""
        until = time.monotonic() + seconds
        while sum("seconds" in line for line in self.lines) < count:
            assert time.monotonic() < until, self.lines
            time.sleep(0.01)
        found: dict[int, dict[str, Any]] = {}
        for line in self.lines:
            if "exchange" in line:
                found.setdefault(line["exchange"], {}).update(line)
        return [found[number] for number in sorted(found)]

    def file(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """The lines of an exchange's recording."""
        text = (self.world.out / row["file"]).read_text()
        return [json.loads(line) for line in text.split("\n") if line]

    def messages(self, count: int) -> list[Any]:
        """A conversation of so many questions; all but the last are answered."""
        found = [{"role": "user", "content": f"What is the tide in harbour {self.world.tests}?"}]
        for number in range(1, count):
            found.append({"role": "assistant", "content": f"Low, the {number}th time."})
            found.append({"role": "user", "content": f"And at berth {number}?"})
        return found

    def body(self, count: int = 1, **more: Any) -> dict[str, Any]:
        """A small request to Anthropic's API."""
        return {"model": MODEL, "max_tokens": 5, "messages": self.messages(count), **more}

    def ask(self, **given: Any) -> httpx.Response:
        return httpx.post(f"{self.url}/v1/messages", **given)


def look(world: World) -> Seen:
    world.tests += 1
    world.server.provider.now += 100_000  # what earlier tests have cached is gone
    world.server.provider.bills.clear()
    world.target = world.server.url
    url = f"{world.proxy.url}/test/{world.tests:04}"
    httpx.get(url)
    until = time.monotonic() + WAIT
    while not (found := [x for x in world.lines if x.get("url", "").endswith(url[-9:])]):
        assert time.monotonic() < until
        time.sleep(0.01)
    return Seen(world, found[-1]["exchange"])


def said(lines: list[dict[str, Any]]) -> bytes:
    """The answer's bytes, as a recording has them."""
    return "".join(line.get("raw", "") for line in lines).encode()


class RawUpstream:
    """Answers each connection with the same bytes, and then hangs up; keeps what it got."""

    def __init__(self, answer: bytes, hold: float = 0.0, drop: bool = False) -> None:
        self.answer, self.hold, self.drop = answer, hold, drop
        self.size = 0  # of the last body
        self.got: list[bytes] = []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def stop(self) -> None:
        """From now on nobody listens there."""
        with suppress(OSError):  # stopped already
            self.socket.shutdown(socket.SHUT_RDWR)  # closing alone leaves the thread in `accept`
        self.socket.close()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection:
            got = b""
            while b"\r\n\r\n" not in got and (data := connection.recv(65536)):
                got += data
            head, _, rest = got.partition(b"\r\n\r\n")
            size = next(
                (
                    int(h.split(b":")[1])
                    for h in head.lower().split(b"\r\n")
                    if b"content-length:" in h
                ),
                0 if head.startswith(b"CONNECT ") else None,
            )
            if self.drop:  # counted, and not kept
                self.size = len(rest)
                while self.size < (size or 0) and (data := connection.recv(1 << 20)):
                    self.size += len(data)
                rest, size = b"", 0
            while (len(rest) < size) if size is not None else not rest.endswith(b"0\r\n\r\n"):
                if not (data := connection.recv(65536)):
                    break
                rest += data
                if size is None and b"transfer-encoding" not in head.lower():
                    break
            self.got.append(head + b"\r\n\r\n" + rest)
            time.sleep(self.hold)
            connection.sendall(self.answer)


@contextmanager
def raw_upstream(
    seen: Seen, answer: bytes, hold: float = 0.0, drop: bool = False
) -> Iterator[RawUpstream]:
    """The proxy stands before such a provider, while the block runs."""
    upstream = RawUpstream(answer, hold, drop)
    seen.world.target = upstream.url
    threading.Thread(target=upstream.serve, daemon=True).start()
    try:
        yield upstream
    finally:
        upstream.stop()


def exchange(url: str, data: bytes, *, close: bool = True, wait: float = 10.0) -> bytes:
    """What a server answers to these bytes, until it hangs up."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(data)
        if close:
            time.sleep(0.1)  # or the server sees the end before it has looked at the bytes
            connection.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while data := connection.recv(65536):
                got += data
        except (TimeoutError, ConnectionResetError):
            pass
        return got


@dataclass
class Started:
    """`playground proxy` in a process of its own, as a user starts it."""

    url: str
    process: subprocess.Popen[bytes]
    home: Path
    said: str = ""  # on both streams, once it has ended

    def processes(self) -> list[int]:
        """It, and the processes that it has started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def kept(self) -> str:
        """All that stands in its files."""
        files = (path for path in self.home.rglob("*") if path.is_file())
        return "\n".join(path.read_text("utf-8", "replace") for path in files)


@contextmanager
def started(home: Path, *arguments: str, **environment: str) -> Iterator[Started]:
    """A proxy until the block ends; what it said and wrote is whole then."""
    output = home / "output.txt"
    home.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "playground", "proxy", "--port", "0", *arguments]
    known = {**os.environ, "PLAYGROUND_HOME": str(home), **environment}
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, cwd=ROOT, env=known)
    until = time.monotonic() + WAIT
    while not (told := output.read_text("utf-8")).startswith("listening on "):
        assert process.poll() is None and time.monotonic() < until, told
        time.sleep(0.02)
    found = Started(told.split()[2], process, home)
    try:
        yield found
    finally:
        process.terminate()
        process.wait(WAIT)
        found.said = output.read_text("utf-8")
