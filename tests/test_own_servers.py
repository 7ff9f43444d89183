"""A server that is named by its address gets no credential of the environment: a loopback sink."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from playground.base.errors import InputFault
from playground.llm import own_servers
from playground.llm.access import access_arguments
from playground.llm.library import litellm
from playground.llm.record import record
from playground.plugins.systems.flink_agents.chat_message import ChatMessage
from playground.plugins.systems.flink_agents.litellm_model import LiteLLMModel

HELLO = [{"role": "user", "content": "hello"}]
# Variables that LiteLLM's adapters read. The values are put together here and are no real ones.
VARIABLES = {
    name: "leaked-" + name.lower()
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ORGANIZATION",
        "OPENAI_PROJECT",
        "ANTHROPIC_API_KEY",
        "WATSONX_TOKEN",
        "WATSONX_API_KEY",
        "WATSONX_PROJECT_ID",
        "GIGACHAT_ACCESS_TOKEN",
        "GEMINI_API_KEY",
        "AZURE_API_KEY",
        "AZURE_AD_TOKEN",
        "COHERE_API_KEY",
        "HF_TOKEN",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "NEBIUS_API_KEY",
        "DATABRICKS_API_KEY",
    )
}
PROVIDERS = [
    "openai",
    "anthropic",
    "watsonx",
    "gigachat",
    "gemini",
    "azure",
    "cohere_chat",
    "huggingface",
    "bedrock",
    "nebius",
    "databricks",
    "ollama_chat",
    "vercel_ai_gateway",
    "litellm_proxy",
    "text-completion-openai",
]


class Sink(BaseHTTPRequestHandler):
    """Keeps what it is sent and refuses it."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        seen: list[str] = self.server.seen  # type: ignore[attr-defined]
        seen.append(f"{self.path}\n{self.headers}\n{body.decode('utf-8', 'replace')}")
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error": {"message": "no"}}')

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


class Elsewhere(Sink):
    """Redirects to the sink, by the status that its own path names."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(int(self.path.split("/")[1]))
        self.send_header("Location", self.server.leads_to)  # type: ignore[attr-defined]
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST  # noqa: N815


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the requests that it has seen."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    server.seen = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", server.seen  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


@pytest.fixture
def elsewhere(sink: tuple[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that redirects to the sink, and what the sink has seen."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    server.leads_to = f"{sink[0]}?token=in-the-target"  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", sink[1]
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_is_redirected_to_another_server(
    status: int, elsewhere: tuple[str, list[str]]
) -> None:
    """The client's own request, with all its credentials, was sent to wherever a server led."""
    address, seen = elsewhere
    told = rf"{address}: the server answers {status} and redirects to http://127\.0\.0\.1:\d+/v1;"
    for provider in ("openai", "gigachat", "nebius", "anthropic"):
        with pytest.raises(InputFault, match=told) as caught:
            record(HELLO, f"{provider}/m", base_url=f"{address}/{status}/v1", timeout=10)
        assert "\n" not in str(caught.value)
        assert "in-the-target" not in str(caught.value)
    assert seen == []


def test_chat_models_are_not_redirected_either(elsewhere: tuple[str, list[str]]) -> None:
    address, seen = elsewhere
    model = LiteLLMModel("openai/m", f"{address}/307/v1", retries=1)
    messages = [ChatMessage(content="Hello")]
    told = "the server answers 307 and redirects to"
    with pytest.raises(InputFault, match=told):
        model.complete(messages)
    with pytest.raises(InputFault, match=told):
        asyncio.run(model.acomplete(messages))
    assert seen == []


def test_a_key_stays_with_its_provider_when_that_redirects(
    elsewhere: tuple[str, list[str]],
) -> None:
    """httpx strips `Authorization` on its way to another server, and no other key."""
    import httpx

    from playground.llm import wiretap

    wiretap.watch()
    address, seen = elsewhere
    keyed = {"x-api-key": "a-key-of-a-provider"}
    with httpx.Client(follow_redirects=True) as client:
        with pytest.raises(InputFault, match="redirects"):
            client.post(f"{address}/307/messages", headers=keyed, json={})
        assert seen == []
        client.post(f"{address}/307/messages", json={})  # somebody else's request is not ours
        assert len(seen) == 1


def test_what_is_recorded_is_what_was_sent(sink: tuple[str, list[str]]) -> None:
    """Cleaning and recording are one place: whichever is asked for first."""
    address, seen = sink
    recorded = record(
        HELLO, "openai/m", base_url=address, parameters={"user": VARIABLES["WATSONX_PROJECT_ID"]}
    )
    body = json.loads(seen[-1].rpartition("\n")[2])
    assert recorded.request == body
    assert "user" not in body


def test_no_provider_hands_a_credential_to_a_server_given_by_address(
    sink: tuple[str, list[str]],
) -> None:
    address, seen = sink
    reached = set()
    for provider in PROVIDERS:
        before = len(seen)
        try:
            record(HELLO, f"{provider}/some-model", base_url=address, timeout=10)
        except InputFault:  # an adapter that wants more than an address
            continue
        finally:
            reached |= {provider} if len(seen) > before else set()
    assert reached >= {"openai", "watsonx", "gigachat", "nebius", "anthropic"}
    assert not [value for value in VARIABLES.values() for request in seen if value in request]
    assert [request for request in seen if "hello" not in request] == []


def test_asynchronous_calls_are_looked_at_too(sink: tuple[str, list[str]]) -> None:
    address, seen = sink
    arguments = {**access_arguments("openai/some-model", address), "num_retries": 0, "timeout": 10}
    with pytest.raises(Exception, match="no"):
        asyncio.run(litellm().acompletion(model="openai/some-model", messages=HELLO, **arguments))
    assert seen and not [v for v in VARIABLES.values() if any(v in request for request in seen)]


def test_openais_organization_goes_to_openai_alone() -> None:
    import httpx

    headers = {"OpenAI-Organization": "org", "OpenAI-Project": "p", "Authorization": "Bearer k"}
    theirs = httpx.Request("POST", "https://api.nebius.example/v1", headers=headers)
    assert "openai-organization" not in own_servers.clean_request(theirs).headers
    assert "openai-project" not in own_servers.clean_request(theirs).headers
    assert own_servers.clean_request(theirs).headers["authorization"] == "Bearer k"
    own = httpx.Request("POST", "https://api.openai.com/v1", headers=headers)
    assert own_servers.clean_request(own).headers["openai-organization"] == "org"
    disguised = httpx.Request("POST", "https://api.openai.com.evil.example", headers=headers)
    assert "openai-organization" not in own_servers.clean_request(disguised).headers


def test_values_of_the_environment_are_taken_out_however_deep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import httpx

    monkeypatch.setenv("WATSONX_PROJECT_ID", "leaked-project")
    own_servers.withhold_credentials_from("http://127.0.0.1:9/v1")
    body = {"meta": {"p": ["leaked-project", 1]}, "messages": [{"content": "leaked-project"}]}
    sent = own_servers.clean_request(httpx.Request("POST", "http://127.0.0.1:9/v1/x", json=body))
    assert json.loads(sent.content) == {**body, "meta": {"p": [1]}}


def test_a_redirect_that_no_client_can_follow_is_left_to_the_client() -> None:
    import httpx

    request = httpx.Request("POST", "https://api.openai.com/v1", headers={"api-key": "k"})
    answer = httpx.Response(307, headers={"location": "http://[::1"})
    assert own_servers.redirect_fault(request, answer, watched=True) is None
