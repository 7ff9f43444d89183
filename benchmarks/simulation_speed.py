"""Compare the time of simulating a cache in another tree and in this one, by turns.

Run: python benchmarks/simulation_speed.py OTHER_TREE [ROW …] [--rounds N] [--file FILE …]
A process of each tree simulates each row, and the order changes with each round, so that both meet
the same load of the machine. What counts is CPU time, the least of all rounds, without Python's
collector of cycles. A ratio above 1.00 is marked; above 1.05, the exit status is 1. The requests of
a FILE are a row, too, if it holds them as they were sent.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BODIES = 300
SLOWER, MARKED = 1.05, 1.00
LEAST = 0.2  # seconds that a row is simulated for in each round, over and over


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("rows", nargs="*", help="words that a row's name holds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--file", type=Path, action="append", default=[])
    options = parser.parse_args()
    files = [str(path.resolve()) for path in options.file]
    wanted = [
        name
        for name in [*ROWS, *files]
        if not options.rows or any(word in name for word in options.rows)
    ]
    workers = {tree: _process(tree) for tree in (options.other.resolve(), ROOT)}
    worst = 0.0
    print(f"{'row':44} {'other':>9} {'here':>9} ratio")
    for name in wanted:
        least = dict.fromkeys(workers, float("inf"))
        for number in range(options.rounds):
            for tree in list(workers)[:: 1 if number % 2 == 0 else -1]:
                least[tree] = min(least[tree], _ask(workers[tree], name))
        other, here = least.values()
        mark = " !" if here > other * MARKED else ""
        worst = max(worst, here / other)
        print(
            f"{name[-44:]:44} {other * 1e3:>6.1f} ms {here * 1e3:>6.1f} ms {here / other:.2f}{mark}"
        )
    for worker in workers.values():
        worker.communicate()
    return int(worst > SLOWER)


def _process(tree: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--worker"],
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(process: subprocess.Popen[str], name: str) -> float:
    assert process.stdin is not None and process.stdout is not None
    print(name, file=process.stdin, flush=True)
    return float(process.stdout.readline())


# what is simulated: made from plain JSON, so that both trees get the same

TEXT = "a tide table of the north sea, with the hours of high water. " * 12
MARK = {"cache_control": {"type": "ephemeral"}}


def prose(model: str, marked: bool) -> list[dict[str, Any]]:
    """Return request bodies whose history of texts grows by a message each."""
    history: list[dict[str, Any]] = []
    found = []
    for number in range(BODIES):
        part = {"type": "text", "text": f"{number} {TEXT}"}
        role = "assistant" if number % 2 else "user"
        newest = {"role": role, "content": [part | MARK if marked else part]}
        found.append({"model": model, "messages": [*history, newest]})
        history.append({"role": role, "content": [part]})
    return found


def agent(marked: bool) -> list[dict[str, Any]]:
    """Return an agent's request bodies for Anthropic: tools, a system prompt, calls and results."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools = [
        {"name": f"tool_{n}", "description": TEXT[:200], "input_schema": schema} for n in range(20)
    ]
    system = [{"type": "text", "text": TEXT * 4, **MARK}]
    history: list[dict[str, Any]] = [{"role": "user", "content": "Mend the harbour's tide table."}]
    head = {"model": "claude-sonnet-4-5", "max_tokens": 4_000, "tools": tools, "system": system}
    found = []
    for number in range(BODIES):
        *before, last = history
        if marked and isinstance(last["content"], list):
            last = {**last, "content": [*last["content"][:-1], last["content"][-1] | MARK]}
        found.append({**head, "messages": [*before, last]})
        call = {"type": "tool_use", "id": f"c{number}", "name": "tool_3", "input": {"path": "a.md"}}
        said = {"type": "text", "text": f"I read part {number}."}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"{number} {TEXT}"}
        history += [
            {"role": "assistant", "content": [said, call]},
            {"role": "user", "content": [result]},
        ]
    return found


