"""A plain message is read without a search: the search would have found nothing in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest

from playground.nouns import wire_blocks
from playground.nouns.plain_messages import NOT_PLAIN, marked_part
from playground.nouns.wire_blocks import WireReader

MARK: Final[dict[str, Any]] = {"cache_control": {"type": "ephemeral"}}
FUNCTION: Final[dict[str, Any]] = {"name": "look", "arguments": "{}"}
CALL: Final[dict[str, Any]] = {"id": "1", "type": "function", "function": FUNCTION}
USE: Final[dict[str, Any]] = {"type": "tool_use", "id": "1", "name": "look", "input": {"image": {}}}
RESULT: Final[dict[str, Any]] = {"type": "tool_result", "tool_use_id": "1", "content": "ebb"}
REFERENCE: Final = {"type": "tool_reference", "tool_name": "look"}
PICTURE: Final = {"type": "image", "source": {"type": "url", "url": "https://a.example"}}
PARTS: Final[list[dict[str, Any]]] = [
    {"type": "text", "text": "tide"},
    {"type": "text", "text": ""},
    {"type": ["text"], "text": "odd"},
    USE,
    {**USE, "input": REFERENCE},
    RESULT,
    {**RESULT, "content": [REFERENCE]},
    {**RESULT, "content": [PICTURE]},
    PICTURE,
]
BESIDE: Final[list[dict[str, Any]]] = [
    {},
    MARK,
    {"cache_control": {"type": "ephemeral", "ttl": "1h"}},
    {"citations": {"enabled": True}},
    {"nobody": 1},
    {**MARK, "nobody": 1},
]
CONTENTS: Final = ["tide", None, 5, *([part | more] for part, more in product(PARTS, BESIDE))]
MORE: Final[list[dict[str, Any]]] = [
    {},
    {"tool_call_id": "1"},
    {"tool_calls": [CALL]},
    {"tool_calls": [CALL, {**CALL, "type": "nobody"}]},
    {"tool_calls": [{**CALL, "function": {**FUNCTION, "nobody": 1}}]},
    {"tool_calls": CALL},
    {"nobody": 1},
]
HEADS: Final[list[dict[str, Any]]] = [{"system": "s"}, {"max_tokens": 9}, {"toolConfig": {}}]


def bodies() -> Iterator[dict[str, Any]]:
    for role, content, more, head in product(
        ("user", "assistant", "tool", "system"), CONTENTS, MORE, HEADS
    ):
        message = {"role": role, "content": content, **more}
        yield {"model": "claude-sonnet-4-5", **head, "messages": [message]}


def test_a_plain_message_holds_nothing_that_a_search_would_find() -> None:
    quick = [WireReader().read(body) for body in bodies()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire_blocks, "marked_part", lambda message, api: NOT_PLAIN)
        for body, read in zip(bodies(), quick, strict=True):
            assert WireReader().read(body) == read, body


def test_an_agents_messages_are_plain() -> None:
    assert marked_part({"role": "assistant", "content": [USE]}, "messages") == -1
    assert marked_part({"role": "user", "content": [RESULT | MARK]}, "messages") == 0
    assert marked_part({"role": "assistant", "content": None, "tool_calls": [CALL]}, "chat") == -1
    assert marked_part({"role": "tool", "tool_call_id": "1", "content": "ebb"}, "chat") == -1
    assert marked_part({"role": "user", "content": [USE]}, "messages") == NOT_PLAIN
