"""Replay a recording through a parser: each chunk gives events, and changes the parser's state."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

from playground.base.arguments import ArgumentKind, older_name, one, takes
from playground.base.display import Drawn, Live
from playground.base.findings import Finding
from playground.dialects import Dialect, dialect_names, get_dialect
from playground.dialects.reading import with_final_findings
from playground.nouns.events import CallNamedEvent, Event, cut, owned_text
from playground.nouns.prompt_data import PromptData
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult, gather
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.questions.server_view import server_view
from playground.recordings.feeding import describe_chunk, feed
from playground.recordings.recording import Recording, Timing
from playground.servers import ServerReading


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One chunk: its time and text, its events, and the parser's state after it. `kind` is text,
    reasoning, tool call, signal (a frame without text), or end. `stop` is the offset after the last
    character that belongs to an event so far."""

    at: float
    kind: str
    text: str
    events: list[Event]
    state: ParserState
    stop: int

    given = older_name("given", "text")


@dataclass(frozen=True)
class Timeline(Drawn, Live):
    """All steps of a replay; the last step is the end of the stream. It is shown as the app's
    player for replays.

    Its table has a row for each event: step, time, type, span, text. Its figure draws characters
    over time, coloured by what they became.
    """

    recording: str
    dialect: str
    """The dialect in which it was read; "" if that is unknown (see `replay`)."""
    timing: Timing
    steps: list[ReplayStep]
    result: ParseResult
    server: ServerReading | None = None
    """The same recording as a server delivers it; None if no server was given."""
    stream_findings: list[Finding] = field(default_factory=list)
    """The findings of the recording itself, such as a missing end of the stream."""

    def _summary(self) -> str:
        found = [*(self.server or self.result).findings, *self.stream_findings]
        read = replace(self.result, findings=found)._summary()
        if self.server:  # only the codes: `findings` has their messages
            codes = dict.fromkeys(finding.code for finding in found)
            read = f"{self.server.outcome}{': ' * bool(codes)}{', '.join(codes)}"
        return f"{self.recording!r:.40} in {self.dialect or 'an unknown dialect'}, {read}"

    @property
    def text(self) -> str:
        """The decoded stream: the texts of all events, in order."""
        return "".join(map(owned_text, self.result.events))

    @property
    def findings(self) -> list[Finding]:
        """The findings of the reply, of its stream, and of its delivery by the server. If a finding
        of the reply is also the server's, it is there once."""
        found = [*self.result.findings, *self.stream_findings]
        by_server = self.server.findings if self.server else ()
        return [*found, *(each for each in by_server if each not in found)]

    @property
    def delivered(self) -> Timeline | None:
        """The same steps with the events that the server delivers; None if no server was given.

        The server was given the kind of reply that `server.reads` names. Of a "complete reply", the
        steps say when a text came from the model, not when the client receives it.
        """
        if self.server is None:
            return None
        pieces = _cut_at([step.stop for step in self.steps], self.server.events)
        steps = [replace(step, events=[]) for step in self.steps]
        step_of_empty = {
            (type(event), event.span): index
            for index, step in enumerate(self.steps)
            for event in step.events
            if event.span.start == event.span.stop
        }
        number = 0
        for piece in pieces:
            # an event without text, such as a call's start, belongs to the last step that had it
            number = max(number, step_of_empty.get((type(piece), piece.span), 0))
            while number < len(steps) - 1 and steps[number].stop < piece.span.stop:
                number += 1
            steps[number].events.append(piece)
        return replace(self, steps=steps, result=self.server, server=None)

    handed = older_name("handed", "delivered")

    def until(self, step: int) -> ParseResult:
        """Return the events of all steps up to this one, merged."""
        events = (event for s in self.steps[: step + 1] for event in s.events)
        return gather(events, self.result.switches)


@takes(
    recording=ArgumentKind((Recording,), "a Recording; pg.recording(text) makes one"),
    dialect=one(
        "one dialect; call replay once for each, or pg.detect(text, tools), which reads the text in"
        " all dialects"
    ),
    switches=(Switches, NoneType),
    server="text",
)
def replay(
    recording: Recording,
    dialect: str | Dialect,
    tools: Any = (),
    switches: Switches | None = None,
    server: str = "",
) -> Timeline:
    """Feed a recording to a dialect's parser, chunk by chunk.

    `tools`, in any known form, give types to arguments; `switches` replace the dialect's own. If
    `dialect` is "", it is the recording's own, or else the likeliest for its text. If no dialect is
    likely, the first dialect reads the recording, and the timeline's `dialect` is "". With `server`
    (one of `server_names()`, perhaps with a parser, as in `vllm:hermes`), `.delivered` is another
    Timeline, with the events that this server delivers; most servers are known only for complete
    replies, which they deliver at once (`.server.reads`). The table then has two more columns:
    `server`, and `handed_as`, the kind of event that the server delivers, or `dropped`.
    """
    metadata = read_tools(tools)
    dialect = dialect or dialect_of(recording, metadata)
    chosen = get_dialect(dialect or dialect_names()[0])
    data = PromptData(tool_metadata=metadata)
    parser = chosen.create_parser(data, recording.prefill, switches)
    steps: list[ReplayStep] = []
    stop, last_time = 0, 0.0
    for chunk in recording.chunks:
        events = feed(parser, chunk)
        stop, last_time = _stop(events, stop), chunk.at
        kind, text = describe_chunk(chunk)
        steps.append(ReplayStep(chunk.at, kind, text, events, parser.state, stop))
    events = parser.finish()
    ended_state = ParserState("ended")
    steps.append(ReplayStep(last_time, "end", "", events, ended_state, _stop(events, stop)))
    result = gather((event for step in steps for event in step.events), parser.switches)
    if dialect:
        result, merged_result = with_final_findings(result, chosen, data), result
        steps[-1].events.extend(result.events[len(merged_result.events) :])
    by_server = server_view(recording, chosen, server, tools, switches) if server else None
    read_as = chosen.name if dialect else ""
    of_stream = recording.findings
    return Timeline(recording.name, read_as, recording.timing, steps, result, by_server, of_stream)


def dialect_of(recording: Recording, tools: Sequence[ToolMetadata]) -> str:
    """Return the name of a recording's dialect, or the likeliest for its text, or ""."""
    from playground.questions.fast_detection import likeliest

    if recording.dialect in dialect_names():
        return recording.dialect
    texts = map(describe_chunk, recording.chunks)
    best = likeliest("".join(text for kind, text in texts if kind == "text"), tools)
    return best[0].dialect if best else ""


def _cut_at(stops: Sequence[int], events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events, cut at the end of each step; a call's name is never cut."""
    first = 0
    for event in events:
        start, stop = event.span
        first = bisect_right(stops, start, first)
        last = bisect_left(stops, stop, first)
        if first == last or isinstance(event, CallNamedEvent):
            yield event
        else:
            yield from cut(event, list(dict.fromkeys(stops[first:last])))


def _stop(events: Sequence[Event], previous: int) -> int:
    return events[-1].span.stop if events else previous
