"""Import time, and rendering of a large session in every dialect.

Run: python benchmarks/core.py. Times are CPU seconds.
"""

from __future__ import annotations

import subprocess
import sys
import time

from generated import EIGHT, large_session

from playground.dialects import dialect_names, get_dialect
from playground.questions.comparison import compare
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
    for name in dialect_names():  # a file of dialects is loaded when one is asked for
        get_dialect(name)
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


if __name__ == "__main__":
    imports()
    rendering()
