"""Requests to a model through LiteLLM, in plain dicts: whole or streamed, with retries.

All code that asks a model (`record`, the view of payloads, the imitated systems) builds its request
by `completion_arguments`, so that LiteLLM gets the same settings from all.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Literal

from playground.base.errors import InputFault
from playground.llm.access import access_arguments
from playground.llm.connecting import connection_problem, ends_without_reason
from playground.llm.library import litellm
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import scrubbed

# The parameters of a session that may be sent: they only say how a model should answer. A file must
# not decide where a request goes, with which key, or what else LiteLLM does.
_SENT: Final = frozenset({
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "stop", "seed",
    "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "logprobs",
    "top_logprobs", "response_format", "reasoning_effort", "thinking", "verbosity",
    "service_tier", "user",
})  # fmt: skip
OF_TOOLS: Final = frozenset({"tool_choice", "parallel_tool_calls"})
STREAMED: Final = {"stream": True, "stream_options": {"include_usage": True}}
_LONGEST_FAULT: Final = 500  # characters of a provider's error


def completion_arguments(
    messages: Sequence[Mapping[str, Any]],
    model: str,
    tools: Sequence[Mapping[str, Any]] = (),
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the arguments of `litellm.completion`; `parameters` win over all others.

    LiteLLM's own retries are off, because they differ between providers. So is its MCP handler,
    which would change the tools and need another package.
    """
    return {
        "model": model,
        "messages": list(messages),
        "num_retries": 0,
        "_skip_mcp_handler": True,
        **({"tools": [dict(tool) for tool in tools]} if tools else {}),
        **(parameters or {}),
    }


