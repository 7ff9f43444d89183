"""Certain only where it is: unknown models and fields, and what no provider promises."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from session_examples import EXAMPLES

import playground as pg
from playground.cache.answers.bills import validate_folder
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.headline import headline
from playground.cache.diagnosis import Diagnosis, diagnosis_of
from playground.cache.prices import price_of
from playground.cache.rules import rule_sets, rules_of
from playground.cache.rules.age import aged
from playground.cache.rules.names import plain_name
from playground.cache.rules.schema import KINDS
from playground.cache.simulated import Simulated
from playground.cli import main
from playground.cli.cache_tables import print_simulation, print_validation
from playground.nouns.messages import Message, TextPart
from playground.plugins.proxy.cache_forecast import CacheForecast
from playground.plugins.proxy.drawings import requests as proxy_requests
from playground.plugins.proxy.exchange import Opened
from playground.plugins.proxy.ledger import read_ledger
from playground.recordings.decoding import decode_stream
from playground.sessions.session import RequestRecord, RequestRow
from playground.show.strip import strip
from playground.show.wire import simulation_json

MARK = {"type": "ephemeral"}
LONG = "harbourmaster observations " * 2_000
Body = dict[str, Any]
# names that models of a provider begin with; another provider's are its longest route
ROUTES = {
    name: max(rules.get("routes", ()), key=len, default="") for name, rules in rule_sets().items()
} | {
    "anthropic": "anthropic/claude-",
    "bedrock": "bedrock/anthropic.claude-",
    "bedrock-nova": "bedrock/amazon.nova-",
    "bedrock-kimi": "bedrock/moonshotai.kimi-",
    "bedrock-openai": "bedrock/openai.gpt-9.",
    "vertex": "vertex_ai/claude-",
    "openrouter": "openrouter/anthropic/claude-",
    "openrouter-automatic": "openrouter/newlab/",
    "openai": "openai/gpt-9.",
    "openai-before-5.6": "openai/gpt-3",
    "azure": "azure/gpt-9.",
    "gemini": "gemini/gemini-",
    "deepseek": "deepseek/deepseek-",
    "xai": "xai/grok-",
    "moonshot": "moonshot/kimi-",
    "zai": "zai/glm-",
    "minimax": "minimax/MiniMax-",
    "qwen": "dashscope/qwen9",
    "qwen4": "dashscope/qwen4-",
    "mistral": "mistral/mistral-",
    "groq": "groq/",
    "fireworks": "fireworks_ai/",
    "unknown-provider": "nobody/",
}
for _earlier in ("azure-before-5.6", "bedrock-openai-before-5.6"):  # no names of their own
    del ROUTES[_earlier]


def marked(**more: Any) -> Body:
    system = [{"type": "text", "text": LONG, "cache_control": MARK}]
    return {"max_tokens": 9, "system": system, "messages": [turn("hi")], **more}


def turn(content: Any, role: str = "user") -> Body:
    return {"role": role, "content": content}


def asked(**more: Any) -> Body:
    return {"input": [turn(LONG, "developer"), turn("a")], **more}


def went_on(body: Body, **more: Any) -> Body:
    key = "messages" if "messages" in body else "input"
    return {**body, key: [*body[key], turn("yes", "assistant"), turn("more")], **more}


def simulate(model: str, *bodies: Body, times: tuple[float, ...] = ()) -> CacheSimulation:
    return pg.simulate_cache(bodies, model=model, times=times)


def second(model: str, *bodies: Body, gap: float = 70.0) -> Simulated:
    return simulate(model, *bodies, times=(0.0, gap)).requests[1]


# unknown is an answer


@given(
    st.sampled_from(sorted(ROUTES)),
    st.from_regex(r"[a-z]{6,12}(-[a-z0-9]{1,5}){0,2}", fullmatch=True),
    st.booleans(),
)
def test_of_a_model_that_nobody_named_nothing_is_certain(
    provider: str, name: str, in_chat: bool
) -> None:
    model = f"{ROUTES[provider]}zz{name}"
    body: Body = {"messages": [turn(LONG, "system"), turn("hi")]} if in_chat else marked()
    found = simulate(model, body, went_on(body))
    assert found.rules is not None
    assert not found.rules.knows(model)
    assert {one.state for one in found.requests}.isdisjoint({"exact", "error"})
    assert found.nano_dollars is None
    said = ("not known", "no caching rules", "estimates")
    assert all(any(words in line for words in said) for line in found.origins)


@pytest.mark.parametrize("command", ["cache", "cache wire", "cache simulate", "check"])
def test_every_command_says_that_no_rule_names_the_model(command: str, tmp_path: Path) -> None:
    """Over all providers, as words and as JSON, each with a name drawn by a seed."""
    said = {"text": "No rule names this model", "json": '"assumption": "No rule names this model'}
    as_sent = ["--policy", "as-sent"]
    more = {"check": ["--no-cache-break"], "cache simulate": as_sent, "cache": as_sent}
    for (provider, route), form in product(sorted(ROUTES.items()), said):
        made_up = "".join(Random(f"{command} {provider} {form}").choices(ascii_lowercase, k=9))
        model = f"{route}zz{made_up}"
        lines = [
            {"session_id": "s", "timestamp": f"2026-11-01T10:0{minute}:10Z",
             "request": {**body, "model": model}, "response": turn("yes", "assistant")}
            for minute, body in enumerate((marked(), went_on(marked())))
        ]  # fmt: skip
        (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
        asked = [*command.split(), str(tmp_path / "s.jsonl"), *more.get(command, ())]
        result = CliRunner().invoke(main, [*asked, *["--json"] * (form == "json")])
        if result.exit_code == 2:
            assert command == "cache wire"
            assert "cannot be shown: " in result.output
            continue
        unruled = said[form].replace("No rule names", "No caching rules are known for")
        assert (unruled if provider == "unknown-provider" else said[form]) in result.stdout, model
        assert not re.search(r"\b(exact|certain)\b", result.stdout), model
        assert '"nano_dollars": ' not in result.stdout.replace('"nano_dollars": null', ""), model


@pytest.mark.parametrize("provider", sorted(ROUTES))
def test_a_route_leads_to_its_provider(provider: str) -> None:
    found = simulate(f"{ROUTES[provider]}zz", marked(), marked())
    assert found.rules is not None and found.rules.provider == provider


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("bedrock/us.anthropic.claude-opus-4-8-v1:0", "claude-opus-4-8"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("openrouter/anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"),
        ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-opus-5-9", "claude-opus-5-9"),
        ("gpt-5.5-2026-04-23", "gpt-5-5"),
    ],
)
def test_a_name_is_whole(written: str, plain: str) -> None:
    assert plain_name(written) == plain


def test_a_piece_of_a_name_is_no_name() -> None:
    rules = rules_of("anthropic")
    assert rules.figure("minimum_tokens", "claude-opus-5").assumed == ""
    assert rules.figure("minimum_tokens", "claude-opus-5-9").assumed == "claude-opus-5-5"
    found = simulate("anthropic/claude-opus-5-9", marked())
    assert "no rule of Anthropic API names the model" in found.requests[0].reason
    assert "not known for 'anthropic/claude-opus-5-9', assumed as for" in found.origins[0]


# exact is earned


@given(st.text("abcdefghijklmnopqrstuvwxyz_", min_size=3, max_size=20), st.booleans())
def test_a_field_that_no_rule_speaks_of_takes_the_certainty_away(name: str, openai: bool) -> None:
    field = f"x_{name}"
    model, body = ("openai/gpt-6.1-sol", asked()) if openai else ("claude-opus-5", marked())
    assert second(model, body, went_on(body)).state == "exact"
    found = second(model, body, went_on(body, **{field: 1}))
    assert found.state == "unpredictable"
    assert field in found.reason


@pytest.mark.parametrize(
    ("model", "body"),
    [
        ("bedrock/anthropic.claude-opus-5-v1:0", marked()),
        ("anthropic/claude-opus-6", marked()),
        ("dashscope/qwen5-max", marked()),
        ("openai/gpt-7-sol", asked()),
        ("openrouter/anthropic/claude-saga-1", marked()),
    ],
)
def test_an_unknown_model_hides_no_unknown_field_or_word(model: str, body: Body) -> None:
    """The unknown word comes with the second body, whose settings are those of the first."""
    key = "input" if "input" in body else "messages"
    new = {**turn("hi"), "x_word": 1}
    one, two = {**body, "x_field": 1}, {**body, "x_field": 1, key: [*body[key], new]}
    reason = second(model, one, two).reason
    assert repr(model) in reason
    assert "x_field" in reason
    assert "x_word" in reason


UNSURE: list[tuple[str, Body, Body, float, str]] = [
    ("claude-opus-5", marked(), went_on(marked(output_config={"effort": "low"})), 70, "effort"),
    ("claude-opus-5", marked(), marked(mcp_servers=[{"name": "x"}]), 70, "mcp_servers"),
    ("claude-opus-5", marked(), marked(), 5, "answer begins"),
    ("claude-opus-4-7", marked(), went_on(marked(), messages=[turn("a"), turn("b", "system")]), 70,
     "does not say whether this model takes"),
    ("openai/gpt-6.1-sol", asked(), went_on(asked()), 2_400, "at least"),
    ("openai/gpt-6.1-sol", asked(), asked(previous_response_id="r1"), 70, "on the server"),
    ("azure/gpt-6.1-sol", asked(), went_on(asked()), 1_200, "nothing promises"),
    ("openrouter/anthropic/claude-opus-5", marked(),
     {**marked(), "messages": [turn("else")]}, 70, "another upstream may answer"),
    ("gemini/gemini-3.8-flash", asked(), {"input": "x", "previous_interaction_id": "i"}, 70,
     "on the server"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "first", "then", "gap", "words"), UNSURE)
def test_what_no_provider_promises_is_not_certain(
    model: str, first: Body, then: Body, gap: float, words: str
) -> None:
    found = second(model, first, then, gap=gap)
    assert found.state == "unpredictable"
    assert words in found.reason


def test_sources_that_disagree_are_both_told() -> None:
    body: Body = {"messages": [turn([{"type": "text", "text": "x", "cache_control": MARK}])]}
    found = pg.simulate_cache([body], model="claude-sonnet-4-6", usages=[{"input_tokens": 1_500}])
    assert found.requests[0].state == "unpredictable"
    assert "1,024 (" in found.requests[0].reason
    assert "2,048 (" in found.requests[0].reason
    assert "sources disagree (2,048 by a measurement" in found.origins[0]


def test_without_times_each_request_is_sent_after_the_answer_before() -> None:
    bodies = [marked(), marked()]
    assert pg.simulate_cache(bodies, model="claude-opus-5").requests[1].state == "exact"
    hedged = pg.simulate_cache(bodies, model="claude-opus-5", times=[0, 20]).requests[1]
    assert (hedged.state, hedged.read > 0) == ("unpredictable", True)


# what the prompt holds


def tool(name: str, **more: Any) -> Body:
    return {"name": name, "description": "looks it up " * 40, "input_schema": {}, **more}


def test_a_deferred_tool_is_in_the_prompt_where_it_was_found_and_not_before() -> None:
    deferred = [tool(f"t{number}", defer_loading=True) for number in range(20)]
    plain, later = marked(), marked(tools=deferred)
    one, other = (simulate("claude-opus-5-5", body).requests[0] for body in (plain, later))
    assert (one.total, one.read) == (other.total, other.read)
    fewer = went_on(marked(tools=deferred[1:]))
    assert second("claude-opus-5-5", later, fewer).read == other.cached_after
    reference = {"type": "tool_reference", "tool_name": "t3"}
    result = {"type": "tool_result", "tool_use_id": "u", "content": [reference]}
    found = {**later, "messages": [turn("hi"), turn([result])]}
    unknown = {**found, "tools": deferred[5:]}
    totals = [simulate("claude-opus-5-5", body).requests[0].total for body in (found, unknown)]
    assert totals[0] > totals[1]
    assert totals[0] - simulate("claude-opus-5-5", later).requests[0].total > 100


def test_earlier_models_lose_their_thought_at_a_turn_and_later_ones_keep_it() -> None:
    thought = {"type": "thinking", "thinking": "hm " * 2_000, "signature": "c2ln"}
    call = {"type": "tool_use", "id": "t", "name": "t0", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": LONG, "cache_control": MARK}
    history = [turn("q"), turn([thought, call], "assistant"), turn([result])]
    first = {**marked(), "messages": history}
    then = {**first, "messages": [*history, turn("ok", "assistant"), turn("and?")]}
    reads = {}
    for model in ("claude-haiku-4-5", "claude-sonnet-4-6"):
        left = simulate(model, first).requests[0].cached_after
        reads[model] = second(model, first, then).read / left
    assert 0 < reads["claude-haiku-4-5"] < 0.9
    assert reads["claude-sonnet-4-6"] == 1


def test_a_cleared_message_is_part_of_nothing() -> None:
    cleared = {**turn("List first. " * 50, "system"), "clear_at": "next_user_message"}
    after = [turn("yes", "assistant"), turn("more")]
    with_it = {**marked(), "messages": [turn("hi"), cleared, *after]}
    without = {**marked(), "messages": [turn("hi"), *after]}
    one, other = (simulate("claude-fable-5-1", b).requests[0] for b in (with_it, without))
    assert one.total == other.total
    waiting = {**marked(), "messages": [turn("hi"), cleared]}
    assert simulate("claude-fable-5-1", waiting).requests[0].total > other.total + 50


# what is refused

BOUND = {"block_binding": {"prefix_mismatch_behavior": "drop"}, "type": "adaptive"}


def with_thought(asking: str, **more: Any) -> Body:
    thought = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    answer = turn([thought, {"type": "text", "text": "yes"}], "assistant")
    return marked(messages=[turn(asking), answer, turn("more")], **more)


def answering(call_id: str) -> Body:
    """An answer that calls `c1`, and a result for a call."""
    use = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": "It is done."}
    return marked(messages=[turn("a"), turn([use], "assistant"), turn([result])])


def answering_chat(*ids: str) -> Body:
    """The same in OpenAI's form, where calls of two answers in a row may be answered together."""
    use = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    answers = [{"role": "assistant", "tool_calls": [{**use, "id": each}]} for each in ("c1", "c2")]
    results = [{"role": "tool", "tool_call_id": each, "content": "It is done."} for each in ids]
    return {"messages": [turn("a"), *answers, *results, turn("more")]}


