"""The predefined functions of Go's templates, and the types of their arguments."""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote_plus

from playground.plugins.systems.go_templates.formatting import sprint, sprintf, sprintln
from playground.plugins.systems.go_templates.tokens import is_printable
from playground.plugins.systems.go_templates.values import (
    INVALID,
    Byte,
    Interface,
    Slice,
    decode,
    encode,
    is_true,
    type_name,
    unwrap,
)
from playground.plugins.systems.go_templates.verbs import default_text

# the value as it is, perhaps an Interface; its plain value, None if it is missing; or only a text
Takes = Literal["value", "any", "string"]


class FunctionFault(ValueError):
    """The error of a function that refuses its arguments, with Go's message."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function with the types of its `fixed` arguments, and one type for all `variadic`
    arguments. If `named`, `call` gets the source text of the first argument before the values."""

    call: Callable[..., Any]
    fixed: tuple[Takes, ...] = ()
    variadic: Takes | None = None
    named: bool = False

    def takes(self, index: int) -> Takes:
        """Return the type of the argument at an index."""
        if index < len(self.fixed):
            return self.fixed[index]
        assert self.variadic is not None
        return self.variadic


# text


def _joined_text(values: tuple[Any, ...]) -> str:
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return sprint(["<no value>" if value is None else value for value in values])


