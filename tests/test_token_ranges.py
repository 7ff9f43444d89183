"""The range of a count: what a request is billed lies in it, whatever is not known of the model."""

from __future__ import annotations

import tracemalloc
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import playground as pg
from playground.base.errors import InputFault
from playground.tokens.count import TokenCount, count_request, count_with_similar
from playground.tokens.estimate import FAMILIES, texts_of
from playground.tokens.models import rule_for
from playground.tokens.pieces import more_of_digits
from playground.tokens.registry import PACKAGED, packaged
from playground.tokens.templates import prompt_alone
from playground.tokens.tokenizer import count

TIDE: Final = "Name the hour of high water at the old pier, and how you know it."
RAW: Final = (
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n"
    f"{TIDE}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
)
RAW_TOKENS: Final = 28  # Llama 3's own, and the token that Ollama puts before it
CALL: Final = {
    "id": "c1",
    "type": "function",
    "function": {"name": "tide_at", "arguments": '{"pier": "old"}'},
}


def inside(found: TokenCount, tokens: int) -> bool:
    low, high = found.range
    return low <= tokens and (high is None or tokens <= high)


def test_a_raw_prompt_is_counted_without_its_package() -> None:
    body = {"model": "llama3.2:3b", "raw": True, "prompt": RAW, "stream": False}
    found = pg.count_tokens(body)
    assert inside(found, RAW_TOKENS) and abs(found.tokens - RAW_TOKENS) <= 1
    rule = rule_for("llama3.2:3b")
    assert rule is not None
    sized = count_with_similar(rule.framings["ollama-generate"](body), PACKAGED[rule.tokenizer])
    assert sized.least + 1 <= RAW_TOKENS <= sized.most + 1
    assert sum(sized.sizes) + 1 == RAW_TOKENS  # the first 100,256 ranks are the same


TEXTS: Final = (
    TIDE,
    "def tide(hour: int) -> float:\n    return 1.5 * hour  # metres\n",
    '{"pier": "old", "metres": [1.25, 3.5, 12], "sure": true}',
    "Höchststand um 12:34:56, 2026-11-23 (±0.05 m)",
    "満潮は何時ですか。港の西側です。",
    "만조는 몇 시입니까? 부두 서쪽입니다.",
    "Во сколько прилив у старого причала?",
    "उच्च ज्वार कितने बजे है?",
    "متى يكون المد العالي؟",
)


@pytest.mark.parametrize("name", ["llama3", "llama4", "tekken", "mistral-v1", "mistral-v3"])
def test_texts_lie_in_the_range_of_what_is_like_their_tokenizer(name: str) -> None:
    own = PACKAGED[name]
    if own.path() is None:
        pytest.skip(f"{own.package} is not installed")
    for text in TEXTS:
        sized = count_with_similar(prompt_alone({"prompt": text}), own)
        assert sized.least <= count(packaged(name), text) <= sized.most, text


def test_what_is_empty_is_no_picture() -> None:
    """An empty content beside calls counted as a picture of 1,000 tokens without end, and so did
    Ollama's empty `system`."""
    asked = [
        {"role": "user", "content": TIDE},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "11:40"},
    ]
    found = count_request({"messages": asked}, "somebody/new-model", "openai-chat")
    assert found.tokens < 120 and found.range[1] is not None
    empty: dict[str, Any] = {"prompt": TIDE, "system": "", "context": [], "images": []}
    found = count_request(empty, "phi3", "ollama-generate")
    assert found.tokens < 40 and found.range[1] is not None


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("ollama-generate", {"prompt": TIDE, "system": "Rhyme."}),
        ("openai-completions", {"prompt": [TIDE, TIDE]}),
        ("bedrock-invoke", {"inputText": TIDE, "textGenerationConfig": {}}),
        ("cohere-v1", {"message": TIDE, "preamble": "Rhyme."}),
        ("tgi-generate", {"inputs": TIDE}),
        ("llama-cpp", {"prompt": TIDE}),
    ],
)
def test_a_prompt_counts_wherever_it_stands(api: str, body: dict[str, Any]) -> None:
    words = count(packaged("o200k_base"), TIDE)
    assert count_request(body, "somebody/new-model", api).range[0] >= 0.75 * words


