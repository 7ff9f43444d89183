"""Conversation templates: what a set may hold, how one is run, and what goes wrong."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import terminals
from streaming import answering, event

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault, UnknownNameError
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.aichatflow import (
    Answers,
    Outcome,
    RecordedAnswers,
    Step,
    check_templates,
    dump_templates,
    load_templates,
    parse_templates,
    recorded_results,
    run,
)
from playground.plugins.systems.aichatflow.samples import sample
from playground.plugins.trials.demo_server import serving
from playground.sessions.native_format import dump_recording, read_recording

TIDES: Final = ToolMetadata(
    name="get_tides",
    description="Tides of a port.",
    input_schema={"type": "object", "properties": {"port": {"type": "string"}}},
)
SET: Final = """
new-conversation:
- {role: default-request, model: gpt-4o, temperature: 0.2, functions: [get_tides]}
- {role: system, content: "You help in {{.port}}."}
- {role: user, content: "{{.question}}"}
- {role: request, temperature: 1, call_function: get_tides}
- {role: user, content: "In short?"}
default:
- {role: user}
"""
CALL: Final = {"function_call": {"name": "get_tides", "arguments": '{"port": "Brest"}'}}
NEW: Final[dict[str, Any]] = {
    "template": "new-conversation",
    "call": {"get_tides": "5"},
}
DATA: Final = {"port": "Brest", "question": "When is high water?"}


def ran(source: str, answers: list[Any], data: Any = None, **more: Any) -> Outcome:
    more.setdefault("tools", [TIDES])
    return run(parse_templates(source), data or DATA, Answers(answers), **more)


def roles(outcome: Outcome) -> list[str]:
    return [message["role"] for message in outcome.history]


def test_a_run_renders_asks_calls_and_goes_on() -> None:
    found = ran(
        SET, [CALL, "At 05:12.", "05:12"], template="new-conversation", call={"get_tides": {"h": 5}}
    )
    assert roles(found) == [
        "default-request",
        "system",
        "user",
        "request",
        "assistant",
        "function",
        "assistant",
        "user",
        "assistant",
    ]
    forced, free, last = found.requests
    assert forced.messages == [
        {"role": "system", "content": "You help in Brest."},
        {"role": "user", "content": "When is high water?"},
    ]
    assert forced.parameters == {
        "model": "gpt-4o",
        "temperature": 1,  # the request's own
        "functions": ["get_tides"],
        "call_function": "get_tides",
    }
    assert free.parameters == {**forced.parameters, "call_function": "*"}  # not forced again
    assert free.messages[-1] == {"role": "function", "name": "get_tides", "content": '{"h": 5}'}
    assert last.parameters == {"model": "gpt-4o", "temperature": 0.2, "functions": ["get_tides"]}
    assert [step.what for step in found.trace][:5] == ["message"] * 4 + ["request"]


def test_a_request_is_openais_in_both_forms() -> None:
    found = ran(
        SET, [CALL, "At 05:12.", "05:12"], template="new-conversation", call={"get_tides": "5"}
    )
    old = found.requests[0].body()
    assert old["function_call"] == {"name": "get_tides"}
    assert old["functions"][0]["parameters"] == TIDES.input_schema
    assert "call_function" not in old
    new = found.requests[1].body(modern=True)
    assert new["tool_choice"] == "auto"
    assert new["tools"][0]["function"]["name"] == "get_tides"
    assert new["messages"][2]["tool_calls"][0]["id"] == "call_1"
    assert new["messages"][3] == {"role": "tool", "tool_call_id": "call_1", "content": "5"}
    quiet = "{role: request, functions: [get_tides], call_function: ''}"
    assert ran(f"- {quiet}", ["x"]).requests[0].body()["function_call"] == "none"
    assert "function_call" not in ran("- {role: request}", ["x"]).requests[0].body()
    nothing = ran("- {role: request, call_function: '*'}", ["x"]).requests[0]
    assert not {"function_call", "functions"} & nothing.body().keys()
    assert not {"tool_choice", "tools"} & nothing.body(modern=True).keys()


def test_the_history_is_kept_and_its_default_request_counts() -> None:
    history = [{"role": "default-request", "model": "old"}, {"role": "user", "content": "before"}]
    given = copy.deepcopy(history)
    found = ran("- {role: user, content: now}", ["yes"], history=history)
    assert history == given
    assert found.history[:2] == history
    assert found.requests[0].parameters == {"model": "old"}
    none = ran("- {role: user, content: now}", ["yes"], defaults={"model": "system's"})
    assert none.requests[0].parameters == {"model": "system's"}


def test_truncate_and_the_limit_hide_what_is_old() -> None:
    history = [{"role": "user", "content": "old"}, {"role": "assistant", "content": "yes"}]
    cut = ran("[{role: truncate}, {role: user, content: new}]", ["ok"], history=history)
    assert [m["content"] for m in cut.requests[0].messages] == ["new"]
    assert roles(cut) == ["user", "assistant", "truncate", "user", "assistant"]
    called = [
        {"role": "user", "content": "x" * 500},
        {"role": "assistant", **CALL},
        {"role": "function", "name": "get_tides", "content": "y" * 300},
    ]
    kept = ran("- {role: user, content: new}", ["ok"], history=called, most_characters=200)
    assert [m["role"] for m in kept.requests[0].messages] == ["user"]  # the pair goes together
    whole = ran("- {role: user, content: new}", ["ok"], history=called, most_characters=600)
    assert [m["role"] for m in whole.requests[0].messages] == ["assistant", "function", "user"]


def test_parts_come_from_the_content_or_the_input() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "https://example.org/{{.a}}.png"}}]
    assert ran("- {role: user}", ["ok"], {"contentParts": parts}).history[0]["content"] == parts
    source = (
        "- role: user\n  content:\n  - {type: text, text: 'In {{.port}}'}\n"
        "  - {type: image_url, image_url: {url: 'https://example.org/{{.a}}.png', detail: high}}"
    )
    first, second = ran(source, ["ok"]).history[0]["content"]
    assert first == {"type": "text", "text": "In Brest"}
    assert second["image_url"]["url"].endswith("{{.a}}.png")  # only text is a template
    with pytest.raises(InputFault, match=r"template 'default', message 0: .* contentParts"):
        ran("- {role: user}", ["ok"])


def switch(name: str) -> dict[str, Any]:
    arguments = f'{{"template": "{name}"}}'
    return {"function_call": {"name": "botSwitchTemplate", "arguments": arguments}}


def test_a_template_switches_to_another_and_a_loop_is_bounded() -> None:
    source = (
        "default: [{role: request}, {role: user, content: never}]\n"
        "other: [{role: user, content: 'other {{.port}}'}]"
    )
    found = ran(source, [switch("other"), "done"])
    assert [m.get("content") for m in found.history] == [None, None, "other Brest", "done"]
    noted = next(step for step in found.trace if step.what == "switch")
    assert noted.source == "left before message 1, goes on with other"
    with pytest.raises(UnknownNameError, match="unknown template 'x'; known: default, other"):
        ran(source, [switch("x")])
    with pytest.raises(InputFault, match="switched more than 20 times"):
        ran(source, [switch("default")] * 30)
    with pytest.raises(InputFault, match="makes more than 100 requests"):
        ran("- {role: request}", [CALL] * 200, call=lambda name, arguments: "again")


def test_the_limits_are_of_the_whole_run_and_allow_as_much_as_they_say() -> None:
    most = ran("- {role: request}", [*[switch("default")] * 20, "done"])
    assert (len(most.requests), most.history[-1]["content"]) == (21, "done")
    with pytest.raises(InputFault, match="switched more than 20 times"):
        ran("- {role: request}", [*[switch("default")] * 21, "done"])
    twice = "[{role: request}, {role: request}]"
    answers = [*[CALL] * 59, "one", *[CALL] * 39, "two"]
    assert len(ran(twice, answers, call=lambda name, arguments: "again").requests) == 100
    with pytest.raises(InputFault, match="makes more than 100 requests"):
        ran(twice, [CALL, *answers], call=lambda name, arguments: "again")


def test_a_switch_names_a_template_in_its_only_text_however_that_is_called() -> None:
    source = "default: [{role: request}]\nother: [{role: user, content: hello}]"

    def asked(arguments: str) -> Any:
        return {"function_call": {"name": "botSwitchTemplate", "arguments": arguments}}

    found = ran(source, [asked('{"name": "other", "turn": 1}'), "done"])
    assert [message.get("content") for message in found.history] == [None, None, "hello", "done"]
    for unclear in ("{}", '{"name": "other", "and": "other"}', '{"template": 1, "name": "other"}'):
        with pytest.raises(InputFault, match="is called without a template's name"):
            ran(source, [asked(unclear), "done"])


def test_a_call_that_nobody_knows_is_an_answer() -> None:
    found = ran("- {role: request, functions: [get_tides]}", [CALL])
    assert roles(found) == ["request", "assistant"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("- {role: robot}", "template 'default', message 0: Input tag 'robot'"),
        ("- {content: x}", "message 0: Unable to extract tag using discriminator 'role'"),
        ("a: [{role: function, content: x}]", "template 'a', message 0: Field required"),
        ("- {role: truncate, content: x}", "field content"),
        ("- {role: request, top_k: 3}", "field top_k"),
        ("- {role: default-request}", "a default-request needs at least one parameter"),
        ("- {role: user, content: x, function_call: {name: f, arguments: '{}'}}", "function_call"),
        ("- {role: assistant, function_call: {name: f, arguments: {a: 1}}}", "valid string"),
        ("- {role: system, content: [{type: text, text: x}]}", "field content"),
        ("- {role: assistant}", "neither content nor function_call is given"),
        ("a: 3", "template 'a'"),
        ("a: [b: [", "not plain YAML"),
        ("!!python/object/apply:os.system ['true']", "not plain YAML"),
        (
            "a: &a [{role: truncate}, {role: truncate}]\nb0: &b0 [*a, *a]\n"
            + "".join(f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]\n" for n in range(1, 9)),
            "aliases that expand to too many values",
        ),
    ],
)
def test_a_bad_set_is_one_clear_error(source: str, said: str) -> None:
    with pytest.raises(InputFault) as caught:
        parse_templates(source, "set.yaml")
    assert str(caught.value).startswith("set.yaml")
    assert said in str(caught.value)


def test_a_fault_names_template_message_line_and_column_and_leaves_the_history() -> None:
    source = 'a: [{role: user, content: x}, {role: user, content: "line\\n{{eq .n 3}}"}]'
    history: list[Any] = [{"role": "user", "content": "before"}]
    with pytest.raises(InputFault) as caught:
        ran(source, ["x"], {"n": 3}, template="a", history=history)
    assert "template 'a', message 1: template: t:2:2: executing" in str(caught.value)
    assert "write 3.0" in str(caught.value)
    assert history == [{"role": "user", "content": "before"}]
    with pytest.raises(UnknownNameError, match="unknown function 'x'; known: get_tides"):
        ran("- {role: request, functions: [x]}", ["y"])
    with pytest.raises(UnknownNameError, match="function to be called 'get_tides'"):
        ran("- {role: request, call_function: get_tides}", ["y"])
    with pytest.raises(InputFault, match="only 1 answer"):
        ran("[{role: request}, {role: request}]", ["one"])


@pytest.mark.parametrize(
    ("history", "answers", "said"),
    [
        ([1], ["x"], "history, message 0: not a message; expected an object with a role"),
        ([{}], ["x"], "history, message 0"),
        ([], [3], "an answer: not a message"),
        ([], [{"function_call": "x"}], "an answer, field function_call: not a call"),
    ],
)
def test_messages_from_elsewhere_are_checked(history: Any, answers: Any, said: str) -> None:
    with pytest.raises(InputFault) as caught:
        ran("- {role: user, content: x}", answers, history=history)
    assert said in str(caught.value)


def test_a_run_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "set.yaml"
    file.write_text(SET)
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TIDES.model_dump()]))
    command = ["template", "run", str(file)]
    command += ["--template", "new-conversation", "--input", json.dumps(DATA)]
    command += ["--tools", str(tools), "--functions", '{"get_tides": "05:12"}']
    answers = ["--answers", json.dumps([CALL, "At 05:12.", "05:12"])]
    done = terminals.run(*command, *answers, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, len(found["requests"]), len(found["history"])) == (0, 3, 9)
    told = terminals.run(*command, *answers)
    assert "[new-conversation 1] message" in told.stdout
    short = terminals.run(*command)
    assert (short.returncode, short.stdout) == (2, "")
    assert short.stderr.count("\n") == 1
    assert "only 0 answers; expected one for each request" in short.stderr


# variables, live answers, recordings


def test_the_trace_names_variables_used_and_missing() -> None:
    source = (
        "default:\n- {role: user, content: '{{.port}} {{with .crew}}{{.mate}}{{end}}"
        "{{range .boats}}{{.name}}{{end}} {{.gone.deeper}}'}\n"
    )
    data = {"port": "Brest", "crew": {}, "boats": [{"name": "Mona"}, {}]}
    step = ran(source, ["ok"], data).trace[0]
    assert step.source.startswith("{{.port}}")
    assert step.used == (".port", ".crew", ".boats", ".name", ".gone.deeper")
    assert step.missing == (".name", ".gone.deeper")  # one of the two boats has no name
    two = "[{type: text, text: '{{.a}}'}, {type: text, text: '{{.b}}'}]"
    parts = f"default:\n- {{role: user, content: {two}}}"
    step = ran(parts, ["ok"], {"a": "x"}).trace[0]
    assert (step.used, step.missing) == ((".a", ".b"), (".b",))


def test_steps_are_seen_as_they_happen_and_after_a_fault() -> None:
    seen: list[Step] = []
    with pytest.raises(InputFault, match="only 2 answers"):
        ran(
            SET,
            [CALL, "At 05:12."],
            template="new-conversation",
            call={"get_tides": "5"},
            watch=seen.append,
        )
    assert [step.what for step in seen][-2:] == ["message", "request"]
    assert [step.what for step in seen].count("request") == 3


def test_the_function_that_switches_is_described_to_the_model() -> None:
    source = (
        "default:\n- {role: request, functions: [botSwitchTemplate]}\n"
        "other: [{role: user, content: x}]\n"
    )
    (sent, *_) = ran(source, ["ok"]).requests
    (function,) = sent.body()["functions"]
    assert function["name"] == "botSwitchTemplate"
    assert function["parameters"]["properties"]["template"]["enum"] == ["default", "other"]


def test_another_model_stands_in_for_every_other() -> None:
    found = ran(
        SET, [CALL, "a", "b"], template="new-conversation", call={"get_tides": "5"}, model="m"
    )
    assert {sent.parameters["model"] for sent in found.requests} == {"m"}
    assert found.history[0]["model"] == "gpt-4o"  # what the template says is kept


def test_every_request_is_a_session_for_every_dialect() -> None:
    found = ran(SET, [CALL, "At 05:12.", "05:12"], **NEW)
    for sent in found.requests:
        session = sent.session("a request")
        assert [tool.name for tool in session.tools] == ["get_tides"]
        comparison = pg.compare(session)
        assert len(comparison.columns) == len(pg.dialect_names())
        for column in comparison.columns:
            assert "When is high water?" in "".join(block.text for block in column.blocks)
    native = pg.compare(found.requests[-1].session(), ["native"]).columns[0].rendering
    assert native.messages[-1] == {"role": "user", "content": "In short?"}


def test_a_list_alone_is_the_default_and_json_is_read_too() -> None:
    alone = parse_templates("- {role: user, content: x}")
    assert list(alone) == ["default"]
    assert parse_templates('{"default": [{"role": "user", "content": "x"}]}') == alone
    named = parse_templates("new-conversation: [{role: truncate}]\ndefault: [{role: truncate}]")
    assert list(named) == ["new-conversation", "default"]


def test_a_set_goes_round_through_yaml() -> None:
    for source in (SET, PARTS):
        once = parse_templates(source)
        assert parse_templates(dump_templates(once)) == once
        assert dump_templates(parse_templates(dump_templates(once))) == dump_templates(once)


PARTS: Final = """
default:
- role: assistant
  name: name
  content: text content
  function_call:
    name: function_name
    arguments: '{"a": 1}'
