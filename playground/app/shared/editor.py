"""The editor of a session: prompts, messages and tools, each change a step that can be undone."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from playground.app import state
from playground.app.shared import history, say, widget_changes, widgets
from playground.app.state import WorkingSession
from playground.nouns.messages import Message
from playground.sessions import editing
from playground.sessions.editing import NEW_PARTS, ROLES, Action, Edit
from playground.sessions.session import Session

EDIT = "edit"  # the switch that shows the editors
_MOST_IN_LABEL = 40  # characters of a message's text


def editors(working: WorkingSession) -> None:
    """Everything of the session that is sent; only the part that is open is drawn."""
    if not state.held(EDIT):
        return
    prompts, messages, tools = st.tabs(
        ["Prompts", "Messages", "Tools"], key="edited part", on_change="rerun"
    )
    if prompts.open:
        with prompts:
            _prompts(working)
    if messages.open:
        with messages:
            _messages(working)
    if tools.open:
        with tools:
            _tools(working)


# one text, one button


def _text(
    name: str, label: str, step: Edit, value: str, *, height: int = 130, help: str | None = None
) -> None:
    key = _key(name, step)
    drawn = history.editor(name, key, value, step)
    st.text_area(
        label,
        drawn.value,
        key=drawn.key,
        height=height,
        help=help,
        on_change=drawn.on_change,
    )
    if drawn.fault:
        st.error("This cannot be read. Shown is the text before this edit.")
        say.text(drawn.fault)
        st.button(
            "Show the one in use",
            key=f"forget {key}",
            icon=":material/undo:",
            on_click=history.forget_unread,
            args=(name, key),
        )


def _key(name: str, step: Edit) -> str:
    places: dict[Action, str] = {
        "part": f" {step.index}.{step.part}",
        "role": f" {step.index}",
        "tool": f" {step.index}",
    }
    return state.edit_key(name, step.action + places.get(step.action, ""))


def _button(
    name: str, label: str, icon: str, step: Edit, *, enabled: bool = True, then: int | None = None
) -> None:
    """One step; `then` is the message or the tool that is edited next."""
    say.button(
        label,
        key=f"{label} {_key(name, step)} {step.index}.{step.part}",
        icon=f":material/{icon}:",
        disabled=not enabled or history.is_unread(name, _noun(step)),
        on_click=_take_step,
        args=(name, step, then),
    )


def _noun(step: Edit) -> str:
    return "tool" if "tool" in step.action else "part"


def _take_step(name: str, step: Edit, then: int | None) -> None:
    history.edit(name, step)
    if then is not None:
        noun = "tool" if "tool" in step.action else "message"
        state.hold(history.chosen_key(name, noun), then)


# prompts


def _prompts(working: WorkingSession) -> None:
    name, session = working.name, working.session
    left, right = st.columns(2)
    with left:
        prompt = editing.system_prompt(session)
        imported = prompt and not session.task.user_agent_prompt
        _text(
            name,
            "System prompt",
            Edit("system prompt"),
            prompt,
            height=260,
            help="The session's system message. With {AVAILABLE_TOOLS} or another placeholder in "
            "it, it becomes the agent prompt, in which they are filled in."
            if imported
            else "The agent prompt. {AVAILABLE_TOOLS}, {TOOL_USE_INSTRUCTION}, "
            "{SYSTEM_INSTRUCTION} and {USER_PROMPT} are filled in.",
        )
    with right:
        _text(
            name,
            "Custom instructions",
            Edit("custom instructions"),
            session.task.user_prompt,
            height=100,
            help="The user prompt, behind everything else of the system prompt.",
        )
        _text(
            name,
            "Environment block",
            Edit("environment block"),
            session.dynamic.dynamic_environment_details_block,
            height=100,
            help="Written behind the last message of the user.",
        )
        step = Edit("general rules")
        key = _key(name, step)
        drawn = history.editor(name, key, session.task.system_rules, step)
        st.toggle(
            "General rules after the agent prompt",
            drawn.value,
            key=drawn.key,
            on_change=drawn.on_change,
            help="485 characters of ours. Nothing is added to a session that was brought.",
        )


# messages


def _messages(working: WorkingSession) -> None:
    name, session = working.name, working.session
    if not session.messages:
        st.text("This session has no messages.")
        _button(name, "Add a message", "add", Edit("add message", index=-1), then=0)
        return
    labels = [_summary(message) for message in session.messages]
    # a system prompt that came as a message is edited with the prompts
    first = 1 if editing.begins_with_system(session) else 0
    index = _choice(name, "message", labels, first)
    message = session.messages[index]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = Edit("role", index=index)
        key = _key(name, step)
        drawn = history.editor(name, key, message.role, step)
        st.selectbox(
            "Role",
            ROLES,
            ROLES.index(drawn.value),
            key=drawn.key,
            width=140,
            on_change=drawn.on_change,
        )
        _message_buttons(name, session, index)
    for number in range(len(message.parts)):
        _part(name, message, index, number)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.selectbox("New part", list(NEW_PARTS), key="new part", width=160)
        _button(name, "Add part", "add", Edit("add part", str(kind), index))


def _choice(name: str, noun: str, labels: list[str], first: int = 0) -> int:
    """Return the index of the message or the tool that is edited; `first` before any is chosen."""
    chosen = history.chosen_key(name, noun)
    if state.held(chosen) is None:
        state.hold(chosen, first)  # and stays so, whatever becomes of the messages
    index = min(int(state.held(chosen)), len(labels) - 1)
    key = widget_changes.place(f"choice of {chosen}", index)
    state.choose(key, index)  # in every run: its label changes with each edit of its text
    st.selectbox(
        noun.capitalize(),
        range(len(labels)),
        key=key,
        format_func=lambda index: say.shown(f"{index}: {labels[index]}"),
        on_change=widget_changes.of(key, _choose, chosen, shown=index),
    )
    return index


def _choose(picked: int | str, chosen: str) -> None:
    # a browser names what is chosen by its label, which comes as a text where the edit that was
    # made last has changed it: its number is what it begins with
    number = str(picked).partition(":")[0]
    if number.isdecimal():
        state.hold(chosen, int(number))


def _summary(message: Message) -> str:
    text = " ".join(message.text[: 2 * _MOST_IN_LABEL].split())
    shown = text if len(text) <= _MOST_IN_LABEL else f"{text[:_MOST_IN_LABEL]}…"
    others = [part.type.replace("_", " ") for part in message.parts if part.type != "text"]
    return ", ".join([message.role, *([shown] if shown else []), *others])


def _message_buttons(name: str, session: Session, index: int) -> None:
    last = len(session.messages) - 1
    move = Edit("move message", index=index)
    _button(
        name,
        "Earlier",
        "arrow_upward",
        replace(move, to=index - 1),
        enabled=index > 0,
        then=index - 1,
    )
    _button(
        name,
        "Later",
        "arrow_downward",
        replace(move, to=index + 1),
        enabled=index < last,
        then=index + 1,
    )
    _button(name, "Add before", "add", Edit("add message", index=index - 1), then=index)
    _button(name, "Add after", "add", Edit("add message", index=index), then=index + 1)
    _button(name, "Remove", "delete", Edit("remove message", index=index), then=max(index - 1, 0))
    st.button(
        "Split off from here",
        icon=":material/call_split:",
        key=f"split off {name}",
        disabled=index == 0 or history.is_unread(name, "part"),
        help="The messages from this one on become a session of their own; this one keeps them.",
        on_click=_split_off,
        args=(name, index),
    )


def _split_off(name: str, index: int) -> None:
    rest = editing.split_off(state.edited_session(name), index)
    state.add_session(f"{name} from message {index}", rest)


def _part(name: str, message: Message, index: int, number: int) -> None:
    part = message.parts[number]
    value = editing.part_text(part)
    as_json = "" if part.type in ("text", "reasoning") else ", as JSON"
    lines = min(12, 3 + value.count("\n") + len(value) // 160)
    label = f"Part {number}: {part.type.replace('_', ' ')}{as_json}"
    _text(name, label, Edit("part", index=index, part=number), value, height=24 * lines)
    last = len(message.parts) - 1
    moved, place = Edit("move part", index=index, part=number), f"part {number}"
    up, down = replace(moved, to=number - 1), replace(moved, to=number + 1)
    with st.container(horizontal=True, horizontal_alignment="right"):
        _button(name, f"Raise {place}", "arrow_upward", up, enabled=number > 0)
        _button(name, f"Lower {place}", "arrow_downward", down, enabled=number < last)
        _button(name, f"Remove {place}", "delete", Edit("remove part", index=index, part=number))


# tools


def _tools(working: WorkingSession) -> None:
    name, tools = working.name, working.session.tools
    if tools:
        index = _choice(name, "tool", [tool.name for tool in tools])
        shown = widgets.tool_text(tools[index])
        _text(name, "Tool, as JSON", Edit("tool", index=index), shown, height=260)
    with st.container(horizontal=True):
        _button(name, "Add a tool", "add", Edit("add tool"), then=len(tools))
        if tools:
            step = Edit("remove tool", index=index)
            _button(name, "Remove this tool", "delete", step, then=max(index - 1, 0))
