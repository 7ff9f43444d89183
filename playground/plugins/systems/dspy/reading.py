"""Values of fields as completions write them, by their types: JSON, Python, or the text itself."""

from __future__ import annotations

import ast
import inspect
import json
import re
import types
from contextlib import suppress
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from playground.parsing import relaxed_json

_UNREADABLE = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError)


def read(value: Any, annotation: Any) -> Any:
    """Return a field's value from a completion. Raises ValueError with pydantic's words."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation is str:
        return str(value)
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return _member(value, annotation)
    if origin is Literal:
        value = _literal(value, args)
    if not isinstance(value, str) or origin is Literal:
        return _validated(value, annotation)
    problem = ValueError("no value")
    is_union = origin in (Union, types.UnionType)
    for candidate in _candidates(value, is_union and {str, type(None)} <= set(args)):
        try:
            return _validated(candidate, annotation)
        except ValueError as error:
            problem = error
    raise problem


def _validated(value: Any, annotation: Any) -> Any:
    try:
        return TypeAdapter(annotation).validate_python(value)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValidationError as error:
        raise ValueError(_words(error)) from error


def _words(error: ValidationError) -> str:
    """Say what is wrong, and where in the value.

    Pydantic's own text would repeat the value and add an address of its documents.
    """
    told = ((".".join(map(str, each["loc"])), each["msg"]) for each in error.errors())
    return "; ".join(f"{place}: {problem}" if place else problem for place, problem in told)


def _member(value: Any, kind: type[Enum]) -> Enum:
    """Return an enum's member by its value, else by its name; white space and quotes around are
    borne.
    """
    bare = value.strip().strip("\"'") if isinstance(value, str) else value
    for candidate in (value, bare):
        for member in kind:
            if member.value == candidate:
                return member
    for candidate in (value, bare):
        if isinstance(candidate, str) and candidate in kind.__members__:
            return kind[candidate]
    if isinstance(value, str):
        for member in kind:
            if str(member.value) == bare:
                return member
    raise ValueError(f"{value!r} is neither a name nor a value of {kind.__name__}")


def _literal(value: Any, allowed: tuple[Any, ...]) -> Any:
    """One of the allowed values, where the text is one: as it stands, or as models repeat the type
    that the prompt shows, `Literal['a']`, or in quotes. Other texts are the type's to refuse."""
    if value in allowed or not isinstance(value, str):
        return value
    bare = value.strip()
    if bare.startswith(("Literal[", "str[")) and bare.endswith("]"):
        bare = bare[bare.index("[") + 1 : -1]
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        bare = bare[1:-1]
    return next((value for value in allowed if str(value) == bare), bare)


def _candidates(text: str, may_be_text: bool) -> list[Any]:
    """Yield the values that a text may stand for, the likeliest first, the text itself last.

    If the type is text or None, only a text that says None is None.
    """
    bare = _unfenced(text)
    if may_be_text:
        return [None] if bare.lower() in ("none", "null") else [text]
    found: list[Any] = [text]
    with suppress(*_UNREADABLE):
        found = [load(bare), text]
    with suppress(*_UNREADABLE):
        found.append(first_value(bare))
    return found


def load(text: str) -> Any:
    """JSON or a Python literal, put right where it is neither and cut off. Raises ValueError."""
    for reader in (json.loads, ast.literal_eval, relaxed_json.load, closed):
        with suppress(*_UNREADABLE):
            return reader(text)
    raise ValueError(f"neither JSON nor Python: {text[:80]!r}")


def first_value(text: str) -> Any:
    """Return the first object or list in a text that says more. Raises ValueError where there is
    none.
    """
    opener = re.search(r"[\[{]", text)
    if not opener:
        raise ValueError("no object and no list")
    return load(first_bracketed(text[opener.start() :]))


def first_bracketed(text: str) -> str:
    """Return the beginning of a text that opens a bracket, up to the bracket's end if it has
    one.
    """
    depth, quote, escaped = 0, "", False
    for index, char in enumerate(text):
        if quote:
            quote = quote if escaped or char != quote else ""
            escaped = char == "\\" and not escaped
        elif char in "\"'":
            quote = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return text[: index + 1]
    return text


def closed(text: str) -> Any:
    """JSON that was cut off: open strings and brackets closed. Raises ValueError.

    What was cut off in the middle of a name, a number or a word is left out.
    """
    closers: list[str] = []
    member = 0  # where the last whole member ends
    quoted = escaped = False
    for index, char in enumerate(text):
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "[{":
            closers.append("]" if char == "[" else "}")
            member = index + 1
        elif char in "]}" and closers:
            closers.pop()
            member = index + 1
        elif char == ",":
            member = index
    if not closers:
        raise ValueError("nothing is open")
    end = "".join(reversed(closers))
    whole = text[:-1] if escaped else text
    with suppress(ValueError):
        return relaxed_json.load(whole + '"' * quoted + end)
    return relaxed_json.load(text[:member] + end)


def _unfenced(text: str) -> str:
    bare = text.strip()
    lines = bare.split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1]).strip()
    return bare
