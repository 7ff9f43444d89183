"""`pg.session` and `pg.load_session` of what a program holds, in any provider's shape."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any, Final

import pytest
from pydantic import BaseModel
from session_examples import ANTHROPIC, ARGS, ASK, GEMINI, ID, NAME, OPENAI, SAY, SCHEMA, TOOL

import playground as pg
from playground.base.errors import InputFault
from playground.nouns.messages import (
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.sessions.building import Place, SessionBuilder

BEDROCK: Final[list[dict[str, Any]]] = [
    {"role": "user", "content": [{"text": ASK}]},
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"text": SAY},
            {"toolUse": {"toolUseId": ID, "name": NAME, "input": ARGS}},
        ],
    },
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": ID, "content": [{"json": {"t": 3}}]}}],
    },
]
BEDROCK_TOOLS: Final = {
    "tools": [{"toolSpec": {"name": NAME, "description": "d", "inputSchema": {"json": SCHEMA}}}]
}
TOOLS: Final[list[Any]] = [
    [TOOL],
    [{"name": NAME, "description": "d", "input_schema": SCHEMA}],
    [{"functionDeclarations": [{"name": NAME, "description": "d", "parameters": SCHEMA}]}],
    BEDROCK_TOOLS,
]
SYSTEMS: Final[list[Any]] = ["Be", [{"type": "text", "text": "Be"}], {"parts": [{"text": "Be"}]}]


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC, GEMINI, BEDROCK])
def test_messages_of_every_provider_say_the_same(messages: list[dict[str, Any]]) -> None:
    session = pg.session(messages=messages)
    assert [m.role for m in session.messages[:3]] == ["user", "assistant", "tool"]
    (call,) = session.messages[1].tool_calls
    assert (call.tool_name, call.args) == (NAME, ARGS)
    assert session.messages[1].text == SAY
    (result,) = session.messages[2].tool_results
    assert (result.tool_call_id, result.tool_name) == (call.tool_call_id, NAME)


def test_bedrocks_blocks_are_read_whole() -> None:
    image = {"image": {"format": "jpeg", "source": {"bytes": b"\x00\x01"}}}
    failed = {"toolResult": {"toolUseId": ID, "content": [{"text": "no"}], "status": "error"}}
    more = [{"role": "user", "content": [image]}, {"role": "user", "content": [failed]}]
    session = pg.session([*BEDROCK, *more])
    assert session.messages[1].parts == (
        ReasoningPart("hm", "s"),
        TextPart(SAY),
        ToolCallPart(ID, NAME, ARGS),
    )
    assert session.messages[2].parts == (ToolResultPart(ID, NAME, {"t": 3}),)
    assert session.messages[3].parts == (ImagePart("data:image/jpeg;base64,AAE="),)
    assert session.messages[4].parts == (ToolResultPart(ID, NAME, "no", is_error=True),)


@pytest.mark.parametrize("tools", TOOLS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_tools_and_a_system_prompt_in_any_form(tools: Any, system: Any) -> None:
    session = pg.session("Hi", tools, system, "openai/gpt-5")
    assert [(tool.name, tool.description) for tool in session.tools] == [(NAME, "d")]
    assert [(m.role, m.text) for m in session.messages] == [("system", "Be"), ("user", "Hi")]
    assert session.task.model_name == "openai/gpt-5"


BODIES: Final[list[dict[str, Any]]] = [
    {"model": "m", "messages": OPENAI, "tools": [TOOL]},
    {"model": "m", "messages": ANTHROPIC, "system": "Be", "tools": TOOLS[1]},
    {"contents": GEMINI, "systemInstruction": {"parts": [{"text": "Be"}]}, "tools": TOOLS[2]},
    {"modelId": "m", "messages": BEDROCK, "system": [{"text": "Be"}], "toolConfig": BEDROCK_TOOLS},
    {"model": "m", "input": "Hi", "instructions": "Be", "tools": [TOOL]},
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: str(list(body)))
def test_a_requests_body_is_a_session(body: dict[str, Any]) -> None:
    session = pg.session(body)
    assert [tool.name for tool in session.tools] == [NAME]
    assert session.messages[0].text in ("Be", ASK)
    other = pg.session(body, tools=[{"name": "g"}], model="other", system="Mine")
    assert [tool.name for tool in other.tools] == ["g"]
    assert (other.task.model_name, other.messages[0].text) == ("other", "Mine")


@pytest.mark.parametrize("body", BODIES[:4], ids=lambda body: str(list(body)))
def test_what_is_in_memory_loads_as_its_file_does(body: dict[str, Any]) -> None:
    loaded = pg.load_session(body)
    text = json.dumps(body)
    assert loaded == pg.load_session(text) == pg.load_session(text.encode())
    made = pg.session(body)
    assert (loaded.messages, loaded.tools, loaded.task) == (made.messages, made.tools, made.task)


MARK: Final = {"cache_control": {"type": "ephemeral"}}
AS_SENT: Final[dict[str, Any]] = {
    "model": "claude-sonnet-4-5",
    "system": [{"type": "text", "text": "Be brief.", **MARK}],
    "tools": [{"name": "f", "input_schema": {"type": "object"}, **MARK}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", **MARK}]}],
}


def test_marks_in_memory_are_those_of_its_file() -> None:
    """`pg.session` lost the marks and the parameters of a request, and the policy "as-sent" with
    them."""
    loaded = pg.load_session({**AS_SENT, "temperature": 0.5})
    made = pg.session({**AS_SENT, "temperature": 0.5})
    assert (made.rows, made.parameters, made.findings) == (loaded.rows, {"temperature": 0.5}, ())
    assert len(pg.cache_on_wire(made, policy="as-sent").marks) == 3
    (row,) = pg.session(**AS_SENT).rows
    assert row.body == AS_SENT
    marked = [{"role": "user", "content": [{"type": "text", "text": "Hi", **MARK}]}]
    (row,) = pg.session({**AS_SENT, "tools": []}, tools=[TOOL], model="m").rows
    assert row.body == {**AS_SENT, "tools": [TOOL], "model": "m"}
    assert pg.session(iter(marked)).rows[0].body == {"messages": marked}
    made = pg.session({**AS_SENT, "tools": []}, tools=iter([TOOL]))
    assert made.rows[0].body == {**AS_SENT, "tools": [TOOL]}
    for unsent in ([pg.Message("user")], {**AS_SENT, "tools": list(made.tools)}, OPENAI):
        assert pg.session(unsent).rows == ()
    tool = pg.ToolMetadata(name="f")
    for lost in (
        pg.session(marked, tools=[tool]),
        pg.session(AS_SENT, tools=[tool]),
        pg.session([pg.Message("user"), *marked]),
    ):
        assert lost.rows == () and "cache marks" in lost.findings[0].message
    assert pg.session(OPENAI, tools=[tool]).findings == ()


@pytest.mark.parametrize("read", [pg.session, pg.load_session])
def test_no_request_as_sent_outlives_what_it_was_sent_with(read: Any) -> None:
    """`replace` kept the old body, and counts, differences and caches answered for that."""
    body = {**AS_SENT, "messages": [*AS_SENT["messages"], {"role": "user", "content": "\ud83d"}]}
    made = read(body)
    changed = replace(made, tools=())
    assert pg.count_tokens(changed).tokens < pg.count_tokens(made).tokens
    assert pg.diff(made, changed).changes
    assert replace(made, messages=made.messages[:1]).rows == ()
    for same in (replace(made, title="t"), made.with_model("m"), copy.deepcopy(made)):
        assert same.rows == made.rows != ()
    again = pg.load_session(pg.dump_session(made))
    assert again.rows == made.rows
    assert replace(again, messages=()).rows == replace(again, parameters={"top_p": 1}).rows == ()


def test_of_two_tools_of_one_name_a_session_keeps_the_first() -> None:
    tools = [{"name": "a", "description": each, "input_schema": SCHEMA} for each in "xy"]
    body = {**AS_SENT, "tools": tools}
    made, loaded = pg.session(body), pg.load_session(body)
    assert [each.description for each in made.tools] == ["x"]
    assert made.tools == loaded.tools
    assert [(each.code, each.where) for each in made.findings] == [("duplicate-tool", "tools.1")]
    assert made.findings == loaded.findings
    builder = SessionBuilder()
    for given in (tools[:1], tools, tools):
        builder.add_tools(given, Place(field="tools"))
    assert builder.findings == [*made.findings]  # told once


def test_lines_of_text_and_lists_load_too() -> None:
    lines = "\n".join(json.dumps(message) for message in OPENAI)
    assert pg.load_session(lines).messages == pg.load_session(OPENAI).messages
    (loaded,) = pg.load_sessions({"messages": OPENAI})
    assert loaded.format == "openai-chat"


class Said(BaseModel):
    role: str = "user"
    content: str = "Hi"
    name: str | None = None


def test_our_own_and_an_sdks_objects_are_messages() -> None:
    own = pg.Message("assistant", (TextPart("Hello"),))
    session = pg.session([Said(), own, {"role": "user", "content": ASK}])
    assert [(m.role, m.text) for m in session.messages] == [
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", ASK),
    ]
    assert pg.session(own).messages == (own,)
    assert pg.session().messages == ()


def test_a_function_is_a_tool() -> None:
    def tides(harbour: str) -> str:
        """When it is low."""
        return harbour

    (tool,) = pg.session("Hi", [tides]).tools
    assert (tool.name, tool.required_parameters) == ("tides", ["harbour"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"role": "user", "content": "Hi"}, "Hi"], r"field messages\.1: 'Hi' is not a message"),
        ([{"role": "nobody"}], r"field messages\.0: .* is not a message; roles: system, developer"),
        ([{"role": "bot", "content": "x"}], r"messages\.0: .* is not a message; roles: system,"),
        ([{"role": "user", "content": 5}], r"messages\.0\.content: content 5 cannot be read"),
        ([{"role": "user"}], r"field messages\.0\.content: no content; expected a text, or parts"),
        (
            [{"role": "user", "content": object()}],
            r"field messages\.0\.content: .* is not a JSON value",
        ),
        ({"temperature": 1}, r"field messages: .*expected a text, a list of messages"),
    ],
)
def test_what_is_no_message_is_told_with_its_place(given: Any, message: str) -> None:
    with pytest.raises(InputFault, match=message):
        pg.session(given)


def test_a_value_that_holds_itself_is_told_of() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InputFault, match="nested too deeply"):
        pg.load_session([{"role": "user", "content": loop}])


def test_one_dialect_may_be_a_text() -> None:
    session = pg.session("Hi")
    (column,) = pg.compare(session, "xml").columns
    assert column.dialect.name == "xml"
    assert pg.carry("xml", {"a": 1}).dialects == ["xml"]
    assert [cell.policy for cell in pg.cache_matrix(session, "xml", policies="azad")] == ["azad"]


CONTENT: Final[list[dict[str, Any]]] = [{"type": "text", "text": "I look."}]
USE: Final = {"type": "tool_use", "id": "t1", "name": NAME, "input": {"city": "Oslo"}}
RAN: Final = {**USE, "type": "server_tool_use", "name": "web_search"}
FOUND: Final = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": []}
FUNCTION: Final = {"name": NAME, "arguments": '{"city": "Oslo"}'}
CHAT: Final = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [{"id": "t1", "type": "function", "function": FUNCTION}],
}
MESSAGE: Final = {"type": "message", "role": "assistant", "model": "m", "stop_reason": "end"}
WHOLE: Final[dict[str, dict[str, Any]]] = {
    "Anthropic": {**MESSAGE, "content": [*CONTENT, USE]},
    "of a batch": {"result": {"message": {**MESSAGE, "content": [*CONTENT, USE]}}},
    "OpenAI": {
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": CHAT, "finish_reason": "end"}],
    },
    "OpenAI Responses": {
        "object": "response",
        "model": "m",
        "status": "end",
        "output": [
            {"type": "message", "role": "assistant", "content": CONTENT},
            {"type": "function_call", "call_id": "t1", **FUNCTION},
        ],
    },
    "Gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "I look."},
                        {"functionCall": {"id": "t1", "name": NAME, "args": {"city": "Oslo"}}},
                    ],
                },
                "finishReason": "end",
            }
        ],
        "usageMetadata": {},
        "modelVersion": "m",
    },
    "Bedrock": {
        "model": "m",
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": "t1", "name": NAME, "input": {"city": "Oslo"}}},
                ],
            }
        },
        "stopReason": "end",
    },
    "Cohere": {"model": "m", "finish_reason": "end", "message": {**CHAT, "content": CONTENT}},
}


@pytest.mark.parametrize("api", WHOLE)
def test_a_whole_reply_of_any_provider_is_a_recording(api: str) -> None:
    """Those of Anthropic, Bedrock, Cohere and OpenAI Responses were said to hold none."""
    recording = pg.load_recording(WHOLE[api])
    reply = recording.reply
    (call,) = reply.tool_calls
    assert (reply.content, call.name, call.tool_call_id) == ("I look.", NAME, "t1")
    assert call.arguments_text == '{"city": "Oslo"}' and not call.by_provider
    assert (recording.model, recording.stop_reason, recording.findings) == ("m", "end", [])
    assert pg.replay(recording, "").result.tool_calls[0].arguments == {"city": "Oslo"}


@pytest.mark.parametrize("api", [api for api in WHOLE if api != "of a batch"])
def test_a_whole_reply_in_recorded_http_is_the_recording_that_it_is_alone(api: str) -> None:
    """A cassette or an archive was said to hold none."""
    asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    body = json.dumps(WHOLE[api])
    interaction = {
        "request": {"uri": "https://x/v1", "method": "POST", "body": asked},
        "response": {"status": {"code": 200, "message": "OK"}, "body": {"string": body}},
    }
    entry = {
        "request": {"url": "https://x/v1", "postData": {"text": asked}},
        "response": {"status": 200, "content": {"text": body}},
    }
    alone = pg.load_recording(WHOLE[api])
    for file in (
        {"interactions": [interaction], "version": 1},
        {"log": {"version": "1.2", "entries": [entry]}},
    ):
        (loaded,) = pg.load_sessions(file)
        (recording,) = loaded.session.recordings
        assert recording.reply == alone.reply and recording.findings == []
        assert (recording.model, recording.stop_reason) == (alone.model, alone.stop_reason)
        assert recording.usage == alone.usage
        assert [each.role for each in loaded.session.messages] == ["user", "assistant"]


def test_a_whole_reply_keeps_what_is_no_text_and_arguments_that_are_no_json() -> None:
    searched = pg.load_recording({**MESSAGE, "content": [RAN, FOUND, *CONTENT]})
    assert [each.code for each in searched.findings] == ["run-by-provider"]
    assert searched.reply.tool_calls[0].by_provider
    torn = {"type": "function_call", "call_id": "t1", **FUNCTION, "arguments": '{"city": "Os'}
    (call,) = pg.load_recording({"object": "response", "output": [torn]}).reply.tool_calls
    assert call.arguments_text == '{"city": "Os'


def test_a_whole_reply_says_what_its_stream_says_of_free_text_an_error_and_a_reason() -> None:
    """A patch became an aborted call, an error was lost, and a whole message had no end."""
    patch = {"type": "custom_tool_call", "call_id": "c1", "name": "apply", "input": "*** patch"}
    plain = {"type": "function_call", "call_id": "c2", "name": "say", "arguments": '{"input": "a"}'}
    custom = {"id": "c1", "type": "custom", "custom": {"name": "apply", "input": "*** patch"}}
    for body, expected in (
        ({"object": "response", "output": [patch, plain]}, ["*** patch", "a"]),
        ({"output": [{**plain, "call_id": "c1"}, patch], "object": "response"}, ["a", "*** patch"]),
        ({"choices": [{"message": {"role": "assistant", "tool_calls": [custom]}}]}, ["*** patch"]),
    ):
        recording = pg.load_recording(body)
        read = pg.replay(recording, "").result
        assert [call.arguments["input"] for call in read.tool_calls] == expected
        assert (read.aborted, recording.findings, recording.api) == ([], [], "")
    said = {"type": "message", "role": "assistant", "content": CONTENT}
    error = {"code": "server_error", "message": "boom"}
    failed = {"object": "response", "status": "failed", "error": error, "output": [said]}
    cut = {"status": "incomplete", "error": None, "incomplete_details": {"reason": "length"}}
    for whole, ended in ((failed, (error, "")), ({**failed, **cut}, (None, "length"))):
        found = pg.load_recording(whole)
        streamed = {"type": f"response.{whole['status']}", "response": whole}
        stream = pg.decode_stream(f"data: {json.dumps(streamed)}\n\n".encode())
        assert (found.error, found.stop_reason) == (stream.error, stream.stop_reason) == ended
        assert [each.code for each in found.findings] == [each.code for each in stream.findings]


def test_what_holds_no_reply_is_told_what_would() -> None:
    with pytest.raises(InputFault, match=r"no recording; expected a stream, a reply, .*pg\.rec"):
        pg.load_recording({"model": "m", "messages": OPENAI})
