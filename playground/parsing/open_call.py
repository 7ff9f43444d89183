"""The call that is being read, and the exception that breaks it off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.nouns.tools import (
    JSON_TYPES,
    PYTHON_TYPES,
    Schema,
    ToolMetadata,
    allowed_types,
    json_type,
    resolve,
)
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.values import agrees

# keywords by which an object may have properties that are not in its `properties`
_OPEN: Final = {"patternProperties", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"}


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
        self._types: dict[str, set[str]] = {}
        self._python_types: dict[str, frozenset[type]] = {}
        schema = resolve(tool.input_schema, tool.input_schema)
        # the file may lack the schema of a tool without parameters, so it takes any argument
        others = schema.get("additionalProperties", not self.properties)
        self._takes_others = others is not False or bool(_OPEN & schema.keys())

    def schema_of(self, key: str) -> Schema:
        schema = self._schemas.get(key)
        if schema is None:
            schema = self._schemas[key] = self.tool.parameter_schema(key)
        return schema

    def surely_takes(self, arguments: dict[str, Any]) -> bool:
        """Return True if the arguments' types show that there are no objections."""
        known = self._python_types
        for key, value in arguments.items():
            if type(value) not in (known[key] if key in known else self._python_types_of(key)):
                return False
        return self.required_keys <= arguments.keys()

    def _python_types_of(self, key: str) -> frozenset[type]:
        others = JSON_TYPES if self._takes_others else ()
        names = self._types_of(key) if key in self.properties else others
        types = frozenset(kind for name in names for kind in PYTHON_TYPES.get(name, ()))
        self._python_types[key] = types
        return types

    def objections(
        self, arguments: Mapping[str, Any], place: str, typed: bool = True
    ) -> Iterator[Finding]:
        """Yield a finding for each argument of a complete call that is unknown, and one for those
        that are missing. With `typed`, also check the values' types against the schema."""
        for key, value in arguments.items():
            if key not in self.properties:
                if not self._takes_others:
                    listed = ", ".join(sorted(self.properties)) or "none"
                    message = f"{key!r:.60} is not one of {self.tool.name}'s parameters ({listed})"
                    yield finding("unknown-argument", f"{place}, argument {key}", message)
            elif typed and not self._takes(key, value):
                types = " or ".join(sorted(self._types[key]))
                message = f"{key} must be of type {types}: {value!r:.60} is of type "
                message += json_type(value)
                yield finding("type-mismatch", f"{place}, argument {key}", message)
        if not self.required_keys <= arguments.keys():
            missing = ", ".join(key for key in self.required if key not in arguments)
            message = f"{self.tool.name} needs {missing}, which the call lacks"
            yield finding("missing-argument", place, message)

    def _types_of(self, key: str) -> set[str]:
        """Return the types that a parameter may have: all, if the schema restricts none."""
        types = self._types.get(key)
        if types is None:
            schema = self.schema_of(key)
            types = self._types[key] = allowed_types(schema)
            if not types or not types.issubset(JSON_TYPES):  # such as the word `any`
                types.update(JSON_TYPES)
            elif schema.get("nullable") is True:  # OpenAPI's word
                types.add("null")
        return types

    def _takes(self, key: str, value: Any) -> bool:
        types = self._types_of(key)
        if isinstance(value, str) and "string" in types:
            return True
        return type(value) is not str and agrees(value, types)


class OpenCall:
    """The call that is being read, with its arguments so far.

    `restart` matches the beginning of another call of the same form. `typed` is True if values get
    the types of the tool's schema.
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
