"""Compare the CPU time of what people wait for in another tree and in this one, by turns.

Run: python benchmarks/waits.py OTHER_TREE [ROW …] [--rounds N]
Each row runs in a fresh process of either tree in turn; the least of all rounds counts. The peer of
a row does the work with a library that people know, in this tree's process.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORDS = "a tide table of the north sea, with the hours of high water. "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("rows", nargs="*", help="words that a row's name holds")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    print(f"{'row':44} {'other':>9} {'here':>9}  ratio   peer, or first time: here")
    for name in ROWS:
        if options.rows and not any(word in name for word in options.rows):
            continue
        least: dict[Path, list[float]] = {}
        for number in range(options.rounds):
            for tree in (options.other.resolve(), ROOT)[:: 1 if number % 2 else -1]:
                told = _run(tree, name)
                least[tree] = list(map(min, told, least.get(tree, told)))
        (other, _), (here, peer) = least[options.other.resolve()], least[ROOT]
        beside = f"{peer * 1e3:9.1f} ms: {here / peer:.2f}" if peer else ""
        print(
            f"{name:44} {other * 1e3:9.1f} {here * 1e3:9.1f}  {here / other:5.2f} {beside}",
            flush=True,
        )


def _run(tree: Path, name: str) -> list[float]:
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, __file__, "--worker", name]
    told = subprocess.run(command, env=env, cwd=tree, stdout=subprocess.PIPE, text=True, check=True)
    return list(map(float, told.stdout.split()[-2:]))


def timed(work: Callable[[], Any], times: int = 1) -> float:
    least = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least


def transcript(messages: int, tools: int) -> dict[str, Any]:
    """Return a request of an agent: a question, and calls with their results."""
    found: list[dict[str, Any]] = [{"role": "user", "content": WORDS}]
    for n in range(messages // 2):
        function = {"name": f"tool_{n % tools}", "arguments": json.dumps({"path": f"/{n}"})}
        calls = [{"id": f"c{n}", "type": "function", "function": function}]
        found.append({"role": "assistant", "content": f"Step {n}.", "tool_calls": calls})
        found.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"{n} {WORDS * 24}"})
    return {"model": "gpt-4o", "messages": found, "tools": _tools(tools)}


def _tools(count: int) -> list[dict[str, Any]]:
    properties = {
        name: {"type": kind, "description": WORDS}
        for name, kind in (("path", "string"), ("limit", "integer"), ("deep", "boolean"))
    }
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    functions = (
        {"name": f"tool_{n}", "description": WORDS, "parameters": schema} for n in range(count)
    )
    return [{"type": "function", "function": function} for function in functions]


def diff() -> tuple[float, float]:
    import playground as pg

    first = transcript(6_600, 20)
    second = json.loads(json.dumps(first))
    second["messages"][3_000]["content"] += " more"
    pg.diff(transcript(4, 1), transcript(6, 1))
    return timed(lambda: pg.diff(first, second).headline), 0.0


def again(messages: int, tools: int) -> tuple[float, float]:
    import playground as pg

    given = transcript(messages, tools)
    session = pg.session(messages=given["messages"], tools=given["tools"])
    small = pg.session(messages=given["messages"][:3], tools=given["tools"][:1])
    dialects = [pg.get_dialect(name) for name in pg.dialect_names()]
    data = session.prompt_data()

    def write(data: Any) -> None:
        for dialect in dialects:
            dialect.format_messages(data)

    write(small.prompt_data())
    first = timed(lambda: write(data))
    return timed(lambda: write(data), 2), first


def beside_jinja() -> tuple[float, float]:
    from jinja2 import Template

    import playground as pg

    given = transcript(10, 300)
    template = Template(
        "{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}"
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
        "{% for c in m.tool_calls %}<tool_call>\n{{ c.function | tojson }}\n</tool_call>"
        "{% endfor %}<|im_end|>\n{% endfor %}"
    )
    template.environment.policies["json.dumps_function"] = lambda value, **_: json.dumps(value)
    dialect = pg.get_dialect("hermes")
    dialect.format_messages(pg.session(messages=given["messages"][:3]).prompt_data())

    def ours() -> float:
        data = pg.session(messages=given["messages"], tools=given["tools"]).prompt_data()
        return timed(lambda: dialect.format_messages(data))

    return min(ours() for _ in range(7)), timed(lambda: template.render(**given), 7)


def command(*words: str, given: str = "") -> tuple[float, float]:
    """Return the CPU seconds of a command in a process of its own, and those of a Python that does
    nothing."""
    took = []
    for arguments in (["-m", "playground", *words], ["-c", "pass"]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments],
            check=False,
            input=given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return took[0], took[1]


def whole(size: int) -> tuple[float, float]:
    import playground as pg

    body = json.dumps({"name": "write", "arguments": {"text": (WORDS + "\n") * (size // 60)}})
    reply = f"<tool_call>\n{body}\n</tool_call>"
    tools = [{"name": "write", "input_schema": {"type": "object"}}]
    ours = timed(lambda: pg.parse(reply, dialect="hermes", tools=tools), 9)
    return ours, timed(lambda: json.loads(body), 50)


def jsonl(megabytes: int) -> tuple[float, float]:
    import pydantic_core

    import playground as pg

    line = json.dumps(transcript(10, 4)) + "\n"
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(line * 2)
        file.flush()
        read: Callable[[Any], Any] = partial(
            deque, maxlen=0
        )  # all sessions: `load_session` reads the first alone
        read(pg.load_sessions(file.name))
        file.write(line * (megabytes * 1_000_000 // len(line)))
        file.flush()

        def peer() -> None:
            with Path(file.name).open("rb") as lines:
                for each in lines:
                    pydantic_core.from_json(each)

        return timed(lambda: read(pg.load_sessions(file.name)), 2), timed(peer, 2)


def sse(megabytes: int) -> tuple[float, float]:
    """Return the bytes of memory that loading a recording takes for each byte of its file, in the
    place of seconds."""
    import playground as pg

    delta = {"choices": [{"index": 0, "delta": {"content": "high water "}}], "id": "x" * 30}
    frame = f"data: {json.dumps(delta)}\n\n"
    with tempfile.NamedTemporaryFile("w", suffix=".sse") as file:
        file.write(frame * 10)
        file.flush()
        pg.load_recording(file.name)
        for _ in range(megabytes):  # not at once: that memory would be used again, unseen
            file.write(frame * (1_000_000 // len(frame)))
        file.flush()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        recording = pg.load_recording(file.name)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert recording.chunks
        return (after - before) * 1024 / Path(file.name).stat().st_size, 1.0


def recorder(frames: int) -> tuple[float, float]:
    """Time the search for secrets in the frames of a reply, as they pass the proxy's recorder."""
    from playground.recordings.scrubbing import searcher
    from playground.recordings.wire_scrubbing import WireScrubber

    pieces = [
        f'event: content_block_delta\ndata: {{"type": "content_block_delta", "index": 0, '
        f'"delta": {{"type": "text_delta", "text": "word {n} "}}}}\n\n'.encode()
        for n in range(frames)
    ]

    def work() -> None:
        scrubber = WireScrubber(searcher())
        for piece in pieces:
            scrubber.feed(piece)

    return timed(work, 3), 0.0


