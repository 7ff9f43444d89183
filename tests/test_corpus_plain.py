"""What a corpus writes of a session is what the session's own file says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.nouns.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.prompt_data import TaskConfig
from playground.nouns.tools import ToolExample, ToolMetadata
from playground.plugins.corpus.cleaning import Cleaner
from playground.plugins.corpus.plain import PlainSessions, message_json, tools_key
from playground.sessions.native_format import plain_session
from playground.sessions.session import Agent, RequestRecord, Session

PARTS: tuple[tuple[Part, str], ...] = (
    (TextPart('"tide"\n\u2028é\x00'), r'{"type": "text", "text": "\"tide\"\n' + '\u2028é\\u0000"}'),
    (TextPart(""), '{"type": "text", "text": ""}'),
    (
        ToolResultPart("1", "tide", "low", True),
        '{"type": "tool_result", "tool_call_id": "1", "tool_name": "tide", "result": "low", '
        '"is_error": true}',
    ),
    (
        ToolResultPart("1", "tide", "low"),
        '{"type": "tool_result", "tool_call_id": "1", "tool_name": "tide", "result": "low"}',
    ),
    (
        ToolResultPart("1", "tide", ""),
        '{"type": "tool_result", "tool_call_id": "1", "tool_name": "tide"}',
    ),
    (
        ToolResultPart("1", "tide", {"at": [1.5, None]}),
        '{"type": "tool_result", "tool_call_id": "1", "tool_name": "tide", '
        '"result": {"at": [1.5, null]}}',
    ),
    (
        ToolCallPart("1", "tide", {"port": "Quay", "n": 1, "all": True, "by": None}),
        '{"type": "tool_call", "tool_call_id": "1", "tool_name": "tide", '
        '"args": {"port": "Quay", "n": 1, "all": true, "by": null}}',
    ),
    (
        ToolCallPart("1", "tide", {"at": {"hours": [1, 2.5]}}),
        '{"type": "tool_call", "tool_call_id": "1", "tool_name": "tide", '
        '"args": {"at": {"hours": [1, 2.5]}}}',
    ),
    (ReasoningPart("low", "s"), '{"type": "reasoning", "text": "low", "signature": "s"}'),
    (ImagePart("data:,"), '{"type": "image", "url": "data:,"}'),
)


@pytest.mark.parametrize(("part", "written"), PARTS)
def test_a_message_is_written_as_the_session_file_has_it(part: Part, written: str) -> None:
    message = Message("user", (part, TextPart("and")))
    expected = f'{{"role": "user", "parts": [{written}, {{"type": "text", "text": "and"}}]}}'
    assert message_json(message) == expected
    (plain,) = plain_session(Session(messages=(message,)))["messages"]
    assert json.dumps(plain, ensure_ascii=False) == expected


def test_no_field_of_a_part_is_left_out() -> None:
    """The texts above are put together field by field: a new field has to be among them."""
    held = {type(part).__name__: {*vars(part)} for part, _ in PARTS}
    assert held == {
        "TextPart": {"text", "type"},
        "ToolResultPart": {"tool_call_id", "tool_name", "result", "is_error", "type"},
        "ToolCallPart": {"tool_call_id", "tool_name", "args", "type"},
        "ReasoningPart": {"text", "signature", "type"},
        "ImagePart": {"url", "detail", "type"},
    }


def tool(name: str, **more: Any) -> ToolMetadata:
    return ToolMetadata(name=name, input_schema={"type": "object", "properties": {}}, **more)


SAID = (Message("user", (TextPart("When?"),)), Message("assistant", (TextPart("At six."),)))
SESSIONS = (
    Session(),
    Session(messages=SAID),
    Session(task=TaskConfig(model_name=TaskConfig().model_name), messages=SAID),
    Session(tools=(tool("tide"), tool("wind")), messages=SAID, agent=Agent("harbour")),
    Session(tools=(tool("tide"), tool("wind")), requests=(RequestRecord(reply=-1, at="now"),)),
    Session(tools=(tool("wind"),), messages=SAID, parameters={"top_p": 1}),
    Session(tools=(tool("wind", examples=(ToolExample(explanation="why"),)),), messages=SAID),
)


def test_a_session_is_plain_as_its_file_has_it_also_the_second_time() -> None:
    sessions = PlainSessions()
    for session in (*SESSIONS, *SESSIONS):
        expected = plain_session(session)
        if session.messages:
            expected["messages"] = []
        found = sessions.of(session, tools_key(session.tools))
        assert json.dumps(found) == json.dumps(expected)  # in the same order, too


def test_lists_of_tools_are_one_only_where_they_are_written_alike() -> None:
    lists = [
        (tool("tide"),),
        (tool("wind"),),
        (tool("tide", description="Of today."),),
        (tool("tide"), tool("wind")),
        (ToolMetadata(name="tide", input_schema={"type": "object", "x": 1}),),
        (ToolMetadata(name="tide", input_schema={"type": "object", "x": True}),),
        (ToolMetadata(name="tide", input_schema={"x": 1, "type": "object"}),),
    ]
    assert len({tools_key(each) for each in lists}) == len(lists)
    assert tools_key((tool("tide", examples=(ToolExample(explanation="why"),)),)) is None


def test_a_key_in_a_tool_is_starred_out_wherever_the_tool_comes_again() -> None:
    key = "sk-" + "ant-api03-" + "a1B2" * 12
    session = Session(tools=(tool("tide", description=f"Not {key}."),), messages=SAID)
    cleaner = Cleaner()
    for _ in range(2):
        clean = cleaner.session(session)
        assert key not in json.dumps(clean.plain)
        assert clean.session.tools[0].description == f"Not {'*' * len(key)}."
