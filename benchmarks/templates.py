"""What a template costs: how 10 kB and its tenfolds grow, and a warm render's wall and CPU time.

Run: python benchmarks/templates.py [PROCESSES]. A warm render is a small template in a worker that
runs already (`confined`): its target is 5 ms. It is measured in several processes one after
another, several hundred renders each, because one worker may have a lucky place in memory or a
processor to itself. CPU time, the worker's included, is printed beside wall time: on a busy machine
the wall time grows, and the CPU time does not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from math import log
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time

from playground.base.confined import workers
from playground.dialects.raw_prompts import ChatTemplate
from playground.plugins.systems.go_templates import execute

TEMPLATE = (
    "{{range $i, $t := .tides}}{{if $t.high}}high{{else}}low{{end}} water {{$i}}: "
    '{{printf "%5.2f" $t.metres}} m at {{$t.at}}\n{{end}}'
)
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TURNS = [{"role": "user", "content": "What water is it?"}, {"role": "assistant", "content": "Low."}]
RENDERS, PROCESSES = 400, 5


def tides(lines: int) -> dict[str, object]:
    hours = range(lines)
    return {
        "tides": [{"high": n % 2 == 0, "metres": n / 7, "at": f"{n % 24:02}:00"} for n in hours]
    }


WARM: dict[str, Callable[[], str]] = {
    "chat, 1 turn": lambda: ChatTemplate(CHAT).render(TURNS[:1]),
    "chat, 100 turns": lambda: ChatTemplate(CHAT).render(TURNS * 50),
    "Go, 1 line": lambda: execute(TEMPLATE, tides(1)),
    "Go, 25 lines": lambda: execute(TEMPLATE, tides(25)),
}


def best(lines: int) -> tuple[float, int]:
    """Return the least of several times, in seconds, and the number of characters that were
    written."""
    data, times, size = tides(lines), [], 0
    for _ in range(7):
        began = perf_counter()
        size = len(execute(TEMPLATE, data))
        times.append(perf_counter() - began)
    return min(times), size


def warm() -> dict[str, list[float]]:
    """Return for each template the wall milliseconds of every render and, as the last number, the
    CPU milliseconds of an average one."""
    found = {}
    for name, render in WARM.items():
        for _ in range(3):
            render()
        times, before = [], process_time() + workers_time()
        for _ in range(RENDERS):
            began = perf_counter()
            render()
            times.append((perf_counter() - began) * 1000)
        spent = process_time() + workers_time() - before
        found[name] = [*times, spent / RENDERS * 1000]
    return found


def workers_time() -> float:
    """Return the CPU seconds that this process's workers have had; 0 if there is no /proc."""
    total, ticks = 0, os.sysconf("SC_CLK_TCK")
    for worker in workers._POOL.idle:
        place = Path(f"/proc/{worker._process.pid}/stat")
        if place.exists():
            fields = place.read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / ticks


def main() -> None:
    before = None
    for lines in (290, 2_900, 29_000):
        seconds, size = best(lines)
        growth = f", exponent {log(seconds / before, 10):.2f}" if before else ""
        print(f"{size:>9,} characters: {seconds * 1000:.1f} ms{growth}")
        before = seconds
    print(
        f"{'warm render, ms of wall':24} {'min':>7} {'median':>7} {'p95':>7} {'max':>7} {'CPU':>7}"
    )
    for _ in range(int(sys.argv[1]) if sys.argv[1:] else PROCESSES):
        code = "import json, templates; print(json.dumps(templates.warm()))"
        folder = Path(__file__).resolve().parent
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, check=True
        )
        for name, (*times, spent) in json.loads(done.stdout).items():
            columns = (min(times), median(times), quantiles(times, n=20)[-1], max(times), spent)
            print(f"{name:24}", *(f"{value:7.3f}" for value in columns))


if __name__ == "__main__":
    main()
