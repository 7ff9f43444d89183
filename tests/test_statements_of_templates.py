"""Statements of AIChatFlow's reference of conversation templates, each tried by code."""

# mypy: ignore-errors
# A statement is one expression over code that has no types.

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import BaseModel
from seed_statements import Statement, confirm, differs, each, raises, works

from playground.base.errors import InputFault, PlaygroundError
from playground.conversations import Answers, parse_templates, run
from playground.nouns.tools import ToolMetadata

NOW: Final = {"role": "user", "content": "now"}


def sent(*messages: Any, data: Any = None, answers: Any = ("ok",), **more: Any) -> Any:
    return run(parse_templates(json.dumps([*messages])), data or {}, Answers([*answers]), **more)


def message(data: Any = None, **given: Any) -> Any:
    return sent(given, data=data).requests[0].messages[0]


def refused(*messages: Any) -> str:
    return raises(InputFault, lambda: parse_templates(json.dumps([*messages])))


def body(parameters: Any, *before: Any, **more: Any) -> Any:
    default = {"role": "default-request", "model": "gpt-4o", **parameters}
    return sent(default, *before, NOW, **more).requests[0].body()


def call(name: str = "f", arguments: str = "{}") -> Any:
    return {"role": "assistant", "function_call": {"name": name, "arguments": arguments}}


FUNCTION: Final = ToolMetadata(name="f", description="A function.")
PARTS: Final = [
    {"type": "text", "text": "{{.a}}"},
    {"type": "image_url", "image_url": {"url": "https://e.x/{{.a}}.png", "detail": "high"}},
]
SWITCH: Final = """
default:
  - {role: default-request, model: gpt-4o, functions: [botSwitchTemplate]}
  - {role: user, content: "one {{.a}}"}
  - {role: request}
  - {role: user, content: never}
other:
  - {role: user, content: "two {{.a}}"}
"""


def switched() -> Any:
    answers = Answers([call("botSwitchTemplate", '{"template": "other"}'), "ok"])
    return run(parse_templates(SWITCH), {"a": "x"}, answers)


def rolled_back() -> bool:
    history = [{"role": "user", "content": "before"}]
    error = raises(
        PlaygroundError,
        lambda: sent(NOW, {"role": "user", "content": "{{.a.b | nothing}}"}, history=history),
    )
    return history == [{"role": "user", "content": "before"}] and bool(error)


def calling(**parameters: Any) -> Any:
    answers = [call(), "ok"]
    default = {"role": "default-request", "model": "gpt-4o", "functions": ["f"], **parameters}
    return sent(default, NOW, answers=answers, tools=[FUNCTION], call={"f": "result"})