def test_who_writes_a_prompt_of_its_own_has_no_end() -> None:
    body = {"messages": [{"role": "user", "content": TIDE}]}
    for model in ("x-ai/grok-4", "grok-4.3", "groq/compound"):
        found = count_request(body, model, "openai-chat")
        assert found.range[1] is None and len(found.notes) == 2
    assert count_request(body, "qwen3-max", "openai-chat").range[1] is not None


def test_what_a_server_may_sum_up_has_no_least() -> None:
    told = [{"role": "user", "content": TIDE * 400}]
    cleared = {"edits": [{"type": "compact_20260112"}]}
    claude = {"messages": told, "context_management": cleared}
    assert count_request(claude, "claude-sonnet-4-6", "anthropic-messages").range[0] == 0
    limit = [{"type": "compaction", "compact_threshold": 1000}]
    openai = {"model": "gpt-4.1", "input": told, "context_management": limit}
    found = pg.count_tokens(openai)
    assert (found.kind, found.range) == ("tokenizer", (0, None))


def test_below_its_threshold_nothing_is_summed_up() -> None:
    limit = [{"type": "compaction", "compact_threshold": 1000}]
    asked: list[dict[str, Any]] = [{"role": "user", "content": TIDE}]
    body = {"model": "gpt-4.1", "input": asked, "context_management": limit}
    plain = pg.count_tokens({"model": "gpt-4.1", "input": asked})
    assert (pg.count_tokens(body).kind, pg.count_tokens(body).tokens) == ("exact", plain.tokens)
    answered = [*asked, {"role": "assistant", "content": "At noon."}, *asked]
    found = pg.count_tokens(body | {"input": answered})
    assert found.kind == "tokenizer" and found.range[1] == found.tokens + 8


def test_what_was_thought_before_is_not_sure_to_be_read() -> None:
    thought = "<think>\nThe pier is old.\n</think>\n\nAt noon."
    asked = [
        {"role": "user", "content": "Ebb?"},
        {"role": "assistant", "content": thought * 20},
        {"role": "user", "content": "Flood?"},
    ]
    found = count_request({"messages": asked}, "deepseek-ai/DeepSeek-R1", "openai-chat")
    assert found.range[0] < 8 and found.tokens > 150
    plain = [asked[0], {"role": "assistant", "content": "At noon. " * 40}, asked[2]]
    assert count_request({"messages": plain}, "qwen3-max", "openai-chat").range[0] > 80


def test_settings_that_stand_deeper_widen_the_range() -> None:
    body: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": TIDE}]}]}
    schema = {"responseSchema": {"type": "object"}, "thinkingConfig": {"thinkingBudget": 99}}
    narrow = count_request(body, "gemini-3-flash", "gemini-generate").range[1]
    wide = count_request(body | {"generationConfig": schema}, "gemini-3-flash", "gemini-generate")
    assert narrow is not None and wide.range[1] is not None
    assert wide.range[1] - narrow == 40 + 700


def test_a_picture_that_a_tool_gave_has_no_end() -> None:
    held = {"type": "document", "source": {"type": "file", "file_id": "f1"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [held]}
    body = {"messages": [{"role": "user", "content": [result]}]}
    assert count_request(body, "claude-sonnet-4-5", "anthropic-messages").range[1] is None
    cited = {"type": "search_result", "content": [], "citations": {"enabled": True}}
    asked = {"messages": [{"role": "user", "content": [{**result, "content": [cited]}]}]}
    assert count_request(asked, "claude-sonnet-4-5", "anthropic-messages").range[1] is None


def test_what_a_provider_searched_before_has_no_end() -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "sea"}}
    body = {"messages": [{"role": "assistant", "content": [call]}]}
    assert count_request(body, "claude-opus-4-8", "anthropic-messages").range[1] is None


def test_letters_of_results_at_once_may_be_escaped() -> None:
    calls = [{**CALL, "id": each} for each in ("c1", "c2")]
    told = [{"role": "tool", "tool_call_id": each, "content": "é" * 90} for each in ("c1", "c2")]
    turn = {"role": "assistant", "content": None, "tool_calls": calls}
    found = count_request({"messages": [turn, *told]}, "gpt-4o-mini", "openai-chat")
    assert found.range[1] == found.tokens + 6 * 180