def chat() -> list[dict[str, Any]]:
    """Return an agent's request bodies for OpenAI's chat API."""
    function = {"name": "look", "description": TEXT[:200], "parameters": {"type": "object"}}
    tools = [{"type": "function", "function": function}]
    history: list[dict[str, Any]] = [
        {"role": "system", "content": TEXT * 4},
        {"role": "user", "content": "Mend the harbour's tide table."},
    ]
    found = []
    for number in range(BODIES):
        found.append({"model": "gpt-5.6", "tools": tools, "messages": [*history]})
        function = {"name": "look", "arguments": json.dumps({"path": f"{number}.md"})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"{number} {TEXT}"},
        ]
    return found


def unshared(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return bodies as they are when read from a file: no two of them share an object."""
    return [json.loads(json.dumps(body)) for body in bodies]


def simulated(bodies: list[dict[str, Any]]) -> Callable[[], Any]:
    import playground as pg

    return lambda: pg.simulate_cache(bodies)


def session(dialect: str, messages: int, policies: int) -> Callable[[], Any]:
    """Return the simulation of a session in a dialect, as a function: under the dialect's own
    policy, or under many policies."""
    sys.path.insert(0, str(Path.cwd() / "benchmarks"))  # each tree's own, with its own imports
    from generated import large_session

    import playground as pg

    given = large_session(messages=messages, size=1_000 * messages)
    if policies == 1:
        return lambda: pg.simulate_cache(given, dialect=dialect)
    matrix, names = _matrix(), _policies()[:policies]
    return lambda: matrix(given, [dialect], policies=names)


def _matrix() -> Callable[..., Any]:
    older = "playground.questions.cache.simulation"  # the tree of 24 November
    found = _of_module("cache_matrix", "playground.cache.answers.simulation", older)
    return partial(found)


def _policies() -> list[str]:
    name = "playground.dialects.marks.policies"
    return list(_of_module("POLICIES", name, "playground.caching.policies"))


def _of_module(name: str, *modules: str) -> Any:
    """Return what the first of these modules that exists in the tree holds under a name; older
    trees have other modules."""
    for module in modules:
        try:
            return getattr(import_module(module), name)
        except ModuleNotFoundError:
            continue
    raise SystemExit(f"no {name} in {', '.join(modules)}")


def sent(name: str) -> Callable[[], Any]:
    """Return the simulation of a file's requests under the policy `as-sent`, as a function."""
    import playground as pg

    given = pg.load_session(name)
    return lambda: pg.simulate_cache(given, policy="as-sent")


ROWS: dict[str, Callable[[], Callable[[], Any]]] = {
    "prose, marked": lambda: simulated(prose("claude-sonnet-4-5", True)),
    "prose, automatic": lambda: simulated(prose("gpt-5.6", False)),
    "prose, best effort": lambda: simulated(prose("gpt-4o", False)),
    "prose, marked, of a file": lambda: simulated(unshared(prose("claude-sonnet-4-5", True))),
    "agent, marked": lambda: simulated(agent(True)),
    "agent, its system prompt alone marked": lambda: simulated(agent(False)),
    "agent, marked, of a file": lambda: simulated(unshared(agent(True))),
    "chat with tools": lambda: simulated(chat()),
    "chat with tools, of a file": lambda: simulated(unshared(chat())),
    "session of 400 messages, xml": lambda: session("xml", 400, 1),
    "session of 400 messages, native": lambda: session("native", 400, 1),
    "matrix of 15 policies, xml": lambda: session("xml", 400, 15),
    "matrix of 15 policies, native": lambda: session("native", 400, 15),
}


# in a process of one tree


def worker() -> None:
    """Simulate each row named on standard input, and print the CPU seconds of one simulation."""
    sys.path.insert(0, os.environ["PYTHONPATH"])
    made: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name not in made:
            made.clear()
            made[name] = ROWS[name]() if name in ROWS else sent(name)
            made[name]()  # modules are loaded, and rules read, before the clock
        print(_least(made[name]), flush=True)


def _least(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the fastest of some simulations."""
    least, spent = float("inf"), 0.0
    gc.collect()
    gc.disable()
    while spent < LEAST:
        start = time.process_time()
        work()
        took = time.process_time() - start
        least, spent = min(least, took), spent + took
    gc.enable()
    return least


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        worker()
    else:
        sys.exit(main())
