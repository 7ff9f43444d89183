"""Any model that LiteLLM can reach, as a `ChatModel`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

from playground.llm.endpoint import Call, Delta, Endpoint, Response
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    MessageRole,
    to_openai_message,
)
from playground.plugins.systems.flink_agents.chat_model import ChatModel, Messages
from playground.plugins.systems.flink_agents.completion import Completion, Piece


class LiteLLMModel(ChatModel):
    """A model by its LiteLLM name, which is asked over the network.

    `base_url` is a server that speaks the provider's API (for OpenAI's, use the name
    `openai/NAME`). Keys come from the environment. A request that fails for a moment is repeated
    `retries` times, with LiteLLM's growing pauses. `timeout` is in seconds.
    """

    def __init__(
        self,
        model: str,
        base_url: str = "",
        *,
        retries: int = 2,
        timeout: float = 600.0,
        **parameters: Any,
    ) -> None:
        self.model, self.base_url = model, base_url
        self.retries, self.timeout = retries, timeout
        self.parameters = parameters

    def complete(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Completion:
        """Return the answer. Raises InputFault with the provider's message."""
        return _completion(self._endpoint.complete(*_for_litellm(messages, tools), **parameters))

    async def acomplete(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Completion:
        """Do what `complete` does, while other tasks go on."""
        return _completion(
            await self._endpoint.acomplete(*_for_litellm(messages, tools), **parameters)
        )

    def takes(self, parameter: str) -> bool:
        """Return True if LiteLLM's adapter passes a parameter on to this model's provider."""
        return self._endpoint.takes(parameter)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The parameters of every request, under DSPy's name."""
        return self.parameters

    @property
    def supports_function_calling(self) -> bool:
        return self._endpoint.supports("function_calling")

    @property
    def supports_reasoning(self) -> bool:
        return self._endpoint.supports("reasoning")

    @property
    def supports_response_schema(self) -> bool:
        return self._endpoint.supports("response_schema")

    @property
    def supported_params(self) -> Collection[str]:
        return [name for name in ("response_format", "tools") if self.takes(name)]

    def stream(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Iterator[Piece]:
        """Yield the answer in pieces as they come, then the completion.

        The request is repeated only if no piece has come yet.
        """
        yield from map(_piece, self._endpoint.stream(*_for_litellm(messages, tools), **parameters))

    async def astream(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> AsyncIterator[Piece]:
        """Do what `stream` does, while other tasks go on."""
        async for part in self._endpoint.astream(*_for_litellm(messages, tools), **parameters):
            yield _piece(part)

    @property
    def _endpoint(self) -> Endpoint:
        return Endpoint(self.model, self.base_url, self.retries, self.timeout, self.parameters)


def _for_litellm(
    messages: Messages, tools: Sequence[ToolMetadata]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return messages and tools in LiteLLM's form. Raises InputFault as `to_openai_message`."""
    from playground.dialects.prompts import typed_schema  # here, because it loads all dialects

    typed_tools = [typed_schema(tool) for tool in tools]
    return [to_openai_message(message) for message in messages], typed_tools


def _piece(part: Delta | Response) -> Piece:
    if isinstance(part, Response):
        return Piece(completion=_completion(part))
    return Piece(part.text, part.reasoning)


def _completion(answer: Response) -> Completion:
    calls = [_call(call) for call in answer.calls]
    message = ChatMessage(role=MessageRole.ASSISTANT, content=answer.content, tool_calls=calls)
    return Completion(
        message, answer.model, answer.reasoning, answer.usage, answer.cost, answer.stop_reason
    )


def _call(call: Call) -> dict[str, Any]:
    """Return a call in a ChatMessage's form; arguments that are no JSON object stay a text."""
    arguments: Any = call.arguments_text
    with suppress(ValueError, RecursionError):
        value = json.loads(call.arguments_text)
        arguments = value if isinstance(value, dict) else call.arguments_text
    function = {"name": call.name, "arguments": arguments}
    return {
        "id": call.call_id,
        "type": "function",
        "function": function,
        "original_id": call.call_id,
    }