REFUSED: list[tuple[str, list[Body], bool]] = [
    ("claude-fable-5-1", [marked(tool_choice={"type": "any"})], True),
    ("claude-opus-5", [marked(tool_choice={"type": "any"})], False),
    ("claude-mythos-5-2", [marked(thinking={"type": "disabled"})], True),
    ("claude-sonnet-5", [marked(messages=[turn("a"), turn("b", "system")])], True),
    ("claude-fable-5-2", [with_thought("a"), with_thought("A")], True),
    ("claude-fable-5-2", [with_thought("a"), with_thought("A", thinking=BOUND)], False),
    ("claude-fable-5-1", [with_thought("a"), with_thought("A")], False),
    ("bedrock/anthropic.claude-opus-4-6-v1", [{**marked(), "cache_control": MARK}], True),
    ("bedrock/anthropic.claude-opus-5", [{**marked(), "cache_control": MARK}], False),
    ("claude-sonnet-5", [answering("c9")], True),
    ("claude-sonnet-5", [answering("c1")], False),
    ("gpt-5.6", [answering_chat("c9")], True),
    ("gpt-5.6", [answering_chat("c1", "c2")], False),
    ("gpt-4o", [answering_chat("c1"), answering_chat("c1", "c1", "c9")], True),
    ("gpt-4o", [answering_chat("c9"), answering_chat("c2")], False),
]


