"""Two versions of anything: blocks, words, tokens, what a cache still reads, a check for CI."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import terminals
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from test_pages import boards, page

import playground as pg
from playground.base.errors import InputFault
from playground.nouns.messages import Message, TextPart
from playground.questions.token_counts import count_rendering
from playground.questions.versions.against import against_failures
from playground.questions.versions.blocks import sections
from playground.questions.versions.pairing import paired
from playground.questions.versions.words import word_changes
from playground.sessions.entries import new_entry
from playground.sessions.session import Agent, Session
from playground.sessions.workspaces import on_disk
from playground.show import version_board
from playground.show.version_board import head

RULES = "\n".join(f"Rule {n}: never leave berth {n} without {n} ropes." for n in range(120))


def tool(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"name": name, "description": description, "input_schema": schema}


BEFORE: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "system": f"You are a harbour agent.\n\n# Tone\nBe brief.\n\n# Rules\n{RULES}",
    "tools": [tool("read", "Read a file."), tool("write", "Write it."), tool("mcp__tide__now", "")],
    "messages": [
        {"role": "user", "content": "<system-reminder>Today is fine.</system-reminder>"},
        {"role": "user", "content": "When is high water?"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "tides"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "14:20"}]},
    ],
}  # fmt: skip


def changed() -> dict[str, Any]:
    """The same agent after an update: a word, the tools' order, a new tool, a shorter history."""
    after = copy.deepcopy(BEFORE)
    after["system"] = after["system"].replace("Be brief.", "Be very brief.")
    read, write, tide = after["tools"]
    after["tools"] = [write, read, tide, tool("list", "List a folder.")]
    after["messages"] = after["messages"][:2]
    return after


def test_only_the_side_that_is_not_exact_is_told_about() -> None:
    exact: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    other = {**exact, "prediction": {"type": "content", "content": "x"}}
    assert "(8, then ~8)." in pg.diff(exact, other).headline


@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
def test_a_call_and_a_result_are_sized_by_what_the_model_reads_of_them(api: str) -> None:
    """A recorded `function_call_output` of "40 C" was 44 tokens in a diff and 2 in a count."""
    called: dict[str, list[dict[str, Any]]] = {
        "chat": [
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "call_z1COPRxqJjjzIcXQ8ghwnioC", "type": "function",
                 "function": {"name": "weather", "arguments": '{"location":"Rome"}'}}]},
            {"role": "tool", "tool_call_id": "call_z1COPRxqJjjzIcXQ8ghwnioC", "content": "40 C"},
        ],
        "responses": [
            {"type": "function_call", "call_id": "call_z1COPRxqJjjzIcXQ8ghwnioC",
             "name": "weather", "arguments": '{"location":"Rome"}'},
            {"type": "function_call_output", "call_id": "call_z1COPRxqJjjzIcXQ8ghwnioC",
             "output": "40 C"},
        ],
        "anthropic": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_01A09q90qw90lq917",
             "name": "weather", "input": {"location": "Rome"}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "40 C",
             "tool_use_id": "toolu_01A09q90qw90lq917"}]},
        ],
    }  # fmt: skip
    asked = {"role": "user", "content": "Hot?"}
    place = "input" if api == "responses" else "messages"
    more = {"system": "Be brief."} if api == "anthropic" else {}
    first, second = ({"model": "gpt-4o", **more, place: [asked, *items]}
                     for items in ([], called[api]))  # fmt: skip
    call, result = (c.tokens[1] for c in pg.diff(first, second).changes if c.kind == "added")
    assert (call, result) == (6, 2)  # weather {"location":"Rome"}, and 40 C


def test_every_block_is_matched_and_told_by_who_wrote_it() -> None:
    found = pg.diff(BEFORE, changed())
    assert found.form == "as sent (anthropic-messages)"
    told = [(c.kind, c.tier, c.block.name, c.block.writer) for c in found.changes]
    assert told == [
        ("moved", "tools", "write", "agent"),
        ("same", "tools", "read", "agent"),
        ("same", "tools", "mcp__tide__now", "MCP server tide"),
        ("added", "tools", "list", "agent"),
        ("same", "system", "system: You are a harbour agent.", "agent"),
        ("changed", "system", "system: # Tone", "agent"),
        ("same", "system", "system: # Rules", "agent"),
        ("same", "messages", "message 0 user: <system-reminder>Today is fine.</system-reminder>",
         "agent"),
        ("same", "messages", "message 1 user: When is high water?", "user"),
        ("removed", "messages", "message 2 assistant tool_use read", "model"),
        ("removed", "messages", "message 3 user tool_result", "tool"),
    ]  # fmt: skip
    tone = found.changes[5]
    assert tone.words == [("same", "# Tone\nBe"), ("added", " very"), ("same", " brief.\n\n")]
    assert tone.tokens[1] - tone.tokens[0] == 1
    assert found.kinds == {"same": 6, "moved": 1, "changed": 1, "added": 1, "removed": 2}
    assert found.tokens == pg.count_tokens(changed()).tokens - pg.count_tokens(BEFORE).tokens
    assert sum(before for before, _ in found.by_writer.values()) == sum(
        change.tokens[0] for change in found.changes
    )


