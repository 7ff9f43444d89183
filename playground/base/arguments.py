"""Checks of public functions' arguments by kind, so that a wrong argument fails at once.

Only the kind is checked here; the function itself checks the value.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from os import PathLike
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from playground.base.errors import InputFault, nearest_names

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class ArgumentKind(NamedTuple):
    """The types that an argument may have, exceptions that are refused (`never`), and the right
    kind in words."""

    types: tuple[type, ...]
    words: str
    never: tuple[type, ...] = ()


_UNORDERED: Final = (Mapping, set, frozenset)
_NOT_LISTS: Final = (str, bytes, bytearray, *_UNORDERED)
READ_ELSEWHERE: Final = "pg.load_recording reads providers' replies, pg.replay recordings"
KINDS: Final[Mapping[str, ArgumentKind]] = {
    "text": ArgumentKind((str,), "a text"),
    "text or nothing": ArgumentKind((str, type(None)), "a text, or None"),
    "path": ArgumentKind((str, PathLike), "the path of a file"),
    "path or nothing": ArgumentKind((str, PathLike, type(None)), "the path of a file, or None"),
    "list": ArgumentKind((Iterable,), "a list", _NOT_LISTS),
    "list or nothing": ArgumentKind(
        (Iterable, type(None)), "a list, or None", (str, bytes, bytearray)
    ),
    "object": ArgumentKind((Mapping,), "a dict"),
    "object or nothing": ArgumentKind((Mapping, type(None)), "a dict, or None"),
    "choice or nothing": ArgumentKind((bool, type(None)), "True, False or None"),
    "number": ArgumentKind((int,), "a whole number", (bool,)),
    "number or nothing": ArgumentKind((int, float, type(None)), "a number, or None", (bool,)),
    "function or nothing": ArgumentKind((Callable, type(None)), "a function, or None"),  # type: ignore[arg-type]
}


def one(words: str) -> ArgumentKind:
    """Return a kind that refuses a list, tuple or set; `words` say what to give or call instead."""
    return ArgumentKind((object,), words, (list, tuple, set))


def pieces_of(words: str, *types: type, never: tuple[type, ...] = ()) -> ArgumentKind:
    """Return the kind of a reply: one of `types`, or an iterable of its pieces in their order."""
    words = f"{words}; {READ_ELSEWHERE}"
    return ArgumentKind((*types, Iterable), words, (*_UNORDERED, *never))


def takes(
    **kinds: str | ArgumentKind | type | tuple[type, ...],
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Make a decorator that checks each named argument by a key of KINDS, an ArgumentKind or types.

    The decorated function raises InputFault for an argument of another kind, and KeywordFault for
    one that it does not take.
    """
    wanted = {name: _kind(kind) for name, kind in kinds.items()}

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        parameters = inspect.signature(function).parameters
        names, takes_all = (
            list(parameters),
            any(p.kind is p.VAR_KEYWORD for p in parameters.values()),
        )

        @wraps(function)
        def call_checked(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
            for name, value in (*zip(names, args, strict=False), *keywords.items()):
                if name in wanted:
                    _check(function.__name__, name, value, wanted[name])
                elif name not in names and not takes_all:
                    problem = f"no such argument; {nearest_names(name, names)}"
                    raise KeywordFault(problem, where=f"{function.__name__}({name}=…)")
            return function(*args, **keywords)

        return call_checked

    return decorate


class KeywordFault(InputFault, TypeError):
    """An argument that a function does not take; a TypeError too, as Python's own error is."""


class FieldFault(InputFault, ValueError):
    """A wrong argument of a class's constructor; a ValueError too, as pydantic's own error is."""


def plain_faults(expected: str) -> Callable[[type[_Result]], type[_Result]]:
    """Make a decorator for a pydantic class: wrong arguments raise a FieldFault of one line.

    Validation that does not call the constructor, as when files are read, raises pydantic's errors.
    """

    def decorate(cls: type[_Result]) -> type[_Result]:
        validated: Any = cls.__init__

        @wraps(validated)
        def construct(self: Any, /, *args: Any, **fields: Any) -> None:
            try:
                validated(self, *args, **fields)
            except (ValueError, TypeError) as error:  # pydantic's own is a ValueError
                place, problem = _misfit(cls, error)
                where = f"{cls.__name__}({place}{'=' * bool(place)}…)"
                raise FieldFault(problem, where=where, expected=expected) from None

        setattr(cls, "__init__", construct)  # noqa: B010 - mypy refuses the assignment
        return cls

    return decorate


def _misfit(cls: type, error: Exception) -> tuple[str, str]:
    """Return the first wrong field, and what is wrong with it; the field is "" if none is named."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return "", str(error)
    first = errors()[0]
    names, place = list(getattr(cls, "__dataclass_fields__", ())), ".".join(map(str, first["loc"]))
    place = names[int(place)] if place.isdigit() and int(place) < len(names) else place
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return place, f"{place.rpartition('.')[2]!r} is not a field"
    if first["type"] in ("missing", "value_error"):
        return place, first["msg"].removeprefix("Value error, ")
    value = first["input"]
    return place, f"{type(value).__name__} {value!r:.60} was given: {first['msg']}"


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


class FormerMethod(list[_Result]):
    """A list in an attribute that was once a method; calling the list returns the list itself."""

    def __call__(self) -> list[_Result]:
        return self


def with_older_keys(data: dict[str, Any], **older: str) -> dict[str, Any]:
    """Return JSON data with its keys renamed: `older` maps a field's new name to its older one."""
    return {older.get(name, name): value for name, value in data.items()}


def warn_of_place(function: str, names: Iterable[str]) -> None:
    """Warn that a public function will no longer take these arguments by position."""
    listed = ", ".join(f"{name}=…" for name in names)
    warnings.warn(
        f"{function}() takes {listed} by keyword; by position it will fail",
        DeprecationWarning,
        stacklevel=3,
    )


def _kind(spec: Any) -> ArgumentKind:
    if isinstance(spec, ArgumentKind):
        return spec
    if isinstance(spec, str):
        return KINDS[spec]
    types: tuple[type, ...] = spec if isinstance(spec, tuple) else (spec,)
    words = ", or ".join(f"a {each_type.__name__}" for each_type in types).replace(
        "a NoneType", "None"
    )
    words = words.replace("a Session", "a Session, as pg.session(body) makes one")
    return ArgumentKind(types, words.replace("a str", "a name"))


def _check(function: str, name: str, value: Any, kind: ArgumentKind) -> None:
    if not isinstance(value, kind.types) or isinstance(value, kind.never):
        raise wrong(f"{function}({name}=…)", value, kind.words)


def refuse_unused(function: str, given: Mapping[str, bool], problem: str, expected: str) -> None:
    """Raise InputFault for the arguments that are True in `given`: they would change nothing."""
    if names := [f"{name}=…" for name, is_given in given.items() if is_given]:
        raise InputFault(problem, where=f"{function}({', '.join(names)})", expected=expected)


def wrong(where: str, value: Any, expected: str) -> InputFault:
    """Make the fault for an argument of the wrong kind."""
    problem = f"{type(value).__name__} {value!r:.60} was given"
    return InputFault(problem, where=where, expected=expected)


def items(where: str, values: Iterable[_Result]) -> tuple[_Result, ...]:
    """Return the items of a list or another iterable. Raises InputFault for a value without items,
    for a mapping or set, and for a text or bytes, whose items would be letters."""
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


def pieces_of_stream(stream: bytes | bytearray | Iterable[bytes]) -> Iterator[bytes]:
    """Yield a stream's pieces; bytes are one piece. Raises InputFault if a piece is not bytes."""
    for piece in [stream] if isinstance(stream, bytes | bytearray) else stream:
        if not isinstance(piece, bytes | bytearray):
            raise wrong("a piece of a stream", piece, f"bytes; {READ_ELSEWHERE}")
        yield bytes(piece)
