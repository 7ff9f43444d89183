"""A recording run through a parser: chunk → events → state, computed once."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

from playground.arguments import takes
from playground.dialects import Dialect, dialect_names, get_dialect
from playground.display import Drawn, Live
from playground.events import Event, owned_text, split
from playground.parsing.result import ParseResult, gather
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.prompt_data import PromptData
from playground.questions.server_view import server_view
from playground.recordings.feeding import feed, shown
from playground.recordings.recording import Recording, Timing
from playground.servers import ServerReading
from playground.tool_formats import read_tools


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One chunk: when it came, what it gave, and where the parser stood after it.

    `kind` is text, reasoning, tool call, signal (a frame without text), or end.
    `stop` is the offset after the last character that an event has claimed so far.
    """

    at: float
    kind: str
    given: str
    events: list[Event]
    state: ParserState
    stop: int


@dataclass(frozen=True)
class Timeline(Drawn, Live):
    """All steps of a replay; the last one is the end of the stream. Shows itself as the player.

    Its table has a row for each event: step, time, type, span, text. Its figure draws characters
    over time, coloured by what they became.
    """

    recording: str
    dialect: str
    """The dialect that it was read in; "" where nobody knows it, and the text is shown unread."""
    timing: Timing
    steps: list[ReplayStep]
    result: ParseResult
    server: ServerReading | None = None
    """What a server hands over of the same recording, where one was asked for."""

    @property
    def text(self) -> str:
        """The decoded stream: the texts of all events, in order."""
        return "".join(map(owned_text, self.result.events))

    @property
    def handed(self) -> Timeline | None:
        """The same steps with what the server hands over, and drops, in the place of our events."""
        if self.server is None:
            return None
        rest, steps = deque(self.server.events), list[ReplayStep]()
        for step in self.steps:
            steps.append(replace(step, events=_up_to(rest, step.stop)))
        steps[-1].events.extend(rest)
        return replace(self, steps=steps, result=self.server, server=None)

    def until(self, step: int) -> ParseResult:
        """What was known after a step: the events of all steps up to it, merged."""
        events = (event for s in self.steps[: step + 1] for event in s.events)
        return gather(events, self.result.switches)


@takes(recording=Recording, switches=(Switches, NoneType), server="text")
def replay(
    recording: Recording,
    dialect: str | Dialect,
    tools: Any = (),
    switches: Switches | None = None,
    server: str = "",
) -> Timeline:
    """Feed a recording to a dialect's parser, chunk by chunk, as it came.

    `tools` in any known form give types to arguments; `switches` replace the dialect's own.
    Where nobody knows the dialect it is "", and so is the timeline's: the text stays unread.
    With `server`, `vllm` or `vllm:hermes`, the timeline holds what that server hands over, too.
    """
    chosen = get_dialect(dialect or dialect_names()[0])
    data = PromptData(tool_metadata=read_tools(tools))
    parser = chosen.create_parser(data, recording.prefill, switches)
    steps: list[ReplayStep] = []
    stop, last = 0, 0.0
    for chunk in recording.chunks:
        events = feed(parser, chunk)
        stop, last = _stop(events, stop), chunk.at
        kind, given = shown(chunk)
        steps.append(ReplayStep(chunk.at, kind, given, events, parser.state, stop))
    events = parser.finish()
    ended = ParserState("ended")
    steps.append(ReplayStep(last, "end", "", events, ended, _stop(events, stop)))
    result = gather((event for step in steps for event in step.events), parser.switches)
    handed = server_view(recording, chosen, server, tools, switches) if server else None
    read_as = chosen.name if dialect else ""
    return Timeline(recording.name, read_as, recording.timing, steps, result, handed)


def _up_to(events: deque[Event], offset: int) -> list[Event]:
    """Take the events up to an offset, and of one that goes on behind it the part before it."""
    taken: list[Event] = []
    while events and events[0].span.stop <= offset:
        taken.append(events.popleft())
    if events and events[0].span.start < offset:
        head, events[0] = split(events[0], offset)
        taken += [head] if head else []
    return taken


def _stop(events: Sequence[Event], before: int) -> int:
    return events[-1].span.stop if events else before
