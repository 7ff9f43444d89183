"""Flink-Agents' `Agent`: actions that listen to events, and resources that they use.

Source: Apache Flink-Agents 0.3.1, `api/agents/agent.py`, `api/decorators.py`, `plan/agent_plan.py`.
"""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from playground.base.errors import InputFault
from playground.plugins.systems.flink_agents.events import Event, event_type
from playground.plugins.systems.flink_agents.resource import ResourceType

_EVENTS_ATTRIBUTE: Final = "__playground_listens__"
_Function = TypeVar("_Function")


class Agent(ABC):  # noqa: B024  # as in Flink-Agents
    """The base class of an agent: methods declared with `action`, `prompt`, `tool`, `chat_model`.

    Actions and resources can also be added to an instance.
    """

    def __init__(self) -> None:
        self._actions: dict[str, Action] = {}
        self._resources: dict[ResourceType, dict[str, Any]] = {kind: {} for kind in ResourceType}

    @property
    def actions(self) -> dict[str, Action]:
        """The actions that were added, by name."""
        return self._actions

    @property
    def resources(self) -> dict[ResourceType, dict[str, Any]]:
        """The resources that were added, by kind and name."""
        return self._resources

    def add_action(
        self,
        name: str,
        events: Sequence[str | type[Event]],
        func: Callable[..., Any],
        **config: Any,
    ) -> Agent:
        """Add an action.

        Raises InputFault if the name is taken, `func` does not take two arguments, or one of
        `events` is no event.
        """
        if name in self._actions:
            raise InputFault(f"action {name} is defined already", field=name)
        self._actions[name] = Action(name, func, tuple(map(event_type, events)), config)
        return self

    def add_resource(self, name: str, resource_type: ResourceType, instance: Any) -> Agent:
        """Add a resource, or its descriptor. Raises InputFault if the name is taken."""
        kind = ResourceType(resource_type)
        if name in self._resources[kind]:
            raise InputFault(f"{kind.value} {name} is defined already", field=name)
        self._resources[kind][name] = instance
        return self


@dataclass(frozen=True)
class Action:
    """A function of an event and a RunnerContext, and the types of the events for which it runs.

    Raises InputFault if the function does not take two arguments.
    """

    name: str
    func: Callable[..., Any]
    events: tuple[str, ...]
    config: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            parameters = list(inspect.signature(self.func).parameters)
        except (TypeError, ValueError):  # Python knows no signature of this callable
            return
        if len(parameters) != 2:
            problem = f"it takes {', '.join(parameters) or 'nothing'}"
            raise InputFault(problem, where=f"action {self.name}", expected="an event, a context")


def action(
    *listen_events: str | type[Event], target: Any = None
) -> Callable[[_Function], _Function]:
    """Declare a method as an action that listens to events, given by their types or classes.

    Raises InputFault if no event is given, or if a `target` is given, because that is an action in
    another language, which cannot run here.
    """
    if not listen_events:
        raise InputFault("an action without events", expected="at least one")
    if target is not None:
        raise InputFault("a target in another language", field="target", expected="a function")
    events = tuple(map(event_type, listen_events))

    def mark(function: _Function) -> _Function:
        setattr(getattr(function, "__func__", function), _EVENTS_ATTRIBUTE, events)
        return function

    return mark


def actions_of(agent: Agent) -> list[Action]:
    """Return an agent's actions: those of its class in order, then the added ones. Raises
    InputFault for an inherited action, as Flink-Agents does, and for a name that occurs twice."""
    for parent in type(agent).__mro__[1:]:
        for name, value in vars(parent).items():
            if hasattr(getattr(value, "__func__", value), _EVENTS_ATTRIBUTE):
                problem = f"the action {parent.__qualname__}.{name} is inherited"
                raise InputFault(problem, expected="an action in the agent's own class")
    own_actions = []
    for name, value in vars(type(agent)).items():
        function = getattr(value, "__func__", value)
        if events := getattr(function, _EVENTS_ATTRIBUTE, ()):
            own_actions.append(Action(name, function, events))
    for name in agent.actions:
        if name in {other.name for other in own_actions}:
            raise InputFault(f"two actions {name}", field=name, expected="one of each name")
    return [*own_actions, *agent.actions.values()]
