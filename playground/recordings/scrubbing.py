"""Secrets out of what is written: keys and tokens always, e-mail addresses where asked.

A secret is replaced by as many asterisks, so that offsets and the cuts between chunks stay. What
lies inside a longer run of Base64 (an encrypted reasoning block, an image) is no key and stays.
How text is searched is here, where a secret may begin in `secret_search.py`; `wire_scrubbing.py`
does it over the pieces of a stream, `value_scrubbing.py` in JSON values.
"""

from __future__ import annotations

import base64
import html
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus

import regex

from playground.recordings.secret_patterns import KINDS, PLURALS
from playground.recordings.secret_search import Beginning, Clues, behind_words, clues_in, heads

CONTEXT: Final = 200  # characters before a value that may say that it is a secret
SHOWN: Final = 2  # characters of an open secret that are not worth waiting for
_EMAIL: Final = r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"
_EMAIL_START: Final = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]")
_ESCAPES: Final = re.compile(r"\\+[nrt]|[\s\\]+")
# Marks within a value are its own where it goes on behind them: at the end nobody knows.
MAY_JOIN: Final = re.compile(r"(?:[,;&@%?.:/(){}\[\]<>\"'`]|\\+u?[0-9a-fA-F]{0,3}){1,20}\Z")
_MOST_REMEMBERED: Final = 100_000  # characters of secrets; after them each find counts
_OWN: Final = 1 << 20  # more than any head: what was given is told as such
_NESTED: Final = 4  # JSON in texts of JSON
_PERCENT: Final = re.compile(r"%[0-9A-F]{2}")
_LEAST_BASE64: Final = 6  # characters: fewer stand in a picture by chance
_OFTEN: Final = 64  # places between two looks at the clock


class TooMuchWork(Exception):
    """A search has taken all the time that it was given."""


class Secret(NamedTuple):
    """A secret in a text: half-open offsets in characters, and its kind's name."""

    start: int
    stop: int
    kind: str


class Search(NamedTuple):
    """The secrets of a text up to where one begins that its end leaves open, and from there on
    those that may be one, or are one unless they lie within another: up to the first that is worth
    waiting for."""

    secrets: list[Secret]
    open: list[Secret]


