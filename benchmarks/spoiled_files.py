"""Spoiled files of every format through the importers: read with a finding, or refused in words.

Run: python benchmarks/spoiled_files.py [FOLDER…] [--seconds N] [--seed N]. The files are the tests'
examples and those of the folders; each is cut anywhere, has bytes or JSON values replaced, lines
swapped, or parts of another file or messages in its place, under its own name and with its format
recognised or given. The last resort, which turns any error that no reader foresaw into a refusal,
is switched off: such an error is a fault here. Other faults are a file that is cut inside a JSON
value and read without a finding about it, one with messages of which none is kept, and one that
takes too long.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from session_examples import ANTHROPIC, EXAMPLES, GEMINI, OPENAI  # noqa: E402
from test_importing import spoiled  # noqa: E402

from playground.base.errors import InputFault  # noqa: E402
from playground.sessions import last_resort  # noqa: E402
from playground.sessions.loading import LoadedSession, read_sessions  # noqa: E402
from playground.sessions.source import Source  # noqa: E402

NOISE = (b"", b"\x00", b"\xff", b'"', b"{", b"}]", b"\n", b"\\ud83d", b"1e400", b"null")
LARGEST = 300_000  # bytes of a file that is spoiled
SLOWEST = 5.0  # seconds of CPU
Spoil = Callable[[bytes, random.Random], bytes]


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def noise(data: bytes, chance: random.Random) -> bytes:
    at, other = chance.randrange(len(data)), chance.choice(NOISE)
    return data[:at] + other + data[at + chance.choice([0, 1, len(other)]) :]


def values(data: bytes, chance: random.Random) -> bytes:
    """Return a document, or up to three lines of a file, with one value each replaced, taken away
    or put elsewhere."""
    try:
        return json.dumps(spoiled(json.loads(data), chance)).encode()
    except ValueError:
        pass
    lines = data.splitlines()
    for _ in range(3):
        at = chance.randrange(len(lines))
        try:
            lines[at] = json.dumps(spoiled(json.loads(lines[at]), chance)).encode()
        except ValueError:
            continue
    return b"\n".join(lines) + b"\n"


def swapped(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines[: chance.randrange(1, len(lines) + 1)])


def grafted(data: bytes, chance: random.Random) -> bytes:
    """Return a document, or a file, with one value replaced by messages, which may be inside other
    objects or lists."""
    lines = [data] if _read(data) is not None else data.splitlines()
    at = chance.randrange(len(lines))
    value = _read(lines[at])
    if value is None:
        return data
    said: Any = chance.choice([OPENAI, ANTHROPIC, GEMINI, SHAREGPT])
    for _ in range(chance.randrange(3)):
        name = chance.choice(["messages", "conversations", "items", "data", "0"])
        said = [said] if name == "0" else {name: said}
    lines[at] = json.dumps(_with(value, said, chance)).encode()
    return b"\n".join(lines) + b"\n"


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _with(value: Any, said: Any, chance: random.Random) -> Any:
    """Return a value with `said` in place of itself or of a value inside it."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.2:
        return said
    if isinstance(value, list):
        return [*value[:-1], _with(value[-1], said, chance)]
    key = chance.choice(list(value))
    return {**value, key: _with(value[key], said, chance)}


SHAREGPT = [{"from": "human", "value": "Weather in Oslo?"}, {"from": "gpt", "value": "It is 3 °C."}]
WAYS: dict[str, Spoil] = {
    "cut": cut,
    "noise": noise,
    "values": values,
    "lines": swapped,
    "grafted": grafted,
}


def fault_of(name: str, data: bytes, form: str | None, way: str) -> tuple[str, str]:
    """Return what became of a spoiled file (read, told or refused), and what is wrong with that."""
    began = time.process_time()
    try:
        loaded = list(read_sessions(Source(name, data), form))
    except InputFault as fault:
        return "refused", "several lines" if "\n" in str(fault) else ""
    except Exception:
        return "fell", traceback.format_exc(limit=-3)
    took = time.process_time() - began
    told = any(each.findings for each in loaded)
    if took > SLOWEST:
        return "slow", f"{took:.1f} s"
    if way == "cut" and not told and _is_torn(name, data) and not _broken_off(loaded):
        return "silent", f"cut at {len(data)}, and no finding"
    if way == "grafted" and not told and not any(_is_something(each) for each in loaded):
        return "silent", "messages were put in, nothing is kept, and no finding"
    return "told" if told else "read", ""


def _is_torn(name: str, data: bytes) -> bool:
    """Return True if a file of JSON, or of lines of it, ends inside a value."""
    text = data.rstrip()
    if name.endswith(("md", "history", "yaml", "sse")) or text[:1] not in (b"{", b"["):
        return False
    for part in (text, text.rpartition(b"\n")[2]):
        try:
            json.loads(part)
        except ValueError:
            continue
        return False
    return True


def _is_something(loaded: LoadedSession) -> bool:
    session = loaded.session
    return bool(session.messages or session.recordings or session.rows)


def _broken_off(loaded: list[LoadedSession]) -> bool:
    """Return True if a recording says by itself that it has no end."""
    return any(not r.stop_reason for each in loaded for r in each.session.recordings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    last_resort.UNEXPECTED_ERRORS = ()
    files = [
        (each.name, each.content, form)
        for form, each in EXAMPLES.items()
        if isinstance(each.content, bytes)
    ]
    found = [path for folder in options.folders for path in folder.rglob("*") if path.is_file()]
    for path in sorted(path for path in found if 0 < path.stat().st_size < LARGEST):
        files.append((path.name, path.read_bytes(), ""))
    chance, counts, shown = random.Random(options.seed), Counter[str](), set[str]()
    began = time.monotonic()
    while time.monotonic() - began < options.seconds:
        name, data, form = chance.choice(files)
        way = chance.choice(list(WAYS))
        other = WAYS[way](data, chance)
        given = form if form and chance.random() < 0.3 else None
        state, fault = fault_of(name, other, given, way)
        counts[state] += 1
        if fault and (last := fault.strip().splitlines()[-1]) not in shown:
            shown.add(last)
            print(f"{state}: {name} ({form or '-'}, {way}, {len(other)} bytes)\n{fault}\n")
    told = ", ".join(f"{state} {count:,}" for state, count in counts.most_common())
    print(f"{counts.total():,} spoiled files of {len(files)}, seed {options.seed}: {told}")
    return int(bool(shown))


if __name__ == "__main__":
    sys.exit(main())
