"""Compare two texts word by word, as the browser shows it (`words.js`).

Lines are matched first, and words only within differing lines: the time of a match grows with the
product of both sides, and a system prompt of ten thousand words has a few changed lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import regex

from playground.questions.comparison import Change, diff_lines, matched

_WORD: Final = regex.compile(r"\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]")
Run = tuple[Change, str]


def word_changes(before: str, after: str) -> list[Run]:
    """Return all of both texts in order, as runs that are the same, removed or added."""
    runs: list[Run] = []
    for is_same, lines in groupby(diff_lines(before, after), lambda line: line.change == "same"):
        run = list(lines)
        if is_same:
            runs.append(("same", "".join(line.text for line in run)))
            continue
        old, new = (
            "".join(line.text for line in run if line.change == change)
            for change in ("removed", "added")
        )
        runs += _words(old, new)
    return list(_merged(runs))


def _words(old: str, new: str) -> Iterator[Run]:
    left, right = _WORD.findall(old), _WORD.findall(new)
    yield from matched(left, right)


def _merged(runs: list[Run]) -> Iterator[Run]:
    for change, group in groupby(runs, lambda run: run[0]):
        yield change, "".join(text for _, text in group)