@pytest.mark.parametrize(("model", "bodies", "refused"), REFUSED)
def test_what_gets_an_error_400_is_an_error(model: str, bodies: list[Body], refused: bool) -> None:
    last = simulate(model, *bodies).requests[-1]
    assert (last.state == "error") == refused
    assert (last.finding == "refused-request") == refused


# prices of a day


def price(model: str, tokens: int, at: float = 0.0, **settings: Any) -> float | None:
    body: Body = {"messages": [turn("word " * 50)], **settings}
    usage = {"input_tokens": tokens}
    nano = pg.simulate_cache([body], model=model, usages=[usage], times=[at]).nano_dollars
    return None if nano is None else nano / tokens


PEAK, NIGHT = 1795053600.0, 1795089600.0  # 2026-11-19, 02:00 and 12:00 UTC
HOLIDAY = 1790823600.0  # 2026-10-01, 03:00 UTC
DECEMBER = 1796169600.0  # 2026-12-02


@pytest.mark.parametrize(
    ("model", "tokens", "at", "settings", "nano"),
    [
        ("anthropic/claude-haiku-5-5", 100_000, 0, {}, 100),
        ("anthropic/claude-haiku-5-5", 100_001, 0, {}, 500),
        ("openai/gpt-6.1-sol", 300_000, 0, {"prompt_cache_options": {"mode": "explicit"}}, 4_000),
        ("openai/gpt-6.1-sol", 1_000, 0, {"service_tier": "flex"}, 1_000),
        ("openai/gpt-6.1-sol", 1_000, 0, {"service_tier": "a new one"}, None),
        ("anthropic/claude-opus-5-5", 1_000, 0, {"speed": "fast"}, 8_000),
        ("anthropic/claude-opus-5-5", 1_000, 0, {"inference_geo": "us"}, 4_400),
        ("anthropic/claude-fable-5-2", 1_000, 0, {}, 8_000),
        ("deepseek/deepseek-flash", 1_000, PEAK, {}, 300),
        ("deepseek/deepseek-flash", 1_000, NIGHT, {}, 150),
        ("deepseek/deepseek-flash", 1_000, HOLIDAY, {}, 150),
        ("minimax/MiniMax-M3", 600_000, 0, {}, None),
        # what genai-prices adds: a longer prompt, a model of last year, a price that will change
        ("anthropic/claude-sonnet-4-5", 200_001, 0, {}, 6_000),
        ("anthropic/claude-opus-4-1-20250805", 1_000, 0, {}, 15_000),
        ("gemini/gemini-4-argon", 1_000, HOLIDAY, {}, 2_000),
        ("gemini/gemini-4-argon", 1_000, DECEMBER, {}, 4_000),
    ],
)
def test_a_price_is_that_of_length_tier_speed_place_and_hour(
    model: str, tokens: int, at: float, settings: Body, nano: int | None
) -> None:
    assert price(model, tokens, at, **settings) == nano


