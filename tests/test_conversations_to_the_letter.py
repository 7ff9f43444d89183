"""Conversation templates where an API or a program meets them: results, room, inputs, faults."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any

import pytest
from pydantic import BaseModel, Field

from playground.base.errors import InputFault
from playground.cache.prices import context_tokens
from playground.conversations import Answers, parse_templates, run
from playground.nouns.tools import ToolMetadata

SWITCHING = """
default:
  - {role: default-request, model: gpt-4o, functions: [botSwitchTemplate, get_tides]}
  - {role: user, content: hello}
  - {role: request}
  - {role: user, content: and then}
other:
  - {role: user, content: from the other}
"""
TIDES = ToolMetadata(name="get_tides", parameters={"port": "where"})


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"role": "assistant", "function_call": {"name": name, "arguments": arguments}}


def unanswered(messages: list[dict[str, Any]]) -> list[str]:
    """The ids of calls that the message after them does not answer: APIs refuse such a request."""
    found = []
    for index, message in enumerate(messages):
        ids = [each["id"] for each in message.get("tool_calls", [])]
        answers = [m.get("tool_call_id") for m in messages[index + 1 : index + 1 + len(ids)]]
        found += [each for each in ids if each not in answers]
    return found


def test_the_request_after_a_switch_has_a_result_for_its_call() -> None:
    answers = Answers([call("botSwitchTemplate", '{"template": "other"}'), "done"])
    found = run(parse_templates(SWITCHING), {}, answers, tools=[TIDES])
    body = found.requests[1].body(modern=True)
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "tool", "user"]
    assert unanswered(body["messages"]) == []
    assert [m["role"] for m in found.history].count("function") == 0
    assert found.requests[1].session().messages[2].tool_results[0].tool_name == "botSwitchTemplate"


def test_a_call_that_nobody_answers_has_a_result_in_the_next_request() -> None:
    found = run(parse_templates(SWITCHING), {}, Answers([call("get_tides"), "done"]), tools=[TIDES])
    assert unanswered(found.requests[1].body(modern=True)["messages"]) == []


# room

LONG = "high water " * 2500  # some 5,000 tokens
ASKED = "- {role: default-request, model: MODEL}\n- {role: user, content: now}"


def history(count: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"{index} {LONG}"} for index in range(count)]


def asked(model: str, count: int, **more: Any) -> Any:
    templates = parse_templates(f"default:\n{ASKED.replace('MODEL', model)}")
    return run(templates, {}, Answers(["ok"]), history=history(count), **more)


def test_the_context_limit_comes_from_the_model() -> None:
    assert context_tokens("gpt-4") == 8192
    assert context_tokens("no/such-model") is None
    found = asked("gpt-4", 3)
    assert [m["content"][:1] for m in found.requests[0].messages] == ["2", "n"]
    (finding,) = found.findings
    assert finding.code == "context-cut"
    assert finding.message == (
        "the oldest messages that can be spared (2 of 4) are not sent: "
        "room for 8,192 tokens, the context of gpt-4"
    )


def test_what_fits_and_what_is_unknown_is_sent_whole() -> None:
    for model in ("gpt-4o", "no/such-model"):
        found = asked(model, 3)
        assert len(found.requests[0].messages) == 4
        assert found.findings == []


def test_a_given_limit_stands_before_the_models() -> None:
    found = asked("gpt-4o", 3, most_tokens=6000)
    assert [m["content"][:1] for m in found.requests[0].messages] == ["2", "n"]
    assert found.findings[0].message.endswith("room for 6,000 tokens")
    found = asked("gpt-4", 3, most_characters=100)
    assert [m["content"] for m in found.requests[0].messages] == ["now"]
    assert found.findings[0].message.endswith("room for 100 characters")


TALKED = """
default:
  - {role: default-request, model: gpt-4o-mini, functions: [get_tides]}
  - {role: system, content: Be short.}
  - {role: user, content: "{{.q}}"}
  - {role: request}
