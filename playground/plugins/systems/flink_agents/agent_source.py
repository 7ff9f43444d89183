"""Read the resources of agents from their source; nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any, Final

from playground.base import python_source
from playground.base.errors import InputFault
from playground.base.python_literals import ComputedError, LiteralCall, Names, names_in, value_of
from playground.plugins.systems.flink_agents.prompt import Prompt

_MARKERS: Final = ("@prompt", "@tool", "@chat_model", "@action")


@dataclass(frozen=True)
class AgentSource:
    """The declarations of a class, by name: prompts, and the source of all others.

    `unread` names prompts that are computed, and what other decorators declare.
    """

    name: str
    prompts: dict[str, Prompt] = field(default_factory=dict)
    tools: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def parts(self) -> dict[str, int]:
        """Return how many of each kind there are."""
        return {
            "prompt": len(self.prompts),
            "tool": len(self.tools),
            "chat model": len(self.models),
            "action": len(self.actions),
        }


def agents_in(text: str) -> list[AgentSource]:
    """Return the agents in a Python text; none for a text that is no Python."""
    if not any(marker in text for marker in _MARKERS):
        return []
    try:
        body = python_source.module(dedent(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    constants = names_in(body)
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    return [agent for node in classes if (agent := _agent(node, constants))]


def _agent(node: ast.ClassDef, constants: Names) -> AgentSource | None:
    agent = AgentSource(node.name)
    for method in node.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for kind in _decorators(method):
            match kind:
                case "prompt":
                    _read_prompt(agent, method, constants)
                case "tool":
                    agent.tools.append(method.name)
                case "chat_model" | "chat_model_setup":
                    agent.models.append(method.name)
                case "action":
                    agent.actions.append(method.name)
                case "staticmethod" | "classmethod":
                    pass
                case _:
                    agent.unread.append(f"{node.name}.{method.name}: {kind} is not read")
    return agent if any(agent.parts().values()) else None


def _decorators(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for decorator in method.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        yield called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)


def _read_prompt(
    agent: AgentSource,
    method: ast.FunctionDef | ast.AsyncFunctionDef,
    constants: Names,
) -> None:
    names = {**constants, **names_in(method.body)}
    returned = [line.value for line in method.body if isinstance(line, ast.Return)]
    for node in filter(None, returned):
        try:
            agent.prompts[method.name] = _prompt(value_of(node, names))
        except (ComputedError, InputFault, RecursionError) as error:
            agent.unread.append(f"{agent.name}.{method.name}: {error}")


def _prompt(made: Any) -> Prompt:
    """Return the prompt of `Prompt.from_text(…)` or `Prompt.from_messages(…)`."""
    match made:
        case LiteralCall("from_text"):
            given = made.bound("text", "role")
            text, role = given.get("text"), given.get("role")
            if isinstance(text, str):
                return Prompt.from_text(text, str(role).lower() if role else None)
        case LiteralCall("from_messages"):
            messages = made.bound("messages").get("messages") or []
            return Prompt.from_messages([*map(_message, messages)])
    raise InputFault("no prompt", expected="Prompt.from_text(…) or Prompt.from_messages(…)")


def _message(made: Any) -> dict[str, Any]:
    given = made.kwargs if isinstance(made, LiteralCall) else made
    if not isinstance(given, dict):
        raise InputFault(f"no message: {made!r:.60}", expected="ChatMessage(…)")
    return {**given, "role": str(given.get("role", "user")).lower()}
