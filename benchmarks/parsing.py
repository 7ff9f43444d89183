"""How fast every dialect's parser is, how its time grows, and what it keeps in memory.

Run: python benchmarks/parsing.py [DIALECT …] [--peers]. Times are CPU seconds; the floor is
appending the same chunks to a list, in the same run. `live` gives the events of each chunk at once,
`batched` reads 1,024 chunks at a time (BatchedParser), as recordings are read. `--peers` reads the
same arguments with those of PyPI's libraries that are installed; `--dull` reads texts that are one
beginning of a marker after another, and says how the time grows. `--against TREE` reads arguments,
small calls and prose in another tree and in this one, by turns, in processes of their own. It
prints the ratio of the least CPU times for the dialects that both know; a ratio above 1.10 is
marked.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generated import TOOL

from playground.dialects import DeclaredDialect, dialect_names, get_dialect
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.parsing.batches import BatchedParser
from playground.parsing.parser import DialectParser

ROOT = Path(__file__).resolve().parent.parent
MARKED = 1.10
SIZES = (10_000, 100_000, 1_000_000)
PROMPT = PromptData(tool_metadata=[TOOL])


def cpu(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def call_of(dialect: DeclaredDialect, size: int) -> str:
    """Return a call with one text of `size` characters; it calls the dialect's own tool if there is
    one."""
    text = ("The tide is high, the berth is <free>.\n" * (size // 39 + 1))[:size]
    arguments = {"path": "a", "content": text}
    syntax = dialect.syntax
    if syntax.text_keys:
        arguments = syntax.sample_texts | {syntax.text_keys[-1]: text + "\n"}
    call = ToolCallPart("c", syntax.name or TOOL.name, arguments)
    return dialect.format_tool_call(call, [TOOL])


def cut(text: str, size: int) -> list[bytes]:
    data = text.encode()
    return [data[i : i + size] for i in range(0, len(data), size)]


def read(parser: DialectParser, chunks: list[bytes]) -> None:
    feed = parser.feed
    for chunk in chunks:
        feed(chunk)
    parser.finish()


def append(chunks: list[bytes]) -> None:
    kept: list[bytes] = []
    for chunk in chunks:
        kept.append(chunk)


def times(dialect: DeclaredDialect, chunks: list[bytes], batched: bool) -> tuple[float, float]:
    """Return the CPU seconds of reading and of the floor, each the best of three."""
    best = floor = math.inf
    for _ in range(3):
        parser: DialectParser = dialect.create_parser(PROMPT)
        parser = BatchedParser(parser) if batched else parser
        best = min(best, cpu(lambda parser=parser: read(parser, chunks)))  # type: ignore[misc]
        floor = min(floor, max(cpu(lambda: append(chunks)), 1e-6))
    return best, floor


def peak(dialect: DeclaredDialect, size: int) -> float:
    """Return the most memory that live reading takes beside its input, as a multiple of the
    argument's size. The events of a chunk are forgotten at the next chunk."""
    chunks = cut(call_of(dialect, size), 4)
    read(dialect.create_parser(PROMPT), cut(call_of(dialect, 40), 4))  # what is made once
    parser = dialect.create_parser(PROMPT)
    tracemalloc.start()
    read(parser, chunks)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / size


def rows(names: list[str]) -> None:
    head = "1 MB by 4: live  exponent  x floor | batched  exponent  x floor | by 64: x floor"
    print(f"{'dialect':18} {head} | 20 calls | peak/argument")
    for name in names:
        dialect = get_dialect(name)
        if not isinstance(dialect, DeclaredDialect):
            continue
        texts = [call_of(dialect, size) for size in SIZES]
        columns = []
        for batched in (False, True):
            took = [times(dialect, cut(text, 4), batched) for text in texts]
            exponent = math.log(took[2][0] / took[0][0]) / math.log(SIZES[2] / SIZES[0])
            columns.append((took[2][0], exponent, took[2][0] / took[2][1]))
        wide = times(dialect, cut(texts[2], 64), batched=False)
        small = times(dialect, cut("\n".join([call_of(dialect, 40)] * 20), 4), batched=False)
        live, quiet = columns
        print(
            f"{name:18} {live[0]:14.3f} s {live[1]:8.3f} {live[2]:8.0f} |{quiet[0]:7.3f} s "
            f"{quiet[1]:8.3f} {quiet[2]:8.1f} |{wide[0] / wide[1]:15.1f} | "
            f"{small[0] * 1e3:5.1f} ms "
            f"| {peak(dialect, 1_000_000):6.2f}",
            flush=True,
        )


DULL = (" ", "\n", "\t", "```\n", "~~~\n", "<", "<|", "[", "{", '"', " to=", " =", "<tool_call>")


