"""Writers of every provider's wire: a reply in, the frames that the provider would send out.

The decoding tests run over all of them, so that each API is a table in both directions.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Said:
    """A reply in pieces: what a decoder has to give back, joined."""

    reasoning: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    calls: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name, pieces of the arguments
    stop: str = field(default="stop")


Frames = list[dict[str, Any]]


def openai_chat(said: Said) -> Frames:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    frames = [chunk({"role": "assistant", "content": ""})]
    frames += [chunk({"reasoning_content": piece}) for piece in said.reasoning]
    frames += [chunk({"content": piece}) for piece in said.text]
    for index, (name, pieces) in enumerate(said.calls):
        function = {"name": name, "arguments": ""}
        first = {"index": index, "id": f"id{index}", "type": "function", "function": function}
        frames.append(chunk({"tool_calls": [first]}))
        for piece in pieces:
            delta = {"index": index, "function": {"arguments": piece}}
            frames.append(chunk({"tool_calls": [delta]}))
    frames.append(chunk({}, said.stop))
    usage = {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"total": 3}}
    return [*frames, usage]


def openai_completions(said: Said) -> Frames:
    frames = [
        {"object": "text_completion", "model": "m", "choices": [{"index": 0, "text": piece}]}
        for piece in said.text
    ]
    last = {"index": 0, "text": "", "finish_reason": said.stop}
    return [*frames, {"object": "text_completion", "model": "m", "choices": [last]}]


def openai_responses(said: Said) -> Frames:
    head = {"id": "r", "model": "m", "status": "in_progress"}
    frames: Frames = [{"type": "response.created", "response": head}]
    index = 0
    if said.reasoning:
        kind = "response.reasoning_summary_text.delta"
        frames += [{"type": kind, "output_index": 0, "delta": piece} for piece in said.reasoning]
        index = 1
    if said.text:
        kind = "response.output_text.delta"
        frames += [{"type": kind, "output_index": index, "delta": piece} for piece in said.text]
        index += 1
    for number, (name, pieces) in enumerate(said.calls, index):
        item = {"type": "function_call", "call_id": f"id{number}", "name": name, "arguments": ""}
        frames.append({"type": "response.output_item.added", "output_index": number, "item": item})
        kind = "response.function_call_arguments.delta"
        frames += [{"type": kind, "output_index": number, "delta": piece} for piece in pieces]
        done = {**item, "arguments": "".join(pieces)}
        frames.append({"type": "response.output_item.done", "output_index": number, "item": done})
    end = {"id": "r", "model": "m", "status": said.stop, "usage": {"total": 3}}
    return [*frames, {"type": "response.completed", "response": end}]


def anthropic_messages(said: Said) -> Frames:
    message = {"id": "m", "model": "m", "role": "assistant", "usage": {"input_tokens": 2}}
    frames: Frames = [{"type": "message_start", "message": message}, {"type": "ping"}]
    blocks: list[tuple[dict[str, Any], str, str, Sequence[str]]] = []
    if said.reasoning:
        empty = {"type": "thinking", "thinking": ""}
        blocks.append((empty, "thinking_delta", "thinking", said.reasoning))
    if said.text:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", said.text))
    for number, (name, pieces) in enumerate(said.calls):
        use = {"type": "tool_use", "id": f"id{number}", "name": name, "input": {}}
        blocks.append((use, "input_json_delta", "partial_json", pieces))
    for index, (block, kind, key, parts) in enumerate(blocks):
        frames.append({"type": "content_block_start", "index": index, "content_block": block})
        for piece in parts:
            delta = {"type": kind, key: piece}
            frames.append({"type": "content_block_delta", "index": index, "delta": delta})
        frames.append({"type": "content_block_stop", "index": index})
    frames.append({"type": "message_delta", "delta": {"stop_reason": said.stop}, "usage": {}})
    return [*frames, {"type": "message_stop"}]


def gemini_generate(said: Said) -> Frames:
    def chunk(part: dict[str, Any], **more: Any) -> dict[str, Any]:
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, **more}
        return {"candidates": [candidate], "modelVersion": "m", "usageMetadata": {"total": 3}}

    frames = [chunk({"text": piece, "thought": True}) for piece in said.reasoning]
    frames += [chunk({"text": piece}) for piece in said.text]
    for name, pieces in said.calls:
        frames.append(chunk({"functionCall": {"name": name, "args": json.loads("".join(pieces))}}))
    return [*frames, chunk({"text": ""}, finishReason=said.stop)]


def bedrock_converse(said: Said) -> Frames:
    frames: Frames = [{"messageStart": {"role": "assistant"}}]
    index = 0
    for piece in said.reasoning:
        delta = {"reasoningContent": {"text": piece}}
        frames.append({"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}})
        index = 1
    for piece in said.text:
        inner = {"contentBlockIndex": index, "delta": {"text": piece}}
        frames.append({"contentBlockDelta": inner})
    for number, (name, pieces) in enumerate(said.calls, index + 1):
        use = {"toolUse": {"toolUseId": f"id{number}", "name": name}}
        frames.append({"contentBlockStart": {"contentBlockIndex": number, "start": use}})
        for piece in pieces:
            inner = {"contentBlockIndex": number, "delta": {"toolUse": {"input": piece}}}
            frames.append({"contentBlockDelta": inner})
        frames.append({"contentBlockStop": {"contentBlockIndex": number}})
    frames.append({"messageStop": {"stopReason": said.stop}})
    return [*frames, {"metadata": {"usage": {"totalTokens": 3}}}]


def cohere_v2(said: Said) -> Frames:
    frames: Frames = [{"type": "message-start", "id": "m", "delta": {"message": {"content": []}}}]
    for piece in said.reasoning:
        frames.append({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}})
    for piece in said.text:
        content = {"message": {"content": {"text": piece}}}
        frames.append({"type": "content-delta", "index": 0, "delta": content})
    for index, (name, pieces) in enumerate(said.calls):
        call = {"id": f"id{index}", "type": "function", "function": {"name": name, "arguments": ""}}
        start = {"message": {"tool_calls": call}}
        frames.append({"type": "tool-call-start", "index": index, "delta": start})
        for piece in pieces:
            more = {"message": {"tool_calls": {"function": {"arguments": piece}}}}
            frames.append({"type": "tool-call-delta", "index": index, "delta": more})
        frames.append({"type": "tool-call-end", "index": index})
    end = {"finish_reason": said.stop, "usage": {"tokens": {"input_tokens": 3}}}
    return [*frames, {"type": "message-end", "delta": end}]


def bedrock_invoke(said: Said) -> Frames:
    """Claude's own events, each packed; the last one also says what Bedrock counted."""
    events = anthropic_messages(said)
    events[-1]["amazon-bedrock-invocationMetrics"] = {"inputTokenCount": 2}
    return [{"chunk": {"bytes": packed(event), "p": "abcdefgh"}} for event in events]


