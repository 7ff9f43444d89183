"""The cost of deferring a session's tools, over its own requests."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from terminals import run

import playground as pg
from playground.base.errors import InputFault
from playground.cache.prices import price_of
from playground.nouns.messages import Message, TextPart, ToolCallPart
from playground.nouns.wire_bodies import identity, referenced_tools
from playground.plugins.savings.deferral import SEARCH, Deferral, Loading, ToolCut, calls_of
from playground.plugins.savings.tool_plan import AS_IT_IS, ToolPlan
from playground.sessions.session import RequestRow, Session

MODEL = "claude-opus-5-5"
MARK = {"type": "ephemeral"}
Body = dict[str, Any]


def tool(name: str, **more: Any) -> Body:
    schema = {"type": "object", "properties": {"ship": {"type": "string"}}}
    return {"name": name, "description": f"{name}: the log. " * 30, "input_schema": schema, **more}


NAMES = tuple(f"log_{number}" for number in range(12))
TOOLS = [tool(name) for name in NAMES]
SYSTEM = [{"type": "text", "text": "You keep the harbour. " * 200, "cache_control": MARK}]


def conversation(calls: tuple[str, ...]) -> list[Body]:
    found: list[Body] = [{"role": "user", "content": [{"type": "text", "text": "Who is late?"}]}]
    for number, name in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": {"ship": "Aurora"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "berth 7 " * 40}
        found += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return found


def bodies(calls: tuple[str, ...], tools: list[Body] = TOOLS, model: str = MODEL) -> list[Body]:
    """A request for each turn, whose system prompt and last message are marked."""
    found = []
    for turn in range(len(calls) + 1):
        messages = copy.deepcopy(conversation(calls)[: 2 * turn + 1])
        messages[-1]["content"][-1]["cache_control"] = MARK
        head = {"model": model, "max_tokens": 9, "system": SYSTEM}
        found.append({**head, "tools": tools, "messages": messages})
    return found


def sent(rows: list[Body]) -> Session:
    task = pg.load_session(rows[0]).task
    return pg.Session(task=task, rows=tuple(RequestRow(body=each) for each in rows))


def cost(rows: list[Body]) -> int:
    return sum(one.cost for one in pg.simulate_cache(rows).requests)


def way(plan: ToolPlan, begins: str) -> Any:
    return next(row for row in plan.rows if row.name.startswith(begins))


def plain(message: Body) -> str:
    return identity("message", message)


def unloaded(messages: list[Body]) -> list[str]:
    """The messages without what loads tools."""
    found = []
    for message in messages:
        parts = message.get("content")
        kept = [p for p in parts if not _loads(p)] if isinstance(parts, list) else parts
        if kept and not _loads(message):
            found.append(plain({**message, "content": kept}))
    return found


def _loads(part: Body) -> bool:
    kind = str(part.get("type"))
    return kind in ("server_tool_use", "tool_addition") or kind.startswith("tool_search")


CALLS = st.lists(st.sampled_from(NAMES[:6]), max_size=8).map(tuple)


@given(CALLS, st.sets(st.sampled_from(NAMES)), st.integers(1, 5), st.sampled_from(
    [
        ("nothing", "by search"),
        ("nothing", "by the client"),
        ("name and description", "by search"),
    ]
))  # fmt: skip
def test_requests_with_deferred_tools_continue_each_other_and_load_each_tool_before_its_call(
    calls: tuple[str, ...], keep: set[str], found: int, way: tuple[str, Loading]
) -> None:
    left, loading = way
    deferral = Deferral(ToolCut(frozenset(keep), loading, found), left)
    said = conversation(calls)
    written: list[list[Body]] = []
    for body in bodies(calls):
        messages = body["messages"]
        answer = next(iter(said[len(messages) :]), None)
        each = deferral.rewrite(body, messages, answer)
        written += [each.messages, *([each.searched] if each.searched else [])]
        assert unloaded(each.messages) == [plain(message) for message in messages]
        first = [one for one in each.head["tools"] if not one.get("defer_loading")]
        assert {one["name"] for one in first if one.get("name") not in (None, SEARCH)} == (
            keep & set(NAMES)
        )
    for before, after in pairwise(written):
        head = [plain(message) for message in before]
        if "server_tool_use" not in head[-1]:  # a search, which the answer goes on with
            assert [plain(message) for message in after][: len(head)] == head
    loaded = set(keep)
    for message in written[-1]:
        added = message.get("tools") if message.get("type") == "tool_search_output" else ()
        names = [*referenced_tools(message), *(one["name"] for one in added or ())]
        assert loaded.isdisjoint(names)
        loaded.update(names)
        assert loaded.issuperset(calls_of(message))


def test_ways_cost_what_the_same_requests_written_by_hand_cost() -> None:
    from anthropic.types.beta import BetaRequestToolAdditionBlockParam

    calls = ("log_0", "log_0", "log_5", "log_0")
    plan = pg.plan_tools(sent(bodies(calls)), tools_per_search=1)
    assert way(plan, AS_IT_IS).cost == cost(bodies(calls))
    deferred = [tool(name, defer_loading=True) for name in NAMES if name != "log_0"]
    by_hand = bodies(calls, [TOOLS[0], *deferred])
    reference = {"type": "tool_reference", "name": "log_5"}
    added = [{"type": "tool_addition", "tool": reference}]
    TypeAdapter(BetaRequestToolAdditionBlockParam).validate_python(added[0])  # as the SDK has it
    for turn, body in enumerate(by_hand):
        if turn >= 2:  # at the end of the third request, whose answer calls it
            body["messages"].insert(5, {"role": "system", "content": added})
    client = way(plan, "deferred, loaded by the client")
    assert sorted(client.cut.keep) == ["log_0"]
    assert client.cost == cost(by_hand)
    assert client.cost < plan.rows[0].cost
    assert plan.best.cost == min(row.cost for row in plan.rows)


def test_a_search_costs_a_round_more_with_its_query_and_what_it_found() -> None:
    calls = ("log_5", "log_5", "log_5")
    searched = way(pg.plan_tools(sent(bodies(calls)), tools_per_search=2), "deferred, searched")
    found = [{"type": "tool_reference", "tool_name": name} for name in ("log_5", "log_0")]
    query: Body = {"type": "server_tool_use", "id": "search_log_5", "name": SEARCH}
    query["input"] = {"query": "log 5"}
    result: Body = {"type": "tool_search_tool_result", "tool_use_id": "search_log_5"}
    result["content"] = {"type": "tool_search_tool_search_result", "tool_references": found}
    entry = {"type": f"{SEARCH}_20251119", "name": SEARCH}
    by_hand = bodies(calls, [entry, *(tool(name, defer_loading=True) for name in NAMES)])
    for body in by_hand[1:]:
        body["messages"][1]["content"][:0] = [query, result]
    extra = copy.deepcopy(by_hand[0])
    extra["messages"].append({"role": "assistant", "content": [query, result]})
    by_hand.insert(1, extra)
    own = pg.simulate_cache(by_hand, times=[0.0, 2.0, 20.0, 40.0, 60.0]).requests
    assert sum(one.cost for one in own) == searched.cost - searched.query_cost
    assert (searched.searches, searched.query_cost > 0) == (1, True)


def test_a_list_of_tools_that_grows_breaks_the_cache_unless_its_tools_are_deferred() -> None:
    rows = bodies(("log_0", "log_0", "log_0"))
    for turn, body in enumerate(rows):
        body["tools"] = TOOLS[: 8 + turn]
    plan = pg.plan_tools(sent(rows))
    assert len(way(plan, AS_IT_IS).simulation.breaks) == 3
    assert {len(row.simulation.breaks) for row in plan.rows[1:]} == {0}
    assert [t.name for t in plan.tools if t.first is not None] == ["log_0"]
    assert set(plan.deferred) == set(NAMES[1:11])


def test_tools_that_are_written_otherwise_are_no_longer_what_was_cached() -> None:
    rows = bodies(("log_0", "log_0", "log_0"))
    for one in TOOLS[1:]:  # all but the one that is called
        schema = dict(reversed(one["input_schema"].items()))
        rows[2]["tools"] = [*rows[2]["tools"][1:], {**one, "input_schema": schema}]
    rows[2]["tools"] = [TOOLS[0], *rows[2]["tools"][1:]]
    plan = pg.plan_tools(sent(rows), tools_per_search=1)
    assert way(plan, AS_IT_IS).cost == cost(rows)
    assert len(way(plan, AS_IT_IS).simulation.breaks) == 2
    assert len(way(plan, "deferred, searched").simulation.breaks) == 0


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("deepseek/deepseek-flash", "No page says that deepseek/deepseek-flash takes deferred"),
        ("anthropic/claude-opus-5-9", "No page says that anthropic/claude-opus-5-9 takes"),
        ("gemini/gemini-4-argon", "No page says that gemini/gemini-4-argon takes deferred"),
        (
            "openrouter/anthropic/claude-opus-5-5",
            "Nothing to plan for openrouter/anthropic/claude-opus-5-5: OpenRouter's own",
        ),
        ("azure/gpt-6.1-sol", "Nothing to plan for azure/gpt-6.1-sol: no page"),
        ("nobody/knows", "No page says that nobody/knows takes"),
    ],
)
def test_where_no_dated_rule_defers_tools_the_plan_says_so(model: str, says: str) -> None:
    plan = pg.plan_tools(pg.sample_sessions()["12-long-tool-run"], model=model)
    assert plan.headline.startswith(says)
    assert [row.name for row in plan.rows] == [AS_IT_IS]
    assert plan.deferred == []


def test_what_is_assumed_is_said_and_nothing_assumed_is_exact() -> None:
    session = pg.sample_sessions()["12-long-tool-run"]
    for model in ("anthropic/claude-opus-5-5", "openai/gpt-6.1-sol", "bedrock/claude-opus-5"):
        plan = pg.plan_tools(session, model=model)
        told = plan.as_json()
        assert told["source"].endswith(("2026-11-24", "2026-11-27"))
        assert any("search finds 3 tools" in line for line in told["assumed"])
        for row in told["ways"]:
            assert row["is_assumed"] == (row["name"] != AS_IT_IS)
            assert not (row["is_assumed"] and row["states"])
    assert len(repr(plan)) < 300
    assert list(plan.frame()["way"]) == [row.name for row in plan.rows]
    assert "What deferring tools would cost" in plan.html()


def test_a_session_without_tools_has_nothing_to_plan() -> None:
    with pytest.raises(InputFault, match="the session has no tools"):
        pg.plan_tools(pg.sample_sessions()["01-plain-chat"])


def test_the_command_gives_what_the_library_gives() -> None:
    command = ("tools", "12-long-tool-run", "--plan")
    done = run(*command, "--json")
    session = pg.sample_sessions()["12-long-tool-run"]
    assert json.loads(done.stdout).items() >= pg.plan_tools(session).as_json().items()
    told = run(*command).stdout
    assert "none is cheaper than all in the prefix" in told
    assert "assumed: the model calls the same tools" in told


def test_tools_that_are_deferred_already_are_simulated_so_and_the_last_calls_count() -> None:
    """They were counted as all in the prefix, and a call of the reply as none."""
    tools = [TOOLS[0], *(tool(name, defer_loading=True) for name in NAMES[1:])]
    search = {"type": "tool_search_tool_bm25_20251119", "name": SEARCH}
    rows = bodies((NAMES[0],), [search, *tools])
    call = ToolCallPart(tool_name=NAMES[3], tool_call_id="t9", args={})
    session = sent(rows)
    session = replace(
        session, messages=(Message("user", (TextPart("a"),)), Message("assistant", (call,)))
    )
    plan = pg.plan_tools(session)
    own = plan.rows[0]
    assert [one.total for one in own.simulation.requests] == [
        one.total for one in pg.simulate_cache(rows).requests
    ]
    assert own.prefix_tokens < pg.plan_tools(sent(bodies((NAMES[0],)))).rows[0].prefix_tokens
    assert plan.headline.startswith("2 of 12 tools are called, and 11 deferred already. ")
    assert {each.name: each.calls for each in plan.tools if each.calls} == {
        NAMES[0]: 1,
        NAMES[3]: 1,
    }
    assert way(plan, "deferred, searched").searches == 2  # for the last call as well
    assert replace(plan, rows=[own]).deferred == list(NAMES[1:])


@pytest.mark.parametrize(
    ("model", "assumes"),
    [
        ("openai/gpt-6.1-sol", "Responses API"),
        ("bedrock/anthropic.claude-opus-5-5", "only by InvokeModel"),
    ],
)
def test_a_plan_says_what_it_rests_on_and_that_its_reads_are_not_certain(
    model: str, assumes: str
) -> None:
    session = pg.session(conversation(("log_0", "log_1")), TOOLS)
    plan = pg.plan_tools(session, model=model, tools_per_search=1)
    states = {one.state for one in plan.best.simulation.requests}
    assert (states != {"exact"}) == plan.headline.endswith("is not certain.")
    assert any(assumes in said for said in plan.assumed)


def test_a_request_to_another_model_is_planned_at_its_own_price() -> None:
    rows = bodies(("log_1", "log_2", "log_3"))
    for row in rows[1::2]:
        row["model"] = "claude-haiku-5-5"
    own = pg.plan_tools(sent(rows)).rows[0]
    assert [each.wire.model for each in own.simulation.row] == [row["model"] for row in rows]
    price = price_of(MODEL)
    assert price is not None and own.nano_dollars is not None
    assert price.nano_dollars(own.cost) == pytest.approx(own.nano_dollars)
    alone = pg.plan_tools(sent(rows), model=MODEL).rows[0]
    assert alone.cost > own.cost
