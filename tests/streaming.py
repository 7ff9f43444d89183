"""A server on loopback that answers as a test says: in pieces, with pauses, for ever, or not."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[], Iterable[bytes | float]]  # bytes to send, seconds to wait


class Server(ThreadingHTTPServer):
    daemon_threads = True
    requests: list[dict[str, Any]]
    answer: Answer
    status: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        self.server.requests.append(json.loads(self.rfile.read(size)))
        with suppress(OSError):  # the client has hung up
            self.send_response(self.server.status)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for each in self.server.answer():
                if isinstance(each, float):
                    time.sleep(each)
                else:
                    self.wfile.write(each)
                    self.wfile.flush()


@contextmanager
def answering(answer: Answer, status: int = 200) -> Iterator[Server]:
    """The server, while the block runs."""
    with Server(("127.0.0.1", 0), _Handler) as server:
        server.requests, server.answer, server.status = [], answer, status
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def event(text: str, finish: str | None = None, ascii_only: bool = True) -> bytes:
    """One event of OpenAI's chat API."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    value = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    return b"data: " + json.dumps(value, ensure_ascii=ascii_only).encode() + b"\n\n"


def events(*texts: str) -> list[bytes]:
    """A whole answer."""
    return [*(event(text) for text in texts), event("", "stop"), b"data: [DONE]\n\n"]