def packed(chunk: dict[str, Any]) -> str:
    return base64.b64encode(json.dumps(chunk).encode()).decode("ascii")


def cohere_v1(said: Said) -> Frames:
    def event(kind: str, **more: Any) -> dict[str, Any]:
        return {"is_finished": kind == "stream-end", "event_type": kind, **more}

    frames = [event("stream-start", generation_id="g")]
    frames += [event("tool-calls-chunk", text=piece) for piece in said.reasoning]
    frames += [event("text-generation", text=piece) for piece in said.text]
    calls = [
        {"name": name, "parameters": json.loads("".join(pieces))} for name, pieces in said.calls
    ]
    if calls:
        frames.append(event("tool-calls-generation", tool_calls=calls))
    response = {"text": "".join(said.text), "tool_calls": calls, "meta": {"tokens": {"input": 3}}}
    return [*frames, event("stream-end", finish_reason=said.stop, response=response)]


def gemini_interactions(said: Said) -> Frames:
    def event(kind: str, **more: Any) -> dict[str, Any]:
        return {**more, "event_type": kind}

    head = {"id": "v1", "model": "m", "status": "in_progress"}
    frames = [
        event("interaction.created", interaction=head),
        event("interaction.status_update", interaction_id="v1", status="in_progress"),
    ]
    thoughts = [
        {"type": "thought_summary", "content": {"type": "text", "text": piece}}
        for piece in said.reasoning
    ]
    texts = [{"type": "text", "text": piece} for piece in said.text]
    steps: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        ({"type": "thought"}, [*thoughts, {"type": "thought_signature", "signature": "c2ln"}]),
        ({"type": "model_output"}, texts),
    ]
    for number, (name, pieces) in enumerate(said.calls):
        call = {"type": "function_call", "id": f"id{number}", "name": name, "arguments": {}}
        deltas = [{"type": "arguments_delta", "arguments": piece} for piece in pieces]
        steps.append((call, deltas))
    for index, (step, parts) in enumerate(steps):
        frames.append(event("step.start", index=index, step=step))
        frames += [event("step.delta", index=index, delta=delta) for delta in parts]
        frames.append(event("step.stop", index=index))
    end = {**head, "status": said.stop, "usage": {"total_tokens": 3}}
    return [*frames, event("interaction.completed", interaction=end)]


