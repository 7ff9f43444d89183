"""Declared prompts, tools and chat models, by name: from Python decorators or from YAML.

YAML names a tool's function as `module:qualname`. The function's source file, next to the YAML
file, is parsed, but not imported unless `import_code` is True.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from playground.base.errors import InputFault, UnknownNameError
from playground.base.findings import Finding, finding
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents.agent import Agent
from playground.plugins.systems.flink_agents.chat_model import (
    BaseChatModel,
    ChatModel,
    ChatModelSetup,
)
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.resource import (
    RUN_HERE,
    MissingResourceError,
    Resource,
    ResourceDescriptor,
    ResourceType,
    needs_flink,
)
from playground.plugins.systems.flink_agents.tools import BaseTool, FunctionTool, RecordedTool
from playground.sessions.bounded import read_yaml
from playground.sessions.loading import file_bytes
from playground.sessions.tool_files import load_tools

_DECLARING_KEY: Final = re.compile(r"(?m)^(?:prompts|agents|tools):[ \t]*$")
_KIND_ATTRIBUTE: Final = "__playground_resource__"
_FUNCTION: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _decorator_of(kind: ResourceType) -> Callable[[_Function], _Function]:
    def mark(function: _Function) -> _Function:
        setattr(getattr(function, "__func__", function), _KIND_ATTRIBUTE, kind)
        return function

    return mark


prompt = _decorator_of(ResourceType.PROMPT)
prompt.__doc__ = "Declare a function without arguments that returns a Prompt."
tool = _decorator_of(ResourceType.TOOL)
tool.__doc__ = "Declare a function that a model may call."
chat_model = _decorator_of(ResourceType.CHAT_MODEL)
chat_model.__doc__ = "Declare a function that returns a ChatModel class and its arguments."
chat_model_setup = chat_model
chat_model_connection = _decorator_of(ResourceType.CHAT_MODEL_CONNECTION)
chat_model_connection.__doc__ = "Declare a function that returns a connection's ResourceDescriptor."
embedding_model_connection = _decorator_of(ResourceType.EMBEDDING_MODEL_CONNECTION)
embedding_model_setup = _decorator_of(ResourceType.EMBEDDING_MODEL)
vector_store = _decorator_of(ResourceType.VECTOR_STORE)
mcp_server = _decorator_of(ResourceType.MCP_SERVER)
skills = _decorator_of(ResourceType.SKILLS)


@dataclass
class Resources:
    """The declared resources by kind and name; each is created when it is first used."""

    declared: dict[ResourceType, dict[str, Callable[[], Any]]] = field(
        default_factory=lambda: {kind: {} for kind in ResourceType}
    )
    findings: list[Finding] = field(default_factory=list)
    _created: dict[tuple[ResourceType, str], Any] = field(default_factory=dict)

    def names(self, kind: ResourceType) -> list[str]:
        """Return the names of all declared resources of a kind."""
        return sorted(self.declared[kind])

    def get_resource(self, name: str, kind: ResourceType) -> Any:
        """Return the Prompt, BaseTool, ChatModelSetup or connection of a name.

        Raises MissingResourceError, and InputFault for a kind that needs Flink-Agents itself.
        """
        kind = ResourceType(kind)
        if kind not in RUN_HERE:
            raise needs_flink(f"the {kind.value.replace('_', ' ')} {name!r}")
        if name not in self.declared[kind]:
            raise MissingResourceError(kind.value.replace("_", " "), name, self.names(kind))
        key = (kind, name)
        if key not in self._created:
            value = self.declared[kind][name]()
            is_made = not isinstance(value, ResourceDescriptor)
            self._created[key] = value if is_made else self._create(value)
        return self._created[key]

    def replaced(self, declared: Callable[[], Any], model: ChatModel) -> ChatModelSetup:
        """Return a setup of `model` with the prompt and tools of the model in `declared`."""
        arguments = _arguments_of(declared)
        own_prompt, tools = arguments.get("prompt"), arguments.get("tools") or ()
        return ChatModelSetup(
            model,
            self.prompt(own_prompt) if isinstance(own_prompt, str) else own_prompt,
            tuple(self.tool(tool) if isinstance(tool, str) else tool for tool in tools),
            variables_from=arguments.get("variables_from", "prompt_args"),
        )

    def close(self) -> None:
        """Close every resource that was created."""
        for resource in self._created.values():
            if isinstance(resource, Resource):
                resource.close()
        self._created.clear()

    def _create(self, descriptor: ResourceDescriptor) -> Any:
        """Create and open the resource of a descriptor."""
        resource_class = descriptor.clazz
        if issubclass(resource_class, ChatModel):
            return self.setup_of(resource_class, descriptor.arguments)
        resource = resource_class(**descriptor.arguments, resource_context=self)
        resource.open()
        return resource

    def prompt(self, name: str) -> Prompt:
        """Return the prompt of this name. Raises UnknownNameError."""
        resource: Prompt = self.get_resource(name, ResourceType.PROMPT)
        return resource

    def tool(self, name: str) -> BaseTool:
        """Return the tool of this name. Raises UnknownNameError."""
        resource: BaseTool = self.get_resource(name, ResourceType.TOOL)
        return resource

    def chat_model(self, name: str) -> ChatModelSetup:
        """Return the model of this name with its prompt and tools. Raises UnknownNameError."""
        resource: ChatModelSetup = self.get_resource(name, ResourceType.CHAT_MODEL)
        return resource

    def setup_of(
        self, model_class: type[ChatModel], arguments: Mapping[str, Any]
    ) -> ChatModelSetup:
        """Return the setup of a declared model; `prompt` and `tools` may be objects or names."""
        if not issubclass(model_class, ChatModel):  # a BaseChatModelSetup, as in Flink-Agents
            descriptor = ResourceDescriptor(clazz=model_class, arguments=arguments)
            setup: ChatModelSetup = self._create(descriptor)
            return setup
        rest = dict(arguments)
        own_prompt, names = rest.pop("prompt", None), rest.pop("tools", None) or ()
        source = rest.pop("variables_from", "prompt_args")
        prompt = self.prompt(own_prompt) if isinstance(own_prompt, str) else own_prompt
        tools = tuple(self.tool(item) if isinstance(item, str) else item for item in names)
        if issubclass(model_class, BaseChatModel):  # this kind of model fills in its prompt itself
            return ChatModelSetup(
                model_class(prompt=prompt, **rest), None, tools, variables_from=source
            )
        return ChatModelSetup(model_class(**rest), prompt, tools, variables_from=source)


def _arguments_of(declared: Callable[[], Any]) -> Mapping[str, Any]:
    """Return the arguments of a declared chat model without creating it."""
    match getattr(declared, "arguments", declared)():
        case ResourceDescriptor(arguments=arguments) | (_, arguments):
            return arguments
        case ChatModelSetup() as setup:
            return {"prompt": setup.prompt, "tools": setup.tools}
    return {}


def scan(holder: object) -> Resources:
    """Return the resources that a class, an instance or a module declares."""
    resources = Resources()
    for name in dir(holder):
        value = inspect.getattr_static(holder, name)
        function = getattr(value, "__func__", value)
        kind = getattr(function, _KIND_ATTRIBUTE, None)
        if kind is None:
            continue
        makers = {ResourceType.TOOL: _deferred(FunctionTool, function)}
        makers[ResourceType.CHAT_MODEL] = _deferred_model(resources, function)
        resources.declared[kind][name] = makers.get(kind, function)
    return resources


def agent_resources(agent: Agent, models: Mapping[str, ChatModel]) -> Resources:
    """Return the resources of an agent's class and those added to it.

    `models` replace declared chat models, but keep their prompts and tools. Raises InputFault for
    two resources of one kind and name, and UnknownNameError for a model that is not declared.
    """
    resources = scan(agent)
    for kind, added in agent.resources.items():
        for name, value in added.items():
            if name in resources.declared[kind]:
                problem = f"two resources {name} of the kind {kind.value}"
                raise InputFault(problem, field=name, expected="one of each name")
            callable_tool = kind is ResourceType.TOOL and not isinstance(value, BaseTool)
            resources.declared[kind][name] = _constant(
                FunctionTool(value, name) if callable_tool and callable(value) else value
            )
    declared = resources.declared[ResourceType.CHAT_MODEL]
    for name, model in models.items():
        if name not in declared:
            raise UnknownNameError("chat model", name, sorted(declared))
        declared[name] = _deferred(resources.replaced, declared[name], model)
    return resources


def _deferred(make: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: make(*arguments)


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def _deferred_model(resources: Resources, function: Callable[[], Any]) -> Callable[[], Any]:
    def make() -> Any:
        declared = function()
        return resources.setup_of(*declared) if isinstance(declared, tuple) else declared

    make.arguments = function  # type: ignore[attr-defined]  # for `_arguments_of`
    return make


def load_declarations(path: str | Path, *, import_code: bool = False) -> Resources:
    """Read the prompts and tools of a Flink-Agents YAML file, also those of its agents.

    `import_code` imports the modules of the tools' functions. Without it, a tool whose function is
    not found in the file's folder has no parameters, and a finding says so; other findings name
    keys that are not read. If an agent uses a name that is taken, the agent's name is put before
    the name: `harbour.desk`. Raises InputFault, which names file and field.
    """
    where = str(path)
    value = read_yaml(file_bytes(path).decode("utf-8", "replace"), where, unique_keys=True)
    if not isinstance(value, dict) or not {"agents", "prompts", "tools"} & set(value):
        raise InputFault("no declarations", where=where, expected="agents, prompts or tools: lists")
    resources = Resources()
    for place, holder in holders_of(value):
        for key in map(str, holder):
            if key not in ("agents", "name", "description", "prompts", "tools"):
                what = f"{place}{key}"
                resources.findings.append(
                    finding("part-lost", what, "only prompts and tools are read")
                )
        for index, item in enumerate(objects_of(holder, "prompts", where)):
            read = prompt_of(item, where, f"{place}prompts.{index}")
            name = name_of(item, where, f"{place}prompts.{index}")
            _declare(resources, ResourceType.PROMPT, name, read, place, where)
        for index, item in enumerate(objects_of(holder, "tools", where)):
            name = name_of(item, where, f"{place}tools.{index}")
            function = function_of(item, where, f"{place}tools.{index}")
            declared_tool = (
                FunctionTool(imported_function(function, where), name)
                if import_code
                else _parse_tool(Path(path).parent, function, name, resources.findings)
            )
            _declare(resources, ResourceType.TOOL, name, declared_tool, place, where)
    return resources


def _declare(
    resources: Resources, kind: ResourceType, name: str, value: object, place: str, where: str
) -> None:
    known = resources.declared[kind]
    known[_free_name(name, known, place, where)] = _constant(value)


def _free_name(name: str, taken: Collection[str], place: str, where: str) -> str:
    """Return `name`, or the agent's name, a dot and `name` if another agent or the file also uses
    it. Raises InputFault for a name that occurs twice in one list."""
    own_name = name if name not in taken else f"{place.removeprefix('agents.')}{name}"
    if own_name in taken:
        raise InputFault(f"{name} is declared twice", where=where, field=place, expected="once")
    return own_name


def holders_of(value: Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Yield the mappings of a file that may declare resources, each with the beginning of its
    fields' paths: the file's own (with ""), then each agent (with "agents.NAME.")."""
    yield "", value
    agents = value.get("agents")
    for agent in agents if isinstance(agents, list) else []:
        if isinstance(agent, dict):
            yield f"agents.{agent.get('name')}.", agent


