"""Read files of tools: JSON or YAML in any known form, OpenAPI documents, Python source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.base.arguments import takes
from playground.base.characters import replace_half_surrogates
from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.nouns.tool_formats import looks_like_tools, read_tools_and_findings
from playground.nouns.tool_formats.python_files import read_python
from playground.nouns.tools import ToolMetadata, tools_findings
from playground.sessions.bounded import read_yaml
from playground.sessions.documents import parse_json
from playground.sessions.pasted import unwrapped
from playground.sessions.places import line_of
from playground.sessions.source import Source


@dataclass(frozen=True)
class ToolFile:
    """The tools of a file, usable as a list, and findings about lost parts of them."""

    tools: list[ToolMetadata]
    findings: list[Finding] = field(default_factory=list)

    def __iter__(self) -> Iterator[ToolMetadata]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)


@takes(path="path")
def load_tools(path: str | Path) -> ToolFile:
    """Return the tools of a file. Raises InputFault with the place of a fault."""
    from playground.sessions.loading import file_bytes

    return read_tool_file(file_bytes(path), str(path))


def read_tool_file(data: bytes, where: str) -> ToolFile:
    """Return the tools in a file's bytes. Raises InputFault if none can be read.

    A `.py` file is parsed to a syntax tree, a `.yaml` file is read by the safe loader. Other files
    are JSON, which may be inside a `curl` command or a code fence.
    """
    text = Source(where, data).text
    if where.endswith(".py"):
        tools, findings = read_python(text, where)
    else:
        tools, findings = _of_document(text, where)
    if not tools:
        reason = findings[0].message if findings else "the list is empty"
        raise InputFault(
            f"it holds no tools: {reason}", where=where, expected="tools with a schema"
        )
    halves: list[Finding] = []
    tools = replace_half_surrogates(tools, "tools", halves)
    return ToolFile(tools, [*findings, *halves, *tools_findings(tools, "tool {name}")])


def _of_document(text: str, where: str) -> tuple[list[ToolMetadata], list[Finding]]:
    yaml = where.endswith((".yaml", ".yml"))
    try:
        value = _value(text, where)
    except InputFault:
        inner = None if yaml else unwrapped(text)
        if inner is None:
            raise
        text, where = inner.text, f"{where}, {inner.wrapping}"
        value = parse_json(text, where)
    try:
        return read_tools_and_findings(value, "" if isinstance(value, dict) else "tools")
    except InputFault as fault:
        path = [int(step) if step.isdigit() else step for step in fault.field.split(".")]
        path = path[1:] if isinstance(value, list) else path
        raise InputFault(
            fault.problem,
            where=where,
            line=None if yaml else line_of(text, path),
            field=fault.field,
            expected=fault.expected,
        ) from fault


def holds_tools(where: str, data: bytes) -> bool:
    """Return True if a file holds only tools: Python, or JSON or YAML without messages."""
    if where.endswith(".py"):
        return True
    try:
        return looks_like_tools(_value(Source(where, data).text, where))
    except InputFault:
        return False


def _value(text: str, where: str) -> Any:
    yaml = where.endswith((".yaml", ".yml"))
    return read_yaml(text, where) if yaml else parse_json(text, where)