def gemini_live(said: Said) -> Frames:
    def turn(**part: Any) -> dict[str, Any]:
        return {"serverContent": {"modelTurn": {"role": "model", "parts": [part]}}}

    frames: Frames = [{"setupComplete": {"sessionId": "s"}}]
    frames += [turn(text=piece, thought=True) for piece in said.reasoning]
    frames += [turn(text=piece) for piece in said.text]
    for number, (name, pieces) in enumerate(said.calls):
        call = {"id": f"id{number}", "name": name, "args": json.loads("".join(pieces))}
        frames.append({"toolCall": {"functionCalls": [call]}})
    frames.append({"serverContent": {"generationComplete": True}})
    end = {"turnComplete": True, "turnCompleteReason": said.stop}
    return [*frames, {"serverContent": end, "usageMetadata": {"totalTokenCount": 3}}]


def openai_realtime(said: Said) -> Frames:
    """The events of responses in a session; text as a transcript, since the model speaks."""
    frames: Frames = [{"type": "session.created", "session": {"model": "m"}}]
    for event in openai_responses(said):
        kind = event["type"]
        if kind == "response.output_text.delta":
            kind = "response.output_audio_transcript.delta"
        if kind == "response.completed":
            kind = "response.done"
        frames.append({**event, "type": kind})
    for number, frame in enumerate(frames):
        frame["event_id"] = f"event_{number}"
    return frames


def dashscope(said: Said) -> Frames:
    """With `incremental_output`: each event has what is new."""

    def event(reason: str, **message: Any) -> dict[str, Any]:
        choice = {"message": {"role": "assistant", **message}, "finish_reason": reason}
        return {"output": {"choices": [choice]}, "usage": {"input_tokens": 3}, "request_id": "r"}

    frames = [event("null", content="", reasoning_content=piece) for piece in said.reasoning]
    frames += [event("null", content=piece) for piece in said.text]
    for index, (name, pieces) in enumerate(said.calls):
        for number, piece in enumerate(pieces or ("",)):
            function = {"arguments": piece, **({"name": name} if number == 0 else {})}
            call = {"index": index, "id": f"c{index}", "type": "function", "function": function}
            frames.append(event("null", content="", tool_calls=[call]))
    return [*frames, event(said.stop, content="")]


