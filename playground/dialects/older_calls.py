"""Support for older calls of public functions whose second argument is now the dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from playground.base.arguments import warn_of_place
from playground.base.errors import InputFault, UnknownNameError
from playground.dialects import Dialect, dialect_names
from playground.dialects.marks.policies import POLICIES
from playground.dialects.marks.providers import UNKNOWN, provider_of

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def formerly_second(
    *names: str,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Make a decorator that accepts older calls: `names` are their arguments after the first.

    If the second argument is no dialect, or there are more than two arguments, those after the
    first are passed by these names, with a DeprecationWarning. Raises UnknownNameError for a
    name that is nearly a dialect's, and InputFault for a policy's name.
    """

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @wraps(function)
        def call(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
            if len(args) < 2 or (len(args) == 2 and _names_dialects(args[1])):
                return function(*args, **keywords)
            moved = dict(zip(names, args[1:], strict=False))
            warn_of_place(function.__name__, moved)
            by_keyword: Callable[..., _Result] = function
            return by_keyword(*args[:1], **moved, **keywords)

        return call

    return decorate


def _names_dialects(value: Any) -> bool:
    if not isinstance(value, str):
        is_list = isinstance(value, Iterable) and not isinstance(value, bytes)
        return isinstance(value, Dialect) or (is_list and all(map(_names_dialects, value)))
    names = dialect_names()
    if not value or value in names:
        return True
    if value in POLICIES:
        expected = f"a dialect as second argument, and policy={value!r}"
        raise InputFault(f"{value!r} is a policy", expected=expected)
    if provider_of(value) == UNKNOWN and get_close_matches(value.lower(), names):
        raise UnknownNameError("dialect", value, names)
    return False
