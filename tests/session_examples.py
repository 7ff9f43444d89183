"""One small conversation as every format writes it: a question, a call, its result, an answer.

Each example is the least that its tool would write; what a format adds is in it once.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field, replace
from typing import Any

import yaml
from wires import FRAMINGS, WRITERS, Said

from playground.recordings import files
from playground.sessions.entries import new_entry
from playground.sessions.loading import load_session

ASK, SAY, ANSWER = "Weather in Oslo?", "Let me look.", "It is 3 °C."
NAME, RESULT, ID = "get_weather", "3 °C, dry", "c1"
ARGS = {"city": "Oslo"}
TEXT_ARGS = json.dumps(ARGS)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": NAME, "description": "d", "parameters": SCHEMA}}
TIME = "2026-01-02T03:04:05.000Z"
USAGE = {"input_tokens": 12, "output_tokens": 3}

CALL: dict[str, Any] = {
    "id": ID,
    "type": "function",
    "function": {"name": NAME, "arguments": TEXT_ARGS},
}
OPENAI: list[dict[str, Any]] = [
    {"role": "user", "content": ASK},
    {"role": "assistant", "content": SAY, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": ID, "content": RESULT},
    {"role": "assistant", "content": ANSWER},
]
USE = {"type": "tool_use", "id": ID, "name": NAME, "input": ARGS}
DONE = {"type": "tool_result", "tool_use_id": ID, "content": [{"type": "text", "text": RESULT}]}
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": ASK},
    {"role": "assistant", "content": [{"type": "text", "text": SAY}, USE]},
    {"role": "user", "content": [DONE]},
    {"role": "assistant", "content": ANSWER},
]
GEMINI: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": ASK}]},
    {
        "role": "model",
        "parts": [{"text": SAY}, {"functionCall": {"name": NAME, "args": ARGS}}],
    },
    {"role": "user", "parts": [{"functionResponse": {"name": NAME, "response": {"r": RESULT}}}]},
    {"role": "model", "parts": [{"text": ANSWER}]},
]
OTEL: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"type": "text", "content": ASK}]},
    {
        "role": "assistant",
        "parts": [
            {"type": "text", "content": SAY},
            {"type": "tool_call", "id": ID, "name": NAME, "arguments": ARGS},
        ],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": ID, "response": RESULT}]},
]


@dataclass(frozen=True)
class Example:
    """A file, or the files of a folder, and which of the standard messages are to come out.

    `said` and `answer` replace the standard texts where a format cannot hold them.
    """

    name: str
    content: bytes | dict[str, Any]
    messages: tuple[int, ...] = (0, 1, 2, 3)
    result: Any = RESULT
    tools: bool = False
    times: bool = False
    usage: bool = False
    recordings: int = 0
    ids: bool = True
    arguments: dict[str, Any] = field(default_factory=lambda: dict(ARGS))
    say: str = SAY
    before: int = 0  # messages in front of the standard ones, such as a system prompt


def document(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def lines(*values: Any) -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def socket_row(turns: int) -> dict[str, Any]:
    """Requests over one socket, each with what is new and the id of the reply before it."""
    sent: list[dict[str, Any]] = []
    came: list[dict[str, Any]] = []
    for turn in range(turns):
        item = {"type": "message", "role": "assistant", "content": f"answer {turn}"}
        sent.append({"model": "m", "input": f"question {turn}"})
        if turn:
            sent[-1]["previous_response_id"] = f"r{turn - 1}"
        done = {"id": f"r{turn}", "model": "m", "status": "completed", "output": [item]}
        came += [
            {"type": "response.output_text.delta", "delta": f"answer {turn}"},
            {"type": "response.completed", "response": done},
        ]
    return {
        "session": "s",
        "request": {"path": "/", "ws_events": sent},
        "response": {"ws_events": came},
    }


def answer_stream() -> str:
    return FRAMINGS["events"](WRITERS["openai-chat"](Said((), (ANSWER[:5], ANSWER[5:])))).decode()


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def _playground() -> Example:
    call = {"type": "tool_call", "tool_call_id": ID, "tool_name": NAME, "args": ARGS}
    done = {"type": "tool_result", "tool_call_id": ID, "tool_name": NAME, "result": RESULT}
    messages = [
        {"role": "user", "parts": [{"type": "text", "text": ASK}]},
        {"role": "assistant", "parts": [{"type": "text", "text": SAY}, call]},
        {"role": "tool", "parts": [done]},
        {"role": "assistant", "parts": [{"type": "text", "text": ANSWER}]},
    ]
    value = {"format": "playground-session/1", "messages": messages}
    return Example("session.json", document(value))


def _workspace() -> Example:
    """What the app keeps of a session, as it came."""
    example = _playground()
    assert isinstance(example.content, bytes)
    text = new_entry(load_session(example.content), origin="s.json")
    return replace(example, name="kept.jsonl", content=text.encode())


def _recording() -> Example:
    head = files.header("r", "native", "m")
    sent = {"request": {"messages": OPENAI[:3], "tools": [TOOL]}, "url": "http://x/v1"}
    data = answer_stream().encode()
    wire = [files.wire_line(data[i : i + 50], i / 1000) for i in range(0, len(data), 50)]
    return Example(
        "r.jsonl", lines(head, sent, *wire, {"end": 1.0}), tools=True, usage=True, recordings=1
    )


def _atif() -> Example:
    call = {"tool_call_id": ID, "function_name": NAME, "arguments": ARGS}
    steps = [
        {"step_id": 1, "source": "user", "message": ASK},
        {
            "step_id": 2,
            "source": "agent",
            "timestamp": TIME,
            "message": SAY,
            "tool_calls": [call],
            "observation": {"results": [{"source_call_id": ID, "content": RESULT}]},
            "metrics": {"prompt_tokens": 12},
        },
        {"step_id": 3, "source": "agent", "message": ANSWER},
    ]
    agent = {"name": "a", "version": "1", "model_name": "m", "tool_definitions": [TOOL]}
    value = {"schema_version": "ATIF-v1.8", "agent": agent, "steps": steps}
    return Example("a.json", document(value), tools=True, times=True, usage=True)


def _langfuse() -> Example:
    generation = {
        "id": "o",
        "type": "GENERATION",
        "name": "chat",
        "model": "m",
        "startTime": TIME,
        "input": json.dumps({"messages": OPENAI[:3], "tools": [TOOL]}),
        "output": json.dumps(OPENAI[3]),
        "usage": {"input": 12},
    }
    value = {"trace": {"id": "t", "name": "agent"}, "observations": [generation]}
    return Example("trace.json", document(value), tools=True, times=True, usage=True)


def _openinference() -> Example:
    attributes: dict[str, Any] = {"llm.model_name": "m", "llm.token_count.prompt": 12}
    for index, message in enumerate(OPENAI[:3]):
        start = f"llm.input_messages.{index}.message"
        attributes[f"{start}.role"] = message["role"]
        attributes[f"{start}.content"] = message["content"]
        if "tool_call_id" in message:
            attributes[f"{start}.tool_call_id"] = ID
    call = "llm.input_messages.1.message.tool_calls.0.tool_call"
    attributes[f"{call}.id"] = ID
    attributes[f"{call}.function.name"] = NAME
    attributes[f"{call}.function.arguments"] = TEXT_ARGS
    attributes["llm.tools.0.tool.json_schema"] = json.dumps(TOOL)
    attributes["llm.output_messages.0.message.role"] = "assistant"
    attributes["llm.output_messages.0.message.content"] = ANSWER
    span = {"name": "llm", "start_time": TIME, "end_time": TIME, "attributes": attributes}
    return Example("s.json", document({"spans": [span]}), tools=True, times=True, usage=True)


def _otel() -> Example:
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    tool = {"type": "function", "name": NAME, "parameters": SCHEMA}
    known = {
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.input.messages": json.dumps(OTEL),
        "gen_ai.output.messages": json.dumps(answer),
        "gen_ai.tool.definitions": json.dumps([tool]),
    }
    typed = [
        {"key": key, "value": {"intValue": "12"} if value == 12 else {"stringValue": value}}
        for key, value in known.items()
    ]
    start = "1767323045000000000"
    span = {"name": "chat m", "startTimeUnixNano": start, "attributes": typed}
    value = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    return Example("otlp.json", document(value), tools=True, times=True, usage=True)


def _inspect() -> Example:
    call = {"id": ID, "function": NAME, "arguments": ARGS}
    messages = [
        {"id": "1", "role": "user", "content": "attachment://long"},
        {"id": "2", "role": "assistant", "content": SAY, "tool_calls": [call]},
        {"id": "3", "role": "tool", "tool_call_id": ID, "function": NAME, "content": RESULT},
        {"id": "4", "role": "assistant", "content": ANSWER},
    ]
    choice = {"message": messages[3], "stop_reason": "stop"}
    event = {
        "event": "model",
        "timestamp": TIME,
        "tools": [{"name": NAME, "description": "d", "parameters": SCHEMA}],
        "output": {"choices": [choice], "usage": USAGE},
    }
    sample = {
        "id": 1,
        "epoch": 1,
        "messages": messages,
        "events": [event],
        "attachments": {"long": ASK},
    }
    members = {"header.json": b"{}", "samples/1_epoch_1.json": document(sample)}
    return Example("log.eval", zipped(members), tools=True, times=True, usage=True)


def _har() -> Example:
    entry = {
        "startedDateTime": TIME,
        "time": 1500,
        "request": {
            "url": "https://x/v1/chat/completions",
            "postData": {"text": json.dumps({"messages": OPENAI[:3], "tools": [TOOL]})},
        },
        "response": {"status": 200, "content": {"text": answer_stream()}},
    }
    value = {"log": {"version": "1.2", "entries": [entry]}}
    return Example("x.har", document(value), tools=True, times=True, usage=True, recordings=1)


def _nock() -> Example:
    body = {"messages": OPENAI[:3], "tools": [TOOL]}
    hexed = [answer_stream().encode().hex()]
    item = {"scope": "https://x:443", "path": "/v1", "status": 200, "body": body, "response": hexed}
    return Example("nock.json", document([item]), tools=True, usage=True, recordings=1)


def _llama_stack() -> Example:
    frames = WRITERS["openai-chat"](Said((), (ANSWER,)))
    chunks = [{"__type__": "ChatCompletionChunk", "__data__": frame} for frame in frames]
    body = {"model": "m", "messages": OPENAI[:3], "tools": [TOOL]}
    value = {
        "request": {"url": "http://x", "body": body},
        "response": {"body": chunks, "is_streaming": True},
    }
    return Example("r.json", document(value), tools=True, usage=True, recordings=1)


def _vcr() -> Example:
    body = json.dumps({"model": "m", "messages": OPENAI[:3], "tools": [TOOL]})
    stream = answer_stream().replace("\n", "\n        ")
    text = (
        "interactions:\n- request:\n"
        f"    body: {json.dumps(body)}\n    uri: https://x/v1\n"
        "  response:\n    body:\n      string: |+\n"
        f"        {stream}\n    status: {{code: 200, message: OK}}\nversion: 1\n"
    )
    return Example("c.yaml", text.encode(), tools=True, usage=True, recordings=1)


def httprr_of(body: bytes, stream: bytes) -> bytes:
    """One exchange as httprr keeps it, its reply in chunks; sizes stand before both."""
    asked = b"POST https://x/v1/chat HTTP/1.1\r\nHost: x\r\n\r\n" + body
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    came = head + f"{len(stream):x}\r\n".encode() + stream + b"\r\n0\r\n\r\n"
    return f"httprr trace v1\n{len(asked)} {len(came)}\n".encode() + asked + came


def httprr_parts() -> tuple[bytes, bytes]:
    body = json.dumps({"model": "m", "messages": OPENAI[:3], "tools": [TOOL]})
    return body.encode(), answer_stream().encode()


def _httprr() -> Example:
    content = httprr_of(*httprr_parts())
    return Example("t.httprr", content, tools=True, usage=True, recordings=1)


def _copilot_sdk() -> Example:
    """Two requests: the second one repeats the first, with what its tool gave."""
    requests = [{"messages": OPENAI[:2]}, {"messages": OPENAI}]
    value = json.loads(document({"models": ["m"], "conversations": requests}))
    content = yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
    return Example("snapshot.yaml", content.encode())


def _httpmock() -> Example:
    first = {"model": "m", "messages": OPENAI[:1], "tools": [TOOL]}
    then = {"model": "m", "messages": OPENAI[:3], "tools": [TOOL]}
    called = {"choices": [{"message": OPENAI[1], "finish_reason": "tool_calls"}]}
    stream = answer_stream().replace("\n", "\n    ")
    text = (
        "when:\n  path: /v1/chat/completions\n  method: POST\n"
        f"  body: {json.dumps(json.dumps(first))}\n"
        f"then:\n  status: 200\n  body: {json.dumps(json.dumps(called))}\n---\n"
        "when:\n  path: /v1/chat/completions\n  method: POST\n"
        f"  body: {json.dumps(json.dumps(then))}\n"
        f"then:\n  status: 200\n  body: |+\n    {stream}\n"
    )
    return Example("h.yaml", text.encode(), tools=True, usage=True, recordings=2)


def _agents_run() -> Example:
    said = {"type": "message", "role": "assistant"}
    asked = {**said, "content": [{"type": "output_text", "text": SAY}]}
    call = {"type": "function_call", "call_id": ID, "name": NAME, "arguments": TEXT_ARGS}
    answer = {**said, "id": "m2", "content": [{"type": "output_text", "text": ANSWER}]}
    output = {"type": "function_call_output", "call_id": ID, "output": RESULT}
    state = {
        "$schemaVersion": "1.9",
        "original_input": ASK,
        "current_agent": {"name": "helper"},
        "model_responses": [
            {"output": [{**asked, "id": "m1"}, call], "usage": USAGE},
            {"output": [answer], "usage": USAGE},
        ],
        "generated_items": [
            {"type": "tool_call_item", "raw_item": call},
            {"type": "tool_call_output_item", "raw_item": output, "output": RESULT},
            {"type": "message_output_item", "raw_item": answer},
        ],
    }
    return Example("state.json", document(state), usage=True)


def _atof() -> Example:
    """Two calls of a model, and of a tool between them, each a scope that begins and ends."""
    scopes: list[tuple[str, str, Any, Any]] = [
        ("llm", "m", {"messages": OPENAI[:1], "tools": [TOOL]}, OPENAI[1] | {"usage": USAGE}),
        ("tool", NAME, ARGS, RESULT),
        ("llm", "m", {"messages": OPENAI[:3], "tools": [TOOL]}, OPENAI[3] | {"usage": USAGE}),
    ]
    events = [
        {
            "kind": "scope",
            "scope_category": step,
            "atof_version": "0.1",
            "category": category,
            "category_profile": {"tool_call_id": ID} if category == "tool" else {"model_name": "m"},
            "uuid": f"u{number}",
            "timestamp": TIME.replace("05.000", f"0{number}.{tenths}00"),
            "name": name,
            "data": data,
        }
        for number, (category, name, *held) in enumerate(scopes)
        for step, tenths, data in zip(("start", "end"), (0, 5), held, strict=True)
    ]
    return Example("e.atof.jsonl", lines(*events), tools=True, times=True, usage=True)


def _ai_sdk() -> Example:
    """A span of the program's call, and inside it the request that was sent."""
    use = {"type": "tool-call", "toolCallId": ID, "toolName": NAME, "input": ARGS}
    output = {"type": "text", "value": RESULT}
    result = {"type": "tool-result", "toolCallId": ID, "toolName": NAME, "output": output}
    asked = [
        {"role": "user", "content": [{"type": "text", "text": ASK}]},
        {"role": "assistant", "content": [{"type": "text", "text": SAY}, use]},
        {"role": "tool", "content": [result]},
    ]
    tool = {"type": "function", "name": NAME, "inputSchema": SCHEMA}
    common: dict[str, Any] = {
        "ai.model.id": "m",
        "ai.response.text": ANSWER,
        "ai.usage.promptTokens": 12,
    }
    inner: dict[str, Any] = {
        "ai.prompt.messages": json.dumps(asked),
        "ai.prompt.tools": [json.dumps(tool)],
    }
    times: dict[str, Any] = {"startTime": [1767323045, 0], "endTime": [1767323046, 0]}
    spans = [
        {
            "name": "ai.generateText",
            **times,
            "attributes": {**common, "ai.prompt": json.dumps({"prompt": ASK})},
        },
        {"name": "ai.generateText.doGenerate", **times, "attributes": {**common, **inner}},
    ]
    return Example("spans.json", document(spans), tools=True, times=True, usage=True)


