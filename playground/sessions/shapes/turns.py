"""Model calls of a trace into sessions: what went in, what came out, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.base.findings import finding
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.message_order import last_answer
from playground.sessions.shapes.conversations import Conversations
from playground.sessions.shapes.messages import read_messages
from playground.sessions.shapes.options import Options
from playground.sessions.shapes.own_replies import Answered, put_replies
from playground.sessions.shapes.requests import read_items


@dataclass
class Turn:
    """One model call: the messages before it, and those that it returned."""

    before: list[Any]
    after: list[Any]
    place: Place
    tools: list[Any] = field(default_factory=list)
    model: str = ""
    at: str = ""
    seconds: float | str | None = None  # a text where they cannot be told
    stop_reason: str = ""
    usage: dict[str, Any] | None = None
    further: int = 0  # replies of the same call that are not among the messages
    options: Options = Options()


def read_turns(turns: Sequence[Turn], title: str) -> Iterator[SessionBuilder]:
    """Yield a session for each conversation: a turn beginning with an earlier one's messages goes
    on.
    """
    chains: list[list[Turn]] = []
    known: Conversations[list[Turn]] = Conversations()
    for turn in turns:
        if not _is_readable(turn.before):
            chains.append([turn])
            continue
        chain, known_by = known.going_on(turn.before)
        if chain is None:
            chains.append(chain := [])
        known.keep(chain, known_by)
        chain.append(turn)
    for number, chain in enumerate(chains, 1):
        name = title if len(chains) == 1 else f"{title} {number}"
        yield _session(chain, name)


def _is_readable(messages: list[Any]) -> bool:
    """Return True if each is an object: others hold no answers, and would displace some."""
    return all(isinstance(message, dict) for message in messages)


def _session(chain: list[Turn], title: str) -> SessionBuilder:
    builder = SessionBuilder(title=title)
    last = chain[-1]
    _asked(builder, chain)
    for turn in chain:
        builder.tools(turn.tools, turn.place.at("tools"))
        if turn.further:
            where = turn.place.at("output")
            builder.lost(f"{turn.further} more replies of the same call", where)
    said = last.place.at("input")
    read_messages(builder, last.before, said)
    put_replies(builder, [*map(_answered, chain[:-1])], said)
    read_items(builder, last.after, last.place.at("output"))
    if len(builder.messages) > 0:
        builder.request(**_known(last), reply=last_answer(builder.messages))
    return builder


def _answered(turn: Turn) -> Answered:
    place = turn.place.at("output")

    def read(into: SessionBuilder) -> None:
        read_items(into, turn.after, place)

    return Answered(len(turn.before), _known(turn), place, read)


def _asked(builder: SessionBuilder, chain: Sequence[Turn]) -> None:
    """Return the parameters of the last call; options that are no parameters are told once."""
    builder.asked(chain[-1].options.parameters, chain[-1].place)
    places = {name: turn.place for turn in reversed(chain) for name in turn.options.left_out}
    if places:
        named = ", ".join(sorted(places))
        where = str(next(iter(places.values())))
        builder.findings.append(finding("options-left-out", where, named[:200]))


def _known(turn: Turn) -> dict[str, Any]:
    return {
        "model": turn.model,
        "at": turn.at,
        "seconds": turn.seconds,
        "usage": turn.usage,
        "stop_reason": turn.stop_reason,
    }
