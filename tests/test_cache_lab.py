"""The cache lab's questions about a session: what is sent, whose policy, what if, for how much."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from conftest import ROOT

import playground as pg
from playground.base.errors import InputFault
from playground.cache.answers.headline import headline
from playground.cache.answers.simulation import cache_matrix
from playground.cache.answers.what_if import Environment, WhatIf
from playground.cache.answers.wire import cache_on_wire
from playground.cache.price_terms import terms_of
from playground.cache.prices import Price, _joined, price_of
from playground.cache.rules import rules_of
from playground.cli import main
from playground.dialects.marks.own_policies import (
    OwnPolicy,
    load_policy,
    parse_policy,
    policy_of_places,
)
from playground.llm.payloads import wire_calls
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import CacheDialect, DynamicTaskConfig, TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.sessions.native_format import dump_session
from playground.sessions.session import RequestRecord, Session

PAYLOADS: Final = ROOT.parent / "shared" / "conformance" / "litellm_payloads.json"
THREE: Final = "harbourmaster observations "  # as many tokens
EARLIER: Final = "than the earlier requests of this session can have left"
RULES: Final = THREE * 1_300
TIDES: Final = ToolMetadata(
    name="tides", description="Tides of a port.", input_schema={"type": "object", "properties": {}}
)
MOOR: Final = TIDES.model_copy(update={"name": "moor", "description": "Moor a boat."})


def session(turns: int = 4, rounds: int = 0, **more: Any) -> Session:
    """Questions and answers; before each answer so many rounds of a call and its result."""
    messages: list[Message] = []
    for turn in range(turns):
        messages.append(Message("user", (TextPart(f"question {turn} about the tides"),)))
        for number in range(rounds):
            name = f"{turn}.{number}"
            call = ToolCallPart(name, "tides", {})
            messages.append(Message("assistant", (call,)))
            messages.append(Message("tool", (ToolResultPart(name, "tides", "high " * 100),)))
        messages.append(Message("assistant", (TextPart(f"answer {turn}"),)))
    task = more.pop("task", TaskConfig(user_agent_prompt=RULES))
    tools = more.pop("tools", (TIDES, MOOR))
    return Session(task=task, tools=tools, messages=tuple(messages), **more)


def gemini(turns: int) -> Session:
    task = TaskConfig(model_name="gemini/gemini-2.5-pro", user_agent_prompt=RULES * 2)
    dynamic = DynamicTaskConfig(enable_explicit_caching=True)
    return session(turns, task=task, dynamic=dynamic)


# what is sent


@pytest.mark.skipif(
    not PAYLOADS.exists(), reason="NOT RUN: ../shared/conformance is not beside this checkout"
)
def test_every_payload_is_litellms_own() -> None:
    """All that LiteLLM can be watched sending offline, by another project's run of it."""
    equal = watched = 0
    for case in json.loads(PAYLOADS.read_text())["results"]:
        request, given = case["request"], dict(case["kwargs"])
        if "error" in request:
            continue
        watched += 1
        messages, tools = given.pop("messages"), given.pop("tools", ())
        calls = wire_calls(messages, case["model"], tools, given)
        sent = [(call.url, _without_call_ids(call.url, call.body)) for call in calls]
        equal += (request["url"], request["body"]) in sent
    assert watched >= 60
    assert equal == watched


