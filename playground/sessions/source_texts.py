"""Find the texts of a session from which a piece of a request was written, and turn changes of
these texts into edits. A part is edited in its simplest form: a result as text, a call's arguments
as JSON, any other part as JSON of the whole part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from playground.base.errors import InputFault
from playground.nouns.messages import (
    ImagePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.tools import ToolMetadata
from playground.parsing.values import dump_json
from playground.sessions.documents import json_of, parse_json
from playground.sessions.editing import (
    NEW_PARTS,
    ROLES,
    Action,
    Edit,
    begins_with_system,
    system_prompt,
)
from playground.sessions.line_ends import as_edited, with_line_ends_of
from playground.sessions.native_format import dump_part
from playground.sessions.session import Session

_PROMPTS: Final[dict[str, Action]] = {
    "agent": "system prompt",
    "system": "system prompt",
    "user-prompt": "custom instructions",
    "environment": "environment block",
}
SPLIT: Final = "Split off from here"  # not an edit: messages from here on become another session


class SourceText(NamedTuple):
    """A text to edit, in its simplest form; `step` is the edit, still without the new text. `whole`
    is the JSON of the whole part, or "" if `text` is that already."""

    label: str
    step: Edit
    text: str
    is_json: bool = False
    whole: str = ""


def source_texts(session: Session, origin: str) -> list[SourceText]:
    """Return the texts to edit for an origin, which names the source of a piece of a request, such
    as `message:3`; [] for an origin that is not in the session, such as a dialect's rules."""
    kind, _, name = origin.partition(":")
    if kind == "tool":
        return [
            SourceText(f"tool {tool.name}", Edit("tool", index=index), tool_text(tool), True)
            for index, tool in enumerate(session.tools)
            if tool.name == name
        ][:1]
    if kind == "message" and name.isdecimal() and int(name) < len(session.messages):
        return _message_texts(session, int(name))
    if origin not in _PROMPTS:
        return []
    texts = {
        "system prompt": system_prompt(session),
        "custom instructions": session.task.user_prompt,
        "environment block": session.dynamic.dynamic_environment_details_block,
    }
    action = _PROMPTS[origin]
    return [SourceText(action, Edit(action), texts[action])]


def step_to(session: Session, source: SourceText, text: str, whole: bool) -> Edit | None:
    """Return the edit that changes a source to `text`; None if that is its text already. With
    `whole`, `text` is the JSON of the whole part. Raises InputFault if it cannot be read."""
    before = source.whole if whole else source.text
    if as_edited(text) == as_edited(before):
        return None
    text = with_line_ends_of(before, text)
    part = _part(session, source.step)
    if not whole and isinstance(part, ToolCallPart):
        text = dump_part(replace(part, args=json_of(text, "arguments", dict)))
    elif not whole and isinstance(part, ToolResultPart):
        result = parse_json(text, "result") if source.is_json else text
        text = dump_part(replace(part, result=result))
    return replace(source.step, value=text)


def tool_text(tool: ToolMetadata) -> str:
    """Return a tool as JSON, without fields that have their default value."""
    return dump_json(tool.model_dump(mode="json", exclude_defaults=True), indent=1)


def _message_texts(session: Session, index: int) -> list[SourceText]:
    message = session.messages[index]
    if index == 0 and begins_with_system(session) and not session.task.user_agent_prompt:
        return [SourceText("system prompt", Edit("system prompt"), message.text)]
    return [
        _part_text(part, Edit("part", index=index, part=number))
        for number, part in enumerate(message.parts)
    ]


def _part_text(part: Part, step: Edit) -> SourceText:
    match part:
        case TextPart() | ReasoningPart():
            return SourceText(part.type, step, part.text)
        case ToolCallPart():
            args = dump_json(part.args, indent=1)
            return SourceText(f"call of {part.tool_name}", step, args, True, dump_part(part))
        case ToolResultPart():
            is_text = isinstance(part.result, str)
            text = part.result if is_text else dump_json(part.result, indent=1)
            label = f"result of {part.tool_name}"
            return SourceText(label, step, text, not is_text, dump_part(part))
        case ImagePart():
            return SourceText("image", step, dump_part(part), True)


def _part(session: Session, step: Edit) -> Part | None:
    if step.action != "part":
        return None
    try:
        return session.messages[step.index].parts[step.part]
    except IndexError as error:
        raise InputFault(f"there is no {step.label.removeprefix('change ')}") from error


def changes_of(session: Session, origin: str) -> list[tuple[str, Edit]]:
    """Return the edits of an origin that change no text, each with its name for the user.

    They change a message's role, place or parts, add or remove messages, or remove a tool.
    """
    sources = source_texts(session, origin)
    if sources and sources[0].step.action == "tool":
        return [("Remove this tool", Edit("remove tool", index=sources[0].step.index))]
    kind, _, number = origin.partition(":")
    if kind != "message" or not 0 <= int(number) < len(session.messages):
        return []
    index, last = int(number), len(session.messages) - 1
    message = session.messages[index]
    found = [(f"Role: {role}", Edit("role", role, index)) for role in ROLES if role != message.role]
    if index:
        found.append(("Earlier", Edit("move message", index=index, to=index - 1)))
    if index < last:
        found.append(("Later", Edit("move message", index=index, to=index + 1)))
    found += [
        ("Add a message before", Edit("add message", index=index - 1)),
        ("Add a message after", Edit("add message", index=index)),
        ("Remove this message", Edit("remove message", index=index)),
        *((f"Add a part: {kind}", Edit("add part", kind, index)) for kind in NEW_PARTS),
    ]
    for part in range(len(message.parts)):
        moved = Edit("move part", index=index, part=part)
        if part:
            found.append((f"Raise part {part}", replace(moved, to=part - 1)))
        if part < len(message.parts) - 1:
            found.append((f"Lower part {part}", replace(moved, to=part + 1)))
        found.append((f"Remove part {part}", replace(moved, action="remove part")))
    if index:
        found.append((SPLIT, Edit("add message", index=index)))
    return found


def origin_after(step: Edit, origin: str) -> str:
    """Return the origin to show after an edit: that of the same text, or of an added message; "" if
    the edit removes the text."""
    match step.action:
        case "remove message" | "remove tool":
            return ""
        case "move message":
            return f"message:{step.to}"
        case "add message":
            return f"message:{step.index + 1}"
    return origin
