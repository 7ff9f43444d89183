"""What the proxy adds in time, what it records, and how right it is: against a direct connection.

    python benchmarks/proxy.py [--long | --processor]

Everything runs on loopback, in one run: the same requests go directly and through the proxy, by
turns, so that other work of the machine slows both. `--long` adds two hundred streams at once for a
minute. `--processor` measures the CPU time for a reply of 1,000 frames, beside a forwarder made of
starlette and httpx.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import uvicorn

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from rule_provider import provided  # noqa: E402
from scripted_session import steps  # noqa: E402

from playground.plugins.proxy.addresses import Upstreams  # noqa: E402
from playground.plugins.proxy.json_layout import dump_in_layout  # noqa: E402
from playground.plugins.proxy.serving import ProxySettings, running  # noqa: E402
from playground.plugins.proxy.upstream import read_upstream  # noqa: E402

_FRAMES: Final = 40
started: list[int] = []  # processes of `serving`
_TURNS: Final = 150
_FRAME: Final = {"type": "content_block_delta", "index": 0}


async def provider(scope: Any, receive: Any, send: Any) -> None:
    """Stream `x-count` frames, `x-gap` seconds apart, each with the time at which it is sent."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    asked = dict(scope["headers"])
    gap, count = float(asked.get(b"x-gap", b"0.002")), int(asked.get(b"x-count", b"40"))
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for number in range(count):
        delta = {"type": "text_delta", "text": f"word {number} "}
        frame = {**_FRAME, "delta": delta, "sent": time.perf_counter()}
        data = f"event: content_block_delta\ndata: {json.dumps(frame)}\n\n".encode()
        await send({"type": "http.response.body", "body": data, "more_body": True})
        await asyncio.sleep(gap)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


@asynccontextmanager
async def serving(*how: str) -> AsyncIterator[str]:
    """Run the provider in a process of its own, so that its work does not count as the proxy's;
    yield its address."""
    command = [sys.executable, __file__, *(how or ("--provide",))]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    started.append(process.pid)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def proxying(upstream: str, home: Path, *more: str) -> AsyncIterator[tuple[str, int, Path]]:
    """Run `playground proxy` in a process of its own; yield its address, its process id, and the
    folder of its recordings."""
    command = [sys.executable, "-m", "playground", "proxy", "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        *command,
        "--upstream",
        upstream,
        *more,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PLAYGROUND_HOME": str(home)},
    )
    assert process.stderr is not None
    told = (await process.stderr.readline()).decode()
    try:
        yield told.split()[2], process.pid, Path(told.rpartition(" in ")[2].strip())
    finally:
        process.terminate()
        await process.communicate()


