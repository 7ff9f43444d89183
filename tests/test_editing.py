"""Edits of a session, each by what is sent afterwards; the Compare page's editor does them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.base.errors import InputFault
from playground.dialects import get_dialect
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.sessions.changes import changes
from playground.sessions.editing import Action, Edit, edited, part_text, split_off
from playground.sessions.editing import system_prompt as prompt_of
from playground.sessions.loading import load_session
from playground.sessions.native_format import dump_session
from playground.sessions.session import Compaction, RequestRecord, Session

CALL = ToolCallPart("call_1", "get_tides", {"harbour": "Brest"})
SESSION = Session(
    task=TaskConfig(system_rules=False),
    tools=(ToolMetadata(name="get_tides"), ToolMetadata(name="get_weather")),
    messages=(
        Message("system", (TextPart("You keep the harbour."),)),
        Message("user", (TextPart("High tide?"),)),
        Message("assistant", (TextPart("I look."), CALL)),
        Message("tool", (ToolResultPart("call_1", "get_tides", "07:12"),)),
        Message("assistant", (TextPart("At 07:12."),)),
    ),
    requests=(RequestRecord(reply=2, model="a"), RequestRecord(reply=4, model="b")),
    compactions=(Compaction(3),),
)


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


def test_an_imported_system_prompt_is_edited_where_it_stands() -> None:
    """An edit of one letter moved every message up by one, and joined parts by a line break."""
    after = edited(SESSION, [Edit("system prompt", "You keep our harbour.")])
    assert texts(after)[:2] == ["You keep our harbour.", "High tide?"]
    assert after.requests == SESSION.requests
    assert changes(SESSION, after) == ["system prompt"]
    system = Message("system", (TextPart("Be brief."), TextPart("Keep clear."), TextPart("End.")))
    several = Session(messages=(system,))
    for text, parts in (
        ("Be brief.Keep clear.End.", ["Be brief.", "Keep clear.", "End."]),
        ("Be short.Keep clear.End.", ["Be short.", "Keep clear.", "End."]),
        ("Be brief.Keep off.End.", ["Be brief.", "Keep off.", "End."]),
        ("Be brief.Keep clear.End!", ["Be brief.", "Keep clear.", "End!"]),
        ("Be clear.Stop", ["Be clear.Stop"]),
    ):
        (message,) = edited(several, [Edit("system prompt", text)]).messages
        assert [part.text for part in message.parts if isinstance(part, TextPart)] == parts


def test_an_imported_system_prompt_with_a_placeholder_is_the_agent_prompt() -> None:
    assert prompt_of(SESSION) == "You keep the harbour."
    after = edited(SESSION, [Edit("system prompt", "{AVAILABLE_TOOLS}\nKeep it well.")])
    assert prompt_of(after) == after.task.user_agent_prompt
    assert texts(after) == ["High tide?", "I look.", "", "At 07:12."]
    sent = json.dumps(get_dialect("xml").format_messages(after.prompt_data()))
    assert "Keep it well." in sent and "You keep the harbour." not in sent
    assert "{AVAILABLE_TOOLS}" not in sent
    assert changes(SESSION, after) == ["system prompt"]


def test_an_agent_prompt_leaves_the_messages_alone() -> None:
    to_fill = Edit("system prompt", "{AVAILABLE_TOOLS}")
    own = edited(SESSION, [to_fill, Edit("system prompt", "B")])
    assert own.task.user_agent_prompt == "B"
    assert len(own.messages) == 4


def test_what_was_recorded_of_a_message_goes_where_the_message_goes() -> None:
    moved = edited(SESSION, [Edit("move message", index=4, to=1)])
    assert texts(moved)[:2] == ["You keep the harbour.", "At 07:12."]
    assert [(r.reply, r.model) for r in moved.requests] == [(1, "b"), (3, "a")]
    removed = edited(SESSION, [Edit("remove message", index=2)])
    assert [(r.reply, r.model) for r in removed.requests] == [(3, "b")]
    assert removed.compactions == (Compaction(2),)
    added = edited(SESSION, [Edit("add message", index=0)])
    assert added.messages[1] == Message("user", (TextPart(""),))
    assert [r.reply for r in added.requests] == [3, 5]


def test_messages_are_added_before_the_first_and_behind_the_last() -> None:
    assert edited(Session(), [Edit("add message", index=-1)]).messages[0].role == "user"
    assert edited(SESSION, [Edit("add message", index=-1)]).messages[0].role == "user"
    assert edited(SESSION, [Edit("add message", index=4)]).messages[5].role == "user"
    assert edited(SESSION, [Edit("add message", index=1)]).messages[2].role == "assistant"


def test_roles_and_parts_are_changed_added_moved_and_removed() -> None:
    after = edited(
        SESSION,
        [
            Edit("role", "assistant", index=1),
            Edit("part", "I look now.", index=2),
            Edit("part", part_text(CALL).replace("Brest", "Vigo"), index=2, part=1),
            Edit("move part", index=2, part=1, to=0),
            Edit("add part", "reasoning", index=2),
            Edit("remove part", index=3),
        ],
    )
    assert after.messages[1].role == "assistant"
    assert [part.type for part in after.messages[2].parts] == ["tool_call", "text", "reasoning"]
    assert after.messages[2].tool_calls[0].args == {"harbour": "Vigo"}
    assert after.messages[2].text == "I look now."
    assert after.messages[3].parts == ()
    assert changes(SESSION, after) == ["3 messages changed"]


def test_every_part_is_read_from_what_the_editor_shows() -> None:
    for index, message in enumerate(SESSION.messages):
        for number, part in enumerate(message.parts):
            shown = Edit("part", part_text(part), index=index, part=number)
            assert edited(SESSION, [shown]) == SESSION


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (Edit("part", '{"type": "tool_call",\n "args": }', 2, 1), "message 2, part 1:2: not JSON"),
        (
            Edit("part", '{"type": "tool_result",\n "tool_call_id": 1, "tool_name": "x"}', 2, 1),
            "message 2, part 1:2, field tool_call_id: Input should be a valid string, not 1",
        ),
        (Edit("tool", '{"name": "a",\n "description": 1}', 0), "tool 0:2"),
        (Edit("tool", '{"name": "get_weather"}', 0), "a tool of the name 'get_weather' already"),
        (Edit("all tools", "[]"), "it holds no tools"),
        (Edit("remove message", index=5), "there is no message 5; expected one of 0 to 4"),
        (Edit("remove tool", index=-1), "there is no tool -1; expected one of 0 to 1"),
        (Edit("part", "x", 0, 1), "there is no part 1"),
        (Edit("move part", index=2, part=0, to=2), "there is no part 2"),
        (Edit("move part", index=2, part=99), "there is no part 99; expected one of 0 to 1"),
        (Edit("move part", index=2, part=-1), "there is no part -1"),
        (Edit("add message", index=-2), "there is no message -2"),
        (Edit("sing"), "unknown edit 'sing'; expected system prompt or"),  # type: ignore[arg-type]
        (Edit("tool", '{"name": "a"}, {"name": "a"}', 0), "a tool of the name 'a' already"),
        (Edit("all tools", '[{"name": "a"}, {"name": "a"}]'), "a tool of the name 'a' already"),
        (Edit("role", "robot", index=1), "unknown role 'robot'; expected system or user or"),
    ],
)
def test_an_edit_that_cannot_be_made_says_where_and_why(edit: Edit, told: str) -> None:
    with pytest.raises(InputFault) as fault:
        edited(SESSION, [edit])
    assert told in str(fault.value)


def test_tools_are_edited_renamed_added_and_removed() -> None:
    after = edited(
        SESSION,
        [
            Edit("tool", '{"name": "tides", "description": "Of a harbour."}', index=0),
            Edit("add tool"),
            Edit("add tool"),
            Edit("remove tool", index=1),
        ],
    )
    assert [tool.name for tool in after.tools] == ["tides", "new_tool_1", "new_tool_2"]
    assert changes(SESSION, after) == ["2 tools changed", "1 tool added"]
    replaced = edited(SESSION, [Edit("all tools", '[{"name": "only"}]')])
    assert changes(SESSION, replaced) == ["1 tool changed", "1 tool removed"]


def test_a_tool_that_has_a_twin_already_can_be_edited() -> None:
    twins = replace(SESSION, tools=(*SESSION.tools, ToolMetadata(name="get_tides")))
    told = edited(twins, [Edit("tool", '{"name": "get_tides", "description": "D"}', index=2)])
    assert [tool.description for tool in told.tools] == ["", "", "D"]
    apart = edited(told, [Edit("tool", '{"name": "tides"}', index=0)])
    assert [tool.name for tool in apart.tools] == ["tides", "get_weather", "get_tides"]
    with pytest.raises(InputFault, match="already"):
        edited(apart, [Edit("tool", '{"name": "tides"}', index=2)])


def test_changes_are_told_by_content_also_of_what_stands_twice() -> None:
    twice = replace(SESSION, messages=(*SESSION.messages, SESSION.messages[1]))
    assert changes(SESSION, twice) == ["1 message added"]
    assert changes(twice, SESSION) == ["1 message removed"]
    tools = replace(SESSION, tools=(*SESSION.tools, SESSION.tools[0]))
    assert changes(SESSION, tools) == ["1 tool added"]


ACTIONS = st.sampled_from([*get_args(Action), "sing"])
NUMBERS = st.integers(-3, 6)
TEXTS = st.sampled_from(
    ["", "x", "\ud83d", "user", "text", "[", '{"name": "a"}', "tool call", "{}"]
)


@given(st.lists(st.builds(Edit, ACTIONS, TEXTS, NUMBERS, NUMBERS, NUMBERS), max_size=4))
def test_any_edits_are_made_or_refused_with_words(edits: list[Edit]) -> None:
    with suppress(InputFault):
        after = edited(SESSION, edits)
        assert load_session(dump_session(after).encode()) == after


def test_the_other_prompts_are_fields_of_their_own() -> None:
    fields: list[Action] = ["custom instructions", "environment block", "general rules"]
    after = edited(SESSION, [Edit(field, "X") for field in fields])
    assert changes(SESSION, after) == fields
    sent = json.dumps(get_dialect("xml").format_messages(after.prompt_data()))
    assert sent.count("X") >= 2
    assert edited(after, [Edit(field, "") for field in fields]) == SESSION


def test_messages_are_split_off_from_one_on() -> None:
    rest = split_off(SESSION, 2)
    assert rest.messages == SESSION.messages[2:]
    assert (rest.tools, rest.task) == (SESSION.tools, SESSION.task)
    assert not rest.requests


def test_what_changed_back_is_no_change() -> None:
    there = Edit("move message", index=1, to=2)
    assert changes(SESSION, edited(SESSION, [there])) == ["messages in another order"]
    assert changes(SESSION, edited(SESSION, [there, there])) == []
    assert Edit("move part", index=2, part=1).label == "move part 1 of message 2"
    assert Edit("role", "user", index=2).label == "change role of message 2"
    assert Edit("remove tool", index=2).label == "remove tool 2"
    assert Edit("add message", index=2).label == "add a message as number 3"
    assert Edit("add tool").label == "add a tool"


def test_an_empty_system_prompt_is_no_part_of_the_message_behind_it() -> None:
    """Two parts of a system prompt became three, the first empty: Anthropic refuses it."""
    system = Message("system", (TextPart("Be brief."), TextPart("Keep clear.")))
    session = replace(SESSION, messages=(system, *SESSION.messages[1:]))
    first = get_dialect("native").format_messages(session.prompt_data())[0]
    assert [part["text"] for part in first["content"]] == ["Be brief.", "Keep clear."]
