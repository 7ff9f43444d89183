"""Find the conversations of a data export: in a JSON file, or in a zip's `conversations*.json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.base.errors import InputFault
from playground.sessions.building import Place
from playground.sessions.formats.chat_lines import rows
from playground.sessions.source import Source


def export_rows(source: Source) -> Iterator[tuple[Place, Any]]:
    """Yield every conversation with its place. In a zip or folder, only `conversations*.json` are
    read."""
    if not (source.is_zip or source.is_folder):
        if source.is_lines or source.document is not None:
            yield from rows(source)
        return
    for name, member in source.members.items():
        file = name.rpartition("/")[2]
        if file.startswith("conversations") and file.endswith(".json"):
            try:
                yield from rows(member)
            except InputFault:
                if not source.is_folder:  # a folder may have files of other programs, too
                    raise


def first_row(source: Source) -> Any:
    """Return the first conversation, which shows the file's format."""
    if source.is_lines:
        return source.head[0] if source.head else None
    return next((value for _, value in export_rows(source)), None)
