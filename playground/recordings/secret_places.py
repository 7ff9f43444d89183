"""Where a secret may begin in a text: behind a word that tells it, or at the head of a key.

Only there are the patterns of `secret_kinds.py` and `secret_words.py` tried. Words that stand close
together share what is looked for around them, so that the time grows with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import regex

from playground.recordings.secret_kinds import HEADED
from playground.recordings.secret_values import GAP, QUOTE
from playground.recordings.secret_words import WORDED

if TYPE_CHECKING:
    from playground.recordings.presence import WordPresence

# Not inside a word or Base64; a line's end or the like may be there as an escape.
_BOUNDARY: Final = regex.compile(
    r"(?<![A-Za-z0-9_+-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=(?:\x1b|\\(?:e|033|x1[bB]|u001[bB]))\[[0-9;]{0,20}[A-Za-z])"  # a terminal's colour
    r"|(?<=(?:\A|\n|\\n)[+-])"  # a line of a diff
)
_ESCAPED: Final = re.compile(
    r"""\\[sSDWZ\\]|\[\^|["']"""
)  # in a pattern: what may be escaped in JSON
_LOWER: Final = {code: code + 32 for code in range(65, 91)}
_BETWEEN: Final = 240  # characters from a name to its value: quotation marks have 15 backslashes
_NEXT: Final = re.compile(
    rf"[^\s\"'\\]{{0,4096}}{QUOTE}{GAP},{GAP}{QUOTE}"
)  # an item, the next one
_PAIR: Final = 2
_FEW: Final = 8  # heads that are quicker looked for one by one
_LOOK_BACK: Final = 48  # characters from the beginning of what tells it to a word in it


class _Headed(NamedTuple):
    kind: str
    pattern: Any
    anywhere: bool
    is_plain: bool  # has no sign that JSON escapes


class Beginning(NamedTuple):
    """Where a secret may begin, and the pattern that decides. Of two at one place, that with the
    longer head is tried first: it says more."""

    start: int
    head: int  # its length
    kind: str
    pattern: Any


class _Context(NamedTuple):
    """What stands around a word and tells a value, which its own pattern decides."""

    pattern: str
    kind: str
    value: Any


# By the signs without one of which nothing is found, and by word.
_Contexts = dict[tuple[str, ...], dict[str, list[_Context]]]


class _Tables(NamedTuple):
    by_head: dict[str, list[_Headed]]
    by_low_head: dict[str, list[str]]  # as it is in small letters
    heads_by_end: dict[str, list[str]]
    by_word: _Contexts
    words: list[str]  # all of those, each once
    all_words: frozenset[str]
    head_end: re.Pattern[str]
    head: re.Pattern[str]
    small: list[str]  # heads that begin with a small letter, which is everywhere


class Clues(NamedTuple):
    """The words and heads in a text that may begin a secret; its pieces hold no others."""

    heads: tuple[str, ...]
    by_word: _Contexts
    words: tuple[str, ...]  # all of those, each once

    def stand_in(self, text: str) -> bool:
        """Whether one of them stands in a text."""
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
    maybe = {*map(_lower, pairs), *near} & tables.all_words
    there = {word for word in maybe if word.encode() in low}
    by_word: _Contexts = {}
    for signs, words in tables.by_word.items():
        if there.isdisjoint(words):
            continue
        if not signs or any(sign.encode() in low for sign in signs):
            by_word[signs] = {word: words[word] for word in words if word in there}
    return Clues(heads, by_word, tuple({word for words in by_word.values() for word in words}))


def _may_begin(tables: _Tables, text: str, head: str) -> bool:
    """Return True if a key of this head may stand in a text, or in one that it is the JSON of."""
    kinds = tables.by_head[head]
    if head not in text or not all(kind.is_plain for kind in kinds):
        return head in text
    return any(kind.pattern.search(text) for kind in kinds)


def heads(text: str, start: int, clues: Clues | None = None) -> Iterator[Beginning]:
    """Where a head stands, and the patterns of the kinds that begin so."""
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
        yield from _each_headed(tables, text, head, start)


def _each_headed(tables: _Tables, text: str, head: str, start: int) -> Iterator[Beginning]:
    """The kinds of a head wherever it stands."""
    at = text.find(head, start)
    while at >= 0:
        yield from _headed(tables, text, head, at)
        at = text.find(head, at + 1)


def _headed(tables: _Tables, text: str, head: str, place: int) -> Iterator[Beginning]:
    """The kinds whose head stands there, if they may."""
    free = _BOUNDARY.match(text, place) is not None
    for each in tables.by_head[head]:
        if free or each.anywhere:
            yield Beginning(place, len(head), each.kind, each.pattern)


def _last_two(heads: list[str], last: str) -> str:
    """A pattern of the last two characters of the heads that end so."""
    before = sorted({head[-2] for head in heads if head[-1] == last})
    return f"[{re.escape(''.join(before))}]{re.escape(last)}"


def behind_words(text: str, start: int, clues: Clues | None = None) -> Iterator[Beginning]:
    """The values that a word before them speaks of."""
    known = clues or _tables()
    if not known.words:
        return
    low = _lower(text)
    there = {word for word in known.words if word in low}
    if not there:
        return
    for signs, by_word in known.by_word.items():
        if signs and not any(sign in low for sign in signs):
            continue
        for word, contexts in by_word.items():
            for context in contexts if word in there else ():
                for place in _told_by(context.pattern, text, _each(word, low, start)):
                    yield Beginning(place, 0, context.kind, context.value)


def _lower(text: str) -> str:
    """ASCII's letters as small ones: the text is as long as it was."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _each(word: str, low: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the places of a word."""
    at = low.find(word, start)
    while at >= 0:
        yield at, at + len(word)
        at = low.find(word, at + len(word))


def _told_by(context: str, text: str, words: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield the places of the values that a context around one of these words announces."""
    tried = 0  # before here the context began nowhere else
    for at, stop in words:
        begin = max(tried, at - _LOOK_BACK)
        # begun from before a word, and not behind it, where another one would be met
        pattern = _beginning_within(context, (at - begin).bit_length())
        found = pattern.match(text, begin, stop + _BETWEEN)
        while found and found.start(1) <= at:
            yield from _values_behind(text, found)
            found = pattern.match(text, max(found.end(), found.start(1) + 1), stop + _BETWEEN)
        tried = at + 1


@cache
def _beginning_within(context: str, bits: int) -> re.Pattern[str]:
    """Finds a context that begins before so many characters, of which its bits are told: words
    that stand close together are not looked around again and again."""
    return re.compile(rf"[\s\S]{{0,{min(_LOOK_BACK, 1 << bits)}}}?({context})")


def _values_behind(text: str, context: re.Match[str]) -> Iterator[int]:
    """Yield the place of the value, or of each value of a list."""
    yield (place := context.end())
    while "[" in context[1] and (item := _NEXT.match(text, place)):
        yield (place := item.end())


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
    for kind in HEADED:
        is_plain = not _ESCAPED.search(kind.rest)
        for head in kind.heads:
            pattern = regex.compile(f"{re.escape(head)}(?:{kind.rest}){kind.end_behind(head)}")
            found.setdefault(head, []).append(_Headed(kind.name, pattern, kind.anywhere, is_plain))
    return found


def _contexts_by_word() -> dict[tuple[str, ...], dict[str, list[_Context]]]:
    found: dict[tuple[str, ...], dict[str, list[_Context]]] = {}
    for kind in WORDED:
        entry = _Context(kind.context, kind.name, regex.compile(kind.rest + kind.after))
        for word in kind.words:
            found.setdefault(kind.signs, {}).setdefault(word, []).append(entry)
    return found


@cache
def _presence() -> tuple[WordPresence, WordPresence]:
    """Of heads and words of two letters, as they may stand in a text: small ones are in every
    text; and of all longer ones in small letters."""
    from playground.recordings.presence import WordPresence  # which loads NumPy

    tables = _tables()
    short = {head for head in tables.by_head if len(head) == _PAIR}
    for word in tables.words:
        if len(word) == _PAIR:
            short.update(map("".join, product(*({c, c.upper()} for c in word))))
    long = {each for each in (*tables.by_low_head, *tables.words) if len(each) > _PAIR}
    return WordPresence(sorted(short)), WordPresence(sorted(long))


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
    by_word = _contexts_by_word()
    words = sorted({word for words in by_word.values() for word in words})
    return _Tables(
        by_head,
        by_low,
        by_end,
        by_word,
        words,
        frozenset(words),
        re.compile("|".join(f"{re.escape(last)}(?<={_last_two(ending, last)})" for last in "-_./")),
        re.compile(_tree(head for head in by_head if head not in ending and not head[0].islower())),
        [head for head in by_head if head not in ending and head[0].islower()],
    )