- role: user
  content:
    - type: text
      text: text content
    - type: image_url
      image_url:
        url: https://example.com/image.jpg
        detail: high
- role: truncate
"""


def test_odd_arguments_are_told_and_sent_as_they_are() -> None:
    source = (
        "default:\n- role: assistant\n  content: text content\n  function_call:\n"
        "    name: function_name\n    arguments: JSON struct encoded as string\n"
    )
    templates = parse_templates(source)
    (found,) = check_templates(templates)
    assert (found.code, found.where) == ("template-arguments", "template 'default', message 0")
    (sent,) = ran(source, ["ok"]).requests
    assert sent.messages[0]["function_call"]["arguments"] == "JSON struct encoded as string"
    assert check_templates(parse_templates(PARTS)) == []


def test_results_that_were_recorded_answer_again() -> None:
    live = ran(SET, [CALL, "At 05:12.", "05:12"], **NEW)
    session = live.requests[-1].session()
    again = ran(SET, [CALL, "At 05:12.", "05:12"], **{**NEW, "call": recorded_results(session)})
    assert again.history == live.history
    with pytest.raises(InputFault, match="no more recorded results of get_tides"):
        ran(SET, [CALL, CALL, CALL], **{**NEW, "call": recorded_results(session)})
    nobody = recorded_results(live.requests[0].session())
    assert roles(ran(SET, [CALL, "05:12"], **{**NEW, "call": nobody}))[-3:] == [
        "assistant",
        "user",
        "assistant",
    ]


@pytest.mark.parametrize("name", paths.sample_templates())
def test_a_sample_runs_with_its_own_data(name: str) -> None:
    files = sample(name)
    templates = load_templates(files.templates)
    found = run(
        templates, files.input, Answers(files.answers), tools=files.tools, call=files.functions
    )
    assert len(found.requests) == len(files.answers)


def test_a_run_against_a_server_is_recorded_and_replayed() -> None:
    """The whole loop: a model asked over HTTP, raw streams kept, the same run without it."""
    files = sample("harbour-desk")
    templates = load_templates(files.templates)
    more: dict[str, Any] = {"tools": files.tools, "call": files.functions, "model": "openai/demo"}
    with serving() as server:
        asked = RecordedAnswers("openai/demo", f"{server.url}/v1")
        live = run(templates, files.input, asked, **more)
    assert len(asked.recordings) == len(live.requests) == 4
    assert {recording.api for recording in asked.recordings} == {"openai-chat"}
    stored = [read_recording(dump_recording(recording)) for recording in asked.recordings]
    again = run(templates, files.input, Answers.of_recordings(stored), **more)
    assert again == live
    assert live.history[-1]["content"] == "Here is what I found. ✅"
    assert "function" in roles(live)


def test_an_answer_that_breaks_off_rolls_back() -> None:
    source = "default:\n- {role: user, content: hi}\n"
    with serving() as server:
        asked = RecordedAnswers("openai/demo-error", f"{server.url}/v1")
        with pytest.raises(InputFault, match="the answer broke off.*the demo model fails here"):
            run(parse_templates(source), {}, asked)
        cut = RecordedAnswers("openai/demo-cut", f"{server.url}/v1")
        with pytest.raises(InputFault, match="answer 1: the answer broke off: the stream ends"):
            run(parse_templates(source), {}, cut)
        with pytest.raises(InputFault, match="no model"):
            run(parse_templates(source), {}, RecordedAnswers("", server.url))
    assert len(asked.recordings) == 1  # what came is kept


def test_a_run_whose_page_is_closed_keeps_what_came_and_asks_no_more() -> None:
    """Only the requests of Compare looked at their tab: a template's run went on to its end."""
    closed = threading.Event()

    def endless() -> Iterator[bytes | float]:
        for number in count():
            if number == 5:
                closed.set()
            yield event("word ")
            yield 0.1

    templates = parse_templates("default:\n- {role: user, content: hi}\n")
    with answering(endless) as server:
        asked = RecordedAnswers("openai/m", server.url, alive=lambda: not closed.is_set())
        with pytest.raises(InputFault, match="the page that asked for it was closed"):
            run(templates, {}, asked)
        with pytest.raises(InputFault, match="stopped before this answer was asked for"):
            run(templates, {}, asked)
        assert len(server.requests) == 1
    assert asked.recordings[0].reply.content.startswith("word word")


