"""What the Cache page tells of a request: as it was brought, and of its size in one voice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import playground as pg
from playground.app.cache import read_by_people
from playground.base.errors import InputFault
from playground.cache.answers.headline import headline
from playground.cache.answers.what_if import WhatIf
from playground.cli import main
from playground.nouns.messages import Message, TextPart
from playground.sessions.loading import first_session
from playground.sessions.session import RequestRecord, RequestRow
from playground.sessions.source import Source
from playground.show.policy_bars import PricedPolicy, best_saving, policy_bars
from playground.show.strip import strip as picture

SIZES = [
    (name, policy, model)
    for name in ("01-plain-chat", "05-call-in-a-fence", "06-cache-eight-turns", "09-reasoning")
    for policy in ("azad", "none", "system-only")
    for model in ("anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", "openai/gpt-5")
]


@pytest.mark.parametrize(("name", "policy", "model"), SIZES)
def test_the_headline_and_the_line_below_it_tell_one_size(
    name: str, policy: str, model: str
) -> None:
    """They told 542 and 2,802 tokens of one request: up to the last mark, and in all."""
    session = pg.sample_sessions()[name]
    pending = WhatIf(pending=True)
    given = {"dialect": "xml", "policy": policy, "model": model}
    told = headline(pg.simulate_cache(session, **given, what_if=pending)).text  # type: ignore[arg-type]
    size = re.findall(r"(?:about )?[\d,]+ tokens", told)[0]  # of OpenAI's models it is a count
    assert size in pg.place_cache(session, **given).thresholds  # type: ignore[arg-type]


def test_a_provider_that_caches_by_itself_is_not_told_to_lack_marks() -> None:
    session = pg.sample_sessions()["01-plain-chat"]
    told = headline(pg.simulate_cache(session, model="openai/gpt-5", dialect="xml")).text
    assert told.startswith("The provider caches by itself, without marks; nothing can be read: ")
    long = pg.session("water and wind. " * 500, model="openai/gpt-5")
    assert headline(pg.simulate_cache(long)).text.startswith(
        "The provider caches by itself, without marks: the first request only writes, "
    )


MARKED = {
    "model": "claude-sonnet-4-5",
    "system": [
        {"type": "text", "text": "You keep the harbour. " * 300},
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
    ],
    "tools": [
        {"name": "tides", "input_schema": {"type": "object"}, "cache_control": {"ttl": "1h"}}
    ],
    "messages": [{"role": "user", "content": "High tide?"}],
}


def test_a_request_that_was_brought_keeps_its_own_marks() -> None:
    session = load_session_of(MARKED)
    sent = pg.cache_on_wire(session, policy="as-sent")
    assert [(b.tier, b.ttl) for b in sent.marks] == [("tools", "1h"), ("system", "5m")]
    assert sent.calls[0].body == MARKED
    found = headline(pg.simulate_cache(session, policy="as-sent"))
    said = "2 marks: the first request probably writes, and the next one may read."
    assert found.text.startswith(said)  # by its size it may fall short of the minimum
    bare = {key: value for key, value in MARKED.items() if key not in ("system", "tools")}
    assert pg.cache_on_wire(load_session_of(bare), policy="as-sent").marks == []


def test_a_request_near_the_minimum_is_only_probably_written() -> None:
    """The sentence was certain; the line below it said that the size may not suffice."""
    text = {"type": "text", "text": "tide " * 1_100, "cache_control": {"type": "ephemeral"}}
    bodies = [
        {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": [each]}]}
        for each in (text, {**text, "text": "tide " * 9_000})
    ]
    near, far = (headline(pg.simulate_cache([body])).text for body in bodies)
    assert near.startswith("1 mark: the first request probably writes, and the next one may read.")
    assert far.startswith("1 mark: the first request only writes, the next one can read.")


def marked(system: str) -> dict[str, Any]:
    """A request body whose system prompt is marked."""
    text = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
    said = [{"role": "user", "content": "High tide?"}]
    return {"model": "claude-sonnet-4-5", "system": [text], "messages": said}


def test_a_cost_is_as_unsure_as_a_request_that_reads_nothing() -> None:
    """The third request may or may not pay for an entry, and the cost was called certain."""
    long = "tide " * 6_000
    found = pg.simulate_cache([marked(long), marked(long), marked("wave " * 1_000)])
    assert [one.state for one in found.requests] == ["exact", "exact", "unpredictable"]
    text = headline(found).text
    assert "46 % of the input is read from the cache. It probably costs 72 % of" in text
    assert "Not every request is sure: the reasons are below." in text
    reads, costs, _ = picture(found)["figures"]
    assert reads[1] == "read from the cache" and costs[1].startswith("of uncached, probably")
    sure = pg.simulate_cache([marked(long), marked(long)])
    assert "It costs 68 % of" in headline(sure).text
    offered = [PricedPolicy("cheap", "The cheap one", sure)]
    assert best_saving(offered, found).startswith("The cheap one would probably save ")
    uncached = pg.simulate_cache([{**marked(long), "system": long}] * 2)
    assert best_saving(offered, uncached).startswith("The cheap one would save ")


def test_where_the_marks_stand_that_were_brought() -> None:
    placed = pg.place_cache(load_session_of(MARKED), policy="as-sent")
    assert (placed.dialect, placed.policy) == ("", "as-sent")
    told = [(part.role, part.decision.reason, part.decision.ttl) for part in placed.parts]
    assert told == [
        ("tools", "sent-marked", "1h"),
        ("system", "sent-unmarked", ""),
        ("system", "sent-marked", "5m"),
        ("user", "sent-unmarked", ""),
    ]
    assert placed.thresholds.startswith("2 marks; ")
    assert "the request came with a mark here" in placed.html()


def test_a_mark_that_the_provider_is_asked_to_set_is_told() -> None:
    """One mark was counted, and none was shown."""
    body = {**MARKED, "system": "You keep the harbour. " * 300, "tools": []}
    session = load_session_of({**body, "cache_control": {"type": "ephemeral"}})
    placed = pg.place_cache(session, policy="as-sent")
    assert [part.decision.reason for part in placed.parts] == ["sent-unmarked", "sent-automatic"]
    assert len(placed.marks) == placed.reach.marks == 1


def _with_mark(depth: int, mark: Any) -> dict[str, Any]:
    """A bare conversation with a mark so many steps down: 0 is the body, 2 a message."""
    inner: Any = {"cache_control": mark}
    for step in range(depth - 2):
        inner = [inner, 1] if step % 2 else {"inner": inner, "text": "cache_control"}
    question: dict[str, Any] = {"role": "user", "content": "When does the tide turn?"}
    body: dict[str, Any] = {"messages": [question, {"role": "assistant", "content": "At noon."}]}
    (body if depth == 0 else question).update(inner if depth in (0, 2) else {"metadata": inner})
    return body


@pytest.mark.parametrize("depth", [0, 2, 3, 4, 5, 9])
def test_a_bare_conversation_with_a_mark_anywhere_is_kept_as_it_was_sent(depth: int) -> None:
    assert load_session_of(_with_mark(depth, {"type": "ephemeral"})).rows
    assert not load_session_of(_with_mark(depth, "ephemeral")).rows  # a word is no mark


def test_what_was_sent_stands_beside_what_a_dialect_would_send() -> None:
    session = load_session_of(MARKED)
    cells = pg.cache_matrix(session, "native", policies=["as-sent", "none"])
    assert [(cell.dialect, cell.policy) for cell in cells] == [("", "as-sent"), ("native", "none")]
    assert cells[0].cost_permille == pg.simulate_cache(session, policy="as-sent").cost_permille


ASKED = [
    lambda session: pg.place_cache(session, policy="as-sent"),
    lambda session: pg.simulate_cache(session, policy="as-sent"),
    lambda session: pg.cache_on_wire(session, policy="as-sent"),
    lambda session: pg.cache_matrix(session, "native", policies="as-sent"),
]


@pytest.mark.parametrize("ask", ASKED)
def test_a_session_without_requests_says_so(ask: Callable[[pg.Session], object]) -> None:
    with pytest.raises(InputFault, match="holds no requests as they were sent"):
        ask(load_session_of({"messages": MARKED["messages"]}))


@pytest.mark.parametrize("ask", [pg.place_cache, pg.simulate_cache, pg.cache_on_wire])
def test_no_dialect_writes_what_was_sent(ask: Callable[..., object]) -> None:
    """The dialect was ignored."""
    with pytest.raises(InputFault, match=r"\(dialect=…\): no dialect writes what was sent"):
        ask(load_session_of(MARKED), "xml", policy="as-sent")


def test_marks_of_a_policy_that_nobody_named_are_not_taken_for_those_that_were_sent() -> None:
    placed = pg.place_cache(load_session_of(MARKED))
    assert [each.code for each in placed.findings] == ["other-marks"]
    assert "2 marks, and those of azad" in placed.findings[0].message
    assert pg.place_cache(load_session_of(MARKED), policy="azad").findings == []
    assert pg.place_cache(load_session_of({**MARKED, "tools": [], "system": ""})).findings == []


def test_what_was_sent_is_not_changed_by_a_what_if() -> None:
    with pytest.raises(InputFault, match="the requests are taken as they are"):
        pg.simulate_cache(
            load_session_of(MARKED), policy="as-sent", what_if=WhatIf(environment="none")
        )


def test_the_command_knows_it(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(MARKED))

    def told(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["cache", *arguments, "--policy", "as-sent"])
        return result.exit_code, result.output

    status, placed = told(str(path))
    assert status == 0
    assert placed.startswith("as-sent: 2 marks for claude-sonnet-4-5")
    assert placed.count("●") == 2
    assert told("wire", str(path))[1].startswith("policy as-sent: 2 marks on the wire")
    assert "policy as-sent, rules of anthropic: " in told("simulate", str(path))[1]
    status, refused = told(str(path), "-d", "xml")
    assert status == 2
    assert "no dialect writes what was sent" in refused


def test_requests_that_were_brought_are_simulated_first(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(MARKED))

    def policies(*more: str) -> list[str]:
        asked = ["cache", "simulate", str(path), "--json", *more]
        return [cell["policy"] for cell in json.loads(CliRunner().invoke(main, asked).stdout)]

    assert policies()[0] == "as-sent"
    assert len(policies()) > 2
    for asked in (["-d", "native"], ["--ttl", "1h"], ["--policy", "none"]):
        assert "as-sent" not in policies(*asked)


def load_session_of(body: dict[str, Any]) -> pg.Session:
    return first_session(Source("request.json", json.dumps(body).encode())).session


LONG = "You keep the harbour. " * 800
QUESTION: dict[str, Any] = {"role": "user", "content": "When?"}
ANSWER: dict[str, Any] = {"role": "assistant", "content": "At six."}


def body(model: str, *messages: dict[str, Any]) -> dict[str, Any]:
    mark = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}
    return {"model": model, "system": [mark], "messages": list(messages)}


def rows_of(*given: tuple[dict[str, Any], str]) -> pg.Session:
    """A session of requests, each with the time at which it was sent."""
    lines = [
        {"request": request, "response": {"role": "assistant", "content": "x"}, "timestamp": at}
        for request, at in given
    ]
    return pg.load_session("\n".join(json.dumps({"session_id": "s", **line}) for line in lines))


def test_each_body_keeps_its_own_model() -> None:
    small, large = "claude-haiku-4-5", "claude-sonnet-4-5"
    session = rows_of(
        (body(small, QUESTION), "2026-11-01T10:00:00Z"),
        (body(large, QUESTION, ANSWER, QUESTION), "2026-11-01T10:00:30Z"),
    )
    found = pg.simulate_cache(session, policy="as-sent")
    assert [one.wire.model for one in found.row] == [small, large]
    assert [one.read for one in found.requests] == [0, 0]  # no model reads another's cache
    same = pg.simulate_cache(session, policy="as-sent", model=large)
    assert [one.wire.model for one in same.row] == [large, large]
    assert same.requests[1].read > 0


def test_a_request_that_goes_on_with_an_answer_was_sent_after_it() -> None:
    """Times are noted in whole seconds, and two requests of one second were told to race."""
    model, at = "claude-sonnet-4-5", "2026-11-01T10:00:00Z"
    session = rows_of((body(model, QUESTION), at), (body(model, QUESTION, ANSWER, QUESTION), at))
    found = pg.simulate_cache(session, policy="as-sent")
    assert [one.finding for one in found.requests] == ["", ""]
    assert found.requests[1].read > 0
    other = [
        {"role": "user", "content": "Where?"},
        ANSWER,
        QUESTION,
    ]  # nothing of the first's answer
    beside = pg.simulate_cache([body(model, QUESTION), body(model, *other)], times=[0, 0])
    assert beside.requests[1].finding == "in-flight"


def test_tokens_that_a_bill_leaves_out_are_no_break() -> None:
    model = "claude-sonnet-4-5"
    first, second = body(model, QUESTION), body(model, QUESTION, ANSWER, QUESTION)
    for one in (first, second):
        one["messages"][-1] = {**QUESTION, "cache_control": {"type": "ephemeral"}}
    usages = [
        {"input_tokens": 4, "cache_creation_input_tokens": 4400, "cache_read_input_tokens": 0},
        {"input_tokens": 4, "cache_creation_input_tokens": 16, "cache_read_input_tokens": 4400},
    ]
    found = pg.simulate_cache([first, second], usages=usages)
    assert found.requests[1].read < found.requests[0].cached_after
    assert found.breaks == []
    third = body(model, {"role": "user", "content": "Another."}, ANSWER, QUESTION)
    third["system"] = "Another harbour. " * 900
    assert pg.simulate_cache([first, third], usages=usages).breaks == [1]


@pytest.mark.parametrize("model", ["gpt-4.1", "claude-sonnet-4-5"])
def test_a_result_as_text_and_as_one_part_of_text_are_one_block(model: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c", "content": LONG}
    parts = {**result, "content": [{"type": "text", "text": LONG}]}
    first = {"model": model, "messages": [QUESTION, called, result]}
    second = {"model": model, "messages": [QUESTION, called, parts, QUESTION]}
    found = pg.simulate_cache([first, second])
    assert found.row[0].chain[2] == found.row[1].chain[2]
    assert found.differences == (None, None)
    two = {**result, "content": [*parts["content"], {"type": "text", "text": "More."}]}
    other = pg.simulate_cache([first, {"model": model, "messages": [QUESTION, called, two]}])
    assert other.row[0].chain[2] != other.row[1].chain[2]


def billed_anew() -> pg.Session:
    """A session whose second request has another system prompt, as bill and provider say."""
    model = "claude-sonnet-4-5"
    first, second = body(model, QUESTION), body(model, QUESTION, ANSWER, QUESTION)
    second["system"] = [{**second["system"][0], "text": f"It is noon. {LONG}"}]
    usage = {"input_tokens": 4, "cache_creation_input_tokens": 4400, "cache_read_input_tokens": 0}
    reason = {"cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 4400}}
    reply = {"type": "message", "role": "assistant", "model": model, "usage": usage,
             "content": [{"type": "text", "text": "At six."}], "stop_reason": "end"}  # fmt: skip
    lines = [
        {"uri": "https://api.anthropic.com/v1/messages", "request": request, "status": 200,
         "response": {**reply, **more}, "date": f"2026-11-01T10:0{number}:00Z"}
        for number, (request, more) in enumerate(((first, {}), (second, {"diagnostics": reason})))
    ]  # fmt: skip
    return pg.load_session(json.dumps({"requests": lines}))


def test_bills_and_diagnoses_say_nothing_of_requests_that_a_dialect_rewrites() -> None:
    """One system prompt was written for all, and the provider told that it cannot be right."""
    session = billed_anew()
    sent = pg.simulate_cache(session, policy="as-sent")
    assert [bill.total for bill in sent.billed if bill] == [4404, 4404]
    assert str(sent.diagnoses[1]).startswith("system_changed")
    assert [one.code for one in sent.findings] == ["prefix-changed"]
    every = pg.cache_matrix(session, ["native", "hermes"])
    assert any(cell.requests[1].read for cell in every)
    for cell in every:
        assert not (cell.unexplained or cell.hints or any(cell.diagnoses) or any(cell.verdicts))
        assert not {one.code for one in cell.findings} & {"unexplained", "diagnosis-disagrees"}
        assert all("billed" not in one.reason for one in cell.requests)
        assert "The bills are for the requests as they were sent, not for" in headline(cell).text


def test_no_policy_saves_what_other_requests_cost() -> None:
    session = billed_anew()
    sent, none, marked = (
        pg.simulate_cache(session, "native", policy=policy)
        for policy in ("as-sent", "none", "claude-code")
    )
    offered = [PricedPolicy(cell.policy, cell.policy, cell) for cell in (none, marked)]
    assert marked.cost_permille < sent.cost_permille
    assert best_saving(offered, sent) == ""
    assert best_saving(offered, none).startswith("claude-code would save ")
    assert not any("tokens" in bar["figure"] for bar in policy_bars(offered, ""))
    bars = policy_bars([*offered, PricedPolicy("sent", "sent", sent)], "sent")
    assert all(
        f"of {sum(c.total for c in cell.requests):,} tokens · "
        in "".join(bar["figure"] for bar in bars if bar["key"] == name)
        for name, cell in (("none", none), ("claude-code", marked), ("sent", sent))
    )


BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com/model"
WENT_TO = [
    (f"{BEDROCK}/anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke", "bedrock", True),
    ("https://me:key@openrouter.ai/api/v1/chat/completions?key=k", "openrouter", True),
    ("https://api.anthropic.com/v1/messages", "anthropic", True),
    ("https://gateway.example/v1/messages", "anthropic", False),  # the model's, but nothing certain
]


@pytest.mark.parametrize(("url", "rules", "certain"), WENT_TO)
def test_the_rules_are_those_of_where_a_request_went(url: str, rules: str, certain: bool) -> None:
    """A request to Bedrock was simulated by Anthropic's rules, and called certain."""
    asked = body("anthropic/claude-sonnet-4.5" if rules == "openrouter" else "claude-sonnet-4-5")
    asked["messages"] = [QUESTION]
    asked = {k: v for k, v in asked.items() if rules != "bedrock" or k != "model"}
    reply = {"type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
             "content": [{"type": "text", "text": "At six."}], "stop_reason": "end"}  # fmt: skip
    lines = [
        {"uri": url, "request": asked, "response": reply, "date": f"2026-11-01T1{hour}:00:00Z"}
        for hour in (0, 2)
    ]
    first = first_session(Source("x.json", json.dumps({"requests": lines}).encode())).session
    found = pg.simulate_cache(first, policy="as-sent")
    assert found.provider == rules
    assert (found.requests[0].state == "exact") is certain
    assert found.priced is certain
    assert "key" not in first.rows[0].url
    assert first.rows[0].at == "2026-11-01T10:00:00Z"
    assert pg.simulate_cache(first, policy="as-sent", provider="openai").provider == "openai"


