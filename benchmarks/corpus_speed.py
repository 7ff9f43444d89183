"""What building a corpus costs in another tree and in this one, by turns, by kind of session.

    python benchmarks/corpus_speed.py OTHER_TREE [SESSIONS] [--rounds N]
    python benchmarks/corpus_speed.py --shares [SESSIONS] [--rounds N]

The sessions are those of `corpus_data.py`. Each tree builds them in a process of its own, one after
another and in each round the other one first, so that both meet the same load of the machine; a
build before the first round warms it up. What counts is CPU time, by the engine `serial`.

With `--shares` only this tree is measured: the time of the build, and how much of it goes into
finding the dialect of a session's replies, and into reading the replies in that dialect. The
reading of the reply in which the dialect is found does not count as finding it: that reply is read
once more to time the reading, and the build's time leaves this out.
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
from typing import Any, Final

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
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("sessions", type=int, nargs="?", default=2_000)
    parser.add_argument("--shares", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if given.shares and given.other is not None:  # it stands where the number of sessions does
        given.other, given.sessions = None, int(str(given.other))
    if given.shares == (given.other is not None):
        parser.error("give another tree, or --shares")
    with tempfile.TemporaryDirectory(prefix="corpus-speed-") as scratch:
        folder = Path(scratch)
        _generate(folder / "in", given.sessions)
        if given.shares:
            _print_shares(folder, given.rounds)
            return
        trees = {name: _process(tree) for name, tree in (("other", given.other), ("here", ROOT))}
        print(f"{'kind':8} sessions  other   here  ms a session (least)   ratios, their median")
        for kind in ("all", *KINDS):
            inputs, sessions = _inputs(folder / "in", kind)
            _print(kind, sessions, _in_turns(trees, inputs, folder / "out", given.rounds))
        for name, process in trees.items():
            _, peak, *_ = _ask(process, [], folder / "out")
            print(f"peak of {name}: {peak} MB")
            process.communicate()


def _generate(out: Path, sessions: int) -> None:
    import corpus_data

    corpus_data.write_sessions(out, sessions, processes=2)


def _inputs(folder: Path, kind: str) -> tuple[list[str], int]:
    """Return the inputs of a kind, as patterns of files, and the number of its sessions."""
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


def _print_shares(folder: Path, rounds: int) -> None:
    process = _process(ROOT, "--timed")
    print("kind     sessions   build  finding dialects  reading replies  without finding  ms each")
    for kind in ("all", *KINDS):
        inputs, sessions = _inputs(folder / "in", kind)
        runs = [_ask(process, inputs, folder / "out") for _ in range(rounds + 1)][1:]
        seconds, _, finding, reading = min(runs)
        told = (seconds, finding, reading, seconds - finding)
        shown = "".join(f"{each / sessions * 1e3:14.2f}" for each in told)
        print(f"{kind:8} {sessions:8,}{shown}", flush=True)
    process.communicate()


def _process(tree: Path, *how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", __file__, "--worker", *how],
        env={**os.environ, "PYTHONPATH": str(tree.resolve())},
        cwd=tree,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(
    process: subprocess.Popen[str], inputs: list[str], out: Path
) -> tuple[float, int, float, float]:
    assert process.stdin is not None and process.stdout is not None
    print(json.dumps([inputs, str(out)]), file=process.stdin, flush=True)
    seconds, peak, finding, reading = json.loads(process.stdout.readline())
    return seconds, peak, finding, reading


class _Timed:
    """A count of the CPU seconds that go into finding out dialects, and into reading replies."""

    def __init__(self) -> None:
        self.finding = self.reading = self.again = 0.0

    def watch(self) -> None:
        """Time the functions that the build calls for it."""
        from playground.dialects import get_dialect
        from playground.nouns.prompt_data import PromptData
        from playground.parsing.result import read_to_end
        from playground.plugins.corpus.replies import ReplyReader
        from playground.questions.fast_detection import LikeliestDialect

        found_by, read_by = LikeliestDialect.of, ReplyReader.read

        def of(self_: Any, text: str, tools: Any = (), model: str = "") -> Any:
            begun = time.process_time()
            found = found_by(self_, text, tools, model)
            ended = time.process_time()
            if found is not None:
                data = PromptData(tool_metadata=list(tools))
                parser = get_dialect(found[0].dialect).create_parser(data)
                read_to_end(parser, [parser.feed_text(text)])
            own = time.process_time() - ended
            self.finding += ended - begun - own
            self.reading += own
            self.again += own
            return found

        def read(self_: Any, index: int) -> Any:
            begun = time.process_time()
            found = read_by(self_, index)
            self.reading += time.process_time() - begun
            return found

        LikeliestDialect.of, ReplyReader.read = of, read  # type: ignore[method-assign,assignment]


def worker(*how: str) -> None:
    """Build what each line of standard input names, and print what it took: seconds, the most
    memory so far, in MB, and, if these are timed, the seconds for finding dialects and for reading
    replies. Python's collector is set as a worker of the pool sets it."""
    import gc

    from playground.plugins.corpus.building import build_corpus

    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    timed = _Timed()
    if how:
        timed.watch()
    for line in sys.stdin:
        inputs, out = json.loads(line)
        timed.finding = timed.reading = timed.again = 0.0
        before = time.process_time()
        if inputs:
            build_corpus(out, inputs, engine="serial")
        taken = time.process_time() - before - timed.again
        shutil.rmtree(out, ignore_errors=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps([taken, peak, timed.finding, timed.reading]), flush=True)


if __name__ == "__main__":
    worker(*sys.argv[2:]) if sys.argv[1:2] == ["--worker"] else main()
