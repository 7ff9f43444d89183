"""Recognise Python source that is no tool: a dialect's class, and use cases of Llama's prompts.

Its code is not run: values that it computes are left out, and named.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from textwrap import dedent
from typing import Any

from playground.base import python_source
from playground.base.errors import InputFault
from playground.base.python_literals import ComputedError, LiteralCall, Names, names_in, value_of
from playground.base.wording import counted
from playground.dialects import Dialect
from playground.dialects.by_hand.offering import name_after
from playground.lab import guides
from playground.nouns.messages import Message
from playground.questions.recognised_documents import Recognised
from playground.sessions.source import Source


def recognise_classes(text: str, place: str) -> Recognised | None:
    """Return what a Python text declares, or None if it is neither of these."""
    if "Dialect" not in text and "UseCase(" not in text:
        return None
    try:
        body = python_source.module(dedent(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in body:
        if isinstance(node, ast.ClassDef) and any(map(_is_dialect, node.bases)):
            return _dialect_class(node, place)
    return _use_cases(ast.Module(body, []), names_in(body))


def _dialect_class(node: ast.ClassDef, place: str) -> Recognised:
    """Say what a dialect's class has, what it lacks, and what makes it a dialect of every view."""
    methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
    public = [name for name in methods if not name.startswith("_")]
    title = f"a dialect written as a class, {node.name}: {', '.join(public) or 'no method'}"
    module = PurePosixPath(place).stem if place.endswith(".py") else "MODULE"
    name = name_after(node.name)
    unread = [
        f"its code is not run here: pg.compare(session, [{node.name}()]) takes it",
        f"for every view: DIALECT = {node.name}() and, in a package's pyproject.toml, "
        f'[project.entry-points."playground.dialects"] {name} = "{module}:DIALECT" '
        "(docs/own-dialect.md)",
    ]
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    lacking = sorted(Dialect.__abstractmethods__ - set(methods)) if bases == ["Dialect"] else []
    if lacking:
        unread.insert(0, f"{node.name} lacks {', '.join(lacking)}")
    return Recognised("dialect class", title, unread=tuple(unread))


def _is_dialect(base: ast.expr) -> bool:
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return str(name).endswith("Dialect")


def _use_cases(tree: ast.Module, names: Names) -> Recognised | None:
    """Recognise the dialogs of use cases as sessions, one for each."""
    from playground.questions.recognised_documents import recognise_sessions

    titles, rows, unread = [], [], []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UseCase"):
            continue
        given = {key.arg: key.value for key in node.keywords}
        title = _text(given.get("title"), names)
        titles.append(title)
        dialogs = given.get("dialogs")
        for dialog in dialogs.elts if isinstance(dialogs, ast.List) else []:
            try:
                if messages := list(_messages(value_of(dialog, names))):
                    rows.append(json.dumps({"messages": messages}))
                else:
                    unread.append(f"use case {title!r}: a base model's text, which has no messages")
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
        known: Any = getattr(guides, dialog.name, None) if "_dialog" in dialog.name else None
        if known is None:
            raise TypeError(f"{dialog.name}() is not known here")
        written: list[Message] = known(*dialog.args, **dialog.kwargs)
        yield from ({"role": message.role, "content": message.text} for message in written)
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
