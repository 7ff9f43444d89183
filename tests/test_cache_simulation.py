"""What is read, written and paid: the rules' data, the model's cases, recorded bills."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import terminals
from click.testing import CliRunner
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.base.errors import InputFault, UnknownNameError
from playground.base.paths import samples
from playground.cache.answers.bills import validate_folder
from playground.cache.answers.simulation import cache_matrix, simulated_by_dialect
from playground.cache.differences import first_difference
from playground.cache.prefixes import Billed, TimedRequest
from playground.cache.rules import rule_sets, rules_of
from playground.cache.simulated import Simulated
from playground.cache.simulator import CacheSimulator, simulate
from playground.cache.usage import billed_of
from playground.cache.validation import ValidationRow
from playground.cli import main
from playground.dialects.marks.policies import POLICIES
from playground.dialects.marks.providers import provider_of
from playground.nouns.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.nouns.wire_blocks import read_wire
from playground.nouns.wire_estimates import token_range, tokens_of
from playground.sessions.native_format import dump_session
from playground.sessions.session import RequestRecord, Session
from playground.show.strip import strip
from playground.tokens.registry import packaged
from playground.tokens.tokenizer import count

SHARED = ROOT.parent / "shared" / "data" / "usage_examples"
MODEL = "claude-sonnet-4-5"
MARK = {"type": "ephemeral"}
THREE = "harbourmaster observations "  # three tokens of o200k_base
LONG = THREE * 754 + "x y "  # 2,266 of these tokens: with Claude 2,500 in a message


def text(said: str, mark: Any = None) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": said}
    return {**part, "cache_control": mark} if mark else part


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": list(messages), **more}


def sent(
    *bodies: dict[str, Any], provider: str = "anthropic", apart: float = 20.0
) -> list[Simulated]:
    return pg.simulate_cache(bodies, provider=provider, seconds_apart=apart).requests


def reads(*bodies: dict[str, Any], **more: Any) -> list[int]:
    return [request.read for request in sent(*bodies, **more)]


# rules


def test_every_rule_has_a_source_and_a_date_and_conflicts_are_kept() -> None:
    rules = rule_sets()
    assert {"anthropic", "bedrock", "vertex", "openai", "gemini", "deepseek", "qwen"} <= set(rules)
    for found in rules.values():
        assert {"match", "max_breakpoints", "minimum_tokens", "read_permille"} <= set(found.rules)
        for rule in found.rules.values():
            assert rule.source
            assert rule.seen >= "2025-01-01"
    collapse = rules_of("anthropic").rules["collapse_runs"]
    assert (collapse.value, [other.value for other in collapse.conflicts]) == (True, [False])


def test_figures_are_those_of_the_longest_name_that_fits() -> None:
    rules = rules_of("anthropic")
    assert rules.minimum("claude-opus-4-5-20251101") == 4096
    assert rules.minimum("us.anthropic.claude-opus-4-8-v1:0") == 1024
    assert rules.minimum("anthropic/claude-sonnet-4.6") == 1024
    assert rules.minimum("claude-sonnet-5-5") == 512
    assert rules.read_permille("claude-opus-5-5") == 50
    assert rules.read_permille("claude-sonnet-4-5") == 100
    assert rules_of("bedrock").value("collapse_runs") is False
    with pytest.raises(UnknownNameError, match="unknown provider 'x'; the nearest of "):
        rules_of("x")


# the model


def test_a_marked_prefix_is_written_and_read() -> None:
    first = body(user(text(LONG, MARK)))
    second = body(user(text(LONG, MARK)), {"role": "assistant", "content": "yes"}, user(text("q")))
    one, two = sent(first, second)
    assert (one.read, one.written, one.uncached) == (0, {"5m": 2500}, 0)
    assert one.cost == 2500 * 1250
    assert (two.read, two.written, two.uncached) == (2500, {}, 10)
    assert two.cost == 2500 * 100 + 10 * 1000
    assert two.reason == "read up to the end of block 0 (message 0, part 0)"


def test_a_text_alone_is_the_same_as_one_text_part() -> None:
    assert reads(
        body(user(text(LONG, MARK))), body({"role": "user", "content": LONG}, user(text("q", MARK)))
    ) == [0, 2500]


def test_nothing_is_cached_below_the_minimum_or_without_a_mark() -> None:
    head = [{"role": "user", "content": "tide"}] * 2
    row = [
        body(*head[:more], user(text("tide " * number, MARK)))
        for number, more in product(range(800, 950), range(3))
    ]
    written = {sent(one)[0].total: sent(one)[0].written for one in row}
    assert written[1023] == {}
    assert written[1024] == {"5m": 1024}
    assert reads(row[0], row[0]) == [0, 0]
    plain = body(user(text(LONG)))
    assert reads(plain, plain) == [0, 0]
    assert sent(plain)[0].reason == "nothing is marked"


@pytest.mark.parametrize(("apart", "read"), [(299, 2500), (301, 0), (0.5, 0), (0, 0)])
def test_an_entry_lives_five_minutes_and_from_the_first_token_on(apart: float, read: int) -> None:
    request = body(user(text(LONG, MARK)))
    one, two = sent(request, request, apart=apart)
    assert (one.reason, two.read) == ("no earlier request begins like it", read)
    wrong = "was still being written" if apart < 1 else "had expired"
    assert read or two.reason.startswith(f"the entry at block 0 {wrong}")
    assert two.state == ("unpredictable" if 0 < apart < 1 else "exact")  # nobody knows how early
    assert two.finding == ("in-flight" if apart < 1 else "")


def test_a_read_refreshes_an_entry() -> None:
    request = body(user(text(LONG, MARK)))
    assert reads(request, request, request, apart=200) == [0, 2500, 2500]
    hour = body(user(text(LONG, {"type": "ephemeral", "ttl": "1h"})))
    assert reads(hour, hour, apart=3000) == [0, 2500]
    assert sent(hour)[0].cost == 2500 * 2000


def test_the_look_back_counts_twenty_positions_and_runs_once() -> None:
    start = user(text(LONG, MARK))

    def grown(blocks: int) -> dict[str, Any]:
        more = [text(f"part {i}") for i in range(blocks - 1)]
        return body(start | {"content": [text(LONG), *more, text("end", MARK)]})

    assert reads(body(start), grown(19))[1] == 2500
    assert reads(body(start), grown(20))[1] == 0
    behind = sent(body(start), grown(20))[1].reason
    assert behind == "the entry at block 0 is further back than a mark looks"
    uses = [{"type": "tool_use", "id": str(i), "name": "t", "input": {}} for i in range(30)]
    results: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": str(i), "content": "r"} for i in range(30)
    ]
    results[-1]["cache_control"] = MARK
    wide = body(user(text(LONG)), {"role": "assistant", "content": uses}, user(*results))
    assert reads(body(start), wide)[1] == 2500
    assert reads(body(start), wide, provider="vertex")[1] == 0


def test_changes_invalidate_their_tier_and_those_behind_it() -> None:
    tools = [{"name": "t", "input_schema": {"type": "object"}, "cache_control": MARK}]
    tools[0]["description"] = LONG
    system = [text(LONG, MARK)]
    messages = [user(text(LONG, MARK))]

    def request(**more: Any) -> dict[str, Any]:
        return {"model": MODEL, "tools": tools, "system": system, "messages": messages, **more}

    whole = sent(request())[0].total
    base = request()
    assert reads(base, base)[1] == whole
    tool, both = (
        sent(request(**{k: [] for k in keys}))[0].total
        for keys in (("system", "messages"), ("messages",))
    )
    assert reads(base, request(tool_choice={"type": "any"}))[1] == both
    assert reads(base, request(thinking={"type": "enabled"}))[1] == both
    assert reads(base, request(speed="fast"))[1] == tool
    assert reads(base, request(model="claude-opus-4-8"))[1] == 0
    other = [{**tools[0], "name": "u"}]
    assert reads(base, request(tools=other))[1] == 0
    image = {"type": "image", "source": {"type": "base64", "data": "AA"}}
    assert reads(base, request(messages=[*messages, user(image)]))[1] == both


def test_order_counts_inside_schemas_and_not_around_them() -> None:
    def request(schema: dict[str, Any], flip: bool = False) -> dict[str, Any]:
        tool: dict[str, Any] = {"name": "t", "description": LONG, "input_schema": schema}
        tool = dict(reversed(tool.items())) if flip else tool
        return body(user(text("q", MARK)), tools=[{**tool, "cache_control": MARK}])

    a, b = {"type": "object", "x": 1}, {"x": 1, "type": "object"}
    assert reads(request(a), request(a, flip=True))[1] > 0
    assert reads(request(a), request(b))[1] == 0


def test_mixed_lives_are_billed_apart() -> None:
    hour = {"type": "ephemeral", "ttl": "1h"}
    request = body(user(text(THREE * 200, MARK)), system=[text(LONG, hour)])
    (one,) = sent(request)
    assert one.written == {"1h": 2496, "5m": 666}
    assert one.cost == 2496 * 2000 + 666 * 1250


@pytest.mark.parametrize(
    ("request_body", "problem"),
    [
        (body(*[user(text(LONG, MARK)) for _ in range(5)]), "5 marks; at most 4 are allowed"),
        (body(user(text("", MARK))), "a mark on an empty text, which may not be marked"),
        (
            body(user({"type": "thinking", "thinking": "x", "cache_control": MARK})),
            "a mark on a thinking block, which may not be marked",
        ),
        (
            body(user(text("a", MARK), text("b", {"type": "ephemeral", "ttl": "1h"}))),
            "a mark with a longer lifetime after one with a shorter lifetime",
        ),
    ],
)
def test_a_request_that_the_provider_refuses_is_an_error_and_writes_nothing(
    request_body: dict[str, Any], problem: str
) -> None:
    (one,) = sent(request_body)
    assert (one.state, one.reason, one.written) == ("error", problem, {})
    assert reads(request_body, request_body) == [0, 0]


def test_a_top_level_mark_stands_on_the_last_block() -> None:
    first = body(user(text(LONG)), cache_control=MARK)
    second = body(
        user(text(LONG)), {"role": "assistant", "content": "a"}, user(text("q")), cache_control=MARK
    )
    assert reads(first, second) == [0, 2500]


def test_bedrocks_points_mark_what_stands_before_them() -> None:
    point = {"cachePoint": {"type": "default"}}
    first = {
        "toolConfig": {"tools": [{"toolSpec": {"name": "t", "description": LONG}}, point]},
        "system": [{"text": LONG}, point],
        "messages": [{"role": "user", "content": [{"text": "q"}]}],
    }
    wire = read_wire(first, MODEL)
    assert [(block.tier, block.ttl) for block in wire.blocks] == [
        ("tools", "5m"),
        ("system", "5m"),
        ("messages", None),
    ]
    choice = {**first, "toolConfig": {**first["toolConfig"], "toolChoice": {"any": {}}}}  # type: ignore[dict-item]
    claude = pg.simulate_cache([first, choice], model=MODEL, provider="bedrock").requests
    nova = pg.simulate_cache([first, choice], model="nova-lite", provider="bedrock-nova").requests
    assert claude[1].read > 2 * 2500
    assert nova[1].read == 0


def test_openai_reads_at_its_breakpoints_alone() -> None:
    point = {"mode": "explicit"}
    part = {"type": "input_text", "text": LONG, "prompt_cache_breakpoint": point}
    options = {"mode": "explicit", "ttl": "30m"}
    request = {"model": "gpt-5.6", "input": [{"role": "user", "content": [part]}]}
    first = {**request, "prompt_cache_options": options}
    plain = {**part, "prompt_cache_breakpoint": None}
    asked = {"type": "input_text", "text": "q", "prompt_cache_breakpoint": point}
    longer = {**first, "input": [{"role": "user", "content": [plain, asked]}]}
    assert reads(first, first, provider="openai") == [0, 2272]
    assert reads(first, longer, provider="openai") == [0, 0]
    both = {**first, "input": [{"role": "user", "content": [part, asked]}]}
    assert reads(first, both, provider="openai") == [0, 2272]


def _chat_round(number: int) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": THREE * 20},
    ]


def _responses_round(number: int) -> list[dict[str, Any]]:
    call = {"call_id": f"c{number}", "name": "f", "arguments": "{}"}
    return [
        {"type": "function_call", **call},
        {"type": "function_call_output", "call_id": f"c{number}", "output": THREE * 20},
    ]


@pytest.mark.parametrize(("key", "told"), [("messages", _chat_round), ("input", _responses_round)])
def test_openai_reads_a_tool_loop_up_to_the_results_before(key: str, told: Any) -> None:
    """It marks the latest message of the user or the tools by itself, and looks at the ends of
    those before."""
    asked = [{"role": "system", "content": LONG}, {"role": "user", "content": THREE * 20}]
    rounds = [told(number) for number in range(3)]
    bodies = [
        {"model": "gpt-5.6-sol", key: asked + [item for one in rounds[:n] for item in one]}
        for n in range(4)
    ]
    found = sent(*bodies, provider="openai")
    assert [one.state for one in found] == ["exact"] * 4
    left = [one.cached_after for one in found]
    assert [one.read for one in found] == [0, *left[:-1]]
    assert found[1].breakpoints == (3,)
    only = {"prompt_cache_options": {"mode": "explicit"}}
    assert reads(*[{**one, **only} for one in bodies], provider="openai") == [0, 0, 0, 0]


@pytest.mark.parametrize(("rounds", "read"), [(20, True), (21, False)])
def test_openai_looks_at_the_ends_of_twenty_messages_before(rounds: int, read: bool) -> None:
    first = {"model": "gpt-5.6", "messages": [{"role": "user", "content": LONG}]}
    more = [item for number in range(rounds) for item in _chat_round(number)]
    long = {**first, "messages": [*first["messages"], *more]}
    assert (reads(first, long, provider="openai")[1] > 0) == read


def test_openai_does_not_read_a_head_that_no_request_ended_at() -> None:
    """Another question behind the same system prompt reads nothing: nobody marked its end
    (openai/codex#35300: 0 % of about 9,000 tokens)."""
    head = {"role": "system", "content": LONG}
    bodies = [
        {"model": "gpt-5.6", "messages": [head, {"role": "user", "content": question}]}
        for question in "ab"
    ]
    assert reads(*bodies, provider="openai") == [0, 0]


def test_openai_writes_at_its_four_newest_breakpoints() -> None:
    point = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    parts = [{"type": "text", "text": f"{number} {LONG}", **point} for number in range(5)]
    one = {
        "model": "gpt-5.6",
        "messages": [{"role": "user", "content": parts}],
        "prompt_cache_options": {"mode": "explicit"},
    }
    short = [{**one, "messages": [{"role": "user", "content": parts[:n]}]} for n in (1, 2)]
    assert [reads(one, other, provider="openai")[1] > 0 for other in short] == [False, True]


@pytest.mark.parametrize(("more", "parts"), [(49, 3), (50, 2)])
def test_openai_looks_at_the_first_two_and_the_latest_fifty_breakpoints(
    more: int, parts: int
) -> None:
    point = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    head = [{"type": "text", "text": f"{number} {LONG}", **point} for number in range(3)]
    tail = [{"type": "text", "text": f"part {number}", **point} for number in range(more)]
    first, second = (
        {
            "model": "gpt-5.6",
            "messages": [{"role": "user", "content": content}],
            "prompt_cache_options": {"mode": "explicit"},
        }
        for content in (head, [*head, *tail])
    )
    sizes = [sum(one.written.values()) for one in sent(first, provider="openai")]
    read = reads(first, second, provider="openai")[1]
    assert read == pytest.approx(sizes[0] * parts / 3, rel=0.01)


def test_best_effort_reads_in_steps_from_the_minimum_on_and_promises_nothing() -> None:
    rules = rules_of("openai-before-5.6")
    step, minimum = rules.value("granularity"), rules.minimum("gpt-4o")
    enough, little = (" x" * size for size in (minimum + step // 2, minimum - 9))

    def second(said: str) -> Simulated:
        chats = [body(user(text(said), text(question)), model="gpt-4o") for question in "ab"]
        return sent(*chats, provider="openai-before-5.6")[1]

    assert (second(enough).state, second(enough).read) == ("eligible", minimum)
    assert second(enough).reason == "may read up to block 0, if it is still there"
    assert second(little).read == 0
    assert second(little).reason == (
        f"about {minimum - 5:,} tokens are those of an earlier request; "
        f"at least {minimum:,} are read, or none"
    )


ROWS = "\n".join(f"{n * 7 % 61},{n * 0.137:.4f},{n * n},{n / 7:.2f}" for n in range(400))
CODE = '''
def tide_{n}(quay: Quay, hours: Sequence[float], *, depth_m: float = {n}.5) -> list[Berth]:
    """Return the berths of a quay that are deep enough, with the hour of high water."""
    berths = [berth for berth in quay.berths if berth.depth_m >= depth_m and not berth.is_taken]
    for index, hour in enumerate(hours, start={n}):
        if hour < 0 or hour >= 24:
            raise ValueError(f"hour {{hour!r}} of tide {{index}} is not from 0 to 24")
        berths[index % len(berths)].times["high water"].append(round(hour * 60 + self._offset[{n}]))
    return sorted(berths, key=lambda berth: (-berth.depth_m, berth.name))
'''
KINDS = {
    "words": "The harbour master asks for the tide at the northern quay before noon. " * 60,
    "numbers": ROWS,
    "objects": json.dumps([{"quay": n, "depth_m": n / 3, "free": n % 2 > 0} for n in range(200)]),
    "code": "\n".join(CODE.format(n=number) for number in range(20)),
    "Russian": "Прилив в гавани начинается в полдень, и причал свободен. " * 40,
    "Chinese": "港口的潮汐表显示中午涨潮，北码头空闲。" * 60,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base"])
def test_an_estimate_is_near_to_what_tokenizers_count(kind: str, tokenizer: str) -> None:
    low, high = token_range(tokens_of(KINDS[kind]))
    assert low < count(packaged(tokenizer), KINDS[kind]) < high


@given(first=st.text(), second=st.text())
def test_texts_together_are_estimated_as_both(first: str, second: str) -> None:
    apart = tokens_of(first) + tokens_of(second)
    assert apart - 2 <= tokens_of(first + second) <= apart + 1


def test_a_bill_makes_sizes_exact() -> None:
    wire = read_wire(body(user(text(LONG, MARK)), user(text("q"))), MODEL)
    rules = rules_of("anthropic")
    simulator = CacheSimulator(rules)
    first = simulator.send(TimedRequest(wire, 0, rules, Billed(0, 2011, 7)))
    assert first.total == 2018
    assert simulator.send(TimedRequest(wire, 30, rules)).read == 2011


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(sorted(rule_sets())),
    st.integers(0, 400),
)
def test_every_token_is_read_written_or_paid_in_full(
    turns: list[list[tuple[int, bool]]], provider: str, apart: int
) -> None:
    """And a cache never costs more than writing everything anew at the dearest price."""
    bodies = [
        body(*[user(text(f"{word} " * 3_000, MARK if marked else None)) for word, marked in turn])
        for turn in turns
    ]
    rules = rules_of(provider)
    requests = [TimedRequest(read_wire(b, MODEL), i * apart, rules) for i, b in enumerate(bodies)]
    for one, request in zip(simulate(requests, rules), requests, strict=True):
        assert one.read + sum(one.written.values()) + one.uncached == one.total
        assert min(one.read, one.uncached, *one.written.values(), 0) == 0
        assert one.total == request.total
        assert one.cost <= one.total * 2000
        assert all(isinstance(tokens, int) for tokens in one.written.values())
    assert simulate(requests, rules) == simulate(requests, rules)


_POINT = {"cachePoint": {"type": "default"}}
_PARTS = st.sampled_from(
    [text("a"), text("b" * 9_000), text("b" * 9_000, MARK), text("", MARK), _POINT]
)
_MESSAGES = st.one_of(
    st.builds(
        lambda role, parts: {"role": role, "content": parts},
        st.sampled_from(["system", "user", "assistant"]),
        st.lists(_PARTS, max_size=3),
    ),
    st.just({"role": "tool", "tool_call_id": "1", "content": [text("r", MARK)]}),
    st.just({"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}),
    st.just({"role": "user", "content": "b" * 9_000, "cache_control": MARK}),
    st.just({}),
)


@given(
    st.lists(_MESSAGES, max_size=8),
    st.lists(st.tuples(st.integers(0, 8), st.lists(_MESSAGES, max_size=3)), max_size=5),
    st.sampled_from(sorted(rule_sets())),
)
def test_a_history_read_once_is_what_every_request_says_alone(
    start: list[dict[str, Any]],
    edits: list[tuple[int, list[dict[str, Any]]]],
    provider: str,
) -> None:
    """Requests share blocks, hashes and sizes with the one before; no outcome may show it."""
    row, messages = [body(*start)], start
    for place, put in edits:
        messages = [*messages[:place], *put, *messages[place + len(put) // 2 :]]
        row.append(body(*messages, tool_choice=place % 2 or None))
    rules = rules_of(provider)
    alone = [
        TimedRequest(read_wire(one, MODEL, rules.value("default_ttl")), number * 20.0, rules)
        for number, one in enumerate(row)
    ]
    assert sent(*row, provider=provider) == simulate(alone, rules)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("claude-opus-4-8", "anthropic"),
        ("bedrock/us.anthropic.claude-sonnet-4-v1:0", "bedrock"),
        ("bedrock/amazon.nova-lite-v1:0", "bedrock-nova"),
        ("vertex_ai/claude-sonnet-4-5", "vertex"),
        ("vertex_ai/gemini-2.5-pro", "gemini"),
        ("gemini/gemini-2.5-pro", "gemini"),
        ("openai/gpt-4o", "openai-before-5.6"),
        ("o3", "openai-before-5.6"),
        ("gpt-5", "openai-before-5.6"),
        ("gpt-5.6-mini", "openai"),
        ("azure/gpt-6", "azure"),
        ("azure/my-deployment", "azure-before-5.6"),
        ("azure_ai/gpt-4o", "azure-before-5.6"),
        ("azure_ai/claude-sonnet-4-5", "anthropic"),
        ("openrouter/openai/gpt-5.7", "openai"),
        ("openrouter/anthropic/claude-sonnet-4-5", "openrouter"),
        ("openrouter/openai/gpt-oss-120b", "openrouter-automatic"),
        ("openrouter/google/gemini-2.5-pro", "openrouter-automatic"),
        ("openrouter/x-ai/grok-4", "openrouter-automatic"),
        ("openrouter/qwen/qwen3-coder", "openrouter-automatic"),
        ("xai/grok-4", "xai"),
        ("grok-4-fast", "xai"),
        ("mistral/mistral-large-latest", "mistral"),
        ("devstral-small", "mistral"),
        ("groq/llama-3.3-70b-versatile", "groq"),
        ("fireworks_ai/accounts/fireworks/models/kimi-k2", "fireworks"),
        ("zai/glm-4.7", "zai"),
        ("minimax/MiniMax-M2.7", "minimax"),
        ("moonshot/kimi-k2-thinking", "moonshot"),
        ("kimi-k2", "moonshot"),
        ("deepseek/deepseek-chat", "deepseek"),
        ("dashscope/qwen3-coder-plus", "qwen"),
    ],
)
def test_a_models_name_tells_whose_rules_count(model: str, provider: str) -> None:
    assert provider_of(model) == provider
    assert pg.simulate_cache([body(_Q)], model=model).provider == provider


@pytest.mark.parametrize(
    "model",
    [
        "cohere/command-r",
        "bedrock/meta.llama3",
        "ollama/qwen3",
        "gpt-oss-20b",
        "<synthetic>",
        "",
        "o",
    ],
)
def test_rules_that_nobody_noted_are_a_state_and_no_number(model: str) -> None:
    asked = [{**body(_Q), "model": model}, {**body(_Q, _A), "model": model}]
    found = pg.simulate_cache(asked)
    assert found.provider == provider_of(model) == "unknown-provider"
    for request in found.requests:
        assert (request.state, request.read, request.written) == ("unknown-provider", 0, {})
        assert request.cost == 1000 * request.total > 0
        assert request.reason == f"no caching rules are known for model {model!r}"
    assert found.cost_permille == 1000
    assert found.findings == []
    assert found.origins == [
        f"no caching rules are known for model {model!r}: all is counted in full"
    ]
    assert pg.simulate_cache([body(_Q)], model=model, provider="qwen").provider == "qwen"


@pytest.mark.parametrize(
    "model",
    [
        "openrouter/deepseek/deepseek-v3",
        "openrouter/google/gemini-2.5-pro",
        "xai/grok-4",
        "mistral/mistral-large-latest",
        "groq/llama-3.3-70b-versatile",
        "fireworks_ai/kimi-k2",
        "zai/glm-4.7",
        "minimax/MiniMax-M3",
        "moonshot/kimi-k2",
        "azure/gpt-4o",
        "deepseek/deepseek-chat",
    ],
)
def test_who_caches_by_itself_promises_nothing_marked_or_not(model: str) -> None:
    """A second request is eligible to read what both begin with; "read 0" would be a promise."""
    for mark in (False, *[True] * ("minimax" not in model)):  # which heeds marks, of M2 models
        long = {"type": "text", "text": "words " * 9000}
        system = [{**long, "cache_control": {"type": "ephemeral"}} if mark else long]
        asked = {"model": model, "system": system, "messages": [{"role": "user", "content": "a"}]}
        found = pg.simulate_cache([asked, asked], model=model)
        assert [request.state for request in found.requests] == ["eligible", "eligible"]
        assert [request.written for request in found.requests] == [{}, {}]
        assert found.requests[1].read > 8_000


# why did it break


def _tool(name: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "description": LONG, "input_schema": {"type": "object", **schema}}


_A, _B = _tool("a"), _tool("b")
_Q = user(text("q", MARK))


@pytest.mark.parametrize(
    ("before", "after", "cause", "rule", "block"),
    [
        (body(_Q, tools=[_A, _B]), body(_Q, tools=[_B, _A]), "tools", "tool-order", 0),
        (body(_Q, tools=[_A]), body(_Q, tools=[_A, _B]), "tools", "prefix-changed", 1),
        (
            body(_Q, tools=[_tool("a", x=1, y=2)]),
            body(_Q, tools=[_tool("a", y=2, x=1)]),
            "tools",
            "json-key-order",
            0,
        ),
        (
            body(_Q, system=f"{LONG} It is 2026-11-20T16:05:09Z."),
            body(_Q, system=f"{LONG} It is 2026-11-20T16:05:10Z."),
            "system",
            "volatile-system",
            0,
        ),
        (
            body(_Q, system="run 0b6f6a36-3f9e-4a0e-9d4e-1c1a2b3c4d5e " + LONG),
            body(_Q, system="run 5a6f6a36-3f9e-4a0e-9d4e-1c1a2b3c4d5f " + LONG),
            "system",
            "volatile-system",
            0,
        ),
        (
            body(_Q, system=f"You are kind. {LONG}"),
            body(_Q, system=f"You are brief. {LONG}"),
            "system",
            "prefix-changed",
            0,
        ),
        (
            body(user(text(LONG, MARK)), _Q),
            body(user(text("Summary.")), _Q),
            "messages",
            "history-rewrite",
            0,
        ),
        (body(_Q, _Q), body(_Q), "messages", "history-rewrite", 1),
        (body(_Q), body(_Q, tool_choice={"type": "any"}), "tool_choice", "prefix-changed", None),
        (body(_Q), {**body(_Q), "model": "claude-opus-4-8"}, "model", "prefix-changed", None),
    ],
)
def test_the_first_difference_names_its_cause_and_a_fix(
    before: dict[str, Any], after: dict[str, Any], cause: str, rule: str, block: int | None
) -> None:
    none, found = pg.simulate_cache([before, after]).differences
    assert none is None
    assert found is not None
    assert (found.cause, found.rule, found.block) == (f"{cause}_changed", rule, block)
    assert found.fix in str(found)
    assert found.before != found.after


def test_a_request_that_grows_or_moves_its_marks_has_no_difference() -> None:
    bare = user(text("q"))
    grown = body(bare, {"role": "assistant", "content": "a"}, user(text("more", MARK)))
    assert pg.simulate_cache([body(_Q), grown]).differences == (None, None)
    assert pg.simulate_cache([]).differences == ()


def test_a_difference_counts_characters_and_shows_both_sides() -> None:
    first, second = (body(_Q, system=f"{LONG}at {hour}:05.") for hour in (16, 17))
    found = pg.simulate_cache([first, second]).differences[1]
    assert found is not None
    assert found.character == len(LONG) + len("at 1")
    assert (found.before[-6:], found.after[-6:]) == ("16:05.", "17:05.")


@given(st.lists(_MESSAGES, max_size=6), st.lists(_MESSAGES, max_size=6))
def test_requests_share_their_hashes_up_to_the_first_difference(
    one: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    rules = rules_of("anthropic")
    first, second = (TimedRequest(read_wire(body(*m), MODEL), 0, rules) for m in (one, other))
    found = first_difference(first, second, rules)
    if found is None:
        assert second.chain[: len(first.chain)] == first.chain
    else:
        assert found.block is not None
        assert first.chain[: found.block] == second.chain[: found.block]
        assert first.chain[found.block :][:1] != second.chain[found.block :][:1]


# a session: dialects by policies


def long_session(turns: int = 30) -> Session:
    """One question, then calls and results: an agent at work on its own."""
    history = [Message("user", (TextPart("Find why the tide tables are wrong."),))]
    for number in range(turns):
        call = ToolCallPart(f"c{number}", "read", {"path": f"tables/{number}.txt"})
        result = ToolResultPart(f"c{number}", "read", f"row {number} " * 300)
        history += [Message("assistant", (call,)), Message("tool", (result,))]
    history.append(Message("assistant", (TextPart("It is the time zone."),)))
    task = TaskConfig(user_agent_prompt="You mend tables. " * 300, model_name=MODEL)
    tool = ToolMetadata(name="read", description="Read a file.")
    return Session(title="long", task=task, tools=(tool,), messages=tuple(history))


def test_native_results_escape_a_policy_that_marks_users_and_text_results_do_not() -> None:
    session = long_session()
    policies = ["azad", "claude-code", "automatic", "none"]
    cells = {
        (c.dialect, c.policy): c
        for c in cache_matrix(session, ["native", "xml"], policies=policies)
    }
    assert [len(cell.requests) for cell in cells.values()] == [31] * 8
    cost = {key: cell.cost_permille for key, cell in cells.items()}
    assert cost["native", "azad"] > 700
    assert cost["xml", "azad"] < 300
    assert max(cost[d, p] for d in ("native", "xml") for p in ("claude-code", "automatic")) < 300
    assert cost["native", "none"] == cost["xml", "none"] == 1000
    alone = pg.simulate_cache(session, dialect="xml", policy="azad")
    assert alone.requests == cells["xml", "azad"].requests
    assert not alone.breaks
    assert alone.read_permille == cells["xml", "azad"].read_permille > 800


@pytest.mark.parametrize("apart", [-1.0, float("nan"), float("inf")])
def test_a_clock_runs_forwards(apart: float) -> None:
    with pytest.raises(InputFault, match="seconds between requests"):
        pg.simulate_cache(long_session(1), seconds_apart=apart)
    with pytest.raises(InputFault, match="seconds between requests"):
        pg.simulate_cache([], seconds_apart=apart)


def test_automatic_marking_passes_a_message_that_says_nothing() -> None:
    session = long_session(4)
    call = ToolCallPart("x", "read", {})
    twice = [*session.messages[:-1], Message("assistant", (call,)), session.messages[-1]]
    found = pg.simulate_cache(replace(session, messages=tuple(twice)), policy="automatic")
    assert all(request.breakpoints for request in found.requests)


def test_a_check_passes_or_says_what_broke(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_text(dump_session(long_session()))

    def run(*more: str) -> tuple[int, str]:
        done = terminals.run("check", str(file), *more)
        return done.returncode, done.stdout + done.stderr

    status, said = run("-d", "xml", "--max-cost-multiple", "0.35", "--no-cache-break")
    assert (status, said.count("\n")) == (0, 1), said
    status, said = run("--policy", "azad", "--max-cost-multiple", "0.35")
    assert status == 1
    assert "of its full price; at most 0.35 is allowed" in said
    status, said = run("-d", "xml", "--seconds-apart", "301", "--no-cache-break")
    assert (status, said.count("cached tokens: the entry at block")) == (1, 30)
    assert said.count("had expired") == 30
    assert "request 2 reads 0 of" in said
    assert run()[0] == 2


def test_a_check_fails_for_its_limits_and_for_what_is_not_read_but_for_no_warning(
    tmp_path: Path,
) -> None:
    """An agent's log that lacks results kept its limit, and exited with 1."""
    long = long_session()
    lacking = [m for m in long.messages if m.role != "tool"]
    without_calls = [m for m in long.messages if m.role != "assistant"]
    for messages, status, code in [(lacking, 0, "warning"), (without_calls, 1, "error")]:
        file = tmp_path / f"{code}.json"
        file.write_text(dump_session(replace(long, messages=tuple(messages))))
        done = CliRunner().invoke(main, ["check", str(file), "--max-cost-multiple", "1.3"])
        told = done.stderr.splitlines()
        assert (done.exit_code, len(told)) == (status, 1), done.output
        assert told[0].startswith(code)
        assert "30 calls, and no result" in told[0] if status == 0 else ", and 29 more)" in told[0]


def test_the_fixture_passes_or_fails_with_the_reasons(tmp_path: Path) -> None:
    (tmp_path / "long.json").write_text(dump_session(long_session()))
    (tmp_path / "test_prompt.py").write_text(
        """
def test_kept(check_cache):
    found = check_cache("long.json", dialect="xml", max_cost_multiple=0.35, no_cache_break=True)
    assert found.policy == "azad"


def test_broken(check_cache):
    check_cache("long.json", dialect="xml", seconds_apart=301, no_cache_break=True)


def test_dear(check_cache):
    check_cache("long.json", policy="none", max_cost_multiple=0.35)
"""
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_prompt.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "input costs 1.000 of its full price; at most 0.35 is allowed" in done.stdout
    assert "cached tokens: the entry at block 3 had expired" in done.stdout


def test_the_matrix_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_text(dump_session(long_session(3)))
    command = ["cache", str(file), "--simulate", "--json", "-d", "xml", "-d", "native"]
    done = terminals.run(*command, "--policy", "azad", "--policy", "none")
    cells = json.loads(done.stdout)
    assert [(c["dialect"], c["policy"]) for c in cells] == [
        ("xml", "azad"),
        ("xml", "none"),
        ("native", "azad"),
        ("native", "none"),
    ]
    want = cache_matrix(long_session(3), ["xml"], policies=["azad"])[0]
    assert cells[0]["cost_permille"] == want.cost_permille < 1000
    assert [request["read"] for request in cells[0]["requests"]] == [r.read for r in want.requests]


def test_a_simulation_in_no_dialect_is_in_native_and_no_two_dialects_are_kept_at_a_time(
    tmp_path: Path,
) -> None:
    """A transcript of 3 MB in every dialect took gigabytes."""
    session = long_session(3)
    file = tmp_path / "long.json"
    file.write_text(dump_session(session))
    asked = ["cache", "simulate", str(file), "--json"]
    cells = json.loads(CliRunner().invoke(main, asked).stdout)
    assert [(cell["dialect"], cell["policy"]) for cell in cells] == [
        ("native", name) for name in POLICIES
    ]
    every = json.loads(CliRunner().invoke(main, [*asked, "--every-dialect"]).stdout)
    assert [cell for cell in every if cell["dialect"] == "native"] == cells
    assert {cell["dialect"] for cell in every} == set(pg.dialect_names())

    def requests() -> int:
        return sum(isinstance(each, TimedRequest) for each in gc.get_objects())

    gc.collect()
    before = requests()
    for (cell,) in simulated_by_dialect(session, ["xml", "json", "native"], "azad"):
        assert requests() - before <= 2 * len(cell.row), cell.dialect  # unmarked, and marked


# bills


@pytest.mark.skipif(
    not SHARED.exists(), reason="NOT RUN: ../shared/data is not beside this checkout"
)
def test_recorded_requests_are_predicted_as_they_were_billed() -> None:
    found = validate_folder(SHARED)
    assert len(found.predictable) >= 19
    assert found.hit_right == len(found.predictable)
    assert found.tokens_exact >= 0.9 * len(found.predictable)
    assert all(row.reason for row in found.predictable)
    assert set(found.unpredictable) <= {
        "first",
        "warm start",
        "server tools",
        "unpredictable",
        "best effort",
        "no rules for this provider",
        "only counts tokens",
        "creates a cache",
    }


def exchange(
    request: dict[str, Any], read: int, write: int, rest: int, **more: Any
) -> dict[str, Any]:
    usage = {"cache_read_input_tokens": read, "cache_creation_input_tokens": write}
    known = {"uri": "https://api.anthropic.com/v1/messages", "request": request}
    return {**known, "usage": {**usage, "input_tokens": rest}, **more}


def validated(tmp_path: Path, *exchanges: dict[str, Any]) -> list[ValidationRow]:
    (tmp_path / "row.json").write_text(json.dumps({"requests": exchanges}))
    return validate_folder(tmp_path).rows


def answer(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [text(words)]}


def said(role: Role, words: str) -> Message:
    return Message(role, (TextPart(words),))


def growing(turns: int) -> list[dict[str, Any]]:
    """Requests of one conversation: the system prompt is marked, and the newest message."""
    messages: list[dict[str, Any]] = []
    requests = []
    for turn in range(turns):
        words = f"{turn} {LONG}"
        requests.append(body(*messages, user(text(words, MARK)), system=[text(LONG, MARK)]))
        messages += [user(text(words)), answer(f"answer {turn}")]
    return requests


def test_a_row_that_began_warm_predicts_only_what_cannot_be_more(tmp_path: Path) -> None:
    """The same conversation was held before: each request read all, the first one too."""
    first, second, third = growing(3)
    rows = validated(
        tmp_path,
        exchange(first, 5000, 0, 4),
        exchange(second, 7500, 0, 4),  # by what is known here it would have read 5,000
        exchange(third, 10_000, 0, 4),
        exchange(third, 10_000, 0, 4),  # a hit at its last mark is all that there is
    )
    assert [row.state for row in rows] == [
        "warm start",
        "unpredictable",
        "unpredictable",
        "predictable",
    ]
    assert "there may be more of that" in rows[1].reason
    assert rows[3].tokens_exact
    cold = validated(
        tmp_path,
        exchange(first, 0, 5000, 4),
        exchange(second, 5000, 2500, 4),
        exchange(third, 7500, 2500, 4),
    )
    assert [row.state for row in cold] == ["first", "predictable", "predictable"]
    assert all(row.tokens_exact and row.size_known for row in cold[1:])


def test_another_conversation_in_a_file_is_another_first(tmp_path: Path) -> None:
    other = body(user(text("another " + LONG, MARK)))
    rows = validated(tmp_path, exchange(growing(1)[0], 0, 5000, 4), exchange(other, 2503, 0, 4))
    assert [row.state for row in rows] == ["first", "first"]
    assert rows[1].predicted_read == 0  # and that is no promise: somebody may have sent it before


@pytest.mark.parametrize("told", ["usage", "iterations", "reply"])
def test_nothing_is_built_on_a_request_whose_tools_ran_on_the_server(
    tmp_path: Path, told: str
) -> None:
    first, second, third = growing(3)
    summed = exchange(second, 20_000, 2600, 9)
    if told == "usage":
        summed["usage"]["server_tool_use"] = {"web_search_requests": 2}
    elif told == "iterations":
        summed["usage"]["iterations"] = [{}, {}]
    else:
        summed["response"] = {"content": [{"type": "server_tool_use", "name": "web_search"}]}
    rows = validated(
        tmp_path, exchange(first, 0, 5000, 4), summed, exchange(third, 20_400, 2500, 4)
    )
    assert [row.state for row in rows] == ["first", "server tools", "unpredictable"]
    assert "it continues a request of several rounds on the server" in rows[2].reason


def test_a_summed_bill_tells_no_sizes() -> None:
    usage = {"input_tokens": 90_000, "cache_creation_input_tokens": 0}
    usage |= {"cache_read_input_tokens": 60_000, "server_tool_use": {"web_search_requests": 3}}  # type: ignore[dict-item]
    (found,) = pg.simulate_cache([growing(1)[0]], usages=[usage]).requests
    assert (found.state, found.anchored) == ("unpredictable", False)
    assert found.total < 6_000
    session = Session(
        messages=(said("user", "hi"), said("assistant", "yes")),
        requests=(RequestRecord(reply=1, usage=usage),),
    )
    assert "several rounds" in pg.simulate_cache(session, dialect="native").requests[0].reason


@pytest.mark.parametrize(
    ("usage", "billed"),
    [
        (
            {
                "input_tokens": 4,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 30,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 10,
                    "ephemeral_1h_input_tokens": 20,
                },
            },
            Billed(100, 30, 4, write_hour=20),
        ),
        (
            {"input_tokens": 4, "cache_creation": {"ephemeral_1h_input_tokens": 20}},
            Billed(0, 20, 4, write_hour=20),
        ),
        (
            {
                "inputTokens": 4,
                "cacheReadInputTokens": 1,
                "cacheWriteInputTokens": 30,
                "cacheDetails": [{"ttl": "1h", "inputTokens": 20}, {"ttl": "5m"}],
            },
            Billed(1, 30, 4, write_hour=20),
        ),
        ({"inputTokenCount": 4, "cacheReadInputTokenCount": 9}, Billed(9, 0, 4)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Billed(4, 0, 5)),  # DeepSeek
        ({"prompt_tokens": 9, "cached_tokens": 4}, Billed(4, 0, 5)),  # Moonshot
        ({"total_input_tokens": 9, "total_cached_tokens": 4}, Billed(4, 0, 5)),  # Interactions
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, Billed(4, 0, 5)),
        ({"promptTokenCount": 9, "cachedContentTokenCount": 4}, Billed(4, 0, 5)),
        ({"prompt_tokens": 9, "prompt_tokens_details": []}, Billed(0, 0, 9)),
        ({"cache_creation": "much", "input_tokens": 2}, Billed(0, 0, 2)),
        ({}, None),
        (None, None),
    ],
)
def test_a_bill_is_read_from_any_providers_usage(usage: Any, billed: Billed | None) -> None:
    assert billed_of(usage) == billed


def test_what_was_billed_for_an_hour_lives_for_an_hour(tmp_path: Path) -> None:
    """The marks say five minutes, as where a harness sets the life by a header."""
    first, second = growing(2)
    for hour, state in ((5000, 5000), (0, 0)):
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 5000,
            "cache_creation": {"ephemeral_1h_input_tokens": hour},
        }
        rows = validated(
            tmp_path,
            {**exchange(first, 0, 0, 0), "usage": usage, "date": "2026-01-05T10:00:00Z"},
            {**exchange(second, state, 7500 - state, 4), "date": "2026-01-05T10:40:00Z"},
        )
        assert (rows[0].billed_write, rows[0].billed_write_hour) == (5000, hour)
        assert (rows[1].state, rows[1].predicted_read) == ("predictable", state)


@pytest.mark.parametrize(("model", "sure"), [("claude-sonnet-4-5", True), ("claude-opus-5", False)])
def test_a_string_that_becomes_a_block_is_doubtful_on_the_newest_models(
    model: str, sure: bool
) -> None:
    rule = rules_of("anthropic").rules["string_is_block"]
    assert [other.value for other in rule.conflicts] == [{"default": False}]
    plain = {"role": "user", "content": LONG}
    later = [{"role": "assistant", "content": "yes"}, user(text("more", MARK))]
    for before, after, same in (
        (user(text(LONG, MARK)), plain, sure),
        (user(text(LONG, MARK)), user(text(LONG)), True),
    ):
        asked = [{**body(before), "model": model}, {**body(after, *later), "model": model}]
        found = pg.simulate_cache(asked, seconds_apart=20).requests[1]
        assert found.read > 1_500
        assert found.state == ("exact" if same else "unpredictable")
        assert ("changed between string and block" in found.reason) is not same


def test_a_transcript_without_prompt_and_tools_says_so_beside_its_prediction() -> None:
    alone = Session(messages=(said("user", "hi"), said("assistant", "yes"))).with_model(MODEL)
    note = pg.simulate_cache(alone, dialect="native").findings[0]
    assert (note.code, note.severity) == ("transcript-alone", "info")
    tool = ToolMetadata(name="t", description="", input_schema={"type": "object"})
    for more in (
        replace(alone, tools=(tool,)),
        replace(alone, task=TaskConfig(user_agent_prompt="Be brief.")),
        replace(alone, messages=(said("system", "Be brief."), *alone.messages)),
    ):
        found = pg.simulate_cache(more, dialect="native").findings
        assert "transcript-alone" not in [one.code for one in found]


def test_answers_of_several_models_are_said_to_be_predicted_each_for_its_own() -> None:
    turns = [said("user", "hi"), said("assistant", "yes")] * 3
    models = ("gpt-5.6-sol", "glm-5.2", "gpt-5.6-sol")
    records = tuple(RequestRecord(2 * n + 1, model) for n, model in enumerate(models))
    mixed = Session(messages=tuple(turns), requests=records).with_model("gpt-5.6-sol")
    (note,) = [n for n in pg.simulate_cache(mixed).findings if n.code == "mixed-models"]
    assert (note.severity, note.where) == ("info", "the session")
    assert note.message == (
        "gpt-5.6-sol: 2 answers, glm-5.2: 1; each is predicted for its own model, by the rules of "
        "openai"
    )
    titles = [title for title, *_ in strip(pg.simulate_cache(mixed))["findings"]]
    assert [t for t in titles if "answers" in t] == [
        "gpt-5.6-sol: 2 answers, glm-5.2: 1; each is "
        "predicted for its own model, by the rules of openai"
    ]
    others = mixed.with_model("gpt-5.5")
    (note,) = [n for n in pg.simulate_cache(others).findings if n.code == "mixed-models"]
    assert note.message.endswith("; all are predicted by the rules of gpt-5.5")
    one = replace(mixed, requests=records[::2])
    for session, model in ((one, ""), (mixed, "glm-5.2")):  # who names a model asks for it
        found = pg.simulate_cache(session, model=model).findings
        assert "mixed-models" not in [each.code for each in found]


@pytest.mark.parametrize(
    ("uri", "model", "provider"),
    [
        ("https://api.x.ai/v1/chat/completions", "grok-4", "xai"),
        ("https://api.mistral.ai/v1/chat/completions", "mistral-large-latest", "mistral"),
        ("https://api.groq.com/openai/v1/chat/completions", "llama-3.3-70b", "groq"),
        ("https://api.fireworks.ai/inference/v1/chat/completions", "accounts/x", "fireworks"),
        ("https://api.z.ai/api/paas/v4/chat/completions", "glm-4.7", "zai"),
        ("https://open.bigmodel.cn/api/paas/v4/chat/completions", "glm-4.7", "zai"),
        ("https://api.minimax.io/v1/chat/completions", "MiniMax-M3", "minimax"),
        ("https://api.moonshot.ai/v1/chat/completions", "kimi-k2", "moonshot"),
        ("https://me.openai.azure.com/openai/deployments/d/chat", "gpt-4o", "azure-before-5.6"),
        ("https://me.services.ai.azure.com/models/chat", "gpt-5.6", "azure"),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen3-max", "qwen"),
        ("https://openrouter.ai/api/v1/chat/completions", "x-ai/grok-4", "openrouter-automatic"),
        (
            "https://openrouter.ai/api/v1/chat/completions",
            "anthropic/claude-sonnet-4",
            "openrouter",
        ),
        ("https://api.openai.com/v1/responses", "gpt-4o", "openai-before-5.6"),
        ("openai chat.completions", "gpt-4o", "openai-before-5.6"),
        ("https://europe-aiplatform.googleapis.com/v1/publishers/anthropic/models/x", "", "vertex"),
        ("https://api.cohere.com/v2/chat", "command-r", ""),
        ("http://localhost:8080/openai/v1", "llama", ""),
    ],
)
def test_an_address_tells_whose_rules_count(
    tmp_path: Path, uri: str, model: str, provider: str
) -> None:
    request = {**body(user(text("hi"))), "model": model}
    usage = {"prompt_tokens": 9, "input_tokens": 9, "cache_read_input_tokens": 0}
    (row,) = validated(tmp_path, {"uri": uri, "request": request, "usage": usage})
    assert row.provider == provider
    if provider not in ("", "azure", "openrouter", "vertex", "qwen"):
        assert row.state == "best effort"


def test_validation_counts_by_provider(tmp_path: Path) -> None:
    first, second = growing(2)
    grok = {
        "uri": "https://api.x.ai/v1",
        "request": {"model": "grok-4"},
        "usage": {"prompt_tokens": 9},
    }
    validated(tmp_path, exchange(first, 0, 5000, 4), exchange(second, 5000, 2500, 4), grok)
    assert validate_folder(tmp_path).providers == {
        "anthropic": {"first": 1, "predictable": 1, "right": 1, "exact": 1},
        "xai": {"best effort": 1},
    }


def test_validation_by_the_command_line(tmp_path: Path) -> None:
    request = body(user(text(LONG, MARK)))
    server = {"server_tool_use": {"web_search_requests": 1}, "input_tokens": 4}
    server |= {"cache_read_input_tokens": 9, "cache_creation_input_tokens": 0}
    requests = [
        exchange(request, 0, 2011, 4),
        exchange(request, 2011, 0, 4),
        exchange(request, 0, 0, 4, status=500),
        {"uri": "https://api.anthropic.com/v1/messages", "request": request, "usage": server},
        {
            "uri": "https://api.openai.com/v1",
            "request": {"model": "gpt-4o"},
            "usage": {"prompt_tokens": 9},
        },
    ]
    (tmp_path / "a.json").write_text(json.dumps({"requests": requests}))
    command = ("cache", "--validate", str(tmp_path))
    done = terminals.run(*command, "--json")
    assert done.returncode == 0
    shown = json.loads(done.stdout)
    assert (shown["predictable"], shown["hit_right"], shown["tokens_exact"]) == (1, 1, 1)
    assert shown["unpredictable"] == {"first": 1, "failed": 1, "server tools": 1, "best effort": 1}
    assert [row["state"] for row in shown["rows"]][1] == "predictable"
    requests[1] = exchange(request, 0, 2011, 4)
    (tmp_path / "a.json").write_text(json.dumps({"requests": requests}))
    done = terminals.run(*command)
    assert done.returncode == 1
    assert "0 of 1 hits and misses right" in done.stdout
    (tmp_path / "b.json").write_text("[]")
    done = terminals.run(*command)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "b.json" in done.stderr
    assert "0 of 1 hits and misses right" in done.stdout
    with pytest.raises(InputFault, match="not a folder"):
        validate_folder(tmp_path / "none")


def test_the_command_says_figures_in_the_words_of_a_bill() -> None:
    from click.testing import CliRunner

    from playground.cli import main

    asked = ["cache", "simulate", "06-cache-eight-turns", "-d", "native", "--policy", "azad"]
    told = CliRunner().invoke(main, asked).stdout
    assert "full price" in told.splitlines()[0]
    assert "a token read costs 0.10 of its full price" in told
    for word in ("uncached", "thousandths", "exact"):
        assert word not in told


def steps_in_cache(work: Callable[[], Any]) -> int:
    """Count the steps of Python that are taken in the room `cache`."""
    counted, room = 0, f"{Path(pg.__file__).parent / 'cache'}"

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal counted
        if not frame.f_code.co_filename.startswith(room):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        counted += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return counted


def test_requests_of_one_instant_are_gone_through_once() -> None:
    """Each entry that was still being written cost a search through the whole request."""

    def steps(blocks: int) -> int:
        said = [{"role": "user", "content": f"{number} tide"} for number in range(blocks)]
        wire = read_wire({"model": "gpt-4o", "messages": said})
        rules = rules_of("openai-before-5.6")
        row = [TimedRequest(wire, 0.0, rules) for _ in range(3)]
        return steps_in_cache(lambda: simulate(row, rules))

    assert steps(240) < 3 * steps(120)


@pytest.mark.parametrize("model", [MODEL, "gpt-4o"])
def test_a_request_costs_what_is_new_in_it(model: str) -> None:
    """Each request looked for refused blocks, and scaled sizes, in all that came before it."""

    def steps(turns: int) -> int:
        row: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        for number in range(turns):
            function = {"name": "look", "arguments": "{}"}
            call = {"id": f"c{number}", "type": "function", "function": function}
            row.append({"role": "assistant", "content": "", "tool_calls": [call]})
            row.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"{number}"})
        session = pg.session(messages=row, model=model)
        return steps_in_cache(lambda: pg.simulate_cache(session, "native"))

    steps(2)  # what is made once
    assert steps(140) < 2.2 * steps(70)


def test_a_matrix_tells_how_far_it_is_and_marks_alike_are_the_same_cell_by_another_name() -> None:
    session = pg.load_session(samples()["12-long-tool-run"])
    told: list[tuple[int, int]] = []
    cells = pg.cache_matrix(
        session,
        ["xml", "native"],
        policies=["claude-code", "goose", "none"],
        progress=lambda *each: told.append(each),
    )
    assert told == [(1, 2), (2, 2)]
    assert [cell.policy for cell in cells] == ["claude-code", "goose", "none"] * 2
    assert cells[0].requests == cells[1].requests != cells[2].requests
    for cell in cells:
        alone = pg.simulate_cache(session, dialect=cell.dialect, policy=cell.policy)
        assert (alone.requests, alone.findings) == (cell.requests, cell.findings)


def test_marks_of_dialects_with_the_same_answer_are_one_line() -> None:
    file = str(samples()["12-long-tool-run"])
    lines = CliRunner().invoke(main, ["cache", "place", file]).stdout.splitlines()
    every = json.loads(CliRunner().invoke(main, ["cache", "place", file, "--json"]).stdout)
    counts = {sum(one["marked"] for one in each["decisions"]) for each in every}
    assert len(lines) == 1 + len(counts) + 1  # a head, and where to see more
    assert "more" in lines[1] and " to " in lines[1]


def test_requests_to_several_providers_are_not_certain() -> None:
    """Those of another provider than the first were `eligible` or `exact` by the first's rules, and
    the first text that differs was named in place of the model."""
    big = "Berths and tides. " * 2_000
    system = [{"type": "text", "text": big, "cache_control": {"type": "ephemeral"}}]
    said = [{"role": "user", "content": "go"}]
    claude: Any = {"model": "claude-sonnet-4-5", "system": system, "messages": said}
    gpt: Any = {"model": "gpt-5", "messages": [{"role": "system", "content": "x"}, *said]}
    rows = [claude, gpt, claude], [gpt, claude, claude], [claude, claude]
    mixed, assumed, alone = [pg.simulate_cache(row) for row in rows]
    assert [each.state for each in mixed.requests] == ["exact", "unpredictable", "exact"]
    assert "exact" not in {each.state for each in assumed.requests}
    for cell in (mixed, assumed):
        assert [found.code for found in cell.findings] == ["mixed-models", "prefix-changed"]
        assert "the model changed" in cell.findings[1].message
    assert [each.state for each in alone.requests] == ["exact", "exact"] and not alone.findings


@pytest.mark.parametrize("words", [1, 300, 900])
def test_what_is_read_of_a_counted_prompt_does_not_depend_on_the_text_after_it(words: int) -> None:
    """OpenAI's prompts are counted as a whole; the previous count is the size of what is shared."""
    rules = "\n".join(f"Rule {number}: look at harbour {number}." for number in range(140))
    messages = [
        {"role": "system", "content": rules},
        {"role": "user", "content": "When is high water in Brest?"},
        {"role": "assistant", "content": "tide " * words},
        {"role": "user", "content": "And in Husum?"},
    ]
    made = pg.session(messages=messages, model="gpt-4o")
    before, after = pg.simulate_cache(made, policy="none").requests
    assert after.read == before.total // 128 * 128 > 1_024


@pytest.mark.parametrize("policy", ["azad", "as-sent"])
def test_a_time_without_a_zone_is_in_utc_on_every_machine(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gap between two requests, and so the outcome, was that of the machine's own zone."""
    bodies, answers = growing(2), list[Any]()
    replies = [said("user", "a"), said("assistant", "b"), said("user", "c"), said("assistant", "d")]
    times = ("2026-03-08T01:59:00", "2026-03-08T03:01:00Z")
    records = tuple(RequestRecord(reply=2 * n + 1, at=at) for n, at in enumerate(times))
    session = Session(messages=tuple(replies), requests=records)
    if policy == "as-sent":
        sent = pg.load_session(bodies)
        rows = tuple(replace(sent.rows[0], at=at) for at in times)
        session = replace(sent, rows=rows)
    for zone in ("UTC", "America/New_York", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        cell = pg.simulate_cache(session, policy=policy, model="claude-sonnet-4-5")
        answers.append([(one.state, one.read, one.reason) for one in cell.requests])
        answers.append([fact.at for fact in cell.request_facts])
    monkeypatch.undo()
    time.tzset()
    assert answers[:2] == answers[2:4] == answers[4:]
