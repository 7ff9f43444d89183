"""Star secrets out of text: keys and tokens always, e-mail addresses on request.

Each character of a secret becomes an asterisk, so that offsets and cuts between chunks stay valid.
A match inside a longer run of Base64 (an encrypted reasoning block, an image) is not a key and
stays. This module searches one text, `wire_scrubbing.py` the pieces of a stream,
`value_scrubbing.py` JSON values; `secret_search.py` finds the places where a secret may begin.
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
from playground.recordings.secret_search import Beginning, Clues, find_after_words, find_heads

CONTEXT: Final = 200  # characters before a value that may show that it is a secret
SHOWN: Final = 2  # characters; an open secret of so few does not hold the bytes back
_EMAIL: Final = r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"
_EMAIL_START: Final = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]")
_ESCAPES: Final = re.compile(r"\\+[nrt]|[\s\\]+")  # and white space, also in a secret
# Punctuation belongs to a value if the value continues after it. At the end of a text this is
# unknown.
MAY_JOIN: Final = re.compile(r"(?:[,;&@%?.:/(){}\[\]<>\"'`]|\\+u?[0-9a-fA-F]{0,3}){1,20}\Z")
# characters of the secrets in a tally; secrets beyond them are counted whenever they occur
_MOST_REMEMBERED: Final = 100_000
_GIVEN_FIRST: Final = 1 << 20  # longer than any head, so that a given secret is tried first
_NESTED: Final = 4  # levels of JSON within texts of JSON
_PERCENT: Final = re.compile(r"%[0-9A-F]{2}")
_LEAST_BASE64: Final = 6  # characters: fewer occur in an image by chance
_OFTEN: Final = 64  # places between two checks of the time


class TooMuchWork(Exception):
    """The error of a search that has used up its time."""


class Secret(NamedTuple):
    """A secret in a text: half-open offsets in characters, and its kind's name."""

    start: int
    stop: int
    kind: str


class Search(NamedTuple):
    """The secrets found in a text, and those that more text must decide (`open`).

    All secrets after an open one are open too, since they may lie within it. The search ends at a
    secret that reaches the end of the text, unless it is an e-mail address or at most SHOWN long.
    """

    secrets: list[Secret]
    open: list[Secret]


class Tally:
    """A count of starred out secrets by kind.

    Each secret counts once, however often it occurs; a piece of another secret does not count.
    """

    def __init__(self) -> None:
        self._sure: dict[str, str] = {}  # text -> kind; the texts never leave this object
        self._perhaps: dict[str, str] = {}
        self._size = 0
        self._forgotten: Counter[str] = Counter()

    def add(self, kind: str, text: str, *, sure: bool = True) -> None:
        """Count a secret, regardless of escapes in it. A text that is not `sure` may be
        harmless."""
        plain = _ESCAPES.sub("", text)
        kinds = self._sure if sure else self._perhaps
        if any(plain in known for known in kinds):
            return
        if self._size > _MOST_REMEMBERED:
            self._forgotten[kind] += sure
            return
        for piece in [known for known in kinds if known in plain]:
            del kinds[piece]
        kinds[plain] = kind
        self._size += len(plain)

    def take(self, other: Tally) -> None:
        """Add what another tally has counted."""
        for sure, texts in ((True, other._sure), (False, other._perhaps)):
            for text, kind in texts.items():
                self.add(kind, text, sure=sure)
        self._forgotten += other._forgotten

    def __bool__(self) -> bool:
        return bool(self._sure or self._perhaps)

    @property
    def counts(self) -> dict[str, int]:
        """The counts by kind. Unsure secrets count only if their kind has no sure secret."""
        sure = Counter(self._sure.values()) + self._forgotten
        perhaps = Counter(self._perhaps.values())
        return dict(sorted({**perhaps, **sure}.items()))


