"""The call that is being read, and the exception that breaks it off."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playground.nouns.tools import Schema, ToolMetadata
from playground.parsing.choice_point import ChoicePoint


class BrokenCall(Exception):
    """Raised if a call cannot be delivered. A call that `is_complete` was read to its end."""

    def __init__(self, code: str, message: str = "", is_complete: bool = False) -> None:
        self.code, self.message, self.is_complete = code, message, is_complete
        super().__init__(code)


class KnownTool:
    """A tool of the session, and the facts on its parameters by its schema, computed once for a
    reply."""

    def __init__(self, tool: ToolMetadata) -> None:
        self.tool, self.properties = tool, tool.parameter_names
        self.required = tool.required_parameters
        self.required_keys = frozenset(self.required)
        self._schemas: dict[str, Schema] = {}

    def schema_of(self, key: str) -> Schema:
        schema = self._schemas.get(key)
        if schema is None:
            schema = self._schemas[key] = self.tool.parameter_schema(key)
        return schema


@dataclass
class OpenCall:
    """The call that is being read: all that the engine keeps of the stream."""

    index: int
    call_id: str
    name: str | None = None
    raw: list[tuple[str | None, str]] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    strays: dict[str, str] = field(
        default_factory=dict
    )  # members that the form does not have, as JSON
    known_tool: KnownTool | None = None
    in_section: bool = False
    second_name: str = ""  # a second name in the call's object
    relaxed: bool = False  # True if its JSON is not strict: single quotes, bare keys, comments
    body_ended: bool = False  # True if its body ended by itself: nothing after it belongs to it
    typed: bool = True
    read_value: tuple[str, Any] = ("", None)  # a text of arguments and its value, if read already
    restart: ChoicePoint | None = None  # how another call of its form begins

    @property
    def place(self) -> str:
        """The place of a finding about the whole call."""
        return f"call {self.index}"

    def schema_of(self, key: str) -> Schema:
        """Return the schema of an argument; {} if none is known or values must not be typed."""
        return self.known_tool.schema_of(key) if self.known_tool and self.typed else {}

    @property
    def tool(self) -> ToolMetadata | None:
        return self.known_tool.tool if self.known_tool else None

    @property
    def properties(self) -> set[str]:
        """The names of the tool's parameters; empty if the tool is not known."""
        return self.known_tool.properties if self.known_tool else set()

    @property
    def missing(self) -> list[str]:
        """The required arguments that the call does not have."""
        if self.known_tool is None or self.known_tool.required_keys <= self.arguments.keys():
            return []
        return [key for key in self.known_tool.required if key not in self.arguments]
