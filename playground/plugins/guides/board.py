"""A guide as boards: its figures, the dialect's servers, and a reply with its calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from playground.base.wording import counted
from playground.dialects import is_ours
from playground.dialects.families import family
from playground.dialects.reading import parse
from playground.nouns.events import event_name
from playground.parsing.result import ParseResult
from playground.plugins.guides.guide import Guide
from playground.questions.carry import CarryMatrix
from playground.servers import ServerReading
from playground.show.board import Figure, Payload, board, card
from playground.show.dialect_board import TIDES, example_call, readers, speakers


def server_readings(guide: Guide) -> list[tuple[str, ServerReading]]:
    """Return each server that reads the dialect, and its reading of a reply with text before and
    after its call; [] for a dialect of a user's own."""
    dialect = guide.dialect
    if not is_ours(dialect.name):
        return []
    text = f"I look.\n{example_call(dialect)}\nThat is all."
    return [
        (f"{title} {spec.partition(':')[2]}", parse(text, dialect, [TIDES], server=spec))  # type: ignore[misc]
        for title, spec in readers(dialect.name)
    ]


def guide_head(guide: Guide, values: CarryMatrix, servers: Sequence[Any]) -> Payload:
    """Return a dialect's title, its figures, and the models that speak it."""
    name = guide.dialect.name
    carried, total = len(values.carried(name)), len(values.values)
    whole = [reading for _, reading in servers if not _loss(reading)]
    figures: list[Figure] = [
        (f"{carried} of {total}", "difficult values arrive", "good" if carried == total else "bad")
    ]
    if servers:
        assumed = sum(reading.assumed for reading in whole)
        label = "servers lose nothing" + (f", {assumed} of them assumed" if assumed else "")
        figures.append((f"{len(whole)} of {len(servers)}", label, "" if whole else "bad"))
    spoken_by = speakers(guide.dialect)
    title = guide.dialect.title or name
    return board(f"{title}: {spoken_by}" if spoken_by else title, family(guide.dialect), figures)


def guide_side(guide: Guide, servers: Sequence[tuple[str, ServerReading]]) -> Payload:
    """Return the models and servers of a dialect, its other forms, and its facts."""
    rows = [
        {"cells": [name, _outcome(reading)], "tone": _tone(reading)} for name, reading in servers
    ]
    facts = [
        {"cells": [name, text.replace("\n", "↵")], "tone": "code"}
        for name, text in guide.summary()
        if name != "used by"
    ]
    also = [{"cells": ["", form.replace("\n", "↵")], "tone": "code"} for form in guide.variants()]
    cards = [
        card("facts", "Who speaks it", guide.dialect.models, rows=[]),
        card(
            "facts",
            "Servers that read it",
            "tried with a call between texts" if rows else "none known",
            rows=rows,
        ),
        card("facts", "Also accepted", rows=also),
        card("facts", "Form", rows=facts),
    ]
    return board(cards=[each for each in cards if each["rows"] or each["note"]])


def _loss(reading: ServerReading) -> str:
    if not reading.tool_calls:
        return "loses the call"
    lost = sum(len("".join(event.text.split())) for event in reading.dropped)
    return f"loses {counted(lost, 'character')}" if lost else ""


def _outcome(reading: ServerReading) -> str:
    outcome = _loss(reading) or "nothing lost"
    return f"{outcome} (assumed)" if reading.assumed else outcome


def _tone(reading: ServerReading) -> str:
    return "bad" if _loss(reading) else "good"


def reading_board(text: str, result: ParseResult) -> Payload:
    """Return a reply, coloured by the events that are read from it, and its calls."""
    pieces = [
        [event_name(event).replace(" ", "-"), text[event.span.start : event.span.stop]]
        for event in result.events
        if event.span.stop > event.span.start
    ]
    read = [
        f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"
        for call in result.tool_calls
    ]
    title = counted(len(read), "call")
    name = "What is read from it"
    return board(cards=[card("pieces", name, title, key="read", pieces=pieces, read=read)])
