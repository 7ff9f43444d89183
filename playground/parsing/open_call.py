"""The call that is being read, and the exception by which it breaks off."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from playground.parsing.wait import Wait
from playground.tools import Schema, ToolMetadata


class BrokenCall(Exception):
    """The call cannot be read on; `code` is the finding's. A `whole` one was read to its end."""

    def __init__(self, code: str, message: str = "", whole: bool = False) -> None:
        self.code, self.message, self.whole = code, message, whole
        super().__init__(code)


@dataclass
class OpenCall:
    """The call that is being read: all that the engine keeps of the stream."""

    index: int
    call_id: str
    name: str | None = None
    raw: list[tuple[str | None, str]] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    strays: dict[str, str] = field(default_factory=dict)  # members beside the form's own, as JSON
    tool: ToolMetadata | None = None
    in_section: bool = False
    renamed: str = ""  # what its object says of the name once more
    relaxed: bool = False  # its JSON has single quotes, bare keys or comments
    ended: bool = False  # its body ended by itself: what stands behind it is none of its own
    typed: bool = True
    restart: Wait | None = None  # how another call of its form begins

    @property
    def place(self) -> str:
        """Where a finding about the whole call is."""
        return f"call {self.index}"

    def schema_of(self, key: str) -> Schema:
        """The schema of an argument; {} where none is known or values are not to be typed."""
        return self.tool.parameter_schema(key) if self.tool and self.typed else {}

    @cached_property
    def properties(self) -> set[str]:
        """The names of the tool's parameters; empty where the tool is not known."""
        return self.tool.parameter_names if self.tool else set()

    @property
    def required(self) -> list[str]:
        return self.tool.required_parameters if self.tool else []