def _openhands_sdk() -> Example:
    def event(kind: str, source: str, **more: Any) -> dict[str, Any]:
        return {"id": "e", "timestamp": TIME, "source": source, **more, "kind": kind}

    def said(role: str, text: str) -> dict[str, Any]:
        content = [{"cache_prompt": False, "type": "text", "text": text}]
        return {"role": role, "content": content, "thinking_blocks": []}

    about = {"tool_name": NAME, "tool_call_id": ID}
    call = {"id": ID, "name": NAME, "arguments": TEXT_ARGS, "origin": "completion"}
    text = {"type": "text", "text": SAY}
    result = {"content": [{"type": "text", "text": RESULT}], "is_error": False}
    events = [
        event("MessageEvent", "user", llm_message=said("user", ASK)),
        event("ActionEvent", "agent", thought=[text], **about, tool_call=call, llm_response_id="r"),
        event("ObservationEvent", "environment", **about, observation=result),
        event("MessageEvent", "agent", llm_message=said("assistant", ANSWER)),
    ]
    return Example("events.json", document(events), times=True)


def _openhands_events() -> Example:
    choice = {"finish_reason": "tool_calls", "message": OPENAI[1]}
    response = {"model": "m", "choices": [choice], "usage": USAGE}
    tool = {"function_name": NAME, "tool_call_id": ID, "model_response": response}
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": ASK}},
        {
            "id": 1,
            "timestamp": TIME,
            "source": "agent",
            "action": "call",
            "tool_call_metadata": tool,
            "args": {"thought": SAY},
        },
        {"id": 2, "observation": "call", "cause": 1, "source": "agent", "content": RESULT}
        | {"tool_call_metadata": {"function_name": NAME, "tool_call_id": ID}},
        {"id": 3, "source": "agent", "action": "message", "args": {"content": ANSWER}},
    ]
    return Example("e.json", document(events), times=True, usage=True)


