"""A provider on loopback that bills by the documented rules of prompt caching.

It shares no code with the simulator: its cache is a list of prefixes, its tokens are words and
signs, and what a rule says is written here from the providers' own documents (2026-11).
Anthropic: prefixes end at marked blocks, at most 4 marks, a least length by model, 5 minutes or an
hour, refreshed by a read, 20 positions of look-back in which a run of calls or of results is one.
OpenAI before 5.6 and Gemini: the longest prefix of an earlier request, in steps. `now` is its
clock, which its user moves on.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

_TOKEN: Final = re.compile(r"\w{1,5}|[^\w\s]")
_LEAST: Final = {"claude-opus-4-5": 4096, "claude-haiku-4-5": 4096, "claude-opus-4-7": 2048}
_LIVES: Final = {"5m": 300.0, "1h": 3600.0}
_LOOKBACK: Final = 20
_MOST_MARKS: Final = 4
_STEPS: Final = {"openai": (1024, 128), "gemini": (2048, 4096)}


def tokens(text: str) -> int:
    """How many tokens this provider's models read in a text."""
    return len(_TOKEN.findall(text))


@dataclass
class _Prefix:
    size: int
    until: float
    life: float


@dataclass
class Provider:
    """What is cached, and what was billed; one for all requests."""

    now: float = 0.0
    marked: dict[str, _Prefix] = field(default_factory=dict)
    seen: dict[str, float] = field(default_factory=dict)
    bills: list[dict[str, Any]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def anthropic(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and usage, or an error, of a request to the Messages API."""
        blocks = list(_anthropic_blocks(body))
        model = str(body["model"])
        least = next((n for name, n in _LEAST.items() if name in model), 1024)
        marks = [i for i, block in enumerate(blocks) if block["life"]]
        if isinstance(body.get("cache_control"), dict) and blocks:  # automatic: on the last block
            if len(blocks) - 1 not in marks:
                marks.append(len(blocks) - 1)
            blocks[-1]["life"] = blocks[-1]["life"] or body["cache_control"].get("ttl", "5m")
        if len(marks) > _MOST_MARKS:
            told = f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
            return 400, {"type": "invalid_request_error", "message": told}
        keys, sizes, key, size = [], [], model, 0
        for block in blocks:
            key = hashlib.sha256(f"{key}\0{block['says']}".encode()).hexdigest()
            size += block["tokens"]
            keys.append(key)
            sizes.append(size)
        read_at = self._found(blocks, keys, marks)
        read = 0
        if read_at is not None:
            entry = self.marked[keys[read_at]]
            entry.until = max(entry.until, self.now + entry.life)
            read = sizes[read_at]
        written = {"5m": 0, "1h": 0}
        before = read
        for mark in marks:
            if sizes[mark] < least or (read_at is not None and mark <= read_at):
                continue
            life = blocks[mark]["life"]
            written[life] += sizes[mark] - before
            before = sizes[mark]
            self.marked[keys[mark]] = _Prefix(sizes[mark], self.now + _LIVES[life], _LIVES[life])
        usage = {
            "input_tokens": size - before,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": sum(written.values()),
            "cache_creation": {f"ephemeral_{k}_input_tokens": n for k, n in written.items()},
            "output_tokens": 7,
        }
        return 200, usage

    def _found(self, blocks: list[dict[str, Any]], keys: list[str], marks: list[int]) -> int | None:
        """The longest prefix that is cached and that a mark looks back to."""
        for mark in reversed(marks):
            steps, kind = 0, ""
            for index in range(mark, -1, -1):
                own = blocks[index]["kind"]
                run = own == kind and own in ("tool_use", "tool_result")
                steps, kind = steps + (not run), own
                if steps > _LOOKBACK:
                    break
                entry = self.marked.get(keys[index])
                if entry is not None and entry.until >= self.now:
                    return index
        return None

    def automatic(self, kind: str, model: str, parts: list[str]) -> tuple[int, int]:
        """Tokens in all and those that are read, where the longest earlier prefix counts."""
        least, step = _STEPS[kind]
        key, size, shared = model, 0, 0
        for part in parts:
            key = hashlib.sha256(f"{key}\0{part}".encode()).hexdigest()
            size += tokens(part)
            if self.seen.get(key, -1.0) >= self.now:
                shared = size
            self.seen[key] = self.now + 600.0
        read = shared // step * step
        return size, read if read >= least else 0


def _anthropic_blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for tool in body.get("tools") or []:
        yield _block("tool", "tool", tool)
    system = body.get("system") or []
    for part in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield _block("system", part["type"], part)
    salt = json.dumps([body.get("tool_choice"), body.get("thinking")])
    for message in body["messages"]:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield _block(f"{message['role']} {salt}", part["type"], part)


def _block(role: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    mark = value.get("cache_control")
    plain = {k: v for k, v in value.items() if k != "cache_control"}
    text = value["text"] if kind == "text" else json.dumps(plain)
    says = f"{role}\0{kind}\0{text}"
    life = (mark.get("ttl") or "5m") if isinstance(mark, dict) else ""
    return {"kind": kind, "says": says, "tokens": tokens(text), "life": life}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RuleServer

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        try:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        except ValueError:
            self._whole(400, {"type": "error", "error": {"message": "the body is no JSON"}})
            return
        provider = self.server.provider
        with provider.lock:
            if ":" in self.path.rpartition("/")[2]:
                self._gemini(provider, body)
            elif self.path.partition("?")[0].endswith("/messages"):
                self._anthropic(provider, body)
            else:
                self._openai(provider, body)

    def _anthropic(self, provider: Provider, body: dict[str, Any]) -> None:
        status, usage = provider.anthropic(body)
        provider.bills.append(usage if status == 200 else {})
        if status != 200:
            self._whole(status, {"type": "error", "error": usage})
            return
        message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant"}
        message |= {
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        text = {"type": "text_delta", "text": "Done."}
        start = {"type": "text", "text": ""}
        frames: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": text},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 7},
            },
            {"type": "message_stop"},
        ]
        if not body.get("stream"):
            said = {"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}
            self._whole(200, {**message, **said})
            return
        self._stream([f"event: {f['type']}\ndata: {json.dumps(f)}\n\n" for f in frames])

    def _openai(self, provider: Provider, body: dict[str, Any]) -> None:
        chat = self.path.endswith("/chat/completions")
        given = [*(body.get("tools") or []), body.get("instructions")]
        given += body["messages"] if chat else body["input"]
        parts = [json.dumps(part) for part in given if part]
        total, read = provider.automatic("openai", body["model"], parts)
        counts = ("prompt", "completion") if chat else ("input", "output")
        usage = {
            f"{counts[0]}_tokens": total,
            f"{counts[1]}_tokens": 2,
            "total_tokens": total + 2,
            f"{counts[0]}_tokens_details": {"cached_tokens": read},
        }
        provider.bills.append(usage)
        base: dict[str, Any] = {"id": "c1", "created": 1, "model": body["model"]}
        if chat:
            base["object"] = "chat.completion.chunk"
            delta = {"index": 0, "delta": {"role": "assistant", "content": "Done."}}
            end = {"index": 0, "delta": {}, "finish_reason": "stop"}
            frames = [{**base, "choices": [delta]}, {**base, "choices": [end]}]
            frames.append({**base, "choices": [], "usage": usage})
            self._stream([*(f"data: {json.dumps(f)}\n\n" for f in frames), "data: [DONE]\n\n"])
            return
        reply = {**base, "id": "resp_1", "object": "response", "created_at": 1, "output": []}
        reply |= {"status": "completed", "parallel_tool_calls": True, "tools": []}
        done = {"type": "response.completed", "response": {**reply, "usage": usage}}
        created = {"type": "response.created", "response": {**reply, "status": "in_progress"}}
        item: dict[str, Any] = {"id": "i", "type": "message", "role": "assistant"}
        said = {"type": "output_text", "text": "Done.", "annotations": [], "logprobs": []}
        whole = {**item, "status": "completed", "content": [said]}
        place: dict[str, Any] = {"output_index": 0}
        empty = {**item, "content": list[Any]()}
        begun = {"type": "response.output_item.added", **place, "item": empty}
        text: dict[str, Any] = {"type": "response.output_text.delta", "delta": "Done.", **place}
        text |= {"item_id": "i", "content_index": 0, "logprobs": []}
        ended = {"type": "response.output_item.done", **place, "item": whole}
        said_so: tuple[dict[str, Any], ...] = (created, begun, text, ended, done)
        frames = [{**f, "sequence_number": n} for n, f in enumerate(said_so)]
        self._stream([f"event: {f['type']}\ndata: {json.dumps(f)}\n\n" for f in frames])

    def _gemini(self, provider: Provider, body: dict[str, Any]) -> None:
        model = self.path.rpartition("/")[2].partition(":")[0]
        given = [body.get("systemInstruction"), *(body.get("tools") or []), *body["contents"]]
        total, read = provider.automatic("gemini", model, [json.dumps(p) for p in given if p])
        usage = {"promptTokenCount": total, "candidatesTokenCount": 2}
        usage |= {"totalTokenCount": total + 2, "cachedContentTokenCount": read}
        provider.bills.append(usage)
        said = {"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP"}
        frame = {"candidates": [said], "usageMetadata": usage, "modelVersion": model}
        if "alt=sse" in self.path:
            self._stream([f"data: {json.dumps(frame)}\r\n\r\n"])
        else:
            self._whole(200, frame)

    def _whole(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, frames: list[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for frame in frames:
            data = frame.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


class RuleServer(ThreadingHTTPServer):
    """The provider behind an address of this machine."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.provider = Provider()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def provided() -> Iterator[RuleServer]:
    """The provider in a thread of its own, while the block runs."""
    with RuleServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
