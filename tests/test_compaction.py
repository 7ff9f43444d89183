"""Shortened histories: what is cut, what that costs, checked by simulating what is sent then."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_provider import Provider
from terminals import run
from test_pages import page

import playground as pg
from playground.base.errors import InputFault
from playground.plugins.savings.compacted import CompactionWhatIf
from playground.plugins.savings.shortening import (
    CLEARED,
    EVERYTHING,
    by_length,
    cleared,
    has_result,
    shortening,
    shortenings,
)
from playground.sessions.session import RequestRecord, RequestRow, Session

MODEL = "claude-sonnet-4-5"
LONG = "The tide turns at noon, and again at midnight, as it has always done. " * 100
TURNS = 12


def messages(turns: int) -> list[dict[str, Any]]:
    """A task and so many rounds of a call and its long result."""
    found: list[dict[str, Any]] = [{"role": "user", "content": f"Read the log. {LONG}"}]
    for turn in range(turns):
        use = {"type": "tool_use", "id": f"t{turn}", "name": "read", "input": {"page": turn}}
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": f"{turn} {LONG}"}
        found += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return found


def body(history: list[dict[str, Any]]) -> dict[str, Any]:
    """A request whose system prompt and last message are marked."""
    system = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    marked = copy.deepcopy(history)
    return {"model": MODEL, "system": system, "messages": marked,
            "cache_control": {"type": "ephemeral"}}  # fmt: skip


BODIES = [body(messages(turn)) for turn in range(TURNS)]


def sent() -> Session:
    """The same as a session that was brought as it was sent."""
    session = pg.load_session(BODIES[0])
    rows = tuple(RequestRow(body=each) for each in BODIES)
    return pg.Session(task=session.task, messages=session.messages, rows=rows)


def by_hand(keep: int) -> list[dict[str, Any]]:
    """Each request with all but the newest results cleared, written without the policy."""
    found = []
    for turn in range(TURNS):
        history = messages(turn)
        for old in range(max(0, turn - keep)):
            history[2 + 2 * old]["content"][0]["content"] = CLEARED
        found.append(body(history))
    return found


def row(found: CompactionWhatIf, name: str) -> Any:
    return next(each for each in found.rows if each.policy.name == name)


def test_the_arithmetic_is_that_of_the_shortened_session_itself() -> None:
    found = pg.compaction(sent(), policies=["drop old results"], keep=2)
    shorter = row(found, "drop old results")
    assert shorter.bodies == by_hand(2)
    whole, cut = pg.simulate_cache(BODIES), pg.simulate_cache(by_hand(2))
    assert found.everything.simulation.requests == whole.requests
    assert shorter.simulation.requests == cut.requests
    # what a turn saves, and from when on it is more than it cost, told from the two alone
    turns = [a.cost - b.cost for a, b in zip(whole.requests, cut.requests, strict=True)]
    assert found.saved(shorter) == [sum(turns[: n + 1]) for n in range(TURNS)]
    below = [n for n in range(TURNS) if sum(turns[: n + 1]) < 0]
    paid = None if sum(turns) < 0 else below[-1] + 1 if below else 3
    assert found.pays_back(shorter) == paid
    assert shorter.tokens == [one.total for one in cut.requests]
    assert [each.turn for each in shorter.cuts] == list(range(3, TURNS))
    # a result of some 1,000 tokens is a line then: what followed it is no prefix any more
    for each in shorter.cuts:
        before, after = cut.requests[each.turn - 1], cut.requests[each.turn]
        assert after.read <= before.total - each.lost
        assert each.shorter == whole.requests[each.turn].total - after.total
        assert (each.survive, each.marks) == (1, 2)  # the system prompt's, not the last message's


def test_a_provider_that_shares_no_code_bills_every_policys_requests_alike() -> None:
    """Its tokens are others: what is read, of all that is sent, is the same to a fiftieth."""
    found = pg.compaction(sent(), keep=2, limit=6_000)
    assert sum(bool(each.cuts) for each in found.rows) >= 4
    for each in found.rows:
        provider, read, total = Provider(), 0, 0
        for asked, simulated in zip(each.bodies, each.simulation.requests, strict=True):
            provider.now += 20
            status, usage = provider.anthropic(copy.deepcopy(asked))
            assert status == 200, usage
            assert bool(usage["cache_read_input_tokens"]) == bool(simulated.read), each.policy.name
            read += usage["cache_read_input_tokens"]
            total += sum(usage[key] for key in usage if key.endswith("input_tokens"))
        ours = each.simulation.requests
        share = sum(r.read for r in ours) / sum(r.total for r in ours)
        assert share == pytest.approx(read / total, abs=0.02), each.policy.name


def test_keeping_everything_is_the_simulation_of_the_session() -> None:
    session = pg.sample_sessions()["12-long-tool-run"]
    found = pg.compaction(session)
    whole = pg.simulate_cache(session, policy="claude-code")
    assert found.everything.total == sum(one.cost for one in whole.requests)
    assert found.everything.cuts == [] and found.pays_back(found.everything) is None
    assert [each.policy.name for each in found.rows] == [each.name for each in shortenings(1)]


def test_each_request_is_simulated_and_priced_for_its_own_model() -> None:
    session = pg.sample_sessions()["12-long-tool-run"].with_model("claude-opus-4-8")
    names = ["claude-opus-4-8", "claude-haiku-4-5"]
    requests = tuple(
        RequestRecord(reply=reply, model=names[number % 2])
        for number, reply in enumerate(session.replies)
    )
    mixed = replace(session, requests=requests)
    found, whole = pg.compaction(mixed), pg.simulate_cache(mixed, policy="claude-code")
    everything = found.everything.simulation
    assert [sent.wire.model for sent in everything.row] == [one.model for one in requests]
    assert whole.nano_dollars is not None and everything.nano_dollars == whole.nano_dollars
    assert found.dollars(found.everything.total) == pytest.approx(whole.nano_dollars / 1e9)
    assert any("its own model: claude-opus-4-8, claude-haiku-4-5" in note for note in found.notes)
    alone = pg.compaction(mixed, model=names[1]).everything.simulation
    assert {sent.wire.model for sent in alone.row} == {names[1]}


def test_a_summary_is_a_request_of_its_own_and_its_answer_is_paid() -> None:
    session = sent()
    found = pg.compaction(
        session, policies=["summarise at limit"], limit=8_000, keep=2, summary=400
    )
    shorter = row(found, "summarise at limit")
    again = pg.simulate_cache(
        shorter.bodies,
        times=[turn * 20 - 2 * (turn == later) for turn, later in
               zip(shorter.turns, [*shorter.turns[1:], -1], strict=True)],
    )  # fmt: skip
    assert shorter.simulation.requests == again.requests
    assert len(shorter.bodies) == TURNS + len(shorter.cuts)
    first = shorter.cuts[0].turn
    index = shorter.turns.index(first)
    asked, after = shorter.bodies[index], shorter.bodies[index + 1]
    assert asked["messages"][-1]["content"].startswith("Summarise")
    assert after["messages"][0] == BODIES[0]["messages"][0]
    assert after["messages"][1]["content"].startswith("Summary 1: ")
    # $15 a million tokens of output, $3 of input: five tokens of input for each of the summary
    costs = sum(one.cost for one in again.requests) + len(shorter.cuts) * 400 * 5_000
    assert shorter.total == costs


def test_the_best_effort_providers_read_what_is_left_of_the_prefix() -> None:
    found = pg.compaction(sent(), policies=["drop old results"], model="gpt-4o", keep=2)
    shorter = row(found, "drop old results")
    outcomes = shorter.simulation.requests
    for each in shorter.cuts:
        kept = outcomes[each.turn - 1].total - each.lost
        assert outcomes[each.turn].read == kept // 128 * 128


@pytest.mark.parametrize("name", [each.name for each in shortenings(1)])
@given(st.lists(st.sampled_from("uacr"), max_size=24), st.integers(0, 6), st.integers(0, 400))
def test_no_result_loses_its_call_and_the_task_stays(
    name: str, shape: list[str], keep: int, limit: int
) -> None:
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "task"},
    ]
    policy = shortening(name, limit, keep)
    for number, kind in enumerate(shape):
        if kind == "u":
            history.append({"role": "user", "content": f"more {number} " * 9})
        elif kind == "a":
            history.append({"role": "assistant", "content": "Well. " * 9})
        else:
            call = {"id": f"c{number}", "type": "function", "function": {"name": "f"}}
            calls = [call, {**call, "id": f"d{number}"}] if kind == "r" else [call]
            history.append({"role": "assistant", "content": None, "tool_calls": calls})
            history += [{"role": "tool", "tool_call_id": each["id"], "content": "x " * 40}
                        for each in calls]  # fmt: skip
        before = copy.deepcopy(history)
        found = policy.request(history, by_length, 10).messages
        assert history == before  # what is sent is cut, not what the client has
        assert found[:2] == history[:2]
        known: set[str] = set()
        for message in found:
            known |= {each["id"] for each in message.get("tool_calls") or ()}
            assert message["role"] != "tool" or message["tool_call_id"] in known
    if name == EVERYTHING:
        assert policy.request(history, by_length, 10).messages == history


def test_results_of_every_api_are_cleared() -> None:
    for message in (
        {"role": "tool", "tool_call_id": "a", "content": LONG},
        {"type": "function_call_output", "call_id": "a", "output": LONG},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": LONG}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [
            {"text": LONG}]}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"r": LONG}}}]},
    ):  # fmt: skip
        assert has_result(message)
        short = cleared(message)
        assert CLEARED in json.dumps(short) and LONG not in json.dumps(short)
        assert LONG in json.dumps(message)
    assert not has_result({"role": "user", "content": "Hello"})


def test_what_cannot_be_asked_is_told() -> None:
    with pytest.raises(InputFault, match="unknown way of shortening 'burn it'; expected one of"):
        pg.compaction(sent(), policies=["burn it"])
    with pytest.raises(InputFault, match="a summary of 1 or more"):
        pg.compaction(sent(), summary=0)
    with pytest.raises(InputFault, match="the session holds no request"):
        pg.compaction(pg.Session())


def test_where_results_are_text_of_messages_the_policies_that_clear_results_say_so() -> None:
    session = pg.sample_sessions()["12-long-tool-run"]
    native, text = (pg.compaction(session, dialect=name) for name in ("native", "xml"))
    clearing = ["drop old results", "clear tool uses", "prune in place"]
    assert native.notes == [] and row(native, "drop old results").cuts
    assert [row(text, name).cuts for name in clearing] == [[], [], []]
    (note,) = text.notes
    assert all(name in note for name in clearing)
    assert "text of messages" in note and "keep last messages" in note
    assert text.as_json()["notes"] == [note]
    assert pg.compaction(session, policies=["keep last messages"], dialect="xml").notes == []


def test_it_shows_itself_and_the_command_line_says_it(tmp_path: Path) -> None:
    found = pg.compaction(sent())
    assert list(found.frame()["policy"])[0] == EVERYTHING
    figure = found.figure()
    assert len(figure.data) >= 5
    assert (figure.layout.legend.yanchor, figure.layout.legend.y > 1) == ("bottom", True)
    assert "saved so far" in found.html()
    json.dumps(found.as_json())
    done = run("compaction", "12-long-tool-run", "--json")
    policies = json.loads(done.stdout)["policies"]
    assert len(policies) == 6 and len(policies[1]["saved"]) == len(policies[0]["costs"])


def test_the_cache_page_has_a_tab_for_it() -> None:
    app = page("cache", shown="Compaction", session="12-long-tool-run")
    assert any(each.value.startswith("Over ") for each in app.info)
    assert "prefix lost" in set().union(*(f.value.columns for f in app.dataframe))
