"""Views for pages and commands: a prompt in every form that is sent, and a tool in all forms."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.base import python_source
from playground.base.errors import InputFault
from playground.nouns.tools import Schema, ToolMetadata
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    lost_calls,
    to_anthropic_request,
    to_openai_message,
)
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.tools import to_anthropic_tool, to_openai_tool
from playground.plugins.systems.flink_agents.upstream import rebuilt_schema


@dataclass(frozen=True)
class PromptView:
    """A prompt filled with values; variables without a value are `missing` and stay in the text.
    `lost_calls` are the indexes of the messages whose calls do not reach Anthropic."""

    text: str
    messages: list[ChatMessage]
    openai: list[dict[str, Any]]
    anthropic: dict[str, Any]
    variables: list[str]
    missing: list[str]
    lost_calls: list[int]

    def forms(self) -> dict[str, str]:
        """Return the text of every form by the form's name."""
        plain = [message.model_dump(mode="json") for message in self.messages]
        values = {"messages": plain, "OpenAI": self.openai, "Anthropic": self.anthropic}
        dumped = {k: json.dumps(v, ensure_ascii=False, indent=1) for k, v in values.items()}
        return {"text": self.text, **dumped}


def view_prompt(prompt: Prompt, values: Mapping[str, Any]) -> PromptView:
    """Return a prompt as text, as messages, and in the forms of OpenAI's and Anthropic's requests.

    The providers' forms include the calls and extra arguments of the template's messages. Raises
    InputFault for a message that has no form for OpenAI.
    """
    messages = prompt.format_messages(values)
    sent = messages
    if not isinstance(prompt.template, str):
        filled = zip(prompt.template, messages, strict=True)
        sent = [
            original.model_copy(update={"content": message.content}) for original, message in filled
        ]
    return PromptView(
        prompt.format_string(values),
        messages,
        [to_openai_message(message) for message in sent],
        to_anthropic_request(sent),
        prompt.variables,
        prompt.missing(values),
        lost_calls(sent),
    )


@dataclass(frozen=True)
class ToolView:
    """A tool's schema as given (`kept`), and the forms that Flink-Agents would send.

    `rebuilt` and `openai` are None if Flink-Agents cannot build them; `fault` says why.
    """

    name: str
    kept: Schema
    rebuilt: Schema | None
    openai: dict[str, Any] | None
    anthropic: dict[str, Any]
    fault: str = ""


def view_tool(tool: ToolMetadata) -> ToolView:
    """Return a tool with the forms that Flink-Agents builds from it."""
    faults: list[str] = []
    rebuilt: Schema | None = None
    openai: dict[str, Any] | None = None
    try:
        rebuilt = rebuilt_schema(tool.input_schema, tool.name)
    except InputFault as fault:
        faults.append(str(fault))
    try:
        openai = to_openai_tool(tool)
    except InputFault as fault:
        faults.append(str(fault))
    anthropic = to_anthropic_tool(tool)
    return ToolView(tool.name, tool.input_schema, rebuilt, openai, anthropic, "; ".join(faults))


def read_prompt(text: str) -> Prompt:
    """Read a prompt from an editor: a JSON list of messages, or a text. Raises InputFault for an
    unreadable message."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return Prompt.from_messages(value)
    return Prompt.from_text(text)


def read_prompts(text: str) -> dict[str, Prompt]:
    """Read prompts by name from an editor: declarations in YAML, the source of an agent's class,
    or one prompt, called "prompt", as `read_prompt` reads it.

    A prompt whose name an earlier agent has taken is called `AGENT.NAME`. Raises InputFault for
    Python without a readable prompt, and for broken source or YAML.
    """
    from playground.plugins.systems.flink_agents.agent_source import agents_in
    from playground.plugins.systems.flink_agents.declarations import declared_prompts

    agents = agents_in(text)
    if not agents:
        if _is_source(text):
            raise InputFault("Python without an agent's prompt", expected="a prompt, or an agent")
        return declared_prompts(text) or {"prompt": read_prompt(text)}
    prompts: dict[str, Prompt] = {}
    for agent in agents:
        for name, prompt in agent.prompts.items():
            prompts[f"{agent.name}.{name}" if name in prompts else name] = prompt
    if not prompts:
        names = ", ".join(agent.name for agent in agents)
        why = "; ".join(line for agent in agents for line in agent.unread)
        problem = f"the agent {names} declares no prompt that can be read"
        raise InputFault(f"{problem} ({why})" if why else problem, expected="a prompt")
    return prompts


def _is_source(text: str) -> bool:
    """Return True for Python source with a class, because such a text is not a prompt."""
    try:
        return any(isinstance(node, ast.ClassDef) for node in python_source.statements(text))
    except InputFault:
        return False
