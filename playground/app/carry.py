"""The Carry page's parts: the matrix of values that dialects carry or refuse."""

from __future__ import annotations

from playground.app.shared.memoized import memoized
from playground.questions.carry import CarryMatrix
from playground.questions.carry import carry as carry_values


@memoized(16, spinner="Writing and reading back …")
def matrix(dialects: list[str]) -> CarryMatrix:
    """Return every hostile value in each of these dialects."""
    return carry_values(dialects)
