"""Every rule of the cache lint, from the symptom of the issue that it comes from.

The issues are those of the projects that are named; the requests here are our own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

import playground as pg
from playground.base.errors import InputFault
from playground.base.findings import CODES
from playground.base.fixes import FIXES
from playground.cache.lint import usage_lost

MARK: Final = {"type": "ephemeral"}
HOUR: Final = {"type": "ephemeral", "ttl": "1h"}
RULES: Final = "You keep the tide tables of a harbour. " * 247  # 1,951 tokens
Body = dict[str, Any]


def text(said: str, mark: Any = None) -> Body:
    part: Body = {"type": "text", "text": said}
    return {**part, "cache_control": mark} if mark else part


def user(*parts: Body) -> Body:
    return {"role": "user", "content": list(parts)}


def says(said: str) -> Body:
    return {"role": "assistant", "content": [text(said)]}


def calls(count: int, turn: int) -> list[Body]:
    """An assistant's turn of several calls, and their results."""
    ids = [f"call_{turn}_{number}" for number in range(count)]
    asked = [{"type": "tool_use", "id": i, "name": "tides", "input": {"port": i}} for i in ids]
    given = [{"type": "tool_result", "tool_use_id": i, "content": f"high {i}"} for i in ids]
    return [{"role": "assistant", "content": asked}, {"role": "user", "content": given}]


def body(*messages: Body, system: Any = None, tools: Any = None, **more: Any) -> Body:
    system = [text(RULES, MARK)] if system is None else system
    return {
        "model": "claude-sonnet-4-5",
        "system": system,
        "messages": list(messages),
        **({"tools": tools} if tools else {}),
        **more,
    }


def tool(name: str, **properties: Any) -> Body:
    schema = {"type": "object", "properties": properties or {"port": {"type": "string"}}}
    return {"name": name, "description": f"What {name} does.", "input_schema": schema}


def marked(message: Body) -> Body:
    """The message with a mark on its last part."""
    *parts, last = message["content"]
    return {**message, "content": [*parts, {**last, "cache_control": MARK}]}


Q: Final = [user(text(f"question {n} about the tides of that harbour")) for n in range(9)]
A: Final = [says(f"answer {n}") for n in range(9)]


def growing(count: int, mark: Callable[[Body], Body] = marked, **more: Any) -> list[Body]:
    """A conversation, request by request; the last message of each is marked."""
    row = []
    for turn in range(count):
        history = [message for n in range(turn) for message in (Q[n], A[n])]
        row.append(body(*history, mark(Q[turn]), **more))
    return row


def env_in_marked_block() -> list[Body]:
    """kilocode#7778: the environment is on the last user message alone, inside its block."""
    environment = "\n<environment>time and open files</environment>"
    first = user(text(Q[0]["content"][0]["text"] + environment, MARK))
    return [body(first), body(Q[0], A[0], marked(Q[1]))]


def env_in_marked_part() -> list[Body]:
    """Kilo-Org/cloud#5177: in a part of its own, which carries the mark."""
    part = text("<environment>time and open files</environment>", MARK)
    first = user(*Q[0]["content"], part)
    return [body(first), body(Q[0], A[0], user(*Q[1]["content"], part))]


def screen_context() -> list[Body]:
    """langfuse#16459: context is appended to the last user message and never kept."""
    first, second = (user(*Q[n]["content"], text(f"screen: page {n}", MARK)) for n in range(2))
    return [body(first), body(Q[0], A[0], second)]


def time_in_system(first: str, second: str) -> Callable[[], list[Body]]:
    def requests() -> list[Body]:
        return [
            body(marked(Q[0]), system=[text(f"{RULES} It is {now}.", MARK)])
            for now in (first, second)
        ]

    return requests


def tools_in_any_order() -> list[Body]:
    """openai/codex#2611, openclaw#58037: tools come from a hash map."""
    tools = [tool("tides"), tool("moor"), tool("log")]
    return [body(marked(Q[0]), tools=tools), body(marked(Q[0]), tools=tools[::-1])]


def keys_in_any_order() -> list[Body]:
    """bifrost#3362: the keys of a schema's properties are shuffled."""
    one, other = {"type": "string"}, {"type": "integer"}
    first, second = tool("tides", port=one, day=other), tool("tides", day=other, port=one)
    return [body(marked(Q[0]), tools=[first]), body(marked(Q[0]), tools=[second])]


def five_marks() -> list[Body]:
    """sub2api#176, avante.nvim#425: a maximum of 4 blocks, found 5."""
    return [body(*[marked(message) for message in (Q[0], A[0], Q[1], A[1])])]


