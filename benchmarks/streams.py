"""Decoding streams and importing large files: chunks a second, memory, ratios in one run.

Run: python benchmarks/streams.py [--shared] [--import MEGABYTES]. Decoding is measured on streams
that are made here for every API and, with --shared, on those of ../shared; the floor is the reading
of the same JSON with the standard library. The file to import is generated: lines of JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from wires import FRAMINGS, NO_REASONING, TEXT_ALONE, WRITERS, Said  # noqa: E402

from playground.recordings.decoding import decode_stream  # noqa: E402

STREAMS = ROOT.parent / "shared" / "conformance" / "streams"
TIMES = 5


def seconds(work: object) -> float:
    """Return the CPU seconds of a work, the best of a few."""
    assert callable(work)
    best = float("inf")
    for _ in range(TIMES):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def floor(data: bytes) -> None:
    for line in data.split(b"\n"):
        if line.startswith(b"data: {"):
            json.loads(line[6:])
        elif line.startswith(b"{"):
            json.loads(line)


def written_here() -> None:
    print("chunks a second, one core; ratio to reading the same JSON with the standard library")
    pieces = tuple(f"word{i} " for i in range(4_000))
    for api, write in WRITERS.items():
        calls = () if api in TEXT_ALONE else (("t", ('{"a": "', *(["b "] * 3_000), '"}')),)
        thoughts = () if api in NO_REASONING else pieces[:2_000]
        frames = write(Said(thoughts, pieces, calls))
        data = FRAMINGS["events"](frames)
        wire = [data[i : i + 1_400] for i in range(0, len(data), 1_400)]  # as packets come
        took = seconds(lambda wire=wire: decode_stream(wire))
        base = seconds(lambda data=data: floor(data))
        rate = len(frames) / took
        print(f"  {api:20} {rate:>10,.0f}   {took / base:4.1f}x   {len(data) / 1e6:.1f} MB")


def shared_streams() -> None:
    index = json.loads((STREAMS / "index.json").read_text())
    wires = [(STREAMS / row["file"]).read_bytes() for row in index]
    chunks = sum(row["chunks"] for row in index)

    def all_of_them() -> None:
        for data in wires:
            decode_stream([data])

    def floors() -> None:
        for data in wires:
            floor(data)

    took = seconds(all_of_them)
    base = seconds(floors)
    print(
        f"{len(wires)} recorded streams: {chunks / took:,.0f} chunks a second, {took / base:.1f}x"
    )


_CHILD = """
import sys, time
from playground.sessions.importing import Writer
from playground.sessions.loading import load_sessions
def memory(name):  # in kB; a child's rusage would start with its parent's peak
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])
before = memory("VmRSS")
start = time.perf_counter()
count = largest = 0
moves = []
with Writer(sys.argv[2]) as writer:
    for loaded in load_sessions(sys.argv[1], progress=lambda read, size: moves.append(read)):
        writer.write(loaded.session)
        count += 1
        del moves[:-1]
took = time.perf_counter() - start
peak = memory("VmHWM")
print(count, took, before / 1024, peak / 1024, moves[-1])
"""


def large_import(megabytes: int) -> None:
    """Import a file of conversations of very different sizes, the largest about a tenth of it;
    print the time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "large.jsonl"), Path(folder, "out.jsonl")
        largest = size = number = 0
        text = "A line of a tool's output, as long as such lines are. " * 40  # 2 kB
        with path.open("w", encoding="utf-8") as file:
            while size < megabytes * 1_000_000:
                turns = megabytes * 50 if number == 7 else 4 + number % 40
                messages = [
                    {"role": ("user", "assistant")[i % 2], "content": f"{i} of {number}. {text}"}
                    for i in range(turns)
                ]
                line = json.dumps({"messages": messages}) + "\n"
                file.write(line)
                size += len(line)
                largest = max(largest, len(line))
                number += 1
        command = [sys.executable, "-c", _CHILD, str(path), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        count, took, before, peak, read = done.stdout.split()
        assert int(read) == path.stat().st_size
        written = out.stat().st_size / 1e6
        used = float(peak) - float(before)
        megabytes_in = largest / 1e6
        print(
            f"import of {size / 1e6:.0f} MB, {count} lines: {float(took):.0f} s, {written:.0f} MB"
        )
        print(
            f"  the largest session is {megabytes_in:.1f} MB of JSON; memory {float(before):.0f} "
            f"MB before, {float(peak):.0f} MB at most: {used:.0f} MB, {used / megabytes_in:.1f}x"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--import", type=int, default=0, dest="megabytes", metavar="MEGABYTES")
    options = parser.parse_args()
    if options.megabytes:
        large_import(options.megabytes)
        return
    written_here()
    if options.shared:
        shared_streams()


if __name__ == "__main__":
    main()
