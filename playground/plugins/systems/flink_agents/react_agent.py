"""Flink-Agents' `ReActAgent`: it asks a chat model about each input, and sends out the answer.

Source: Apache Flink-Agents 0.3.1, `api/agents/react_agent.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from playground.base.errors import InputFault
from playground.plugins.systems.flink_agents.agent import Agent, action
from playground.plugins.systems.flink_agents.chat_message import ChatMessage, MessageRole
from playground.plugins.systems.flink_agents.events import (
    ChatRequestEvent,
    ChatResponseEvent,
    Event,
    InputEvent,
    OutputEvent,
)
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.resource import ResourceDescriptor, ResourceType
from playground.plugins.systems.flink_agents.runner import STRUCTURED_OUTPUT, RunnerContext

MODEL: Final = "_default_chat_model"
_SCHEMA_PROMPT: Final = "_default_schema_prompt"
_USER_PROMPT: Final = "_default_user_prompt"


class ReActAgent(Agent):
    """An agent of one chat model, which calls its tools natively until it answers.

    An input that is a text or a number becomes the prompt's variable `input`. Any other input needs
    a prompt, whose variables are the input's fields. With an `output_schema`, the answer is an
    instance of that class. Raises InputFault for a schema that is not a pydantic class.
    """

    def __init__(
        self,
        *,
        chat_model: ResourceDescriptor,
        prompt: Prompt | None = None,
        output_schema: type[BaseModel] | None = None,
    ) -> None:
        super().__init__()
        self.add_resource(MODEL, ResourceType.CHAT_MODEL, chat_model)
        if output_schema is not None:
            if not (isinstance(output_schema, type) and issubclass(output_schema, BaseModel)):
                problem = f"not a model: {output_schema!r:.60} (a row type needs Apache Flink)"
                raise InputFault(problem, field="output_schema", expected="a pydantic model")
            schema = output_schema.model_json_schema()
            request = f"The final response should be json format, and match the schema {schema}."
            self.add_resource(_SCHEMA_PROMPT, ResourceType.PROMPT, Prompt.from_text(request))
        if prompt is not None:
            self.add_resource(_USER_PROMPT, ResourceType.PROMPT, prompt)
        config = {"output_schema": output_schema}
        self.add_action("start_action", [InputEvent.EVENT_TYPE], self.start_action, **config)

    @staticmethod
    def start_action(event: Event, ctx: RunnerContext) -> None:
        """Ask the chat model about an input."""
        messages = _messages(InputEvent.from_event(event).input, _prompt(ctx, _USER_PROMPT))
        if schema_prompt := _prompt(ctx, _SCHEMA_PROMPT):
            roles = [message.role for message in messages]
            place = roles.index(MessageRole.SYSTEM) + 1 if MessageRole.SYSTEM in roles else 0
            messages[place:place] = schema_prompt.format_messages()
        schema = ctx.get_action_config_value("output_schema")
        ctx.send_event(ChatRequestEvent(MODEL, messages, output_schema=schema))

    @action(ChatResponseEvent.EVENT_TYPE)
    @staticmethod
    def stop_action(event: Event, ctx: RunnerContext) -> None:
        """Send out the answer, or the object that was read from it."""
        response = ChatResponseEvent.from_event(event).response
        ctx.send_event(OutputEvent(response.extra_args.get(STRUCTURED_OUTPUT, response.content)))


def _prompt(ctx: RunnerContext, name: str) -> Prompt | None:
    try:
        prompt: Prompt = ctx.get_resource(name, ResourceType.PROMPT)
    except KeyError:
        return None
    return prompt


def _messages(value: Any, prompt: Prompt | None) -> list[ChatMessage]:
    """Return the messages of an input. Raises InputFault if the input cannot become messages."""
    if value is None or isinstance(value, bool | str | int | float):
        if prompt is None:
            return [ChatMessage(role=MessageRole.USER, content=str(value))]
        return prompt.format_messages({"input": str(value)}, role=MessageRole.USER)
    fields = value if isinstance(value, Mapping) else getattr(value, "__dict__", None)
    if prompt is None or fields is None:
        problem = (
            f"an input of the type {type(value).__name__}, and {'a' if prompt else 'no'} prompt"
        )
        raise InputFault(
            problem, expected="a text or a number; or fields, for a prompt's variables"
        )
    return prompt.format_messages({k: str(v) for k, v in fields.items()}, role=MessageRole.USER)