def test_price_lists_that_disagree_are_both_named_and_a_piece_of_a_name_has_no_price() -> None:
    found = price_of("bedrock/anthropic.claude-opus-5")
    assert found is not None
    assert found.uncached == 5_000_000
    assert "sources disagree: $5.5, read $0.55 a million tokens by genai-prices" in found.source
    assert price_of("anthropic/claude-opus-4-1-20250805") is not None
    for name in ("claude-opus-4-1-9", "claude-opus-4", "claude"):
        own = price_of(f"anthropic/{name}")
        assert own is None or "claude-opus-4-1," not in own.source


# the provider's own word


def test_a_recording_keeps_the_providers_own_diagnosis() -> None:
    reason = {"type": "tools_changed", "cache_missed_input_tokens": 7_990}
    message = {"model": "claude-opus-5-5", "diagnostics": {"cache_miss_reason": reason}}
    frame = {"type": "message_start", "message": message}
    wire = f"event: message_start\ndata: {json.dumps(frame)}\n\n".encode()
    recording = decode_stream([wire])
    assert recording.diagnostics == {"cache_miss_reason": reason}
    assert diagnosis_of(recording.diagnostics) == Diagnosis("tools_changed", 7_990)
    missed = {"type": "cache_miss", "reason": "input_changed", "cache_missed_tokens": 9}
    assert diagnosis_of({"prompt_cache_diagnostics": missed}) == Diagnosis("input_changed", 9)
    assert diagnosis_of({"diagnostics": {"cache_miss_reason": None}}) == Diagnosis("none")


def test_a_recorded_call_is_validated_unless_it_asks_for_an_embedding(tmp_path: Path) -> None:
    har = json.loads(EXAMPLES["har"].content)  # type: ignore[arg-type]
    (entry,) = har["log"]["entries"]
    other = {**entry, "request": {**entry["request"], "url": "https://x/v1/embeddings"}}
    for entries in ([entry], [entry, other]):
        har["log"]["entries"] = entries
        (tmp_path / "x.har").write_text(json.dumps(har))
        assert len(validate_folder(tmp_path).rows) == 1


