"""Secrets out of what is written: keys and tokens always, e-mail addresses where asked.

A secret is replaced by as many asterisks, so that offsets and the cuts between chunks stay. What
lies inside a longer run of Base64 (an encrypted reasoning block, an image) is no key and stays.
How text is searched is here; `wire_scrubbing.py` does it over the pieces of a stream,
`value_scrubbing.py` in JSON values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import regex

from playground.recordings.secret_kinds import GAP, KINDS, QUOTE

CONTEXT: Final = 200  # characters before a value that may say that it is a secret
_EMAIL: Final = r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"
# Not inside a word or Base64; a line's end or the like may be there as an escape.
_BEFORE: Final = (
    r"(?:(?<![A-Za-z0-9_+-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2}))"
)
_BOUNDARY: Final = re.compile(_BEFORE)
_EMAIL_START: Final = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]")
_ESCAPES: Final = re.compile(r"\\+[nrt]|[\s\\]+")
_MOST_REMEMBERED: Final = 100_000  # characters of secrets; after them each find counts
_LOWER: Final = {code: code + 32 for code in range(65, 91)}
_NESTED: Final = 4  # JSON in texts of JSON
_BETWEEN: Final = 160  # characters from a name to its value: quotation marks have 15 backslashes
_NEXT: Final = re.compile(
    rf"[^\s\"'\\]{{0,4096}}+{QUOTE}{GAP},{GAP}{QUOTE}"
)  # an item, the next one
_WITHOUT_SIGN: Final = ("bearer", "basic", "mailchimp")  # the value follows without = or :


class Secret(NamedTuple):
    """A secret in a text: half-open offsets in characters, and its kind's name."""

    start: int
    stop: int
    kind: str


class Search(NamedTuple):
    """The secrets of a text up to where one begins that its end leaves open, and from there on all
    that may be one, or is one unless it lies within another."""

    secrets: list[Secret]
    open: list[Secret]


class Tally:
    """How many secrets of which kind were starred out: each once, however often it was said, and
    none that was only a piece of another, or several in one."""

    def __init__(self) -> None:
        self._sure: dict[str, str] = {}  # kinds by texts, which leave this object never
        self._perhaps: dict[str, str] = {}
        self._size = 0
        self._forgotten: Counter[str] = Counter()

    def add(self, kind: str, text: str, *, sure: bool = True) -> None:
        """One was starred out; what escapes do to it makes it no other. Who is not `sure` may have
        seen what is none."""
        plain = _ESCAPES.sub("", text)
        into = self._sure if sure else self._perhaps
        if any(plain in known for known in into):
            return
        if self._size > _MOST_REMEMBERED:
            self._forgotten[kind] += sure
            return
        for piece in [known for known in into if known in plain]:
            del into[piece]
        into[plain] = kind
        self._size += len(plain)

    def __bool__(self) -> bool:
        return bool(self._sure or self._perhaps)

    @property
    def counts(self) -> dict[str, int]:
        """By kind; who is not sure is asked for the kinds that nobody else has seen."""
        found = Counter(self._sure.values()) + self._forgotten
        perhaps = Counter(self._perhaps.values())
        return dict(sorted({**perhaps, **found}.items()))


class _Tables(NamedTuple):
    by_head: dict[str, list[tuple[str, Any]]]
    heads_by_end: dict[str, list[str]]
    by_word: dict[str, list[tuple[Any, str, Any]]]
    head_end: re.Pattern[str]
    head: re.Pattern[str]
    small: list[str]  # heads that begin with a small letter, which is everywhere


class Searcher:
    """Finds secrets of all kinds, and those that are given, in texts that may go on.

    A text is first looked through for the few places where a secret may begin: a head, the first
    characters of one that is given, or a word such as `password` before a value. Only there are the
    patterns tried, which are bounded: the time grows with the text.
    """

    def __init__(self, secrets: Iterable[str] = (), *, emails: bool = False) -> None:
        self._given = _forms(secrets)
        forms = sorted(self._given, key=len, reverse=True)
        self._own = regex.compile("|".join(map(re.escape, forms))) if forms else None
        starts = sorted({re.escape(form[:3]) for form in forms}, key=len, reverse=True)
        self._own_starts = re.compile("|".join(starts)) if forms else None
        self._email = regex.compile(_EMAIL) if emails else None

    def search(self, text: str, start: int = 0, *, ended: bool = True) -> Search:
        """The secrets that begin at `start` or after it. Unless the text has `ended`, one that it
        breaks off in, or that touches its end and could go on, is open."""
        found: list[Secret] = []
        undecided: list[Secret] = []
        stop = start
        for place, kind, pattern in sorted(self._places(text, start), key=lambda each: each[0]):
            if place < stop:
                continue
            match = pattern.match(text, place, partial=not ended)
            if match is None or (ended and match.end() == place):
                continue
            if not ended and (match.partial or match.end() == len(text)):
                undecided.append(Secret(place, len(text), kind))
                continue
            stop = match.end()
            (undecided if undecided else found).append(Secret(place, stop, kind))
        return Search(found, undecided)

    def told(self, secret: str) -> str:
        """One of those that were given, in the form in which it was."""
        return self._given.get(secret, secret)

    def _places(self, text: str, start: int) -> Iterator[tuple[int, str, Any]]:
        """Where a secret may begin, its kind and the pattern that decides."""
        if self._own_starts is not None:
            for match in self._own_starts.finditer(text, start):
                yield match.start(), "environment", self._own
        yield from _heads(text, start)
        for place, kind, pattern in _behind_words(text, max(0, start - CONTEXT)):
            if place >= start:
                yield place, kind, pattern
        if self._email is not None:
            for match in _EMAIL_START.finditer(text, start):
                yield match.start(), "email", self._email