def test_a_live_run_on_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    with serving() as server:
        base = f"{server.url}/v1"
        live = command(
            "harbour-desk", "--live", "--model", "openai/demo", "--base-url", base, "-o", str(out)
        )
    again = command("harbour-desk", "--replay", str(out), "--model", "openai/demo")
    assert live == again
    session = pg.load_session(out)
    assert len(session.recordings) == 4
    assert session.messages[-1].tool_results[0].result


def test_a_set_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(InputFault, match="nope: no such file; expected a file, or a sample: harb"):
        sample("nope")


def test_answers_come_from_one_place() -> None:
    done = terminals.run("template", "run", "tide-talk", "--live", "--replay", "x.json")
    assert (done.returncode, done.stderr) == (
        2,
        "playground: answers from --live and --replay; expected one of them\n",
    )


@pytest.mark.long
def test_what_was_answered_before_a_fault_is_kept(tmp_path: Path) -> None:
    out, source = tmp_path / "run.json", tmp_path / "set.yaml"
    source.write_text("- {role: request}\n- {role: user, content: '{{.n.x}}'}\n")
    with serving() as server:
        program = ["template", "run", str(source), "--live"]
        program += ["--model", "openai/demo", "--base-url", f"{server.url}/v1", "-o", str(out)]
        program += ["--input", '{"n": 3}']
        done = terminals.run(*program)
    assert done.returncode == 2
    assert "template 'default', message 1" in done.stderr
    assert pg.load_session(out).recordings[0].reply.content == "I will look that up."


def command(*arguments: str) -> Any:
    done = terminals.run("template", "run", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
