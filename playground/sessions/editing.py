"""Edit a session: an `Edit` is a user's change as a value, `edited` applies edits in order.

Edits leave recordings as they are. If messages move, records that refer to a message by its index
follow it (`with_messages`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from playground.base.characters import replace_half_surrogates
from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.nouns.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.prompt_data import PromptTemplateType
from playground.nouns.tools import ToolMetadata
from playground.sessions.message_order import with_messages
from playground.sessions.native_format import dump_part, read_expected, read_part
from playground.sessions.session import Session
from playground.sessions.text_parts import with_text
from playground.sessions.tool_files import read_tool_file

Action = Literal[
    "system prompt",
    "custom instructions",
    "environment block",
    "general rules",
    "model",
    "expected calls",
    "all tools",
    "tool",
    "add tool",
    "remove tool",
    "role",
    "add message",
    "remove message",
    "move message",
    "part",
    "add part",
    "remove part",
    "move part",
]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
NEW_PARTS: Final[dict[str, Part]] = {
    "text": TextPart(""),
    "reasoning": ReasoningPart(""),
    "image": ImagePart(""),
    "tool call": ToolCallPart("call_1", "", {}),
    "tool result": ToolResultPart("call_1", "", ""),
}


@dataclass(frozen=True, slots=True)
class Edit:
    """One change.

    `index` is the index of a message or tool, `part` the index of a part in the message, and `to`
    the new index of a message or part that is moved. `value` is the new text, or the name of a role
    or of a kind of part.
    """

    action: Action
    value: str = ""
    index: int = 0
    part: int = 0
    to: int = 0

    @property
    def label(self) -> str:
        """The change in words; messages and parts are counted from 0, as everywhere."""
        if self.action in _PROMPTS:
            return self.action
        if self.action in _LABELS:
            return _LABELS[self.action]
        if self.action == "add message":
            return f"add a message as number {self.index + 1}"
        what, _, thing = self.action.rpartition(" ")
        place = f"{thing} {self.index}"
        if thing in ("part", "role"):
            place = f"{thing} {self.part} of" if thing == "part" else "role of"
            place = f"{place} message {self.index}"
        return f"{what or 'change'} {place}"


def edited(session: Session, edits: Iterable[Edit]) -> Session:
    """Return the session with all edits.

    Raises InputFault for an unknown action, a target that does not exist, and a value that cannot
    be read or stored.
    """
    for edit in edits:
        if edit.action not in _ACTIONS:
            raise InputFault(f"unknown edit {edit.action!r}", expected=" or ".join(_ACTIONS))
        _check(edit.value, edit.label)
        session = _ACTIONS[edit.action](session, edit)
    return session


def _check(value: Any, where: str) -> None:
    """Raise InputFault if a text holds half a character."""
    findings: list[Finding] = []
    replace_half_surrogates(value, "", findings)
    if findings:
        raise InputFault(
            "half of a surrogate pair",
            where=where,
            field=findings[0].where,
            expected="whole characters",
        )


def system_prompt(session: Session) -> str:
    """Return the agent prompt, or else the system message that the session begins with."""
    return session.task.user_agent_prompt or (
        session.messages[0].text if begins_with_system(session) else ""
    )


def part_text(part: Part) -> str:
    """Return the text to edit: that of a text or of reasoning, JSON of any other part."""
    return part.text if isinstance(part, TextPart | ReasoningPart) else dump_part(part)


def split_off(session: Session, index: int) -> Session:
    """Return a session with the messages from `index` on and the same prompt and tools.

    Requests, recordings and other records of the whole session are left out.
    """
    return replace(
        session,
        messages=session.messages[index:],
        requests=(),
        recordings=(),
        compactions=(),
        rows=(),
        expected=(),
    )


# prompts


def begins_with_system(session: Session) -> bool:
    """Return True if the first message is a system prompt that is only text."""
    first = session.messages[0] if session.messages else None
    return (
        first is not None
        and first.role == "system"
        and bool(first.parts)
        and all(isinstance(part, TextPart) for part in first.parts)
    )


def _system_prompt(session: Session, edit: Edit) -> Session:
    """Set the agent prompt, or the text of a system message at the beginning if there is no agent
    prompt. A text that is empty or has a placeholder replaces that message by an agent prompt,
    because placeholders work only there."""
    if session.task.user_agent_prompt or not begins_with_system(session):
        return _with_task(session, user_agent_prompt=edit.value)
    if not edit.value or any(each.placeholder in edit.value for each in PromptTemplateType):
        session = with_messages(session, range(1, len(session.messages)))
        return _with_task(session, user_agent_prompt=edit.value)
    return _with_parts(session, 0, with_text(session.messages[0].parts, edit.value))


def _custom_instructions(session: Session, edit: Edit) -> Session:
    return _with_task(session, user_prompt=edit.value)


def _expected_calls(session: Session, edit: Edit) -> Session:
    """Set the expected replies, a JSON list as in a session file; an empty text means none."""
    return replace(session, expected=read_expected(edit.value or "[]", len(session.messages)))


def _general_rules(session: Session, edit: Edit) -> Session:
    return _with_task(session, system_rules=bool(edit.value))


def _with_task(session: Session, **fields: Any) -> Session:
    return replace(session, task=session.task.model_copy(update=fields))


def _model(session: Session, edit: Edit) -> Session:
    return session.with_model(edit.value)


def _environment_block(session: Session, edit: Edit) -> Session:
    update = {"dynamic_environment_details_block": edit.value}
    return replace(session, dynamic=session.dynamic.model_copy(update=update))


# tools


def _all_tools(session: Session, edit: Edit) -> Session:
    new = _read_tools(edit.value, "tools")
    _check_tool_names(session.tools, new, "tools")
    return replace(session, tools=new)


def _tool(session: Session, edit: Edit) -> Session:
    _item(session.tools, edit.index, "tool")
    where = f"tool {edit.index}"
    before, after = session.tools[: edit.index], session.tools[edit.index + 1 :]
    new = (*before, *_read_tools(f"[{edit.value}]", where), *after)
    _check_tool_names(session.tools, new, where)
    return replace(session, tools=new)


def _add_tool(session: Session, edit: Edit) -> Session:
    """Add a tool with an unused name."""
    used_names = {tool.name for tool in session.tools}
    numbers = range(1, len(used_names) + 2)
    name = next(name for number in numbers if (name := f"new_tool_{number}") not in used_names)
    return replace(session, tools=(*session.tools, ToolMetadata(name=name)))


def _read_tools(text: str, where: str) -> tuple[ToolMetadata, ...]:
    file = read_tool_file(text.encode(), where)
    for found in file.findings:
        if found.code == "lone-surrogate":
            raise InputFault("half of a surrogate pair", where=where, field=found.where)
    return tuple(file.tools)


def _check_tool_names(
    before: Iterable[ToolMetadata], after: Iterable[ToolMetadata], where: str
) -> None:
    """Raise InputFault if an edit gives two tools the same name. Tools that already had the same
    name when the session was read can still be edited."""
    counts_before = Counter(tool.name for tool in before)
    for name, count in Counter(tool.name for tool in after).items():
        if count > max(1, counts_before[name]):
            raise InputFault(
                f"there is a tool of the name {name!r} already",
                where=where,
                field="name",
                expected="a name of its own",
            )


def _remove_tool(session: Session, edit: Edit) -> Session:
    _item(session.tools, edit.index, "tool")
    remaining = (tool for index, tool in enumerate(session.tools) if index != edit.index)
    return replace(session, tools=tuple(remaining))


# messages


def _role(session: Session, edit: Edit) -> Session:
    if edit.value not in ROLES:
        raise InputFault(f"unknown role {edit.value!r}", expected=" or ".join(ROLES))
    message = _item(session.messages, edit.index, "message")
    return _with_message(session, edit.index, replace(message, role=edit.value))


def _add_message(session: Session, edit: Edit) -> Session:
    """Add a message of the other speaker after the message of this index; -1 means before the
    first."""
    place = edit.index + 1
    role: Role = "user"
    if edit.index != -1:
        previous = _item(session.messages, edit.index, "message")
        role = "assistant" if previous.role == "user" else "user"
    messages = (*session.messages, Message(role, (TextPart(""),)))
    new = len(session.messages)
    order = [*range(place), new, *range(place, new)]
    return with_messages(replace(session, messages=messages), order)


def _remove_message(session: Session, edit: Edit) -> Session:
    _item(session.messages, edit.index, "message")
    return with_messages(session, _without(len(session.messages), edit.index))


def _move_message(session: Session, edit: Edit) -> Session:
    _item(session.messages, edit.index, "message")
    _item(session.messages, edit.to, "message")
    order = _without(len(session.messages), edit.index)
    return with_messages(session, [*order[: edit.to], edit.index, *order[edit.to :]])


def _with_message(session: Session, index: int, message: Message) -> Session:
    messages = (*session.messages[:index], message, *session.messages[index + 1 :])
    return replace(session, messages=messages)


def _without(count: int, index: int) -> list[int]:
    return [*range(index), *range(index + 1, count)]


# parts


def _part(session: Session, edit: Edit) -> Session:
    """Change a part's text; replace a part without text by the part in the edit's JSON."""
    message = _item(session.messages, edit.index, "message")
    part: Part = _item(message.parts, edit.part, "part")
    if isinstance(part, TextPart | ReasoningPart):
        part = replace(part, text=edit.value)
    else:
        where = f"message {edit.index}, part {edit.part}"
        part = read_part(edit.value, where)
        _check(part, where)
    parts = (*message.parts[: edit.part], part, *message.parts[edit.part + 1 :])
    return _with_parts(session, edit.index, parts)


def _add_part(session: Session, edit: Edit) -> Session:
    message = _item(session.messages, edit.index, "message")
    if edit.value not in NEW_PARTS:
        raise InputFault(f"unknown kind of part {edit.value!r}", expected=" or ".join(NEW_PARTS))
    return _with_parts(session, edit.index, (*message.parts, NEW_PARTS[edit.value]))


def _remove_part(session: Session, edit: Edit) -> Session:
    message = _item(session.messages, edit.index, "message")
    _item(message.parts, edit.part, "part")
    remaining = _without(len(message.parts), edit.part)
    return _with_parts(session, edit.index, [message.parts[index] for index in remaining])


def _move_part(session: Session, edit: Edit) -> Session:
    message = _item(session.messages, edit.index, "message")
    _item(message.parts, edit.part, "part")
    _item(message.parts, edit.to, "part")
    parts = list(message.parts)
    parts.insert(edit.to, parts.pop(edit.part))
    return _with_parts(session, edit.index, parts)


def _with_parts(session: Session, index: int, parts: Sequence[Part]) -> Session:
    return _with_message(session, index, replace(session.messages[index], parts=tuple(parts)))


def _item(items: Sequence[Any], index: int, noun: str) -> Any:
    if not 0 <= index < len(items):
        last = f"one of 0 to {len(items) - 1}" if items else f"at least one {noun}"
        raise InputFault(f"there is no {noun} {index}", expected=last)
    return items[index]


_ACTIONS: Final[dict[Action, Callable[[Session, Edit], Session]]] = {
    "system prompt": _system_prompt,
    "custom instructions": _custom_instructions,
    "environment block": _environment_block,
    "general rules": _general_rules,
    "model": _model,
    "expected calls": _expected_calls,
    "all tools": _all_tools,
    "tool": _tool,
    "add tool": _add_tool,
    "remove tool": _remove_tool,
    "role": _role,
    "add message": _add_message,
    "remove message": _remove_message,
    "move message": _move_message,
    "part": _part,
    "add part": _add_part,
    "remove part": _remove_part,
    "move part": _move_part,
}
_LABELS: Final = {
    "model": "another model",
    "expected calls": "expected calls",
    "all tools": "another list of tools",
    "add tool": "add a tool",
}
_PROMPTS: Final = ("system prompt", "custom instructions", "environment block", "general rules")