TEMPLATES: Final[list[Statement]] = [
    *(
        works(
            f"{role} is a role that is sent",
            lambda role=role: message(role=role, content="x")["role"] == role,
        )
        for role in ("system", "assistant", "user")
    ),
    works(
        "function is one, with a name",
        lambda: (
            message(role="function", name="f", content="x")["name"] == "f"
            and "name" in refused({"role": "function", "content": "x"})
        ),
    ),
    *(
        works(
            f"{role} is a role that is not sent",
            lambda given=given: (
                [m["role"] for m in sent(given, NOW).requests[0].messages] == ["user"]
            ),
        )
        for role, given in (
            ("default-request", {"role": "default-request", "model": "gpt-4o"}),
            ("truncate", {"role": "truncate"}),
        )
    ),
    works(
        "request is one, too",
        lambda: len(sent(NOW, {"role": "request"}, NOW, answers=["a", "b"]).requests) == 2,
    ),
    works("another role is refused", lambda: "roles" in refused({"role": "tool", "content": "x"})),
    works(
        "an assistant's message may have a function_call",
        lambda: (
            message(**call(arguments='{"a": 1}'))["function_call"]
            == {"name": "f", "arguments": '{"a": 1}'}
        ),
    ),
    works("no other may", lambda: refused({**call(), "role": "user", "content": "x"})),
    works(
        "a user's content may be parts",
        lambda: (
            [p["type"] for p in message(role="user", content=PARTS)["content"]]
            == ["text", "image_url"]
        ),
    ),
    works(
        "an image has an address and a detail",
        lambda: message(role="user", content=PARTS)["content"][1]["image_url"]["detail"] == "high",
    ),
    works("no other's content may", lambda: refused({"role": "system", "content": PARTS})),
    works(
        "a content is a template of Go's text/template",
        lambda: (
            message({"a": [1, 2]}, role="user", content="{{range .a}}<{{.}}>{{end}}")["content"]
            == "<1><2>"
        ),
    ),
    works(
        "each text part is one",
        lambda: message({"a": "x"}, role="user", content=PARTS)["content"][0]["text"] == "x",
    ),
    works(
        "parts that are no text are not",
        lambda: (
            message({"a": "x"}, role="user", content=PARTS)["content"][1]["image_url"]["url"]
            == "https://e.x/{{.a}}.png"
        ),
    ),
    works(
        "a user's message without content has the input's contentParts",
        lambda: message({"contentParts": PARTS}, role="user")["content"] == PARTS,
    ),
    works(
        "without them it is an error",
        lambda: "contentParts" in raises(InputFault, lambda: message(role="user")),
    ),
    works(
        "parts are as in OpenAI's reference",
        lambda: "part 0" in raises(InputFault, lambda: message({"contentParts": [5]}, role="user")),
    ),
    works(
        "a default-request needs a parameter",
        lambda: "at least one" in refused({"role": "default-request"}),
    ),
    works("a request needs none", lambda: parse_templates('[{"role": "request"}]')),
    works(
        "a truncate has nothing but its role", lambda: refused({"role": "truncate", "content": "x"})
    ),
    *(
        works(
            f"{name} is a parameter",
            lambda name=name, value=value: body({name: value})[name] == value,
        )
        for name, value in {
            "model": "gpt-4o",
            "max_tokens": 9,
            "temperature": 0.1,
            "top_p": 0.5,
            "stop": ["END"],
            "presence_penalty": 0.2,
            "frequency_penalty": 0.3,
            "logit_bias": {"1": 2},
        }.items()
    ),
    works(
        "functions are names; their definitions stand elsewhere",
        lambda: (
            body({"functions": ["f"]}, tools=[FUNCTION])["functions"][0]["description"]
            == "A function."
        ),
    ),
    works(
        "an unknown name is an error",
        lambda: "unknown function" in raises(PlaygroundError, lambda: body({"functions": ["f"]})),
    ),
    works(
        "call_function of nothing avoids calls",
        lambda: (
            body({"functions": ["f"], "call_function": ""}, tools=[FUNCTION])["function_call"]
            == "none"
        ),
    ),
    works(
        "of an asterisk allows them",
        lambda: (
            body({"functions": ["f"], "call_function": "*"}, tools=[FUNCTION])["function_call"]
            == "auto"
        ),
    ),
    works(
        "of a name demands that one",
        lambda: (
            body({"functions": ["f"], "call_function": "f"}, tools=[FUNCTION])["function_call"]
            == {"name": "f"}
        ),
    ),
    works(
        "a run begins with a history",
        lambda: (
            [
                m["content"]
                for m in sent(NOW, history=[{"role": "user", "content": "before"}])
                .requests[0]
                .messages
            ]
            == ["before", "now"]
        ),
    ),
    works(
        "which may have default-request, request and truncate",
        lambda: (
            sent(
                NOW,
                history=[
                    {"role": "default-request", "model": "m"},
                    {"role": "request"},
                    {"role": "truncate"},
                ],
            )
            .requests[0]
            .parameters
            == {"model": "m"}
        ),
    ),
    works(
        "one of a set is chosen",
        lambda: (
            run(parse_templates(SWITCH), {"a": "x"}, Answers(["ok"]), template="other")
            .requests[0]
            .messages[0]["content"]
            == "two x"
        ),
    ),
    works(
        "messages are read up to a request",
        lambda: (
            len(sent(NOW, {"role": "request"}, NOW, answers=["a", "b"]).requests[0].messages) == 1
        ),
    ),
    works("without one, to the end", lambda: len(sent(NOW, NOW).requests[0].messages) == 2),
    works(
        "the nearest default-request before it counts",
        lambda: (
            sent(
                {"role": "default-request", "model": "a"},
                {"role": "default-request", "model": "b"},
                NOW,
            )
            .requests[0]
            .parameters
            == {"model": "b"}
        ),
    ),
    works(
        "without one, the system's configuration",
        lambda: sent(NOW, defaults={"model": "c"}).requests[0].parameters == {"model": "c"},
    ),
    works(
        "a request's parameters override it, key by key",
        lambda: (
            sent(
                {"role": "default-request", "model": "a", "top_p": 0.5},
                NOW,
                {"role": "request", "model": "b"},
            )
            .requests[0]
            .parameters
            == {"model": "b", "top_p": 0.5}
        ),
    ),
    works(
        "messages are sent up to the context's limit",
        lambda: (
            len(
                sent(*[{"role": "user", "content": "x" * 50}] * 9, most_characters=200)
                .requests[0]
                .messages
            )
            == 2
        ),
    ),
    works(
        "answers are appended",
        lambda: sent(NOW).history[-1] == {"role": "assistant", "content": "ok"},
    ),
    works(
        "a known function is run, its result is a message",
        lambda: calling().history[-2] == {"role": "function", "name": "f", "content": "result"},
    ),
    works(
        "the next request has the same parameters",
        lambda: calling(temperature=0.1).requests[1].parameters["temperature"] == 0.1,
    ),
    works(
        "without forcing a call",
        lambda: (
            [r.parameters["call_function"] for r in calling(call_function="f").requests]
            == ["f", "*"]
        ),
    ),
    works(
        "botSwitchTemplate goes on with another template",
        lambda: switched().requests[1].messages[-1]["content"] == "two x",
    ),
    works(
        "unread messages are processed after an answer",
        lambda: (
            [m["role"] for m in sent(NOW, {"role": "request"}, NOW, answers=["a", "b"]).history]
            == ["user", "request", "assistant", "user", "assistant"]
        ),
    ),
    works("an error discards what was added", rolled_back),
    works(
        "any data may be the input",
        lambda: (
            message(
                type("Data", (BaseModel,), {"__annotations__": {"a": str}})(a="x"),
                role="user",
                content="{{.a}}",
            )["content"]
            == "x"
        ),
    ),
    differs(
        "the first template is suspended",
        lambda: "never" not in str(switched().requests),
        "conversation-templates.md",
        "is not resumed",
    ),
    differs(
        "what truncate does is told below",
        lambda: (
            [
                m["content"]
                for m in sent(NOW, {"role": "truncate"}, {"role": "user", "content": "x"})
                .requests[0]
                .messages
            ]
            == ["x"]
        ),
        "conversation-templates.md",
        "messages before the last `truncate` are not sent",
    ),
]


@each(TEMPLATES)
def test_a_statement_of_the_template_reference_is_true_here(statement: Statement) -> None:
    confirm(statement)
