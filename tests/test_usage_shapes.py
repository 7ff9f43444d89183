"""Bills as agents, frameworks and tracers write them down, each beside its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.cache.answers.bills import validate_folder
from playground.cache.prefixes import Billed
from playground.cache.usage import SHAPES, billed_of, output_of
from playground.dialects.marks.providers import rules_and_model
from playground.plugins.corpus.building import build_corpus

# 100 tokens went in: 70 were read, 20 written (where the source counts what is written), 10 neither
ALL, READ_ALONE = Billed(70, 20, 10), Billed(70, 0, 30)


@pytest.mark.parametrize(
    ("usage", "billed"),
    [
        pytest.param(usage, billed, id=name)
        for name, usage, billed in (
            ("pi", {"input": 10, "output": 5, "cacheRead": 70, "cacheWrite": 20}, ALL),
            ("opencode", {"input": 10, "output": 5, "cache": {"read": 70, "write": 20}}, ALL),
            ("kimi", {"inputOther": 10, "inputCacheRead": 70, "inputCacheCreation": 20}, ALL),
            (
                "roo",
                {"apiProtocol": "anthropic", "tokensIn": 100, "cacheReads": 70, "cacheWrites": 20},
                ALL,
            ),
            (
                "roo before",
                {"apiProtocol": "anthropic", "tokensIn": 10, "cacheReads": 70, "cacheWrites": 20},
                ALL,
            ),
            ("cline", {"tokensIn": 10, "tokensOut": 5, "cacheReads": 70, "cacheWrites": 20}, ALL),
            ("cline-history", {"prompt": 100, "completion": 5, "cached": 70}, READ_ALONE),
            ("droid", {"inputTokens": 10, "cacheCreationTokens": 20, "outputTokens": 5},
             Billed(0, 20, 10)),
            ("droid-reads",
             {"inputTokens": 10, "cacheCreationTokens": 20, "cacheReadTokens": 70}, ALL),
            ("amp", {"inputTokens": 10, "cacheCreationInputTokens": 20, "cacheReadInputTokens": 70},
             ALL),
            ("inspect",
             {"input_tokens": 10, "input_tokens_cache_read": 70, "input_tokens_cache_write": 20},
             ALL),
            ("gemini-cli", {"input": 100, "output": 5, "cached": 70, "total": 105}, READ_ALONE),
            ("gemini-stream", {"input_tokens": 100, "cached": 70, "input": 30}, READ_ALONE),
            ("codex", {"input_tokens": 100, "cached_input_tokens": 70}, READ_ALONE),
            ("codex-camel", {"inputTokens": 100, "cachedInputTokens": 70}, READ_ALONE),
            ("copilot", {"inputTokens": 100, "cacheReadTokens": 70, "cacheWriteTokens": 20}, ALL),
            ("pydantic-ai",
             {"input_tokens": 100, "cache_read_tokens": 70, "cache_write_tokens": 20}, ALL),
            ("pydantic-ai-spans", {"input_tokens": 100, "details.cache_read_tokens": 70},
             READ_ALONE),
            ("otel",
             {"input_tokens": 100, "cache_read.input_tokens": 70,
              "cache_creation.input_tokens": 20}, ALL),
            ("langchain",
             {"input_tokens": 100,
              "input_token_details": {"cache_read": 70, "cache_creation": 20}}, ALL),
            ("ai-sdk-6",
             {"inputTokens": 100, "inputTokenDetails.cacheReadTokens": 70,
              "inputTokenDetails.cacheWriteTokens": 20}, ALL),
            ("ai-sdk-model",
             {"inputTokens": {"total": 100, "noCache": 10, "cacheRead": 70, "cacheWrite": 20}},
             ALL),
            ("ai-sdk-model-uncached", {"inputTokens": {"total": 100, "noCache": 100}},
             Billed(0, 0, 100)),
            ("litellm",
             {"prompt_tokens": 100, "cache_read_input_tokens": 70,
              "cache_creation_input_tokens": 20}, ALL),
            ("openinference", {"prompt": 100, "prompt_details.cache_read": 70}, READ_ALONE),
            ("langfuse", {"input": 10, "input_cache_read": 70, "input_cache_creation": 20}, ALL),
            ("llm-anthropic",
             {"input_tokens": 10, "token_details": {"cache_read_input_tokens": 70,
                                                    "cache_creation_input_tokens": 20}}, ALL),
            ("llm-openai",
             {"input_tokens": 100,
              "token_details": {"prompt_tokens_details": {"cached_tokens": 70}}}, READ_ALONE),
        )
    ],
)  # fmt: skip
def test_a_bill_is_read_from_what_an_agent_wrote_down(usage: Any, billed: Billed) -> None:
    assert billed_of(usage) == billed


@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_each_name_of_a_shape_is_found_whole_or_along_its_parts(number: int) -> None:
    """A look at the keys alone refuses most shapes: none that fits."""
    shape = SHAPES[number]
    names = shape.known_by or (*shape.read, *shape.written) or ("",)
    for total in shape.total:
        for name in names:
            for write in (flat, nested):
                usage = joined(write(total, 100), write(name, 7) if name else {})
                assert shape.fits(usage), usage
                assert not shape.fits(joined(write(total, "none"), write(name, 7))), usage


def flat(name: str, count: Any) -> dict[str, Any]:
    return {name: count}


def nested(name: str, count: Any) -> dict[str, Any]:
    head, dot, rest = name.partition(".")
    return {head: nested(rest, count) if dot else count}


def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both, where they lead into one object too."""
    both = {key: joined(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}


def test_a_stated_total_decides_what_the_input_count_holds() -> None:
    parts = {"input_tokens_cache_read": 70, "output_tokens": 5}
    assert billed_of({"input_tokens": 100, "total_tokens": 105, **parts}) == READ_ALONE
    assert billed_of({"input_tokens": 30, "total_tokens": 105, **parts}) == READ_ALONE


def test_a_compaction_on_the_server_is_billed_beside_what_a_usage_counts() -> None:
    """Figures of a recorded answer: 55,096 tokens written by the compaction were not counted."""
    compaction = {"type": "compaction", "cache_creation_input_tokens": 55_096, "input_tokens": 100}
    own = {"input_tokens": 229, "cache_creation_input_tokens": 0, "output_tokens": 5}
    rounds = [{**compaction, "output_tokens": 131}, {**own, "type": "message"}]
    usage = {**own, "iterations": rounds}
    assert billed_of(usage) == Billed(0, 55_096, 329, summed=True)
    assert output_of(usage) == 136
    deep: dict[str, object] = {**own, "type": "compaction"}
    for _ in range(2_000):
        deep = {**own, "type": "compaction", "iterations": [deep]}
    assert billed_of({**own, "iterations": [deep, own]}) == Billed(0, 0, 458, summed=True)


def test_parts_that_are_more_than_their_whole_are_no_bill() -> None:
    assert billed_of({"inputTokens": 10, "cachedInputTokens": 70}) is None


def test_files_that_list_no_requests_are_named_and_the_rest_is_validated(tmp_path: Path) -> None:
    request = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
    uri = "https://api.anthropic.com/v1/messages"
    known = {"uri": uri, "request": request, "usage": {"input_tokens": 8}}
    (tmp_path / "b.json").write_text(json.dumps({"requests": [known]}))
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "c.jsonl").write_text('{"type": "session"}\n{"type": "message"}\n')
    found = validate_folder(tmp_path)
    assert [row.file for row in found.rows] == ["b.json"]
    one, other = found.left_out
    assert "a.json" in one
    assert "c.jsonl" in other