def _without_call_ids(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """The body as the LiteLLM of that run sent it: 1.110 tells Ollama the ids of calls, too."""
    if url.endswith("/api/chat"):
        for call in (call for m in body["messages"] for call in m.get("tool_calls", ())):
            call.pop("id", None)
    return body


@pytest.mark.parametrize(
    ("model", "where"),
    [
        ("anthropic/claude-sonnet-4-5", "cache_control"),
        ("openrouter/anthropic/claude-sonnet-4.5", "cache_control"),
        ("bedrock/anthropic.claude-3-7-sonnet-20250219-v1:0", "cachePoint"),
    ],
)
@pytest.mark.parametrize("dialect", ["native", "xml"])
def test_marks_arrive_in_the_providers_own_form(model: str, where: str, dialect: str) -> None:
    task = TaskConfig(model_name=model, user_agent_prompt=RULES)
    found = cache_on_wire(session(2, 2, task=task), dialect, policy="claude-code")
    assert len(found.marks) == 3
    assert json.dumps(found.calls[-1].body).count(f'"{where}"') == 3
    assert found.findings == []
    assert found.cached == []


def test_two_of_three_marks_never_reach_gemini() -> None:
    """LiteLLM keeps the first run of marked messages: from three questions on, the system alone."""
    found = cache_on_wire(gemini(4), "xml", policy="azad")
    assert [call.method for call in found.calls] == ["GET", "POST", "POST"]
    assert [block.tier for block in found.cached] == ["system", "messages"]
    assert found.cached[1].text == "."  # LiteLLM's own filler: a cache must have contents
    assert {block.tier for block in found.sent} == {"messages"}
    assert [one.code for one in found.findings] == ["mark-lost"] * 2


def test_one_question_is_cached_with_the_system_on_gemini() -> None:
    asked = replace(gemini(1), messages=gemini(1).messages[:1])
    found = cache_on_wire(asked, "xml", policy="system-and-last-two-users")
    assert [block.role for block in found.cached] == ["system", "user"]
    assert found.findings == []


def test_openai_is_sent_no_marks_and_that_is_told() -> None:
    task = TaskConfig(model_name="openai/gpt-4o", user_agent_prompt=RULES)
    everything = OwnPolicy.model_validate({"name": "both", "marks": [{"role": ["system", "user"]}]})
    found = cache_on_wire(session(2, task=task), "native", policy=everything.policy())
    assert found.marks == []
    assert [(one.code, one.where) for one in found.findings] == [("mark-lost", "message 3 part 0")]


def test_openai_from_5_6_on_is_sent_breakpoints_of_its_own() -> None:
    task = TaskConfig(model_name="openai/gpt-5.6", user_agent_prompt=RULES)
    both = OwnPolicy.model_validate(
        {"name": "both", "marks": [{"role": "system"}, {"role": "user"}]}
    )
    found = cache_on_wire(session(2, task=task), "native", policy=both.policy())
    assert json.dumps(found.calls[-1].body).count('"prompt_cache_breakpoint": {"mode"') == 2
    assert len(found.marks) == 2
    assert found.findings == []


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("vertex_ai/gemini-2.5-pro", "not known to stay offline"),
        ("no-such-model", "LiteLLM does not know its provider"),
    ],
)
def test_a_model_that_cannot_be_watched_is_one_clear_error(model: str, why: str) -> None:
    with pytest.raises(InputFault, match=why) as caught:
        wire_calls([{"role": "user", "content": "q"}], model)
    assert model in str(caught.value)
    assert "expected a LiteLLM model name of one of these providers" in str(caught.value)


def test_a_request_that_is_refused_needs_another_request_and_no_other_provider() -> None:
    messages = [{"role": "captain", "content": "q"}]
    with pytest.raises(InputFault, match=r"LiteLLM refuses it: \w") as caught:
        wire_calls(messages, "anthropic/claude-sonnet-4-5")
    assert str(caught.value).endswith("expected a request that LiteLLM accepts, or another model")


def test_the_messages_are_left_as_they_were() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "q", "cache_control": {}}]}]
    before = json.dumps(messages)
    wire_calls(messages, "openai/gpt-4o")
    assert json.dumps(messages) == before


# own policies


