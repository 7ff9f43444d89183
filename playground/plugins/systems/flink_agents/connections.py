"""Flink-Agents' two halves of a chat model: a connection, and a setup that uses it by name.

Source: Apache Flink-Agents 0.3.1, `api/chat_models/chat_model.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, PrivateAttr

from playground.base.errors import InputFault
from playground.plugins.systems.flink_agents.chat_message import ChatMessage
from playground.plugins.systems.flink_agents.chat_model import ChatModel, ChatModelSetup
from playground.plugins.systems.flink_agents.completion import Completion
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.replies import extract_reasoning
from playground.plugins.systems.flink_agents.resource import Resource, ResourceType, needs_flink
from playground.plugins.systems.flink_agents.tools import BaseTool


class BaseChatModelConnection(Resource):
    """A connection to a model. A subclass defines `chat`."""

    @classmethod
    def resource_type(cls) -> ResourceType:
        return ResourceType.CHAT_MODEL_CONNECTION

    @abstractmethod
    def chat(
        self, messages: Sequence[ChatMessage], tools: list[BaseTool] | None = None, **kwargs: Any
    ) -> ChatMessage:
        """Return the answer to the messages."""

    @staticmethod
    def _extract_reasoning(content: str) -> tuple[str, str | None]:
        text, reasoning = extract_reasoning(content)
        return text, reasoning


class BaseChatModelSetup(Resource):
    """A model's name, prompt and tools, for a connection that is declared by name.

    A subclass defines `model_kwargs`. Prompt and tools may be names of the same agent's resources.
    """

    connection: str
    model: str
    prompt: Prompt | str | None = None
    tools: list[Any] = Field(default_factory=list)
    skills: list[str] | None = None
    _connection: Any = PrivateAttr(default=None)

    @property
    @abstractmethod
    def model_kwargs(self) -> dict[str, Any]:
        """The parameters of every request."""

    @classmethod
    def resource_type(cls) -> ResourceType:
        return ResourceType.CHAT_MODEL

    def open(self) -> None:
        """Look up connection, prompt and tools by their names. Raises InputFault for skills."""
        if self.skills:
            raise needs_flink("a chat model with skills")
        resources = self.resource_context
        if resources is None:
            raise InputFault("a chat model outside an agent", expected="a resource_context")
        self._connection = resources.get_resource(
            self.connection, ResourceType.CHAT_MODEL_CONNECTION
        )
        if isinstance(self.prompt, str):
            self.prompt = resources.get_resource(self.prompt, ResourceType.PROMPT)
        self.tools = [
            resources.get_resource(tool, ResourceType.TOOL) if isinstance(tool, str) else tool
            for tool in self.tools
        ]

    def chat(
        self,
        messages: Sequence[ChatMessage],
        prompt_args: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        """Return the connection's answer to the prompt's messages followed by `messages`.

        Raises InputFault before `open`.
        """
        if self._connection is None:
            raise InputFault("the connection is not open", field="connection", expected="open()")
        setup = ChatModelSetup(_NoModel(), self.prompt if isinstance(self.prompt, Prompt) else None)
        answer: ChatMessage = self._connection.chat(
            setup.request(messages, prompt_args), tools=self.tools, **self.model_kwargs | kwargs
        )
        return answer


class _NoModel(ChatModel):
    """A model that is never called. The ChatModelSetup in `chat` needs it to build a request."""

    def complete(self, messages: Any, tools: Any = (), **parameters: Any) -> Completion:
        raise InputFault("a setup that only builds a request has no model")