def compaction(requests: int) -> tuple[float, float]:
    """Time every policy of a shorter history, and every policy of the cache over the same
    session."""
    from simulation_speed import _matrix, _policies

    import playground as pg

    session = pg.session(**_session_of(2 * requests, 20))
    pg.compaction(pg.session(**_session_of(8, 2)))
    peer = timed(lambda: _matrix()(session, ["native"], policies=_policies()))
    return timed(lambda: pg.compaction(session)), peer


def _session_of(messages: int, tools: int) -> dict[str, Any]:
    given = transcript(messages, tools)
    return {"messages": given["messages"], "tools": given["tools"], "model": "claude-sonnet-4-5"}


def simulate(messages: int) -> tuple[float, float]:
    """Time the simulation of a session, and of one of half its length: a ratio of 2 is linear."""
    import playground as pg

    whole, half = (pg.session(**_session_of(size, 20)) for size in (messages, messages // 2))
    peer = timed(lambda: pg.simulate_cache(half))
    return timed(lambda: pg.simulate_cache(whole)), peer


def hostile(unit: str) -> tuple[float, float]:
    """Time the detection of 80 kB of one marker's beginning, after a first detection."""
    import playground as pg

    pg.detect(LINE)
    return timed(lambda: pg.detect(unit * (80_000 // len(unit)))), 0.0


def text_fed() -> tuple[float, float]:
    """Time the feeding of four-character chunks as text, and of the same chunks as bytes."""
    import playground as pg

    text = f'Look. <tool_call>\n{{"name": "w", "arguments": {{"text": "{WORDS * 9_000}"}}}}'
    chunks = [text[at : at + 4] for at in range(0, len(text), 4)]
    pieces = [chunk.encode() for chunk in chunks]

    def feed(name: str, given: list[Any]) -> float:
        parser = pg.get_dialect("hermes").create_parser(pg.session(messages=[]).prompt_data())
        method = getattr(parser, name)
        return timed(lambda: deque(map(method, given), maxlen=0))

    both = [(feed("feed_text", chunks), feed("feed", pieces)) for _ in range(5)]
    return min(ours for ours, _ in both), min(peer for _, peer in both)


LINE = 'I look it up. <tool_call>\n{"name": "find", "arguments": {"place": "Husum"}}\n</tool_call>'
SAMPLES = ROOT / "sample_sessions"
ROWS: dict[str, Callable[[], tuple[float, float]]] = {
    "diff of two requests of 10 MB": diff,
    "all dialects again, 10 messages x 300 tools": lambda: again(10, 300),
    "all dialects again, 3,000 messages x 5 tools": lambda: again(3_000, 5),
    "compare 02": lambda: command("compare", str(SAMPLES / "02-parallel-calls.json")),
    "carry": lambda: command("carry"),
    "detect a line": lambda: command("detect", "-", given=LINE),
    "10 messages x 300 tools, beside jinja": beside_jinja,
    "a call of 100 kB, beside json.loads": lambda: whole(100_000),
    "OpenAI jsonl of 20 MB, beside pydantic_core": lambda: jsonl(20),
    "SSE of 10 MB, memory in bytes a byte x 1000": lambda: sse(10),
    "secrets of 1,000 frames": lambda: recorder(1_000),
    "compaction of 500 requests, beside all policies": lambda: compaction(500),
    "compaction of 1,000 requests, beside all policies": lambda: compaction(1_000),
    "simulation of 4,000 messages, beside 2,000": lambda: simulate(4_000),
    "simulation of 8,000 messages, beside 4,000": lambda: simulate(8_000),
    "detect 80 kB of <": lambda: hostile("<"),
    "detect 80 kB of fences": lambda: hostile("```\n"),
    "detect 80 kB of openers": lambda: hostile("<tool_call>\n"),
    "1 MB fed as text, beside bytes": text_fed,
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sys.path.insert(0, os.environ["PYTHONPATH"])
        with contextlib.redirect_stdout(io.StringIO()):
            result = ROWS[sys.argv[2]]()
        print(*result)
    else:
        main()
