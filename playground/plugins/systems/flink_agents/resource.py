"""Flink-Agents' resources: parts of an agent that are declared and found by name.

Source: Apache Flink-Agents 0.3.1, `api/resource.py`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from playground.base.errors import InputFault, UnknownNameError

_FLINK_PACKAGES: Final = ("flink_agents", "org")  # in Python, and in Java (org.apache)


class ResourceType(StrEnum):
    """The kind of a resource. Only prompts, tools, chat models and connections run here."""

    PROMPT = "prompt"
    TOOL = "tool"
    CHAT_MODEL = "chat_model"
    CHAT_MODEL_CONNECTION = "chat_model_connection"
    EMBEDDING_MODEL = "embedding_model"
    EMBEDDING_MODEL_CONNECTION = "embedding_model_connection"
    VECTOR_STORE = "vector_store"
    MCP_SERVER = "mcp_server"
    SKILLS = "skills"


RUN_HERE: Final = (
    ResourceType.PROMPT,
    ResourceType.TOOL,
    ResourceType.CHAT_MODEL,
    ResourceType.CHAT_MODEL_CONNECTION,
)


class MissingResourceError(UnknownNameError, KeyError):
    """The error of a name that no resource has. It is a KeyError, as in Flink-Agents."""

    __str__ = Exception.__str__  # KeyError's would put the message in quotes


def needs_flink(what: str) -> InputFault:
    """Return the error for a feature of Flink, or of Flink-Agents' integrations."""
    return InputFault(
        f"{what} needs Apache Flink or an integration of Flink-Agents",
        expected="prompts, tools, chat models and actions: these run here, in one process",
    )


class Resource(BaseModel, ABC):
    """The base class of every resource.

    `resource_context` finds other resources of the same agent by `get_resource(name, type)`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    resource_context: Any = Field(default=None, exclude=True, repr=False)

    @classmethod
    @abstractmethod
    def resource_type(cls) -> ResourceType:
        """Return the kind of this resource."""

    @property
    def metric_group(self) -> None:
        """Flink's metrics, which do not exist here."""
        return None

    def open(self) -> None:
        """Prepare the resource. It is called once, before the resource is first used."""

    def close(self) -> None:
        """Release what the resource holds."""


class SerializableResource(Resource, ABC):
    """A resource that can be written as JSON. Raises pydantic's error if it cannot."""

    @model_validator(mode="after")
    def validate_serializable(self) -> Self:
        self._require_json()
        return self

    def _require_json(self) -> None:
        self.model_dump_json()


class ResourceDescriptor(BaseModel):
    """A resource's class, by its full name, and the arguments with which to create the resource."""

    target_module: str
    target_clazz: str
    arguments: dict[str, Any]

    def __init__(
        self,
        /,
        *,
        clazz: str | type | None = None,
        target_module: str | None = None,
        target_clazz: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        if isinstance(clazz, type):
            target_module, target_clazz = clazz.__module__, clazz.__qualname__
        elif clazz is not None:
            target_module, _, target_clazz = clazz.rpartition(".")
        if not target_module or not target_clazz:
            raise InputFault(f"not a class: {clazz!r:.80}", field="clazz", expected="module.Class")
        merged = {**(arguments or {}), **more}
        super().__init__(target_module=target_module, target_clazz=target_clazz, arguments=merged)
        self._class = clazz if isinstance(clazz, type) else None

    _class: type | None = None

    @property
    def clazz(self) -> Any:
        """The class itself, imported when it is first needed.

        Raises InputFault if it cannot be imported. Flink-Agents' own classes are not installed.
        """
        if self._class is None:
            name = f"{self.target_module}.{self.target_clazz}"
            try:
                target: Any = importlib.import_module(self.target_module)
                for step in self.target_clazz.split("."):
                    target = getattr(target, step)
            except (ImportError, AttributeError) as error:
                if self.target_module.partition(".")[0] in _FLINK_PACKAGES:
                    raise InputFault(
                        f"{name} is Flink-Agents' own class, which is not installed here",
                        expected="a ChatModel in its place: LocalRunner(agent, models={name: …})",
                    ) from error
                raise InputFault(str(error), field="clazz", expected="module.Class") from error
            self._class = target
        return self._class