def test_headings_part_what_the_agent_wrote_and_nobody_else_s_words() -> None:
    said = [{"role": "user", "content": text} for text in ("Hi.", BEFORE["system"])]
    first, second = (
        {"model": "claude-opus-5", "system": BEFORE["system"], "messages": said[:count]}
        for count in (1, 2)
    )
    assert [change.block.name for change in pg.diff(first, second).changes] == [
        "system: You are a harbour agent.",
        "system: # Tone",
        "system: # Rules",
        "message 0 user: Hi.",
        "message 1 user: You are a harbour agent.",
    ]


def test_a_version_beside_itself_is_the_same_and_loses_nothing() -> None:
    found = pg.diff(BEFORE, copy.deepcopy(BEFORE))
    assert {change.kind for change in found.changes} == {"same"}
    assert found.tokens == 0
    for cost in found.costs:
        assert (cost.read, cost.lost, cost.extra, cost.parts) == (cost.cached_before, 0, 0, None), (
            cost
        )
    assert found.headline.startswith("10 blocks: nothing is different. ~0 tokens more")
    assert head(found, found.costs[0])["sentence"] == "Nothing differs."


def test_a_version_that_goes_on_is_said_to_continue_the_old_one() -> None:
    longer = {**BEFORE, "messages": [*BEFORE["messages"], {"role": "user", "content": "And low?"}]}
    found = pg.diff(BEFORE, longer)
    assert head(found, found.costs[0])["sentence"].startswith("The new one continues the old one: ")


def test_what_a_cache_still_reads_is_what_stands_before_the_change() -> None:
    """A word of the system prompt: the tools before it are read, where a mark stands behind them
    and they are long enough."""
    long = {**BEFORE, "tools": [tool(f"tool{n}", RULES[:2000]) for n in range(12)]}
    after = {**long, "system": "Another agent."}
    found = pg.diff(long, after, providers=["anthropic", "openai-before-5.6"])
    anthropic, openai = found.costs
    rows = [cost.parts and (cost.parts.cause, cost.parts.block) for cost in found.costs]
    assert rows == [("system_changed", 12)] * 2
    tools = sum(change.tokens[1] for change in found.changes if change.tier == "tools")
    assert abs(anthropic.read - tools) < 0.15 * tools
    assert anthropic.marks == "assumed: after tools, system prompt and messages"
    assert openai.read == openai.read // 128 * 128 > 0.8 * tools
    assert anthropic.lost == min(anthropic.cached_before, anthropic.total) - anthropic.read
    # written for five minutes at 1.25 of the price instead of read at 0.1
    assert anthropic.extra == anthropic.lost * (1250 - 100)
    assert anthropic.nano_dollars == anthropic.extra * 3  # $3 a million tokens


MARK = {"type": "ephemeral"}


def turns(count: int, changed_at: int = -1, mark: bool = False) -> dict[str, Any]:
    """A request of so many turns, the last of them marked; one of them differs."""
    texts = [f"turn {number}: {RULES[:900]}" for number in range(count)]
    if changed_at >= 0:
        texts[changed_at] = texts[changed_at].replace("Rule", "Hint")
    messages: list[dict[str, Any]] = [
        {"role": ("user", "assistant")[number % 2], "content": [{"type": "text", "text": text}]}
        for number, text in enumerate(texts)
    ]
    if mark:
        messages[-1]["content"][0]["cache_control"] = MARK
    return {"model": "claude-sonnet-4-5", "messages": messages}


