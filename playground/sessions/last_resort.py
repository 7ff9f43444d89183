"""The one place where a reader of foreign data may fail in a way that nobody foresaw.

What somebody brought is refused in words then, with Python's own, instead of a traceback. The tests
empty UNEXPECTED_ERRORS: a reader that stumbles over a shape is a bug, to be mended there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playground.base.errors import InputFault

UNEXPECTED_ERRORS: tuple[type[Exception], ...] = (
    AttributeError,
    TypeError,
    LookupError,
    ValueError,
    ArithmeticError,
)
UNEXPECTED_OR_TOO_DEEP: tuple[type[Exception], ...] = (*UNEXPECTED_ERRORS, RecursionError)


@contextmanager
def refused(problem: str, *, where: str = "", field: str = "", expected: str) -> Iterator[None]:
    """A shape that the readers within did not foresee is an InputFault."""
    try:
        yield
    except UNEXPECTED_ERRORS as error:
        told = f"{problem} ({type(error).__name__}: {error})"
        raise InputFault(told, where=where, field=field, expected=expected) from error