def test_prediction_bill_and_diagnosis_that_disagree_are_all_told(tmp_path: Path) -> None:
    def exchange(body: Body, read: int, written: int, **more: Any) -> Body:
        usage = {
            "input_tokens": 5,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        }
        return {
            "uri": "https://api.anthropic.com/v1/messages",
            "request": {"model": "claude-opus-5", **body},
            "usage": usage,
            "response": {"usage": usage, **more},
            "status": 200,
        }

    told = {"cache_miss_reason": {"type": "messages_changed", "cache_missed_input_tokens": 9}}
    rows = [exchange(marked(), 0, 4_000), exchange(marked(), 4_000, 0)]  # of one, nothing is told
    rows.append(exchange(went_on(marked()), 0, 4_000, diagnostics=told))
    (tmp_path / "row.json").write_text(json.dumps({"requests": rows}))
    found = validate_folder(tmp_path)
    assert found.rows[2].diagnosis.startswith("messages_changed, about 9 tokens")
    (finding,) = [one for one in found.findings if one.code == "diagnosis-disagrees"]
    assert (
        "predicted: 4,000 read; billed: 0 read; told by the provider: messages_" in finding.message
    )
    assert finding.message.partition(". But ")[2].startswith(
        "the diagnosis of these bodies cannot be right, because the request only continues the "
        "previous one, and the prediction cannot be right, because the bill charged 0 tokens as "
        "read; "
    )


def test_a_session_shows_the_providers_word_beside_prediction_and_bill() -> None:
    reason = {"type": "cache_miss", "reason": "verbosity_changed", "cache_missed_tokens": 9}
    record = RequestRecord(1, "gpt-6.1-sol", usage={"input_tokens": 9}, diagnostics=reason)
    messages = [Message("user", (TextPart("a"),)), Message("assistant", (TextPart("b"),))]
    session = pg.session(messages=messages, model="openai/gpt-6.1-sol")
    session = replace(session, requests=(record,))
    cell = pg.simulate_cache(session, dialect="native")
    assert cell.diagnoses[0] == Diagnosis("verbosity_changed", 9)
    assert simulation_json(cell)["told_by_provider"][0]["kind"] == "verbosity_changed"
    said = cell.frame()["told_by_provider"].iloc[0]
    assert said == "verbosity_changed, about 9 tokens (another verbosity)"


def test_a_diagnosis_that_the_bodies_speak_against_cannot_be_right(tmp_path: Path) -> None:
    usages = [
        {"input_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 4_000}
    ] * 2
    other = marked()
    other["system"] = [{**other["system"][0], "text": f"Now! {LONG}"}]
    said = {
        "tools_changed": "they differ first by system_changed",
        "system_changed": "",
        "messages_changed": "they differ first by system_changed",
        "previous_message_not_found": "",
    }
    for kind, words in said.items():
        told = {"diagnostics": {"cache_miss_reason": {"type": kind}}}
        replies = [{"usage": usages[0]}, {"usage": usages[1], **told}]
        rows = [
            {"uri": "https://api.anthropic.com/v1/messages", "status": 200,
             "request": {"model": "claude-opus-5", **body}, "usage": usage, "response": reply}
            for body, usage, reply in zip((marked(), other), usages, replies, strict=True)
        ]  # fmt: skip
        (tmp_path / "row.json").write_text(json.dumps({"requests": rows}))
        found = [f.message for f in validate_folder(tmp_path).findings]
        assert [words in one for one in found] == [True] * bool(words), kind


def test_three_columns_stand_side_by_side_in_frame_and_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = {"cache_miss_reason": {"type": "messages_changed", "cache_missed_input_tokens": 9}}
    usages = [
        {"input_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": new}
        for new in (4_000, 4_100)
    ]
    rows = [
        RequestRow({"model": "claude-opus-5", **body}, reply={"usage": usage, **more})
        for body, usage, more in zip(
            (marked(), went_on(marked())), usages, ({}, {"diagnostics": reason}), strict=True
        )
    ]
    task = pg.load_session(rows[0].body).task
    session = pg.Session(task=task, rows=tuple(rows))
    cell = pg.simulate_cache(session, policy="as-sent")
    frame = cell.frame()
    columns = ["predicted", "billed", "told_by_provider"]
    first = list(frame.columns).index("predicted")
    assert list(frame.columns)[first : first + 3] == columns
    predicted, billed, told = frame[columns].iloc[1]
    assert (predicted[-14:], billed) == (" unpredictable", "0 read")
    assert told.startswith("messages_changed, about 9 tokens")
    print_simulation([[cell]], as_json=False)
    shown = capsys.readouterr().out
    assert re.search(r"predicted +billed +told by the provider", shown)
    file = {"requests": [
        {"uri": "https://api.anthropic.com/v1/messages", "request": row.body, "status": 200,
         "usage": (row.reply or {})["usage"], "response": row.reply} for row in rows
    ]}  # fmt: skip
    (tmp_path / "row.json").write_text(json.dumps(file))
    print_validation(str(tmp_path), as_json=False)
    shown = capsys.readouterr().out
    assert re.search(r"predicted read +billed read +told by the provider +right", shown)
    assert re.search(r"4,000 +0 +messages_changed", shown)


def test_a_replay_prints_what_the_provider_said_of_its_cache(tmp_path: Path) -> None:
    reason = {"type": "tools_changed", "cache_missed_input_tokens": 7_990}
    message = {"model": "claude-opus-5-5", "diagnostics": {"cache_miss_reason": reason}}
    begins: Body = {"type": "message_start", "message": message}
    frames = [begins, {"type": "message_stop"}]
    wire = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in frames)
    (tmp_path / "one.sse").write_text(wire)
    arguments = ["replay", str(tmp_path / "one.sse"), "-d", "native"]
    told = CliRunner().invoke(main, [*arguments, "--json"]).stdout
    assert json.loads(told)["diagnostics"] == {"cache_miss_reason": reason}
    assert "of its cache: tools_changed, about 7,990" in CliRunner().invoke(main, arguments).output


