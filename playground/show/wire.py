"""Convert values to plain JSON and rows of text, for commands, tables and page components."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, Final, assert_never

from playground.base.arguments import with_older_keys
from playground.cache.answers.cells import BilledBreak, CacheSimulation
from playground.cache.answers.placement import CachePlacement
from playground.cache.answers.wire import CacheWire
from playground.dialects.marks.policies import CacheDecision
from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    ReasoningEvent,
    TextEvent,
    event_name,
)
from playground.parsing.result import ParseResult
from playground.questions.comparison import Column
from playground.questions.timeline import Timeline
from playground.recordings.recording import Recording
from playground.servers import ServerReading

_LONE: Final = re.compile("[\ud800-\udfff]")


def event_text(event: Event) -> str:
    """Return an event's content for a table, with lone surrogates replaced."""
    return _LONE.sub("\ufffd", _event_content(event))


def _event_content(event: Event) -> str:
    match event:
        case FindingEvent():
            return f"{event.finding.code}: {event.finding.message}"
        case TextEvent() | ReasoningEvent() | MarkupEvent() | ArgumentEvent():
            return event.text
        case CallNamedEvent():
            return event.text or event.name  # a native call's name is not in the stream's text
        case CallStartedEvent():
            return event.call_id
        case CallEndedEvent():
            return event.name or event.call_id
        case CallAbortedEvent():
            return event.name or event.reason
        case _:
            assert_never(event)


def event_json(event: Event) -> dict[str, Any]:
    """Return an event with its name and its span as two offsets."""
    data = asdict(event)
    start, stop = data.pop("span")
    return {"event": event_name(event), "start": start, "stop": stop, **data}


def column_json(column: Column) -> dict[str, Any]:
    """Return a session in one dialect: the request, the decisions about marks, the findings."""
    rendering = column.rendering
    return {
        "dialect": rendering.dialect,
        "messages": rendering.messages,
        "tools": rendering.tools,
        "cache": [decision_json(decision) for decision in rendering.decisions],
        "findings": [asdict(finding) for finding in column.findings],
    }


def placement_json(placement: CachePlacement) -> dict[str, Any]:
    """Return every part of a request, and the reason why it has a cache mark or none."""
    return {
        "dialect": placement.dialect,
        "model": placement.model_name,
        "family": placement.family,
        "policy": placement.policy,
        "characters": placement.characters,
        "text_characters": placement.text_characters,
        "gemini_threshold": placement.threshold,
        "assumption": placement.assumption or None,
        "findings": [asdict(each) for each in placement.findings],
        "decisions": [decision_json(decision) for decision in placement.decisions],
        "parts": [
            {"role": part.role, "characters": len(part.text), **decision_json(part.decision)}
            for part in placement.parts
        ],
    }


def decision_json(decision: CacheDecision) -> dict[str, Any]:
    return {**decision._asdict(), "explanation": decision.explanation}


def timeline_json(timeline: Timeline) -> dict[str, Any]:
    """Return a replay: the reply as `result_json` has it, and a server's reading of it, if any."""
    data = {
        "recording": timeline.recording,
        "dialect": timeline.dialect or None,
        "timing": timeline.timing,
        "chunks": len(timeline.steps) - 1,
        **result_json(timeline.result),
    }
    if timeline.server is not None:
        data["server"] = server_json(timeline.server)
    return data


def server_json(reading: ServerReading) -> dict[str, Any]:
    """Return a server's reading, the names of server and parser, and the source on that parser."""
    return {
        "name": reading.server,
        "parser": reading.parser,
        "source": reading.view.source,
        "assumed": reading.assumed,
        **result_json(reading),
    }


def result_json(result: ParseResult) -> dict[str, Any]:
    """Return a reply's content, reasoning, calls and findings, and every merged event."""
    return {
        "content": result.content,
        "reasoning": result.reasoning,
        "tool_calls": [
            {"id": call.call_id, "name": call.name, "arguments": call.arguments}
            for call in result.tool_calls
        ],
        "aborted": [
            {"name": call.name, "reason": call.reason, "read": [list(raw) for raw in call.raw]}
            for call in result.aborted
        ],
        "findings": [asdict(finding) for finding in result.findings],
        "events": [event_json(event) for event in result.events],
    }


def recording_json(recording: Recording) -> dict[str, Any]:
    """Return a recording's facts and its reply, without its chunks."""
    reply = recording.reply
    return {
        "name": recording.name,
        "dialect": recording.dialect,
        "api": recording.api,
        "model": recording.model,
        "chunks": len(recording.chunks),
        "timing": recording.timing,
        "stop_reason": recording.stop_reason,
        "usage": recording.usage,
        "diagnostics": recording.diagnostics,
        "error": recording.error,
        "content": reply.content,
        "reasoning": reply.reasoning,
        "tool_calls": [asdict(call) for call in reply.tool_calls],
        "findings": [asdict(finding) for finding in recording.findings],
    }


def wire_json(wire: CacheWire) -> dict[str, Any]:
    """Return the HTTP requests that would be sent, their blocks, and the lost marks."""
    return {
        "dialect": wire.dialect,
        "policy": wire.policy,
        "model": wire.model,
        "assumption": wire.assumption or None,
        "calls": [asdict(call) for call in wire.calls],
        "cached": [block._asdict() for block in wire.cached],
        "sent": [block._asdict() for block in wire.sent],
        "findings": [asdict(finding) for finding in wire.findings],
    }


def _break_json(billed_break: BilledBreak) -> dict[str, Any]:
    return with_older_keys(asdict(billed_break), cached_before="left")


def simulation_json(cell: CacheSimulation) -> dict[str, Any]:
    """Return the reads, writes and costs of the requests, and where each request differs from the
    one before. If a request would be refused, the totals of reads and costs are None."""
    is_refused = bool(cell.errors)
    return {
        "dialect": cell.dialect,
        "policy": cell.policy,
        "provider": cell.provider,
        "outcome": cell.outcome,
        "read_permille": None if is_refused else cell.read_permille,
        "cost_permille": None if is_refused else cell.cost_permille,
        "breaks": cell.breaks,
        "unexplained": [
            {**_break_json(each), "lost": each.lost, "lost_nano": cell.lost_nano(each)}
            for each in cell.unexplained
        ],
        "shorter": [_break_json(each) for each in cell.shorter],
        "hints": {str(number): hint for number, hint in cell.hints.items()},
        "errors": cell.errors,
        "model": cell.model,
        "nano_dollars": None if is_refused else cell.nano_dollars,
        "uncached_nano_dollars": None if is_refused else cell.uncached_nano_dollars,
        "paid": asdict(cell.paid) if cell.paid else None,
        "assumed_as": cell.assumed_as,
        "assumption": cell.assumption or None,
        "origins": cell.origins,
        "findings": [asdict(finding) for finding in cell.findings],
        "requests": [
            {**asdict(one), "total_range": list(sent.total_range)}
            for one, sent in zip(cell.requests, cell.row, strict=True)
        ],
        "billed": [asdict(billed) if billed else None for billed in cell.billed],
        "bounds": [
            {**asdict(bounds), "verdict": verdict} if bounds else None
            for bounds, verdict in zip(cell.bounds, cell.verdicts, strict=False)
        ],
        "told_by_provider": [asdict(answer) if answer else None for answer in cell.diagnoses],
        "differences": [asdict(found) if found else None for found in cell.differences],
    }
