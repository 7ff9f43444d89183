"""Mistakes of the demo model at known rates, to test trials and their statistics.

The rates follow the model's name: with `demo-taught@tool=1+xml.arguments=4+of=20`, one of twenty
answers to a request calls a tool that was not offered, and four more, if they are in the dialect
xml, have wrong arguments. The first answers to a request have the mistakes, so the number of
mistakes does not depend on the order of parallel requests.
"""

from __future__ import annotations

import json
from collections import Counter
from threading import Lock
from typing import Any, Final, Literal, get_args

from playground.base.errors import nearest_names
from playground.dialects import dialect_names

Mistake = Literal["", "call", "tool", "arguments"]
_KINDS: Final[tuple[Mistake, ...]] = get_args(Mistake)[1:]
_OF: Final = 10


class Mistakes:
    """A counter of the answers to each request: it decides which answers have mistakes."""

    def __init__(self) -> None:
        self._answered: Counter[str] = Counter()
        self._lock = Lock()

    def next(self, dialect: str, script: str, body: dict[str, Any]) -> Mistake:
        """Return the mistake in the next answer to a request; "" for none. `script` has the rates:
        it is the model's name after the `@`."""
        if not script:
            return ""
        key = json.dumps([body["model"], body["messages"], body.get("tools")])
        with self._lock:
            number = self._answered[key]
            self._answered[key] += 1
        counts = dict(part.partition("=")[::2] for part in script.split("+"))
        place = number % (_count(counts.get("of")) or _OF)
        for kind in _KINDS:
            place -= _count(counts.get(f"{dialect or 'native'}.{kind}", counts.get(kind)))
            if place < 0:
                return kind
        return ""


def script_fault(script: str) -> str:
    """Return the fault of a script of mistakes, such as a misspelled kind; "" if there is none."""
    dialects = ("", *(f"{name}." for name in dialect_names()))
    known = ["of", *(f"{dialect}{kind}" for dialect in dialects for kind in _KINDS)]
    for part in script.split("+") if script else ():
        name, _, count = part.partition("=")
        if name not in known:
            return f"unknown mistake {name!r}; {nearest_names(name, known)}"
        if not count.isascii() or not count.isdigit():
            return f"{part!r} has no count; expected such as {name}=1"
    return ""


def spoiled_calls(calls: list[dict[str, Any]], mistake: Mistake) -> list[dict[str, Any]]:
    """Return the calls, all with the mistake; none if the mistake is a missing call."""
    return [] if mistake == "call" else [_spoiled(call, mistake) for call in calls]


def _spoiled(call: dict[str, Any], mistake: Mistake) -> dict[str, Any]:
    if mistake == "tool":
        return {**call, "name": f"{call['name']}_too"}
    if mistake == "arguments":
        wrong: dict[str, Any] = {key: f"not {item}" for key, item in call["arguments"].items()}
        return {**call, "arguments": wrong or {"unasked": "x"}}
    return call


def _count(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0
