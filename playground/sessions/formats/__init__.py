"""List the formats of session files, in the order in which they are tried.

The first format that recognises a file reads it, so narrower formats come before wider ones. A
format's module is loaded when the format is tried. A plugin says before which of `_OTHERS` its
formats are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Final, overload

from playground.base.errors import UnknownNameError
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.source import Source

_FIRST: Final = (  # file:class; no plugin's format is tried before these
    "playground_sessions:PlaygroundSession",
    "workspace_entries:WorkspaceEntry",
    "wire_streams:RecordingFile",
    "atif:Atif",
)
_OTHERS: Final = (
    "request_rows:RequestRows",
    "wire_streams:WireStream",
    "whole_replies:WholeReply",
    "chat_requests:AnthropicMessages",
    "chat_requests:GeminiContents",
    "chat_requests:OpenAIChat",
    "chat_lines:FineTuning",
    "chat_lines:MessageLines",
    "any_chat:AnyChat",
)


@cache
def _load(target: str) -> SessionFormat:
    module, _, name = target.partition(":")
    found: SessionFormat = getattr(import_module(module), name)()
    return found


@cache
def _later_targets() -> tuple[str, ...]:
    """Return the targets of all formats of the core and of plugins, except those in `_FIRST`."""
    from playground.base.registry import plugins

    narrow: dict[str, list[str]] = {own.partition(":")[2]: [] for own in _OTHERS}
    last: list[str] = []
    for plugin in plugins().values():
        for before, targets in plugin.narrow_formats.items():
            narrow.get(before, last).extend(targets)
        last += plugin.formats
    found: list[str] = []
    for own, before_it in zip(_OTHERS, narrow.values(), strict=True):
        found += [*before_it, f"{__name__}.{own}"]
    return (*found, *last)


class _Formats(Sequence[SessionFormat]):
    """The core's formats in their order, with those of plugins; each is loaded when used."""

    def __len__(self) -> int:
        return len(_FIRST) + len(_later_targets())

    def __iter__(self) -> Iterator[SessionFormat]:
        for own in _FIRST:
            yield _load(f"{__name__}.{own}")
        yield from map(_load, _later_targets())

    @overload
    def __getitem__(self, index: int) -> SessionFormat: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SessionFormat]: ...
    def __getitem__(self, index: int | slice) -> SessionFormat | Sequence[SessionFormat]:
        if isinstance(index, slice):
            return list(self)[index]
        return next(islice(self, range(len(self))[index], None))


FORMATS: Final[Sequence[SessionFormat]] = _Formats()
FORMATS_HEAD: Final = ["format", "what", "tools", "times", "usage", "chunks", "not kept"]


def format_names() -> list[str]:
    """Return the names of all formats, as `get_format` takes them."""
    return [each.name for each in FORMATS]


def formats_rows() -> list[list[str]]:
    """Return a row for each format, with the parts of a file that it keeps, under FORMATS_HEAD."""
    return [[each.name, each.title, *each.keeps] for each in FORMATS]


def get_format(name: str) -> SessionFormat:
    """Return a format by its name. Raises UnknownNameError, which names similar ones."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise UnknownNameError("format", name, format_names())


def recognised(source: Source) -> SessionFormat:
    """Return the first format that recognises a file, or else our own format for an object with a
    field `format`. Raises InputFault for any other file."""
    if (found := next(recognising(source), None)) is not None:
        return found
    if isinstance(source.document, dict) and "format" in source.document:
        return next(iter(FORMATS))  # our own, whose importer then says what is wrong
    from playground.sessions.formats.refusal import refusal

    raise refusal(source)


def recognising(source: Source) -> Iterator[SessionFormat]:
    """Yield every format that recognises a file, the narrowest first."""
    for each in FORMATS:
        try:
            is_its_own = each.recognises(source)
        except (AttributeError, TypeError, KeyError, IndexError, ValueError):
            continue  # the file has a shape that this format does not expect
        if is_its_own:
            yield each


__all__ = [
    "FORMATS",
    "FORMATS_HEAD",
    "Keeps",
    "SessionFormat",
    "format_names",
    "formats_rows",
    "get_format",
    "recognised",
    "recognising",
]