def test_a_policy_from_a_file_marks_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "tail.json"
    path.write_text(
        '{"name": "tail", "marks": [{"role": "system", "ttl": "1h"},'
        ' {"role": ["user", "tool"], "nth": -1}, {"role": "user", "nth": 7}]}'
    )
    policy = load_policy(path)
    found = pg.simulate_cache(session(3, 2), dialect="native", policy=policy)
    assert found.policy == "tail"
    assert found.requests[0].written.keys() == {"1h", "5m"}
    assert found.cost_permille < 500
    placed = pg.place_cache(session(3, 2), "native", policy=policy)
    assert [(p.role, p.decision.ttl) for p in placed.marks] == [("system", "1h"), ("tool", "")]
    rendered = pg.get_dialect("native").with_policy(policy).render(session(1).prompt_data())
    assert rendered.messages[0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_a_clicked_policy_is_a_file_and_marks_the_like_in_other_requests() -> None:
    messages = pg.get_dialect("xml").render(session(3).prompt_data()).messages
    users = [i for i, message in enumerate(messages) if message["role"] == "user"]
    own = policy_of_places("clicked", messages, [(0, 0), (users[-2], 0), (users[-1], 0)])
    again = parse_policy(own.dumps(), "x").policy()
    same = pg.simulate_cache(session(3), dialect="xml", policy="system-and-last-two-users")
    assert pg.simulate_cache(session(3), dialect="xml", policy=again).requests == same.requests


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("{", ""),
        ('{"name": "a"}', "marks"),
        ('{"name": "a", "marks": [{"role": "robot"}]}', "marks.0.role.0"),
        ('{"name": "a", "marks": [{"role": []}]}', "marks.0.role"),
        ('{"name": "a", "marks": [{"role": "user", "ttl": "2h"}]}', "marks.0.ttl"),
        ('{"name": "a", "marks": [{"role": "user", "last": 1}]}', "marks.0.last"),
        ('{"name": "<b>", "marks": []}', "name"),
        ('{"name": "azad", "marks": []}', "name"),
        (f'{{"name": "a", "marks": {[{"role": "user"}] * 21}}}'.replace("'", '"'), "marks"),
        (" " * 70_000, ""),
    ],
)
def test_a_bad_policy_file_is_one_clear_error(tmp_path: Path, given: str, field: str) -> None:
    path = tmp_path / "own.json"
    path.write_text(given)
    with pytest.raises(InputFault) as caught:
        load_policy(path)
    assert str(path) in str(caught.value)
    assert (f"field {field}:" in str(caught.value)) == bool(field)
    assert "; expected " in str(caught.value)
    with pytest.raises(InputFault, match="expected a policy's JSON file"):
        load_policy(tmp_path / "none.json")


# what if


PLACES: Final[tuple[Environment, ...]] = ("none", "after", "persisted", "inside")


def cost(what_if: WhatIf, given: Session | None = None, policy: str = "azad", **more: Any) -> int:
    given = given or session(6)
    found = pg.simulate_cache(given, dialect="xml", policy=policy, what_if=what_if, **more)
    return found.cost_permille


def test_where_the_environment_stands_is_a_price() -> None:
    """Persisted is cheapest of all but none, as measured in research; inside breaks each turn."""
    several = session(8)
    none, after, persisted, inside = (cost(WhatIf(environment=where), several) for where in PLACES)
    assert none < persisted < after
    assert after <= inside
    rolling = "automatic"  # one mark on the last part
    assert cost(WhatIf(environment="inside"), several, rolling) > 1000
    assert cost(WhatIf(environment="persisted"), several, rolling) < 350
    assert cost(WhatIf(), several) == none  # this session has no such block


def test_a_sessions_own_environment_block_is_moved() -> None:
    own = session(3, dynamic=DynamicTaskConfig(dynamic_environment_details_block="ENVIRONMENT"))
    said: dict[str, int] = {}
    everywhere: list[Environment] = [*PLACES, "as it is"]
    for where in everywhere:
        found = pg.simulate_cache(own, dialect="xml", what_if=WhatIf(environment=where))
        said[where] = [b.text for b in found.row[-1].wire.blocks].count("ENVIRONMENT")
    assert said == {"none": 0, "after": 1, "persisted": 3, "inside": 1, "as it is": 1}


def test_shuffled_tools_and_a_timestamp_cost_more_than_no_cache() -> None:
    tools = tuple(TIDES.model_copy(update={"name": f"tides_{n}"}) for n in range(9))
    for change, code in (
        (WhatIf(shuffled_tools=True), "tool-order"),
        (WhatIf(timestamp=True), "volatile-system"),
    ):
        found = pg.simulate_cache(session(6, tools=tools), dialect="native", what_if=change)
        assert found.cost_permille > 1000
        assert code in {one.code for one in found.findings}


