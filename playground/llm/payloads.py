"""Catch the requests that LiteLLM's adapter would send, before they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from playground.base.errors import InputFault
from playground.dialects.marks.providers import UNKNOWN, provider_of
from playground.llm.completion_arguments import completion_arguments
from playground.llm.library import litellm
from playground.llm.wiretap import answering_offline

# Adapters that send only by httpx. Others may use the network in other ways.
_OFFLINE: Final = (
    "anthropic",
    "bedrock",
    "cohere_chat",
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
_OURS: Final = {  # a user must not set these: they conflict with ours, or hide the request
    *("model", "messages", "tools", "api_key", "api_base", "base_url", "client", "num_retries"),
    *("max_retries", "_skip_mcp_handler", "_skip_responses_api_bridge", "mock_response"),
    *("aws_access_key_id", "aws_secret_access_key", "aws_region_name"),
}
_KNOWN_MODEL: Final = f"a LiteLLM model name of one of these providers: {', '.join(_OFFLINE)}"
_ACCEPTED: Final = "a request that LiteLLM accepts, or another model"
_NO_KEYS: Final = {
    "api_key": "none",
    "aws_access_key_id": "none",
    "aws_secret_access_key": "none",
    "aws_region_name": "us-east-1",
}


@dataclass(frozen=True, slots=True)
class WireCall:
    """An HTTP request that LiteLLM would send. `body` is its JSON, as the provider would get it."""

    method: str
    url: str
    body: dict[str, Any]


def wire_calls(
    messages: Sequence[Mapping[str, Any]],
    model: str,
    tools: Sequence[Mapping[str, Any]] = (),
    parameters: Mapping[str, Any] | None = None,
) -> list[WireCall]:
    """Return the HTTP requests that one completion makes; `parameters` go to `litellm.completion`.

    With Gemini's explicit cache there are three: look for a cache, make a cache, answer with it.
    Requests to OpenAI are in the chat form, even where LiteLLM would choose the Responses API.
    Nothing leaves the process. Raises InputFault if LiteLLM refuses, and if its adapter for the
    model is not known to stay offline.
    """
    own_parameters = dict(parameters or {})
    if refused := sorted(_OURS & own_parameters.keys()):
        expected = "only parameters of the request"
        raise InputFault(f"{', '.join(refused)} cannot be set here", expected=expected)
    name, provider = _offline(model)
    calls: list[WireCall] = []

    def answer(method: str, url: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        calls.append(WireCall(method, url, body))
        if "/cachedContents" not in url:
            return 418, {"error": {"message": "offline"}}
        cache = {"name": "cachedContents/offline", "model": f"models/{name}"}
        return 200, cache if method == "POST" else {}

    keys = _NO_KEYS if provider == "bedrock" else {"api_key": "none"}
    arguments = completion_arguments(messages, model, tools, own_parameters)
    try:
        with answering_offline(answer):
            reply = litellm().completion(
                max_retries=0,
                _skip_responses_api_bridge=True,
                **keys,
                **deepcopy(arguments),  # adapters change their arguments
            )
            next(iter(reply), None)  # a stream is requested at its first chunk
    except Exception as error:
        if not calls:
            raise _refusal(messages, model, error) from error
    if not calls:
        raise _fault(model, "LiteLLM sends nothing", expected=_ACCEPTED)
    return calls


def with_provider(model: str) -> str:
    """Return the model's LiteLLM name with a provider whose requests can be shown.

    A name with a prefix is not changed, and neither is a bare name that LiteLLM maps to such a
    provider. Any other bare name gets the prefix that `provider_of` finds, if its requests can be
    shown, or else `openai`, because many servers have OpenAI's API.
    """
    library = litellm()
    try:
        _, provider, *_ = library.get_llm_provider(model)
    except library.BadRequestError:
        provider = ""
    if "/" in model or provider in _OFFLINE:
        return model
    route = provider_of(model)
    return f"{route if route in _OFFLINE else 'openai'}/{model}"


def is_known(model: str) -> bool:
    """Return True if a name shows its provider: by a prefix, or because it is well known."""
    if "/" in model or provider_of(model) != UNKNOWN:
        return True
    library = litellm()
    try:
        library.get_llm_provider(model)
    except library.BadRequestError:
        return False
    return True


class _UnwatchedError(InputFault):
    """Raised for an adapter that is not known to stay offline: LiteLLM might accept the request."""


def refusal(
    messages: Sequence[Mapping[str, Any]], model: str, tools: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return why LiteLLM refuses a request; "" if it accepts it, or if that cannot be tried."""
    try:
        wire_calls(messages, model, tools)
    except _UnwatchedError:
        return ""
    except InputFault as fault:
        return fault.problem.rpartition("cannot be shown: ")[2]
    return ""


def _offline(model: str) -> tuple[str, str]:
    """Return the model's own name and its provider. Raises InputFault if the provider's adapter is
    not known to stay offline."""
    library = litellm()
    try:
        name, provider, *_ = library.get_llm_provider(model)
    except library.BadRequestError as error:
        raise _fault(model, "LiteLLM does not know its provider") from error
    if provider not in _OFFLINE:
        reason = f"its adapter ({provider}) is not known to stay offline"
        raise _fault(model, reason, _UnwatchedError)
    return name, provider


def _refusal(messages: Sequence[Mapping[str, Any]], model: str, error: Exception) -> InputFault:
    if all(message.get("role") == "system" for message in messages):
        return InputFault(
            f"nothing can be sent to {model!r}: the session has no user message",
            expected="a session with one (in the app, write it on Compare)",
        )
    reason = (str(error) or type(error).__name__).splitlines()[0]
    unnamed = any(m.get("role") == "tool" and not m.get("tool_call_id") for m in messages)
    if not (unnamed and "tool" in reason):
        return _fault(model, f"LiteLLM refuses it: {reason}", expected=_ACCEPTED)
    # Hermes' chat template, for instance, takes results without ids: its calls in text have none.
    return InputFault(
        f"LiteLLM refuses to send this to {model!r}: there are results in messages of the role "
        "'tool' without 'tool_call_id', which only servers with a chat template accept",
        expected="a dialect that puts results into the user's messages, or native",
    )


def _fault(
    model: str, reason: str, kind: type[InputFault] = InputFault, expected: str = _KNOWN_MODEL
) -> InputFault:
    return kind(f"the request to {model!r} cannot be shown: {reason}", expected=expected)