def _openhands_output() -> Example:
    history = [
        {"action": "message", "source": "user", "args": {"content": ASK}},
        {"action": NAME, "thought": SAY, "city": "Oslo"},
        {"observation": NAME, "content": RESULT},
        {"action": "message", "args": {"content": ANSWER}},
    ]
    value = {"instruction": ASK, "history": history}
    return Example("o.jsonl", lines(value, value), ids=False)


def _claude_code() -> Example:
    common = {"sessionId": "s", "isSidechain": False, "timestamp": TIME, "uuid": "u"}
    first = {"id": "m1", "model": "m", "role": "assistant", "usage": USAGE}
    values = [
        {**common, "parentUuid": None, "type": "user", "message": ANTHROPIC[0]},
        {  # one answer of the API is written as a line for each of its blocks
            **common,
            "type": "assistant",
            "message": {**first, "content": [{"type": "text", "text": SAY}]},
        },
        {**common, "type": "assistant", "message": {**first, "content": [USE]}},
        {**common, "type": "user", "message": ANTHROPIC[2], "toolUseResult": {"x": 1}},
        {**common, "type": "assistant", "message": {**ANTHROPIC[3], "id": "m2"}},
        {"type": "summary", "summary": "Weather", "leafUuid": "u"},
    ]
    return Example("s.jsonl", lines(*values), times=True, usage=True)


def _codex() -> Example:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": TIME, "type": "response_item", "payload": payload}

    def message(role: str, kind: str, text: str) -> dict[str, Any]:
        return item(type="message", role=role, content=[{"type": kind, "text": text}])

    usage = {"type": "token_count", "info": {"last_token_usage": USAGE}}
    values = [
        {"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/"}},
        {"timestamp": TIME, "type": "turn_context", "payload": {"model": "m"}},
        message("user", "input_text", ASK),
        message("assistant", "output_text", SAY),
        item(type="function_call", name=NAME, call_id=ID, arguments=TEXT_ARGS),
        {"timestamp": TIME, "type": "event_msg", "payload": usage},
        item(type="function_call_output", call_id=ID, output=RESULT),
        message("assistant", "output_text", ANSWER),
    ]
    return Example("rollout.jsonl", lines(*values), times=True, usage=True)


def _gemini_chat() -> Example:
    response = {"functionResponse": {"name": NAME, "response": {"output": RESULT}}}
    call = {"id": ID, "name": NAME, "args": ARGS, "result": [response], "status": "success"}
    tokens = {"input": 12, "output": 3}
    known = {"timestamp": TIME, "model": "m", "tokens": tokens}
    values = [
        {"sessionId": "s", "projectHash": "h", "startTime": TIME, "kind": "main"},
        {"id": "1", "type": "user", "content": "something else"},
        {"$rewindTo": "1"},
        {"id": "2", "type": "user", "content": [{"text": ASK}]},
        {"id": "3", "type": "gemini", "content": SAY, "toolCalls": [call], **known},
        {"id": "4", "type": "gemini", "content": "?", **known},
        {"$set": {"messages": [{"id": "4", "type": "gemini", "content": ANSWER, **known}]}},
    ]
    return Example("chat.jsonl", lines(*values), times=True, usage=True)


