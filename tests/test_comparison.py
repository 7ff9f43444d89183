"""Counts, origins and differences of one session in several dialects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TOOLS

from playground.base.errors import UnknownNameError
from playground.dialects import dialect_names
from playground.dialects.rendering import message_text
from playground.nouns.messages import ImagePart, Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig
from playground.questions.comparison import DiffLine, compare, diff_lines, visible
from playground.sessions.session import Session
from playground.show.heads import heads
from playground.show.payloads import difference

CALL = ToolCallPart("1", "write_file", {"path": "a", "content": "x\ny"})
SESSION = Session(
    task=TaskConfig(user_agent_prompt="A {USER_PROMPT} B", user_prompt="U"),
    dynamic=DynamicTaskConfig(dynamic_environment_details_block="ENV"),
    tools=tuple(TOOLS),
    messages=(
        Message("user", (TextPart("hi"),)),
        Message("user", (TextPart("there"),)),
        Message("assistant", (TextPart("ok"), CALL)),
        Message("tool", (ToolResultPart("1", "write_file", "done"),)),
        Message("user", (TextPart("bye"),)),
    ),
)


@pytest.mark.parametrize("name", dialect_names())
def test_blocks_are_all_of_the_text_and_know_where_it_came_from(name: str) -> None:
    (column,) = compare(SESSION, [name]).columns
    for message, blocks in zip(column.rendering.messages, column.rendering.blocks, strict=True):
        assert "".join(block.text for block in blocks) == message_text(message)
    origins = [block.origin for block in column.blocks]
    for origin in ("tool:write_file", "tool:list_files", "agent", "user-prompt", "environment"):
        assert origin in origins
    # what is said and each native call are blocks of their own
    told = dict.fromkeys(origin for origin in origins if origin.startswith("message:"))
    assert list(told) == [f"message:{i}" for i in range(5)]
    assert sum(column.characters.values()) == sum(len(block.text) for block in column.blocks)


def test_an_unknown_dialect_lists_those_that_there_are() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown dialect 'xm'; did you mean 'xml'( or|\?)"):
        compare(SESSION, ["xm"])
    with pytest.raises(UnknownNameError, match="unknown dialect 'x'; the nearest of "):
        compare(SESSION, ["x"])


def test_tokens_are_those_of_the_whole_request_for_the_sessions_model() -> None:
    column = compare(SESSION.with_model("openai/gpt-4o"), ["xml"]).column("xml")
    assert (column.tokens.model, column.tokens.kind) == ("openai/gpt-4o", "exact")
    assert len(column.tokens.by_message) == len(column.rendering.messages)
    assert 20 < column.tokens.tokens < sum(column.characters.values())


def test_a_session_is_compared_origin_by_origin() -> None:
    lines = compare(SESSION, ["xml", "hermes"]).diff("xml", "hermes", ["message:0", "message:2"])
    assert lines == [
        DiffLine("heading", "message:0"),
        DiffLine("same", "hi"),
        DiffLine("heading", "message:2"),
        DiffLine("same", "ok\n"),
        DiffLine("removed", "<write_file>\n"),
        DiffLine("removed", "<path>a</path>\n"),
        DiffLine("removed", "<content>\n"),
        DiffLine("removed", "x\n"),
        DiffLine("removed", "y\n"),
        DiffLine("removed", "</content>\n"),
        DiffLine("removed", "</write_file>"),
        DiffLine("added", "<tool_call>\n"),
        DiffLine(
            "added",
            '{"name": "write_file", "arguments": {"path": "a", "content": "x\\ny"}}\n',
        ),
        DiffLine("added", "</tool_call>"),
    ]


TEXTS = st.lists(st.sampled_from(["a", "b", "\n", "\r\n", " ", "\n\n"]), max_size=30).map("".join)


@given(TEXTS, TEXTS)
def test_a_diff_holds_both_texts_whole(first: str, second: str) -> None:
    lines = diff_lines(first, second)
    assert "".join(line.text for line in lines if line.change != "added") == first
    assert "".join(line.text for line in lines if line.change != "removed") == second


def test_long_texts_without_anything_in_common_are_not_matched() -> None:
    first, second = "a\n" * 2_000, "b\n" * 2_000
    changes = [line.change for line in diff_lines(first, second)]
    assert changes == ["removed"] * 2_000 + ["added"] * 2_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b  \n", "a b··↵"),
        ("\ta\r\n", "⇥a␍↵"),
        ("\u200b\ufeff\u00a0x", "⟨ZWSP⟩⟨BOM⟩⍽x"),
        ("\x00\x1b\u202e\u2028", "⟨U+0000⟩⟨U+001B⟩⟨U+202E⟩⟨U+2028⟩"),
        ("é😀", "é😀"),
    ],
)
def test_invisible_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_equal_runs_are_folded_to_their_edges() -> None:
    lines = [DiffLine("added", "x\n"), *(DiffLine("same", f"{i}\n") for i in range(20))]
    assert difference(lines) == [
        ("added", "x↵"),
        *(("same", f"{i}↵") for i in (0, 1, 2)),
        ("gap", "14 equal lines"),
        *(("same", f"{i}↵") for i in (17, 18, 19)),
    ]


def test_an_image_is_counted_as_sent_or_is_a_finding() -> None:
    image = ImagePart("https://example.com/tides.png")
    block = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}}
    result = ToolResultPart("call_1", "get_tides", [{"type": "text", "text": "05:12"}, block])
    converse = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}
    assert ToolResultPart("call_1", "get_tides", [{"text": "05:12"}, converse]).images == 1
    listed = [{"type": "image", "name": "a.png"}, {"image": {"name": "nginx"}}]  # no image is there
    assert ToolResultPart("call_1", "list", listed).images == 0
    messages = (
        Message("user", (image,)),
        Message("assistant", (image,)),
        Message("tool", (result, image)),
    )
    session = Session(messages=messages)
    for column in compare(session).columns:
        sent, images = column.images
        codes = [each.code for each in column.findings]
        lost = codes.count("part-dropped") + codes.count("image-as-text")
        assert (sent + lost, images) == (4, 4), column.dialect.name
    assert [column.images for column in compare(session, ["xml", "native"]).columns] == [
        (1, 4),
        (2, 4),
    ]


@pytest.mark.parametrize(
    ("model", "best"),
    [("openai/gpt-5", "json"), ("anthropic/claude-sonnet-4-5", "")],
    ids=["exact", "estimated"],
)
def test_fewest_tokens_are_best_only_beyond_the_counts_error(model: str, best: str) -> None:
    """The lower of two estimates was green although their ranges overlap."""
    compared = compare(SESSION.with_model(model), ["xml", "hermes", "json"])
    figures = heads(compared.columns, [each.tokens for each in compared], [True] * 3)
    marked = [each.dialect.name for each, head in zip(compared, figures, strict=True) if head[1][2]]
    assert marked == ([best] if best else [])
    assert [head[0][2] for head in figures].count("good") == 1  # characters are exact
