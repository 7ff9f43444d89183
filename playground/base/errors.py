"""The few exceptions: a *user's* mistake says what was given, where, and what would be right.

A model's text never raises; it yields findings (see findings.py).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from playground.base.wording import visible

_MOST_LISTED: Final = 24  # known names, of which a message has all
_FIRST_LISTED: Final = 8
_MOST_SAID: Final = 400  # characters of a problem: it may quote what was given
# An address that is made of these alone holds no password, and no key unless a part is random.
_PLAIN_ADDRESS: Final = re.compile(
    r"(?:[a-z][a-z\d+.-]*:?/{0,3})?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,6})?(?:/[\w.~-]*)*",
    re.ASCII,
)
_SCHEME: Final = re.compile(r"[a-z][a-z+]{0,9}")
_LONGEST_ADDRESS: Final = 200
# Letters and digits in one run, or a UUID: an account or a token, and nobody knows which.
LOOKS_RANDOM: Final = re.compile(
    r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)
_NOT_SHOWN: Final = "(an address that is not shown: it may hold a password or a key)"


class PlaygroundError(Exception):
    """Base of every error that the playground raises on purpose."""


class InputFault(PlaygroundError):
    """A file or value that cannot be read: one line with the problem, the place and the remedy.

    `where` is a file, `line` counts from 1, `field` is a dotted path such as `messages.2.role`.
    """

    def __init__(
        self,
        problem: str,
        *,
        where: str = "",
        line: int | None = None,
        field: str = "",
        expected: str = "",
    ) -> None:
        self.problem, self.where, self.line = problem, where, line
        self.field, self.expected = field, expected
        super().__init__(self._text())

    def _text(self) -> str:
        place = self.where
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        if self.field:
            place += f", field {self.field}" if place else f"field {self.field}"
        problem = self.problem
        if len(problem) > _MOST_SAID:
            problem = f"{problem[:_MOST_SAID]}… ({len(problem):,} characters)"
        text = f"{place}: {problem}" if place else problem
        text = f"{text}; expected {self.expected}" if self.expected else text
        # a library's words, too, and a template's: a notebook shows them as they are
        return visible(" ".join(line.strip() for line in text.splitlines()))


class SyntaxFault(PlaygroundError):
    """A call template that cannot be compiled; quotes the template and the place.

    `field` is the field of the declaration that holds it, where that is known.
    """

    field: str = ""


class UnknownNameError(PlaygroundError):
    """A dialect, policy or recording of that name does not exist. The message has up to three
    names that are spelt like it, and the known ones, or the first of many; `known` has them all.
    """

    def __init__(self, kind: str, given: str, known: list[str]) -> None:
        self.kind, self.given, self.known = kind, given, known
        from difflib import get_close_matches  # only here: it is no part of a start

        meant = " or ".join(map(repr, get_close_matches(given, known)))
        hint = f"; did you mean {meant}?" if meant else ";"
        listed = ", ".join(known) or "none"
        if len(known) > _MOST_LISTED:
            listed = f"{', '.join(known[:_FIRST_LISTED])} … ({len(known)} in all)"
        super().__init__(f"unknown {kind} {given!r}{hint} known: {listed}")


class InsufficientCreditsError(PlaygroundError):
    """The pre-flight check found fewer credits than a request needs."""

    def __init__(self, credits: int, threshold: int) -> None:
        self.credits, self.threshold = credits, threshold
        super().__init__(f"{credits} credits left, a request needs at least {threshold}")


class UnknownUserError(PlaygroundError):
    """The pre-flight check does not know the user behind the API key (the key is not shown)."""

    def __init__(self) -> None:
        super().__init__("the API key belongs to no user of the credit ledger")


class LedgerError(PlaygroundError):
    """The credit ledger itself failed: whether credits are missing is not known."""

    def __init__(self, failure: str) -> None:
        self.failure = failure
        super().__init__(f"the credit ledger failed ({failure}); the credits are not known")


def shown_address(address: str) -> str:
    """Return what a message may show of an address that a user gave, mistyped or not.

    It is shown whole if it can hold neither a password nor a key, else as far as its host; not at
    all if it may be read in another way than its author meant: `http://name:pass#word@host`.
    """
    plain = len(address) <= _LONGEST_ADDRESS and _PLAIN_ADDRESS.fullmatch(address)
    if plain and not LOOKS_RANDOM.search(address):
        return address
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return _NOT_SHOWN
    host = f"[{host}]" if host and ":" in host else host
    after_host = parts.path + parts.query + parts.fragment
    plain = _SCHEME.fullmatch(parts.scheme) and _PLAIN_ADDRESS.fullmatch(host or "")
    if not plain or "@" in after_host:
        return _NOT_SHOWN
    return f"{parts.scheme}://{host}" + ("" if port is None else f":{port}") + "/…"


def in_words(error: BaseException) -> str:
    """Return a foreign exception in one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
