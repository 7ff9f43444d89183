"""Read the values of fields from completions, by their types: as JSON, Python, or plain text."""

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
    """Read a field's value from a completion. Raises ValueError with pydantic's message."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation is str:
        return str(value)
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return _member(value, annotation)
    if origin is Literal:
        value = _literal(value, args)
    if not isinstance(value, str) or origin is Literal:
        return _validate(value, annotation)
    problem = ValueError("no value")
    is_union = origin in (Union, types.UnionType)
    for candidate in _candidates(value, is_union and {str, type(None)} <= set(args)):
        try:
            return _validate(candidate, annotation)
        except ValueError as error:
            problem = error
    raise problem


def _validate(value: Any, annotation: Any) -> Any:
    try:
        return TypeAdapter(annotation).validate_python(value)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValidationError as error:
        raise ValueError(_error_text(error)) from error


def _error_text(error: ValidationError) -> str:
    """Return an error in words, with its place in the value.

    Pydantic's own text would repeat the value and add a link to its documentation.
    """
    errors = ((".".join(map(str, entry["loc"])), entry["msg"]) for entry in error.errors())
    return "; ".join(f"{place}: {problem}" if place else problem for place, problem in errors)


def _member(value: Any, kind: type[Enum]) -> Enum:
    """Return an enum's member by its value, or else by its name; quotes and white space around the
    text are ignored."""
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
    """Return the allowed value that a text means. A model may repeat the type from the prompt,
    `Literal['a']`, or put the value in quotes. If no value fits, return the text without type and
    quotes; the check of the type then refuses it.
    """
    if value in allowed or not isinstance(value, str):
        return value
    bare = value.strip()
    if bare.startswith(("Literal[", "str[")) and bare.endswith("]"):
        bare = bare[bare.index("[") + 1 : -1]
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        bare = bare[1:-1]
    return next((value for value in allowed if str(value) == bare), bare)


def _candidates(text: str, may_be_text: bool) -> list[Any]:
    """Return the values that a text may mean, the likeliest first. If the type is text or None, the
    text `None` or `null` means None, and any other text means itself."""
    bare = _without_fence(text)
    if may_be_text:
        return [None] if bare.lower() in ("none", "null") else [text]
    values: list[Any] = [text]
    with suppress(*_UNREADABLE):
        values = [load(bare), text]
    with suppress(*_UNREADABLE):
        values.append(first_value(bare))
    return values


def load(text: str) -> Any:
    """Read JSON or a Python literal. Repair it, or close its open brackets, if necessary. Raises
    ValueError."""
    for reader in (json.loads, ast.literal_eval, relaxed_json.load, load_cut_off):
        with suppress(*_UNREADABLE):
            return reader(text)
    raise ValueError(f"neither JSON nor Python: {text[:80]!r}")


def first_value(text: str) -> Any:
    """Read the first object or list in a text. Raises ValueError if there is none."""
    opener = re.search(r"[\[{]", text)
    if not opener:
        raise ValueError("no object and no list")
    return load(first_bracketed(text[opener.start() :]))


def first_bracketed(text: str) -> str:
    """Return the beginning of a text up to the bracket that matches its first character; all of
    the text if no bracket matches."""
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


def load_cut_off(text: str) -> Any:
    """Read JSON that was cut off, after closing open strings and brackets. Raises ValueError.

    A name, number or word that was cut in the middle is left out.
    """
    closers: list[str] = []
    member = 0  # the index at which the last complete member ends
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
    complete = text[:-1] if escaped else text
    with suppress(ValueError):
        return relaxed_json.load(complete + '"' * quoted + end)
    return relaxed_json.load(text[:member] + end)


def _without_fence(text: str) -> str:
    bare = text.strip()
    lines = bare.split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1]).strip()
    return bare
