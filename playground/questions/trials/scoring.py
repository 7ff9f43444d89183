"""Score one answer against the calls that were expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from playground.parsing.result import ParseResult
from playground.parsing.values import dump_json
from playground.recordings.recording import Recording
from playground.sessions.session import ExpectedCall

_LONGEST: Final = 60  # characters of a value that `missed` quotes
Made = tuple[str, Any]  # a call's name and arguments


class Score(NamedTuple):
    """Three steps, each of which needs the one before it.

    `parsed`: every call was read to its end, and there is a call if any is expected. `right_tool`:
    the calls are of the expected tools. `right_arguments`: their arguments are the expected ones.
    """

    parsed: bool
    right_tool: bool
    right_arguments: bool


@dataclass(frozen=True)
class Attempt:
    """One answer of one arm to one case; `number` counts from 1.

    `tokens` are the answer's, as the provider counted them. `first_seconds` is the time from the
    request to the first chunk with text, reasoning or a call, `seconds` to the last chunk. `missed`
    names the differences from the expected calls, "" for none. If no answer came, `fault` says why,
    and the attempt counts for no share.
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
    missed: str = ""
    recording: Recording | None = None


def score(expected: Sequence[ExpectedCall], result: ParseResult) -> Score:
    """Score a reply. The order of calls does not matter."""
    made = [(call.name, call.arguments) for call in result.tool_calls]
    parsed = not result.aborted and (bool(made) or not expected)
    tools = sorted(name for name, _ in made) == sorted(call.tool_name for call in expected)
    right_tool = parsed and tools
    return Score(parsed, right_tool, right_tool and not _unmatched(expected, made)[0])


def missed(expected: Sequence[ExpectedCall], result: ParseResult) -> str:
    """Return what a reply got wrong, in words for the user; "" if it is right."""
    right = score(expected, result)
    made = [(call.name, call.arguments) for call in result.tool_calls]
    if right.right_arguments:
        return ""
    if not right.parsed:
        names = ", ".join(event.name or "?" for event in result.aborted)
        said = f"a call was not read whole: {names}" if names else "no call was read"
        told = next((f"; {each.code}: {each.message}" for each in result.findings), "")
        return said + told
    if not right.right_tool:
        wanted = ", ".join(call.tool_name for call in expected) or "nothing"
        return f"called {', '.join(name for name, _ in made)}; expected {wanted}"
    return "; ".join(_arguments_missed(*_unmatched(expected, made)))


def _unmatched(
    expected: Sequence[ExpectedCall], made: Sequence[Made]
) -> tuple[list[ExpectedCall], list[Made]]:
    """Return the expected calls that no call matches, and the calls that match none.

    Expected calls that name arguments are matched first.
    """
    left, without = list(made), []
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
            without.append(call)
        else:
            left.remove(found)
    return without, left


def _arguments_missed(expected: Sequence[ExpectedCall], made: list[Made]) -> Iterator[str]:
    """Yield for each expected call how the most similar call of its tool differs from it."""
    left = list(made)
    for call in expected:
        wanted = call.args or {}
        near = [
            (sum(1 for _ in _differences(one[1], wanted)), index)
            for index, one in enumerate(left)
            if one[0] == call.tool_name
        ]
        if near:
            _, arguments = left.pop(min(near)[1])
            yield f"{call.tool_name}: {', '.join(_differences(arguments, wanted))}"


def _differences(got: Any, wanted: Any, path: str = "") -> Iterator[str]:
    """Yield the places where two JSON values differ: the path, and both values."""
    if isinstance(got, Mapping) and isinstance(wanted, Mapping):
        for key in dict.fromkeys([*wanted, *got]):
            place = f"{path}.{key}" if path else str(key)
            if key not in got:
                yield f"{place} is missing"
            elif key not in wanted:
                yield f"{place} is not expected"
            else:
                yield from _differences(got[key], wanted[key], place)
    elif not _same(got, wanted):
        yield f"{path} is {_shortened(got)}, expected {_shortened(wanted)}"


def _shortened(value: Any) -> str:
    text = dump_json(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _same(one: Any, other: Any) -> bool:
    """Return True for equal JSON values: 1 is 1.0, and True is neither."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