def ollama_chat(said: Said) -> Frames:
    def chunk(message: dict[str, Any], number: int, **more: Any) -> dict[str, Any]:
        at = f"2026-01-02T03:04:05.{number:06}123Z"
        inner = {"role": "assistant", "content": "", **message}
        return {"model": "m", "created_at": at, "message": inner, "done": False, **more}

    messages: Frames = [{"thinking": piece} for piece in said.reasoning]
    messages += [{"content": piece} for piece in said.text]
    for name, pieces in said.calls:
        function = {"name": name, "arguments": json.loads("".join(pieces))}
        messages.append({"tool_calls": [{"function": function}]})
    frames = [chunk(message, number) for number, message in enumerate(messages)]
    return [*frames, chunk({}, len(frames), done=True, done_reason=said.stop, eval_count=3)]


def ollama_generate(said: Said) -> Frames:
    def chunk(number: int, **more: Any) -> dict[str, Any]:
        at = f"2026-01-02T03:04:05.{number:06}123Z"
        return {"model": "m", "created_at": at, "response": "", "done": False, **more}

    frames = [chunk(number, thinking=piece) for number, piece in enumerate(said.reasoning)]
    frames += [chunk(len(frames) + i, response=piece) for i, piece in enumerate(said.text)]
    return [*frames, chunk(len(frames), done=True, done_reason=said.stop, eval_count=3)]


def openai_assistants(said: Said) -> Frames:
    def run(status: str, **more: Any) -> dict[str, Any]:
        return {"id": "run", "object": "thread.run", "model": "m", "status": status, **more}

    frames: Frames = [{"id": "thread", "object": "thread"}, run("queued"), run("in_progress")]
    message = {"id": "msg", "object": "thread.message", "role": "assistant"}
    if said.text:
        frames.append({**message, "status": "in_progress", "content": []})
    for piece in said.text:
        part = {"index": 0, "type": "text", "text": {"value": piece, "annotations": []}}
        frames.append({"id": "msg", "object": "thread.message.delta", "delta": {"content": [part]}})
    if said.text:
        whole = {"type": "text", "text": {"value": "".join(said.text), "annotations": []}}
        frames.append({**message, "status": "completed", "content": [whole]})
    for index, (name, pieces) in enumerate(said.calls):
        first = {"id": f"id{index}", "type": "function", "function": {"name": name}}
        deltas = [{"function": {"arguments": piece}, "type": "function"} for piece in pieces]
        for delta in (first, *deltas):
            details = {"type": "tool_calls", "tool_calls": [{"index": index, **delta}]}
            step = {"id": "step", "object": "thread.run.step.delta"}
            frames.append({**step, "delta": {"step_details": details}})
    end = run("incomplete", incomplete_details={"reason": said.stop}, usage={"total_tokens": 3})
    return [*frames, end]


def tgi_generate(said: Said) -> Frames:
    def token(text: str, special: bool = False) -> dict[str, Any]:
        return {"id": 1, "text": text, "logprob": -0.5, "special": special}

    frames: Frames = [
        {"index": i, "token": token(piece), "generated_text": None, "details": None}
        for i, piece in enumerate(said.text)
    ]
    details = {"finish_reason": said.stop, "generated_tokens": 3, "seed": None}
    whole = "".join(said.text)
    last = {"token": token("</s>", special=True), "generated_text": whole, "details": details}
    return [*frames, last]


def llama_cpp(said: Said) -> Frames:
    frames: Frames = [
        {"index": 0, "content": piece, "tokens": [1], "stop": False, "tokens_predicted": i}
        for i, piece in enumerate(said.text, 1)
    ]
    end = {"content": "", "stop": True, "stop_type": said.stop, "model": "m"}
    return [*frames, {"index": 0, **end, "tokens_evaluated": 2, "tokens_predicted": 3}]


