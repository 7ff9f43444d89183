"""How the cost of every question and every importer grows with what it is given.

Run: python benchmarks/growth.py [NAME …]. Each question or import is timed for a size, its double
and its fourfold, in CPU seconds. The exponent is that of the last doubling: 1 is linear, and 2 is
linear in the text if each request carries all that came before it. An exponent above its bound is
marked, and the exit status is 1. Imports grow the examples of the tests: the longest list of a
document, or the lines of a file, is repeated.

The bound is for the time without Python's collector of cycles, as timeit measures, because a full
collection looks at all living objects and falls into one size or another by chance. Users pay for
collections all the same, so the largest size is also shown with the collector at work.
"""

from __future__ import annotations

import gc
import json
import math
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from generated import EIGHT, TOOL, large_session  # noqa: E402
from session_examples import EXAMPLES, socket_row  # noqa: E402

import playground as pg  # noqa: E402
from playground.base.errors import PlaygroundError  # noqa: E402
from playground.dialects.checking import check_session  # noqa: E402
from playground.questions.experiments import cross_read  # noqa: E402
from playground.recordings.decoding import StreamDecoder  # noqa: E402
from playground.recordings.recorder import HELD_BYTES  # noqa: E402
from playground.recordings.scrubbing import searcher  # noqa: E402
from playground.recordings.wire_scrubbing import WireScrubber  # noqa: E402
from playground.sessions.loading import load_sessions  # noqa: E402
from playground.sessions.tool_files import read_tool_file  # noqa: E402

LINEAR, SQUARE = 1.25, 2.2  # bounds of an exponent, with what a noisy machine adds
LEAST = 0.02  # seconds: below it, noise is all that is measured


@dataclass(frozen=True)
class Row:
    """A maker of an input of some size, and the question about it; only the question is timed."""

    name: str
    size: int
    make: Callable[[int], Any]
    ask: Callable[[Any], Any]
    bound: float = LINEAR


def messages(count: int) -> Any:
    return large_session(messages=count, size=count * 400)