def test_an_hour_pays_where_requests_are_far_apart() -> None:
    apart = 400.0
    assert cost(WhatIf(ttl="1h"), seconds_apart=apart) < 1000
    assert cost(WhatIf(), seconds_apart=apart) > 1000
    assert cost(WhatIf(ttl="1h")) > cost(WhatIf())


def test_rounds_become_parallel_calls() -> None:
    loop = session(1, 50)
    found = pg.simulate_cache(loop, dialect="native", what_if=WhatIf(parallel=25))
    assert len(found.requests) == 3  # two turns of 25 calls, and the answer
    kinds = [block.kind for block in found.row[-1].wire.blocks]
    assert kinds.count("tool_use") == kinds.count("tool_result") == 50
    first = kinds.index("tool_use")
    assert kinds[first : first + 26] == ["tool_use"] * 25 + ["tool_result"]
    narrow = pg.simulate_cache(loop, dialect="native", policy="automatic", provider="bedrock")
    wide = pg.simulate_cache(
        loop,
        dialect="native",
        policy="automatic",
        provider="bedrock",
        what_if=WhatIf(parallel=25),
    )
    assert narrow.cost_permille < 500
    assert wide.cost_permille == 1250  # every mark is further away than it looks
    assert "lookback-overflow" in {one.code for one in wide.findings}


def test_a_change_that_there_is_none_of_is_one_clear_error() -> None:
    with pytest.raises(InputFault, match="environment 'before'; expected one of as it is, none"):
        WhatIf(environment="before")  # type: ignore[arg-type]
    with pytest.raises(InputFault, match="0 rounds in a turn; expected 1 to 100"):
        WhatIf(parallel=0)


# how sure, and for how much


def test_tokens_near_the_minimum_are_called_unpredictable() -> None:
    def one(characters: int) -> Any:
        task = TaskConfig(user_agent_prompt="tide " * (characters // 5))
        chat = replace(session(3, task=task), tools=())
        return pg.simulate_cache(chat, dialect="native", policy="system-only")

    sure, unsure, short = one(30_000), one(4_500), one(100)
    assert {request.state for request in sure.requests} == {"exact"}
    assert {request.state for request in unsure.requests} == {"unpredictable"}
    assert "may or may not reach the minimum of 1,024" in unsure.requests[0].reason
    assert unsure.requests[1].reason.endswith("may have been too short to leave an entry")
    assert {request.state for request in short.requests} == {"exact"}  # surely too short


def test_an_estimate_is_a_range_and_a_bill_is_not() -> None:
    body = {
        "model": "claude-sonnet-4-5",
        "messages": [{"role": "user", "content": RULES}],
        "cache_control": {"type": "ephemeral"},
    }
    estimated = pg.simulate_cache([body]).row[0]
    low, high = estimated.total_range
    assert (low, estimated.total, high) == (3319, 4299, 5867)
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 3500,
        "cache_read_input_tokens": 0,
    }
    read = usage | {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 3500}
    found = pg.simulate_cache([body, body], usages=[usage, read])
    assert found.row[0].total_range == (3504, 3504)
    assert [(one.read, one.anchored, one.state) for one in found.requests] == [
        (0, True, "exact"),
        (3500, True, "exact"),
    ]
    warm = pg.simulate_cache([body], usages=[read]).requests[0]
    assert warm.state == "warm-start"
    told = "1 usages are given for 2 requests; expected one for each request"
    with pytest.raises(InputFault, match=told):
        pg.simulate_cache([body, body], usages=[usage])


def test_a_session_is_simulated_at_the_times_that_it_noted_beside_its_bill() -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 4500,
        "cache_creation_input_tokens": 40,
    }
    records = tuple(
        RequestRecord(reply=2 * turn + 1, at=f"2026-01-05T1{turn}:00:00Z", usage=usage)
        for turn in range(3)
    )
    noted = replace(session(3), requests=records)
    found = pg.simulate_cache(noted, dialect="native")
    assert [request.at for request in found.row] == [0.0, 3600.0, 7200.0]
    assert [request.read for request in found.requests] == [0, 0, 0]  # an hour apart
    assert [(one.read, one.write, one.uncached) for one in found.billed if one] == [
        (4500, 40, 3)
    ] * 3
    assert pg.simulate_cache(noted, seconds_apart=20).requests[1].read > 0
    assert [request.state for request in found.requests] == ["warm-start", *["unpredictable"] * 2]
    assert "4,500 tokens cached before this first request were billed as read" in found.why(0)
    cold = replace(records[0], usage={"input_tokens": 3, "cache_creation_input_tokens": 4540})
    fresh = pg.simulate_cache(replace(noted, requests=(cold, *records[1:])), dialect="native")
    assert {request.state for request in fresh.requests} == {"exact"}
    much = tuple(replace(one, usage={**usage, "input_tokens": 90_000}) for one in records)
    unlike = pg.simulate_cache(replace(noted, requests=much), dialect="native").requests[0]
    assert unlike.state == "unpredictable"  # the harness sent more than it wrote down
    assert "94,540 tokens were billed, but the session holds 3," in unlike.reason
    alone = session(1, task=TaskConfig(), tools=())
    short = replace(alone, requests=(replace(records[0], usage=cold.usage),))
    brief = pg.simulate_cache(short, dialect="native")  # it holds a part of the marked prefix
    shown = "the bill shows 4,540 cached tokens, the session holds 101 to 189"
    assert (brief.requests[0].state, brief.why(0)) == ("unpredictable", shown)
    assert "below-minimum" not in {each.code for each in brief.findings}
    some = replace(noted, requests=records[:2])
    assert [request.at for request in pg.simulate_cache(some).row] == [0.0, 3600.0, 3600.0]
    one = replace(noted, requests=records[:1])
    assert [request.at for request in pg.simulate_cache(one).row] == [0.0, 20.0, 40.0]
    assert pg.simulate_cache(some).billed[2] is None
    backwards = replace(
        noted, requests=(records[0], replace(records[1], at="2026-01-04"), records[2])
    )
    assert pg.simulate_cache(backwards).requests[1].finding == "clock-backwards"


