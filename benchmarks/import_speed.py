"""What reading every format costs, in another tree and in this one, by turns.

Run: python benchmarks/import_speed.py OTHER_TREE [FOLDER_OF_SESSIONS …] [--rounds N]
The files are those of the folders, and the tests' examples with their lines, or the longest list
of a document, repeated with other ids. A process of each tree reads each file, one right after the
other, and the order changes with each round, so that both meet the same load of the machine. What
counts is CPU time, the least of all rounds, without Python's collector of cycles.
A ratio above 1.05 is marked, and the exit status is 1. Files that the trees read as different
formats, or with different counts of messages, calls, results, tools or requests, are rows of their
own: one of them reads what the other one leaves out.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEAST = 0.03  # seconds that a file is read for, over and over
COPIES = 400
OTHERWISE = "(not the same format)"
FEWER = "(not the same counts)"
MARKED = 1.05


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="files that are read as this format")
    options = parser.parse_args()
    files = [path for folder in options.folders for path in _files(folder)]
    with tempfile.TemporaryDirectory(prefix="import-speed-") as folder:
        files += grown_examples(Path(folder))
        forms, least = in_turns(options.other.resolve(), files, options.rounds, options.only)
    return _print(forms, least)


def _files(folder: Path) -> Iterator[Path]:
    yield from [folder] if folder.is_file() else sorted(p for p in folder.rglob("*") if p.is_file())


# Of a file: its format, the counts of what was read, and the CPU seconds of one reading.
Reading = tuple[str, list[int], float]


def in_turns(
    other: Path, files: list[Path], rounds: int, only: str
) -> tuple[dict[str, str], dict[Path, dict[str, float]]]:
    """Return the format of each file, and for either tree the least time that a reading of the file
    took."""
    trees = {tree: _process(tree) for tree in (other, ROOT)}
    least: dict[Path, dict[str, float]] = {tree: {} for tree in trees}
    forms: dict[str, str] = {}
    for name in map(str, files):
        counts: list[list[int]] = []
        for number in range(rounds):
            for tree in list(trees)[:: 1 if number % 2 == 0 else -1]:
                if (found := _ask(trees[tree], name)) is None:
                    continue  # refused
                form, count, seconds = found
                if forms.setdefault(name, form) not in (form, FEWER):
                    forms[name] = OTHERWISE  # one tree did not know its format yet
                elif (counts := counts or [count]) != [count]:
                    forms[name] = FEWER
                least[tree][name] = min(seconds, least[tree].get(name, seconds))
            if only and forms.get(name) != only:
                break
    for worker in trees.values():
        worker.communicate()
    return forms, least


def _process(tree: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--worker"],
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(process: subprocess.Popen[str], name: str) -> Reading | None:
    assert process.stdin is not None and process.stdout is not None
    print(name, file=process.stdin, flush=True)
    found: Reading | None = json.loads(process.stdout.readline())
    return found


def _print(forms: dict[str, str], least: dict[Path, dict[str, float]]) -> int:
    """Print a row for each format: the number of files, the time of either tree, and the ratio.
    Return 1 if a ratio is marked."""
    other, here = least.values()
    by_form: defaultdict[str, list[str]] = defaultdict(list)
    for name in other.keys() & here.keys():
        by_form[forms[name]].append(name)
    slower = 0
    print(f"{'format':22} files    other     here  ratio  the slowest file")
    for form, names in sorted(by_form.items()):
        before, now = sum(other[n] for n in names), sum(here[n] for n in names)
        worst = max(names, key=lambda n: here[n] / other[n])
        mark = " !" if now / before > MARKED and form[0] != "(" else ""
        slower += bool(mark)
        told = f"{here[worst] / other[worst]:.2f} {'/'.join(Path(worst).parts[-2:])[-44:]}"
        print(
            f"{form:22} {len(names):>5} {before * 1e3:>8.2f} {now * 1e3:>8.2f}"
            f" {now / before:>6.2f}{mark:2} {told}"
        )
    all_of = sum(other[n] for ns in by_form.values() for n in ns)
    ours = sum(here[n] for ns in by_form.values() for n in ns)
    print(f"all: {all_of * 1e3:.1f} and {ours * 1e3:.1f} ms, ratio {ours / all_of:.2f};", end=" ")
    print(f"{slower} formats above {MARKED}; read here alone: {len(here.keys() - other.keys())}")
    return int(slower > 0)


# the files


def grown_examples(folder: Path) -> list[Path]:
    """Write every example of the tests that is one file, grown long; return the paths."""
    sys.path.insert(0, str(ROOT / "tests"))
    from session_examples import EXAMPLES

    paths = []
    for name, example in EXAMPLES.items():
        if isinstance(content := example.content, bytes) and content[:2] != b"PK":
            path = folder / f"{name}-{Path(example.name).name}"
            path.write_bytes(grown(content, COPIES))
            paths.append(path)
    return paths


def grown(content: bytes, times: int) -> bytes:
    """Return a document with its longest list repeated, or a file with the lines after its first
    repeated."""
    try:
        value = json.loads(content)
    except ValueError:
        return b"\n".join(_lines(content.splitlines(), times)) + b"\n"
    longest = max(_lists(value), key=lambda found: len(json.dumps(found)), default=[])
    longest[:] = [_again(item, number) for number in range(times) for item in longest]
    return json.dumps(value).encode()


def _lines(lines: list[bytes], times: int) -> Iterator[bytes]:
    yield from lines[:1]
    for number in range(times):
        for line in lines[1:]:
            try:
                yield json.dumps(_again(json.loads(line), number)).encode()
            except ValueError:
                yield line


def _again(value: Any, number: int, key: str = "") -> Any:
    """Return a copy in which every id is another one, except the sessions' ids."""
    if isinstance(value, dict):
        return {name: _again(held, number, name) for name, held in value.items()}
    if isinstance(value, list):
        return [_again(held, number, key) for held in value]
    is_id = isinstance(value, str) and (key in ("id", "uuid") or key.lower().endswith("id"))
    return f"{value}-{number}" if is_id and "session" not in key.lower() else value


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    inner = value.values() if isinstance(value, dict) else value
    for item in inner if isinstance(value, dict | list) else ():
        yield from _lists(item)