def _gemini_responses() -> Example:
    frames = WRITERS["gemini-generate"](Said((), (ANSWER,)))
    value = {"method": "generateContentStream", "response": frames}
    return Example("x.responses", lines(value), (3,), usage=True, recordings=1)


def _cline() -> Example:
    request = {"tokensIn": 12, "tokensOut": 3}
    interface = [{"ts": 1767323045000, "say": "api_req_started", "text": json.dumps(request)}]
    folder = {
        "tasks/7/api_conversation_history.json": document(ANTHROPIC),
        "tasks/7/ui_messages.json": document(interface),
    }
    return Example("folder", folder, times=True, usage=True)


def _opencode() -> Example:
    def message(number: int, role: str, **more: Any) -> dict[str, Any]:
        time = {"created": 1767323045000 + number}
        return {"id": f"m{number}", "sessionID": "s", "role": role, "time": time, **more}

    def part(number: int, **more: Any) -> dict[str, Any]:
        return {"id": f"p{number}", "sessionID": "s", "messageID": f"m{number}", **more}

    state = {"status": "completed", "input": ARGS, "output": RESULT}
    known = {"modelID": "m", "tokens": {"input": 12}}
    folder = {
        "session/s.json": {"id": "s", "projectID": "p", "title": "Weather"},
        "message/s/1.json": message(1, "user"),
        "message/s/2.json": message(2, "assistant", **known),
        "message/s/3.json": message(3, "assistant", **known),
        "part/m1/1.json": part(1, type="text", text=ASK),
        "part/m2/1.json": part(2, type="text", text=SAY),
        "part/m2/2.json": {**part(2), "type": "tool", "callID": ID, "tool": NAME, "state": state},
        "part/m3/1.json": part(3, type="text", text=ANSWER),
    }
    files_ = {name: document(value) for name, value in folder.items()}
    return Example("folder", files_, times=True, usage=True)


def _ticks() -> Example:
    def tick(number: int, **more: Any) -> dict[str, Any]:
        silent = {"contains_speech": False, "content": None}
        heard = {"agent_chunk": silent, "user_chunk": {**silent, "role": "user"}, **more}
        return {"tick_id": number, "timestamp": TIME, **heard}

    def says(text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": text, "contains_speech": True}

    call = {"id": ID, "name": NAME, "arguments": ARGS, "requestor": "assistant"}
    result = {"id": ID, "role": "tool", "content": RESULT, "requestor": "assistant"}
    ticks = [
        tick(0, user_transcript=ASK[:6]),
        tick(1, user_transcript=ASK[6:]),
        tick(2),
        tick(3, agent_chunk=says(SAY)),
        tick(4, agent_tool_calls=[call]),
        tick(5, agent_tool_results=[result]),
        *(tick(n, agent_chunk=says(text)) for n, text in enumerate((ANSWER[:5], ANSWER[5:]), 6)),
    ]
    return Example("s.json", document({"task_id": "1", "mode": "full_duplex", "ticks": ticks}))


def _swe_agent() -> Example:
    done = {"role": "tool", "tool_call_ids": [ID], "content": RESULT}
    value = {"trajectory": [], "history": [*OPENAI[:2], done, OPENAI[3]], "info": {}}
    return Example("x.traj", document(value))


def _swe_demo() -> Example:
    seen = {"open_file": "", "output_editor": "", "output_terminal": RESULT, "narration": ""}
    history = [
        {"type": "thought", "thought": ""},
        {"type": "thought", "thought": SAY},
        {"type": "action", "action": "look out", "open_file_start_line": 1},
        {"type": "output", **seen},
        {"type": "thought", "thought": ANSWER},
    ]
    run = {"instance_id": "i", "issue_text": ASK, "model": "m", "history": history}
    return Example("web_trajs.json", document([run]), messages=())  # its calls are commands


def _agent_sdk() -> Example:
    def answer(**block: Any) -> dict[str, Any]:
        return {"type": "AssistantMessage", "model": "m", "content": [block]}

    done = {"type": "ToolResultBlock", "tool_use_id": ID, "content": RESULT, "is_error": False}
    end = {"type": "ResultMessage", "subtype": "success", "result": ANSWER, "usage": USAGE}
    value = {
        "description": "cassette",
        "prompt": ASK,
        "messages": [
            {"type": "SystemMessage", "subtype": "init", "data": {"subtype": "init"}},
            answer(type="TextBlock", text=SAY),
            answer(type="ToolUseBlock", id=ID, name=NAME, input=ARGS),
            {"type": "UserMessage", "content": [done], "parent_tool_use_id": None},
            answer(type="TextBlock", text=ANSWER),
            end,
        ],
    }
    return Example("c.yaml", yaml.safe_dump(value, allow_unicode=True).encode(), usage=True)


def _copilot_chat() -> Example:
    call = {"id": ID, "name": NAME, "arguments": TEXT_ARGS}
    leaf = {"type": 2, "text": RESULT, "lineBreakBefore": None}
    tree = {"node": {"type": 1, "children": [{"type": 1, "children": [leaf]}]}}
    metadata = {
        "toolCallRounds": [
            {"response": SAY, "toolCalls": [call], "id": "r1"},
            {"response": ANSWER, "toolCalls": [], "id": "r2"},
        ],
        "toolCallResults": {ID: {"$mid": 20, "content": [{"$mid": 23, "value": tree}]}},
        "promptTokens": 12,
    }
    request = {
        "requestId": "q1",
        "message": {"text": ASK, "parts": []},
        "response": [{"value": SAY}, {"value": ANSWER}],
        "result": {"timings": {"totalElapsed": 900}, "metadata": metadata},
        "timestamp": 1767323045000,
        "modelId": "copilot/m",
    }
    value = {"responderUsername": "GitHub Copilot", "requests": [request]}
    return Example("chat.json", document(value), times=True, usage=True)


def _zed() -> Example:
    use = {"id": ID, "name": NAME, "raw_input": TEXT_ARGS, "input": ARGS, "is_input_complete": True}
    done = {"tool_use_id": ID, "tool_name": NAME, "is_error": False, "content": {"Text": RESULT}}
    messages = [
        {"User": {"id": "u1", "content": [{"Text": ASK}]}},
        {"Agent": {"content": [{"Text": SAY}, {"ToolUse": use}], "tool_results": {ID: done}}},
        {"Agent": {"content": [{"Text": ANSWER}], "tool_results": {}}},
    ]
    value = {
        "title": "t",
        "messages": messages,
        "version": "0.3.0",
        "request_token_usage": {"u1": USAGE},
        "model": {"provider": "p", "model": "m"},
    }
    return Example("thread.json", document(value), usage=True)


def _librechat() -> Example:
    call = {"id": ID, "name": NAME, "args": TEXT_ARGS, "type": "tool_call", "output": RESULT}
    content = [
        {"type": "text", "text": SAY},
        {"type": "tool_call", "tool_call": call},
        {"type": "text", "text": ANSWER},
    ]
    answer = {
        "messageId": "m2",
        "parentMessageId": "m1",
        "isCreatedByUser": False,
        "text": "",
        "content": content,
        "model": "m",
        "createdAt": TIME,
        "children": [],
    }
    asked = {"messageId": "m1", "isCreatedByUser": True, "text": ASK, "children": [answer]}
    value = {"conversationId": "c", "title": "t", "recursive": True, "messagesTree": [asked]}
    return Example("l.json", document(value), times=True)


def _lm_studio() -> Example:
    call = {"type": "toolCallRequest", "toolCallRequestId": ID, "name": NAME, "parameters": ARGS}
    done = {"type": "toolCallResult", "toolCallRequestId": ID, "content": RESULT}
    made = {"identifier": "m", "stats": {"promptTokensCount": 12, "stopReason": "eosFound"}}

    def block(*content: Any, **more: Any) -> dict[str, Any]:
        return {"type": "contentBlock", "content": list(content), **more}

    steps = [
        block({"type": "text", "text": SAY}, call, genInfo=made),
        {"type": "toolStatus", "statusState": {"status": {"type": "toolCallSucceeded"}}},
        block(done),
        block({"type": "text", "text": ANSWER}, genInfo=made),
    ]
    asked = {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": ASK}]}
    messages = [
        {"versions": [asked], "currentlySelected": 0},
        {
            "versions": [{"type": "multiStep", "role": "assistant", "steps": steps}],
            "currentlySelected": 0,
        },
    ]
    value = {"name": "t", "messages": messages, "lastUsedModel": {"identifier": "m"}}
    return Example("1.conversation.json", document(value), usage=True)


def _llm_logs() -> Example:
    common = {"model": "m", "conversation_id": "c", "input_tokens": 12, "duration_ms": 900}
    tool = {"name": NAME, "description": "d", "input_schema": json.dumps(SCHEMA)}
    call = {"name": NAME, "arguments": ARGS, "tool_call_id": ID}
    done = {"name": NAME, "output": RESULT, "tool_call_id": ID, "exception": None}
    rows = [
        {"prompt": ASK, "response": SAY, "tools": [tool], "tool_calls": [call], "tool_results": []},
        {"prompt": "", "response": ANSWER, "tools": [], "tool_calls": [], "tool_results": [done]},
    ]
    times = (TIME, "2026-01-02T03:04:06.000Z")
    value = [{**common, **row, "datetime_utc": at} for row, at in zip(rows, times, strict=True)]
    return Example("logs.json", document(value), tools=True, times=True, usage=True)


def _openai_list() -> Example:
    """A page of a conversation's items: the newest stands first."""
    said = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASK}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAY}]},
        {"type": "function_call", "call_id": ID, "name": NAME, "arguments": TEXT_ARGS},
        {"type": "function_call_output", "call_id": ID, "output": RESULT},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": ANSWER}],
        },
    ]
    return Example(
        "items.json", document({"object": "list", "data": said[::-1], "has_more": False})
    )


