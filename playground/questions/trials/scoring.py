"""What one answer got right of the calls that were expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.parsing.result import ParseResult
from playground.recordings.recording import Recording
from playground.sessions.session import ExpectedCall


class Score(NamedTuple):
    """Each needs the one before it: every call was read whole, and there is one where one is
    expected; the calls are of the expected tools; their arguments are the expected ones."""

    parsed: bool
    right_tool: bool
    right_arguments: bool


@dataclass(frozen=True)
class Attempt:
    """One answer of one arm to one case; `number` counts from 1.

    `tokens` are those of the answer as the provider counted them, times are seconds since the
    request: of the first chunk with text, reasoning or a call, and of the last. Where nothing came
    back, `fault` says why, and the attempt counts for no share.
    """

    case: str
    dialect: str
    model: str
    number: int
    score: Score = Score(False, False, False)
    tokens: int | None = None
    first_seconds: float | None = None
    seconds: float | None = None
    fault: str = ""
    recording: Recording | None = None


def score(expected: Sequence[ExpectedCall], result: ParseResult) -> Score:
    """What a reply got right. The order of calls does not matter."""
    made = [(call.name, call.arguments) for call in result.tool_calls]
    parsed = not result.aborted and (bool(made) or not expected)
    tools = sorted(name for name, _ in made) == sorted(call.tool_name for call in expected)
    right_tool = parsed and tools
    return Score(parsed, right_tool, right_tool and _matched(expected, made))


def _matched(expected: Sequence[ExpectedCall], made: Sequence[tuple[str, Any]]) -> bool:
    """Whether each expected call finds a call of its own; those with arguments choose first."""
    left = list(made)
    for call in sorted(expected, key=lambda each: each.args is None):
        found = next(
            (
                one
                for one in left
                if one[0] == call.tool_name and (call.args is None or _same(one[1], call.args))
            ),
            None,
        )
        if found is None:
            return False
        left.remove(found)
    return not left


def _same(one: Any, other: Any) -> bool:
    """Equal JSON values: 1 is 1.0, and True is neither."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