def test_a_sessions_own_bill_stands_before_what_is_predicted() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 2700,
        "cache_creation_input_tokens": 290,
    }
    noted = replace(session(1), requests=(RequestRecord(reply=1, usage=usage),))
    found = pg.simulate_cache(noted, dialect="native")
    told = headline(found).text
    assert told.startswith("Billed: 90 % of 3,000 input tokens were read from the cache. ")
    others = "in the cache: something else with the same beginning ran shortly before."
    assert f"The bill of one request shows more cached tokens {EARLIER} {others}" in told
    assert told.endswith(headline(replace(found, billed=(), paid=None)).text)


def test_reads_above_what_the_session_could_leave_are_explained_by_its_first_bill() -> None:
    """It was said to be cached before, although the first request had read nothing."""
    written = {"input_tokens": 4, "cache_creation_input_tokens": 4_500}
    read = {**written, "cache_read_input_tokens": 4_500}
    asked = (Message("user", (TextPart(text),)) for text in ("hi", THREE * 5_000))
    answer = Message("assistant", (TextPart("yes"),))
    cold = Session(
        messages=(next(asked), answer, next(asked), answer),
        requests=(RequestRecord(reply=1, usage=written), RequestRecord(reply=3, usage=read)),
    ).with_model("claude-sonnet-4-5")
    more = f"The bill of one request shows more cached tokens {EARLIER} in the cache: "
    assert (
        f"{more}request 1 read nothing, so the session lacks part of what was sent (it has no "
        "system prompt and no tools)." in headline(pg.simulate_cache(cold)).text
    )
    instructed = replace(cold, task=cold.task.model_copy(update={"user_agent_prompt": "Be brief."}))
    told = headline(pg.simulate_cache(instructed)).text
    assert f"{more}request 1 read nothing, so the session lacks part of what was sent." in told
    told = headline(pg.simulate_cache(cold, model="gpt-4o-mini")).text  # which promises no read
    others = "something else with the same beginning ran shortly before"
    assert f"{more}{others}, or the session lacks part of what was sent" in told