def _a2a() -> Example:
    def data(kind: str, **more: Any) -> dict[str, Any]:
        inner = {"id": ID, "name": NAME, **more}
        return {"kind": "data", "data": inner, "metadata": {"adk_type": kind}}

    def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"kind": "message", "role": role, "parts": list(parts)}

    history = [
        said("user", {"kind": "text", "text": ASK}),
        said("agent", {"kind": "text", "text": SAY}, data("function_call", args=ARGS)),
        said("agent", data("function_response", response={"result": RESULT})),
    ]
    task = {
        "kind": "task",
        "id": "t1",
        "contextId": "x1",
        "status": {"state": "completed", "timestamp": TIME},
        "history": history,
        "artifacts": [{"artifactId": "a1", "parts": [{"kind": "text", "text": ANSWER}]}],
        "metadata": {"adk_usage_metadata": USAGE},
    }
    content = document({"jsonrpc": "2.0", "id": "1", "result": task})
    return Example("task.json", content, times=True, usage=True, result={"result": RESULT})


def _ai_studio() -> Example:
    chunks = [
        {"text": ASK, "role": "user", "tokenCount": 5},
        {"text": SAY, "role": "model", "finishReason": "STOP"},
        {"parts": [{"functionCall": {"name": NAME, "args": ARGS}}], "role": "model"},
        {"parts": [{"functionResponse": {"name": NAME, "response": RESULT}}], "role": "user"},
        {"text": ANSWER, "role": "model"},
    ]
    settings = {"model": "models/gemini-2.5-pro", "temperature": 1.0, "topP": 0.95}
    value = {"runSettings": settings, "systemInstruction": {}, "chunkedPrompt": {"chunks": chunks}}
    return Example("prompt.json", document(value), ids=False)


def _adk_eval() -> Example:
    use = {"id": ID, "name": NAME, "args": ARGS}
    done = {"id": ID, "name": NAME, "response": {"result": RESULT}}
    turn = {
        "user_content": {"role": "user", "parts": [{"text": ASK, "inline_data": None}]},
        "intermediate_data": {
            "intermediate_responses": [["agent", [{"text": SAY}]]],
            "tool_uses": [use],
            "tool_responses": [done],
        },
        "final_response": {"role": "model", "parts": [{"text": ANSWER}]},
        "creation_timestamp": 1767323045.0,
    }
    value = {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [turn]}]}
    return Example("e.evalset.json", document(value), times=True, result={"result": RESULT})


_CHAT_CALL: dict[str, Any] = {"model": "m", "messages": OPENAI[:3], "tools": [TOOL]}
_CHAT_REPLY: dict[str, Any] = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": OPENAI[3], "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12},
}


def _mlflow() -> Example:
    attributes = {
        "mlflow.spanType": json.dumps("CHAT_MODEL"),
        "mlflow.spanInputs": json.dumps(_CHAT_CALL),
        "mlflow.spanOutputs": json.dumps(_CHAT_REPLY),
    }
    span = {"name": "Completions", "start_time_unix_nano": 1767323045000000000}
    step = {"name": "tool", "attributes": {"mlflow.spanType": json.dumps("TOOL")}}
    value = {
        "info": {"trace_id": "t"},
        "data": {"spans": [{**span, "attributes": attributes}, step]},
    }
    return Example("trace.json", document(value), tools=True, times=True, usage=True)


def _weave() -> Example:
    call = {
        "id": "1",
        "op_name": "weave:///e/p/op/openai.chat.completions.create:x",
        "inputs": _CHAT_CALL,
        "output": _CHAT_REPLY,
        "started_at": TIME,
        "ended_at": "2026-01-02T03:04:06.000Z",
    }
    step = {"id": "2", "op_name": "weave:///e/p/op/get_weather:x", "inputs": ARGS, "output": RESULT}
    return Example("calls.jsonl", lines(call, step), tools=True, times=True, usage=True)


def _posthog() -> Example:
    properties = {
        "$ai_model": "m",
        "$ai_input": OPENAI[:3],
        "$ai_output_choices": OPENAI[3:],
        "$ai_tools": [TOOL],
        "$ai_input_tokens": 12,
        "$ai_latency": 0.9,
    }
    event = {"event": "$ai_generation", "timestamp": TIME, "properties": properties}
    value = [{"event": "$pageview", "properties": {}}, event]
    return Example("events.json", document(value), tools=True, times=True, usage=True)


