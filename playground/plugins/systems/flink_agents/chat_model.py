"""Chat models: a small interface for LiteLLM's models, a scripted model, and a user's own.

A `ChatModel` answers messages; a `ChatModelSetup` adds a prompt, tools and parameters.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, PrivateAttr, ValidationError

from playground.base.errors import InputFault, PlaygroundError
from playground.base.findings import Finding, finding
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents.chat_message import ChatMessage, MessageRole
from playground.plugins.systems.flink_agents.completion import (
    Completion,
    Piece,
    dspy_answers,
    dspy_request,
)
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.replies import clean_response
from playground.plugins.systems.flink_agents.resource import Resource, ResourceType
from playground.plugins.systems.flink_agents.tools import BaseTool, RecordedTool
from playground.plugins.systems.script import Script

Messages = Sequence[ChatMessage]
_Model = TypeVar("_Model", bound=BaseModel)
_SCHEMA_INSTRUCTION = "Answer with one JSON object and nothing else. Its JSON Schema:\n"


class ChatModel(ABC):
    """A model that answers messages. A subclass needs to define only `complete`."""

    @abstractmethod
    def complete(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Completion:
        """Return the answer. Raises InputFault if there is none."""

    def chat(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> ChatMessage:
        """Return the answer's message."""
        return self.complete(messages, tools, **parameters).message

    # DSPy's interface of language models, with its names

    @property
    def supports_function_calling(self) -> bool:
        """True if the model takes tools natively; False unless a subclass overrides it."""
        return False

    @property
    def supports_reasoning(self) -> bool:
        """True if the model returns its reasoning separately when asked."""
        return False

    @property
    def supports_response_schema(self) -> bool:
        """True if an answer follows a JSON Schema when asked."""
        return False

    @property
    def supported_params(self) -> Collection[str]:
        """The parameters of OpenAI's API that the provider is known to support."""
        return ()

    def __call__(self, *, messages: Sequence[Mapping[str, Any]], **parameters: Any) -> list[Any]:
        """Answer messages and `tools` in OpenAI's form; return a list with one answer.

        The answer is a text; if it has more than text, a dict with `text`, `tool_calls` and
        `reasoning_content`.
        """
        chat_messages, tools, rest = dspy_request(messages, parameters)
        return dspy_answers(self.complete(chat_messages, tools, **rest))

    async def acall(self, *, messages: Sequence[Mapping[str, Any]], **parameters: Any) -> list[Any]:
        """Answer as `__call__` does, but asynchronously."""
        chat_messages, tools, rest = dspy_request(messages, parameters)
        return dspy_answers(await self.acomplete(chat_messages, tools, **rest))

    @classmethod
    def resource_type(cls) -> ResourceType:
        return ResourceType.CHAT_MODEL

    def offered(self, tools: Sequence[BaseTool]) -> list[ToolMetadata]:
        """Return the tools' descriptions for a request."""
        return [tool.metadata for tool in tools]

    def takes(self, parameter: str) -> bool:
        """Return True if the provider supports a parameter; others are left out of requests."""
        return True

    def stream(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Iterator[Piece]:
        """Yield the answer in pieces as they come, then the completion."""
        done = self.complete(messages, tools, **parameters)
        if done.message.content or done.reasoning:
            yield Piece(done.message.content, done.reasoning)
        yield Piece(completion=done)

    async def acomplete(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Completion:
        """Return the answer as `complete` does, but asynchronously."""
        return await asyncio.to_thread(self.complete, messages, tools, **parameters)

    async def astream(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> AsyncIterator[Piece]:
        """Yield the answer as `stream` does, but asynchronously."""
        done = await self.acomplete(messages, tools, **parameters)
        yield Piece(done.message.content, done.reasoning)
        yield Piece(completion=done)

    def batch(
        self,
        conversations: Sequence[Messages],
        tools: Sequence[ToolMetadata] = (),
        *,
        limit: int = 4,
        per_second: float = 0.0,
        **parameters: Any,
    ) -> list[Completion | PlaygroundError]:
        """Return an answer, or a fault, for each conversation, in order.

        At most `limit` requests run at a time, and at most `per_second` begin in a second (0: no
        limit).
        """
        pace = _Pace(per_second)

        def complete_one(messages: Messages) -> Completion | PlaygroundError:
            pace.wait()
            try:
                return self.complete(messages, tools, **parameters)
            except PlaygroundError as fault:
                return fault

        with ThreadPoolExecutor(max_workers=max(1, limit)) as pool:
            return list(pool.map(complete_one, conversations))


class BaseChatModel(ChatModel, Resource):
    """A chat model as in Flink-Agents' design document: fields, `chat` and `bind_tools`.

    A subclass defines `bind_tools`, and `chat`, which fills in the `prompt` and uses the bound
    tools. The other methods that ask the model call `bind_tools` with their tools, then `chat`.
    """

    prompt: Prompt | None = None
    __bound: tuple[BaseTool, ...] = PrivateAttr(default=())  # the tools that were bound last

    @abstractmethod
    def chat(self, messages: Messages, *more: Any, **parameters: Any) -> ChatMessage:
        """Return the answer to the messages."""

    @abstractmethod
    def bind_tools(self, tools: Sequence[BaseTool]) -> None:
        """Offer these tools to the model from now on."""

    def complete(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Completion:
        if [tool.metadata for tool in self.__bound] != list(tools):
            self.__bind([RecordedTool(tool, _uncallable) for tool in tools])
        return Completion(self.chat(messages, **parameters))

    def offered(self, tools: Sequence[BaseTool]) -> list[ToolMetadata]:
        """Return the tools' descriptions, and bind the tools so that `chat` can call them."""
        if [*map(id, tools)] != [*map(id, self.__bound)]:
            self.__bind(tools)
        return super().offered(tools)

    def __bind(self, tools: Sequence[BaseTool]) -> None:
        self.bind_tools(list(tools))
        self.__bound = tuple(tools)


def _uncallable(**_: Any) -> Any:
    raise InputFault(
        "a recorded tool has a description and no function to call",
        expected="the tool itself, declared under its name",
    )


class ScriptedModel(ChatModel):
    """A model that returns the given answers in order, for samples, tests and replays.

    `inputs` are the messages of every request that it got.
    """

    def __init__(self, answers: Sequence[ChatMessage | str]) -> None:
        self._script = Script[list[ChatMessage], ChatMessage | str](answers)

    @property
    def inputs(self) -> list[list[ChatMessage]]:
        return self._script.requests

    def complete(
        self, messages: Messages, tools: Sequence[ToolMetadata] = (), **parameters: Any
    ) -> Completion:
        answer = self._script.answer(list(messages))
        if isinstance(answer, str):
            answer = ChatMessage(role=MessageRole.ASSISTANT, content=answer)
        return Completion(answer, model="scripted")


@dataclass(frozen=True)
class ChatModelSetup:
    """A model with its prompt, tools and parameters.

    `variables_from` is the source of the values of the prompt's variables: `prompt_args`, or (as in
    Flink-Agents up to 0.2) the messages' `extra_args`.
    """

    model: ChatModel
    prompt: Prompt | None = None
    tools: tuple[BaseTool, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    variables_from: Literal["prompt_args", "messages"] = "prompt_args"

    def bind_tools(self, tools: Sequence[BaseTool]) -> ChatModelSetup:
        """Return the same setup with these tools."""
        return replace(self, tools=tuple(tools))

    def request(
        self, messages: Messages, prompt_args: Mapping[str, Any] | None = None
    ) -> list[ChatMessage]:
        """Return the messages to send: the prompt's, then `messages`.

        If there is a prompt, empty `messages` are left out, except the assistant's.
        """
        if self.prompt is None:
            return list(messages)
        values = dict(prompt_args or {})
        if self.variables_from == "messages":
            for message in messages:
                values |= message.extra_args
        sent = [m for m in messages if m.content or m.role is MessageRole.ASSISTANT]
        return [*self.prompt.format_messages(values), *sent]

    def complete(
        self, messages: Messages, prompt_args: Mapping[str, Any] | None = None, **parameters: Any
    ) -> Completion:
        """Return the answer with its usage and cost; `parameters` override the setup's own."""
        return self.model.complete(
            self.request(messages, prompt_args), self._offered, **{**self.parameters, **parameters}
        )

    def chat(
        self, messages: Messages, prompt_args: Mapping[str, Any] | None = None, **parameters: Any
    ) -> ChatMessage:
        """Return the answer's message."""
        return self.complete(messages, prompt_args, **parameters).message

    def stream(
        self, messages: Messages, prompt_args: Mapping[str, Any] | None = None, **parameters: Any
    ) -> Iterator[Piece]:
        """Yield the answer in pieces, then the completion."""
        return self.model.stream(
            self.request(messages, prompt_args), self._offered, **{**self.parameters, **parameters}
        )

    async def achat(
        self, messages: Messages, prompt_args: Mapping[str, Any] | None = None, **parameters: Any
    ) -> ChatMessage:
        """Return the answer's message as `chat` does, but asynchronously."""
        done = await self.model.acomplete(
            self.request(messages, prompt_args), self._offered, **{**self.parameters, **parameters}
        )
        return done.message

    def structured(
        self,
        messages: Messages,
        schema: type[_Model],
        prompt_args: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> Structured[_Model]:
        """Return the answer read as a pydantic model.

        The pydantic model's JSON Schema is sent as `response_format`, or in a system message if the
        provider does not support this parameter.
        """
        json_schema = schema.model_json_schema()
        if self.model.takes("response_format"):
            named_schema = {"name": schema.__name__, "schema": json_schema}
            form = {"type": "json_schema", "json_schema": named_schema}
            parameters = {"response_format": form, **parameters}
        else:
            text = _SCHEMA_INSTRUCTION + json.dumps(json_schema, ensure_ascii=False)
            messages = [ChatMessage(role=MessageRole.SYSTEM, content=text), *messages]
        return read_structured(self.complete(messages, prompt_args, **parameters), schema)

    @property
    def _offered(self) -> list[ToolMetadata]:
        return self.model.offered(self.tools)


@dataclass(frozen=True, slots=True)
class Structured(Generic[_Model]):
    """An answer as a value, or None with findings if it does not match the schema."""

    value: _Model | None
    completion: Completion
    findings: list[Finding] = field(default_factory=list)


def read_structured(done: Completion, schema: type[_Model]) -> Structured[_Model]:
    """Read an answer as a value of `schema`. If it does not fit, return findings; never raise."""
    try:
        value = json.loads(clean_response(done.message.content))
    except (ValueError, RecursionError) as error:
        text = f"the answer is not JSON: {error}"
        return Structured(None, done, [finding("malformed-json", "answer", text)])
    try:
        return Structured(schema.model_validate(value), done)
    except ValidationError as error:
        findings = [
            finding("type-mismatch", ".".join(map(str, e["loc"])) or "answer", e["msg"])
            for e in error.errors()
        ]
        return Structured(None, done, findings)


class _Pace:
    """A limit on the number of requests that begin in a second."""

    def __init__(self, per_second: float) -> None:
        self._gap = 1 / per_second if per_second > 0 else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._gap
        time.sleep(at - now)
