"""Recognise `UseCase(…)` calls, by which Meta's Python source gives examples of Llama's prompts.

The code is never run, so values that it would compute are left out and named as unread.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from playground.base import python_source
from playground.base.errors import InputFault
from playground.base.python_literals import ComputedError, LiteralCall, Names, names_in, value_of
from playground.base.wording import counted
from playground.plugins.guides import llama_dialogs
from playground.questions.recognised_documents import Recognised, recognise_sessions
from playground.sessions.pasted import Unwrapped, in_a_fence
from playground.sessions.source import Source

# A text with such a line is meant as Python source: if it cannot be read, the fault is reported.
_PYTHON_LINE: Final = re.compile(r"(?m)^(?:from|import|def) ")
_DIALOGS: Final = {
    dialog.__name__: dialog
    for dialog in (
        llama_dialogs.llama3_1_builtin_tool_call_dialog,
        llama_dialogs.llama3_1_builtin_code_interpreter_dialog,
        llama_dialogs.llama3_1_custom_tool_call_dialog,
    )
}
"""The functions that a use case may call: Meta's own, each of which returns a fixed dialog."""


def recognise_use_cases(text: str, name: str) -> Recognised | None:
    """Recognise the dialogs of use cases as a session for each dialog; None for any other text."""
    try:
        found = unwrap_use_cases(text)
    except InputFault as fault:
        title = "use cases of Llama's prompts that cannot be read"
        return Recognised("nothing", title, unread=(str(fault),), may_be_reply=True)
    if found is None:
        return None
    name, rows = name or "use cases.py", json.loads(found.text)
    if not rows:
        return Recognised("nothing", f"{found.wrapping}, without a dialog", unread=found.unread)
    try:
        sessions = recognise_sessions(Source(name, found.text.encode("utf-8", "surrogatepass")))
    except InputFault as fault:
        return Recognised(
            "nothing", f"{found.wrapping}, which cannot be read", unread=(str(fault),)
        )
    return Recognised(
        "session",
        f"{found.wrapping}: {counted(len(rows), 'dialog')}",
        name=name,
        data=text.encode("utf-8", "surrogatepass"),
        unread=found.unread,
        sessions=sessions.sessions,
        messages=sessions.messages,
        offer="See the raw prompts",
        page="raw",
        view=(("format", "Llama 3"),),
    )


def unwrap_use_cases(text: str) -> Unwrapped | None:
    """Return the dialogs of use cases as JSON, a row for each dialog; None for any other text.

    A row has the use case's title, which names the session. The first row also has the parts for
    which a session has no field: descriptions, notes, and a base model's text. Raises InputFault
    with the line of an error in the source.
    """
    if "UseCase(" not in text:
        return None
    fenced = in_a_fence(text)
    try:
        body = python_source.statements(fenced[1] if fenced else text)
    except InputFault:
        if _PYTHON_LINE.search(text):
            raise
        return None
    return _use_cases(ast.Module(body, []), names_in(body))


_TEXTS: Final = ("description", "notes")


def _use_cases(tree: ast.Module, names: Names) -> Unwrapped | None:
    """Return the dialogs of all `UseCase(…)` calls in a tree; None if there is no such call."""
    count = 0
    rows: list[dict[str, Any]] = []
    unread: list[str] = []
    left_out: list[dict[str, str]] = []  # parts for which a session has no field
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UseCase"):
            continue
        count += 1
        given = {key.arg: key.value for key in node.keywords if key.arg}
        title, *texts = (_text(key, given, names, unread) for key in ("title", *_TEXTS))
        about = dict(zip(_TEXTS, texts, strict=True))
        left_out.append({key: text for key, text in about.items() if text.strip()})
        dialogs = given.get("dialogs")
        elements = dialogs.elts if isinstance(dialogs, ast.List) else []
        if not elements:
            needed = "dialogs=[[RawMessage(role='user', content='…')]]"
            unread.append(f"use case {title!r}: no dialogs are written out; expected {needed}")
        for element in elements:
            try:
                dialog = value_of(element, names)
                if messages := json.loads(json.dumps(list(_messages(dialog)))):
                    rows.append({**({"title": title} if title else {}), "messages": messages})
                elif dialog == []:
                    unread.append(f"use case {title!r}: an empty dialog, which has no messages")
                else:
                    left_out.append({"text": str(dialog.bound("content").get("content", ""))})
                    unread.append(f"use case {title!r}: a base model's text, which has no messages")
            except (InputFault, ValueError, TypeError, AttributeError) as error:
                unread.append(f"use case {title!r}: {error}")
    if not count:
        return None
    kinds = Counter(key for each in left_out for key in each)
    if kinds and rows:
        rows[0]["left_out"] = left_out
        parts = ", ".join(counted(number, kind.removesuffix("s")) for kind, number in kinds.items())
        reason = "not in the sessions, which have no field for such parts"
        # a receipt finds the path at the end
        unread.append(f"{parts}: {reason}; kept in the JSON of the rows at 0.left_out")
    wrapping = f"{counted(count, 'use case')} of Llama's prompts"
    return Unwrapped(json.dumps(rows), wrapping, tuple(unread), is_whole=True)


def _text(key: str, given: Mapping[str, ast.expr], names: Names, unread: list[str]) -> str:
    """Return the text of an argument, or "" and a line in `unread` if it is no text."""
    try:
        value = value_of(given[key], names) if key in given else ""
    except ComputedError as error:
        unread.append(f"{key} of a use case: {error}")
        return ""
    if isinstance(value, str):
        return value
    unread.append(f"{key} of a use case: {ast.unparse(given[key])[:60]} is no text")
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
    last_call = ""  # Meta's results name no call, so each result answers the call before it
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


def _call(call: dict[str, Any], number: int) -> dict[str, Any]:
    arguments = call.get("arguments") or {}
    function = {"name": call.get("tool_name", ""), "arguments": json.dumps(arguments)}
    call_id = str(call.get("call_id") or f"call_{number}")
    return {"id": call_id, "type": "function", "function": function}