def _body(**more: Any) -> bytes:
    return document({"model": "m", "messages": OPENAI, "tools": [TOOL], **more})


def _pydantic_ai() -> Example:
    call = {"tool_name": NAME, "args": TEXT_ARGS, "tool_call_id": ID, "part_kind": "tool-call"}
    done = {"tool_name": NAME, "content": RESULT, "tool_call_id": ID, "part_kind": "tool-return"}
    known = {"kind": "response", "model_name": "m", "timestamp": TIME, "usage": USAGE}
    messages = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ASK}]},
        {**known, "parts": [{"part_kind": "text", "content": SAY}, call]},
        {"kind": "request", "parts": [done]},
        {**known, "parts": [{"part_kind": "text", "content": ANSWER}]},
    ]
    return Example("history.json", document(messages), times=True, usage=True)


def _share() -> Example:
    call = {"name": NAME, "arguments": ARGS}
    said = [
        {"from": "human", "value": ASK},
        {"from": "function_call", "value": json.dumps(call)},
        {"from": "observation", "value": RESULT},
        {"from": "gpt", "value": ANSWER},
    ]
    value = {"conversations": said, "tools": json.dumps([TOOL["function"]])}
    return Example("s.json", document([value]), tools=True, ids=False, say="")


def hermes_row() -> dict[str, Any]:
    """The same as Hermes' and Qwen's training data write it: tags in texts."""
    call = f"<tool_call>\n{json.dumps({'name': NAME, 'arguments': ARGS})}\n</tool_call>"
    said = [
        {"from": "system", "value": f"<tools>{json.dumps([TOOL])}</tools>"},
        {"from": "human", "value": ASK},
        {"from": "gpt", "value": f"{SAY}\n{call}"},
        {"from": "tool", "value": f"<tool_response>\n{RESULT}\n</tool_response>"},
        {"from": "gpt", "value": ANSWER},
    ]
    return {"id": "1", "conversations": said}


def toolace_row() -> dict[str, Any]:
    """The same as ToolACE writes it: a list of Python calls, names with blanks in them."""
    result = json.dumps([{"name": "Get Weather", "results": RESULT}])
    said = [
        {"from": "user", "value": ASK},
        {"from": "assistant", "value": '[Get Weather(city="Oslo", days=[1, 2], dry=true)]'},
        {"from": "tool", "value": result},
        {"from": "assistant", "value": ANSWER},
    ]
    return {"system": f"Tools:\n{json.dumps([TOOL['function']])}", "conversations": said}


def _chatgpt() -> Example:
    def node(number: int, parent: int, role: str, text: str, **more: Any) -> dict[str, Any]:
        name = NAME if role == "tool" else None
        said = {
            "id": f"m{number}",
            "author": {"role": role, "name": name},
            "create_time": 1767323045 + number,
            "content": {"content_type": "text", "parts": [text]},
            "recipient": "all",
            "metadata": {"model_slug": "m"} if role == "assistant" else {},
            **more,
        }
        parents = f"m{parent}" if parent >= 0 else None
        return {"id": f"m{number}", "parent": parents, "children": [], "message": said}

    code = {"content": {"content_type": "code", "text": TEXT_ARGS}, "recipient": NAME}
    nodes = [
        {"id": "m0", "parent": None, "children": [], "message": None},
        node(1, 0, "user", ASK),
        node(2, 1, "assistant", "", **code),
        node(3, 2, "tool", RESULT),
        node(4, 3, "assistant", ANSWER),
    ]
    value = {
        "title": "Weather",
        "conversation_id": "c",
        "current_node": "m4",
        "mapping": {each["id"]: each for each in nodes},
    }
    data = {"conversations.json": document([value]), "user.json": b"{}"}
    return Example("export.zip", zipped(data), times=True, ids=False, say="")


def _claude_ai() -> Example:
    def said(sender: str, *content: dict[str, Any]) -> dict[str, Any]:
        texts = [part["text"] for part in content if part["type"] == "text"]
        text = " ".join(texts)
        return {"sender": sender, "created_at": TIME, "text": text, "content": list(content)}

    use = {"type": "tool_use", "name": NAME, "input": ARGS}
    done = {"type": "tool_result", "name": NAME, "content": [{"type": "text", "text": RESULT}]}
    first, last = ({"type": "text", "text": text} for text in (SAY, ANSWER))
    asked = {"type": "text", "text": ASK}
    messages = [said("human", asked), said("assistant", first, use, done, last)]
    value = {"uuid": "u", "name": "Weather", "created_at": TIME, "chat_messages": messages}
    return Example("conversations.json", document([value]), times=True, ids=False)


