"""Check request bodies that a user gives as dicts, and their times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final

from playground.base.arguments import ArgumentKind, wrong
from playground.base.errors import InputFault
from playground.nouns.wire_blocks import WireReader, WireRequest
from playground.sessions.session import Session

BODIES: Final = ArgumentKind(
    (Session, str, Iterable), "a session, or a list of request bodies: [body]", (bytes, Mapping)
)


def checked_body(value: Any, number: int) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong(f"request {number + 1}", value, "the body of a request, as a dict")
    if "role" in value and "content" in value:
        expected = "bodies of requests, or pg.session(messages=…)"
        raise InputFault("a message, not a body", where=f"request {number + 1}", expected=expected)
    return dict(value)


def read_body(reader: WireReader, body: dict[str, Any], number: int) -> WireRequest:
    """Read a body as blocks. Raises InputFault for a body of no known provider."""
    try:
        return reader.read(body)
    except (AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
        problem = f"not the body of a request ({type(error).__name__}: {error})"
        expected = "a body as Anthropic, OpenAI, Bedrock, Gemini or OpenRouter takes it"
        raise InputFault(problem, where=f"request {number + 1}", expected=expected) from error


def checked_time(at: float) -> float:
    """Check a time in seconds. It may be negative, because a clock may run backwards."""
    if not isinstance(at, int | float) or not isfinite(at):
        raise InputFault(f"a time of {at!r}", expected="seconds")
    return at
