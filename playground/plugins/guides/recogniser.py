"""Recognise use cases of Llama's prompts, as Meta writes them in Python.

Their code is not run: values that it computes are left out, and named.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from textwrap import dedent
from typing import Any, Final

from playground.base import python_source
from playground.base.errors import InputFault
from playground.base.python_literals import ComputedError, LiteralCall, Names, names_in, value_of
from playground.base.wording import counted
from playground.plugins.guides import llama_dialogs
from playground.questions.recognised_documents import Recognised, recognise_sessions
from playground.sessions.pasted import in_a_fence
from playground.sessions.source import Source

_DIALOGS: Final = {
    dialog.__name__: dialog
    for dialog in (
        llama_dialogs.llama3_1_builtin_tool_call_dialog,
        llama_dialogs.llama3_1_builtin_code_interpreter_dialog,
        llama_dialogs.llama3_1_custom_tool_call_dialog,
    )
}
"""The functions that a use case may call: Meta's own, which give a fixed dialog each."""


def recognise_use_cases(text: str, _: str) -> Recognised | None:
    """Recognise the dialogs of use cases as sessions, one for each; None for any other text."""
    if "UseCase(" not in text:
        return None
    fenced = in_a_fence(text)
    try:
        body = python_source.module(dedent(fenced[1] if fenced else text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _use_cases(ast.Module(body, []), names_in(body))


def _use_cases(tree: ast.Module, names: Names) -> Recognised | None:
    titles, rows, unread = [], [], []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UseCase"):
            continue
        given = {key.arg: key.value for key in node.keywords}
        title = _text(given.get("title"), names)
        titles.append(title)
        dialogs = given.get("dialogs")
        elements = dialogs.elts if isinstance(dialogs, ast.List) else []
        if not elements:
            needed = "dialogs=[[RawMessage(role='user', content='…')]]"
            unread.append(f"use case {title!r}: no dialogs that stand here; expected {needed}")
        for element in elements:
            try:
                dialog = value_of(element, names)
                if messages := list(_messages(dialog)):
                    rows.append(json.dumps({"messages": messages}))
                else:
                    empty = "an empty dialog" if dialog == [] else "a base model's text"
                    unread.append(f"use case {title!r}: {empty}, which has no messages")
            except (InputFault, ValueError, TypeError, AttributeError) as error:
                unread.append(f"use case {title!r}: {error}")
    if not titles:
        return None
    name, data = "use cases.jsonl", "\n".join(rows).encode()
    title = f"{counted(len(titles), 'use case')} of Llama's prompts"
    if not rows:
        return Recognised("nothing", f"{title}, without a dialog", unread=tuple(unread))
    try:
        sessions = recognise_sessions(Source(name, data))
    except InputFault as fault:
        return Recognised("nothing", f"{title}, which cannot be read", unread=(str(fault),))
    return Recognised(
        "session",
        f"{title}: {counted(len(rows), 'dialog')}",
        name=name,
        data=data,
        unread=tuple(unread),
        sessions=sessions.sessions,
        messages=sessions.messages,
        offer="See the raw prompts",
        page="raw",
        view=(("format", "Llama 3"),),
    )


def _text(node: ast.expr | None, names: Names) -> str:
    try:
        return str(value_of(node, names)) if node is not None else ""
    except ComputedError:
        return ""


def _messages(dialog: Any) -> Iterator[dict[str, Any]]:
    """Yield a dialog's messages in OpenAI's form; none for a base model's text."""
    if isinstance(dialog, LiteralCall):
        if dialog.name == "TextCompletionContent":
            return
        known = _DIALOGS.get(dialog.name)
        if known is None:
            raise TypeError(f"{dialog.name}() is not known here; expected {', '.join(_DIALOGS)}")
        for message in known(*dialog.args, **dialog.kwargs):
            yield {"role": message.role, "content": message.text}
        return
    last_call = ""  # a result that names no call answers the call before it, as Meta writes it
    for number, message in enumerate(dialog):
        given = message.bound("role", "content")
        role = given.get("role") or "assistant"
        plain = {"role": role, "content": given.get("content", "")}
        if calls := given.get("tool_calls"):
            order = ("call_id", "tool_name", "arguments")
            plain["tool_calls"] = [_call(call.bound(*order), number) for call in calls]
            last_call = plain["tool_calls"][-1]["id"]
        if role == "tool":
            plain["tool_call_id"] = str(given.get("call_id") or last_call)
        yield plain


def _call(given: dict[str, Any], number: int) -> dict[str, Any]:
    arguments = given.get("arguments") or {}
    function = {"name": given.get("tool_name", ""), "arguments": json.dumps(arguments)}
    call_id = str(given.get("call_id") or f"call_{number}")
    return {"id": call_id, "type": "function", "function": function}
