"""Import time, rendering of a large session in every dialect, and how parsing grows.

Run: python benchmarks/core.py. Times are CPU seconds; the last table gives ratios to the floor,
which is appending the same chunks to a list.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time

from generated import EIGHT, TOOL, large_session

from playground.comparison import compare
from playground.dialects import dialect_names, get_dialect
from playground.messages import ToolCallPart
from playground.prompt_data import PromptData
from playground.sessions.native_format import dump_session


def cpu(action) -> float:  # type: ignore[no-untyped-def]
    start = time.process_time()
    action()
    return time.process_time() - start


def imports() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import playground as pg"]
    report = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    total = next(line for line in report.splitlines() if line.endswith("| playground"))
    print("import playground:", int(total.split("|")[1]) / 1000, "ms cumulative")
    heavy = "import sys, playground as pg; pg.get_dialect('xml'); print([m for m in"
    heavy += " ('streamlit','litellm','pandas','plotly') if m in sys.modules])"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    took = time.perf_counter() - start
    print(f"with all dialects loaded: {took:.2f} s of process, heavy: {done.stdout.strip()}")


def rendering() -> None:
    session = large_session()
    size = len(dump_session(session).encode())
    print(f"\n{len(session.messages):,} messages, {size / 1e6:.1f} MB as a file")
    took = {
        name: cpu(lambda name=name: compare(session, [name]).columns[0].rendering)
        for name in dialect_names()
    }
    for name in EIGHT:
        print(f"  {name:16} {took[name]:6.3f} s")
    print(f"  these eight      {sum(took[name] for name in EIGHT):6.3f} s of CPU")
    print(f"  all {len(took)}           {sum(took.values()):6.3f} s of CPU")


def parsing() -> None:
    print("\none string argument in 4-character chunks: seconds, growth exponent, ratio to floor")
    for name in dialect_names():
        row = [parse_time(name, size) for size in (10_000, 100_000, 1_000_000)]
        exponent = math.log(row[2][0] / row[0][0]) / math.log(100)
        shown = "  ".join(f"{took:.4f}" for took, _ in row)
        print(f"  {name:16} {shown}   {exponent:.3f}   {row[2][0] / row[2][1]:.0f}x")


def parse_time(name: str, size: int) -> tuple[float, float]:
    text = ("The tide is high, the berth is <free>.\n" * (size // 39 + 1))[:size]
    dialect = get_dialect(name)
    call = ToolCallPart("c", "write_file", {"path": "a", "content": text})
    data = dialect.format_tool_call(call, [TOOL]).encode()
    chunks = [data[i : i + 4] for i in range(0, len(data), 4)]
    best, floor = math.inf, math.inf
    for _ in range(3):
        parser = dialect.create_parser(PromptData(tool_metadata=[TOOL]))

        def read(parser=parser) -> None:  # type: ignore[no-untyped-def]
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()

        def append() -> None:
            kept: list[bytes] = []
            for chunk in chunks:
                kept.append(chunk)

        best, floor = min(best, cpu(read)), min(floor, max(cpu(append), 1e-6))
    return best, floor


if __name__ == "__main__":
    imports()
    rendering()
    parsing()