def test_the_proxy_says_who_cannot_be_right(tmp_path: Path) -> None:
    opened = Opened(1, 1e9, "https://api.anthropic.com/v1/messages", "", "", "a", "", "", "", True)
    forecast = CacheForecast()
    for number, (body, read, new) in enumerate(((marked(), 0, 4_000), (went_on(marked()), 0, 9))):
        at = replace(opened, number=number, at=1e9 + 90 * number)
        underway = forecast.forecast(at, {"model": "claude-opus-5", **body})
        forecast.record_sent(underway)
        forecast.record_answer(underway, at.at + 1)
        usage = {"input_tokens": 5, "cache_read_input_tokens": read,
                 "cache_creation_input_tokens": new}  # fmt: skip
        bill = forecast.end_request(underway, 200, usage)
        assert bill is not None
        words = forecast.disagreement(underway, bill, Diagnosis("messages_changed", 9))
        assert ("the request only continues the previous one" in words) == (number == 1)
    line = {"exchange": 1, "told_by_provider": "messages_changed", "disagrees": words}
    (tmp_path / "ledger.jsonl").write_text(json.dumps(line) + "\n")
    (exchange,) = read_ledger(tmp_path).exchanges
    assert exchange.disagrees == words
    assert list(proxy_requests([exchange])["provider_diagnosis"]) == ["messages_changed"]


# a shorter context


def test_a_context_that_has_shrunk_is_no_break_and_costs_nothing() -> None:
    bodies = [marked(), went_on(marked()), went_on(went_on(marked()))]
    usages = [
        {"input_tokens": 3, "cache_read_input_tokens": read, "cache_creation_input_tokens": new}
        for read, new in ((0, 161_000), (40_000, 900), (40_900, 50))
    ]
    found = pg.simulate_cache(bodies, model="claude-opus-5", usages=usages)
    assert [each.number for each in found.shorter] == [1]
    assert found.unexplained == []
    assert found.requests[1].finding == "shorter-context"
    assert strip(found)["findings"][0] == (  # one finding, with the lengths, for all such requests
        "Shorter contexts, in tokens: request 2 (161,000 to 40,903)",
        "no break",
        "Nothing is lost: a shorter request reads less",
        1,
    )
    said = headline(found).text
    assert "read less because the context had become shorter: no break." in said
    sentences = said.split(". ")
    assert not any("illed" in one and "costs" in one for one in sentences)


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"system": [{"type": "text", "text": LONG.upper(), "cache_control": MARK}]}, "system_c"),
        ({"tools": [{"name": "f", "input_schema": {"type": "object"}}]}, "tools_c"),
        ({"model": "claude-opus-4-6"}, "the model c"),
    ],
)
def test_a_shorter_context_excuses_no_change_before_the_messages(changed: Body, cause: str) -> None:
    bodies = [marked(model="claude-opus-5"), went_on(marked(model="claude-opus-5"))]
    bodies.append(marked(model="claude-opus-5") | changed)
    usages = [
        {"input_tokens": 3, "cache_read_input_tokens": read, "cache_creation_input_tokens": new}
        for read, new in ((0, 161_000), (161_000, 900), (0, 40_000))
    ]
    found = pg.simulate_cache(bodies, usages=usages)
    assert (found.shorter, found.breaks) == ([], [2])
    assert f"{cause}hanged" in found.failures(no_cache_break=True)[0]
    assert headline(found).verdict == "broken"


@pytest.mark.parametrize("boundary", [False, True])
def test_a_compacted_transcript_breaks_nowhere_and_says_what_its_prediction_is_of(
    boundary: bool, tmp_path: Path
) -> None:
    """From 161,000 tokens to 41,000; with and without the line that tells of the compaction."""
    told: list[Body] = []

    def add(kind: str, **more: Any) -> None:
        number = len(told)
        parent = f"u{number - 1}" if told and more.get("subtype") is None else None
        told.append({"type": kind, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s",
                     "timestamp": f"2026-11-01T10:{number:02}:00Z", **more})  # fmt: skip

    for number, (said, read, new) in enumerate(
        (("observations " * 80_000, 0, 140_000), ("words " * 8_000, 140_000, 21_000),
         ("go on", 40_000, 900), ("and", 40_900, 50))
    ):  # fmt: skip
        if boundary and number == 2:
            add("system", subtype="compact_boundary", content="Conversation compacted")
            add("user", isCompactSummary=True, message=turn("This session is being continued."))
        add("user", message=turn(said))
        usage = {"input_tokens": 3, "cache_read_input_tokens": read,
                 "cache_creation_input_tokens": new, "output_tokens": 9}  # fmt: skip
        reply = {"id": f"m{number}", "role": "assistant", "model": "claude-opus-4-6",
                 "content": [{"type": "text", "text": "yes"}], "usage": usage}  # fmt: skip
        add("assistant", message=reply)
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, told)))
    cell = pg.simulate_cache(pg.load_session(tmp_path / "t.jsonl"))
    assert [each.number for each in cell.shorter] == [2]
    assert (cell.breaks, cell.unexplained, cell.failures(no_cache_break=True)) == ([], [], [])
    said = CliRunner().invoke(main, ["cache", "simulate", str(tmp_path / "t.jsonl")]).stdout
    for text in (headline(cell).text, said):
        assert "One request read less because the context had become shorter: no break" in text
        alone = "The session holds about" if boundary else "The file still holds text that was not"
        assert alone in text
    assert not any("illed" in one and "costs" in one for one in headline(cell).text.split(". "))