def test_a_transcript_that_holds_less_than_was_billed_is_not_advised_by_its_length() -> None:
    """A file billed as read at 92 % was told 46 %, and to mark a later part."""
    usage = {
        "input_tokens": 25,
        "cache_read_input_tokens": 9_200,
        "cache_creation_input_tokens": 775,
    }
    short = Session(
        messages=(Message("user", (TextPart("hi"),)), Message("assistant", (TextPart("yes"),))),
        requests=(RequestRecord(reply=1, usage=usage),),
    )
    found = pg.simulate_cache(short, model="anthropic/claude-sonnet-4-5", dialect="native")
    assert "below-minimum" not in {each.code for each in found.findings}
    verdict, told = headline(found)
    assert verdict == "idle"
    assert told.startswith("Billed: 92 % of 10,000 input tokens were read from the cache. ")
    held = sum(one.total for one in found.requests)
    assert f"The session holds about {held} of them. What follows is about the tokens" in told
    unbilled = pg.simulate_cache(replace(short, requests=()), model=found.model, dialect="native")
    assert "below-minimum" in {each.code for each in unbilled.findings}


def test_prices_come_from_litellms_map_with_their_origin() -> None:
    price = price_of("anthropic/claude-sonnet-4-5")
    assert price is not None
    assert price.source.startswith("LiteLLM ")
    assert price.nano_dollars(1_000_000) == 1000 * 3_000  # a thousand tokens at $3 a million
    assert price_of("no-such-model") is None
    gpt = pg.simulate_cache(session(3), model="openai/gpt-4o")
    assert gpt.rules is not None
    figure = gpt.rules.figure("read_permille", "openai/gpt-4o")
    assert figure.value == 500
    assert "cost map" in figure.source
    claude = rules_of("anthropic").figure("minimum_tokens", "claude-opus-4-5")
    assert (claude.value, claude.source[-10:]) == (4096, "2026-10-08")
    found = pg.simulate_cache(session(3), dialect="native")
    assert found.nano_dollars == sum(one.cost for one in found.requests) * 3
    assert isinstance(found.nano_dollars, int)
    assert (
        pg.simulate_cache(session(3), model="nobody/knows", provider="anthropic").nano_dollars
        is None
    )


def test_a_price_has_the_minimum_of_litellms_map() -> None:
    """A name that was changed by mistake had lost every minimum, and no test saw it."""
    spec = find_spec("litellm")
    assert spec and spec.origin
    file = Path(spec.origin).with_name("model_prices_and_context_window_backup.json")
    stated = {
        name: entry["prompt_cache_min_tokens"]
        for name, entry in json.loads(file.read_bytes()).items()
        if "prompt_cache_min_tokens" in entry and "input_cost_per_token" in entry
    }
    prices = {name: price_of(name) for name in stated}
    found = {
        name: price.minimum for name, price in prices.items() if price and "map" in price.source
    }
    assert len(found) > 100
    assert found == {name: stated[name] for name in found}


@pytest.mark.parametrize(
    ("model", "provider", "tokens", "settings", "words"),
    [
        ("gemini-2.5-pro", "gemini", 200_000, {}, ()),
        ("gemini-2.5-pro", "gemini", 300_000, {}, ("300,000 tokens: 2.00 times the list price",)),
        (
            "gpt-5.1",
            "openai",
            3_000,
            {"service_tier": "priority"},
            ("3,000 tokens, service tier priority: 2.00 times the list price",),
        ),
    ],
)
def test_a_price_that_is_not_the_lists_is_said(
    model: str, provider: str, tokens: int, settings: dict[str, str], words: tuple[str, ...]
) -> None:
    price = price_of(model)
    assert price
    assert terms_of(price, rules_of(provider), model, tokens, settings).words == words