# in a process of one tree


def worker() -> None:
    """Read each file named on standard input, and print what that took; null if the file is
    refused."""
    sys.path.insert(0, os.environ["PYTHONPATH"])
    gc.disable()
    for line in sys.stdin:
        print(json.dumps(_reading(line.rstrip("\n"))), flush=True)
        gc.collect()


def _reading(name: str) -> Reading | None:
    from playground.errors import PlaygroundError  # a door that older trees have, too
    from playground.sessions.loading import load_sessions

    try:
        loaded = list(load_sessions(name))  # modules are loaded before the clock
    except (PlaygroundError, RecursionError):
        return None
    form, count = loaded[0].format, counts_of(loaded)
    del loaded
    least, spent = float("inf"), 0.0
    while spent < LEAST:
        start = time.process_time()
        for _ in load_sessions(name):
            pass
        took = time.process_time() - start
        least, spent = min(least, took), spent + took
    return form, count, least


def counts_of(loaded: list[Any]) -> list[int]:
    """Return how many messages, calls, results, tools and requests all sessions have."""
    sessions = [each.session for each in loaded]
    messages = [message for session in sessions for message in session.messages]
    calls = sum(len(message.tool_calls) for message in messages)
    results = sum(len(message.tool_results) for message in messages)
    tools = sum(len(session.tools) for session in sessions)
    return [len(messages), calls, results, tools, sum(len(each.requests) for each in sessions)]


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        worker()
    else:
        sys.exit(main())
