"""A chat with a prompt, the prompt's values, and tools; pages show it event by event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.base.errors import InputFault
from playground.llm.background import BackgroundRun
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    called_function,
    read_message,
)
from playground.plugins.systems.flink_agents.chat_model import (
    ChatModel,
    ChatModelSetup,
    ScriptedModel,
)
from playground.plugins.systems.flink_agents.events import (
    ChatRequestEvent,
    ChatResponseEvent,
    Event,
    ToolRequestEvent,
    ToolResponseEvent,
)
from playground.plugins.systems.flink_agents.flow import chat_events
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.tools import RecordedTool


@dataclass
class ChatRun(BackgroundRun):
    """A chat that is under way or has ended. `rows` are its events, each with its text. `stop` ends
    the chat after the current event."""

    rows: list[dict[str, str]] = field(default_factory=list)

    def run(self, *arguments: Any) -> ChatRun:
        """Run in this thread, with the arguments of `_run`. A fault is stored, not raised."""
        self._do(lambda: self._run(*arguments))
        return self

    def start(self, *arguments: Any) -> None:
        self._begin(lambda: self._run(*arguments), "chat")

    def _run(self, setup: ChatModelSetup, question: str, values: Mapping[str, Any]) -> None:
        messages = [ChatMessage(content=question)]
        for event in chat_events(messages, setup, prompt_args=values):
            text = "\n".join(_texts(event, setup, messages, values))
            self.rows.append({"event": type(event).__name__, "text": text})
            if self.cancel.is_set():
                return


def setup_of(
    model: ChatModel, prompt: Prompt, tools: Sequence[ToolMetadata], results: Mapping[str, Any]
) -> ChatModelSetup:
    """Return a model with a prompt and tools. A tool returns the value under its name in
    `results`."""
    recorded = (RecordedTool(tool, _result_of(tool.name, results)) for tool in tools)
    return ChatModelSetup(model, prompt, tuple(recorded))


def scripted(answers: Sequence[Any]) -> ScriptedModel:
    """Return a model that answers with these texts and messages. Raises InputFault for an answer
    that is neither."""
    return ScriptedModel(
        [
            each if isinstance(each, str) else read_message(_answer(each), f"answers.{index}")
            for index, each in enumerate(answers)
        ]
    )


def _texts(
    event: Event, setup: ChatModelSetup, messages: Sequence[ChatMessage], values: Mapping[str, Any]
) -> list[str]:
    match event:
        case ChatRequestEvent():
            return [str(message) for message in setup.request(messages, values)]
        case ToolRequestEvent():
            functions = map(called_function, event.tool_calls)
            return [f"{each['name']}({each.get('arguments')})" for each in functions]
        case ToolResponseEvent():
            return [*map(str, event.results), *event.errors]
        case ChatResponseEvent():
            return [event.response.content]
    return []


def _answer(value: Any) -> Any:
    return {"role": "assistant", **value} if isinstance(value, dict) else value


def _result_of(name: str, results: Mapping[str, Any]) -> Callable[..., Any]:
    def result(**_: Any) -> Any:
        if name not in results:
            raise InputFault(f"no result of {name}", expected="one under the tool's name")
        return results[name]

    return result