def test_the_feed_adds_to_the_map_what_the_map_lacks() -> None:
    listed = Price("map", 100, read=None, output=None, tiers=(("a", 1),))
    feed = Price("feed", 100, read=10, output=500, tiers=(("a", 2), ("b", 3)))
    both = Price("map; feed", 100, read=10, output=500, tiers=(("a", 1), ("b", 3)))
    assert _joined(listed, feed) == both
    assert _joined(both, feed) == both
    other = replace(feed, uncached=101)
    assert _joined(listed, other).source.startswith("map; sources disagree: $0.000101, read ")
    assert replace(_joined(listed, other), source="map") == listed


def test_prices_are_read_without_litellm() -> None:
    code = "import sys, playground.cache.prices as p; p.price_of('gpt-4o'); "
    command = [sys.executable, "-c", code + "print('litellm' in sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_matrix_takes_policies_of_ones_own() -> None:
    own = OwnPolicy.model_validate({"name": "mine", "marks": [{"role": "system"}]}).policy()
    cells = cache_matrix(session(3), ["native", "xml"], policies=[own, "system-only"])
    costs = {(cell.dialect, cell.policy): cell.cost_permille for cell in cells}
    assert costs["native", "mine"] == costs["native", "system-only"]
    assert costs["xml", "mine"] == costs["xml", "system-only"]
    three = cache_matrix(session(3), ["native"], policies=["claude-code", "system-only", "none"])
    assert sorted(cell.cost_permille for cell in three) == [484, 486, 1000]
    assert repr(three).startswith("CacheMatrix(cost 0.484 to 1.00 of the full price: native under ")


def test_the_cache_dialect_is_still_the_sessions() -> None:
    dynamic = DynamicTaskConfig(cache_dialect=CacheDialect.GEMINI)
    refused = pg.simulate_cache(session(3, dynamic=dynamic), dialect="xml", policy="azad")
    assert {one.breakpoints for one in refused.requests} == {()}


# Gemini's explicit cache


def marked_body(turns: int, *marked: int) -> dict[str, Any]:
    """A Gemini request whose messages with these numbers are marked; 0 is the system prompt."""
    said = [("system", RULES), *(("user", f"q{n}") for n in range(turns))]
    mark = {"type": "ephemeral"}
    messages = [
        {
            "role": role,
            "content": [
                {"type": "text", "text": text, **({"cache_control": mark} if here else {})}
            ],
        }
        for n, (role, text) in enumerate(said)
        for here in [n in marked]
    ]
    return {"model": "gemini/gemini-2.5-pro", "messages": messages}


def test_an_explicit_gemini_cache_is_made_stored_and_read_whole() -> None:
    row = [marked_body(turns, 0) for turns in (1, 2, 3)]
    one, two, three = pg.simulate_cache(row).requests
    assert (one.read, one.written, one.uncached) == (0, {"1h": 3903}, 3)
    assert one.cost == 3903 * 1000 + 3000 + 3903 * 3600  # an hour's storage
    assert [two.read, three.read] == [3903, 3903]
    assert [two.uncached, three.uncached] == [6, 9]
    assert one.state == two.state == "exact"
    late = pg.simulate_cache(row, seconds_apart=2000).requests
    assert [request.read for request in late] == [0, 3903, 0]  # reading does not lengthen its life
    plain = [marked_body(turns) for turns in (1, 2, 3)]
    assert {request.state for request in pg.simulate_cache(plain).requests} == {"eligible"}


def test_an_explicit_cache_lives_as_long_as_its_mark_says() -> None:
    request = marked_body(1, 0)
    request["messages"][0]["content"][0]["cache_control"] = {"type": "ephemeral", "ttl": "2h"}
    found = pg.simulate_cache([request, request], seconds_apart=7000).requests
    assert [one.read for one in found] == [0, 3903]
    assert found[0].cost == 3903 * 1000 + 3000 + 3903 * 7200


def test_marks_behind_a_gap_make_no_explicit_cache_of_their_own() -> None:
    gap = pg.simulate_cache([marked_body(3, 0, 2, 3)]).requests[0]
    assert gap.written == {"1h": 3903}
    run = pg.simulate_cache([marked_body(3, 0, 1, 2)]).requests[0]
    assert run.written == {"1h": 3909}


def test_an_explicit_cache_may_not_end_with_an_answer() -> None:
    answered = marked_body(2, 0, 1)
    answered["messages"][1]["role"] = "assistant"
    (one,) = pg.simulate_cache([answered]).requests
    assert "the marked part may not end with an answer or a result" in one.reason
    assert (one.written, one.uncached) == ({}, 3909)


def test_a_marked_tool_alone_makes_no_explicit_cache() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}, **mark}
    (one,) = pg.simulate_cache([{**marked_body(1), "tools": [tool]}]).requests
    assert one.reason.startswith("no explicit cache, no message is marked; ")


