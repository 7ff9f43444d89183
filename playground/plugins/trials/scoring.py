"""Score one answer against the calls that were expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from playground.base.wording import short_repr
from playground.parsing.result import ParseResult
from playground.parsing.values import dump_json
from playground.recordings.recording import Recording
from playground.sessions.session import ExpectedCall

_LONGEST: Final = 60  # characters of a value that `missed` quotes
Call = tuple[str, Any]  # a call's name and arguments


class Score(NamedTuple):
    """Three measures, each of which requires the one before it.

    `parsed`: every call was read to its end, and there is a call if one is expected. `right_tool`:
    the calls name the expected tools. `right_arguments`: their arguments are the expected ones.
    """

    parsed: bool
    right_tool: bool
    right_arguments: bool


@dataclass(frozen=True, repr=False)
class Attempt:
    """One answer of one arm to one case; `number` counts from 1.

    `tokens` is the provider's count for the answer. `first_seconds` is the time from the request to
    the first chunk with text, reasoning or a call, `seconds` to the last chunk. `missed` names the
    differences from the expected calls, "" for none. If no answer came, `fault` says why; if it
    broke off, `broken_off` does. In both cases no share counts the attempt, because the connection
    failed, not the dialect.
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
    broken_off: str = ""
    missed: str = ""
    recording: Recording | None = None

    def __repr__(self) -> str:
        outcome = self.fault or self.broken_off or self.missed or "right"
        return short_repr(self, self.case, self.dialect, self.model, f"{self.number}: {outcome}")


def score(expected: Sequence[ExpectedCall], result: ParseResult) -> Score:
    """Score a reply. The order of calls does not matter."""
    calls = [(call.name, call.arguments) for call in result.tool_calls]
    parsed = not result.aborted and (bool(calls) or not expected)
    has_tools = sorted(name for name, _ in calls) == sorted(call.tool_name for call in expected)
    right_tool = parsed and has_tools
    return Score(parsed, right_tool, right_tool and not _unmatched(expected, calls)[0])


def missed(expected: Sequence[ExpectedCall], result: ParseResult) -> str:
    """Return a reply's mistakes in words for the user; "" if the reply is right."""
    scored = score(expected, result)
    calls = [(call.name, call.arguments) for call in result.tool_calls]
    if scored.right_arguments:
        return ""
    if not scored.parsed:
        names = ", ".join(event.name or "?" for event in result.aborted)
        problem = f"a call was not read whole: {names}" if names else "no call was read"
        first_finding = next((f"; {each.code}: {each.message}" for each in result.findings), "")
        return problem + first_finding
    if not scored.right_tool:
        expected_names = ", ".join(call.tool_name for call in expected) or "nothing"
        return f"called {', '.join(name for name, _ in calls)}; expected {expected_names}"
    return "; ".join(_arguments_missed(*_unmatched(expected, calls)))


def _unmatched(
    expected: Sequence[ExpectedCall], calls: Sequence[Call]
) -> tuple[list[ExpectedCall], list[Call]]:
    """Return the expected calls that no call matches, and the calls that match no expected call.

    Expected calls that name arguments are matched first.
    """
    rest, unmatched = list(calls), []
    for call in sorted(expected, key=lambda each: each.args is None):
        match = next(
            (
                candidate
                for candidate in rest
                if candidate[0] == call.tool_name
                and (call.args is None or _equal(candidate[1], call.args))
            ),
            None,
        )
        if match is None:
            unmatched.append(call)
        else:
            rest.remove(match)
    return unmatched, rest


def _arguments_missed(expected: Sequence[ExpectedCall], calls: list[Call]) -> Iterator[str]:
    """Yield how the most similar call of the same tool differs from each expected call."""
    rest = list(calls)
    for call in expected:
        expected_arguments = call.args or {}
        distances = [
            (sum(1 for _ in _differences(candidate[1], expected_arguments)), index)
            for index, candidate in enumerate(rest)
            if candidate[0] == call.tool_name
        ]
        if distances:
            _, arguments = rest.pop(min(distances)[1])
            yield f"{call.tool_name}: {', '.join(_differences(arguments, expected_arguments))}"


def _differences(actual: Any, expected: Any, path: str = "") -> Iterator[str]:
    """Yield the differences of two JSON values: a path, with both values or what is missing."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in dict.fromkeys([*expected, *actual]):
            place = f"{path}.{key}" if path else str(key)
            if key not in actual:
                yield f"{place} is missing"
            elif key not in expected:
                yield f"{place} is not expected"
            else:
                yield from _differences(actual[key], expected[key], place)
    elif not _equal(actual, expected):
        yield f"{path} is {_shortened(actual)}, expected {_shortened(expected)}"


def _shortened(value: Any) -> str:
    text = dump_json(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _equal(first: Any, second: Any) -> bool:
    """Return True for equal JSON values: 1 is 1.0, and True is neither."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            _equal(first[key], second[key]) for key in first
        )
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_equal, first, second))
    return bool(first == second)