def test_a_bill_of_several_rounds_tells_of_no_shorter_context() -> None:
    """The usage of code execution counts no rounds; what ran on the server is in the answer."""
    mine = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "bash_code_execution",
        "input": {},
    }
    answer = {"role": "assistant", "content": [mine, {"type": "text", "text": "At six."}]}
    first = body("claude-sonnet-4-5", QUESTION)
    second = body("claude-sonnet-4-5", QUESTION, answer, QUESTION)
    rows = [
        RequestRow(one, reply={"type": "message", "usage": {"input_tokens": 4} | counts, **more})
        for one, more, counts in (
            (
                first,
                answer,
                {"cache_read_input_tokens": 20_000, "cache_creation_input_tokens": 500},
            ),
            (second, ANSWER, {"cache_read_input_tokens": 9_000, "cache_creation_input_tokens": 99}),
        )
    ]
    for replies in (True, False):  # a stream's answer stands in the next request alone
        given = (
            rows if replies else [replace(rows[0], reply={**(rows[0].reply or {}), "content": ""})]
        )
        session = pg.Session(rows=tuple([*given, *rows[len(given) :]]))
        found = pg.simulate_cache(session, policy="as-sent")
        assert [bill.summed for bill in found.billed if bill] == [True, False]
        assert not (found.shorter or found.unexplained)
        assert found.requests[0].state == "unpredictable"
        assert "shorter" not in headline(found).text


def test_the_page_has_the_three_answers_whole_and_calls_a_sure_request_certain() -> None:
    reason = {"type": "cache_miss", "reason": "verbosity_changed", "cache_missed_tokens": 9}
    record = RequestRecord(1, "gpt-6.1-sol", usage={"input_tokens": 9}, diagnostics=reason)
    messages = [Message("user", (TextPart("a"),)), Message("assistant", (TextPart("b"),))]
    session = pg.session(messages=messages, model="openai/gpt-6.1-sol")
    cell = pg.simulate_cache(replace(session, requests=(record,)))
    requests, answers = read_by_people(cell)
    heads, cells = requests.texts()
    assert [row[heads.index("state")] for row in cells] == [one.sureness for one in cell.requests]
    assert "exact" not in cells[0]
    assert answers is not None
    assert [*answers.columns] == ["request", "predicted", "billed", "told_by_provider"]
    assert {*requests.columns, *answers.columns} == {*cell.frame()}
    assert [*requests.columns][-2:] == ["state", "reason"]
