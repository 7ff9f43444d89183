"""Speed of scrubbing against another tree of the project: `python benchmarks/scrubbing.py TREE`.

Both trees work in one run by turns, each in a process of its own that answers line by line. The
script prints the CPU seconds of each tree for each load, the least of the turns, and their ratio.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TURNS = 7
LOADS = ("a stream of prose", "a stream of JSON", "sessions", "documents", "code", "announced")
WORKER = r"""
import json, sys, time
from pathlib import Path
root, data = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(root))
from playground.recordings.scrubbing import scrubbed, searcher
from playground.recordings.value_scrubbing import scrubbed_value
from playground.recordings.wire_scrubbing import WireScrubber

def event(text):
    delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"

def through(sent):
    wire = WireScrubber(searcher())
    for at in range(0, len(sent), 4096):
        wire.feed(sent[at : at + 4096])
        wire.take(wire.ready)
    wire.finish()

def read(pattern):
    return [path.read_text() for path in sorted(data.glob(pattern))]

prose = "".join(read("docs/*.md"))[:60_000]
sessions = [json.loads(text) for text in read("sample_sessions/*.json")]
documents, code = read("docs/*.md"), read("playground/*/*.py")
loads = [
    lambda: through(b"".join(event(prose[at : at + 12]) for at in range(0, len(prose), 12))),
    lambda: through(json.dumps(sessions)[:150_000].encode()),
    lambda: [scrubbed_value(each) for each in sessions],
    lambda: [scrubbed(each) for each in documents],
    lambda: [scrubbed(each) for each in code],
    lambda: through(event("password: x") * 300),
]
for line in sys.stdin:
    began = time.process_time()
    loads[int(line)]()
    print(time.process_time() - began, flush=True)
"""


def main() -> None:
    trees = [Path(sys.argv[1]).resolve(), HERE]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tree), str(HERE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for tree in trees
    ]
    total = [0.0, 0.0]
    for number, load in enumerate(LOADS):
        best = [float("inf")] * 2
        for turn in range(TURNS):
            for which in (0, 1) if turn % 2 else (1, 0):
                best[which] = min(best[which], _seconds(workers[which], number))
        total = [sum(pair) for pair in zip(total, best, strict=True)]
        print(f"{load:20} {best[0]:.3f} s  {best[1]:.3f} s  {best[1] / best[0]:.2f}", flush=True)
    print(json.dumps({"other": total[0], "this": total[1], "ratio": total[1] / total[0]}))
    for worker in workers:
        worker.terminate()


def _seconds(worker: subprocess.Popen[str], load: int) -> float:
    assert worker.stdin and worker.stdout
    worker.stdin.write(f"{load}\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


if __name__ == "__main__":
    main()