def test_marks_that_no_request_has_are_said_to_be_assumed_everywhere() -> None:
    """Two requests without a mark were "as sent", beside the cost of marks that they lack."""
    told = "as if marked after tools, system prompt and messages: neither request has a mark"
    for form in ("", "native"):
        found = pg.diff(turns(5), turns(5, 2), providers=["anthropic"], dialect=form)
        (cost,) = found.costs
        written = f" as written in {form}" * bool(form)
        assert cost.marks_assumed and f"{told}{written}." in found.headline
        shown = version_board.head(found, cost)
        assert ", marks assumed" in shown["note"]
        assert cost.state == "unpredictable" and "probably 0 of the" in found.headline
        assert "would probably be paid again" in shown["sentence"]
    marked = pg.session(turns(5, mark=True))
    found = pg.diff(marked, turns(5, 2, mark=True), providers=["anthropic"], dialect="hermes")
    assert f"{told} as written in hermes." in found.headline
    assert found.form == "written in hermes"
    assert (found.first.name, found.second.name) == ("first", "second")
    found = pg.diff(turns(5, mark=True), turns(5, 2, mark=True), providers=["anthropic"])
    shown = version_board.head(found, found.costs[0])
    assert found.costs[0].marks == "as sent" and "as if marked" not in found.headline
    assert "assumed" not in shown["note"] and "are probably paid again" in shown["sentence"]
    free = pg.diff(turns(5), turns(5, 2), providers=["deepseek"])  # which reads no marks
    assert free.costs[0].marks == "none needed" and "as if marked" not in free.headline


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        ("x" * 40, "y" * 41, f"'{'x' * 40}' and '{'y' * 40}'…"),
        (f"same same {'x' * 30}", "same same y", f"'same same {'x' * 30}' and 'same same y'"),
        ("same same same x", "same same same y", "…'same same x' and …'same same y'"),
        ("harbour at noon x", "harbour at noon y", "…'at noon x' and …'at noon y'"),
        (f"some {'x' * 99}", f"some {'x' * 50}", f"…'{'x' * 40}'… and …'{'x' * 10}'"),
    ],
)
def test_an_ellipsis_marks_where_an_excerpt_is_cut(old: str, new: str, texts: str) -> None:
    """A complete text of 40 characters had one too, and no text had one in front."""
    both = [{"messages": [{"role": "user", "content": text}]} for text in (old, new)]
    found = pg.diff(*both, model="deepseek-chat", providers=["deepseek"])
    note = "Old text {}, new {}; ".format(*texts.split(" and "))
    assert head(found, found.costs[0])["note"].startswith(note)


@pytest.mark.parametrize("mark", [False, True])
def test_a_change_before_the_look_back_of_every_mark_is_named_as_the_reason(mark: bool) -> None:
    """177 of 179 blocks are the same, but "no earlier request begins like it" was said."""
    (cost,) = pg.diff(turns(60, mark=mark), turns(60, 10, mark), providers=["anthropic"]).costs
    like = "earlier requests begin like it, but left no entry that ends within the shared part"
    assert cost.reason == (
        f"{like}: the first change is at block 10, and the mark at block 59 looks back over 20 "
        "blocks only"
    )
    (near,) = pg.diff(turns(60, mark=mark), turns(60, 50, mark), providers=["anthropic"]).costs
    assert near.reason == f"{like}: the first change is at block 50"
    (other,) = pg.diff(turns(60, mark=mark), turns(60, 0, mark), providers=["anthropic"]).costs
    assert other.reason == "no earlier request begins like it"


def test_where_nothing_is_marked_the_half_of_a_block_is_read_too() -> None:
    openai = {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": RULES * 2},
            {"role": "user", "content": "When is high water?"},
        ],
    }
    after = copy.deepcopy(openai)
    after["messages"][0]["content"] = RULES + "And then another thing." + RULES  # type: ignore[index]
    found = pg.diff(openai, after, providers=["openai-before-5.6", "openai"])
    half = found.first.count.tokens // 2
    assert abs(found.costs[0].read - half) < 0.05 * half
    assert found.costs[1].read == 0  # a breakpoint is whole or not there


@pytest.mark.parametrize("said", ["14:20", "Sure! " * 90, "潮汐" * 200])
def test_what_both_begin_with_has_one_size_for_every_provider(said: str) -> None:
    """A version that goes on with all of the other reads what that one left, to the token."""
    words = [{"role": "system", "content": RULES}, {"role": "user", "content": "High water?"}]
    before = {"model": "anthropic/claude-sonnet-4.6", "messages": words}
    after = before | {"messages": [*words, {"role": "assistant", "content": said}, words[1]]}
    found = pg.diff(before, after)
    rows = [(cost.provider, cost.read, cost.lost) for cost in found.costs if cost.cached_before]
    assert len(rows) >= 5
    assert rows == [
        (cost.provider, cost.cached_before, 0) for cost in found.costs if cost.cached_before
    ]