def gateway_adds_one() -> list[Body]:
    """GCMP#83: four marks, and a relay's own at the top level."""
    return [body(*map(marked, (Q[0], A[0], Q[1])), A[1], Q[2], cache_control=MARK)]


def wide_turn() -> list[Body]:
    """claude-code#63930: many parallel calls; ai-sdk-go#205: single blocks, counted one by one."""
    start, parts = Q[0], [text(f"file {n}") for n in range(25)]
    return [body(marked(start)), body(start, A[0], marked(user(*parts)))]


def wide_fan_out() -> list[Body]:
    """tidebreak#1154: 25 calls in a turn; a run of them counts once, or each of them."""
    answered, results = calls(25, 0)
    return [body(marked(Q[0])), body(Q[0], answered, marked(results))]


def marks_used_up() -> list[Body]:
    """g3#77: marks are only ever appended; once four exist, nothing is marked any more."""
    row = []
    for turn in range(6):
        history = [m for n in range(turn) for m in (marked(Q[n]) if n < 3 else Q[n], A[n])]
        row.append(body(*history, marked(Q[turn]) if turn < 3 else Q[turn]))
    return row


def mark_before_the_tool_loop() -> list[Body]:
    """clawbolt#1430: the mark stays on the question while the tool loop grows after it."""
    rounds = [message for turn in range(3) for message in calls(1, turn)]
    return [body(marked(Q[0]), *rounds[: 2 * n]) for n in range(4)]


def blank_anchor() -> list[Body]:
    """vscode#323642: a block of a blank is made for the mark, and comes and goes."""
    anchored = {"role": "user", "content": [*Q[0]["content"], text(" ", MARK)]}
    return [body(anchored), body(Q[0], A[0], marked(Q[1]))]


def stranded() -> list[Body]:
    """vellum-assistant#28642: one sliding mark; a long turn leaves what it wrote behind."""
    rounds = [text(f"note {n}") for n in range(24)]
    plain = [text(RULES)]
    return [
        body(marked(Q[0]), system=plain),
        body(Q[0], A[0], marked(user(*rounds)), system=plain),
    ]


def guard_gives_up() -> list[Body]:
    """chatcli#1524: a system message at the end, and nothing is marked."""
    return [body(Q[0], {"role": "system", "content": "Be brief."}, system=[text(RULES)])]


def too_short() -> list[Body]:
    return growing(2, system=[text("Be brief.")])


def rewritten() -> list[Body]:
    """qm#1184: what was sent live differs from the history that is sent later."""
    return [body(marked(Q[0])), body(user(text("Question 0, in short.")), A[0], marked(Q[1]))]


def time_in_history() -> list[Body]:
    """amazon-q-developer-cli#2560: context files get a new time at each request."""
    files = [user(text(f"context of 2026-01-05T10:00:0{n}Z: the tide tables")) for n in range(2)]
    return [body(files[0], marked(Q[0])), body(files[1], Q[0], A[0], marked(Q[1]))]


def tree_in_front() -> list[Body]:
    """vscode#323641: the workspace's tree is put ahead of what is cached."""
    history = [Q[0], A[0], Q[1], A[1]]
    tree = user(text("workspace: src/ tests/ docs/"))
    return [body(*history, marked(Q[2])), body(tree, *history, Q[2], A[2], marked(Q[3]))]


def gemini_marks() -> list[Body]:
    """software-agent-sdk#3585: explicit marks on Gemini while the history grows."""
    return [{**one, "model": "gemini/gemini-2.5-pro"} for one in growing(3)]


def model_switch() -> list[Body]:
    return [body(marked(Q[0])), {**body(Q[0], A[0], marked(Q[1])), "model": "claude-opus-4-1"}]


def forced_tool() -> list[Body]:
    forced = body(Q[0], tools=[tool("tides")], tool_choice={"type": "any"})
    return [{**forced, "model": "claude-fable-5-1"}]


def history_elsewhere() -> list[Body]:
    asked = {"model": "gpt-6.1-sol", "input": [{"role": "user", "content": RULES}]}
    return [asked, {**asked, "previous_response_id": "resp_1"}]