def test_digits_that_are_tokens_each_are_in_the_range() -> None:
    assert more_of_digits("in 2026, at 7") == 4 - 2
    numbers = " ".join(str(number) for number in range(1000, 1300))
    body = {"contents": [{"role": "user", "parts": [{"text": numbers}]}]}
    high = count_request(body, "gemini-2.5-flash", "gemini-generate").range[1]
    assert high is not None and high >= 5 * 300


def test_the_first_llama_of_ollama_is_counted_with_either_beginning() -> None:
    body = {"messages": [{"role": "user", "content": "Tell me of the sea"}]}
    found = count_request(body, "llama3", "ollama-chat")
    assert inside(found, 15) and inside(found, 14) and not inside(found, 17)


@settings(max_examples=25)
@given(
    st.lists(st.text(max_size=80), max_size=5),
    st.lists(st.text(max_size=80), max_size=3),
    st.sampled_from([family.title for family in FAMILIES]),
)
@example(["Create a page"], ["Create"], "Gemini")  # whose tools cost less than their text
def test_a_count_lies_in_its_own_range_and_is_shared_out(
    texts: list[str], told: list[str], title: str
) -> None:
    models = {
        "Claude from 4.7 on": "claude-opus-4-8",
        "Claude": "claude-haiku-4-5",
        "Gemini": "gemini-3-pro",
        "Nova 2": "amazon.nova-2-lite",
        "Nova": "amazon.nova-pro",
        "Grok": "grok-4",
        "systems that search": "groq/compound",
        "other models": "somebody/new",
    }
    messages = [{"role": "user", "content": text} for text in texts]
    tools = [
        {"type": "function", "function": {"name": f"f{i}", "description": text, "parameters": {}}}
        for i, text in enumerate(told)
    ]
    for model in (models[title], "llama3.2:3b", "mistral-tiny", "mixtral-8x7b"):
        found = count_request({"messages": messages, "tools": tools}, model, "openai-chat")
        assert inside(found, found.tokens)
        assert sum(found.by_origin.values()) == found.tokens
        shares = (found.by_origin, found.by_message, found.by_tool)
        assert all(size >= 0 for share in shares for size in share.values())


@pytest.mark.parametrize("model", ["gpt-4o", "llama3.2", "mistral-tiny", "somebody/new-model"])
def test_a_request_nested_too_deeply_is_a_fault_in_words_or_has_no_upper_bound(model: str) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(2_000):
        schema = {"type": "object", "properties": {"a": schema}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    body = {"messages": [{"role": "user", "content": TIDE}], "tools": [tool]}
    if model == "gpt-4o":  # beyond forty levels, what a schema adds is unknown
        assert count_request(body, model, "openai-chat").range[1] is None
        return
    with pytest.raises(InputFault, match="nested too deeply"):
        count_request(body, model, "openai-chat")


def test_what_is_no_list_counts_as_none() -> None:
    asked: dict[str, Any] = {"model": "gpt-4o", "input": TIDE, "context_management": True}
    assert pg.count_tokens(asked).range == (0, None)
    schema = {"type": "object", "properties": {"a": {"anyOf": 1.5}}}
    tool = {"type": "function", "name": "f", "parameters": schema}
    assert pg.count_tokens({"model": "gpt-4o", "input": TIDE, "tools": [tool]}).tokens > 20


def test_long_texts_and_pictures_are_not_kept_once_they_are_counted() -> None:
    """A process that counted twenty requests with a text and a picture kept 100 MB."""
    picture = {"url": f"data:image/png;base64,{'A' * 100_000}"}
    tracemalloc.start()
    for number in range(5):
        parts = [{"type": "text", "text": f"{number} {TIDE * 1_500}"}]
        message = {"role": "user", "content": [*parts, {"type": "image_url", "image_url": picture}]}
        count_request({"messages": [message]}, "claude-opus-4-8", "openai-chat")
        if number == 0:
            before = tracemalloc.get_traced_memory()[0]
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 50_000


def test_texts_of_a_body_are_its_blocks_and_its_prompt() -> None:
    texts = [piece.text for piece in texts_of({"prompt": "Ebb?", "system": "Rhyme."})]
    assert texts == ["Rhyme.", "Ebb?"]