def test_a_longer_life_is_offered_only_where_it_is_cheaper() -> None:
    last = {**marked(), "messages": [turn("b")]}
    apart = pg.simulate_cache([marked(), last], model="claude-opus-5", times=[0, 900])
    assert apart.longer_life is not None
    assert "with marks of 1h all of it would cost $" in apart.why(1)
    hours = pg.simulate_cache([marked(), last], model="claude-opus-5", times=[0, 7_200])
    assert hours.longer_life is None
    assert "marks of" not in hours.why(1)


# the rules themselves


def test_every_rule_says_what_it_is_for_and_who_said_so_when() -> None:
    for found in rule_sets().values():
        for name, rule in found.rules.items():
            assert KINDS[name].meaning
            assert len(rule.source) > 3
            assert date.fromisoformat(rule.seen) <= date(2026, 12, 31)
            assert set(map(plain_name, rule.models)) <= set(found.models)


def test_a_figure_that_nobody_looked_at_for_long_says_so() -> None:
    lines = ["a (page, 2026-08-01)", "b (page, 2026-11-01)"]
    old, young = aged(lines, date(2026, 11, 27))
    assert old.endswith("last looked at 118 days ago")
    assert young == lines[1]


def test_the_fields_of_the_installed_sdks_are_known() -> None:
    script = runpy.run_path(str(ROOT / "benchmarks" / "cache_rules.py"))
    assert list(script["_news"]()) == []


# what was sent, and is told


def test_a_resource_of_gemini_is_certain_only_where_nothing_is_unknown() -> None:
    text = [{"type": "text", "text": "word text here " * 6_000, "cache_control": MARK}]
    body = {"foo": 1, "messages": [turn(text, "system"), turn("hi")]}
    for found in simulate("gemini/gemini-zzz", body, body).requests:
        assert found.state == "unpredictable"
        assert "names the model" in found.reason


@pytest.mark.parametrize(
    "more",
    [
        {"refusal": "No."},
        {"function_call": {"name": "f", "arguments": "{}"}},
        {"name": "ann"},
        {"audio": {"id": "a"}},
        {"reasoning_content": "Hm."},
    ],
)
def test_what_a_message_says_beside_its_content_is_a_doubt(more: Body) -> None:
    body = {"input": [turn(LONG, "developer"), turn("a"), {**turn("b", "assistant"), **more}]}
    body["input"].append(turn("c"))
    (key,) = more
    for found in simulate(
        "openai/gpt-5.6", body, body, {**body, "input": body["input"][:3]}
    ).requests:
        assert found.state == "unpredictable"
        assert f"no rule mentions input[2].{key}" in found.reason
    assert simulate("openai/gpt-5.6", {"input": body["input"][:2]}).requests[0].state == "exact"


# a name is a name as it is written


_DATES = st.sampled_from(["-20990101", "@20990101", "-2099-01-01", "-v9", "-v9:0", "@later", ":x"])
_ROUTE = st.from_regex(r"zz[a-z]{3,8}/", fullmatch=True)


@given(st.data())
def test_a_known_name_with_a_made_up_date_or_route_is_no_known_name(data: st.DataObject) -> None:
    names = [
        (provider, route, prefix, name)
        for provider, rules in rule_sets().items()
        for route in rules.get("routes")
        for prefix in rules.get("name_prefixes", [""])
        for name in rules.models[:3]
    ]
    provider, route, prefix, name = data.draw(st.sampled_from(names))
    rules = rules_of(provider)
    if rules.get("spelling") == "points":
        name = re.sub(r"(?<=\d)-(?=\d(?![\da-z]))", ".", name)
    assert rules.knows(f"{route}{prefix}{name}")
    model = data.draw(
        _DATES.map(lambda date: f"{route}{prefix}{name}{date}")
        | _ROUTE.map(lambda other: f"{other}{prefix}{name}")
        | _ROUTE.map(lambda other: f"{other}{route}{prefix}{name}")
    )
    assert not rules.knows(model)
    assert rules.figure("read_permille", model).assumed
    marks = [{"type": "text", "text": LONG, "cache_control": MARK}]
    for body in (
        {"system": marks, "messages": [turn("hi")]},
        {"system": marks * 6, "messages": [turn("hi")]},
        {"messages": [turn(LONG, "system"), turn("hi")]},
    ):
        for given_provider in ("", provider):
            found = pg.simulate_cache([body, body], model=model, provider=given_provider)
            assert {one.state for one in found.requests}.isdisjoint({"exact", "error"})


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-opus-4-5-20251101"),
        ("anthropic", "anthropic/claude-sonnet-4-5-20250929"),
        ("bedrock", "bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0"),
        ("bedrock", "anthropic.claude-opus-5"),
        ("vertex", "vertex_ai/claude-sonnet-4-5@20250929"),
        ("openrouter", "openrouter/anthropic/claude-sonnet-4.6"),
        ("openai-before-5.6", "gpt-5.5-2026-04-23"),
        ("azure", "azure/eu/gpt-6.1-sol"),
        ("xai", "xai/grok-4.5-latest"),
    ],
)
def test_a_listed_date_or_route_is_the_models_name(provider: str, model: str) -> None:
    assert rules_of(provider).knows(model)
    assert pg.simulate_cache([marked()], model=model).provider == provider


