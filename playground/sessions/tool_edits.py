"""Edit a session's tools from the text that a user wrote.

No edit makes two tools of one name. A session that already has such a pair keeps it, and each can
be edited.
"""

from __future__ import annotations

from collections import Counter

from playground.base.errors import InputFault
from playground.nouns.tools import ToolMetadata
from playground.sessions.tool_files import read_tool_file

Tools = tuple[ToolMetadata, ...]


def all_replaced(tools: Tools, text: str) -> Tools:
    """Another list of tools. Raises InputFault."""
    given = _read(text, "tools")
    _check_names(tools, given, "tools")
    return given


def replaced(tools: Tools, index: int, text: str) -> Tools:
    """The text may hold several tools: they all stand in the one's place. Raises InputFault."""
    where = f"tool {index}"
    given = (*tools[:index], *_read(f"[{text}]", where), *tools[index + 1 :])
    _check_names(tools, given, where)
    return given


def added(tools: Tools) -> Tools:
    """Return one more tool, of a name that no other has."""
    taken = {tool.name for tool in tools}
    numbers = range(1, len(taken) + 2)
    name = next(name for number in numbers if (name := f"new_tool_{number}") not in taken)
    return (*tools, ToolMetadata(name=name))


def _read(text: str, where: str) -> Tools:
    given = read_tool_file(text.encode(), where)
    for found in given.findings:
        if found.code == "lone-surrogate":
            raise InputFault("half of a surrogate pair", where=where, field=found.where)
    return tuple(given.tools)


def _check_names(before: Tools, after: Tools, where: str) -> None:
    """Raises InputFault where more tools share a name than did before."""
    had = Counter(tool.name for tool in before)
    for name, count in Counter(tool.name for tool in after).items():
        if count > max(1, had[name]):
            raise InputFault(
                f"there is a tool of the name {name!r} already",
                where=where,
                field="name",
                expected="a name of its own",
            )
