"""The project's exceptions. Most report a *user's* mistake: the value, its place, the remedy.

A model's text never raises; it yields findings (see findings.py).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from playground.base.wording import visible

_NEAREST: Final = 3  # names in a message
_LONGEST_PROBLEM: Final = 400  # characters of a problem, which may quote a long value
# An address of only these characters has no password, and no key unless a part looks random.
_PLAIN_ADDRESS: Final = re.compile(
    r"(?:[a-z][a-z\d+.-]*:?/{0,3})?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,6})?(?:/[\w.~-]*)*",
    re.ASCII,
)
_SCHEME: Final = re.compile(r"[a-z][a-z+]{0,9}")
_LONGEST_ADDRESS: Final = 200
# Letters and digits in one run, or a UUID: it may be an account or a token.
LOOKS_RANDOM: Final = re.compile(
    r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)
_HIDDEN_ADDRESS: Final = "(an address that is not shown: it may hold a password or a key)"


class PlaygroundError(Exception):
    """The base class of all errors that the playground raises on purpose."""


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

    def add_expected(self, other: str) -> None:
        """Add another text that says what would be right."""
        self.expected = f"{self.expected}, or {other}"
        self.args = (self._text(),)

    def _text(self) -> str:
        place = self.where
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        if self.field:
            place += f", field {self.field}" if place else f"field {self.field}"
        problem = self.problem
        if len(problem) > _LONGEST_PROBLEM:
            problem = f"{problem[:_LONGEST_PROBLEM]}… ({len(problem):,} characters)"
        text = f"{place}: {problem}" if place else problem
        text = f"{text}; expected {self.expected}" if self.expected else text
        # the text may quote a library or a template, and a notebook does not escape it
        return visible(" ".join(line.strip() for line in text.splitlines()))


class SyntaxFault(PlaygroundError):
    """A call template that cannot be compiled. The message quotes it and says where it is wrong.

    `field` is the field of the declaration that holds the template, if known.
    """

    field: str = ""


class UnknownNameError(PlaygroundError):
    """The name of something that does not exist, such as a dialect, a policy or a recording.

    The message has the similar names, or else the nearest, three at most; `known` has all names.
    """

    def __init__(self, kind: str, given: str, known: list[str]) -> None:
        self.kind, self.given, self.known = kind, given, known
        super().__init__(f"unknown {kind} {given!r}; {nearest_names(given, known)}")


def nearest_names(given: str, known: list[str]) -> str:
    """Return a phrase with known names similar to `given`, or else the nearest: three at most."""
    from difflib import get_close_matches  # imported here to keep the start fast

    names = {name.casefold(): name for name in known}
    folded = str(given).casefold()
    longer = [name for name in names if len(folded) > 1 and folded in name]
    cut = {name: name[: len(folded)] for name in names if folded[2:] and name[:1] == folded[:1]}
    heads = get_close_matches(folded, sorted({*cut.values()}), _NEAREST, 0.7)
    begun = [name for head in heads for name in cut if cut[name] == head]
    close = get_close_matches(folded, names, _NEAREST)
    if similar := [*dict.fromkeys([*close[:1], *begun, *close, *longer])]:
        return f"did you mean {' or '.join(repr(names[name]) for name in similar[:_NEAREST])}?"
    if len(known) <= _NEAREST:
        return f"known: {', '.join(known) or 'none'}"
    nearest = get_close_matches(folded, names, _NEAREST, cutoff=0)
    return f"the nearest of {len(known)}: {', '.join(names[name] for name in nearest)}"


class InsufficientCreditsError(PlaygroundError):
    """Raised if the pre-flight check finds fewer credits than a request needs."""

    def __init__(self, credits: int, threshold: int) -> None:
        self.credits, self.threshold = credits, threshold
        super().__init__(f"{credits} credits left, a request needs at least {threshold}")


class UnknownUserError(PlaygroundError):
    """Raised if the pre-flight check knows no user with the API key. The key is not shown."""

    def __init__(self) -> None:
        super().__init__("the API key belongs to no user of the credit ledger")


class LedgerError(PlaygroundError):
    """Raised if the credit ledger itself fails: then the credits are not known."""

    def __init__(self, failure: str) -> None:
        self.failure = failure
        super().__init__(f"the credit ledger failed ({failure}); the credits are not known")


def shown_address(address: str) -> str:
    """Return the part of a user's URL, which may be mistyped, that a message may show.

    Return the whole URL if it can hold neither a password nor a key; otherwise scheme, host and
    port. For an ambiguous URL (`http://name:pass#word@host`), return only a note that it is hidden.
    """
    plain = len(address) <= _LONGEST_ADDRESS and _PLAIN_ADDRESS.fullmatch(address)
    if plain and not LOOKS_RANDOM.search(address):
        return address
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return _HIDDEN_ADDRESS
    host = f"[{host}]" if host and ":" in host else host
    after_host = parts.path + parts.query + parts.fragment
    plain = _SCHEME.fullmatch(parts.scheme) and _PLAIN_ADDRESS.fullmatch(host or "")
    if not plain or "@" in after_host:
        return _HIDDEN_ADDRESS
    return f"{parts.scheme}://{host}" + ("" if port is None else f":{port}") + "/…"


def in_words(error: BaseException) -> str:
    """Describe an exception of Python or of another package in one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
