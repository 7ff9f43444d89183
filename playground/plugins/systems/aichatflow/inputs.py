"""The data and functions that a program passes to a run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError

from playground.base.errors import InputFault, PlaygroundError


class FunctionFault(InputFault):
    """An error in one of the program's own functions; the message names the function."""


def plain_input(data: Any) -> Any:
    """Return an input whose pydantic models and dataclasses, at any depth, are JSON objects with
    the names of serialisation as keys.

    Raises InputFault for one that JSON cannot hold. Other values are checked when they are filled
    into a template.
    """
    try:
        return _as_plain(data)
    except (PydanticSchemaGenerationError, RecursionError, ValueError) as error:
        cause = (
            "it contains itself, or is nested too deeply"
            if isinstance(error, RecursionError)
            else error_line(error)
        )
        raise InputFault(
            f"the input cannot be written as JSON: {cause}", expected="what JSON can hold"
        ) from error


def _as_plain(data: Any) -> Any:
    if isinstance(data, BaseModel):
        return data.model_dump(mode="json", by_alias=True)
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        return TypeAdapter(type(data)).dump_python(data, mode="json", by_alias=True)
    if isinstance(data, Mapping):
        return {key: _as_plain(value) for key, value in data.items()}
    return [_as_plain(value) for value in data] if isinstance(data, list | tuple) else data


def wrap_function(
    call: Callable[[str, dict[str, Any]], Any],
) -> Callable[[str, dict[str, Any]], Any]:
    """Wrap a program's function so that its exceptions, except our own, become FunctionFaults."""

    def called(name: str, arguments: dict[str, Any]) -> Any:
        try:
            return call(name, arguments)
        except PlaygroundError:
            raise
        except Exception as error:  # a user's code may raise anything
            raise FunctionFault(f"function {name!r} fails: {error_line(error)}") from error

    return called


def result_text(name: str, result: Any) -> str:
    """Return a function's result as the model reads it: text unchanged, other values as JSON.

    Raises FunctionFault if JSON cannot hold it.
    """
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        problem = f"function {name!r} gives a {type(result).__name__}: {error_line(error)}"
        raise FunctionFault(problem, expected="a text, or what JSON can hold") from error


def error_line(error: BaseException) -> str:
    """Return a user's exception in one line; even its `str` may raise."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # a user's code may raise anything
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