THINKING: Final = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
SYMPTOMS: Final[list[tuple[str, str, Callable[[], list[Body]]]]] = [
    ("KI-01", "env-in-prefix", env_in_marked_block),
    ("KI-02", "env-in-prefix", env_in_marked_part),
    ("KI-03", "history-rewrite", rewritten),
    ("KI-04", "volatile-system", time_in_system("2026-01-05T10:00:01Z", "2026-01-05T10:00:21Z")),
    ("KI-05", "volatile-system", time_in_system("1767607201", "1767607221")),
    ("KI-06", "volatile-system", time_in_system("2026-01-05 10:00", "2026-01-05 10:01")),
    ("KI-07", "tool-order", tools_in_any_order),
    ("KI-08", "tool-order", tools_in_any_order),
    ("KI-09", "json-key-order", keys_in_any_order),
    ("KI-10", "too-many-breakpoints", five_marks),
    ("KI-11", "too-many-breakpoints", gateway_adds_one),
    ("KI-12", "marker-on-empty", lambda: [body(user(text("", MARK)))]),
    ("KI-13", "marker-on-thinking", lambda: [body(Q[0], marked(THINKING))]),
    ("KI-14", "ttl-order", lambda: [body(user(text("question", HOUR)))]),
    ("", "unknown-ttl", lambda: [body(user(text("q", {"type": "ephemeral", "ttl": "2h"})))]),
    ("", "refused-request", forced_tool),
    ("", "history-on-server", history_elsewhere),
    ("KI-15", "lookback-overflow", wide_turn),
    ("KI-16", "lookback-overflow", wide_fan_out),
    ("KI-17", "frozen-breakpoint", marks_used_up),
    ("KI-18", "frozen-breakpoint", mark_before_the_tool_loop),
    ("KI-19", "synthetic-anchor", blank_anchor),
    ("KI-20", "no-anchor", stranded),
    ("KI-21", "gemini-freeze", gemini_marks),
    ("KI-23", "no-breakpoint", guard_gives_up),
    ("KI-25", "env-in-prefix", screen_context),
    ("KI-26", "history-rewrite", time_in_history),
    ("KI-27", "head-injection", tree_in_front),
    ("", "below-minimum", too_short),
    ("", "prefix-changed", model_switch),
]


@pytest.mark.parametrize(("issue", "code", "requests"), SYMPTOMS)
def test_the_symptom_of_an_issue_is_found_with_a_fix(
    issue: str, code: str, requests: Callable[[], list[Body]]
) -> None:
    found = [one for one in pg.simulate_cache(requests()).findings if one.code == code]
    assert found, issue
    assert all(one.message.endswith(FIXES[code]) for one in found)
    assert all(one.where.startswith("request") for one in found)


def test_a_symptom_after_requests_without_one_is_found_all_the_same() -> None:
    found = pg.simulate_cache([*growing(3), *stranded()]).findings
    assert [one.where for one in found if one.code == "no-anchor"] == ["request 5"]


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), "0"])
def test_a_time_that_is_none_is_refused(odd: Any) -> None:
    with pytest.raises(InputFault, match=f"a time of {odd!r}; expected seconds"):
        pg.simulate_cache(growing(2), times=[0, odd])


def test_each_rule_has_a_symptom() -> None:
    codes = list(CODES)
    rules = codes[codes.index("env-in-prefix") : codes.index("below-minimum") + 1]
    assert {code for _, code, _ in SYMPTOMS} == set(rules)


def test_whatever_is_more_than_information_says_what_to_do() -> None:
    assert set(FIXES) <= set(CODES)
    assert {code for code, kind in CODES.items() if kind.severity != "info"} <= set(FIXES)
    for fix in FIXES.values():
        assert fix[0].islower()
        assert not fix.endswith(".")


def test_a_conversation_that_only_grows_has_no_finding() -> None:
    assert pg.simulate_cache(growing(6)).findings == []


def test_what_passes_behind_the_marks_is_no_finding() -> None:
    """Kilo-Org/cloud#5177, mended: the mark stands before the environment."""
    environment = text("<environment>10:00</environment>")
    rows = []
    for turn in range(3):
        history = [m for n in range(turn) for m in (Q[n], A[n])]
        rows.append(body(*history, user(*marked(Q[turn])["content"], environment)))
    assert pg.simulate_cache(rows).findings == []


def test_mended_tools_and_anchors_have_no_finding() -> None:
    tools = [tool("tides"), tool("moor")]
    assert pg.simulate_cache(growing(3, tools=tools)).findings == []
    lagging = wide_fan_out()
    lagging[1] = body(marked(Q[0]), *calls(25, 0)[:1], marked(calls(25, 0)[1]))
    assert pg.simulate_cache(lagging).findings == []


