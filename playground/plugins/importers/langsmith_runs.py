"""Read LangSmith's runs: one run, a list, lines, or what a client sent in `post` and `patch`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.plugins.importers.shapes.options import options_of
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import has_field
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.framework_chats import chat_messages, chat_tools, further_replies
from playground.sessions.source import Source
from playground.sessions.times import utc_time

_CALLS: Final = {"llm", "chat_model", "chat"}
_Run = tuple[dict[str, Any], Place]
_LISTS: Final = ("runs", "post", "patch")
_NOT_READ: Final = "only model calls are read, or all runs if there are none; no feedback or events"
_MARKS: Final = (*_LISTS, "run_type", "child_runs")


class LangSmithRuns(SessionFormat):
    name = "langsmith-runs"
    title = "LangSmith runs"
    left_aside = {
        "**.serialized": "names of the client's own classes",
        "**.events.*.kwargs.token": "pieces of an output while it arrived",
    }
    keeps = Keeps(tools="yes", times="yes", usage="yes", missing=_NOT_READ)

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
        runs, pieces = _merge_pieces(found)
        calls = [pair for pair in runs if str(pair[0].get("run_type")) in _CALLS] or runs
        turns = [turn for run, place in calls if (turn := _turn(run, place)).before or turn.after]
        turns.sort(key=lambda turn: turn.at)
        sessions = list(read_turns(turns, source.stem)) or [SessionBuilder(title=source.stem)]
        if not turns:
            sessions[0].note_loss("no run holds a chat", Place())
        for _, place in pieces:
            sessions[0].note_loss("a later piece of a run whose first piece is not here", place)
        for builder in sessions:
            builder.set_metadata(name="langsmith")
        yield from sessions


def _is_run(run: dict[str, Any]) -> bool:
    return "run_type" in run and ("inputs" in run or "outputs" in run)


def _runs(value: Any, place: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield every run in a value, including nested runs."""
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


def _merge_pieces(pieces: list[_Run]) -> tuple[list[_Run], list[_Run]]:
    """Merge the pieces of each run; later pieces override earlier ones.

    Return the complete runs, and the runs whose first piece is not in the file.
    """
    runs: dict[str, _Run] = {}
    keys: dict[str, str] = {}  # a run's position in the trace -> the run's key
    for number, (run, place) in enumerate(pieces):
        order = str(run.get("dotted_order") or "")
        key = str(run.get("id") or order or number)
        if key not in runs and not run.get("id"):  # a piece without an id: find its run
            key = keys.get(order, key)
        earlier, first = runs.get(key, ({}, place))
        fields = {name: field for name, field in run.items() if field not in (None, {}, [])}
        runs[key] = {**earlier, **fields}, first
        if order:
            keys.setdefault(order, key)
    complete = [pair for pair in runs.values() if "run_type" in pair[0]]
    return complete, [pair for pair in runs.values() if "run_type" not in pair[0]]


def _turn(run: dict[str, Any], place: Place) -> Turn:
    request, reply = run.get("inputs"), run.get("outputs")
    extra = mapping(run.get("extra"))
    metadata, options = mapping(extra.get("metadata")), mapping(extra.get("invocation_params"))
    model = mapping(reply).get("model") or mapping(request).get("model") or options.get("model")
    return Turn(
        before=chat_messages(request, "user"),
        after=chat_messages(reply, "assistant"),
        further=further_replies(reply),
        tools=chat_tools(request, None) or listed(options.get("tools")),
        place=place,
        model=str(model or metadata.get("ls_model_name") or ""),
        at=str(utc_time(run.get("start_time")) or run.get("start_time") or ""),
        usage=_usage(run, mapping(reply), metadata),
        options=options_of(
            request,
            options,
            metadata.get("ls_invocation_params"),
            extra.get("options"),
            {name: metadata.get(f"ls_{name}") for name in ("temperature", "max_tokens", "stop")},
        ),
    )


def _usage(
    run: dict[str, Any], reply: dict[str, Any], metadata: dict[str, Any]
) -> dict[str, Any] | None:
    """Return a run's token counts as its reply has them, or else its metadata, or else as LangSmith
    summed them up."""
    usages = (
        reply.get("usage"),
        reply.get("usage_metadata"),
        metadata.get("usage_metadata"),
        mapping(reply.get("llm_output")).get("token_usage"),  # from older LangChain
    )
    for usage in usages:
        if isinstance(usage, dict) and usage:
            return usage
    # `type` instead of isinstance: in Python, True is an int
    sums = {k: n for k, n in run.items() if k.endswith("_tokens") and type(n) is int and n}
    return sums or None
