"""The places where a secret may begin in a text: at the head of a key, or after a word that tells
it.

Only there are the patterns of `secret_patterns.py` tried: each word is found once, whatever the
number of patterns that may stand behind it, so that the time grows with the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import regex

from playground.recordings.secret_fragments import (
    BEFORE_KEY,
    BEFORE_TOKEN,
    NAME_END,
    TELLING,
    expanded,
)
from playground.recordings.secret_patterns import HEADED, WORDED

if TYPE_CHECKING:
    from playground.recordings.ngram_filter import NgramFilter

# Not inside a word or Base64; a line's end or the like may be there as an escape.
_BOUNDARY: Final = regex.compile(
    r"(?<![A-Za-z0-9_+-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=(?:\x1b|\\(?:e|033|x1[bB]|u001[bB]))\[[0-9;]{0,20}[A-Za-z])"  # a terminal's colour
    r"|(?<=(?:\A|\n|\\n)[+-])"  # a line of a diff
)
# in a pattern: what may be escaped in JSON
_ESCAPED: Final = re.compile(r"""\\[sSDWZ\\]|\[\^|["']""")
_LOWER: Final = {code: code + 32 for code in range(65, 91)}
_NEXT: Final = expanded(r"[^\s\"'\\]{0,4096}<quote><gap>,<gap><quote>")  # an item, the next one
_REACH: Final = 240  # characters from a word to its value: quotation marks have 15 backslashes
_PAIR: Final = 2
_MOST_CHARACTERS: Final = 256  # of which it is known what they allow behind a word
_FEW: Final = 8  # heads that are quicker looked for one by one
_PASS: Final = re.compile(r"w(?:or)?d|phrase|code", re.IGNORECASE)
_NAME_END: Final = re.compile(NAME_END, re.IGNORECASE)
# What a name ends before; a letter goes on with it, but for the plural's.
_GOES_ON: Final = re.compile(r"[A-Za-rt-z]")
_LONGEST_BEFORE: Final = max(map(len, (*BEFORE_KEY, *BEFORE_TOKEN))) + 1


class _Headed(NamedTuple):
    kind: str
    pattern: Any
    anywhere: bool
    is_plain: bool  # has no sign that JSON escapes


class Beginning(NamedTuple):
    """A place where a secret may begin, and the pattern that decides.

    Of two at one place, that with the longer head is tried first, because it says more; of two
    without a head, the one that is first in the table.
    """

    start: int
    head: int  # its length
    rank: int
    kind: str
    pattern: Any


class _Behind(NamedTuple):
    """A row of the table for values that a word tells."""

    rank: int
    kind: str
    before: Any
    begins_before: bool
    lead: re.Pattern[str]
    again: re.Pattern[str]
    value: Any


class _Rows:
    """The rows for a word, and which of them a character behind the word allows."""

    def __init__(self, rows: list[_Behind]) -> None:
        self._rows = rows
        self._by_character: dict[str, list[_Behind]] = {}

    def before(self, character: str) -> list[_Behind]:
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
    """Return True if more text could make a pattern match behind a word in capital letters."""
    return regex.match(lead, f"A{character}", pos=1, partial=True) is not None


class _Tables(NamedTuple):
    by_head: dict[str, list[_Headed]]
    by_low_head: dict[str, list[str]]  # as it is in small letters
    heads_by_end: dict[str, list[str]]
    by_word: dict[str, _Rows]
    by_name: _Rows
    by_sign: dict[str, list[str]]  # words, by what no text with one of them lacks
    in_json: dict[str, str]  # words by how JSON writes them
    head_end: re.Pattern[str]
    head: re.Pattern[str]
    small: list[str]  # heads that begin with a small letter, which is everywhere


class Clues(NamedTuple):
    """The words and heads in a text that may begin a secret; its pieces hold no others."""

    heads: tuple[str, ...]
    words: tuple[str, ...]

    def stand_in(self, text: str) -> bool:
        """Return True if one of them stands in a text."""
        low = _lower(text) if self.words else ""
        return any(head in text for head in self.heads) or any(word in low for word in self.words)


def clues_in(text: str) -> Clues:
    """The words that stand in a text, and the heads with what follows them in a key, where that is
    the same in JSON."""
    tables = _tables()
    data, (short, long) = text.encode("utf-8", "surrogatepass"), _presence()
    low = data.lower()  # of bytes only ASCII's letters
    pairs, near = short.may_be_in(data), long.may_be_in(low)
    likely = [*pairs, *(head for word in near for head in tables.by_low_head.get(word, ()))]
    heads = tuple(h for h in likely if h in tables.by_head and _may_begin(tables, text, h))
    maybe = {*map(_lower, pairs), *near} & tables.in_json.keys()
    words = {tables.in_json[word] for word in maybe if word.encode() in low}
    return Clues(heads, tuple(sorted(words)))


def _may_begin(tables: _Tables, text: str, head: str) -> bool:
    """Return True if a key of this head may stand in a text, or in one that it is the JSON of."""
    kinds = tables.by_head[head]
    if head not in text or not all(kind.is_plain for kind in kinds):
        return head in text
    return any(kind.pattern.search(text) for kind in kinds)


def heads(text: str, start: int, clues: Clues | None = None) -> Iterator[Beginning]:
    """Yield the places of heads, and the patterns of the kinds that begin so."""
    tables = _tables()
    if clues is not None and len(clues.heads) <= _FEW:
        for head in clues.heads:
            yield from _each_headed(tables, text, head, start)
        return
    for match in tables.head_end.finditer(text, start):
        for head in tables.heads_by_end[text[match.end() - 2 : match.end()]]:
            place = match.end() - len(head)
            if place >= start and text.startswith(head, place):
                yield from _headed(tables, text, head, place)
    for match in tables.head.finditer(text, start):
        yield from _headed(tables, text, match[0], match.start())
    for head in tables.small:
        if head in text:
            yield from _each_headed(tables, text, head, start)


def _each_headed(tables: _Tables, text: str, head: str, start: int) -> Iterator[Beginning]:
    """The kinds of a head wherever it stands."""
    for place, _ in _each(head, text, start):
        yield from _headed(tables, text, head, place)


def _headed(tables: _Tables, text: str, head: str, place: int) -> Iterator[Beginning]:
    """The kinds whose head stands there, if they may."""
    free = _BOUNDARY.match(text, place) is not None
    for each in tables.by_head[head]:
        if free or each.anywhere:
            yield Beginning(place, len(head), 0, each.kind, each.pattern)


def _last_two(heads: list[str], last: str) -> str:
    """A pattern of the last two characters of the heads that end so."""
    before = sorted({head[-2] for head in heads if head[-1] == last})
    return f"[{re.escape(''.join(before))}]{re.escape(last)}"


def behind_words(text: str, start: int, clues: Clues | None = None) -> Iterator[Beginning]:
    """The values that a word before them speaks of."""
    tables = _tables()
    if clues is not None and not clues.words:
        return
    low = _lower(text)
    signs = tables.by_sign.items()
    words = clues.words if clues else [w for sign, each in signs if sign in low for w in each]
    for word in [word for word in words if word in low]:
        rows = tables.by_word.get(word, _NO_ROWS)
        for at, stop in _each(word, low, start):
            for row in rows.before(text[stop : stop + 1]):
                yield from _told_by(row, text, at, stop)
            if word in TELLING and (name := _name(word, text, low, at, stop)):
                for end in name[1:]:
                    for row in tables.by_name.before(text[end : end + 1]):
                        yield from _told_by(row, text, name[0], end, word[0] == "p")


def _name(word: str, text: str, low: str, at: int, stop: int) -> tuple[int, ...]:
    """Return where a name begins that tells a secret, and where it may end; nothing if the word
    here is part of none."""
    if word in ("key", "token"):
        before = low[max(0, at - _LONGEST_BEFORE) : at]
        told = before[:-1] if before[-1:] in (" ", "_", "-") else before
        known = BEFORE_KEY if word == "key" else BEFORE_TOKEN
        if not told.endswith(known):
            return ()
        at -= len(before) - len(told) + max(len(each) for each in known if told.endswith(each))
    elif word != "secret" and word != "pwd":
        rest = _PASS.match(text, stop) if word == "pass" else None
        if rest is None and "a" <= low[at - 1 : at] <= "z":
            return ()
        stop = rest.end() if rest else stop
    if _GOES_ON.match(text, stop):
        return ()
    more = _NAME_END.match(text, stop)
    return (at, stop, more.end()) if more else (at, stop)


def _told_by(
    row: _Behind, text: str, at: int, stop: int, is_password: bool = False
) -> Iterator[Beginning]:
    """Yield the place of the value that a row of the table finds behind a word, or of each value of
    a list."""
    lead = row.lead.match(text, stop, stop + _REACH)
    if lead is None:
        return
    before = row.before.match(text, at)
    if before is None:
        return
    kind = "password" if is_password and row.kind in ("named", "flag") else row.kind
    place = before.start(1) if row.begins_before else lead.end()
    yield Beginning(place, 0, row.rank, kind, row.value)
    if row.again.pattern == _NEXT and "[" not in lead[0]:
        return
    while item := row.again.match(text, place):
        yield Beginning(place := item.end(), 0, row.rank, kind, row.value)


def _lower(text: str) -> str:
    """ASCII's letters as small ones: the text is as long as it was."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _each(word: str, text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the places of a word."""
    at = text.find(word, start)
    while at >= 0:
        yield at, at + len(word)
        at = text.find(word, at + 1)


def _tree(words: Iterable[str]) -> str:
    """A pattern of words that looks at each character once."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    rest = [re.escape(first) + _tree(tails) for first, tails in sorted(by_first.items()) if first]
    rest += [""] if "" in by_first else []
    return rest[0] if len(rest) == 1 else f"(?:{'|'.join(rest)})"


def _patterns_by_head() -> dict[str, list[_Headed]]:
    found: dict[str, list[_Headed]] = {}
    for row in HEADED:
        is_plain = not _ESCAPED.search(row.value)
        for head in row.heads:
            pattern = regex.compile(row.pattern(head))
            found.setdefault(head, []).append(_Headed(row.name, pattern, row.anywhere, is_plain))
    return found


def _rows_by_word() -> tuple[dict[str, _Rows], _Rows]:
    """Return the rows for each word, and those for each name that tells a secret."""
    by_word: dict[str, list[_Behind]] = {}
    by_name: list[_Behind] = []
    for rank, row in enumerate(WORDED):
        before = regex.compile(row.before)
        entry = _Behind(
            rank,
            row.name,
            before,
            before.groups > 0,
            re.compile(row.lead),
            re.compile(row.again or _NEXT),
            regex.compile(row.pattern()),
        )
        for word in row.words:
            by_word.setdefault(word, []).append(entry)
        if not row.words:
            by_name.append(entry)
    return {word: _Rows(rows) for word, rows in by_word.items()}, _Rows(by_name)


@cache
def _presence() -> tuple[NgramFilter, NgramFilter]:
    """Of heads and words of two letters, as they may stand in a text: small ones are in every
    text; and of all longer ones in small letters."""
    from playground.recordings.ngram_filter import NgramFilter  # which loads NumPy

    tables = _tables()
    short = {head for head in tables.by_head if len(head) == _PAIR}
    for word in tables.in_json:
        if len(word) == _PAIR:
            short.update(map("".join, product(*({c, c.upper()} for c in word))))
    long = {each for each in (*tables.by_low_head, *tables.in_json) if len(each) > _PAIR}
    return NgramFilter(sorted(short)), NgramFilter(sorted(long))


@cache
def _tables() -> _Tables:
    """The patterns of all kinds; compiling them takes a tenth of a second."""
    by_head = _patterns_by_head()
    # Most heads end in one of few characters, which are quickly looked for; of the others those
    # that begin with a capital letter are looked for at once, the rest one by one.
    ending = [head for head in by_head if head[-1] in "-_./"]
    by_end: dict[str, list[str]] = {}
    for head in ending:
        by_end.setdefault(head[-2:], []).append(head)
    by_low: dict[str, list[str]] = {}
    for head in by_head:
        by_low.setdefault(_lower(head), []).append(head)
    by_word, by_name = _rows_by_word()
    words = sorted({*by_word, *TELLING})
    signs = {word: row.sign for row in WORDED for word in row.words if row.sign}
    by_sign: dict[str, list[str]] = {}
    for word in words:
        inner = next((sign for sign in word if not sign.isalnum()), "")
        by_sign.setdefault(signs.get(word, inner), []).append(word)
    return _Tables(
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
