"""Find the places in a text where a secret may begin: a key's head, or a word such as `password`.

The patterns of `secret_patterns.py` are tried only there. Each word is searched for once, however
many patterns follow it, so the time is linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import regex

from playground.recordings.secret_fragments import (
    BEFORE_KEY,
    BEFORE_TOKEN,
    NAME_END,
    TELLING,
    expand,
)
from playground.recordings.secret_patterns import HEADED, WORDED

# A place outside words and Base64. An escape right before it, such as \n or %20, is not a word.
_BOUNDARY: Final = regex.compile(
    r"(?<![A-Za-z0-9_+-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=(?:\x1b|\\(?:e|033|x1[bB]|u001[bB]))\[[0-9;]{0,20}[A-Za-z])"  # a terminal's colour
    r"|(?<=(?:\A|\n|\\n)[+-])"  # a line of a diff
)
# Parts of a pattern that match characters which JSON escapes.
_ESCAPED: Final = re.compile(r"""\\[sSDWZ\\]|\[\^|["']""")
_LOWER: Final = {code: code + 32 for code in range(65, 91)}
_TO_NEXT_ITEM: Final = expand(r"[^\s\"'\\]{0,4096}<quote><gap>,<gap><quote>")  # from item to item
_REACH: Final = 240  # characters from a word to its value: a quote may have 15 backslashes
_MOST_CHARACTERS: Final = 256  # number of characters whose rows are cached for each word
_END_LENGTH: Final = 4  # heads are looked up by so many last characters
_FEW: Final = 8  # up to so many heads, searching for them one by one is faster
_PASSWORD_END: Final = re.compile(r"w(?:or)?d|phrase|code", re.IGNORECASE)
_NAME_END: Final = re.compile(NAME_END, re.IGNORECASE)
# A letter after a word shows that the word is not a secret's name, unless it is a plural's s.
_LETTER_AFTER: Final = re.compile(r"[A-Za-rt-z]")
_LONGEST_BEFORE: Final = max(map(len, (*BEFORE_KEY, *BEFORE_TOKEN))) + 1


class _HeadPattern(NamedTuple):
    kind: str
    pattern: Any
    anywhere: bool
    is_plain: bool  # True if it matches no character that JSON escapes


class Beginning(NamedTuple):
    """A place where a secret may begin, and the pattern that decides.

    At one place the pattern with the longest head is tried first, because it is the most specific;
    among patterns without heads, the first one in the table.
    """

    start: int
    head: int  # the head's length
    rank: int
    kind: str
    pattern: Any


class _WordPattern(NamedTuple):
    """A row of the table for values after a word."""

    rank: int
    kind: str
    before: Any
    begins_before: bool
    lead: re.Pattern[str]
    again: re.Pattern[str]
    value: Any


class _Rows:
    """The rows for a word, selected by the character after the word."""

    def __init__(self, rows: list[_WordPattern]) -> None:
        self._rows = rows
        self._by_character: dict[str, list[_WordPattern]] = {}

    def starting_with(self, character: str) -> list[_WordPattern]:
        """Return the rows whose `lead` may begin with a character, or be empty."""
        if character not in self._by_character:
            if len(self._by_character) > _MOST_CHARACTERS:
                return self._rows
            self._by_character[character] = [
                row for row in self._rows if _may_begin_with(row.lead.pattern, character)
            ]
        return self._by_character[character]


_NO_ROWS: Final = _Rows([])


def _may_begin_with(lead: str, character: str) -> bool:
    """Return True if `lead`, or its beginning, matches `character` right after a word (here A)."""
    return regex.match(lead, f"A{character}", pos=1, partial=True) is not None


class SearchTables(NamedTuple):
    """The compiled patterns and words of all kinds of secrets, as they are looked up."""

    by_head: dict[str, list[_HeadPattern]]
    by_low_head: dict[str, list[str]]  # heads, by their form in small letters
    heads_by_end: dict[str, list[str]]
    by_word: dict[str, _Rows]
    by_name: _Rows
    by_sign: dict[str, list[str]]  # words, by a character that every text with them contains
    in_json: dict[str, str]  # words, by their form in JSON and by the word itself
    head_end: re.Pattern[str]
    head: re.Pattern[str]
    small: list[str]  # heads that begin with a small letter, which are looked for one by one


class Clues(NamedTuple):
    """The heads and words in a text that may belong to a secret; no part of the text has others."""

    heads: tuple[str, ...]
    words: tuple[str, ...]

    def occur_in(self, text: str) -> bool:
        """Return True if a text contains one of these heads or words."""
        low = lower(text) if self.words else ""
        return any(head in text for head in self.heads) or any(word in low for word in self.words)


def find_heads(text: str, start: int, clues: Clues | None = None) -> Iterator[Beginning]:
    """Yield the places of heads from `start` on, with the patterns of the keys that begin so. With
    `clues`, look only for their heads."""
    tables = search_tables()
    if clues is not None and len(clues.heads) <= _FEW:
        for head in clues.heads:
            yield from _find_head(tables, text, head, start)
        return
    for match in tables.head_end.finditer(text, start):
        yield from _heads_before(tables, text, start, match.end())
    for match in tables.head.finditer(text, start):
        yield from _at_head(tables, text, match[0], match.start())
    for head in tables.small:
        if head in text:
            yield from _find_head(tables, text, head, start)


def _heads_before(tables: SearchTables, text: str, start: int, end: int) -> Iterator[Beginning]:
    """Yield the heads that end at a place and begin at `start` or after it."""
    for size in (2, 3, _END_LENGTH):  # heads of two and three characters, and all longer ones
        if end - size < start:
            return
        for head in tables.heads_by_end.get(text[end - size : end], ()):
            place = end - len(head)
            if place >= start and text.startswith(head, place):
                yield from _at_head(tables, text, head, place)


def _find_head(tables: SearchTables, text: str, head: str, start: int) -> Iterator[Beginning]:
    """Yield the places of one head, with its patterns."""
    for place, _ in _occurrences(head, text, start):
        yield from _at_head(tables, text, head, place)


def _at_head(tables: SearchTables, text: str, head: str, place: int) -> Iterator[Beginning]:
    """Yield the patterns of a head that may begin at this place."""
    at_boundary = _BOUNDARY.match(text, place) is not None
    for each in tables.by_head[head]:
        if at_boundary or each.anywhere:
            yield Beginning(place, len(head), 0, each.kind, each.pattern)


def _last_two(heads: list[str], last: str) -> str:
    """Return a pattern of the last two characters of the heads that end with `last`."""
    before = sorted({head[-2] for head in heads if head[-1] == last})
    return f"[{re.escape(''.join(before))}]{re.escape(last)}"


def find_after_words(text: str, start: int, clues: Clues | None = None) -> Iterator[Beginning]:
    """Yield the places of values after words from `start` on, with the patterns to try there. With
    `clues`, look only for their words."""
    tables = search_tables()
    if clues is not None and not clues.words:
        return
    low = lower(text)
    signs = tables.by_sign.items()
    words = clues.words if clues else [w for sign, each in signs if sign in low for w in each]
    low_rest = low[start:]
    for word in [word for word in words if word in low_rest]:
        rows = tables.by_word.get(word, _NO_ROWS)
        for at, stop in _occurrences(word, low, start):
            for row in rows.starting_with(text[stop : stop + 1]):
                yield from _values_after(row, text, at, stop)
            if word in TELLING and (name := _secret_name(word, text, low, at, stop)):
                for end in name[1:]:
                    for row in tables.by_name.starting_with(text[end : end + 1]):
                        yield from _values_after(row, text, name[0], end, word[0] == "p")


def _secret_name(word: str, text: str, low: str, at: int, stop: int) -> tuple[int, ...]:
    """Return the start of the secret's name to which the word from `at` to `stop` belongs, and its
    possible ends; () if it belongs to none. `low` is the text in small letters."""
    if word in ("key", "token"):
        before = low[max(0, at - _LONGEST_BEFORE) : at]
        stem = before[:-1] if before[-1:] in (" ", "_", "-") else before
        words = BEFORE_KEY if word == "key" else BEFORE_TOKEN
        if not stem.endswith(words):
            return ()
        at -= len(before) - len(stem) + max(len(each) for each in words if stem.endswith(each))
    elif word != "secret" and word != "pwd":
        password_end = _PASSWORD_END.match(text, stop) if word == "pass" else None
        if password_end is None and "a" <= low[at - 1 : at] <= "z":
            return ()
        stop = password_end.end() if password_end else stop
    if _LETTER_AFTER.match(text, stop):
        return ()
    name_end = _NAME_END.match(text, stop)
    return (at, stop, name_end.end()) if name_end else (at, stop)


def _values_after(
    row: _WordPattern, text: str, at: int, stop: int, is_password: bool = False
) -> Iterator[Beginning]:
    """Yield the place of the value after the word from `at` to `stop`, or of each value of a list,
    as `row` says. With `is_password`, a named value's kind is "password"."""
    lead = row.lead.match(text, stop, stop + _REACH)
    if lead is None:
        return
    before = row.before.match(text, at)
    if before is None:
        return
    kind = "password" if is_password and row.kind in ("named", "flag") else row.kind
    place = before.start(1) if row.begins_before else lead.end()
    yield Beginning(place, 0, row.rank, kind, row.value)
    if row.again.pattern == _TO_NEXT_ITEM and "[" not in lead[0]:
        return
    while item := row.again.match(text, place):
        yield Beginning(place := item.end(), 0, row.rank, kind, row.value)


def lower(text: str) -> str:
    """Return the text with ASCII letters in lower case; its length stays."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _occurrences(word: str, text: str, start: int) -> Iterator[tuple[int, int]]:
    at = text.find(word, start)
    while at >= 0:
        yield at, at + len(word)
        at = text.find(word, at + 1)


def _tree(words: Iterable[str]) -> str:
    """Return a pattern that matches any of the words, and looks at each character once."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    rest = [re.escape(first) + _tree(tails) for first, tails in sorted(by_first.items()) if first]
    rest += [""] if "" in by_first else []
    return rest[0] if len(rest) == 1 else f"(?:{'|'.join(rest)})"


def _patterns_by_head() -> dict[str, list[_HeadPattern]]:
    patterns: dict[str, list[_HeadPattern]] = {}
    for row in HEADED:
        is_plain = not _ESCAPED.search(row.value)
        for head in row.heads:
            pattern = regex.compile(row.pattern(head))
            patterns.setdefault(head, []).append(
                _HeadPattern(row.name, pattern, row.anywhere, is_plain)
            )
    return patterns


def _rows_by_word() -> tuple[dict[str, _Rows], _Rows]:
    """Return the rows for each word, and the rows for every name of a secret."""
    by_word: dict[str, list[_WordPattern]] = {}
    by_name: list[_WordPattern] = []
    for rank, row in enumerate(WORDED):
        before = regex.compile(row.before)
        entry = _WordPattern(
            rank,
            row.name,
            before,
            before.groups > 0,
            re.compile(row.lead),
            re.compile(row.again or _TO_NEXT_ITEM),
            regex.compile(row.pattern()),
        )
        for word in row.words:
            by_word.setdefault(word, []).append(entry)
        if not row.words:
            by_name.append(entry)
    return {word: _Rows(rows) for word, rows in by_word.items()}, _Rows(by_name)


@cache
def search_tables() -> SearchTables:
    """Compile the patterns of all kinds, which takes a tenth of a second."""
    by_head = _patterns_by_head()
    # Most heads end in one of few characters, which are quick to look for. Of the others, those
    # that begin with a capital letter are looked for together, the rest one by one.
    ending = [head for head in by_head if head[-1] in "-_./"]
    by_end: dict[str, list[str]] = {}
    for head in ending:
        by_end.setdefault(head[-_END_LENGTH:], []).append(head)
    by_low: dict[str, list[str]] = {}
    for head in by_head:
        by_low.setdefault(lower(head), []).append(head)
    by_word, by_name = _rows_by_word()
    words = sorted({*by_word, *TELLING})
    signs = {word: row.sign for row in WORDED for word in row.words if row.sign}
    by_sign: dict[str, list[str]] = {}
    for word in words:
        inner = next((sign for sign in word if not sign.isalnum()), "")
        by_sign.setdefault(signs.get(word, inner), []).append(word)
    return SearchTables(
        by_head,
        by_low,
        by_end,
        by_word,
        by_name,
        by_sign,
        {form: word for word in words for form in (word, json.dumps(word)[1:-1])},
        re.compile("|".join(f"{re.escape(last)}(?<={_last_two(ending, last)})" for last in "-_./")),
        re.compile(_tree(head for head in by_head if head not in ending and not head[0].islower())),
        [head for head in by_head if head not in ending and head[0].islower()],
    )
