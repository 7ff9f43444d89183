"""Checks of public functions' arguments by kind, so that a wrong argument fails at once.

Only the kind is checked here; the function itself checks the value.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from os import PathLike
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from playground.base.errors import InputFault

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class ArgumentKind(NamedTuple):
    """The accepted types, and their names in words."""

    types: tuple[type, ...]
    words: str
    never: tuple[type, ...] = ()


_NOT_LISTS: Final = (str, bytes, bytearray, Mapping)
KINDS: Final[Mapping[str, ArgumentKind]] = {
    "text": ArgumentKind((str,), "a text"),
    "text or nothing": ArgumentKind((str, type(None)), "a text, or None"),
    "path": ArgumentKind((str, PathLike), "the path of a file"),
    "list": ArgumentKind((Iterable,), "a list", _NOT_LISTS),
    "list or nothing": ArgumentKind(
        (Iterable, type(None)), "a list, or None", (str, bytes, bytearray)
    ),
    "object": ArgumentKind((Mapping,), "a dict"),
    "object or nothing": ArgumentKind((Mapping, type(None)), "a dict, or None"),
    "number": ArgumentKind((int,), "a whole number", (bool,)),
    "number or nothing": ArgumentKind((int, float, type(None)), "a number, or None", (bool,)),
    "function or nothing": ArgumentKind((Callable, type(None)), "a function, or None"),  # type: ignore[arg-type]
}


def takes(
    **kinds: str | type | tuple[type, ...],
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Make a decorator that checks the named arguments. A kind is a key of KINDS, or a type.

    The decorated function raises InputFault for an argument of another kind.
    """
    wanted = {name: _kind(kind) for name, kind in kinds.items()}

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        names = list(inspect.signature(function).parameters)

        @wraps(function)
        def call_checked(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
            for name, value in (*zip(names, args, strict=False), *keywords.items()):
                if name in wanted:
                    _check(function.__name__, name, value, wanted[name])
            return function(*args, **keywords)

        return call_checked

    return decorate


def formerly_positional(
    count: int, *names: str
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Make a decorator for a function that takes only its first `count` arguments by position.

    An older call that gives more by position, in the order of `names`, still works, with a
    DeprecationWarning.
    """

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @wraps(function)
        def call(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
            if not 0 < len(args) - count <= len(names):
                return function(*args, **keywords)
            moved = dict(zip(names, args[count:], strict=False))
            warn_of_place(function.__name__, moved)
            by_keyword: Callable[..., _Result] = function
            return by_keyword(*args[:count], **moved, **keywords)

        return call

    return decorate


def older_name(older: str, name: str) -> property:
    """Return a property that reads `name` under its older name, with a DeprecationWarning."""

    def read(value: Any) -> Any:
        warnings.warn(
            f"{type(value).__name__}.{older} is now .{name}", DeprecationWarning, stacklevel=2
        )
        return getattr(value, name)

    return property(read)


def older_keyword(
    older: str, name: str
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Make a decorator for a function that also takes its argument `name` by an older name."""

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @wraps(function)
        def call(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
            if older not in keywords:
                return function(*args, **keywords)
            words = f"{function.__name__}({older}=…) is now {name}=…"
            warnings.warn(words, DeprecationWarning, stacklevel=2)
            by_keyword: Callable[..., _Result] = function
            return by_keyword(*args, **{name: keywords.pop(older), **keywords})

        return call

    return decorate


def with_older_keys(data: dict[str, Any], **older: str) -> dict[str, Any]:
    """Return JSON data in which renamed fields have their older names as keys."""
    return {older.get(name, name): value for name, value in data.items()}


def warn_of_place(function: str, names: Iterable[str]) -> None:
    """Warn that a public function will no longer take these arguments by position."""
    listed = ", ".join(f"{name}=…" for name in names)
    warnings.warn(
        f"{function}() takes {listed} by keyword; by position it will fail",
        DeprecationWarning,
        stacklevel=3,
    )


def _kind(spec: str | type | tuple[type, ...]) -> ArgumentKind:
    if isinstance(spec, str):
        return KINDS[spec]
    types = spec if isinstance(spec, tuple) else (spec,)
    words = ", or ".join(f"a {each_type.__name__}" for each_type in types).replace(
        "a NoneType", "None"
    )
    return ArgumentKind(types, words.replace("a str", "a name"))


def _check(function: str, name: str, value: Any, kind: ArgumentKind) -> None:
    if not isinstance(value, kind.types) or isinstance(value, kind.never):
        raise wrong(f"{function}({name}=…)", value, kind.words)


def wrong(where: str, value: Any, expected: str) -> InputFault:
    """Make the fault for an argument of the wrong kind."""
    problem = f"{type(value).__name__} {value!r:.60} was given"
    return InputFault(problem, where=where, expected=expected)


def items(where: str, values: Iterable[_Result]) -> tuple[_Result, ...]:
    """Return the items of a list or a generator. Raises InputFault for any other value; for a text
    too, because its items would be its letters."""
    kind = KINDS["list"]
    if not isinstance(values, kind.types) or isinstance(values, kind.never):
        raise wrong(where, values, kind.words)
    return tuple(values)


def texts(where: str, values: Iterable[str]) -> tuple[str, ...]:
    """Return the items of a list of texts. Raises InputFault as `items` does, and for an item that
    is not a text."""
    listed = items(where, values)
    for item in listed:
        if not isinstance(item, str):
            raise wrong(where, item, "a text")
    return listed


def as_bytes(piece: bytes) -> bytes:
    """Return a piece of a stream. Raises InputFault if it is not bytes."""
    if not isinstance(piece, bytes | bytearray):
        raise wrong("a piece of a stream", piece, "bytes")
    return piece
