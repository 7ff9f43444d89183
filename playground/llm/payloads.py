"""What LiteLLM's adapter would send, without sending it: its own transformation, a closed door."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from playground.errors import InputFault
from playground.llm.library import litellm

# Adapters that send through the client they are given; another one might reach for the network.
_OFFLINE: Final = (
    "anthropic",
    "bedrock",
    "deepseek",
    "gemini",
    "groq",
    "mistral",
    "ollama",
    "ollama_chat",
    "openai",
    "openrouter",
    "together_ai",
)
_NO_KEYS: Final = {
    "api_key": "none",
    "aws_access_key_id": "none",
    "aws_secret_access_key": "none",
    "aws_region_name": "us-east-1",
}


@dataclass(frozen=True, slots=True)
class WireCall:
    """One HTTP request that would be sent: its body as the provider would read it."""

    method: str
    url: str
    body: dict[str, Any]


def wire_calls(
    messages: Sequence[Mapping[str, Any]],
    model: str,
    tools: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> list[WireCall]:
    """The HTTP requests behind one completion; `more` goes to `litellm.completion`.

    Gemini's explicit cache is three of them: is there one, make one, answer with it. OpenAI's are
    in the chat form, also where LiteLLM would choose its Responses API. Nothing leaves the process.
    Raises InputFault where LiteLLM refuses, or where its adapter for the model is not
    known to stay offline.
    """
    library = litellm()
    try:
        name, provider, *_ = library.get_llm_provider(model)
    except library.exceptions.BadRequestError as error:
        raise _fault(model, "LiteLLM does not know its provider") from error
    if provider not in _OFFLINE:
        raise _fault(model, f"its adapter ({provider}) is not known to stay offline")
    calls: list[WireCall] = []
    keys = _NO_KEYS if provider == "bedrock" else {"api_key": "none"}
    asked = {"tools": deepcopy(list(tools))} if tools else {}  # adapters change what they get
    try:
        answer = library.completion(
            model=model,
            messages=deepcopy(list(messages)),
            client=_client(provider, name, calls),
            num_retries=0,
            max_retries=0,
            _skip_mcp_handler=True,
            _skip_responses_api_bridge=True,  # it would take a client of its own
            **keys,
            **asked,
            **more,
        )
        next(iter(answer), None)  # a stream is asked for at its first chunk
    except Exception as error:
        if not calls:
            raise _fault(model, f"LiteLLM refuses: {str(error).splitlines()[0]}") from error
    return calls


def _client(provider: str, name: str, calls: list[WireCall]) -> Any:
    """A client that writes down what it is given, and answers that the door is closed."""
    import httpx

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content or b"{}")
        calls.append(WireCall(request.method, str(request.url), body))
        if "cachedContents" not in request.url.path:
            return httpx.Response(418, json={"error": {"message": "offline"}})
        made = {"name": "cachedContents/offline", "model": f"models/{name}"}
        return httpx.Response(200, json=made if request.method == "POST" else {})

    inner = httpx.Client(transport=httpx.MockTransport(answer))
    if provider == "openai":
        import openai

        return openai.OpenAI(api_key="none", http_client=inner, max_retries=0)
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    return HTTPHandler(client=inner)


def _fault(model: str, why: str) -> InputFault:
    known = ", ".join(_OFFLINE)
    return InputFault(
        f"no view of what is sent to {model!r}: {why}",
        expected=f"a LiteLLM model name of one of these providers: {known}",
    )
