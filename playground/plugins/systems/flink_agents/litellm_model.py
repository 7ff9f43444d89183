"""Any model that LiteLLM can reach, as a `ChatModel`: complete or streamed answers, with
retries."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final

from playground.base.errors import InputFault
from playground.llm.access import access_arguments
from playground.llm.completion_arguments import STREAMED, completion_arguments, delta_of
from playground.llm.connecting import connection_problem, ends_without_reason
from playground.llm.library import litellm
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    MessageRole,
    to_openai_message,
)
from playground.plugins.systems.flink_agents.chat_model import ChatModel, Messages
from playground.plugins.systems.flink_agents.completion import Completion, Piece
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import scrubbed

_LONGEST_FAULT: Final = 500  # characters of a provider's error


class LiteLLMModel(ChatModel):
    """A model by its LiteLLM name, which is asked over the network.

    `base_url` is a server with the provider's API (for OpenAI's API, use the name `openai/NAME`).
    Keys come from the environment. After an error that may pass (a rate limit, for example), a
    request is repeated up to `retries` times, with LiteLLM's growing pauses. `timeout` is in
    seconds. `parameters` go with every request.
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
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            try:
                return self._completion(litellm().completion(**arguments))
            except Exception as error:
                time.sleep(self._pause(error, attempt))
        raise AssertionError  # the loop ends by a return or an InputFault

    async def acomplete(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Completion:
        """Return the answer as `complete` does, but asynchronously."""
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            try:
                return self._completion(await litellm().acompletion(**arguments))
            except Exception as error:
                await asyncio.sleep(self._pause(error, attempt))
        raise AssertionError

    def stream(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Iterator[Piece]:
        """Yield the answer in pieces as they come, then the completion.

        The request is repeated only before the first piece, because pieces cannot be taken back.
        """
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            chunks: list[Any] = []
            try:
                stream = litellm().completion(**arguments, **STREAMED)
                for chunk in stream:
                    chunks.append(chunk)
                    if delta := delta_of(chunk):
                        yield Piece(delta.text, delta.reasoning)
            except Exception as error:
                time.sleep(self._pause(error, attempt, begun=bool(chunks)))
                continue
            yield Piece(completion=self._streamed_completion(stream, chunks))
            return

    async def astream(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> AsyncIterator[Piece]:
        """Yield the answer as `stream` does, but asynchronously."""
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            chunks: list[Any] = []
            try:
                stream = await litellm().acompletion(**arguments, **STREAMED)
                async for chunk in stream:
                    chunks.append(chunk)
                    if delta := delta_of(chunk):
                        yield Piece(delta.text, delta.reasoning)
            except Exception as error:
                await asyncio.sleep(self._pause(error, attempt, begun=bool(chunks)))
                continue
            yield Piece(completion=self._streamed_completion(stream, chunks))
            return

    def takes(self, parameter: str) -> bool:
        """Return True if LiteLLM's adapter passes a parameter on to this model's provider."""
        with suppress(Exception):  # LiteLLM raises for an unknown name
            return parameter in (litellm().get_supported_openai_params(model=self.model) or ())
        return False

    @property
    def kwargs(self) -> dict[str, Any]:
        """The parameters of every request, under DSPy's name."""
        return self.parameters

    @property
    def supports_function_calling(self) -> bool:
        return self._supports(litellm().supports_function_calling)

    @property
    def supports_reasoning(self) -> bool:
        return self._supports(litellm().supports_reasoning)

    @property
    def supports_response_schema(self) -> bool:
        return self._supports(litellm().supports_response_schema)

    @property
    def supported_params(self) -> Collection[str]:
        return [name for name in ("response_format", "tools") if self.takes(name)]

    def _supports(self, check: Callable[..., Any]) -> bool:
        """Return the answer of `check`, a function of LiteLLM about an ability of the model."""
        with suppress(Exception):  # LiteLLM raises for an unknown name
            return bool(check(model=self.model))
        return False

    def _arguments(
        self, messages: Messages, tools: Sequence[ToolMetadata], parameters: dict[str, Any]
    ) -> dict[str, Any]:
        """Return LiteLLM's arguments. Raises InputFault as `to_openai_message` does."""
        from playground.dialects.prompts import typed_schema  # here, because it loads all dialects

        merged = {**self.parameters, **parameters}
        access = access_arguments(merged.get("model", self.model), self.base_url)
        # no repeats by the providers' clients, because this class repeats requests
        limits = {"max_retries": 0, "timeout": self.timeout}
        return completion_arguments(
            [to_openai_message(message) for message in messages],
            self.model,
            [typed_schema(tool) for tool in tools],
            {**access, **limits, **merged},
        )

    def _pause(self, error: Exception, attempt: int, *, begun: bool = False) -> float:
        """Return the seconds until the next attempt, by LiteLLM's rule. Raises InputFault after the
        last attempt, if the answer had `begun`, and for an error that LiteLLM would not retry."""
        if ends_without_reason(error):
            raise self._cut_off(begun=begun) from error
        status = getattr(error, "status_code", None)
        if begun or attempt >= self.retries or not isinstance(status, int):
            raise self._fault(error, begun=begun) from error
        library = litellm()
        if not library._should_retry(status):
            raise self._fault(error) from error
        headers = getattr(getattr(error, "response", None), "headers", None)
        remaining = self.retries - attempt
        return float(library._calculate_retry_after(remaining, self.retries, headers))

    def _streamed_completion(self, stream: Any, chunks: list[Any]) -> Completion:
        """Return the complete answer of a stream. Raises InputFault if the stream was cut off."""
        if not chunks or getattr(stream, "received_finish_reason", None) is None:
            raise self._cut_off(begun=bool(chunks))
        try:
            return self._completion(litellm().stream_chunk_builder(chunks))
        except Exception as error:
            raise self._fault(error, begun=True) from error

    def _completion(self, response: Any) -> Completion:
        choice = response.choices[0]
        usage = getattr(response, "usage", None)
        return Completion(
            ChatMessage(
                role=MessageRole.ASSISTANT,
                content=choice.message.content or "",
                tool_calls=[_call(call) for call in choice.message.tool_calls or ()],
            ),
            model=str(response.model or self.model),
            reasoning=str(getattr(choice.message, "reasoning_content", None) or ""),
            usage=json.loads(usage.model_dump_json(exclude_none=True)) if usage else {},
            cost=self._cost(response),
            stop_reason=str(choice.finish_reason or ""),
        )

    def _cost(self, response: Any) -> float | None:
        """Return the cost in US dollars by LiteLLM's price list, or None for a model without a
        price."""
        with suppress(Exception):  # LiteLLM raises for a model without a price
            cost = litellm().completion_cost(completion_response=response, model=self.model)
            return float(cost)
        return None

    def _cut_off(self, *, begun: bool) -> InputFault:
        return self._fault(EOFError("the stream broke off before its end"), begun=begun)

    def _fault(self, error: Exception, *, begun: bool = False) -> InputFault:
        if fault := _wrapped_fault(error):
            return fault
        status = getattr(error, "status_code", None)
        message = connection_problem(error, begun=begun) or str(error)
        # a provider's message may quote the request
        scrubbed_message = scrubbed(message, secrets=environment_secrets())
        reason = f"{type(error).__name__}{f' {status}' if status else ''}: {scrubbed_message}"
        return InputFault(
            f"{'not the whole' if begun else 'no'} answer: {reason}"[:_LONGEST_FAULT],
            where=self.model,
            expected="a complete answer"
            if begun
            else "a model that LiteLLM knows, and a provider that answers",
        )


def _wrapped_fault(error: BaseException | None) -> InputFault | None:
    """Return our InputFault that a client has wrapped into its own error, or None."""
    while error is not None:
        if isinstance(error, InputFault):
            return error
        error = error.__cause__ or error.__context__
    return None


def _call(call: Any) -> dict[str, Any]:
    """Return a call in a ChatMessage's form. Arguments that are not a JSON object stay a text."""
    text = call.function.arguments or "{}"
    arguments: Any = text
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        arguments = value if isinstance(value, dict) else text
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.function.name, "arguments": arguments},
        "original_id": call.id,
    }