def _pi() -> Example:
    def message(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
        inner = {"role": role, "content": content, **more}
        about = {"id": f"e{number}", "parentId": f"e{number - 1}", "timestamp": TIME}
        return {"type": "message", **about, "message": inner}

    call = {"type": "toolCall", "id": ID, "name": NAME, "arguments": ARGS}
    known = {"model": "m", "usage": {"input": 12, "output": 3}, "stopReason": "toolUse"}
    text = [{"type": "text", "text": SAY}]
    values = [
        {"type": "session", "version": 3, "id": "e0", "timestamp": TIME, "cwd": "/"},
        message(1, "user", [{"type": "text", "text": ASK}]),
        message(2, "assistant", [*text, call], **known),
        message(3, "toolResult", RESULT, toolCallId=ID, toolName=NAME),
        message(4, "assistant", [{"type": "text", "text": ANSWER}], **known),
    ]
    return Example("pi.jsonl", lines(*values), times=True, usage=True)


def _goose() -> Example:
    request = {"status": "success", "value": {"name": NAME, "arguments": ARGS}}
    response = {"status": "success", "value": [{"type": "text", "text": RESULT}]}
    contents: list[tuple[str, list[dict[str, Any]]]] = [
        ("user", [{"type": "text", "text": ASK}]),
        (
            "assistant",
            [
                {"type": "text", "text": SAY},
                {"type": "toolRequest", "id": ID, "toolCall": request},
            ],
        ),
        ("user", [{"type": "toolResponse", "id": ID, "toolResult": response}]),
        ("assistant", [{"type": "text", "text": ANSWER}]),
    ]
    said = [
        {"id": str(i), "role": role, "created": 1767323045 + i, "content": content}
        for i, (role, content) in enumerate(contents)
    ]
    value = {"id": "g", "working_dir": "/", "name": "Weather", "conversation": said}
    return Example("goose.json", document(value), times=True)


def _kimi() -> Example:
    def event(**event: Any) -> dict[str, Any]:
        return {"type": "context.append_loop_event", "event": event, "time": 1767323045000}

    def part(text: str) -> dict[str, Any]:
        return event(type="content.part", part={"type": "text", "text": text})

    message = {"role": "user", "content": [{"type": "text", "text": ASK}], "toolCalls": []}
    tool = {"name": NAME, "description": "d", "parameters": SCHEMA}
    values = [
        {"type": "metadata", "protocol_version": "1.4"},
        {"type": "llm.tools_snapshot", "tools": [tool]},
        {"type": "context.append_message", "message": message},
        part(SAY),
        event(type="tool.call", toolCallId=ID, name=NAME, args=ARGS),
        {"type": "usage.record", "model": "m", "usage": USAGE},
        event(type="tool.result", toolCallId=ID, result={"output": RESULT}),
        part(ANSWER),
    ]
    return Example("wire.jsonl", lines(*values), tools=True, times=True, usage=True)


def _copilot() -> Example:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": "e", "timestamp": TIME}

    call = {"toolCallId": ID, "name": NAME, "arguments": TEXT_ARGS, "type": "function"}
    values = [
        event("session.start", sessionId="s", copilotVersion="1", selectedModel="m"),
        event("user.message", content=ASK),
        event("assistant.message", content=SAY, toolRequests=[call]),
        event("assistant.usage", model="m", inputTokens=12, outputTokens=3),
        event("tool.execution_complete", toolCallId=ID, success=True, result={"content": RESULT}),
        event("assistant.message", content=ANSWER, toolRequests=[]),
    ]
    return Example("events.jsonl", lines(*values), times=True, usage=True)


def _antigravity() -> Example:
    def step(number: int, kind: str, source: str = "MODEL", **more: Any) -> dict[str, Any]:
        return {"step_index": number, "source": source, "type": kind, "created_at": TIME, **more}

    values = [
        step(0, "USER_INPUT", "USER_EXPLICIT", content=ASK),
        step(1, "PLANNER_RESPONSE", content=SAY, tool_calls=[{"name": NAME, "args": ARGS}]),
        step(2, "RUN_COMMAND", status="DONE", content=RESULT),
        step(3, "PLANNER_RESPONSE", content=ANSWER),
    ]
    return Example("steps.jsonl", lines(*values), times=True, ids=False)


def _managed() -> Example:
    def event(kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "id": ID, "processed_at": TIME, **more}

    def text(said: str) -> list[dict[str, Any]]:
        return [{"type": "text", "text": said}]

    values = [
        event("session.status_running"),
        event("user.message", content=text(ASK)),
        event("span.model_request_start"),
        event("agent.message", content=text(SAY)),
        event("agent.tool_use", name=NAME, input=ARGS),
        event("span.model_request_end", model_usage=USAGE),
        event("agent.tool_result", tool_use_id=ID, content=text(RESULT)),
        event("agent.message", content=text(ANSWER)),
    ]
    return Example("events.jsonl", lines(*values), times=True, usage=True)


def _claude_stream() -> Example:
    first = {"id": "m1", "model": "m", "role": "assistant", "usage": USAGE}
    values = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": [NAME]},
        {"type": "user", "session_id": "s", "message": ANTHROPIC[0]},
        {"type": "assistant", "session_id": "s", "message": {**first, **ANTHROPIC[1]}},
        {"type": "user", "session_id": "s", "timestamp": TIME, "message": ANTHROPIC[2]},
        {"type": "result", "subtype": "success", "session_id": "s", "result": ANSWER},
    ]
    return Example("log.jsonl", lines(*values), usage=True)


def _gemini_stream() -> Example:
    values = [
        {"type": "init", "session_id": "s", "model": "m", "timestamp": TIME},
        {"type": "message", "role": "user", "content": ASK, "timestamp": TIME},
        {"type": "message", "role": "assistant", "content": SAY[:4], "delta": True},
        {"type": "message", "role": "assistant", "content": SAY[4:], "delta": True},
        {"type": "tool_use", "tool_name": NAME, "tool_id": ID, "parameters": ARGS},
        {"type": "tool_result", "tool_id": ID, "status": "success", "output": RESULT},
        {"type": "message", "role": "assistant", "content": ANSWER, "timestamp": TIME},
        {"type": "result", "status": "success", "stats": {"input_tokens": 12}},
    ]
    return Example("log.jsonl", lines(*values), times=True, usage=True)


def _codex_exec() -> Example:
    def item(number: int, kind: str, **more: Any) -> dict[str, Any]:
        return {"type": "item.completed", "item": {"id": f"i{number}", "type": kind, **more}}

    done = {"content": [{"type": "text", "text": RESULT}]}
    call = {"server": "s", "tool": NAME, "arguments": ARGS, "result": done, "status": "completed"}
    values = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        item(0, "agent_message", text=SAY),
        item(1, "mcp_tool_call", **call),
        item(2, "agent_message", text=ANSWER),
        {"type": "turn.completed", "usage": USAGE},
    ]
    return Example("log.jsonl", lines(*values), (1, 2, 3), usage=True, ids=False)


def _opencode_export() -> Example:
    def entry(number: int, role: str, *parts: dict[str, Any]) -> dict[str, Any]:
        known = {"tokens": {"input": 12}, "modelID": "m"} if role == "assistant" else {}
        time = {"created": 1767323045000 + number}
        info = {"id": f"m{number}", "role": role, "sessionID": "s", "time": time, **known}
        return {"info": info, "parts": list(parts)}

    state = {"status": "completed", "input": ARGS, "output": RESULT}
    value = {
        "info": {"id": "s", "title": "Weather", "version": "1"},
        "messages": [
            entry(1, "user", {"type": "text", "text": ASK}),
            entry(
                2,
                "assistant",
                {"type": "text", "text": SAY},
                {"type": "tool", "callID": ID, "tool": NAME, "state": state},
            ),
            entry(3, "assistant", {"type": "text", "text": ANSWER}),
        ],
    }
    return Example("export.json", document(value), times=True, usage=True)


def _langsmith() -> Example:
    run = {
        "id": "r",
        "run_type": "llm",
        "name": "chat",
        "start_time": TIME,
        "inputs": {"messages": OPENAI[:3], "tools": [TOOL], "model": "m"},
    }
    done = {"id": "r", "outputs": {"choices": [{"message": OPENAI[3]}], "usage_metadata": USAGE}}
    value = {"post": [run], "patch": [done]}
    return Example("runs.json", document(value), tools=True, times=True, usage=True)


def _rows() -> Example:
    body = {"model": "m", "messages": OPENAI[:3], "tools": [TOOL]}
    events = [
        {"event": "message", "data": frame}
        for frame in WRITERS["openai-chat"](Said((), (ANSWER[:5], ANSWER[5:])))
    ]
    first = {
        "timestamp": TIME,
        "turn": 1,
        "duration_ms": 900,
        "request": {
            "method": "POST",
            "path": "/v1",
            "headers": {},
            "body": {**body, "messages": OPENAI[:1]},
        },
        "response": {"status": 200, "body": {"choices": [{"message": OPENAI[1]}], "usage": USAGE}},
    }
    second = {
        **first,
        "turn": 2,
        "request": {"method": "POST", "path": "/v1", "body": body},
        "response": {"status": 200, "sse_events": events},
    }
    data = lines(first, second)
    return Example("trace.jsonl", data, tools=True, times=True, usage=True, recordings=1)


def _aider_llm() -> Example:
    sent = f"TO LLM 2026-01-02T03:04:05\n-------\nUSER {ASK}\n-------\nASSISTANT {SAY}\n"
    asked = "-------\nUSER And?\nUSER now\n"
    came = f"LLM RESPONSE 2026-01-02T03:04:06\nASSISTANT {ANSWER}\n"
    data = (sent + asked + came).encode()
    return Example(".aider.llm.history", data, (), times=True)