def serve(app: Any) -> None:
    config = uvicorn.Config(
        app, port=0, log_config=None, log_level=100, lifespan="off", timeout_keep_alive=90
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        task = asyncio.ensure_future(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        print(f"http://127.0.0.1:{port}", flush=True)
        await task

    asyncio.run(run())


def body(kilobytes: int) -> bytes:
    """Return a request of about this size, as Anthropic's SDK writes it."""
    text = "The harbour master reads the tide table. " * (kilobytes * 25)
    message = {"role": "user", "content": text}
    given = {"model": "claude-sonnet-4-6", "max_tokens": 9, "stream": True, "messages": [message]}
    return dump_in_layout(given, "compact")


async def one(
    client: httpx.AsyncClient, url: str, data: bytes, gap: float = 0.002, count: int = _FRAMES
) -> tuple[float, list[float], bytes]:
    """Send one request. Return the milliseconds to the first byte, those that each frame took on
    its way, and all bytes of the answer."""
    headers = {"x-gap": str(gap), "x-count": str(count), "content-type": "application/json"}
    began, first = time.perf_counter(), 0.0
    ways: list[float] = []
    got = rest = b""
    async with client.stream("POST", f"{url}/v1/messages", content=data, headers=headers) as answer:
        async for piece in answer.aiter_raw():
            now = time.perf_counter()
            first = first or (now - began) * 1000
            got += piece
            *lines, rest = (rest + piece).split(b"\n")  # a piece may end inside of a frame
            for line in lines:
                if line.startswith(b"data: {"):
                    ways.append((now - json.loads(line[6:])["sent"]) * 1000)
    return first, ways, got


def forward(upstream: str) -> None:
    """Pass requests on with starlette and httpx, as a peer that records nothing."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    client = httpx.AsyncClient(timeout=60)

    async def passed(request: Request) -> StreamingResponse:
        headers = {k: v for k, v in request.headers.items() if k.startswith(("x-", "content-type"))}
        url, data = f"{upstream}{request.url.path}", await request.body()
        sent = client.build_request(request.method, url, content=data, headers=headers)
        answer = await client.send(sent, stream=True)
        return StreamingResponse(answer.aiter_raw(), answer.status_code, dict(answer.headers))

    serve(Starlette(routes=[Route("/{path:path}", passed, methods=["POST"])]))


def processor(pid: int) -> float:
    """Return the CPU milliseconds that a process and its children have had."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    stats = (Path(f"/proc/{each}/stat").read_text() for each in (pid, *children))
    ticks = sum(sum(map(int, stat.rpartition(")")[2].split()[11:13])) for stat in stats)
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


async def beside_starlette(rounds: int = 40, count: int = 1_000) -> None:
    home, data = Path(tempfile.mkdtemp()), body(4)
    async with (
        serving() as direct,
        proxying(direct, home) as (ours, own_pid, _),
        serving("--forward", direct) as peer,
        httpx.AsyncClient(timeout=60) as client,
    ):
        pids = {ours: own_pid, peer: started[-1]}
        for url, pid in pids.items():
            await one(client, url, data, 0.0, count)
            before = processor(pid)
            for _ in range(rounds):
                await one(client, url, data, 0.0, count)
            await asyncio.sleep(2)  # the recorder reads behind
            print(
                f"{(processor(pid) - before) / rounds:8.1f} ms {'ours' if url == ours else 'peer'}"
            )


def points(values: list[float]) -> tuple[float, float]:
    """Return the p50 and the p99 of values."""
    cuts = statistics.quantiles(values, n=100)
    return cuts[49], cuts[98]


async def latency(direct: str, through: str, kilobytes: int) -> dict[str, Any]:
    """Measure the same requests without and with the proxy, by turns."""
    data = body(kilobytes)
    firsts: dict[str, list[float]] = {"direct": [], "proxy": []}
    ways: dict[str, list[float]] = {"direct": [], "proxy": []}
    async with httpx.AsyncClient(timeout=60) as client:
        for _ in range(5):
            await one(client, direct, data)
            await one(client, through, data)
        for _ in range(_TURNS):
            for name, url in (("direct", direct), ("proxy", through)):
                first, way, _ = await one(client, url, data)
                firsts[name].append(first)
                ways[name] += way
    found: dict[str, Any] = {"kilobytes": kilobytes, "requests": _TURNS}
    for name, values in (("first byte", firsts), ("every byte", ways)):
        plain, passed = points(values["direct"]), points(values["proxy"])
        for cut, before, after in zip(("p50", "p99"), plain, passed, strict=True):
            found[f"{name} {cut}"] = [round(n, 2) for n in (before, after, after - before)]
    return found


async def crowd(url: str, streams: int, seconds: float) -> dict[str, Any]:
    """Keep so many streams open at once for so long: each begins anew when it is over. Return what
    became of them."""
    until = time.monotonic() + seconds
    data, counts, firsts = body(20), Counter[str](), list[float]()
    expected = 50

    async def again(client: httpx.AsyncClient) -> None:
        while time.monotonic() < until:
            try:
                first, ways, _ = await one(client, url, data, gap=0.1, count=expected)
            except httpx.HTTPError as error:
                counts[f"{type(error).__name__} ({error.__cause__ or error})"] += 1
                continue
            firsts.append(first)
            counts["whole" if len(ways) == expected else "broken"] += 1

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:
        await asyncio.gather(*(again(client) for _ in range(streams)))
    p50, p99 = points(firsts)
    return {"streams": streams, "seconds": seconds, **counts, "first p50": p50, "first p99": p99}


def memory(pid: int) -> list[int]:
    """Return the megabytes that the forwarding process holds, and those of its children (the one
    that records)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = [Path(f"/proc/{each}/status").read_text() for each in (pid, *children)]
    return [int(status.partition("VmRSS:")[2].split()[0]) // 1024 for status in found]


def recorded(out: Path, sent: bytes, got: list[bytes]) -> tuple[int, int]:
    """Return the number of recordings whose request and answer are the very bytes that passed, and
    the number of all."""
    same = 0
    files = sorted(out.glob("0*.jsonl"))
    answers = Counter(got)
    for file in files:
        lines = [json.loads(line) for line in file.read_text().split("\n") if line]
        request = next(line for line in lines if "request" in line)
        answer = "".join(line.get("raw", "") for line in lines).encode()
        whole = dump_in_layout(request["request"], request["written"]) == sent
        same += whole and answers[answer] > 0
    return same, len(files)


def predictions() -> dict[str, Any]:
    """Run the script of sixty requests; return what was predicted beside what was billed, by
    cause."""
    rows: dict[int, dict[str, Any]] = {}

    def tell(line: dict[str, Any]) -> None:
        if "exchange" in line:
            rows.setdefault(line["exchange"], {}).update(line)

    script = list(steps())
    with provided() as server:
        clock = server.provider
        settings = ProxySettings(
            Upstreams(read_upstream(server.url)), tell, clock=lambda: 1.7e9 + clock.now
        )
        with running(settings) as proxy, httpx.Client() as client:
            for step in script:
                clock.now += step.wait
                client.post(f"{proxy.url}/v1/messages", json=step.body).raise_for_status()
    causes: dict[str, list[int]] = {}
    exact = total = right = 0
    before = 0
    for step, (_, row) in zip(script, sorted(rows.items()), strict=True):
        expected, billed = row["expected"], row["billed"]
        exact += expected["read"] == billed["read"]
        right += expected["cause"] == step.cause
        total += 1
        if step.cause:
            lost = before - billed["read"]
            own = causes.setdefault(step.cause, [0, 0, 0, 0])
            own[0] += 1
            own[1] += expected["cause"] == step.cause
            own[2] += expected["lost"]
            own[3] += lost
        before = billed["read"] + billed["written"]
    return {"requests": total, "cause right": right, "read exact": exact, "by cause": causes}


def _tell(how: str, found: dict[str, Any]) -> None:
    print(f"\nrequests of {found['kilobytes']} kB{how}: direct, through the proxy, added (ms)")
    for name, value in found.items():
        if isinstance(value, list):
            print(f"  {name:16} {value[0]:8.2f} {value[1]:8.2f} {value[2]:8.2f}")


async def measure(long: bool) -> None:
    home = Path(tempfile.mkdtemp())
    async with serving() as direct:
        async with proxying(direct, home) as (url, _, _):
            for kilobytes in (4, 200):
                _tell("", await latency(direct, url, kilobytes))
        async with proxying(direct, home / "block", "--block", "cache-break") as (url, _, _):
            _tell(", with --block", await latency(direct, url, 4))
        got = []
        async with (
            proxying(direct, home / "same") as (url, _, out),
            httpx.AsyncClient(timeout=60) as client,
        ):
            for _ in range(50):
                got.append((await one(client, url, body(4)))[2])
        same, count = recorded(out, body(4), got)
        print(f"\nrecordings equal to the bytes that passed: {same} of {count}")
        if long:
            async with proxying(direct, home / "crowd") as (url, pid, out):
                await crowd(url, 200, 5)
                before = memory(pid)
                print("\n200 streams for a minute:", await crowd(url, 200, 60))
                print(f"  MB of the two processes: {before} after 5 s, {memory(pid)} after 65 s")
            ended = sum('{"end"' in file.read_text() for file in out.glob("0*.jsonl"))
            print(f"  recordings with their end: {ended}")
    found = predictions()
    print(f"\npredicted: {found['cause right']} of {found['requests']} causes right, ", end="")
    print(f"{found['read exact']} of {found['requests']} reads exact to the token")
    print(f"  {'cause':18} {'breaks':>6} {'told':>5} {'tokens lost: told':>18} {'billed':>8}")
    for cause, (breaks, told, lost, billed) in sorted(found["by cause"].items()):
        print(f"  {cause:18} {breaks:6} {told:5} {lost:18,} {billed:8,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--provide", action="store_true", help="what the run starts for itself")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--forward", help="likewise: a peer that forwards to this address")
    given = parser.parse_args()
    if given.provide:
        serve(provider)
    elif given.forward:
        forward(given.forward)
    elif given.processor:
        asyncio.run(beside_starlette())
    else:
        asyncio.run(measure(given.long))
