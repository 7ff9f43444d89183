"""Model calls of a trace into sessions: what went in, what came out, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.messages import read_messages
from playground.sessions.shapes.requests import read_items, same_start


@dataclass
class Turn:
    """One model call: messages before it, messages that it gave."""

    before: list[Any]
    after: list[Any]
    place: Place
    tools: list[Any] = field(default_factory=list)
    model: str = ""
    at: str = ""
    seconds: float | None = None
    stop_reason: str = ""
    usage: dict[str, Any] | None = None
    further: int = 0  # replies of the same call that are not among the messages


def read_turns(turns: Sequence[Turn], title: str) -> Iterator[SessionBuilder]:
    """A session for each conversation: a turn beginning with an earlier one's messages goes on."""
    chains: list[list[Turn]] = []
    for turn in turns:
        for chain in chains:
            last = chain[-1]
            if _goes_on(last.before, turn.before):
                chain.append(turn)
                break
        else:
            chains.append([turn])
    for number, chain in enumerate(chains, 1):
        name = title if len(chains) == 1 else f"{title} {number}"
        yield _session(chain, name)


def _goes_on(before: list[Any], now: list[Any]) -> bool:
    """Whether a turn holds what an earlier one held; one whose messages cannot be read holds no
    answers, and would take their place."""
    readable = all(isinstance(message, dict) for message in now)
    return len(now) > len(before) and readable and same_start(before, now)


def _session(chain: list[Turn], title: str) -> SessionBuilder:
    builder = SessionBuilder(title=title)
    last = chain[-1]
    for turn in chain:
        builder.tools(turn.tools, turn.place.at("tools"))
        if turn.further:
            where = turn.place.at("output")
            builder.lost(f"{turn.further} more replies of the same call", where)
    read_messages(builder, last.before, last.place.at("input"))
    answers = [i for i, message in enumerate(builder.messages) if message.role == "assistant"]
    read_items(builder, last.after, last.place.at("output"))
    for turn, reply in zip(chain[:-1], answers[-len(chain) + 1 :], strict=False):
        _known(builder, turn, reply)
    if len(builder.messages) > 0:
        _known(builder, last, len(builder.messages) - 1)
    return builder


def _known(builder: SessionBuilder, turn: Turn, reply: int) -> None:
    builder.request(
        model=turn.model,
        at=turn.at,
        seconds=turn.seconds,
        usage=turn.usage,
        stop_reason=turn.stop_reason,
        reply=reply,
    )
