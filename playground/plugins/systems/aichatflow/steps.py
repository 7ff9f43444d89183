"""The steps of a template's run, and how a message of a template becomes a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.base.errors import InputFault
from playground.plugins.systems.aichatflow.requests import PlainMessage, Sent
from playground.plugins.systems.aichatflow.sets import TemplateMessage, UserMessage, check_part
from playground.plugins.systems.go_templates import render


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run: a message that was read, a request, an answer, a result or a switch.

    The step of a message has the message's `index` in the template, its text before it was filled
    as `source`, its variables as `used`, and those that the input lacks as `missing`. A request has
    `sent`. A switch has a note on the new template as `source`.
    """

    template: str
    what: str
    index: int | None = None
    message: PlainMessage | None = None
    source: str = ""
    used: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    sent: Sent | None = None


def read_step(name: str, index: int, message: TemplateMessage, data: Mapping[str, Any]) -> Step:
    """Fill a template's message with the values of the input, and return the step.

    Raises TemplateFault, and InputFault if the input has no content for a user message that takes
    its content from the input.
    """
    plain: PlainMessage = message.model_dump(exclude_none=True)
    match plain.get("content"):
        case None if isinstance(message, UserMessage):
            filled = {**plain, "content": _content_parts(data)}
            return Step(name, "message", index, filled, used=(".contentParts",))
        case str(source):
            rendered = render(source, data)
            filled = {**plain, "content": rendered.text}
            return Step(name, "message", index, filled, source, rendered.used, rendered.missing)
        case list(parts):
            return _read_parts(name, index, plain, parts, data)
    return Step(name, "message", index, plain)


def _content_parts(data: Mapping[str, Any]) -> list[Any]:
    """Return the input's parts for a user message without content. Raises InputFault."""
    parts = data.get("contentParts")
    if isinstance(parts, list):
        for number, part in enumerate(parts):
            check_part(part, number)
        return parts
    raise InputFault(
        "a user message without content, and no list contentParts in the input",
        expected="one of them",
    )


def _read_parts(
    name: str, index: int, plain: PlainMessage, parts: list[Any], data: Mapping[str, Any]
) -> Step:
    """Return the step of a message of texts and images; each text is filled separately."""
    used: list[str] = []
    missing: list[str] = []
    content: list[Any] = []
    for part in parts:
        if part["type"] == "text":
            rendered = render(part["text"], data)
            used += rendered.used
            missing += rendered.missing
            content.append({**part, "text": rendered.text})
        else:
            content.append(part)
    source = "\n".join(part.get("text", "") for part in parts)
    message = {**plain, "content": content}
    return Step(name, "message", index, message, source, _unique(used), _unique(missing))


def _unique(names: list[str]) -> tuple[str, ...]:
    """Return the names without repetition, in the order of their first appearance."""
    return tuple(dict.fromkeys(names))