"""


def talked(question: str, answers: list[Any], **more: Any) -> Any:
    templates = parse_templates(TALKED)
    return run(templates, {"q": question}, Answers(answers), tools=[TIDES], **more)


def test_the_system_message_and_the_newest_question_are_never_cut() -> None:
    found = talked("now", ["ok"], history=history(3), most_tokens=6000)
    (request,) = found.requests
    assert [m["content"][:3] for m in request.messages] == ["2 h", "Be ", "now"]
    before = [{"role": "system", "content": "Be short."}, *history(3)]
    templates = parse_templates("default:\n- {role: user, content: now}")
    found = run(templates, {}, Answers(["ok"]), history=before, most_tokens=6000)
    assert [m["content"][:3] for m in found.requests[0].messages] == ["Be ", "2 h", "now"]
    assert found.findings[0].message.startswith("the oldest messages that can be spared (2 of 5)")


def test_a_question_stays_where_the_results_of_functions_have_no_room() -> None:
    long = dict.fromkeys(["get_tides"], LONG)
    found = talked("now", [call("get_tides"), call("get_tides"), "ok"], call=long, most_tokens=6000)
    sent = [[m["role"] for m in request.messages] for request in found.requests]
    assert sent[1] == sent[2] == ["system", "user", "assistant", "function"]


@pytest.mark.parametrize("limit", [{}, {"most_tokens": 100}, {"most_characters": 100}])
def test_what_has_no_room_at_all_is_an_error_and_nothing_is_kept(limit: dict[str, Any]) -> None:
    kept = history(1)
    answers = Answers(["ok"])
    with pytest.raises(
        InputFault, match=r"'default', message 3: the system message and the newest"
    ):
        run(
            parse_templates(TALKED.replace("gpt-4o-mini", "gpt-4")),
            {"q": "word " * 20_000},
            answers,
            history=kept,
            tools=[TIDES],
            **limit,
        )
    assert kept == history(1)


# inputs and functions


class Port(BaseModel):
    name: str
    opened: datetime.date = Field(serialization_alias="since")


@dataclasses.dataclass
class Question:
    port: Port
    texts: list[str]


PORT = Port(name="Brest", opened=datetime.date(1631, 2, 3))
INPUTS = [
    (PORT, "{{.name}} {{.since}}"),
    (Question(PORT, ["a", "b"]), "{{.port.name}} {{.port.since}}{{range .texts}}{{end}}"),
    ({"port": PORT, "more": [Question(PORT, [])]}, "{{.port.name}} {{(index .more 0).port.since}}"),
]


@pytest.mark.parametrize(("data", "source"), INPUTS)
def test_an_input_may_be_a_pydantic_model_or_a_dataclass(data: Any, source: str) -> None:
    templates = parse_templates(f'default:\n- {{role: user, content: "{source}"}}')
    found = run(templates, data, Answers(["ok"]))
    assert found.requests[0].messages[0]["content"] == "Brest 1631-02-03"


def test_an_input_that_is_no_object_is_told() -> None:
    with pytest.raises(InputFault, match="the input is a int; expected a JSON object, a pydantic"):
        run(parse_templates("default:\n- {role: user, content: x}"), 7, Answers(["ok"]))


def test_what_json_cannot_hold_is_told_of_an_input() -> None:
    circle: dict[str, Any] = {}
    circle["again"] = circle

    class Raw(BaseModel):
        raw: bytes = b"\xff"

    for data, words in (
        (circle, "it contains itself, or is nested too deeply"),
        (Raw(), "invalid utf-8"),
    ):
        with pytest.raises(InputFault, match=f"the input cannot be written as JSON: .*{words}"):
            run(parse_templates("default:\n- {role: user, content: x}"), data, Answers(["ok"]))


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (object(), "function 'get_tides' gives a object: TypeError: Object of type object"),
        (b"x", "function 'get_tides' gives a bytes: TypeError"),
        (Silent(), "function 'get_tides' fails: Silent"),
    ],
)
def test_what_a_function_gives_or_raises_is_told_in_words(result: Any, words: str) -> None:
    def called(name: str, arguments: dict[str, Any]) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    answers = Answers([call("get_tides"), "done"])
    with pytest.raises(InputFault, match=f"^template 'default', message 2: {words}"):
        run(parse_templates(SWITCHING), {}, answers, tools=[TIDES], call=called)


def test_a_functions_own_exception_is_told_with_template_and_message() -> None:
    def fail(name: str, arguments: dict[str, Any]) -> str:
        raise KeyError(f"no {arguments['port']}\nat all")

    before = history(1)
    kept = [dict(message) for message in before]
    templates = parse_templates(SWITCHING)
    answers = Answers([call("get_tides", '{"port": "Brest"}'), "done"])
    with pytest.raises(InputFault) as caught:
        run(templates, {}, answers, tools=[TIDES], call=fail, history=before, most_tokens=10**6)
    words = str(caught.value)
    assert words.startswith("template 'default', message 2: function 'get_tides' fails: KeyError:")
    assert "no Brest" in words
    assert "\n" not in words
    assert before == kept


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [{role: system, content: x}]\na: [{role: system, content: y}]", "'a' occurs twice"),
        (
            "a: [{role: user, content: [{type: image_url, image_url: {url: u, detail: extreme}}]}]",
            r"content\.0\.image_url\.detail.*'low', 'high' or 'auto'|content\.0\.detail.*'low'",
        ),
        ("a: [{role: user, content: [5]}]", r"content\.0"),
        ("a: [{role: request, temperature: hot}]", "field temperature:"),
    ],
)
def test_a_template_that_is_wrong_is_named_where_it_is(text: str, said: str) -> None:
    """A name that stood twice lost its first template; a detail was told of as the content."""
    with pytest.raises(InputFault, match=said):
        parse_templates(text)


@pytest.mark.parametrize("part", [5, "text", {"text": "no type"}, None])
def test_parts_of_the_input_are_objects_with_a_type(part: object) -> None:
    templates = parse_templates("default: [{role: user}, {role: request}]")
    with pytest.raises(InputFault, match="part 1 of contentParts"):
        run(templates, {"contentParts": [{"type": "text", "text": "a"}, part]}, Answers([]))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text"},
        {"type": "text", "text": 5},
        {"type": "image_url", "image_url": "https://e.example/a.png"},
        {"type": "image_url", "image_url": {"url": "a", "detail": "extreme"}},
        {"type": "video", "video": "a"},
    ],
)
def test_a_part_that_content_may_not_hold_is_refused_in_the_input_as_well(part: object) -> None:
    """The input's parts were only seen to have a type, and were sent."""
    content = json.dumps([part])
    with pytest.raises(InputFault, match=r"template 'default', message 0"):
        parse_templates(f"default: [{{role: user, content: {content}}}, {{role: request}}]")
    templates = parse_templates("default: [{role: user}, {role: request}]")
    with pytest.raises(InputFault, match=r"part 0 of contentParts is .*: "):
        run(templates, {"contentParts": [part]}, Answers([]))
