"""A use case of a dialect: dialogs, each with its prompt and its response, and notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from playground.base.arguments import items, wrong
from playground.dialects.raw_prompts.llama import ToolFormat
from playground.nouns.messages import Message
from playground.nouns.tools import ToolMetadata

Origin = Literal["recorded", "scripted", "none"]
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class TextCompletion:
    """The prompt of a base model: text without roles."""

    content: str


@dataclass(frozen=True)
class Dialog:
    """A conversation up to the model's turn, its tools, and the response that follows.

    `origin` says whether the response was recorded from a model or written by hand. Lists are
    stored as tuples. Raises InputFault for a value that is not a message or not a tool.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolMetadata] = ()
    system: str = ""
    response: str = ""
    origin: Origin = "none"

    def __post_init__(self) -> None:
        messages = _check_all("a dialog's messages", self.messages, Message)
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "tools", _check_all("a dialog's tools", self.tools, ToolMetadata))


@dataclass(frozen=True)
class UseCase:
    """A titled section of a guide.

    A dialog that is a text is copied to the page. A dialog that is a list of messages, Meta's form,
    becomes a Dialog. Notes may be one text whose lines begin with `- `, as Meta writes them. Lists
    are stored as tuples. Raises InputFault for a value that is not a dialog or not a note.
    """

    title: str = ""
    description: str = ""
    dialogs: Sequence[Dialog | TextCompletion | str] = ()
    notes: Sequence[str] = ()
    tool_prompt_format: ToolFormat = "json"
    max_gen_len: int = 512

    def __post_init__(self) -> None:
        place = f"use case {self.title!r}"
        dialog_values = items(f"{place}, dialogs", self.dialogs)
        dialogs = (_dialog(f"{place}, dialogs.{n}", value) for n, value in enumerate(dialog_values))
        object.__setattr__(self, "dialogs", tuple(dialogs))
        notes = _split(self.notes) if isinstance(self.notes, str) else self.notes
        object.__setattr__(self, "notes", _check_all(f"{place}, notes", notes, str))


def _dialog(place: str, value: Any) -> Dialog | TextCompletion | str:
    if isinstance(value, Dialog | TextCompletion | str):
        return value
    if isinstance(value, Sequence) and value and isinstance(value[0], Message):
        return Dialog(value)
    expected = "Dialog(messages), TextCompletion(content), a list of messages or a text"
    raise wrong(place, value, expected)


def _check_all(place: str, values: Iterable[_Kind], kind: type[_Kind]) -> tuple[_Kind, ...]:
    """Return the items. Raises InputFault, which names the first item of another type."""
    checked = items(place, values)
    for index, item in enumerate(checked):
        if not isinstance(item, kind):
            raise wrong(f"{place}.{index}", item, f"a {kind.__name__}")
    return checked


def _split(notes: str) -> list[str]:
    return [note for each in re.split(r"^- ", notes, flags=re.M) if (note := each.strip())]
