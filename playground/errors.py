"""The few exceptions: a *user's* mistake says what was given, where, and what would be right.

A model's text never raises; it yields findings (see findings.py).
"""

from __future__ import annotations

from typing import Final

from playground.visible import visible

_MOST_SAID: Final = 400  # characters of a problem: it may quote what was given


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
    """A dialect, policy or recording of that name does not exist; lists those that do, what is
    spelt much like it first."""

    def __init__(self, kind: str, given: str, known: list[str]) -> None:
        self.kind, self.given, self.known = kind, given, known
        from difflib import get_close_matches  # only here: it is no part of a start

        meant = " or ".join(map(repr, get_close_matches(given, known)))
        told = f"; did you mean {meant}?" if meant else ";"
        super().__init__(f"unknown {kind} {given!r}{told} known: {', '.join(known) or 'none'}")


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


def in_words(error: BaseException) -> str:
    """A foreign exception in one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