def test_marks_that_were_sent_are_those_that_count() -> None:
    marked = copy.deepcopy(BEFORE)
    text = {"type": "text", "text": BEFORE["system"], "cache_control": {"type": "ephemeral"}}
    marked["system"] = [text]
    after = copy.deepcopy(marked)
    after["messages"] = [{"role": "user", "content": f"Something else? {RULES}"}]
    (cost,) = pg.diff(marked, after, providers=["anthropic"]).costs
    assert cost.marks == "as sent"
    assert cost.read == cost.cached_before > 1024
    assert cost.lost == 0


def test_two_forms_are_written_in_one_dialect() -> None:
    openai = {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": BEFORE["system"]},
            {"role": "user", "content": "When is high water?"},
        ],
    }
    found = pg.diff({**BEFORE, "messages": BEFORE["messages"][1:2]}, openai)
    differ = "anthropic-messages and openai-chat differ in form"
    assert found.form == f"in native (assumed): {differ}"
    told = [(c.kind, c.tier) for c in found.changes]
    assert told == [("removed", "tools")] * 3 + [("same", "system")] * 3 + [("same", "messages")]


def test_gemini_and_responses_bodies_are_cut_into_tools_too() -> None:
    gemini = {
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
        "tools": [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}],
    }
    after = copy.deepcopy(gemini)
    after["tools"][0]["functionDeclarations"][1]["description"] = "B"  # type: ignore[index]
    found = pg.diff(gemini, after, model="gemini/gemini-2.5-flash")
    assert [(c.kind, c.block.name) for c in found.changes][:2] == [("same", "a"), ("changed", "b")]
    responses = {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Hi"}],
    }
    found = pg.diff(responses, {**responses, "instructions": "Be long."})
    assert [c.kind for c in found.changes] == ["changed", "same"]
    assert found.is_exact and found.tokens == 0


def test_the_same_json_in_another_order_is_said_to_be_that() -> None:
    after = copy.deepcopy(BEFORE)
    schema = after["tools"][0]["input_schema"]
    after["tools"][0]["input_schema"] = dict(reversed(schema.items()))
    found = pg.diff(BEFORE, after)
    assert found.changes[0].note == "the same JSON with keys in another order"
    assert found.costs[0].parts and found.costs[0].parts.rule == "json-key-order"


@pytest.mark.parametrize("name", pg.sample_sessions())
def test_a_request_without_an_answer_has_as_many_tokens_as_compare_counts(name: str) -> None:
    """The environment block was left out."""
    session = pg.sample_sessions()[name]
    side = pg.diff(session, session).first
    compared = pg.compare(session, ["native"]).columns[0].rendering
    counted = count_rendering(compared, session.task.model_name)
    assert side.is_answered or side.count.tokens == counted.tokens


def test_a_request_is_chosen_by_its_number_and_one_too_many_is_told() -> None:
    session = pg.sample_sessions()["02-parallel-calls"]
    found = pg.diff(session, session, request=1)
    assert found.first.position == "request 1 of 3, before its answer"
    assert pg.diff(session, session).first.position == "request 3 of 3"
    with pytest.raises(InputFault, match="request 9 of 3 requests; expected 1 to 3"):
        pg.diff(session, session, request=9)


TEXTS = st.text(st.sampled_from("ab \n#.é"), max_size=60)


@given(TEXTS, TEXTS)
def test_no_word_is_lost(before: str, after: str) -> None:
    runs = word_changes(before, after)
    assert "".join(text for kind, text in runs if kind != "added") == before
    assert "".join(text for kind, text in runs if kind != "removed") == after
    assert all(text for _, text in runs)


@given(st.text(st.sampled_from("ab \n#<>"), max_size=200))
def test_sections_are_the_text(text: str) -> None:
    long = text * 20
    assert "".join(sections(long)) == long


def test_a_check_says_each_change_of_the_prefix_in_a_line() -> None:
    after = {**changed(), "tool_choice": {"type": "any"}}
    found = pg.diff(BEFORE, after)
    more = found.tokens
    assert against_failures(found) == [
        "tool_choice: None, then {'type': 'any'}",
        "in another order: write",
        "tool list: added, 41 tokens",
        "system: # Tone: changed, +1 tokens: ' very' added",
    ]
    assert against_failures(found, prefix_may_change=True, most_tokens_more=max(more, 0)) == []
    longer = pg.diff(changed(), BEFORE)
    (line,) = against_failures(longer, prefix_may_change=True, most_tokens_more=longer.tokens - 1)
    assert f"~{longer.tokens:,} tokens more than the baseline's" in line
    assert against_failures(pg.diff(BEFORE, BEFORE), 0) == []
    with pytest.raises(InputFault, match="most-tokens-more as well"):
        against_failures(found, prefix_may_change=True)