def asked_again(
    own: Mapping[str, Any], given: Mapping[str, Any], tools: Sequence[Any] | None
) -> dict[str, Any]:
    """Return the parameters for a new request of a session: `given`, and those of the session's
    `own` that are not only for its old request (as streaming is).

    Without `tools` beside the messages, parameters about the choice of tools are left out.
    """
    names = _SENT | OF_TOOLS if tools else _SENT
    return {**{key: value for key, value in own.items() if key in names}, **given}


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer: text, reasoning, or both."""

    text: str = ""
    reasoning: str = ""

    def __bool__(self) -> bool:
        return bool(self.text or self.reasoning)


def delta_of(chunk: Any) -> Delta:
    """Return the text of a chunk of LiteLLM; an empty Delta if the chunk has only the usage."""
    if not chunk.choices:
        return Delta()
    delta = chunk.choices[0].delta
    thought = getattr(delta, "reasoning_content", None)  # the attribute exists only with reasoning
    return Delta(str(delta.content or ""), str(thought or ""))


Ability = Literal["function_calling", "reasoning", "response_schema"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. The arguments are a JSON text, as the model wrote it."""

    call_id: str
    name: str
    arguments_text: str


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer: `usage` as the provider counts; `cost` in US dollars, None if unknown.

    `stop_reason` is LiteLLM's: `stop`, `tool_calls`, `length` and so on.
    """

    content: str
    calls: tuple[Call, ...] = ()
    model: str = ""
    reasoning: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    cost: float | None = None
    stop_reason: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model by its LiteLLM name, at its provider or at the server `base_url`.

    A request that a provider refuses for the moment is repeated up to `retries` times, with
    LiteLLM's growing pauses; `timeout` is in seconds. `parameters` go with every request.
    """

    model: str
    base_url: str = ""
    retries: int = 2
    timeout: float = 600.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        **parameters: Any,
    ) -> Response:
        """Return the answer. Raises InputFault with the provider's error."""
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            try:
                return self._answer(litellm().completion(**arguments))
            except Exception as error:
                time.sleep(self._pause(error, attempt))
        raise AssertionError  # the loop ends by a return or an InputFault

    async def acomplete(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        **parameters: Any,
    ) -> Response:
        """Do the same as `complete`, asynchronously."""
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            try:
                return self._answer(await litellm().acompletion(**arguments))
            except Exception as error:
                await asyncio.sleep(self._pause(error, attempt))
        raise AssertionError

    def stream(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        **parameters: Any,
    ) -> Iterator[Delta | Response]:
        """Yield the pieces of the answer as they come, then the whole answer.

        The request is repeated only before the first piece: pieces cannot be taken back.
        """
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            chunks: list[Any] = []
            try:
                stream = litellm().completion(**arguments, **STREAMED)
                for chunk in stream:
                    chunks.append(chunk)
                    if delta := delta_of(chunk):
                        yield delta
            except Exception as error:
                time.sleep(self._pause(error, attempt, begun=bool(chunks)))
                continue
            yield self._whole_response(stream, chunks)
            return

    async def astream(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        **parameters: Any,
    ) -> AsyncIterator[Delta | Response]:
        """Do the same as `stream`, asynchronously."""
        arguments = self._arguments(messages, tools, parameters)
        for attempt in count():
            chunks: list[Any] = []
            try:
                stream = await litellm().acompletion(**arguments, **STREAMED)
                async for chunk in stream:
                    chunks.append(chunk)
                    if delta := delta_of(chunk):
                        yield delta
            except Exception as error:
                await asyncio.sleep(self._pause(error, attempt, begun=bool(chunks)))
                continue
            yield self._whole_response(stream, chunks)
            return

    def takes(self, parameter: str) -> bool:
        """Return True if LiteLLM's adapter passes a parameter on to this model's provider."""
        with suppress(Exception):  # it raises for a name that it does not know
            return parameter in (litellm().get_supported_openai_params(model=self.model) or ())
        return False

    def supports(self, ability: Ability) -> bool:
        """Return True if LiteLLM knows that the model can do this natively."""
        with suppress(Exception):  # it raises for a name that it does not know
            library = litellm()
            checks = {
                "function_calling": library.supports_function_calling,
                "reasoning": library.supports_reasoning,
                "response_schema": library.supports_response_schema,
            }
            return bool(checks[ability](model=self.model))
        return False

    def _arguments(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        parameters: dict[str, Any],
    ) -> dict[str, Any]:
        merged = {**self.parameters, **parameters}
        access = access_arguments(merged.get("model", self.model), self.base_url)
        # some providers' clients retry by themselves: that is off, because we count retries
        limits = {"max_retries": 0, "timeout": self.timeout}
        return completion_arguments(messages, self.model, tools, {**access, **limits, **merged})

    def _pause(self, error: Exception, attempt: int, *, begun: bool = False) -> float:
        """Return the seconds until the next attempt, by LiteLLM's rule. Raises InputFault after the
        last attempt, and if the answer had `begun`."""
        if ends_without_reason(error):
            raise self._cut_off(begun=begun) from error
        status = getattr(error, "status_code", None)
        if begun or attempt >= self.retries or not isinstance(status, int):
            raise self._fault(error, begun=begun) from error
        library = litellm()
        if not library._should_retry(status):
            raise self._fault(error) from error
        headers = getattr(getattr(error, "response", None), "headers", None)
        left = self.retries - attempt
        return float(library._calculate_retry_after(left, self.retries, headers))

    def _whole_response(self, stream: Any, chunks: list[Any]) -> Response:
        """Return the whole answer of a stream. Raises InputFault if the stream was cut off."""
        if not chunks or getattr(stream, "received_finish_reason", None) is None:
            raise self._cut_off(begun=bool(chunks))
        try:
            return self._answer(litellm().stream_chunk_builder(chunks))
        except Exception as error:
            raise self._fault(error, begun=True) from error

    def _answer(self, response: Any) -> Response:
        choice = response.choices[0]
        calls = choice.message.tool_calls or ()
        usage = getattr(response, "usage", None)
        return Response(
            content=choice.message.content or "",
            calls=tuple(
                Call(call.id, call.function.name, call.function.arguments or "{}") for call in calls
            ),
            model=str(response.model or self.model),
            reasoning=str(getattr(choice.message, "reasoning_content", None) or ""),
            usage=json.loads(usage.model_dump_json(exclude_none=True)) if usage else {},
            cost=self._cost(response),
            stop_reason=str(choice.finish_reason or ""),
        )

    def _cost(self, response: Any) -> float | None:
        """Return the cost in US dollars by LiteLLM's price list; None if that lacks the model."""
        with suppress(Exception):  # it raises for a model without a price
            cost = litellm().completion_cost(completion_response=response, model=self.model)
            return float(cost)
        return None

    def _cut_off(self, *, begun: bool) -> InputFault:
        return self._fault(EOFError("the stream ends without an end: it was cut off"), begun=begun)

    def _fault(self, error: Exception, *, begun: bool = False) -> InputFault:
        if fault := _ours(error):
            return fault
        status = getattr(error, "status_code", None)
        reason_text = connection_problem(error, begun=begun) or str(error)
        words = scrubbed(
            reason_text, secrets=environment_secrets()
        )  # a message may quote the request
        reason = f"{type(error).__name__}{f' {status}' if status else ''}: {words}"
        return InputFault(
            f"{'not the whole' if begun else 'no'} answer: {reason}"[:_LONGEST_FAULT],
            where=self.model,
            expected="an answer that comes to its end"
            if begun
            else "a model that LiteLLM knows, and a provider that answers",
        )


def _ours(error: BaseException | None) -> InputFault | None:
    """Return the InputFault of ours that a client has wrapped into its own error, or None."""
    while error is not None:
        if isinstance(error, InputFault):
            return error
        error = error.__cause__ or error.__context__
    return None
