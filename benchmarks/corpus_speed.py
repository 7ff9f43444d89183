"""What building a corpus costs in another tree and in this one, by turns, by kind of session.

    python benchmarks/corpus_speed.py OTHER_TREE [SESSIONS] [--rounds N]

The sessions are those of `corpus_data.py`. Each tree builds them in a process of its own, one after
another and in each round the other one first, so that both meet the same load of the machine; a
build before the first round warms it up. What counts is CPU time, by the engine `serial`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
# The kinds, and the files of each: of one of lines each line is a session, but for the gateway's,
# where four are.
KINDS: Final = {
    "text": ("text-*.jsonl", 1),
    "claude": ("claude/*/*.jsonl", 0),
    "gateway": ("gateway-*.jsonl", 4),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("sessions", type=int, nargs="?", default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corpus-speed-") as scratch:
        folder = Path(scratch)
        _generate(folder / "in", given.sessions)
        trees = {name: _process(tree) for name, tree in (("other", given.other), ("here", ROOT))}
        print(f"{'kind':8} sessions  other   here  ms a session (least)   ratios, their median")
        for kind in ("all", *KINDS):
            inputs, sessions = _inputs(folder / "in", kind)
            _print(kind, sessions, _in_turns(trees, inputs, folder / "out", given.rounds))
        for name, process in trees.items():
            _, peak = _ask(process, [], folder / "out")
            print(f"peak of {name}: {peak} MB")
            process.communicate()


def _generate(out: Path, sessions: int) -> None:
    import corpus_data

    corpus_data.write_sessions(out, sessions, processes=2)


def _inputs(folder: Path, kind: str) -> tuple[list[str], int]:
    """The inputs of a kind, and the number of its sessions."""
    kinds = KINDS if kind == "all" else {kind: KINDS[kind]}
    sessions = 0
    for pattern, rows in kinds.values():
        paths = list(folder.glob(pattern))
        lines = sum(path.read_bytes().count(b"\n") for path in paths) if rows else 0
        sessions += lines // rows if rows else len(paths)
    return [str(folder / pattern) for pattern, _ in kinds.values()], sessions


def _in_turns(
    trees: dict[str, subprocess.Popen[str]], inputs: list[str], out: Path, rounds: int
) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in trees}
    for number in range(rounds + 1):
        for name in list(trees)[:: 1 if number % 2 == 0 else -1]:
            taken[name].append(_ask(trees[name], inputs, out)[0])
    return {name: seconds[1:] for name, seconds in taken.items()}


def _print(kind: str, sessions: int, taken: dict[str, list[float]]) -> None:
    ratios = sorted(here / other for other, here in zip(*taken.values(), strict=True))
    least = "  ".join(f"{min(seconds) / sessions * 1e3:5.2f}" for seconds in taken.values())
    told = f"{ratios[0]:.2f} to {ratios[-1]:.2f}, {median(ratios):.3f}"
    print(f"{kind:8} {sessions:8,}  {least}  {'':21}{told}", flush=True)


def _process(tree: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", __file__, "--worker"],
        env={**os.environ, "PYTHONPATH": str(tree.resolve())},
        cwd=tree,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(process: subprocess.Popen[str], inputs: list[str], out: Path) -> tuple[float, int]:
    assert process.stdin is not None and process.stdout is not None
    print(json.dumps([inputs, str(out)]), file=process.stdin, flush=True)
    seconds, peak = json.loads(process.stdout.readline())
    return seconds, peak


def worker() -> None:
    """Build what each line of standard input names, and say what it took: seconds, and the most
    memory so far, in MB. The collector is set as a worker of the pool sets it."""
    import gc

    from playground.corpora.building import build_corpus

    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    for line in sys.stdin:
        inputs, out = json.loads(line)
        before = time.process_time()
        if inputs:
            build_corpus(out, inputs, engine="serial")
        taken = time.process_time() - before
        shutil.rmtree(out, ignore_errors=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps([taken, peak]), flush=True)


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["--worker"] else main()