def test_look_back_is_told_under_both_ways_of_counting() -> None:
    told = {
        requests: next(
            one.message
            for one in pg.simulate_cache(requests(), provider=provider).findings
            if one.code == "lookback-overflow"
        )
        for requests, provider in ((wide_turn, "anthropic"), (wide_fan_out, "anthropic"))
    }
    assert "25 blocks" in told[wide_turn] or "26 blocks" in told[wide_turn]
    assert "however they are counted" in told[wide_turn]
    assert "too far unless a run of calls counts once" in told[wide_fan_out]
    once = pg.simulate_cache(wide_fan_out())
    assert once.requests[1].read > 0  # runs count once, by Anthropic's newer text
    assert once.requests[1].state == "unpredictable"
    each = pg.simulate_cache(wide_fan_out(), provider="bedrock")
    assert each.requests[1].read < once.requests[1].read


def test_findings_of_consecutive_requests_are_one() -> None:
    frozen = pg.simulate_cache(marks_used_up()).findings
    assert [one.where for one in frozen if one.code == "frozen-breakpoint"] == ["requests 4 to 6"]


def test_usage_that_a_record_lost_is_found() -> None:
    """agno: cached tokens were on the wire and not in the record."""
    wire = {"input_tokens": 4, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 0}
    lost = usage_lost({"input_tokens": 904}, wire, "request 1")
    assert lost is not None
    assert (lost.code, lost.where) == ("usage-lost", "request 1")
    assert "not kept: 900 tokens read" in lost.message
    assert usage_lost(wire, wire, "request 1") is None
    nested = {"prompt_tokens": 900, "prompt_tokens_details": {"cached_tokens": 800}}
    assert usage_lost({"prompt_tokens": 900}, nested, "") is not None
    assert usage_lost({}, {"input_tokens": 4, "cache_read_input_tokens": 0}, "") is None
    unread = usage_lost(None, {**wire, "cache_creation_input_tokens": 70}, "")
    assert unread is not None
    assert "not kept: 900 tokens read, 70 tokens written" in unread.message
    assert usage_lost(wire, None, "") is None


def test_a_clock_that_runs_backwards_is_never_a_sure_number() -> None:
    row = growing(3)
    found = pg.simulate_cache(row, times=[0, 20, 5])
    assert [one.state for one in found.requests] == ["exact", "exact", "unpredictable"]
    assert [(one.code, one.where) for one in found.findings if one.code == "clock-backwards"] == [
        ("clock-backwards", "request 3")
    ]


def test_a_refusal_stays_one_whatever_the_clock_says() -> None:
    found = pg.simulate_cache([five_marks()[0]] * 2, times=[20, 0])
    assert [one.state for one in found.requests] == ["error", "error"]


def test_requests_in_flight_at_once_do_not_read_each_other() -> None:
    row = [growing(1)[0]] * 3
    found = pg.simulate_cache(row, times=[0, 0, 0])
    assert [one.read for one in found.requests] == [0, 0, 0]
    assert {one.state for one in found.requests} == {"exact"}
    assert [(one.code, one.where) for one in found.findings] == [("in-flight", "requests 2 to 3")]


def test_a_finding_tells_where_two_requests_part() -> None:
    found = pg.simulate_cache(time_in_system("10:00:01", "10:00:21")()).findings
    message = next(one.message for one in found if one.code == "volatile-system")
    assert message.startswith("system_changed at block 0, character")
    assert "10:00:01" in message
    assert "; invalidates system, messages, 2,4" in message
    assert message.endswith(f" cached tokens; {FIXES['volatile-system']}")
    switched = pg.simulate_cache(model_switch()).findings
    assert "; invalidates tools, system, messages, 2,4" in switched[0].message
    choice = [body(marked(Q[0])), body(marked(Q[0]), tool_choice={"type": "any"})]
    assert "; invalidates messages, " in pg.simulate_cache(choice).findings[0].message
    assert json.dumps([one.where for one in found]) == '["request 2"]'


def test_a_word_that_changes_in_an_early_message_is_a_rewrite() -> None:
    from playground.cache.answers.simulation import simulate_cache

    said = [{"role": ("user", "assistant")[i % 2], "content": f"message {i}"} for i in range(9)]
    for place in range(1, 8):
        changed = [dict(each) for each in said]
        changed[place]["content"] = f"MESSAGE {place}"
        bodies = [{"model": "claude-sonnet-4-5", "messages": each} for each in (said, changed)]
        difference = simulate_cache(bodies).differences[1]
        assert difference is not None and difference.rule == "history-rewrite", place


def test_an_explicit_cache_looks_back_over_nothing_so_no_mark_is_too_far() -> None:
    codes = [each.code for each in pg.simulate_cache(gemini_marks()).findings]
    assert "gemini-freeze" in codes and "lookback-overflow" not in codes
