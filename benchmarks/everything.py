"""All that has a target, in one run, as ratios: `make bench`.

Run: python benchmarks/everything.py [--write] [--only GROUP …]. Times are CPU seconds, each the
best of five rounds. A ratio compares with something that is measured in the same run, so that
another machine, or a busy one, changes little. The run goes on in an environment of its own with
the peers that PyPI offers. `--write` writes docs/benchmarks.md and a line of
benchmarks/history.jsonl. The exit status is 1 if a figure is more than 20 % above that of the last
line, and by more than the five rounds differ among themselves.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import against_sglang
from against_sglang import Beside
from figures import ROUNDS, Figure, busy, cpu, page, ratio, regressions
from scratch import OURS, ROOT, run_beside

PEERS: Final = ("jiter", "json_repair", *against_sglang.NEEDED)
HISTORY: Final = ROOT / "benchmarks" / "history.jsonl"
PAGE: Final = ROOT / "docs" / "benchmarks.md"


def live() -> Iterator[Figure]:
    """Yield the time of reading 1 MB in 4-character chunks, the events of each chunk at once,
    against appending the chunks; and of 10 kB against peers."""
    from parsing import PROMPT, append, call_of, cut, grow, read

    from playground.dialects import DeclaredDialect, get_dialect

    def rounds(name: str, chunks: list[bytes]) -> Iterator[tuple[float, float]]:
        floor = min(cpu(lambda: append(chunks)) for _ in range(40))
        for _ in range(ROUNDS):
            parser = get_dialect(name).create_parser(PROMPT)
            yield cpu(lambda parser=parser: read(parser, chunks)), floor  # type: ignore[misc]

    floor = "appending the chunks to a list"
    for name in ("hermes", "qwen3-coder", "harmony", "inkling"):
        dialect = get_dialect(name)
        assert isinstance(dialect, DeclaredDialect)
        chunks = cut(call_of(dialect, 1_000_000), 4)
        yield ratio(f"live {name}", "an argument of 1 MB", floor, 100, rounds(name, chunks))
    prose = cut("The tide is high, the berth is free.\n" * 27_000, 4)
    for name in ("hermes", "harmony", "muse", "aider-editblock"):
        yield ratio(f"prose {name}", "1 MB of prose", floor, None, rounds(name, prose))
    hermes = get_dialect("hermes")
    assert isinstance(hermes, DeclaredDialect)
    call = call_of(hermes, 10_000)
    text, chunks = call[call.index('{"path"') : call.rindex("}}") + 1], cut(call, 4)
    for module, load in peers():
        theirs = cpu(lambda load=load: grow(load, text))  # type: ignore[misc]
        pairs = ((ours, theirs) for ours, _ in rounds("hermes", chunks))
        what, beside = "an argument of 10 kB, hermes", f"{module}, read anew at every chunk"
        yield ratio(f"beside {module}", what, beside, 1, pairs)


def every_dialect() -> Iterator[Figure]:
    """Yield the same for every dialect, each beside the floor of its own chunks: the figures of the
    slowest dialect, of the median, and of the one whose time grows the fastest from 10 kB on."""
    from parsing import PROMPT, append, call_of, cut, read

    from playground.dialects import DeclaredDialect, dialect_names, get_dialect

    found: list[tuple[float, float, str]] = []
    growth: list[tuple[float, str]] = []
    for name in dialect_names():
        dialect = get_dialect(name)
        if not isinstance(dialect, DeclaredDialect):
            continue
        took = {}
        for size, rounds in ((10_000, 20), (1_000_000, 3)):
            chunks = cut(call_of(dialect, size), 4)
            parsers = [dialect.create_parser(PROMPT) for _ in range(rounds)]
            took[size] = min(cpu(lambda p=p, c=chunks: read(p, c)) for p in parsers)  # type: ignore[misc]
        floor = min(cpu(lambda c=chunks: append(c)) for _ in range(20))  # type: ignore[misc]
        found.append((took[1_000_000] / floor, took[1_000_000], name))
        growth.append((math.log(took[1_000_000] / took[10_000]) / math.log(100), name))
    exponent, name = max(growth)
    what = f"exponent of the time, {name}, of {len(growth)} dialects"
    yield Figure("live growth", what, "from 10 kB to 1 MB in one argument", 1.05, (exponent,))
    found.sort()
    beside = "appending the chunks to a list"
    for title, place, target in (("the middle", len(found) // 2, 60), ("the slowest", -1, 100)):
        value, seconds, name = found[place]
        what = f"an argument of 1 MB, {name}, of {len(found)} dialects"
        yield Figure(f"live {title}", what, beside, target, (value,), seconds)


def memory() -> Iterator[Figure]:
    """Measure what live reading keeps beside its input, for the dialect that keeps the most."""
    from parsing import peak

    from playground.dialects import DeclaredDialect, dialect_names, get_dialect

    size = 200_000
    dialects = [get_dialect(name) for name in dialect_names()]
    declared = [dialect for dialect in dialects if isinstance(dialect, DeclaredDialect)]
    most, name = max((peak(dialect, size), dialect.name) for dialect in declared)
    what = f"live reading, {name}, of {len(declared)} dialects"
    yield Figure("memory", what, f"an argument of {size // 1000} kB", 4, (most,))


def peers() -> Iterator[tuple[str, Callable[[str], Any]]]:
    import jiter  # type: ignore[import-not-found, unused-ignore]
    import json_repair  # type: ignore[import-not-found, unused-ignore]
    import partial_json_parser  # type: ignore[import-not-found, unused-ignore]

    yield "jiter", lambda text: jiter.from_json(text.encode(), partial_mode="trailing-strings")
    yield "partial_json_parser", partial_json_parser.loads
    yield "json_repair", json_repair.loads


def small_calls() -> Iterator[Figure]:
    """Yield the time of reading twenty small calls in 4-character chunks, against appending the
    chunks."""
    from parsing import PROMPT, append, call_of, cut, read

    from playground.dialects import DeclaredDialect, get_dialect

    for name in ("qwen3-coder", "kimi-k2", "glm", "deepseek-v3", "hermes"):
        dialect = get_dialect(name)
        assert isinstance(dialect, DeclaredDialect)
        chunks = cut("\n".join([call_of(dialect, 40)] * 20), 4)
        many = chunks * 50
        floor = min(cpu(lambda many=many: append(many)) for _ in range(20)) / 50  # type: ignore[misc]
        best = []
        for _ in range(ROUNDS):
            readings = [dialect.create_parser(PROMPT) for _ in range(5)]
            best.append(min(cpu(lambda p=p, c=chunks: read(p, c)) for p in readings))  # type: ignore[misc]
        pairs = ((took, floor) for took in best)
        beside = "appending the chunks to a list"
        yield ratio(f"small calls {name}", "20 calls of one line", beside, None, pairs)


def simulation() -> Iterator[Figure]:
    """Yield the time of simulating a session of 800 requests, against one of 200: a ratio of four
    is linear."""
    from generated import EIGHT, large_session

    import playground as pg

    pg.simulate_cache(large_session(messages=40, size=40_000), dialect="xml")  # what is made once
    took: dict[int, list[float]] = {200: [], 800: []}
    for _ in range(ROUNDS):
        for requests, found in took.items():
            session = large_session(messages=2 * requests, size=2_000 * requests)
            found.append(cpu(lambda session=session: pg.simulate_cache(session, dialect="xml")))  # type: ignore[misc]
    pairs = ((long, min(took[200])) for long in took[800])
    what, beside = "a session of 800 requests simulated", "one of 200 requests"
    yield ratio("simulation", what, beside, 4**1.1, pairs, most=1.2)

    def render() -> None:
        for name in EIGHT:
            pg.get_dialect(name).render(session.prompt_data())

    cold, more = [], []
    for _ in range(ROUNDS):
        session = large_session()
        cold.append(cpu(render))
        message = pg.Message("user", ())
        session = replace(session, messages=(*session.messages, message))
        more.append(cpu(render))
    what, beside = "one message more than 2,000, in 8 dialects", "all of them for the first time"
    all_again = zip(more, [min(cold)] * ROUNDS, strict=True)
    yield ratio("a message more", what, beside, None, all_again, most=0.005)


def imports() -> Iterator[Figure]:
    """Yield the time of importing a transcript of lines, against pydantic_core's parsing of the
    lines alone."""
    from pydantic_core import from_json

    import playground as pg

    text = 'The tide is high,\n the "berth" is free. ' * 30
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "transcript.jsonl"
        with path.open("w") as file:
            for number in range(4_000):
                for row in rows_of(number, text):
                    file.write(json.dumps(row) + "\n")

        def alone() -> None:
            with path.open("rb") as lines:
                for line in lines:
                    from_json(line)

        def ours() -> None:
            for _ in pg.load_sessions(path):
                pass

        ours()
        pairs = [(cpu(ours), cpu(alone)) for _ in range(ROUNDS)]
        what = f"{path.stat().st_size / 1e6:.0f} MB of a Claude Code transcript"
    yield ratio("import", what, "pydantic_core alone", 4, iter(pairs))


def rows_of(number: int, text: str) -> Iterator[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"text": text}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
    usage = {"input_tokens": 10, "output_tokens": 5}
    said: list[tuple[str, dict[str, Any]]] = [
        ("user", {"content": f"{number} {text}"}),
        ("assistant", {"id": f"m{number}", "model": "m", "content": [call], "usage": usage}),
        ("user", {"content": [result]}),
    ]
    for place, (role, message) in enumerate(said):
        uuid, parent = f"{number}-{place}", f"{number}-{place - 1}" if place else None
        yield {
            "type": role,
            "uuid": uuid,
            "parentUuid": parent if place else f"{number - 1}-2" if number else None,
            "sessionId": "s",
            "version": "2.1.0",
            "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": role, **message},
        }


def start() -> Iterator[Figure]:
    """Measure the processor time of `playground render` against a Python with its necessary
    imports.
    """
    import resource

    # as the Makefile has it: without what was compiled before, half of the time is a compiler's
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def child(*command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        called = [sys.executable, *command]
        subprocess.run(called, check=True, stdout=subprocess.DEVNULL, env=environment, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    render = ("-m", "playground", "render", "02-parallel-calls", "-d", "hermes")
    child(*render)
    nothing = min(child("-c", f"import {_NEEDED}") for _ in range(ROUNDS))
    pairs = ((child(*render), nothing) for _ in range(ROUNDS))
    beside = f"a Python that imports {_NEEDED}"
    yield ratio("start", "`playground render` of a sample", beside, None, pairs, most=0.2)


_NEEDED: Final = "click, pydantic.dataclasses, regex"


def beside_sglang() -> Iterator[Figure]:
    """Read what SGLang's own streaming parsers read too.

    They are small calls of each, and the dialects of which a long reasoning and prose take the
    longest.
    """
    against_sglang.stand_in()
    rounds = [list(against_sglang.small_calls(4)) for _ in range(ROUNDS)]
    targets = {"kimi-k2": 2.0, "glm": 1.0, "deepseek-v3": 1.0, "hermes": 1.0}
    for name, figure in _beside(rounds, "20 calls of one line").items():
        yield replace(figure, name=f"SGLang calls {name}", target=targets.get(name))
    rounds = [list(against_sglang.reasoning(1, 1_000_000)) for _ in range(ROUNDS)]
    yield _slowest("SGLang reasoning", 1.1, _beside(rounds, "1 MB of reasoning"))
    rounds = [against_sglang.prose(1, 1_000_000, against_sglang.READ) for _ in range(ROUNDS)]
    yield _slowest("SGLang prose", 0.6, _beside(rounds, "1 MB of prose"))


def _beside(rounds: Iterable[Iterable[Beside]], what: str) -> dict[str, Figure]:
    """Return a figure by dialect: the time of ours in each round beside the best of theirs."""
    rows = defaultdict(list)
    for row in (row for one in rounds for row in one):
        rows[row.dialect].append(row)
    found = {}
    for name, of_dialect in rows.items():
        theirs = min(row.theirs for row in of_dialect)
        pairs = ((row.ours, theirs) for row in of_dialect)
        found[name] = ratio(name, what, "SGLang's parser", None, pairs)
    return found


def _slowest(title: str, target: float, figures: dict[str, Figure]) -> Figure:
    slowest = max(figures.values(), key=lambda figure: figure.best)
    what = f"{slowest.what}, {slowest.name}, of {len(figures)} dialects"
    return replace(slowest, name=title, what=what, target=target)


GROUPS: Final = (
    live,
    every_dialect,
    memory,
    small_calls,
    simulation,
    imports,
    start,
    beside_sglang,
)


def measured(only: Collection[str] = ()) -> list[Figure]:
    found: list[Figure] = []
    for group in GROUPS:
        for figure in group() if not only or group.__name__ in only else ():
            print(f"{figure.name:28} {figure.best:8.3g} x {figure.beside}", flush=True)
            found.append(figure)
    return found


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true")
    names = [group.__name__ for group in GROUPS]
    arguments.add_argument("--only", nargs="+", default=(), choices=names, help="not with --write")
    options = arguments.parse_args()
    if options.write and options.only:
        arguments.error("a line of the history holds all figures")
    run_beside(*OURS, *PEERS, without_dependencies=("sglang",))
    lines = HISTORY.read_text().splitlines() if HISTORY.exists() else []
    last = json.loads(lines[-1])["figures"] if lines else {}
    before = busy()
    figures, when = measured(options.only), datetime.now(UTC).isoformat(timespec="seconds")
    machine = before, busy()
    worse = regressions(figures, last)
    for line in worse:
        print(f"WORSE {line}", file=sys.stderr)
    if options.write:
        kept = {f.name: [float(f"{f.best:.3g}"), float(f"{f.spread:.3g}")] for f in figures}
        python = platform.python_version()
        said = {"at": when, "python": python, "machine": machine, "figures": kept}
        HISTORY.write_text("\n".join([*lines, json.dumps(said)]) + "\n")
        PAGE.write_text(page(figures, when, machine))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