def run(*arguments: str) -> tuple[int, str, str]:
    done = terminals.run(*arguments)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "baseline.json", tmp_path / "now.json"
    for path, body in zip(paths, (BEFORE, changed()), strict=True):
        path.write_text(json.dumps(body))
    return str(paths[0]), str(paths[1])


def test_the_command_line_compares_and_checks(files: tuple[str, str]) -> None:
    baseline, now = files
    status, said, _ = run("diff", baseline, now, "--words")
    assert status == 0
    assert "Be{+ very+} brief." in said
    status, said, _ = run("check", now, "--against", baseline, "--most-tokens-more", "0")
    assert (status, said.count("\n")) == (1, 3), said
    status, _, said = run("check", now, "--most-tokens-more", "5")
    assert status == 2 and "expected --against FILE as well" in said


def test_a_provider_of_whose_cache_nothing_is_read_says_why(tmp_path: Path) -> None:
    mark = {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    body = {"model": "gpt-5.6", "messages": [{"role": "user", "content": [mark]}]}
    file = tmp_path / "a.json"
    file.write_text(json.dumps(body))
    asked = ("--provider", "deepseek", "--provider", "openai")
    _, said, _ = run("diff", str(file), str(file), *asked)
    assert said.splitlines()[-1:] == [
        "OpenAI from 5.6 on, nothing read: a mark with the lifetime '5m'; known: 30m",
    ]


def test_what_a_check_quotes_is_cut_between_its_quotes() -> None:
    """What is cut off is told by a `…` behind them: unlike it, a `…` between them was sent."""
    day = "# Day\nToday is {}.\n\n# Rules\nBe brief."
    before = {**BEFORE, "system": day.format("Sunday")}
    closed = "Monday. It's a day on which the harbour is closed to all…"
    choice = {"type": "tool", "name": "mcp__tide__now", "disable_parallel_tool_use": True}
    after = {**BEFORE, "system": day.format(closed), "tool_choice": choice}
    lines = against_failures(pg.diff(before, after))
    assert [line.partition(": ")[2].rpartition("tokens: ")[2] for line in lines] == [
        "None, then \"{'type': 'tool', 'name': 'mcp__tide__now\"…",
        "'Sunday', then \"Monday. It's a day on which the harbour \"…",
    ]


def test_a_check_tells_sessions_by_what_they_say_and_not_by_their_place(tmp_path: Path) -> None:
    def asked(question: str, system: str = "Be brief.") -> str:
        said = [{"role": "user", "content": question}]
        body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": system, "messages": said}
        return json.dumps(body) + "\n"

    baseline, now = tmp_path / "baseline.jsonl", tmp_path / "now.jsonl"
    baseline.write_text("".join(map(asked, ("tides?", "ports?", "ships?"), "xyz")))
    now.write_text("".join(map(asked, ("ships?", "tides?", "ports?"), "zxy")))
    check = ("check", str(now), "--against", str(baseline), "--most-tokens-more", "0")
    status, said, told = run(*check)
    assert (status, said) == (0, "3 sessions passed against the baseline, +0 tokens\n"), told
    now.write_text("".join(map(asked, ("ships?", "tides?"), "za")))  # one is gone, one has changed
    status, said, _ = run(*check)
    assert (status, said.splitlines()) == (
        1,
        [
            "2 sessions, but 3 in the baseline",
            "session 2 (1 of the baseline): system: x: removed, 1 tokens",
            "session 2 (1 of the baseline): system: a: added, 1 tokens",
        ],
    )


def test_sessions_that_nothing_tells_apart_stand_by_their_places() -> None:
    alike = [Session(messages=(Message("user", (TextPart("so"),)),))] * 3
    named = [Session(title=name) for name in "ab"]
    assert paired(alike, alike[:2]) == [(0, 0), (1, 1)]
    assert paired([*alike, *named], [*named[::-1], *alike]) == [
        (4, 0), (3, 1), (0, 2), (1, 3), (2, 4)
    ]  # fmt: skip
    runs = [Session(agent=Agent(session="s", sub_agent=each)) for each in ("", "a")]
    assert paired(runs, runs[::-1]) == [(1, 0), (0, 1)]


def test_the_fixture_fails_with_the_reasons(files: tuple[str, str]) -> None:
    folder = Path(files[0]).parent
    (folder / "test_prompt.py").write_text(
        """
def test_kept(check_against):
    assert check_against("baseline.json", "baseline.json", most_tokens_more=0).tokens == 0


def test_other(check_against):
    check_against("now.json", "baseline.json")
"""
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_prompt.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "tool list: added, 41 tokens" in done.stdout


def test_the_answer_shows_itself_and_hostile_text_stays_text() -> None:
    hostile = copy.deepcopy(BEFORE)
    hostile["system"] = "<script>document.title='owned'</script>"
    found = pg.diff(BEFORE, hostile)
    assert list(found.frame()["change"])[:3] == ["same"] * 3
    shown = found.html()
    assert "<script>document" not in shown
    assert "<del>" in shown and "&lt;script&gt;" in shown
    told = json.loads(json.dumps(found.as_json()))
    assert told["kinds"]["same"] == 7 and told["costs"][0]["provider"] == "anthropic"


def test_tools_that_are_still_read_have_the_size_that_was_counted() -> None:
    """Sized by characters, 19 tools of 332 tokens were 766."""
    schema = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
    tools = [
        {"type": "function", "function": {"name": f"look_{n}", "parameters": schema}}
        for n in range(20)
    ]
    before, after = (
        {
            "model": "gpt-4o",
            "tools": tools,
            "messages": [{"role": "system", "content": begin + "Be exact. " * 700}],
        }
        for begin in ("Today is Friday. ", "It is Saturday. ")
    )
    (cost,) = pg.diff(before, after, providers=["deepseek"]).costs
    assert cost.read == pg.count_tokens(before).by_origin["tools"]


def versions_page(**parameters: str) -> AppTest:
    for name, body in (("old", BEFORE), ("new", changed())):
        if name not in on_disk().names():
            on_disk().add(name, new_entry(pg.load_session(body)))
    return page("diff", **{"before": "old", "session": "new", **parameters})


def test_the_page_lists_blocks_and_costs_and_filters_by_its_address() -> None:
    app = versions_page(view="Blocks")  # an older address
    head, strips, side = boards(app)
    assert "1 moved, 1 changed, 1 added, 2 removed" in head["figures"][1][1]
    assert list(app.dataframe[0].value["change"]) == [
        "moved", "added", "changed", "removed", "removed"
    ]  # fmt: skip
    found = pg.diff(BEFORE, changed())
    columns = strips["cards"][0]["columns"]
    assert [column["change"] for column in columns] == [each.kind for each in found.changes]
    rows = {card["key"]: card["rows"] for card in side["cards"]}["caches"]
    assert [row["cells"][1] for row in rows] == [f"{c.read:,} of {c.total:,}" for c in found.costs]
    given = {"part": "tools", "writer": "agent"}
    app = versions_page(view="Table", **given)
    assert list(app.dataframe[0].value["block"]) == ["write", "list"]
    app = versions_page(**given)
    payloads = [json.loads(each.proto.json) for each in app.get("bidi_component")]
    (panes,) = [data for data in payloads if "panes" in data]
    assert panes["base"] == 0 and len(panes["panes"]) == 2


def test_a_session_is_first_compared_with_the_version_before_it() -> None:
    """It was compared with whatever stood first in the list, a pasted reply."""
    for name in ("a reply", "prompt", "prompt (2)", "prompt (3)", "prompt (4)", "quite another"):
        on_disk().add(name, new_entry(pg.load_session(BEFORE)))
    compared = {
        name: page("diff", session=name).selectbox(key="before").value
        for name in ("prompt (3)", "prompt (4)", "prompt")
    }
    assert compared == {
        "prompt (3)": "prompt (2)", "prompt (4)": "prompt (3)", "prompt": "prompt (2)"
    }  # fmt: skip


@pytest.mark.parametrize("space", [" ", "\n"])
def test_a_sentence_that_moved_in_a_long_prompt_is_all_that_changed(space: str) -> None:
    """Beyond a thousand words in one line all was struck, and all was new."""
    rules = space.join(f"Rule {n} is that step {n * 7} follows step {n * 3}." for n in range(300))
    before = f"{rules} Today is Friday. Answer in German."
    runs = word_changes(before, f"Today is Saturday. {rules} Answer in German.")
    assert "".join(text for change, text in runs if change != "added") == before
    assert sum(len(text) for change, text in runs if change != "same") < 60