def _heads(text: str, start: int) -> Iterator[tuple[int, str, Any]]:
    """Where a head stands, the kinds that begin so, and their patterns."""
    tables = _tables()
    for match in tables.head_end.finditer(text, start):
        yield from _headed(tables, text, match.end(), start)
    for match in tables.head.finditer(text, start):
        if _BOUNDARY.match(text, match.start()):
            for kind, pattern in tables.by_head[match[0]]:
                yield match.start(), kind, pattern
    for head in tables.small:
        yield from _found(tables, text, head, start)


def _headed(tables: _Tables, text: str, end: int, start: int) -> Iterator[tuple[int, str, Any]]:
    """The kinds whose head ends here."""
    for head in tables.heads_by_end[text[end - 2 : end]]:
        place = end - len(head)
        if place >= start and text.startswith(head, place) and _BOUNDARY.match(text, place):
            for kind, pattern in tables.by_head[head]:
                yield place, kind, pattern


def _found(tables: _Tables, text: str, head: str, start: int) -> Iterator[tuple[int, str, Any]]:
    at = text.find(head, start)
    while at >= 0:
        if _BOUNDARY.match(text, at):
            for kind, pattern in tables.by_head[head]:
                yield at, kind, pattern
        at = text.find(head, at + 1)


def _last_two(heads: list[str], last: str) -> str:
    """A pattern of the last two characters of the heads that end so."""
    before = sorted({head[-2] for head in heads if head[-1] == last})
    return f"[{re.escape(''.join(before))}]{re.escape(last)}"


def _behind_words(text: str, start: int) -> Iterator[tuple[int, str, Any]]:
    """The values that a word before them speaks of."""
    low = text.lower() if text.isascii() else text.translate(_LOWER)
    sets = "=" in low or ":" in low or "--" in low
    for word, contexts in _tables().by_word.items():
        at = low.find(word, start) if sets or word in _WITHOUT_SIGN else -1
        while at >= 0:
            for context, kind, pattern in contexts:
                match = context.search(text, max(0, at - 24), at + len(word) + _BETWEEN)
                for place in _values_behind(text, match) if match else ():
                    yield place, kind, pattern
            at = low.find(word, at + len(word))


def _values_behind(text: str, context: re.Match[str]) -> Iterator[int]:
    """Where the value stands, or each of a list."""
    yield (place := context.end())
    while "[" in context[0] and (item := _NEXT.match(text, place)):
        yield (place := item.end())


def _tree(words: Iterable[str]) -> str:
    """A pattern of words that looks at each character once."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    rest = [re.escape(first) + _tree(tails) for first, tails in sorted(by_first.items()) if first]
    rest += [""] if "" in by_first else []
    return rest[0] if len(rest) == 1 else f"(?:{'|'.join(rest)})"


def _patterns_by_head() -> dict[str, list[tuple[str, Any]]]:
    found: dict[str, list[tuple[str, Any]]] = {}
    for kind in KINDS:
        for head in kind.heads:
            pattern = regex.compile(f"{re.escape(head)}(?:{kind.rest}){kind.after}")
            found.setdefault(head, []).append((kind.name, pattern))
    return found


def _contexts_by_word() -> dict[str, list[tuple[Any, str, Any]]]:
    found: dict[str, list[tuple[Any, str, Any]]] = {}
    for kind in KINDS:
        entry = (re.compile(kind.context), kind.name, regex.compile(kind.rest + kind.after))
        for word in kind.words:
            found.setdefault(word, []).append(entry)
    return found


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
    return _Tables(
        by_head,
        by_end,
        _contexts_by_word(),
        re.compile("|".join(f"{re.escape(last)}(?<={_last_two(ending, last)})" for last in "-_./")),
        re.compile(_tree(head for head in by_head if head not in ending and not head[0].islower())),
        [head for head in by_head if head not in ending and head[0].islower()],
    )


@lru_cache(maxsize=8)
def searcher(secrets: tuple[str, ...] = (), emails: bool = False) -> Searcher:
    """The searcher for these; putting one together takes some milliseconds."""
    return Searcher(secrets, emails=emails)


def scrubbed(text: str, *, emails: bool = False, secrets: Iterable[str] = ()) -> str:
    """The text with every secret starred out; its length stays."""
    return starred(text, searcher(tuple(secrets), emails))


def starred(text: str, search: Searcher, tally: Tally | None = None) -> str:
    """The text with its secrets starred out, and counted."""
    secrets = search.search(text).secrets
    if not secrets:
        return text
    pieces, place = [], 0
    for secret in secrets:
        pieces += [text[place : secret.start], "*" * (secret.stop - secret.start)]
        place = secret.stop
        if tally is not None:
            tally.add(secret.kind, search.told(text[secret.start : secret.stop]))
    return "".join([*pieces, text[place:]])


def _forms(secrets: Iterable[str]) -> dict[str, str]:
    """Each secret as it may stand in a text: as it is, in an address, in JSON, and in JSON that is
    a text of JSON, up to four times. Each of those writes what is not ASCII, or escapes it."""
    found: dict[str, str] = {}
    for secret in filter(None, secrets):
        forms, inner = {secret, quote(secret, safe=""), quote(secret)}, {secret}
        for _ in range(_NESTED):
            inner = {
                json.dumps(form, ensure_ascii=ascii_only)[1:-1]
                for form in inner
                for ascii_only in (True, False)
            }
            forms |= inner
        forms |= {form.encode("utf-8", "surrogatepass").decode("latin-1") for form in forms}
        found |= dict.fromkeys(forms, secret)
    return found
