"""Read tau-bench's lists of episodes, and tau2-bench's simulations with ticks. A tick is a slice of
time in which agent and user may both speak.

https://github.com/sierra-research/tau-bench and …/tau2-bench (`data_model/message.py`, `Tick`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    dict_or_finding,
    list_in,
    listed,
    mapping,
    object_in,
    objects_or_findings,
)
from playground.sessions.shapes.messages import read_message, read_messages
from playground.sessions.source import Source


class TauBench(SessionFormat):
    name = "tau-bench"
    title = "tau-bench results"
    left_aside = {"**.info.task": "instructions for the simulated user"}
    keeps = Keeps(
        missing="the file has no tools; reward and expected actions of the task are not read"
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        first = document[0] if isinstance(document, list) and document else None
        return isinstance(first, dict) and isinstance(first.get("traj"), list)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for index, value in enumerate(list_in(source)):
            builder, place = SessionBuilder(), Place(field=str(index))
            episode = dict_or_finding(builder, value, place)
            builder.title = f"{source.stem} task {episode.get('task_id', index)}"
            builder.purpose = f"reward {episode.get('reward')}, trial {episode.get('trial')}"
            read_messages(builder, episode.get("traj"), place.at("traj"))
            yield builder


class Tau2Ticks(SessionFormat):
    name = "tau2-ticks"
    title = "tau2-bench simulations in full duplex (ticks)"
    keeps = Keeps(
        missing="the file has no tools; sound, reward and the timing of words are not read"
    )

    def recognises(self, source: Source) -> bool:
        return not source.is_lines and any(True for _ in _simulations(source.document))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for place, run in _simulations(object_in(source)):
            builder = SessionBuilder(title=f"{source.stem} task {run.get('task_id', '')}".strip())
            builder.purpose = f"ended by {run.get('termination_reason')}, trial {run.get('trial')}"
            turns = _turns(list(objects_or_findings(builder, run.get("ticks"), place.at("ticks"))))
            for where, message in turns:
                pieces = message.get("content")
                text = "".join(pieces) if isinstance(pieces, list) else pieces
                read_message(builder, {**message, "content": text}, where)
            if not turns:
                builder.note_loss("ticks with sound and no words", place.at("ticks"))
            yield builder


def _simulations(document: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the simulations with ticks, from a file that is one simulation or lists several."""
    if not isinstance(document, dict):
        return
    listed_runs = document.get("simulations")
    runs = listed_runs if isinstance(listed_runs, list) else [document]
    for index, run in enumerate(runs):
        ticks = run.get("ticks") if isinstance(run, dict) else None
        first = ticks[0] if isinstance(ticks, list) and ticks else None
        if isinstance(first, dict) and {"tick_id", "agent_chunk", "user_chunk"} <= first.keys():
            yield Place(field=f"simulations.{index}" if runs is listed_runs else ""), run


def _turns(ticks: list[tuple[Place, dict[str, Any]]]) -> list[tuple[Place, dict[str, Any]]]:
    """Return words and calls as messages. A speaker's message ends when a tool is called, or at the
    first tick in which the speaker is silent after the other has begun a message."""
    turns: list[tuple[Place, dict[str, Any]]] = []
    has_transcripts = any(tick.get("user_transcript") for _, tick in ticks)
    open_: dict[str, list[str]] = {}  # speaker -> words of a message that is not complete yet
    for where, tick in ticks:
        agent_text = mapping(tick.get("agent_chunk")).get("content")
        user_text = mapping(tick.get("user_chunk")).get("content")
        user_text = tick.get("user_transcript") if has_transcripts else user_text
        for role, text in (("assistant", agent_text), ("user", user_text)):
            if not isinstance(text, str) or not text:
                if turns and turns[-1][1].get("content") is not open_.get(role):
                    open_.pop(role, None)
            elif role in open_:
                open_[role].append(text)
            else:
                open_[role] = [text]
                turns.append((where, {"role": role, "content": open_[role]}))
        if calls := _calls_and_results(tick, where):
            open_.clear()
            last, first = turns[-1][1] if turns else {}, calls[0][1]
            if last.get("role") == first["role"] and "tool_calls" not in last:  # words, then calls
                last["tool_calls"] = calls.pop(0)[1].get("tool_calls")
        turns += calls
    return turns


def _calls_and_results(tick: dict[str, Any], where: Place) -> list[tuple[Place, dict[str, Any]]]:
    found: list[tuple[Place, dict[str, Any]]] = []
    for who, role in (("agent", "assistant"), ("user", "user")):
        if calls := tick.get(f"{who}_tool_calls"):
            found.append((where, {"role": role, "content": None, "tool_calls": calls}))
        results = listed(tick.get(f"{who}_tool_results"))
        found += [(where, {"role": "tool", **mapping(result)}) for result in results]
    return found
