"""A plain message is read without a search: the search would have found nothing in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.nouns import wire_blocks
from playground.nouns.plain_messages import NOT_PLAIN, marked_part
from playground.nouns.wire_blocks import WireReader

WORDS = st.sampled_from(["", "tide", "a text of some words"])
MARKS = st.sampled_from(
    [{}, {"cache_control": {"type": "ephemeral"}}, {"cache_control": {"ttl": 1}}]
)
ODD = st.sampled_from(
    [{}, {}, {}, {"is_error": True}, {"citations": {"enabled": True}}, {"nobody": 1}, {"id": "x"}]
)
REFERENCE = [{"type": "tool_reference", "tool_name": "look"}]
PARTS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, WORDS),
    st.builds(lambda: {"type": "tool_use", "id": "1", "name": "look", "input": {"image": {}}}),
    st.builds(
        lambda content: {"type": "tool_result", "tool_use_id": "1", "content": content},
        st.one_of(WORDS, st.just(REFERENCE), st.just([{"type": "image", "source": {"url": "x"}}])),
    ),
    st.builds(lambda: {"type": "image", "source": {"type": "url", "url": "https://a.example"}}),
    st.builds(lambda: {"type": ["text"], "text": "odd"}),
)
CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLS = st.lists(st.sampled_from([CALL, CALL, {**CALL, "type": "custom"}, {"id": "1"}]), max_size=2)


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    merged = st.builds(
        lambda *some: {k: v for one in some for k, v in one.items()}, PARTS, MARKS, ODD
    )
    content = draw(st.one_of(WORDS, st.none(), st.lists(merged, max_size=3)))
    message = {"role": draw(st.sampled_from(["user", "assistant", "tool", "system"]))}
    message |= {"content": content} | draw(ODD)
    if draw(st.booleans()):
        message["tool_calls"] = draw(CALLS)
    if draw(st.booleans()):
        message["tool_call_id"] = "1"
    return message


BODIES = st.sampled_from([{"system": "s"}, {"max_tokens": 9}, {"toolConfig": {}}])


@settings(max_examples=300, deadline=None)
@given(BODIES, st.lists(messages(), min_size=1, max_size=4))
def test_a_plain_message_holds_nothing_that_a_search_would_find(
    head: dict[str, Any], row: list[dict[str, Any]]
) -> None:
    body = {"model": "claude-sonnet-4-5", **head, "messages": row}
    quick = WireReader().read(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire_blocks, "marked_part", lambda message, api: NOT_PLAIN)
        searched = WireReader().read(body)
    assert quick == searched


def test_an_agents_messages_are_plain() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    call = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "ebb", **mark}
    assert marked_part({"role": "assistant", "content": [call]}, "messages") == -1
    assert marked_part({"role": "user", "content": [result]}, "messages") == 0
    assert marked_part({"role": "assistant", "content": None, "tool_calls": [CALL]}, "chat") == -1
    assert marked_part({"role": "tool", "tool_call_id": "1", "content": "ebb"}, "chat") == -1
    assert marked_part({"role": "user", "content": [call]}, "messages") == NOT_PLAIN
