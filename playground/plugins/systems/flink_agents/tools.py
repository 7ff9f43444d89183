"""Tools that can be called, and their forms for OpenAI and Anthropic.

Source: Apache Flink-Agents, by cases run on its code at commit 8ad3a32.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import ConfigDict, Field, PrivateAttr, model_validator
from pydantic.fields import FieldInfo

from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.nouns import tools
from playground.nouns.tool_formats import create_schema_from_function, tool_from_function
from playground.plugins.systems.flink_agents.argument_names import withheld_names
from playground.plugins.systems.flink_agents.resource import ResourceType, SerializableResource
from playground.plugins.systems.flink_agents.tool_metadata import ToolMetadata

LONGEST_DESCRIPTION: Final = 1024  # OpenAI's limit, according to Flink-Agents
_SENT_KEYS: Final = ("type", "properties", "required", "definitions", "$defs")


class ToolType(StrEnum):
    """The kind of a tool."""

    MODEL_BUILT_IN = "model_built_in"
    FUNCTION = "function"
    REMOTE_FUNCTION = "remote_function"
    MCP = "mcp"


class BaseTool(SerializableResource, ABC):
    """A tool: its description for a model, and its `call`. `injected_args` are the names of
    arguments whose values come from the program; a model neither sees nor sets them."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    metadata: ToolMetadata
    injected_args: frozenset[str] = Field(default=frozenset(), exclude=True)
    _withheld: frozenset[str] = PrivateAttr(default=frozenset())

    if TYPE_CHECKING:  # a user's subclass may add fields, and give these fields defaults

        def __init__(self, **fields: Any) -> None: ...

    def _require_json(self) -> None:
        """Accept every tool, because it may hold a client or a file, which JSON cannot hold."""

    @model_validator(mode="after")
    def _withhold(self) -> Self:
        if self.injected_args:
            self._withheld = withheld_names(self.metadata.args_schema, self.injected_args)
            # pydantic refuses `setattr` if a subclass is frozen
            self.__dict__["metadata"] = self.metadata.without(self.injected_args)
        return self

    @property
    def withheld(self) -> frozenset[str]:
        """All names by which a model could set one of the `injected_args`."""
        return self._withheld

    @property
    def name(self) -> str:
        return self.metadata.name

    @classmethod
    def resource_type(cls) -> ResourceType:
        return ResourceType.TOOL

    @classmethod
    @abstractmethod
    def tool_type(cls) -> ToolType:
        """Return the kind of this tool."""

    @abstractmethod
    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Run the tool and return its result. It may raise any exception."""


class FunctionTool(BaseTool):
    """A Python function as a tool, described by its signature and docstring."""

    func: Callable[..., Any] = Field(exclude=True)
    findings: list[Finding] = Field(default_factory=list, exclude=True)

    def __init__(
        self, func: Callable[..., Any], name: str = "", injected_args: Collection[str] = ()
    ) -> None:
        plain, findings = tool_from_function(func, name, injected_args)
        arguments = create_schema_from_function(plain.name, func, injected_args)
        metadata = ToolMetadata(
            name=plain.name, description=plain.description, args_schema=arguments
        )
        injected = frozenset(injected_args)
        super().__init__(metadata=metadata, injected_args=injected, func=func, findings=findings)

    @classmethod
    def tool_type(cls) -> ToolType:
        return ToolType.FUNCTION

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function and return its result.

        Raises InputFault if an argument is missing and its `Field` has no default.
        """
        signature = inspect.signature(self.func)
        bound = signature.bind_partial(*args, **kwargs).arguments
        for name, parameter in signature.parameters.items():
            # The default of `days: int = Field(1, ge=0)` is a Field object, which holds the 1.
            if name not in bound and isinstance(parameter.default, FieldInfo):
                if parameter.default.is_required():
                    raise InputFault(f"{name}: missing", where=self.name, expected="a value")
                kwargs[name] = parameter.default.get_default(call_default_factory=True)
        return self.func(*args, **kwargs)


class RecordedTool(BaseTool):
    """A tool whose results come from elsewhere: recorded, scripted, or from a user's program.

    `results` is called with a call's arguments and returns the result.
    """

    results: Callable[..., Any] = Field(exclude=True)

    def __init__(self, metadata: tools.ToolMetadata, results: Callable[..., Any]) -> None:
        super().__init__(metadata=ToolMetadata.model_validate(metadata), results=results)

    @classmethod
    def tool_type(cls) -> ToolType:
        return ToolType.REMOTE_FUNCTION

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return self.results(*args, **kwargs)


def to_openai_tool(tool: tools.ToolMetadata) -> dict[str, Any]:
    """Return a tool as Flink-Agents sends it to OpenAI, with only some keys of its schema.

    Raises InputFault if the description is longer than 1,024 characters.
    """
    if len(tool.description) > LONGEST_DESCRIPTION:
        raise InputFault(
            f"a description of {len(tool.description):,} characters",
            field=f"tool {tool.name}, description",
            expected=f"at most {LONGEST_DESCRIPTION:,}; say the rest in the prompt",
        )
    parameters = {key: value for key, value in tool.input_schema.items() if key in _SENT_KEYS}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def to_anthropic_tool(tool: tools.ToolMetadata) -> dict[str, Any]:
    """Return a tool as Flink-Agents sends it to Anthropic, with only some keys of its schema."""
    parameters = {key: value for key, value in tool.input_schema.items() if key in _SENT_KEYS}
    return {"name": tool.name, "description": tool.description, "input_schema": parameters}
