"""Build sessions from a trace's model calls ("turns"), with their inputs, outputs and usage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.base.findings import finding
from playground.plugins.importers.shapes.options import Options
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.message_order import last_answer
from playground.sessions.shapes.conversations import Conversations
from playground.sessions.shapes.messages import read_messages
from playground.sessions.shapes.own_replies import AnsweredRequest, restore_replies
from playground.sessions.shapes.requests import read_items


@dataclass
class Turn:
    """A model call: the messages of its request, and the messages that the model returned."""

    before: list[Any]
    after: list[Any]
    place: Place
    tools: list[Any] = field(default_factory=list)
    model: str = ""
    at: str = ""
    seconds: float | str | None = None  # a text if the file has no number
    stop_reason: str = ""
    usage: dict[str, Any] | None = None
    further: int = 0  # the number of other replies to the same call, which are not in `after`
    options: Options = Options()


def read_turns(turns: Sequence[Turn], title: str) -> Iterator[SessionBuilder]:
    """Yield a session for each conversation. A turn continues the conversation that it repeats."""
    chains: list[list[Turn]] = []
    known: Conversations[list[Turn]] = Conversations()
    for turn in turns:
        if not _is_readable(turn.before):
            chains.append([turn])
            continue
        chain, digest = known.take(turn.before)
        if chain is None:
            chains.append(chain := [])
        known.put(chain, digest)
        chain.append(turn)
    for number, chain in enumerate(chains, 1):
        name = title if len(chains) == 1 else f"{title} {number}"
        yield _session(chain, name)


def _is_readable(messages: list[Any]) -> bool:
    """Return True if all messages are objects. Messages of other types are not read, and would
    shift the indexes of later answers."""
    return all(isinstance(message, dict) for message in messages)


def _session(chain: list[Turn], title: str) -> SessionBuilder:
    builder = SessionBuilder(title=title)
    last = chain[-1]
    _set_parameters(builder, chain)
    for turn in chain:
        builder.add_tools(turn.tools, turn.place.at("tools"))
        if turn.further:
            where = turn.place.at("output")
            builder.note_loss(f"{turn.further} more replies of the same call", where)
    place = last.place.at("input")
    read_messages(builder, last.before, place)
    restore_replies(builder, [*map(_answered, chain[:-1])], place)
    read_items(builder, last.after, last.place.at("output"))
    if builder.messages:
        builder.add_request(**_turn_facts(last), reply=last_answer(builder.messages))
    return builder


def _answered(turn: Turn) -> AnsweredRequest:
    place = turn.place.at("output")

    def read(into: SessionBuilder) -> None:
        read_items(into, turn.after, place)

    return AnsweredRequest(len(turn.before), _turn_facts(turn), place, read)


def _set_parameters(builder: SessionBuilder, chain: Sequence[Turn]) -> None:
    """Set the parameters of the last call. Add a finding with the names of all calls' options that
    are not known as parameters."""
    builder.set_parameters(chain[-1].options.parameters, chain[-1].place)
    places = {name: turn.place for turn in reversed(chain) for name in turn.options.left_out}
    if places:
        named = ", ".join(sorted(places))
        where = str(next(iter(places.values())))
        builder.findings.append(finding("options-left-out", where, named[:200]))


def _turn_facts(turn: Turn) -> dict[str, Any]:
    return {
        "model": turn.model,
        "at": turn.at,
        "seconds": turn.seconds,
        "usage": turn.usage,
        "stop_reason": turn.stop_reason,
    }