def test_a_marked_block_that_is_too_short_is_left_to_the_implicit_cache() -> None:
    short = {
        "model": "gemini/gemini-2.5-pro",
        "messages": [
            {
                "role": "system",
                "content": [
                    {"type": "text", "text": THREE * 33, "cache_control": {"type": "ephemeral"}}
                ],
            },
            {"role": "user", "content": RULES},
        ],
    }
    one, two = pg.simulate_cache([short, short]).requests
    assert one.reason.startswith("no explicit cache, about 102 tokens are marked, the minimum is 2")
    assert two.state == "eligible"


def test_a_simulation_shows_itself_in_a_notebook() -> None:
    hostile = session(2, task=TaskConfig(model_name="claude-<b>", user_agent_prompt=RULES))
    found = pg.simulate_cache(hostile, provider="anthropic")
    bundle = found._repr_mimebundle_()
    assert "of the uncached price" in bundle["text/plain"]
    assert "claude-<b>" not in bundle["text/html"]
    assert list(found.frame()["request"]) == [1, 2]


MODELS: Final = [
    "anthropic/claude-sonnet-4-5",
    "bedrock/anthropic.claude-3-7-sonnet-20250219-v1:0",
    "bedrock/converse/us.amazon.nova-pro-v1:0",
    "cohere_chat/command-r-plus",
    "deepseek/deepseek-chat",
    "gemini/gemini-2.5-pro",
    "groq/llama-3.3-70b-versatile",
    "mistral/mistral-large-latest",
    "ollama/llama3.1",
    "ollama_chat/llama3.1",
    "openai/gpt-4o",
    "openai/gpt-5.6",
    "openrouter/anthropic/claude-sonnet-4.5",
    "together_ai/meta-llama/Llama-3-8b-chat-hf",
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("stream", [False, True])
def test_no_socket_is_opened_behind_the_closed_door(
    model: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def refuse(*given: Any, **more: Any) -> Any:
        asked.append(given[:2])
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    tools = [{"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}]
    calls = wire_calls([{"role": "user", "content": RULES}], model, tools, {"stream": stream})
    assert calls
    assert asked == []


def test_explicit_caching_is_switched_in_session_library_and_command(tmp_path: Path) -> None:
    """It took `dataclasses.replace` of a session's dynamic configuration."""
    turns = [("user", "x" * 16_500), ("assistant", "k"), ("user", "more")]
    said = [{"role": role, "content": text} for role, text in turns]
    plain = pg.session(said, model="gemini/gemini-2.5-pro")
    on = pg.session(said, model="gemini/gemini-2.5-pro", explicit_caching=True)
    refusal = pg.place_cache(plain, "xml").refusal
    assert refusal is not None
    assert refusal.reason == "explicit-caching-off"
    marks = [part.message for part in pg.place_cache(on, "xml").marks]
    assert marks
    placed = pg.place_cache(plain, "xml", explicit_caching=True)
    assert [part.message for part in placed.marks] == marks
    assert not pg.place_cache(on, "xml", explicit_caching=False).marks
    path = tmp_path / "s.json"
    path.write_text(dump_session(plain), encoding="utf-8")
    for flags, count in (([], 0), (["--explicit-caching"], len(marks))):
        done = CliRunner().invoke(main, ["cache", str(path), "-d", "xml", "--json", *flags])
        (found,) = json.loads(done.stdout)
        assert sum(decision["marked"] for decision in found["decisions"]) == count
