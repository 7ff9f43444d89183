"""Export a replay as a test or as JSON, and a dialect's request in three formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pprint import pformat
from typing import Any, Final

from playground.base.wording import visible
from playground.dialects.rendering import message_text
from playground.nouns.tools import ToolMetadata
from playground.questions.comparison import Column
from playground.questions.timeline import Timeline
from playground.recordings.recording import Recording
from playground.sessions.native_format import dump_recording
from playground.show.replays import reading_name
from playground.show.wire import event_json, timeline_json

_TEST: Final = '''"""{name}, read as {dialect}{beside}: written by the dialect playground."""

import json

import playground as pg
from playground.show.wire import event_json

RECORDING = json.loads(r"""
{recording}
""")
TOOLS = json.loads(r"""
{tools}
""")
SWITCHES = {switches}
EVENTS = json.loads(r"""
{events}
""")


def test_the_recording_reads_as_it_did() -> None:
    recording = pg.read_recording(RECORDING)
    timeline = pg.replay(recording, {dialect!r}, pg.read_tools(TOOLS), pg.Switches(**SWITCHES))
    events = [event_json(event) for event in timeline.result.events]
    assert json.loads(json.dumps(events)) == EVENTS
'''


def pytest_file(
    recording: Recording,
    timeline: Timeline,
    tools: Sequence[ToolMetadata],
    other_timelines: Sequence[Timeline] = (),
) -> str:
    """Return a test with the recording's chunks, which checks that they still give these events.

    The test's docstring names the readings in `other_timelines`, which were shown next to this one.
    """
    switches = timeline.result.switches
    return _TEST.format(
        dialect=timeline.dialect,
        beside="".join(f", beside {reading_name(each)}" for each in other_timelines),
        name=visible(recording.name).replace('"', "'").replace("\\", "/"),
        recording=_raw_json(dump_recording(recording)),
        tools=_raw_json([tool.model_dump(mode="json", exclude_defaults=True) for tool in tools]),
        switches=repr(asdict(switches)),
        events=_raw_json([event_json(event) for event in timeline.result.events]),
    )


def _raw_json(value: Any) -> str:
    """Return JSON for a raw string literal: JSON never has three quotes in a row."""
    return json.dumps(value, ensure_ascii=True, indent=1)


def replay_json(timeline: Timeline, other_timelines: Sequence[Timeline] = ()) -> str:
    """Return a replay as JSON, with the other readings by name."""
    data = timeline_json(timeline)
    if other_timelines:
        data["beside"] = {reading_name(each): timeline_json(each) for each in other_timelines}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def request_texts(column: Column) -> dict[str, tuple[str, str]]:
    """Return a dialect's request in three formats: format -> the file's ending, and the text.

    JSON and Python hold the messages that are sent, and the tools of a native request; "Text"
    is the text of all messages, in order.
    """
    rendering = column.rendering
    request: dict[str, Any] = {"messages": rendering.messages}
    if rendering.tools:
        request["tools"] = rendering.tools
    lines = [f"{k} = {pformat(v, width=100, sort_dicts=False)}" for k, v in request.items()]
    return {
        "JSON": ("json", json.dumps(request, ensure_ascii=False, indent=1)),
        "Text": ("txt", "\n\n".join(message_text(message) for message in rendering.messages)),
        "Python": ("py", "\n".join(lines) + "\n"),
    }
