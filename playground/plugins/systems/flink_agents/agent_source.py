"""Read the resources of agents from their Python source, which is never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from playground.base import python_source
from playground.base.errors import InputFault
from playground.base.python_literals import ComputedError, LiteralCall, Names, names_in, value_of
from playground.plugins.systems.flink_agents.prompt import Prompt

_REACT: Final = "ReActAgent"
_MARKERS: Final = ("@prompt", "@tool", "@chat_model", "@action", f"{_REACT}(")
# The beginning of Python source, perhaps after comments. Syntax errors are reported only in a text
# that begins like this and matches _AGENT; any other text with an error is taken for prose.
_SOURCE: Final = re.compile(
    r"(?>(?:[ \t]*(?:#.*)?\n)*)[ \t]*"
    r"(?:class \w.*:|def \w|async def |import |from \S+ import |@\w|\w+ = |\"\"\")"
)
_AGENT: Final = re.compile(rf"(?m)^[ \t]*class\s+\w.*$|\b{_REACT}\(")


@dataclass(frozen=True)
class AgentSource:
    """An agent, declared by a class or by a call of ReActAgent: its prompts by name, and the names
    of its tools, models and actions. `unread` names each declaration that was not read, and why.
    """

    name: str
    prompts: dict[str, Prompt] = field(default_factory=dict)
    tools: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return the number of declarations of each kind."""
        return {
            "prompt": len(self.prompts),
            "tool": len(self.tools),
            "chat model": len(self.models),
            "action": len(self.actions),
        }


def agents_in(text: str) -> list[AgentSource]:
    """Return the agents (classes, and calls of ReActAgent) in a Python text; [] for other texts.

    Raises InputFault with the line of an error in the source of an agent.
    """
    if not any(marker in text for marker in _MARKERS):
        return []
    try:
        body = python_source.statements(text)
    except InputFault:
        if _SOURCE.match(text) and _AGENT.search(text):
            raise
        return []
    constants = names_in(body)
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    agents = [agent for node in classes if (agent := _agent(node, constants))]
    return [*agents, *_react_agents(body, constants)]


def _react_agents(body: list[ast.stmt], constants: Names) -> Iterator[AgentSource]:
    """Yield the agents that are created by calls of ReActAgent, at the top or in a function."""
    functions = [n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    top = [n for n in body if not isinstance(n, ast.ClassDef) and n not in functions]
    for scope in (top, *(function.body for function in functions)):
        names = {**constants, **names_in(scope)}
        calls = [n for line in scope for n in ast.walk(line) if isinstance(n, ast.Call)]
        for call in calls:
            if ast.unparse(call.func).rpartition(".")[2] == _REACT:
                agent = AgentSource(_REACT)
                _read_react(agent, {k.arg: k.value for k in call.keywords}, names)
                for added in calls:
                    _read_added(agent, added, names)
                yield agent


def _read_react(agent: AgentSource, arguments: dict[str | None, ast.expr], names: Names) -> None:
    """Read ReActAgent's prompt and model. Note its output schema as not read."""
    if node := arguments.get("prompt"):
        try:
            agent.prompts["prompt"] = _prompt(value_of(node, names))
        except (ComputedError, InputFault, RecursionError) as error:
            agent.unread.append(f"{_REACT}.prompt: {error}")
    if node := arguments.get("chat_model"):
        descriptor = names.get(node.id) if isinstance(node, ast.Name) else node
        keywords = descriptor.keywords if isinstance(descriptor, ast.Call) else []
        parts = {k.arg: k.value for k in keywords if k.arg in ("model", "tools")}
        try:
            model = {key: value_of(part, names) for key, part in parts.items()}
        except (ComputedError, RecursionError) as error:
            agent.unread.append(f"{_REACT}.chat_model: {error}")
            model = {}
        agent.models.append(str(model.get("model") or "chat_model"))
        agent.tools.extend(map(str, model.get("tools") or ()))
    if node := arguments.get("output_schema"):
        what = f"{ast.unparse(node):.60} is not read: the agent asks for JSON of that schema"
        agent.unread.append(f"{_REACT}.output_schema: {what}")


def _read_added(agent: AgentSource, call: ast.Call, names: Names) -> None:
    """Read a prompt or a tool that `add_resource(name, kind, value)` adds to an agent's
    environment."""
    match call:
        case ast.Call(
            func=ast.Attribute(attr="add_resource"),
            args=[ast.Constant(value=str(name)), ast.Attribute(attr=kind), value],
        ):
            if kind == "PROMPT":
                try:
                    agent.prompts[name] = _prompt(value_of(value, names))
                except (ComputedError, InputFault, RecursionError) as error:
                    agent.unread.append(f"{name}: {error}")
            elif kind == "TOOL" and name not in agent.tools:
                agent.tools.append(name)


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
                    _read_model(agent, method, constants)
                case "action":
                    agent.actions.append(method.name)
                case "staticmethod" | "classmethod":
                    pass
                case _:
                    agent.unread.append(f"{node.name}.{method.name}: {kind} is not read")
    return agent if any(agent.counts().values()) else None


def _decorators(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for decorator in method.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        yield called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)


def _read_prompt(
    agent: AgentSource, method: ast.FunctionDef | ast.AsyncFunctionDef, constants: Names
) -> None:
    names = {**constants, **names_in(method.body)}
    returned = [line.value for line in method.body if isinstance(line, ast.Return)]
    for node in filter(None, returned):
        try:
            agent.prompts[method.name] = _prompt(value_of(node, names))
        except (ComputedError, InputFault, RecursionError) as error:
            agent.unread.append(f"{agent.name}.{method.name}: {error}")


def _read_model(
    agent: AgentSource, method: ast.FunctionDef | ast.AsyncFunctionDef, constants: Names
) -> None:
    """Read the prompt in a chat model's arguments, unless it is only a prompt's name."""
    names = {**constants, **names_in(method.body)}
    for line in method.body:
        match line:
            case ast.Return(value=ast.Tuple(elts=[_, ast.Dict(keys=keys, values=values)])):
                settings = {getattr(k, "value", None): v for k, v in zip(keys, values, strict=True)}
            case ast.Return(value=ast.Call(keywords=keywords)):
                settings = {key.arg: key.value for key in keywords}
            case _:
                continue
        try:
            prompt = value_of(settings["prompt"], names) if "prompt" in settings else ""
            if not isinstance(prompt, str | None):
                agent.prompts[method.name] = _prompt(prompt)
        except (ComputedError, InputFault, RecursionError) as error:
            agent.unread.append(f"{agent.name}.{method.name}: {error}")


def _prompt(call: Any) -> Prompt:
    """Return the prompt of `Prompt.from_text(…)` or `Prompt.from_messages(…)`."""
    match call:
        case LiteralCall("from_text"):
            arguments = call.bound("text", "role")
            text, role = arguments.get("text"), arguments.get("role")
            if isinstance(text, str):
                return Prompt.from_text(text, str(role).lower() if role else None)
        case LiteralCall("from_messages"):
            messages = call.bound("messages").get("messages") or []
            return Prompt.from_messages([*map(_message, messages)])
    raise InputFault("not a prompt", expected="Prompt.from_text(…) or Prompt.from_messages(…)")


def _message(call: Any) -> dict[str, Any]:
    fields = call.kwargs if isinstance(call, LiteralCall) else call
    if not isinstance(fields, dict):
        raise InputFault(f"not a message: {call!r:.60}", expected="ChatMessage(…)")
    return {**fields, "role": str(fields.get("role", "user")).lower()}
