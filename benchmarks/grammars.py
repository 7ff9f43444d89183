"""Every dialect's grammar in llguidance: its sizes, its times, and a random search over it.

`python benchmarks/grammars.py [WALKS] [SEED] [DIALECT …]` prints a row for each dialect: bytes of
each form, milliseconds to make and to compile it, calls of ours that were taken and wrong ones that
were refused, and how many of WALKS random texts that the engine takes are read as they should be.
Exits with 1 if one is not.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from grammar_walk import Engine, Tried, grammar_for, print_table

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


def row(tried: Tried, walks: int, seed: int) -> tuple[list[object], list[str]]:
    """Return a dialect's figures, and a line for each random text of the engine that is not read as
    it should be."""
    begun = time.perf_counter()
    grammar = grammar_for(tried.dialect)
    lark = grammar.lark
    made = time.perf_counter()
    engine = Engine(lark)
    compiled = time.perf_counter()
    texts = tried.walks(engine, range(seed, seed + walks))
    ended = [text for text in texts if text is not None]
    bad = tried.faults(ended)
    figures = [
        len(lark.encode()),
        len(grammar.gbnf.encode()),
        f"{(made - begun) * 1000:.1f}",
        f"{(compiled - made) * 1000:.1f}",
        *tried.taken(engine),
        f"{len(ended) - len(bad)}/{len(ended)}",
        walks - len(ended),
    ]
    return figures, bad


def main(given: list[str]) -> int:
    numbers = [int(each) for each in given if each.isdigit()]
    walks, seed = [*numbers, *[100, 1][len(numbers) :]][:2]
    names = [each for each in given if not each.isdigit()]
    return print_table(HEAD, names, lambda tried: row(tried, walks, seed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
