"""Which credentials reach a server given by its address: every provider that LiteLLM knows.

Each variable of the environment that LiteLLM's adapters read gets a value that can be found again;
then one request for each provider is recorded from a loopback sink.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from . import Try

READ = re.compile(
    r"""(?:get_secret\w*|getenv|environ\.get|environ)[\(\[]\s*["']([A-Z][A-Z0-9_]+)"""
)
SECRET = re.compile(r"KEY|TOKEN|SECRET|ORG|PROJECT|PASS|CRED|AUTH|ACCOUNT|USER|_ID")
HARMLESS = re.compile(
    r"BASE|URL|ENDPOINT|PATH|FILE|_DIR|REGION|TIMEOUT|LITELLM_|VERSION|ABLE|USE_|DEFAULT_|MAX_"
)


def variables() -> dict[str, str]:
    """Names of variables that the adapters read and that speak of a secret, each with a mark."""
    spec = importlib.util.find_spec("litellm")
    assert spec and spec.origin
    files = (Path(spec.origin).parent / "llms").rglob("*.py")
    names = {name for file in files for name in READ.findall(file.read_text("utf-8"))}
    chosen = sorted(name for name in names if SECRET.search(name) and not HARMLESS.search(name))
    return {name: f"leaked{name.lower().replace('_', '')}value" for name in chosen}


class Sink(BaseHTTPRequestHandler):
    seen: list[str] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append(f"{self.path}\n{self.headers}\n{body.decode('utf-8', 'replace')}")
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error": {"message": "no"}}')

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


def tries() -> Iterator[Try]:
    """One try a provider that reached the sink."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    marked = variables()
    os.environ.update(marked)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"

    from playground.llm.library import litellm
    from playground.llm.record import record

    for provider in [str(getattr(p, "value", p)) for p in vars(litellm())["provider_list"]]:
        Sink.seen.clear()
        _tried(record, provider, address)
        found = {mark for mark in marked.values() for request in Sink.seen if mark in request}
        if Sink.seen:
            yield Try(provider, not found, ", ".join(sorted(found)))
    server.shutdown()


def _tried(record: Any, provider: str, address: str) -> None:
    """Ask in a thread, which may hang: twelve seconds are given."""

    def ask() -> None:
        hello = [{"role": "user", "content": "hello"}]
        with suppress(Exception):  # the sink refuses; what it was sent is what counts
            record(hello, f"{provider}/some-model", base_url=address, timeout=4)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(12)
