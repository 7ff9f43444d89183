"""Build the agents of Flink-Agents' YAML files, and add them to an environment.

The functions that a file names are imported, so use this only for your own files. Source: Apache
Flink-Agents 0.3.1, `api/yaml/loader.py` and `aliases.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from playground.base.errors import InputFault, UnknownNameError
from playground.plugins.systems.flink_agents import events
from playground.plugins.systems.flink_agents.agent import Agent
from playground.plugins.systems.flink_agents.declarations import (
    function_of,
    imported_function,
    name_of,
    objects_of,
    prompt_of,
)
from playground.plugins.systems.flink_agents.resource import (
    ResourceDescriptor,
    ResourceType,
    needs_flink,
)
from playground.plugins.systems.flink_agents.tools import FunctionTool
from playground.sessions.bounded import read_yaml
from playground.sessions.loading import file_bytes

_KINDS: Final = {
    "prompts": ResourceType.PROMPT,
    "tools": ResourceType.TOOL,
    "chat_model_connections": ResourceType.CHAT_MODEL_CONNECTION,
    "chat_model_setups": ResourceType.CHAT_MODEL,
    "embedding_model_connections": ResourceType.EMBEDDING_MODEL_CONNECTION,
    "embedding_model_setups": ResourceType.EMBEDDING_MODEL,
    "vector_stores": ResourceType.VECTOR_STORE,
    "mcp_servers": ResourceType.MCP_SERVER,
    "skills": ResourceType.SKILLS,
}
_EVENTS: Final = {
    "input": events.InputEvent,
    "output": events.OutputEvent,
    "chat_request": events.ChatRequestEvent,
    "chat_response": events.ChatResponseEvent,
    "tool_request": events.ToolRequestEvent,
    "tool_response": events.ToolResponseEvent,
}


Resource = tuple[str, ResourceType, Any]  # name, kind, and the resource or its descriptor


class Environment(Protocol):
    """An environment that takes agents, by name, and shared resources."""

    agents: dict[str, Agent]

    def add_resources(self, resources: Sequence[Resource]) -> Any: ...


def load_yaml(env: Environment, paths: str | Path | Sequence[str | Path]) -> None:
    """Add the agents and shared resources of YAML files to an environment; add nothing if a file
    cannot be read.

    Then `env.from_list(inputs).apply("NAME")` chooses an agent, and `env.execute()` runs it. Raises
    InputFault, which names file and field, and UnknownNameError for an undeclared shared action.
    """
    agents: dict[str, Agent] = {}
    resources: list[Resource] = []
    for path in [paths] if isinstance(paths, str | Path) else paths:
        where = str(path)
        text = file_bytes(path).decode("utf-8", "replace")
        value = read_yaml(text, where, unique_keys=True)
        if not isinstance(value, dict):
            raise InputFault("no declarations", where=where, expected="agents, or resources")
        _expect_keys(value, ("agents", "actions", *_KINDS), where, "")
        shared = {
            name_of(each, where, "actions"): each for each in objects_of(value, "actions", where)
        }
        for spec in objects_of(value, "agents", where):
            name = name_of(spec, where, "agents")
            if name in agents or name in env.agents:
                raise InputFault(f"two agents {name}", where=where, expected="one of each name")
            agents[name] = _agent(spec, shared, where, f"agents.{name}.")
        resources += _resources(value, where, "")
    env.add_resources(resources)
    env.agents.update(agents)


def _agent(
    spec: Mapping[str, Any], shared: Mapping[str, dict[str, Any]], where: str, place: str
) -> Agent:
    _expect_keys(spec, ("name", "description", "actions", *_KINDS), where, place)
    agent = Agent()
    for resource in _resources(spec, where, place):
        agent.add_resource(*resource)
    names = [entry for entry in spec.get("actions") or [] if isinstance(entry, str)]
    for name in names:
        if name not in shared:
            raise UnknownNameError("shared action", name, [*shared])
    own = {**spec, "actions": [each for each in spec.get("actions") or [] if each not in names]}
    for each in [*objects_of(own, "actions", where), *(shared[name] for name in names)]:
        name = name_of(each, where, f"{place}actions")
        function = imported_function(_python_function(each, where, f"{place}actions.{name}"), where)
        field = f"{place}actions.{name}"
        event_names, config = each.get("listen_to"), each.get("config") or {}
        if not isinstance(event_names, list) or not event_names or not _all_texts(event_names):
            raise InputFault(
                f"no list of events: {event_names!r:.60}",
                where=where,
                field=f"{field}.listen_to",
                expected=f"a list such as [input], of {', '.join(_EVENTS)} or types of your own",
            )
        if not isinstance(config, dict) or not _all_texts(config):
            raise InputFault(
                f"no settings: {config!r:.60}",
                where=where,
                field=f"{field}.config",
                expected="an object",
            )
        events_or_types: list[Any] = [_EVENTS.get(event, event) for event in event_names]
        agent.add_action(name, events_or_types, function, **config)
    return agent


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _resources(holder: Mapping[str, Any], where: str, place: str) -> Iterator[Resource]:
    for key, kind in _KINDS.items():
        for index, item in enumerate(objects_of(holder, key, where)):
            field = f"{place}{key}.{index}"
            name = name_of(item, where, field)
            match kind:
                case ResourceType.PROMPT:
                    yield name, kind, prompt_of(item, where, field)
                case ResourceType.TOOL:
                    function = imported_function(_python_function(item, where, field), where)
                    yield name, kind, FunctionTool(function, name)
                case ResourceType.SKILLS:
                    yield name, kind, item
                case _:
                    yield name, kind, _descriptor(item, where, field)


def _descriptor(item: Mapping[str, Any], where: str, place: str) -> ResourceDescriptor:
    """Return the descriptor of a class; a short name such as `ollama` means a class of
    Flink-Agents."""
    _refuse_java(item, place)
    clazz = item.get("clazz")
    if not isinstance(clazz, str) or not clazz:
        raise InputFault("no class", where=where, field=f"{place}.clazz", expected="module.Class")
    arguments = {k: v for k, v in item.items() if k not in ("name", "clazz", "type")}
    full_name = clazz if "." in clazz else f"flink_agents.integrations.{clazz}"
    return ResourceDescriptor(clazz=full_name, arguments=arguments)


def _python_function(item: Mapping[str, Any], where: str, place: str) -> str:
    _refuse_java(item, place)
    return function_of(item, where, place)


def _refuse_java(item: Mapping[str, Any], place: str) -> None:
    if item.get("type") == "java":
        raise needs_flink(f"{place}, in Java,")


def _expect_keys(value: Mapping[str, Any], allowed: Sequence[str], where: str, place: str) -> None:
    for key in value:
        if key not in allowed:
            raise InputFault(
                "an unknown field", where=where, field=f"{place}{key}", expected=", ".join(allowed)
            )