class Searcher:
    """A searcher for secrets of all kinds, and for given secrets, in incomplete texts too.

    It first finds the few places where a secret may begin: a head, the first characters of a given
    secret, or a word such as `password` before a value. It tries the patterns only there. They are
    bounded, so the time is linear in the text.
    """

    def __init__(self, secrets: Iterable[str] = (), *, emails: bool = False) -> None:
        self._secrets_by_form = _forms(secrets)
        forms = sorted(self._secrets_by_form, key=len, reverse=True)
        self._given_pattern = regex.compile("|".join(map(re.escape, forms))) if forms else None
        starts = sorted({re.escape(form[:3]) for form in forms}, key=len, reverse=True)
        self._given_starts = re.compile("|".join(starts)) if forms else None
        self._email = regex.compile(_EMAIL) if emails else None
        self._clues: Clues | None = None
        self._until: float | None = None  # the end of a search, in this thread's time
        settings = json.dumps([forms, emails]).encode()
        # searchers with the same digest find the same secrets
        self.digest = blake2b(settings, digest_size=16).digest()

    def time_limited(self, seconds: float) -> Searcher:
        """Return a copy that raises TooMuchWork after so many seconds of this thread's time."""
        limited = copy(self)
        limited._until = time.thread_time() + seconds
        return limited

    def narrowed_to(self, text: str, clues: Clues) -> Searcher | None:
        """Return a searcher for pieces of `text` that tries only the heads and words in `clues`,
        and given secrets if the text may hold one.

        Return None if no piece can hold a secret. The text may be the JSON of its pieces: JSON
        escapes nothing in heads and words, and given secrets are searched in JSON's form.
        """
        all_starts = self._given_starts
        given_starts = all_starts if all_starts is not None and all_starts.search(text) else None
        if not (clues.heads or clues.words or given_starts or self._email):
            return None
        narrowed = copy(self)
        narrowed._clues, narrowed._given_starts = clues, given_starts
        return narrowed

    def may_be_in(self, text: str) -> bool:
        """Return True if a secret may occur in a text or, if the text is JSON, in its value."""
        if self._clues is None or self._email:
            return True
        has_given = self._given_starts is not None and self._given_starts.search(text) is not None
        return has_given or self._clues.occur_in(text)

    def search(self, text: str, start: int = 0, *, ended: bool = True) -> Search:
        """Return the secrets that begin at `start` or after it.

        Unless the text has `ended`, a secret is open if it reaches the end of the text, or if only
        punctuation is between it and the end.
        """
        secrets: list[Secret] = []
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
                    break  # secrets within it are searched for once it is decided
                continue
            stop = match.end()
            is_open = undecided or (not ended and MAY_JOIN.match(text, stop))
            (undecided if is_open else secrets).append(Secret(place, stop, kind))
        return Search(secrets, undecided)

    def as_given(self, secret: str) -> str:
        """Return the secret, as it was given to the searcher, of which a text is a form; return any
        other text as it is."""
        return self._secrets_by_form.get(secret, secret)

    def _in_time(self, places: Iterable[Beginning]) -> Iterator[Beginning]:
        """Yield the places. Raises TooMuchWork if the time is over."""
        if self._until is None:
            yield from places
            return
        for number, place in enumerate(places):
            if number % _OFTEN == 0 and time.thread_time() > self._until:
                raise TooMuchWork
            yield place

    def _places(self, text: str, start: int) -> Iterator[Beginning]:
        if self._given_starts is not None:
            for match in self._given_starts.finditer(text, start):
                yield Beginning(match.start(), _GIVEN_FIRST, 0, "environment", self._given_pattern)
        yield from find_heads(text, start, self._clues)
        for place in find_after_words(text, max(0, start - CONTEXT), self._clues):
            if place.start >= start:
                yield place
        if self._email is not None:
            for match in _EMAIL_START.finditer(text, start):
                yield Beginning(match.start(), 0, 0, "email", self._email)


def _order(place: Beginning) -> tuple[int, int, int]:
    return place.start, -place.head, place.rank


@lru_cache(maxsize=8)
def searcher(secrets: tuple[str, ...] = (), emails: bool = False) -> Searcher:
    """Return the searcher for these secrets, from a cache, as making one takes milliseconds."""
    return Searcher(secrets, emails=emails)


def scrubbed(text: str, *, emails: bool = False, secrets: Iterable[str] = ()) -> str:
    """Return a text of the same length with every secret starred out: those that look like one, the
    given `secrets`, and with `emails` e-mail addresses."""
    return star_secrets(text, searcher(tuple(secrets), emails))


def star_secrets(text: str, search: Searcher, tally: Tally | None = None) -> str:
    """Return a text with its secrets starred out, and count them in `tally`."""
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
            tally.add(secret.kind, search.as_given(text[secret.start : secret.stop]))
    return "".join([*pieces, text[place:]])


def describe_stars(counts: Mapping[str, int]) -> str:
    """Return a sentence such as "3 values starred out: 2 API keys, 1 password".

    `counts` are by the patterns' names, as in `Tally.counts` and in a recording.
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
    """Return the forms in which secrets may occur in a text; each form maps to its secret. These
    are plain, in an address, in HTML, in Base64 from any offset, and in JSON within up to three
    levels of JSON, with non-ASCII characters plain or escaped; all these also as UTF-8 bytes, with
    a character for each byte."""
    secret_by_form: dict[str, str] = {}
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
        secret_by_form |= dict.fromkeys(forms, secret)
    return secret_by_form


def _in_base64(secret: str) -> Iterator[str]:
    """Yield the Base64 characters that depend on a secret alone, for each offset of its start."""
    data = secret.encode("utf-8", "surrogatepass")
    for before, start in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(bytes(before) + data).decode()
        form = whole[start : (before + len(data)) * 8 // 6]
        if len(form) >= _LEAST_BASE64:
            yield from (form, form.translate({ord("+"): "-", ord("/"): "_"}))