@given(st.sampled_from(sorted(ROUTES)), st.sampled_from(sorted(ROUTES)))
def test_no_provider_has_another_makers_price(provider: str, other: str) -> None:
    models = [f"{route}{name}" for route in rules_of(other).get("routes") if route
              for name in rules_of(other).models[:2]]  # fmt: skip
    for model in models:
        if (
            rules_of(provider).knows(model)
            or pg.simulate_cache([marked()], model=model).provider == provider
        ):
            continue
        found = pg.simulate_cache([marked()], model=model, provider=provider)
        assert found.price is None
        assert found.nano_dollars is None
        assert (
            found.rules is None
            or found.rules.match == "unknown"
            or ("No rule names this model" in headline(found).text)
        )


def test_of_refused_requests_no_cost_and_no_read_is_told() -> None:
    ended = [turn("done", "assistant"), turn("and now?")]
    called = {"type": "tool_use", "id": "a1", "name": "tides", "input": {"port": "Brest"}}
    result = {"type": "tool_result", "tool_use_id": "a1", "content": "high"}
    said = [turn(LONG), turn([called], "assistant"), turn([result]), *ended]
    model = "anthropic/claude-opus-4-1"
    cell = pg.simulate_cache(pg.session(said), "kimi-k2", policy="cline", model=model)
    assert [one.state for one in cell.requests] == ["exact", "error", "error"]
    refused, html = "2 of 3 requests would be refused", cell._repr_mimebundle_()["text/html"]
    assert all(refused in text for text in (repr(cell), headline(cell).text, html))
    assert "of the full price" not in repr(cell)
    assert "of uncached:" not in html and "all input, as predicted" not in html
    told = simulation_json(cell)
    assert told["outcome"] == refused
    shares = ("read_permille", "cost_permille", "nano_dollars", "uncached_nano_dollars")
    assert {told[name] for name in shares} == {None}
    assert [one.cost > 0 for one in cell.requests] == [True, False, False]
    assert cell.frame()["cost_share"].isna().tolist() == [False, True, True]
    # a request that only may be refused is still counted in full
    maybe = pg.simulate_cache(pg.session(said), "kimi-k2", model="anthropic/claude-new-9")
    assert maybe.requests[1].state == "unpredictable" and maybe.requests[1].cost > 0


def test_a_reason_names_the_place_that_the_placement_lists() -> None:
    said = [turn(LONG), turn("done", "assistant"), turn("and now?")]
    asked = pg.session(said, system="Be brief.", model="anthropic/claude-opus-4-1")
    last = pg.simulate_cache(asked, "xml", policy="cline").requests[-1]
    found = re.fullmatch(
        r"read up to the end of block \d+ \(message (\d+), part (\d+)\)", last.reason
    )
    assert found and last.hit is not None
    listed = pg.place_cache(asked, "xml", policy="cline").frame()
    here = listed[(listed.message_index == int(found[1])) & (listed.part == int(found[2]))]
    assert here.role.tolist() == ["user"] and here.marked.tolist() == [True]
    assert "message_index" in str(pg.place_cache.__doc__)


def test_exact_is_said_to_be_about_the_outcome_and_not_the_count() -> None:
    assert "says that its outcome" in str(pg.simulate_cache.__doc__)


def test_a_request_that_is_refused_is_told_by_every_answer() -> None:
    """Only the simulation said so: Hermes has no id in a result, which LiteLLM does not send to
    Anthropic."""
    session = pg.sample_sessions()["12-long-tool-run"]
    (reason,) = {each.message for each in pg.place_cache(session, "hermes").findings}
    assert "without the id of its call" in reason
    assert reason in pg.place_cache(session, "hermes").thresholds
    assert "refused-request" in repr(pg.place_cache(session, "hermes"))
    assert [each.message for each in pg.compare(session, "hermes")["hermes"].findings] == [reason]
    errors = [
        each for each in pg.simulate_cache(session, "hermes").findings if reason in each.message
    ]
    assert [each.code for each in errors] == ["refused-request"]
    with pytest.raises(pg.InputFault, match="without 'tool_call_id'"):
        pg.provider_payload(session, "hermes")
    unnamed = pg.session(session.messages, session.tools)
    unknown = pg.place_cache(session, "hermes", model="anthropic/claude-new-9")
    for fine in (pg.place_cache(session, "xml"), pg.compare(unnamed, "hermes")["hermes"], unknown):
        assert fine.findings == []