def _aider_chat() -> Example:
    text = (
        "\n# aider chat started at 2026-01-02 03:04:05\n\n> Aider v0.80  \n\n"
        f"#### {ASK}\n\n{ANSWER}\n\n> Tokens: 1.2k sent, 117 received.  \n"
    )
    return Example(".aider.chat.history.md", text.encode(), (0, 3), times=True, usage=True)


def _specstory() -> Example:
    time = "2026-01-02 03:04:05Z"
    text = (
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# Weather\n\n"
        f"<!-- Claude Code Session s1 ({time}) -->\n\n_**User ({time})**_\n\n{ASK}\n\n---\n\n"
        f"_**Agent (m {time})**_\n\n{SAY}\n\n"
        f'<tool-use data-tool-type="unknown" data-tool-name="{NAME}"><details>\n'
        f"<summary>Tool use: **{NAME}**</summary>\n\n```text\n{RESULT}\n```\n"
        "</details></tool-use>\n\n"
        f"_**Agent (m {time})**_\n\n{ANSWER}\n"
    )
    arguments = {"summary": f"Tool use: **{NAME}**"}
    return Example("history.md", text.encode(), times=True, ids=False, arguments=arguments)


def _xlam() -> Example:
    value = {
        "id": 1,
        "query": ASK,
        "answers": json.dumps([{"name": NAME, "arguments": ARGS}]),
        "tools": json.dumps([TOOL["function"]]),
    }
    return Example("x.jsonl", lines(value, value), (0, 1), tools=True, ids=False, say="")


def _glaive() -> Example:
    call = f'<functioncall> {{"name": "{NAME}", "arguments": \'{TEXT_ARGS}\'}} <|endoftext|>'
    chat = (
        f"USER: {ASK}\n\n\nASSISTANT: {call}\n\n\nFUNCTION RESPONSE: {RESULT}\n\n\n"
        f"ASSISTANT: {ANSWER} <|endoftext|>"
    )
    system = f"SYSTEM: You have functions -\n{json.dumps(TOOL['function'])}"
    value = {"system": system, "chat": chat}
    return Example("g.json", document([value]), tools=True, ids=False, say="", before=1)


def _alpaca() -> Example:
    value = {"instruction": ASK, "input": "", "output": ANSWER}
    return Example("a.json", document([value]), (0, 3))


def _anthropic() -> Example:
    tool = {"name": NAME, "description": "d", "input_schema": SCHEMA}
    value = {"model": "m", "max_tokens": 9, "tools": [tool], "messages": ANTHROPIC}
    return Example("a.json", document(value), tools=True)


def _gemini() -> Example:
    tool = {"functionDeclarations": [{"name": NAME, "parameters": SCHEMA}]}
    value = {"contents": GEMINI, "tools": [tool]}
    return Example("g.json", document(value), result={"r": RESULT}, tools=True, ids=False)


def _llm_log() -> Example:
    choice = {"finish_reason": "stop", "message": OPENAI[3]}
    response = {"model": "m", "choices": [choice], "usage": USAGE}
    value = {
        "messages": OPENAI[:3],
        "tools": [TOOL],
        "response": response,
        "timestamp": 1.5,
        "latency_sec": 2.5,
    }
    return Example("log.json", document(value), tools=True, times=True, usage=True)


_REPLY = {"type": "message", "model": "m", "usage": USAGE, **ANTHROPIC[3]}
EXAMPLES: dict[str, Example] = {
    "playground": _playground(),
    "workspace": _workspace(),
    "recording": _recording(),
    "atif": _atif(),
    "langfuse-trace": _langfuse(),
    "langsmith-runs": _langsmith(),
    "openinference-spans": _openinference(),
    "ai-sdk-spans": _ai_sdk(),
    "otel-spans": _otel(),
    "mlflow-trace": _mlflow(),
    "weave-calls": _weave(),
    "posthog-events": _posthog(),
    "atof": _atof(),
    "inspect-log": _inspect(),
    "har": _har(),
    "nock": _nock(),
    "llama-stack-recording": _llama_stack(),
    "httprr": _httprr(),
    "vcr-cassette": _vcr(),
    "copilot-sdk": _copilot_sdk(),
    "httpmock": _httpmock(),
    "request-rows": _rows(),
    "tau-bench": Example("t.json", document([{"task_id": 1, "reward": 1.0, "traj": OPENAI}])),
    "tau2-ticks": _ticks(),
    "swe-agent": _swe_agent(),
    "mini-swe-agent": Example("m.traj.json", document(OPENAI)),
    "swe-agent-demo": _swe_demo(),
    "openhands-llm-log": _llm_log(),
    "openhands-sdk": _openhands_sdk(),
    "openhands-events": _openhands_events(),
    "openhands-output": _openhands_output(),
    "cline-task": _cline(),
    "opencode-export": _opencode_export(),
    "opencode": _opencode(),
    "openai-agents-run": _agents_run(),
    "chatgpt-export": _chatgpt(),
    "claude-ai-export": _claude_ai(),
    "librechat": _librechat(),
    "lm-studio": _lm_studio(),
    "zed-thread": _zed(),
    "copilot-chat": _copilot_chat(),
    "llm-logs": _llm_logs(),
    "openai-lists": _openai_list(),
    "ai-studio": _ai_studio(),
    "adk-eval": _adk_eval(),
    "a2a-task": _a2a(),
    "copilot-cli": _copilot(),
    "antigravity": _antigravity(),
    "managed-agent-events": _managed(),
    "pi-session": _pi(),
    "goose": _goose(),
    "kimi-wire": _kimi(),
    "claude-agent-sdk": _agent_sdk(),
    "claude-stream-json": _claude_stream(),
    "claude-code": _claude_code(),
    "gemini-stream-json": _gemini_stream(),
    "codex-exec": _codex_exec(),
    "codex-rollout": _codex(),
    "gemini-cli-responses": _gemini_responses(),
    "gemini-cli-chat": _gemini_chat(),
    "aider-llm-history": _aider_llm(),
    "aider-chat-history": _aider_chat(),
    "specstory": _specstory(),
    "stream": Example("s.sse", answer_stream().encode(), (3,), usage=True, recordings=1),
    "reply": Example("r.json", document(_REPLY), (3,), usage=True, recordings=1),
    "pydantic-ai-messages": _pydantic_ai(),
    "sharegpt": _share(),
    "xlam": _xlam(),
    "glaive": _glaive(),
    "alpaca": _alpaca(),
    "anthropic-messages": _anthropic(),
    "gemini-contents": _gemini(),
    "openai-chat": Example("o.json", _body(), tools=True),
    "openai-lines": Example(
        "f.jsonl", lines(*[{"messages": OPENAI, "tools": [TOOL]}] * 2), tools=True
    ),
    "message-lines": Example("m.jsonl", lines(*({"message": m} for m in OPENAI))),
    "any-chat": Example(
        "a.json", document({"chats": [{"log": OPENAI, "tools": [TOOL]}]}), tools=True
    ),
}
