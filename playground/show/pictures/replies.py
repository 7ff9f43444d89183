"""Replies as markup: replays, readings, detections; and carried values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from playground.base.display import draws
from playground.base.wording import counted
from playground.nouns.events import Event, event_name, owned_text
from playground.parsing.result import ParseResult
from playground.questions.carry import CarryMatrix
from playground.questions.detection import SHOWN, Detections
from playground.questions.timeline import Timeline
from playground.servers import ServerReading
from playground.show import rows
from playground.show.colours import EVENT_COLOURS
from playground.show.markup import CODE_STYLE, Markup, code, coloured, escaped, markup_table, table
from playground.show.pictures.requests import findings
from playground.show.replays import player, reading_name

_MOST: Final = 6_000  # the most characters of coloured text
_ARGUMENTS: Final = 2_000  # the most characters of a call's arguments


@draws("picture", Timeline)
def timeline(value: Timeline) -> Markup:
    """Return the player at its last step, with our reading and, if there is one, a server's
    reading. In plain markup, return the coloured text with its calls and findings."""
    return replays([value, value.delivered] if value.delivered else [value])


def replays(values: Sequence[Timeline]) -> Markup:
    """Return readings of one stream as columns of a player; in plain markup, one after another."""
    first = values[0]
    chunks = counted(len(first.steps) - 1, "chunk")
    read = "; ".join(_reading_line(each.result, reading_name(each)) for each in values)
    return Markup(
        first.recording or "A reply",
        f"{chunks}, {read}",
        static="".join(f"<h2>{escaped(reading_name(v))}</h2>{_reading(v.result)}" for v in values),
        component="player",
        data=lambda: {"key": "", "step": len(first.steps) - 1, **player(*values)},
    )


@draws("picture", ParseResult)
def parse_result(value: ParseResult) -> Markup:
    """Return the text coloured by kind of event, with the calls and the findings."""
    server = value.name if isinstance(value, ServerReading) else ""
    return Markup("A reply", _reading_line(value, server), static=_reading(value))


def _reading_line(result: ParseResult, dialect: str = "") -> str:
    calls = ", ".join(call.name for call in result.tool_calls) or "none"
    parts = [counted(len(result.events), "event") + (f" as {dialect}" if dialect else "")]
    parts += [f"complete calls: {calls}"]
    parts += [f"{len(result.aborted)} aborted"] if result.aborted else []
    parts += [counted(len(result.findings), "finding")]
    return ", ".join(parts)


def _reading(result: ParseResult) -> str:
    found = findings("what was odd", result.findings) if result.findings else ""
    return _text(result.events) + _calls(result) + found


def _text(events: Sequence[Event]) -> str:
    """Return the stream's text, coloured by kind of event."""
    shown, left = [], _MOST
    for event in events:
        text = owned_text(event)[: max(0, left)]
        left -= len(owned_text(event))
        if text:
            shown.append(coloured(text, EVENT_COLOURS.get(event_name(event), "#8c8c8c")))
    more = f"<p>… {-left:,} more characters</p>" if left < 0 else ""
    legend = " ".join(coloured(name, colour) for name, colour in EVENT_COLOURS.items())
    return f'<pre style="{CODE_STYLE}">{"".join(shown)}</pre>{more}<p>{legend}</p>'


def _calls(result: ParseResult) -> str:
    rows = [
        [escaped(call.name), "yes", code(arguments, _ARGUMENTS)]
        for call in result.tool_calls
        for arguments in [json.dumps(call.arguments, ensure_ascii=False, indent=1)]
    ]
    for aborted in result.aborted:
        raw = "".join(text for _, text in aborted.raw)
        rows.append([escaped(aborted.name or ""), escaped(aborted.reason), code(raw, _ARGUMENTS)])
    return markup_table("calls", ["tool", "complete", "arguments"], rows) if rows else ""


@draws("picture", Detections)
def detections(value: Detections) -> Markup:
    """Return a table of the likeliest dialects, as print() shows them."""
    line = f"likeliest: {value.dialect} ({value.reason})" if value.dialect else value.reason
    rows = [[each.dialect, str(each.calls), each.reason] for each in value[:SHOWN]]
    others = len(value) - len(rows)
    caption = "the likeliest first" + (f"; {others} more are in .frame()" if others else "")
    shown = table(caption, ["dialect", "calls", "why it stands here"], rows)
    return Markup("Which dialect is this?", line, static=shown)


@draws("picture", CarryMatrix)
def carry(value: CarryMatrix) -> Markup:
    """Return the number of values that each dialect carries, and the values that it refuses."""
    carried = sum(len(value.carried(dialect)) for dialect in value.dialects)
    left = len(value.cells) - carried
    line = f"{carried:,} of {len(value.cells):,} carried"
    line += f", {left:,} refused by name" if left else ""
    title = f"{counted(len(value.values), 'value')} in "
    title += counted(len(value.dialects), "dialect")
    return Markup(title, line, static=table("values", *rows.carry_totals(value).texts()))