class Tally:
    """The number of secrets starred out of each kind: each once, however often it was said, and
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

    def take(self, other: Tally) -> None:
        """Those that another one has counted, too."""
        for sure, texts in ((True, other._sure), (False, other._perhaps)):
            for text, kind in texts.items():
                self.add(kind, text, sure=sure)
        self._forgotten += other._forgotten

    def __bool__(self) -> bool:
        return bool(self._sure or self._perhaps)

    @property
    def counts(self) -> dict[str, int]:
        """By kind; who is not sure is asked for the kinds that nobody else has seen."""
        found = Counter(self._sure.values()) + self._forgotten
        perhaps = Counter(self._perhaps.values())
        return dict(sorted({**perhaps, **found}.items()))


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
        self._clues: Clues | None = None
        self._until: float | None = None  # of this thread's time
        known = json.dumps([forms, emails]).encode()
        self.digest = blake2b(known, digest_size=16).digest()  # two of the same find the same

    def bounded(self, seconds: float) -> Searcher:
        """Return a searcher for so many seconds of this thread's work; after them it raises
        TooMuchWork."""
        found = copy(self)
        found._until = time.thread_time() + seconds
        return found

    def within(self, text: str) -> Searcher | None:
        """A searcher for pieces of this text, which looks only for what stands there; None where
        no piece can hold a secret. The text may be the JSON of its pieces: heads and words have
        no sign that JSON escapes, and what was given is looked for as JSON writes it."""
        clues, own = clues_in(text), self._own_starts
        given = own if own is not None and own.search(text) else None
        if not (clues.heads or clues.words or given or self._email):
            return None
        found = copy(self)
        found._clues, found._own_starts = clues, given
        return found

    def may_be_in(self, text: str) -> bool:
        """Return True if a secret may stand in a text, or in one that it is the JSON of."""
        if self._clues is None or self._email:
            return True
        given = self._own_starts is not None and self._own_starts.search(text) is not None
        return given or self._clues.stand_in(text)

    def search(self, text: str, start: int = 0, *, ended: bool = True) -> Search:
        """The secrets that begin at `start` or after it. Unless the text has `ended`, one that it
        breaks off in, or that touches its end and could go on, is open."""
        found: list[Secret] = []
        undecided: list[Secret] = []
        stop = start
        places = sorted(self._in_time(self._places(text, start)), key=_order)
        for place, _, _, kind, pattern in self._in_time(places):
            if place < stop:
                continue
            match = pattern.match(text, place, partial=not ended)
            if match is None or (ended and match.end() == place):
                continue
            if not ended and (match.partial or match.end() == len(text)):
                undecided.append(Secret(place, len(text), kind))
                if kind != "email" and len(text) - place > SHOWN:
                    break  # what lies within it is looked for once it is decided
                continue
            stop = match.end()
            is_open = undecided or (not ended and MAY_JOIN.match(text, stop))
            (undecided if is_open else found).append(Secret(place, stop, kind))
        return Search(found, undecided)

    def told(self, secret: str) -> str:
        """One of those that were given, in the form in which it was."""
        return self._given.get(secret, secret)

    def _in_time(self, places: Iterable[Beginning]) -> Iterator[Beginning]:
        """Yield these as long as there is time."""
        if self._until is None:
            yield from places
            return
        for number, place in enumerate(places):
            if number % _OFTEN == 0 and time.thread_time() > self._until:
                raise TooMuchWork
            yield place

    def _places(self, text: str, start: int) -> Iterator[Beginning]:
        if self._own_starts is not None:
            for match in self._own_starts.finditer(text, start):
                yield Beginning(match.start(), _OWN, 0, "environment", self._own)
        yield from heads(text, start, self._clues)
        for place in behind_words(text, max(0, start - CONTEXT), self._clues):
            if place.start >= start:
                yield place
        if self._email is not None:
            for match in _EMAIL_START.finditer(text, start):
                yield Beginning(match.start(), 0, 0, "email", self._email)


def _order(place: Beginning) -> tuple[int, int, int]:
    return place.start, -place.head, place.rank


@lru_cache(maxsize=8)
def searcher(secrets: tuple[str, ...] = (), emails: bool = False) -> Searcher:
    """The searcher for these; putting one together takes some milliseconds."""
    return Searcher(secrets, emails=emails)


def scrubbed(text: str, *, emails: bool = False, secrets: Iterable[str] = ()) -> str:
    """The text with every secret starred out; its length stays."""
    return starred(text, searcher(tuple(secrets), emails))


def starred(text: str, search: Searcher, tally: Tally | None = None) -> str:
    """The text with its secrets starred out, and counted."""
    if not search.may_be_in(text):
        return text
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


def starred_out(counts: Mapping[str, int]) -> str:
    """Say how many values were starred out, and of which kind: "3 values starred out: 2 API keys,
    1 password". `counts` are by the patterns' names, as a `Tally` and a recording have them.
    """
    kinds: Counter[str] = Counter()
    for name, count in counts.items():
        kinds[KINDS.get(name, name)] += count
    listed = [
        f"{count} {kind if count == 1 else PLURALS.get(kind, kind + 's')}"
        for kind, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
    ]
    total = sum(kinds.values())
    if not total:
        return "no value starred out"
    return f"{total:,} value{'s' * (total > 1)} starred out: {', '.join(listed)}"


def _forms(secrets: Iterable[str]) -> dict[str, str]:
    """Each secret as it may stand in a text: as it is, in an address, in HTML, in Base64 wherever
    it begins there, in JSON, and in JSON that is a text of JSON, up to four times. Each of those
    writes what is not ASCII, or escapes it."""
    found: dict[str, str] = {}
    for secret in filter(None, secrets):
        quoted = {quote(secret, safe=""), quote(secret), quote_plus(secret)}
        quoted |= {_PERCENT.sub(lambda match: match[0].lower(), form) for form in quoted}
        forms, inner = {secret, *quoted, html.escape(secret), *_in_base64(secret)}, {secret}
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


def _in_base64(secret: str) -> Iterator[str]:
    """Yield the characters that Base64 makes of a secret alone, wherever it begins."""
    data = secret.encode("utf-8", "surrogatepass")
    for before, start in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(bytes(before) + data).decode()
        form = whole[start : (before + len(data)) * 8 // 6]
        if len(form) >= _LEAST_BASE64:
            yield from (form, form.translate({ord("+"): "-", ord("/"): "_"}))
