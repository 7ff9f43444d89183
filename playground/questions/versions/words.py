"""Compare two texts word by word, as `words.js` does in the browser. Lines are matched first, then
the words of differing lines. Matching takes time proportional to the product of both lengths; if
that is too much for words, sentences are matched before words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final

import regex

from playground.questions.comparison import MATCHED_PAIRS, Change, diff_lines, matched

_WORD: Final = regex.compile(r"\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]")
_SENTENCE: Final = regex.compile(r"[^.!?;\n]*[.!?;\n]+\s*|[^.!?;\n]+")
Run = tuple[Change, str]


def word_changes(before: str, after: str) -> list[Run]:
    """Return both texts in order, as runs that are the same, removed or added."""
    lines = diff_lines(before, after)
    runs = ((each.change, each.text) for each in lines if each.change != "heading")
    return list(_merged(_finer(runs, _words)))


def _finer(runs: Iterable[Run], match: Callable[[str, str], Iterator[Run]]) -> Iterator[Run]:
    """Yield the runs; replace each differing stretch by the runs that `match` returns for it."""
    for is_same, stretch in groupby(runs, lambda run: run[0] == "same"):
        pieces = list(stretch)
        if is_same:
            yield from pieces
            continue
        removed, added = (
            "".join(text for change, text in pieces if change == wanted)
            for wanted in ("removed", "added")
        )
        yield from match(removed, added)


def _words(old: str, new: str) -> Iterator[Run]:
    left, right = _WORD.findall(old), _WORD.findall(new)
    if len(left) * len(right) <= MATCHED_PAIRS:
        yield from matched(left, right)
        return
    sentences = matched(_SENTENCE.findall(old), _SENTENCE.findall(new))
    yield from _finer(sentences, lambda *sides: matched(*map(_WORD.findall, sides)))


def _merged(runs: Iterable[Run]) -> Iterator[Run]:
    for change, group in groupby(runs, lambda run: run[0]):
        yield change, "".join(text for _, text in group)