def reply(size: int) -> str:
    call = '<tool_call>\n{"name": "write_file", "arguments": {"path": "a", "content": "b"}}\n'
    return (call + "</tool_call>\nAnd some prose about it. ") * (size // 100)


def bad_tools(count: int) -> bytes:
    """Return a long list of tools, the last of which is wrong; the reader has to find its line."""
    tools = [{"name": f"t{i}", "input_schema": {"type": "object"}} for i in range(count)]
    return json.dumps([*tools, {"name": 5}], indent=1).encode()


def rows() -> list[Row]:
    return [
        Row("render in 8 dialects", 250, messages, _rendered),
        Row("check", 250, messages, _checked),
        Row("difference", 125, messages, _difference),
        Row("payload", 250, messages, lambda s: pg.provider_payload(s, "xml")),
        Row("raw prompt", 250, messages, lambda s: pg.raw_prompt(s.prompt_data(), "llama3")),
        Row("place cache", 250, messages, lambda s: pg.place_cache(s, "xml")),
        Row("simulate cache", 125, messages, lambda s: pg.simulate_cache(s, dialect="xml"), SQUARE),
        Row("cache lint", 125, messages, _linted, SQUARE),
        Row("simulate a long session", 1_000, messages, lambda s: pg.simulate_cache(s)),
        Row("compaction", 250, messages, lambda s: pg.compaction(s)),
        Row("detect", 10_000, reply, lambda text: pg.detect(text, [TOOL])),
        Row("parse", 100_000, reply, lambda text: pg.parse(text, "hermes", [TOOL])),
        Row("every dialect", 10_000, recording, cross_read),
        Row("replay", 50_000, recording, lambda found: pg.replay(found, "hermes")),
        Row("scrub prose", 20_000, lambda size: said("plain words, " * (size // 13)), _scrubbed),
        Row("scrub a key", 20_000, lambda size: said("eyJ" + "aB3" * (size // 3)), _scrubbed),
        Row("a bad tool at the end", 2_000, bad_tools, _refused),
        *imports(),
    ]


def _rendered(session: Any) -> None:
    for name in EIGHT:
        pg.get_dialect(name).render(session.prompt_data())


def _checked(session: Any) -> None:
    check_session(pg.get_dialect("xml"), session.prompt_data())


def _difference(session: Any) -> None:
    pg.compare(session, ["xml", "hermes"]).diff("xml", "hermes")


def _linted(session: Any) -> None:
    _ = pg.simulate_cache(session, dialect="xml").findings


def recording(size: int) -> Any:
    """Return the recording of a reply as OpenAI streams it, with eight characters in each chunk."""
    decoder = StreamDecoder()
    text = reply(size)
    for at in range(0, len(text), 8):
        delta = {"choices": [{"index": 0, "delta": {"content": text[at : at + 8]}}]}
        decoder.feed(f"data: {json.dumps(delta)}\n\n".encode(), at / 1e4)
    return decoder.finish("grown", "hermes")


def said(text: str) -> list[bytes]:
    """Return a text as the events of a stream, with four characters in each."""
    deltas = (
        {"choices": [{"delta": {"content": text[at : at + 4]}}]} for at in range(0, len(text), 4)
    )
    return [f"data: {json.dumps(delta)}\n\n".encode() for delta in deltas]


def _scrubbed(pieces: list[bytes]) -> None:
    """Scrub pieces as the recorder does, which waits for no more than 16 kB."""
    scrubber = WireScrubber(searcher())
    for piece in pieces:
        scrubber.feed(piece)
        if scrubber.end - scrubber.taken > HELD_BYTES:
            scrubber.give_up()
        scrubber.take(scrubber.ready)
    scrubber.finish()


def _refused(data: bytes) -> None:
    try:
        read_tool_file(data, "tools.json")
    except PlaygroundError:
        return
    raise AssertionError("a tool without a name was read")


def imports() -> Iterator[Row]:
    """Yield the import of every example that is one file, and of two kinds of files that the
    examples lack."""
    pieces = _document_maker("pieces.json", langsmith_pieces)
    yield Row("import langsmith's pieces", 500, pieces, partial(_import, "pieces"))
    socket = _document_maker("socket.json", lambda turns: [socket_row(turns)])
    yield Row("import a socket's requests", 200, socket, partial(_import, "socket"))
    for name, example in EXAMPLES.items():
        if isinstance(content := example.content, bytes):
            make = _file_maker(name, content)
            yield Row(f"import {name}", 500, make, partial(_import, name))


def langsmith_pieces(count: int) -> Any:
    """Return LangSmith's runs without ids, in two pieces each (begin and end) that only their place
    in the trace joins."""
    run = {"run_type": "llm", "inputs": {"messages": [{"role": "user", "content": "hi"}]}}
    ended = {"outputs": {"messages": [{"role": "assistant", "content": "ho"}]}}
    orders = [{"dotted_order": f"t{number}"} for number in range(count)]
    return {"post": [run | order for order in orders], "patch": [ended | order for order in orders]}


def _document_maker(name: str, make: Callable[[int], Any]) -> Callable[[int], Path]:
    def made(size: int) -> Path:
        path = FOLDER / name
        path.write_text(json.dumps(make(size)))
        return path

    return made


def _file_maker(name: str, content: bytes) -> Callable[[int], Path]:
    def make(times: int) -> Path:
        path = FOLDER / name.replace("/", "-")
        path.write_bytes(grown(content, times))
        return path

    return make


def _import(name: str, path: Path) -> None:
    try:
        deque(load_sessions(path), maxlen=0)
    except PlaygroundError as fault:  # what is repeated may be no session any more
        refused[name] = str(fault)[:90]


FOLDER = Path(tempfile.mkdtemp(prefix="growth-"))
refused: dict[str, str] = {}


def grown(content: bytes, times: int) -> bytes:
    """Return a document with its longest list repeated, or a file with all lines after the first
    repeated."""
    try:
        value = json.loads(content)
    except ValueError:
        lines = content.splitlines(keepends=True)
        return b"".join([*lines[:1], *(lines[1:] * times)])
    longest = max(_lists(value), key=lambda found: len(json.dumps(found)), default=[])
    longest *= times
    return json.dumps(value).encode()


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    inner = value.values() if isinstance(value, dict) else value
    for item in inner if isinstance(value, dict | list) else ():
        yield from _lists(item)


def measured(row: Row, size: int, collector: bool, tries: int = 2) -> float:
    """Return CPU seconds, the best of some, with Python's collector of cycles at work or without
    it."""
    best = math.inf
    for _ in range(tries):
        given = row.make(size)
        gc.collect()
        if not collector:
            gc.disable()
        start = time.process_time()
        row.ask(given)
        best = min(best, time.process_time() - start)
        gc.enable()
    return best


def grown_size(row: Row) -> tuple[int, list[float]]:
    """Return a size, and the times for it, its double and its fourfold, without the collector. The
    last time is long enough to be measured, unless the size would have to grow too far."""
    size = row.size
    while True:
        times = [measured(row, size * factor, collector=False) for factor in (1, 2, 4)]
        is_refused = row.name.removeprefix("import ") in refused
        if times[-1] >= LEAST or size >= row.size * 64 or is_refused:
            return size, times
        size *= 4


def exponent(half: float, whole: float) -> float:
    return math.log2(whole / half) if half else 0.0


def main() -> int:
    worst = 0
    for row in rows():
        if sys.argv[1:] and not any(word in row.name for word in sys.argv[1:]):
            continue
        size, times = grown_size(row)
        found = exponent(*times[1:])
        if found > row.bound:  # a neighbour on the machine makes one size look dear, not six times
            times = [measured(row, size * factor, False, tries=6) for factor in (1, 2, 4)]
            found = exponent(*times[1:])
        collecting = [measured(row, size * factor, collector=True) for factor in (2, 4)]
        mark = "" if found <= row.bound or times[-1] < LEAST else "  GROWS TOO FAST"
        worst = max(worst, int(bool(mark)))
        shown = " ".join(f"{seconds:8.3f}" for seconds in times)
        print(
            f"{row.name:34} {size:>8} x1 x2 x4: {shown} s  exponent {found:5.2f};"
            f" collecting {collecting[1]:8.3f} s {exponent(*collecting):5.2f}{mark}",
            flush=True,
        )
    for name, why in refused.items():
        print(f"refused: {name}: {why}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