_HTML_ESCAPES: Final = str.maketrans(
    {"\0": "�", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_JS_ESCAPES: Final = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    **{character: f"\\u{ord(character):04X}" for character in "<>&="},
}


def _html(*values: Any) -> str:
    return _joined_text(values).translate(_HTML_ESCAPES)


def _js(*values: Any) -> str:
    return "".join(map(_js_character, _joined_text(values)))


def _js_character(character: str) -> str:
    if character in _JS_ESCAPES:
        return _JS_ESCAPES[character]
    if is_printable(character) or character == "\x7f" or "\udc80" <= character <= "\udcff":
        return character  # bytes that are not UTF-8 stay unchanged
    return f"\\u{ord(character):04X}"


def _urlquery(*values: Any) -> str:
    return quote_plus(encode(_joined_text(values)), safe="")


# containers


def _length(value: Any) -> int:
    plain = unwrap(value)
    if plain is INVALID:
        if isinstance(value, Interface):
            raise FunctionFault("len of nil pointer")
        raise FunctionFault("reflect: call of reflect.Value.Type on zero Value")
    if isinstance(plain, str):
        return len(encode(plain))
    if isinstance(plain, list | dict):
        return len(plain)
    raise FunctionFault(f"len of type {type_name(plain)}")


def _position(index: Any, limit: int) -> int:
    """Return a valid index into a list or text, from 0 to its length."""
    if index is INVALID:
        raise FunctionFault("cannot index slice/array with nil")
    if isinstance(index, bool) or not isinstance(index, int):
        raise FunctionFault(f"cannot index slice/array with type {type_name(index)}")
    if not 0 <= index <= limit:
        raise FunctionFault(f"index out of range: {index}")
    return index


def _index(item: Any, *indexes: Any) -> Any:
    plain = unwrap(item)
    if plain is INVALID:
        raise FunctionFault("index of untyped nil")
    result: Any = item if not indexes else plain
    for index in indexes:
        plain = unwrap(result)
        if plain is INVALID:
            raise FunctionFault("index of nil pointer")
        result = _element(plain, unwrap(index))
    return unwrap(result) if not indexes else result


def _element(item: Any, index: Any) -> Any:
    if isinstance(item, dict):
        return Interface(item.get(_key(index)))
    if isinstance(item, str):
        data = encode(item)
        position = _position(index, len(data))
        if position == len(data):
            raise FunctionFault("reflect: string index out of range")
        return Byte(data[position])
    if isinstance(item, list):
        position = _position(index, len(item))
        if position == len(item):
            raise FunctionFault("reflect: slice index out of range")
        return Interface(item[position])
    raise FunctionFault(f"can't index item of type {type_name(item)}")


def _key(index: Any) -> str:
    if index is INVALID:
        raise FunctionFault("value is nil; should be of type string")
    if not isinstance(index, str):
        raise FunctionFault(f"value has type {type_name(index)}; should be string")
    return index


def _slice(item: Any, *indexes: Any) -> Any:
    plain = unwrap(item)
    if plain is INVALID:
        raise FunctionFault("slice of untyped nil")
    if len(indexes) > 3:
        raise FunctionFault(f"too many slice indexes: {len(indexes)}")
    if isinstance(plain, str):
        if len(indexes) == 3:
            raise FunctionFault("cannot 3-index slice a string")
        data = encode(plain)
        start, stop, _ = _slice_bounds(indexes, len(data), len(data))
        return decode(data[start:stop])
    if not isinstance(plain, list):
        raise FunctionFault(f"can't slice item of type {type_name(plain)}")
    items = [*plain, *(plain.spare if isinstance(plain, Slice) else _spare(len(plain)))]
    start, stop, end = _slice_bounds(indexes, len(plain), len(items))
    return Slice(items[start:stop], items[stop:end])


def _slice_bounds(indexes: Sequence[Any], length: int, capacity: int) -> tuple[int, int, int]:
    """Return the start and stop of a slice, and the end of its capacity."""
    bounds = [_position(index, capacity) for index in indexes]
    start, stop, end = (*bounds, *(0, length, capacity)[len(bounds) :])
    if start > stop:
        raise FunctionFault(f"invalid slice index: {start} > {stop}")
    if stop > end:
        raise FunctionFault(f"invalid slice index: {stop} > {end}")
    return start, stop, end


# The capacities of the lists that Go 1.27.3 reads from JSON, as measured.
_CAPACITIES: Final = (
    *(0, 1, 2, 4, 8, 16, 32, 71, 143, 303, 591, 1023, 1535, 2560, 3584, 5120),
    *(6656, 8704, 11264, 14336, 18432, 23552),
)


def _spare(length: int) -> list[None]:
    """Return the nulls that fill the capacity of a list from JSON after its last item."""
    at = bisect_left(_CAPACITIES, length)
    return [None] * (_CAPACITIES[at] - length if at < len(_CAPACITIES) else 0)


# comparison

_ORDERED_KINDS: Final = {int: "int", Byte: "uint", float: "float", str: "string"}
_BASIC_KINDS: Final = {**_ORDERED_KINDS, bool: "bool", complex: "complex"}


def _equal(first: Any, *others: Any) -> bool:
    left = unwrap(first)
    if not others:
        raise FunctionFault("missing argument for comparison")
    return any(_are_equal(left, unwrap(other)) for other in others)


def _are_equal(left: Any, right: Any) -> bool:
    kind, other_kind = _BASIC_KINDS.get(type(left)), _BASIC_KINDS.get(type(right))
    # the only two kinds that Go compares although they differ
    are_integers = {kind, other_kind} == {"int", "uint"}
    if are_integers or (kind is not None and kind == other_kind):
        return bool(left == right)
    if kind != other_kind:
        if INVALID in (left, right):
            return False
        types = f"{type_name(left)} and {type_name(right)}"
        raise FunctionFault(f"incompatible types for comparison: {types}")
    if INVALID in (left, right):
        return left is right
    if type_name(left) != type_name(right):
        raise FunctionFault(_not_comparable(left, right))
    raise FunctionFault(f"non-comparable type {sprintf('%s', [right])}: {type_name(right)}")


def _not_comparable(left: Any, right: Any) -> str:
    first = f"{sprintf('%s', [left])}: {type_name(left)}"
    return f"non-comparable types {first}, {type_name(right)}: {default_text(right)}"


def _less(first: Any, second: Any) -> bool:
    left, right = unwrap(first), unwrap(second)
    kinds = [_kind(left), _kind(right)]
    if kinds[0] != kinds[1] and set(kinds) != {"int", "uint"}:
        types = f"{type_name(left)} and {type_name(right)}"
        raise FunctionFault(f"incompatible types for comparison: {types}")
    if type(left) not in _ORDERED_KINDS:
        raise FunctionFault("invalid type for comparison")
    if isinstance(left, str):
        return encode(left) < encode(right)
    return bool(operator.lt(left, right))


def _kind(value: Any) -> str:
    kind = _BASIC_KINDS.get(type(value))
    if kind is None:
        raise FunctionFault("invalid type for comparison")
    return kind


def _less_or_equal(first: Any, second: Any) -> bool:
    return _less(first, second) or _equal(first, second)


def _call(name: str, value: Any, *values: Any) -> Any:
    """Raise FunctionFault, because JSON data holds no functions to call."""
    plain = unwrap(value)
    if plain is INVALID:
        raise FunctionFault("call of nil")
    name_shown = name or (plain if isinstance(plain, str) else f"<{type_name(plain)} Value>")
    raise FunctionFault(f"non-function {name_shown} of type {type_name(plain)}")


def _logic(first: Any, *others: Any) -> Any:
    raise AssertionError("Evaluation evaluates `and` and `or` itself, to stop at a deciding value")


_TWO_VALUES: Final[tuple[Takes, ...]] = ("value", "value")
FUNCTIONS: Final[dict[str, Function]] = {
    "and": Function(_logic, ("value",), "value"),
    "call": Function(_call, ("value",), "value", named=True),
    "html": Function(_html, variadic="any"),
    "index": Function(_index, ("value",), "value"),
    "js": Function(_js, variadic="any"),
    "len": Function(_length, ("value",)),
    "not": Function(lambda value: not is_true(value), ("value",)),
    "or": Function(_logic, ("value",), "value"),
    "print": Function(lambda *values: sprint(list(values)), variadic="any"),
    "printf": Function(lambda form, *values: sprintf(form, list(values)), ("string",), "any"),
    "println": Function(lambda *values: sprintln(list(values)), variadic="any"),
    "slice": Function(_slice, ("value",), "value"),
    "urlquery": Function(_urlquery, variadic="any"),
    "eq": Function(_equal, ("value",), "value"),
    "ge": Function(lambda first, second: not _less(first, second), _TWO_VALUES),
    "gt": Function(lambda first, second: not _less_or_equal(first, second), _TWO_VALUES),
    "le": Function(_less_or_equal, _TWO_VALUES),
    "lt": Function(_less, _TWO_VALUES),
    "ne": Function(lambda first, second: not _equal(first, second), _TWO_VALUES),
}
NAMES: Final = frozenset(FUNCTIONS)
