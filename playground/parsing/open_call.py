"""The call that is being read, and the exception that breaks it off."""

from __future__ import annotations

from typing import Any

from playground.nouns.tools import Schema, ToolMetadata
from playground.parsing.choice_point import ChoicePoint


class BrokenCall(Exception):
    """Raised if a call cannot be delivered. With `is_complete` the call was read to its end."""

    def __init__(self, code: str, message: str = "", is_complete: bool = False) -> None:
        self.code, self.message, self.is_complete = code, message, is_complete
        super().__init__(code)


class KnownTool:
    """A tool of the session, with facts about its parameters that are computed once for a reply."""

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


class OpenCall:
    """The call that is being read, with its arguments so far.

    `restart` matches the beginning of another call of the same form.
    """

    # not a dataclass: its constructor would take three times as long
    def __init__(
        self, index: int, call_id: str, in_section: bool, typed: bool, restart: ChoicePoint | None
    ) -> None:
        self.index, self.call_id = index, call_id
        self.in_section, self.typed, self.restart = in_section, typed, restart
        self.name: str | None = None
        self.known_tool: KnownTool | None = None
        self.raw: list[tuple[str | None, str]] = []
        self.arguments: dict[str, Any] = {}
        self.strays: dict[str, str] = {}  # members that the form does not have, as JSON
        self.second_name = ""  # a second name in the call's object
        self.relaxed = False  # True if its JSON is not strict: single quotes, bare keys, comments
        self.body_ended = False  # True if the body ended by itself: the call has no text after it
        # the text of the arguments and its value, if the value was read already
        self.read_value: tuple[str, Any] = ("", None)

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