def declared_prompts(text: str, where: str = "pasted") -> dict[str, Prompt]:
    """Return the prompts of Flink-Agents' declarations in YAML, also those of agents; {} for any
    other text. Raises InputFault, which names the line of broken YAML, or the field of an
    unreadable prompt.
    """
    if "prompts:" not in text:
        return {}
    try:
        value = read_yaml(text, where, unique_keys=True)
    except InputFault:
        if _DECLARING_KEY.search(text):
            raise
        return {}
    if not isinstance(value, dict):
        return {}
    prompts: dict[str, Prompt] = {}
    for place, holder in holders_of(value):
        for index, item in enumerate(objects_of(holder, "prompts", where)):
            name = name_of(item, where, f"{place}prompts.{index}")
            read = prompt_of(item, where, f"{place}prompts.{index}")
            prompts[_free_name(name, prompts, place, where)] = read
    return prompts


def objects_of(value: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """Return the list of objects under a key; [] if the key is missing. Raises InputFault for
    anything else."""
    items = value.get(key) or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InputFault(f"not a list: {items!r:.60}", where=where, field=key, expected="objects")
    return items


def name_of(item: Mapping[str, Any], where: str, place: str) -> str:
    """Return an item's name. Raises InputFault with the file `where` and the item's path in it
    (`place`) if the item has no name."""
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise InputFault("no name", where=where, field=place, expected="a name")
    return name


def prompt_of(item: Mapping[str, Any], where: str, place: str) -> Prompt:
    """Read a prompt that has a text or messages. Raises InputFault if it has both or neither."""

    def fault(problem: str, field: str, expected: str) -> InputFault:
        return InputFault(problem, where=where, field=field, expected=expected)

    match item.get("text"), item.get("messages"):
        case str(text), None:
            return Prompt.from_text(text)
        case None, list(messages):
            try:
                return Prompt.from_messages(messages)
            except InputFault as wrong:
                raise fault(wrong.problem, f"{place}.{wrong.field}", wrong.expected) from wrong
        case None, None:
            raise fault("neither text nor messages", place, "exactly one of them")
        case None | str(), messages if messages is not None and not isinstance(messages, list):
            raise fault("not a list", f"{place}.messages", "messages")
        case None | str(), _:
            raise fault("text and messages", place, "exactly one of them")
        case text, _:
            raise fault(f"not text: {text!r:.60}", place, "text")


def imported_function(function: str, where: str) -> Any:
    """Import `module:qualname`. Raises InputFault if there is no such function."""
    module, _, qualname = function.partition(":")
    try:
        target: Any = importlib.import_module(module)
        for step in qualname.split("."):
            target = getattr(target, step)
    except (ImportError, AttributeError) as error:
        raise InputFault(str(error), where=where, field=function, expected="a function") from error
    return target


def function_of(item: Mapping[str, Any], where: str, place: str) -> str:
    """Return the function that an item names, as `module:qualname`."""
    function = item.get("function")
    if isinstance(function, str) and _FUNCTION.match(function):
        return function
    problem = f"not a function: {function!r:.60}"
    raise InputFault(problem, where=where, field=f"{place}.function", expected="module:qualname")


def _parse_tool(folder: Path, function: str, name: str, findings: list[Finding]) -> BaseTool:
    """Return a tool described by its source file in `folder`, which is not executed."""
    module, _, qualname = function.partition(":")
    base = folder.joinpath(*module.split("."))
    last = qualname.rpartition(".")[2]
    for source in (base.with_suffix(".py"), base / "__init__.py"):
        if source.is_file():
            tool_file = load_tools(source)
            for described in tool_file.tools:
                if described.name == last:
                    findings += [f for f in tool_file.findings if f"tool {last}" in f.where]
                    return _uncallable(described.model_copy(update={"name": name}), function)
    text = f"{function} is not defined in the file's folder: its parameters are not known"
    findings.append(finding("tool-left-out", f"tool {name}", text))
    return _uncallable(ToolMetadata(name=name), function)


def _uncallable(metadata: ToolMetadata, function: str) -> BaseTool:
    def refuse(**_: Any) -> Any:
        raise InputFault(f"{function} was not imported", expected="import_code=True")

    return RecordedTool(metadata, refuse)