@pytest.mark.parametrize(
    ("usage", "output"),
    [
        ({"output": 7}, 7),
        ({"tokensOut": 7}, 7),
        ({"completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 3}}, 7),
        ({"completionTokens": 7, "promptTokens": 3}, 7),
        ({"response_tokens": 7, "request_tokens": 3}, 7),
        ({"outputTokens": {"total": 7, "text": 4, "reasoning": 3}}, 7),
        ({"outputTokenCount": 7}, 7),
        ({"prompt_eval_count": 3, "eval_count": 7}, 7),
        ({"candidatesTokenCount": 7}, 7),
        ({"candidatesTokenCount": 4, "thoughtsTokenCount": 3}, 7),
        ({"promptTokenCount": 9, "thoughtsTokenCount": 7}, 7),
        ({"candidates_token_count": 4, "thoughts_token_count": 3}, 7),
        ({"total_output_tokens": 4, "total_thought_tokens": 3}, 7),
        ({"input": 9, "output": 4, "cached": 0, "thoughts": 3, "total": 16}, 7),
        ({"output": 0}, 0),
        ({"input": 3}, None),
        ({"output_tokens": -1}, None),
        ({"output_tokens": {"text": 3}}, None),
        ({"": 5}, None),  # a count of nobody knows what
        ({"": 5, "output_tokens": 3}, 3),
        ("7", None),
    ],
)
def test_the_output_is_read_by_whichever_name_with_its_thoughts(
    usage: Any, output: int | None
) -> None:
    assert output_of(usage) == output


@pytest.mark.parametrize("number", ["-1", "NaN", "1e400", "1e30", "true", "99999999999999999999"])
def test_what_is_no_count_is_none(number: str, tmp_path: Path) -> None:
    usage = json.loads(f'{{"input_tokens": 100, "output_tokens": {number}}}')
    assert (billed_of(usage), output_of(usage)) == (Billed(0, 0, 100), None)
    assert billed_of({**usage, "cache_read_input_tokens": usage["output_tokens"]}) is not None
    assert billed_of({"input_tokens": usage["output_tokens"]}) is None
    request = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
    exchange = {"uri": "https://api.anthropic.com/v1/messages", "request": request}
    exchange["usage"] = {"input_tokens": usage["output_tokens"]}
    (tmp_path / "a.json").write_text(json.dumps({"requests": [exchange]}))
    assert [row.state for row in validate_folder(tmp_path).rows] == ["no usage"]


def test_a_usage_that_no_table_holds_sets_no_file_of_a_corpus_aside(tmp_path: Path) -> None:
    body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
    answer = {"role": "assistant", "type": "message", "content": [{"type": "text", "text": "Yo."}]}
    usage = {"input_tokens": 10**20, "output_tokens": -1}
    lines = json.dumps({"request": body, "response": {**answer, "usage": usage}})
    (tmp_path / "a.jsonl").write_text(lines)
    built = build_corpus(tmp_path / "out", [tmp_path / "a.jsonl"], engine="serial")
    assert (built.rows["sessions"], built.aside) == (1, [])


def test_whatever_an_import_reads_as_requests_is_validated(tmp_path: Path) -> None:
    """A cassette, below the folder and with a stream in it, and a session that keeps its requests:
    they were left out, although an import reads them."""
    from playground.sessions.native_format import dump_session
    from playground.sessions.session import RequestRow, Session

    body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
    usage = {"input_tokens": 8, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    reply = {"type": "message", "role": "assistant", "content": [], "usage": usage}
    start = {"type": "message_start", "message": {"model": "claude-sonnet-4-5", "usage": usage}}
    interactions = [
        {
            "request": {"uri": "https://api.anthropic.com/v1/messages", "body": json.dumps(body)},
            "response": {"status": {"code": 200}, "body": {"string": answered}},
        }
        for answered in (f"data: {json.dumps(start)}\n\n", json.dumps(reply))
    ]
    cassette = tmp_path / "inner" / "cassette.json"
    cassette.parent.mkdir()
    cassette.write_text(json.dumps({"interactions": interactions}))
    session = Session(rows=(RequestRow(body=body, reply=reply),))
    (tmp_path / "session.json").write_text(dump_session(session))
    (tmp_path / "transcript.json").write_text(json.dumps(body["messages"]))
    found = validate_folder(tmp_path)
    assert [(row.file, row.provider, row.state) for row in found.rows] == [
        ("inner/cassette.json", "anthropic", "first"),
        ("inner/cassette.json", "anthropic", "first"),  # without a mark nothing is kept
        ("session.json", "anthropic", "first"),
    ]
    (left,) = found.left_out
    assert "no requests as they were sent" in left


@pytest.mark.parametrize(
    ("address", "model", "provider"),
    [
        ("/v1/messages", "claude-sonnet-4-5", "anthropic"),
        ("/v1/chat/completions", "gpt-4o", "openai-before-5.6"),
        ("/api/v1/chat/completions", "anthropic/claude-sonnet-4.6", "openrouter"),
        ("/v1/chat/completions", "qwen3-4b", "unknown-provider"),  # whoever runs it
    ],
)
def test_an_address_without_its_host_is_told_by_a_model_that_one_provider_has(
    address: str, model: str, provider: str
) -> None:
    assert rules_and_model(address, model) == (provider, model)