def dull(names: list[str]) -> None:
    """Print the seconds for 40,000 characters of each text in DULL, and, for the three slowest
    dialects, the ratio to 10,000 characters."""
    for unit in DULL:
        took: dict[str, tuple[float, float]] = {}
        for name in names:
            dialect = get_dialect(name)
            if isinstance(dialect, DeclaredDialect):
                short, long = (
                    times(dialect, [(unit * (size // len(unit))).encode()], batched=False)[0]
                    for size in (10_000, 40_000)
                )
                took[name] = short, long
        slowest = sorted(took, key=lambda name: took[name][1], reverse=True)[:3]
        listed = ", ".join(
            f"{name} {took[name][1]:.3f} s x {took[name][1] / took[name][0]:.1f}"
            for name in slowest
        )
        total = sum(long for _, long in took.values())
        print(f"{unit!r:14} {total:7.2f} s in all; slowest {listed}", flush=True)


def measured(names: list[str]) -> dict[str, dict[str, float]]:
    """Return the CPU seconds of every dialect's parser for each kind of text, in this process's
    tree."""
    found: dict[str, dict[str, float]] = {}
    for name in names:
        dialect = get_dialect(name)
        if isinstance(dialect, DeclaredDialect):
            texts = {
                "argument by 4": cut(call_of(dialect, 200_000), 4),
                "argument by 64": cut(call_of(dialect, 1_000_000), 64),
                "20 calls by 4": cut("\n".join([call_of(dialect, 40)] * 20), 4),
                "prose by 4": cut("The tide is high, and the berth is free.\n" * 5_000, 4),
            }
            found[name] = {kind: times(dialect, cuts, False)[0] for kind, cuts in texts.items()}
    return found


def against(tree: Path, names: list[str], rounds: int) -> int:
    """Print the ratio of this tree's time to the other's, by kind of text and dialect; return 1 if
    any ratio is marked."""
    least: dict[Path, dict[str, dict[str, float]]] = {tree: {}, ROOT: {}}
    for number in range(rounds):
        for each in (tree, ROOT) if number % 2 else (ROOT, tree):
            # each tree measures by its own script: names of modules differ between trees
            script = str(each / "benchmarks" / "parsing.py")
            command = [sys.executable, script, "--measure", *names]
            environment = {**os.environ, "PYTHONPATH": str(each)}
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            for name, kinds in json.loads(done.stdout).items():
                before = least[each].setdefault(name, kinds)
                least[each][name] = {kind: min(before[kind], kinds[kind]) for kind in kinds}
    ratios: dict[str, dict[str, float]] = {}  # by kind
    for name in least[ROOT].keys() & least[tree].keys():
        for kind, seconds in least[ROOT][name].items():
            ratios.setdefault(kind, {})[name] = seconds / least[tree][name][kind]
    for kind, by_name in ratios.items():
        slower = {name: ratio for name, ratio in by_name.items() if ratio > MARKED}
        worst = ", ".join(f"{name} {slower[name]:.2f}" for name in sorted(slower, key=slower.get))  # type: ignore[arg-type]
        print(
            f"{kind:15} {len(by_name)} dialects, median {statistics.median(by_name.values()):.2f}, "
            f"{min(by_name.values()):.2f} to {max(by_name.values()):.2f}; slower: {worst or 'none'}"
        )
    return int(any(ratio > MARKED for by_name in ratios.values() for ratio in by_name.values()))


def peers() -> None:
    """Print the times of libraries that read the arguments alone, and read them anew at every
    chunk, as they are used on streams."""
    readers: dict[str, Callable[[str], Any]] = {}
    for module, make in (
        ("jiter", lambda m: lambda t: m.from_json(t.encode(), partial_mode="trailing-strings")),
        ("partial_json_parser", lambda m: m.loads),
        ("json_repair", lambda m: m.loads),
    ):
        try:
            readers[module] = make(importlib.import_module(module))
        except ImportError:
            print(f"{module}: not installed")
    hermes = get_dialect("hermes")
    assert isinstance(hermes, DeclaredDialect)
    for size in SIZES[:2]:
        chunks = cut(call_of(hermes, size), 4)
        ours, floor = times(hermes, chunks, batched=False)
        print(f"{size:>9,} characters by 4: hermes {ours:.3f} s, {ours / floor:.0f} x floor")
        argument = call_of(hermes, size)
        argument = argument[argument.index('{"path"') : argument.rindex("}}") + 1]
        for name, load in readers.items():
            seconds = cpu(lambda load=load, text=argument: grow(load, text))  # type: ignore[misc]
            print(f"{'':>26}{name:20} {seconds:8.3f} s, {seconds / floor:8.0f} x floor")


def grow(load: Callable[[str], Any], text: str, limit: float = 60.0) -> None:
    stop = time.process_time() + limit
    for end in range(4, len(text) + 4, 4):
        load(text[:end])
        if time.process_time() > stop:
            print(f"{'':>26}stopped after {limit:.0f} s at {end:,} of {len(text):,} characters")
            return


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("dialect", nargs="*")
    options.add_argument("--peers", action="store_true")
    options.add_argument("--dull", action="store_true")
    options.add_argument("--against", type=Path)
    options.add_argument("--rounds", type=int, default=4)
    options.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        print(json.dumps(measured(given.dialect or dialect_names())))
    elif given.against:
        sys.exit(against(given.against.resolve(), given.dialect, given.rounds))
    elif given.peers:
        peers()
    elif given.dull:
        dull(given.dialect or dialect_names())
    else:
        rows(given.dialect or dialect_names())