WRITERS: dict[str, Callable[[Said], Frames]] = {
    "openai-chat": openai_chat,
    "openai-completions": openai_completions,
    "openai-assistants": openai_assistants,
    "openai-responses": openai_responses,
    "openai-realtime": openai_realtime,
    "anthropic-messages": anthropic_messages,
    "gemini-generate": gemini_generate,
    "gemini-interactions": gemini_interactions,
    "gemini-live": gemini_live,
    "bedrock-converse": bedrock_converse,
    "bedrock-invoke": bedrock_invoke,
    "cohere-v1": cohere_v1,
    "cohere-v2": cohere_v2,
    "dashscope": dashscope,
    "ollama-chat": ollama_chat,
    "ollama-generate": ollama_generate,
    "tgi-generate": tgi_generate,
    "llama-cpp": llama_cpp,
}
COMPLETIONS = {"openai-completions", "tgi-generate", "llama-cpp"}
TEXT_ALONE = {*COMPLETIONS, "ollama-generate"}  # these APIs have no calls
NO_REASONING = {*COMPLETIONS, "openai-assistants"}


# framings: the same frames, as different servers put them on the wire


def _dumped(frame: dict[str, Any]) -> str:
    return json.dumps(frame, ensure_ascii=False)


def _events(frames: Frames, newline: str = "\n") -> Iterator[str]:
    for frame in frames:
        yield f"data: {_dumped(frame)}{newline}{newline}"


def _named(frames: Frames) -> Iterator[str]:
    for number, frame in enumerate(frames):
        name = str(frame.get("type", "message"))
        yield f"event: {name}\nid: {number}\nretry: 10\n: keep-alive\ndata:{_dumped(frame)}\n\n"


def _multi_line(frames: Frames) -> Iterator[str]:
    for frame in frames:
        lines = json.dumps(frame, ensure_ascii=False, indent=1).split("\n")
        yield "".join(f"data: {line}\n" for line in lines) + "\n"


def _padded(frames: Frames) -> Iterator[str]:
    for frame in frames:
        yield f"data: {_dumped(frame)[:-1]}      }}\n\n"


def _aws(frames: Frames) -> Iterator[bytes]:
    """AWS's binary messages: lengths, a header with the event's name, checksums."""
    for frame in frames:
        ((name, inner),) = frame.items()
        value = name.encode()
        key = b":event-type"
        header = bytes([len(key)]) + key + b"\x07" + struct.pack(">H", len(value)) + value
        payload = json.dumps(inner).encode()
        prelude = struct.pack(">II", 16 + len(header) + len(payload), len(header))
        start = prelude + struct.pack(">I", zlib.crc32(prelude)) + header + payload
        yield start + struct.pack(">I", zlib.crc32(start))


FRAMINGS: dict[str, Callable[[Frames], bytes]] = {
    "events": lambda frames: ("".join(_events(frames)) + "data: [DONE]\n\n").encode(),
    "events, CRLF": lambda frames: "".join(_events(frames, "\r\n")).encode(),
    "events, CR": lambda frames: "".join(_events(frames, "\r")).encode(),
    "events, no blank line at the end": lambda frames: "".join(_events(frames)).rstrip().encode(),
    "named events with comments": lambda frames: "".join(_named(frames)).encode(),
    "data on several lines": lambda frames: "".join(_multi_line(frames)).encode(),
    "padding": lambda frames: "".join(_padded(frames)).encode(),
    "a BOM": lambda frames: b"\xef\xbb\xbf" + "".join(_events(frames)).encode(),
    "JSON lines": lambda frames: "".join(f"{_dumped(f)}\n" for f in frames).encode(),
    "JSON lines, blank ones between": lambda frames: "\n\n".join(map(_dumped, frames)).encode(),
    "a JSON list": lambda frames: json.dumps(frames, indent=2).encode(),
    "a LiteLLM dump with times": lambda frames: "".join(
        f"{json.dumps({'t': i / 8, 'chunk': frame})}\n" for i, frame in enumerate(frames)
    ).encode(),
    "escaped": lambda frames: "".join(f"data: {json.dumps(f)}\n\n" for f in frames).encode(),
}


def event_stream(frames: Frames) -> bytes:
    """Bedrock's frames as AWS sends them."""
    return b"".join(_aws(frames))
