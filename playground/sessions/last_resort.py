"""Turn unexpected errors in readers of foreign data into an InputFault instead of a traceback.

The tests empty UNEXPECTED_ERRORS, so that they fail at such an error: it is a bug of the reader.
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
def unexpected_as_fault(
    problem: str, *, where: str = "", field: str = "", expected: str
) -> Iterator[None]:
    """Raise InputFault, with the error's message, for an unexpected error inside the block."""
    try:
        yield
    except UNEXPECTED_ERRORS as error:
        words = f"{problem} ({type(error).__name__}: {error})"
        raise InputFault(words, where=where, field=field, expected=expected) from error
