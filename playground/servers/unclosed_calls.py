"""The step for calls whose closer is missing, and that another call follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from playground.nouns.events import (
    ArgumentEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    owned_text,
)
from playground.parsing.values import read_value
from playground.servers.projection import Projection
from playground.servers.segments import ReplySegment


def run_on_unclosed_calls(reply: Projection) -> None:
    """Join a call without its closer with the calls after it, up to the first closer
    (View.unclosed_calls)."""
    if reply.view.unclosed_calls == "apart":
        return
    segments = iter(reply.segments)
    merged: list[ReplySegment] = []
    for segment in segments:
        merged.append(segment)
        if segment.kind == "call" and _is_unclosed(segment):
            merged += _run_on(reply, segment, segments)
    reply.segments = merged


def _is_unclosed(segment: ReplySegment) -> bool:
    """Return True if the call itself, not only a value in it, lacks its closer."""
    return any(map(_is_missing_closer, segment.events))


def _is_missing_closer(event: Event) -> bool:
    if not isinstance(event, FindingEvent) or event.finding.code != "missing-closer":
        return False
    return ", argument " not in event.finding.where


def _run_on(
    reply: Projection, call: ReplySegment, rest: Iterator[ReplySegment]
) -> list[ReplySegment]:
    """Add the calls after `call` to it, up to the first that has its closer. Return the segments
    after the last added call that were taken from `rest`."""
    skipped: list[ReplySegment] = []
    others: list[list[Event]] = []  # the events of each added call, with the notes before it
    for segment in rest:
        skipped.append(segment)
        if segment.kind not in ("call", "note", "separator"):
            break
        if segment.kind == "call":
            others.append([event for each in skipped for event in each.events])
            skipped = []
            if not _is_unclosed(segment):
                break
    if others:
        _join(reply, call, others)
    return skipped


def _join(reply: Projection, call: ReplySegment, others: Sequence[Sequence[Event]]) -> None:
    """Make the other calls' parameters arguments of `call`. If the bodies are objects, all text
    from the first to the last is one body: the call is malformed."""
    ended = call.ended
    assert ended is not None
    tool = reply.tools.get(ended.name)
    arguments, raw = dict(ended.arguments), list(ended.raw)
    # the joined call lacks its closer only if the last added call does
    events = [e for e in call.events if e is not ended and not _is_missing_closer(e)]
    for added_events in others:
        added_call = next(event for event in added_events if isinstance(event, CallEndedEvent))
        for key, text in added_call.raw:
            if key is not None:
                schema = tool.parameter_schema(key) if tool else {}
                arguments[key] = read_value(text, schema)[0]
        if any(key is None for key, _ in added_call.raw):
            call.kind = "failed"
            raw.append((None, _text_to_last_argument(added_events)))
        else:
            raw += added_call.raw
        is_last = added_events is others[-1]
        kept = [e for e in added_events if is_last or not _is_missing_closer(e)]
        events += _events_inside(reply, kept, ended.call_index)
    joined = replace(ended, span=added_call.span, arguments=arguments, raw=tuple(raw))
    call.events = [*events, joined]


def _text_to_last_argument(events: Iterable[Event]) -> str:
    text = argument_end = ""
    for event in events:
        text += owned_text(event)
        argument_end = text if isinstance(event, ArgumentEvent) else argument_end
    return argument_end


def _events_inside(reply: Projection, events: Iterable[Event], index: int) -> Iterator[Event]:
    """Yield another call's events as events inside the call with this index."""
    for event in events:
        match event:
            case ArgumentEvent():
                yield replace(event, call_index=index)
            case CallNamedEvent():
                yield reply.drop_finding(event.span, event.text, "the name of a call")
            case CallStartedEvent() | CallEndedEvent():
                pass
            case _:
                yield event
