"""Edit a session's tools from the text that a user wrote.

An edit may not give two tools one name. If a session already has such a pair, both can be edited.
"""

from __future__ import annotations

from collections import Counter

from playground.base.errors import InputFault
from playground.nouns.tools import ToolMetadata
from playground.sessions.tool_files import read_tool_file

Tools = tuple[ToolMetadata, ...]


def all_replaced(tools: Tools, text: str) -> Tools:
    """Return another list of tools. Raises InputFault."""
    new = _read(text, "tools")
    _check_names(tools, new, "tools")
    return new


def replaced(tools: Tools, index: int, text: str) -> Tools:
    """Return the tools with those in the text, one or more, in place of one. Raises InputFault."""
    where = f"tool {index}"
    new = (*tools[:index], *_read(f"[{text}]", where), *tools[index + 1 :])
    _check_names(tools, new, where)
    return new


def added(tools: Tools) -> Tools:
    """Return the tools with one more, whose name no other has."""
    used_names = {tool.name for tool in tools}
    numbers = range(1, len(used_names) + 2)
    name = next(name for number in numbers if (name := f"new_tool_{number}") not in used_names)
    return (*tools, ToolMetadata(name=name))


def _read(text: str, where: str) -> Tools:
    file = read_tool_file(text.encode(), where)
    for found in file.findings:
        if found.code == "lone-surrogate":
            raise InputFault("half of a surrogate pair", where=where, field=found.where)
    return tuple(file.tools)


def _check_names(before: Tools, after: Tools, where: str) -> None:
    """Raise InputFault if more tools share a name than before."""
    counts_before = Counter(tool.name for tool in before)
    for name, count in Counter(tool.name for tool in after).items():
        if count > max(1, counts_before[name]):
            raise InputFault(
                f"there is a tool of the name {name!r} already",
                where=where,
                field="name",
                expected="a name of its own",
            )
