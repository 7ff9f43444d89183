"""LangSmith's runs: one, a list, lines, or the `post` and `patch` of its clients' batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import has_field
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import listed
from playground.sessions.shapes.framework_chats import chat_messages, chat_tools, further_replies
from playground.sessions.shapes.options import options_of
from playground.sessions.shapes.turns import Turn, read_turns
from playground.sessions.source import Source
from playground.sessions.times import utc_time

_CALLS: Final = {"llm", "chat_model", "chat"}
_Run = tuple[dict[str, Any], Place]
_LISTS: Final = ("runs", "post", "patch")
_MARKS: Final = (*_LISTS, "run_type", "child_runs")


class LangSmithRuns(SessionFormat):
    name = "langsmith-runs"
    title = "LangSmith runs"
    left_aside = {
        "**.serialized": "the client's own code, as it names it",
        "**.events.*.kwargs.token": "pieces of an output, as they came",
    }
    keeps = Keeps("yes", "yes", "yes", "no", "runs that are not model calls; feedback, events")

    def recognises(self, source: Source) -> bool:
        if not has_field(source, _MARKS):
            return False
        values = source.head if source.is_lines else [source.document]
        return any(_is_run(run) for value in values for run, _ in _runs(value, Place()))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        if source.is_lines:
            found = [pair for line, value in source.lines() for pair in _runs(value, Place(line))]
        else:
            found = list(_runs(source.value, Place()))
        runs, pieces = _whole(found)
        calls = [pair for pair in runs if str(pair[0].get("run_type")) in _CALLS] or runs
        turns = [turn for run, place in calls for turn in [_turn(run, place)] if _holds(turn)]
        turns.sort(key=lambda turn: turn.at)
        sessions = list(read_turns(turns, source.stem)) or [SessionBuilder(title=source.stem)]
        if not turns:
            sessions[0].lost("no run holds a chat", Place())
        for _, place in pieces:
            sessions[0].lost("a later piece of a run that is not in the file", place)
        for builder in sessions:
            builder.known(name="langsmith")
        yield from sessions


def _is_run(run: dict[str, Any]) -> bool:
    return "run_type" in run and ("inputs" in run or "outputs" in run)


def _runs(value: Any, place: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield every run in a value, nested ones too."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _runs(item, place.at(index))
    elif isinstance(value, dict):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                yield from _runs(value[key], place.at(key))
        if "run_type" in value or "outputs" in value or "dotted_order" in value:
            yield value, place
        if isinstance(value.get("child_runs"), list):
            yield from _runs(value["child_runs"], place.at("child_runs"))


def _whole(found: list[_Run]) -> tuple[list[_Run], list[_Run]]:
    """Return a run's later pieces laid over its first one: what they hold again is the newer; and
    pieces without a first one.
    """
    runs: dict[str, _Run] = {}
    placed: dict[str, str] = {}  # the key of the first run at a place of the trace
    for number, (run, place) in enumerate(found):
        order = str(run.get("dotted_order") or "")
        key = str(run.get("id") or order or number)
        if key not in runs and not run.get("id"):  # a piece without one is told by its place
            key = placed.get(order, key)
        before, first = runs.get(key, ({}, place))
        given = {name: held for name, held in run.items() if held not in (None, {}, [])}
        runs[key] = {**before, **given}, first
        if order:
            placed.setdefault(order, key)
    whole = [pair for pair in runs.values() if "run_type" in pair[0]]
    return whole, [pair for pair in runs.values() if "run_type" not in pair[0]]


def _holds(turn: Turn) -> bool:
    return bool(turn.before or turn.after)


def _turn(run: dict[str, Any], place: Place) -> Turn:
    given, gave = run.get("inputs"), run.get("outputs")
    extra = run.get("extra") if isinstance(run.get("extra"), dict) else {}
    assert isinstance(extra, dict)
    about = extra.get("metadata") if isinstance(extra.get("metadata"), dict) else {}
    options = extra.get("invocation_params")
    options = options if isinstance(options, dict) else {}
    assert isinstance(about, dict)
    model = _of(gave, "model") or _of(given, "model") or options.get("model")
    return Turn(
        before=chat_messages(given, "user"),
        after=chat_messages(gave, "assistant"),
        further=further_replies(gave),
        tools=chat_tools(given, None) or listed(options.get("tools")),
        place=place,
        model=str(model or about.get("ls_model_name") or ""),
        at=str(utc_time(run.get("start_time")) or run.get("start_time") or ""),
        usage=_usage(run, gave, about),
        options=options_of(
            given,
            options,
            about.get("ls_invocation_params"),
            extra.get("options"),
            {name: about.get(f"ls_{name}") for name in ("temperature", "max_tokens", "stop")},
        ),
    )


def _usage(run: dict[str, Any], gave: Any, about: dict[str, Any]) -> dict[str, Any] | None:
    """Return a run's token counts from the first place that has them: the answer, as a provider or
    as LangChain names them, the run's metadata, LangChain's older `llm_output`; else what
    LangSmith itself has added up, beside the run's other fields.
    """
    places = (
        _of(gave, "usage"),
        _of(gave, "usage_metadata"),
        about.get("usage_metadata"),
        _of(_of(gave, "llm_output"), "token_usage"),
    )
    for found in places:
        if isinstance(found, dict) and found:
            return found
    # type() and not isinstance(): true is an int, too
    counted = {k: n for k, n in run.items() if k.endswith("_tokens") and type(n) is int and n}
    return counted or None


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
