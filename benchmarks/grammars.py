"""Every dialect's grammar in llguidance: its sizes, its times, and a random search over it.

`python benchmarks/grammars.py [WALKS] [SEED] [DIALECT …]` prints a row for each dialect: bytes of
each form, milliseconds to make and to compile it, calls of ours that were taken and wrong ones that
were refused, and of WALKS random texts that the engine takes those that are read as they should be.
Exits 1 where one is not.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from grammar_walk import (
    Engine,
    baits_of,
    fault,
    grammar_for,
    right_calls,
    tools_for,
    wrong_calls,
)

from playground.dialects import DeclaredDialect, as_dialects

HEAD = (
    "dialect",
    "lark B",
    "GBNF B",
    "make ms",
    "compile ms",
    "ours taken",
    "wrong refused",
    "walks read",
    "unended",
)


def row(dialect: DeclaredDialect, walks: int, seed: int) -> tuple[list[object], list[str]]:
    """A dialect's figures, and what was wrong with what the engine took."""
    begun = time.perf_counter()
    grammar = grammar_for(dialect)
    lark = grammar.lark
    made = time.perf_counter()
    engine = Engine(lark)
    compiled = time.perf_counter()
    tools = tools_for(dialect)
    right = [dialect.format_tool_call(call, tools) for call in right_calls(dialect)]
    wrong = [dialect.format_tool_call(call, tools) for call in wrong_calls(dialect)]
    baits = baits_of(dialect, right)
    texts = [engine.walk(seed + number, baits) for number in range(walks)]
    ended = [text for text in texts if text is not None]
    faults = [(fault(dialect, text, tools, required=True), text) for text in ended]
    bad = [f"{dialect.name}: {why} {text!r:.200}" for why, text in faults if why]
    figures = [
        dialect.name,
        len(lark.encode()),
        len(grammar.gbnf.encode()),
        f"{(made - begun) * 1000:.1f}",
        f"{(compiled - made) * 1000:.1f}",
        f"{sum(map(engine.accepts, right))}/{len(right)}",
        f"{sum(not engine.accepts(text) for text in wrong)}/{len(wrong)}",
        f"{len(ended) - len(bad)}/{len(ended)}",
        walks - len(ended),
    ]
    return figures, bad


def main(given: list[str]) -> int:
    numbers = [int(each) for each in given if each.isdigit()]
    walks, seed = [*numbers, *[100, 1][len(numbers) :]][:2]
    names = [each for each in given if not each.isdigit()]
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    faults: list[str] = []
    for dialect in as_dialects(names):
        if isinstance(dialect, DeclaredDialect):
            figures, bad = row(dialect, walks, seed)
            print(f"| {' | '.join(map(str, figures))} |", flush=True)
            faults += bad
    print("\n".join(faults))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
