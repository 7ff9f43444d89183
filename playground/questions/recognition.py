"""Recognise anything that somebody pastes or drops, by its content.

There is always an answer. It states only what was really read, and names the places that could not
be read. Code in the text is never run, and the network is not used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from playground.base import python_source
from playground.base.errors import InputFault
from playground.base.findings import CODES, finding
from playground.base.registry import load, plugins
from playground.base.user_files import as_utf8, decode
from playground.base.wording import counted
from playground.dialects import Dialect
from playground.dialects.by_hand.offering import name_from_class
from playground.dialects.misspelled_markers import no_dialect_finding
from playground.nouns.messages import Message, TextPart
from playground.nouns.prompt_data import TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.questions.detection import Detection, detect
from playground.questions.pasted_texts import (
    beginning_and_end,
    decode_escaped,
    decode_quoted,
    is_template,
    may_be_template,
)
from playground.questions.recognised_documents import (
    BROKEN_JSON,
    PASTED,
    Recognised,
    Wrapping,
    problem_lines,
    recognise_document,
    recognise_sessions,
    recognise_template,
)
from playground.recordings.recutting import synthetic_recording
from playground.sessions.loading import LoadedSession
from playground.sessions.pasted import Unwrapped, in_a_fence, unwrapped
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.sessions.tool_files import read_tool_file

_NO_RULES: Final = TaskConfig(system_rules=False)
_PICTURES: Final = (
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"BM", "a picture (BMP)"),
    (b"%PDF", "a PDF document"),
)
_JSON: Final = (".json", ".jsonl")
_SOURCE: Final = (".py", ".yaml", ".yml")
_JINJA: Final = (".jinja", ".jinja2", ".j2")
_CLASS: Final = re.compile(r"(?m)^class\s+\w+\(.*Dialect\b")
_PLAIN_FENCE: Final = re.compile(r"(?:json|xml|html|te?xt|md|markdown)?")  # the fence's language

_WRAPPED: Final = {
    "a code fence": "the code fence around it is left out: whoever pasted it probably added it; "
    "if you name a dialect, the fence is read too, and a call inside may be an example",
    "JSON's escapes": "it is escaped as inside a JSON string, and is read with its escapes "
    '(\\n, \\") undone; if you name a dialect, it is read unchanged',
}


def recognise(given: str | bytes, name: str = "", tools: Sequence[ToolMetadata] = ()) -> Recognised:
    """Recognise a text or a file; `name` is the file's name, "" for pasted text. For a reply, find
    the likeliest dialect with these tools. Never raises."""
    data = given.encode("utf-8", "replace") if isinstance(given, str) else as_utf8(given)
    recognised = _recognise_bytes(data, name, tools)
    return replace(recognised, name=recognised.name or name or PASTED, data=recognised.data or data)


def _recognise_bytes(data: bytes, name: str, tools: Sequence[ToolMetadata]) -> Recognised:
    if not data.strip():
        return Recognised("nothing", "nothing: there is no text in it")
    for start, kind in _PICTURES:
        if data.startswith(start) and b"\0" in data[:4096]:
            advice = "bring the text that it shows"
            return Recognised("nothing", f"{kind}: no text can be read from it; {advice}")
    try:
        if data.startswith(b"PK\x03\x04"):
            return recognise_sessions(Source(name or "pasted.zip", data))
        return _recognise_text(decode(data, name or "pasted"), name, tools)
    except InputFault as fault:
        return Recognised("nothing", "nothing that can be read", unread=(str(fault),))


def recognised_session(data: bytes, name: str) -> Recognised | None:
    """Return the session that a file holds: a conversation or a recorded answer.

    Return None for any other text, also for a single message, which is read as a reply.
    """
    try:
        result = recognise_document(Unwrapped(decode(as_utf8(data), name), ""), name)
    except InputFault:
        return None
    if result is None or result.kind != "session":
        return None
    return result if result.messages > 1 or result.recordings or result.sessions > 1 else None


def _recognise_text(text: str, name: str, tools: Sequence[ToolMetadata]) -> Recognised:
    """Recognise a text: as a plugin's own, as a document, as a template, or as a reply."""
    if PurePosixPath(name).suffix in _JINJA:
        return recognise_template(text)
    fenced, suffix = in_a_fence(text), PurePosixPath(name).suffix
    by_plugin = _recognise_by_plugin(text, name, fenced[1] if fenced else text)
    if by_plugin and not by_plugin.may_be_reply:
        return by_plugin
    unreadable = [by_plugin] if by_plugin else []
    for unwrapped_text in _ways_to_read(text, unreadable):
        recognised = recognise_document(unwrapped_text, name)
        if recognised is not None and recognised.kind != "nothing":
            return recognised
        unreadable += [recognised] if recognised else []
    if by_plugin and suffix in _SOURCE:
        return by_plugin
    unquoted = decode_quoted(text)
    for source, wrapping in ((unquoted, ""), (fenced[1] if fenced else "", "in a code fence")):
        if by_plugin is None and is_template(source):
            return recognise_template(source, wrapping)
    recognised = _unwrapped_reply(unquoted, fenced, tools) or _recognise_reply(unquoted, tools)
    if not (recognised.dialect or by_plugin) and may_be_template(unquoted):
        return recognise_template(unquoted)
    if not by_plugin and (recognised.calls or not unreadable):
        return recognised
    failed = unreadable[0]
    is_cut = text.lstrip()[:1] in ("{", "[") and suffix not in _JSON
    is_cut &= not name or failed.title == BROKEN_JSON
    return _or_reply(failed, recognised) if by_plugin or is_cut else failed


def _or_reply(failed: Recognised, recognised: Recognised) -> Recognised:
    """Recognise a faulty file as a reply if it may be one, such as JSON that is cut off."""
    title = f"{failed.title}, or {recognised.title}"
    unread = (*failed.unread, *recognised.unread)
    return replace(recognised, title=title, unread=unread, faulty_as=failed.title)


def _recognise_by_plugin(text: str, name: str, source: str) -> Recognised | None:
    """Return what a plugin recognises in a text; otherwise the dialect class in the Python text
    `source`; otherwise None. Each plugin's recogniser gets the text and the file's name. It returns
    None for a text that is not the plugin's, and a Recognised with `may_be_reply` for a faulty text
    of the plugin's kind."""
    for plugin in plugins().values():
        for target in plugin.recognisers:
            recognised: Recognised | None = load(target)(text, name)
            if recognised is not None:
                return recognised
    return recognise_classes(source, name)


def _unwrapped_reply(
    text: str, fenced: tuple[str, str] | None, tools: Sequence[ToolMetadata]
) -> Recognised | None:
    """Recognise a reply inside a code fence or JSON's escapes, if a dialect sees a call in it."""
    ways: list[tuple[Wrapping, str | None]] = [("JSON's escapes", decode_escaped(text))]
    if fenced is not None and _PLAIN_FENCE.fullmatch(fenced[0]):
        ways.append(("a code fence", fenced[1]))
    for wrapping, inner in ways:
        reply = _recognise_reply(inner, tools) if inner is not None else None
        if inner is not None and reply is not None and reply.dialect:
            title = f"{reply.title} (in {wrapping})"
            data = inner.encode("utf-8", "surrogatepass")
            return replace(reply, title=title, data=data, wrapped=wrapping)
    return None


def _ways_to_read(text: str, failed: list[Recognised]) -> Iterator[Unwrapped]:
    """Yield the text without its wrapping, if it has one, and then the text itself. A wrapping that
    cannot be read is appended to `failed`."""
    try:
        inner = unwrapped(text)
    except InputFault as fault:
        failed.append(Recognised("nothing", "a command that cannot be read", unread=(str(fault),)))
        inner = None
    if inner is not None:
        yield inner
    yield Unwrapped(text, "")


def as_system_prompt(recognised: Recognised) -> Session:
    """Return a session whose system prompt is the recognised text."""
    text = decode_quoted(decode(recognised.data, recognised.name))
    message = Message("system", (TextPart(text),))
    return Session(title="system prompt", task=_NO_RULES, messages=(message,))


def as_session(recognised: Recognised) -> LoadedSession:
    """Return a reply, or tools alone, as a session. The reply is cut into chunks as if it had been
    streamed."""
    if recognised.kind == "tools":
        tool_file = read_tool_file(recognised.data, recognised.name)
        return LoadedSession(
            Session(title="tools", task=_NO_RULES, tools=tuple(tool_file.tools)), tool_file.findings
        )
    text = decode_quoted(decode(recognised.data, recognised.name))
    recording = synthetic_recording(text, "reply", recognised.dialect or "")
    findings = [] if recognised.dialect else [no_dialect_finding(text)]
    if recognised.wrapped:
        findings.append(finding("wrapped-body", "the whole reply", _WRAPPED[recognised.wrapped]))
    return LoadedSession(Session(title="reply", task=_NO_RULES, recordings=(recording,)), findings)


# replies


def _recognise_reply(text: str, tools: Sequence[ToolMetadata]) -> Recognised:
    """Recognise a reply, with its likeliest dialect if a dialect reads a call."""
    excerpt, note = beginning_and_end(text)
    ranked = detect(excerpt, tools)
    if ranked.dialect is None:
        words = counted(len(text), "character")
        title = f"a reply of {words}, in which no dialect reads a call, or a system prompt"
        return Recognised("reply", title, unread=note)
    best = ranked[0]
    findings = problem_lines(
        (best.dialect, f"{code} ({CODES[code].meaning})") for code in best.findings
    )
    return Recognised(
        "reply",
        f"a reply in {best.dialect}: {_call_counts(best)}",
        unread=(*note, *findings),
        dialect=best.dialect,
        calls=best.calls + best.aborted,
    )


def _call_counts(best: Detection) -> str:
    counts = ((best.calls, "call"), (best.aborted, "aborted call"))
    return ", ".join(counted(number, word) for number, word in counts if number) or "no call"


def recognise_classes(text: str, place: str) -> Recognised | None:
    """Describe the first dialect's class in a Python text, or its fault; or return None."""
    if "Dialect" not in text:
        return None
    try:
        body = python_source.statements(text)
    except InputFault as fault:
        title, unread = "a dialect written as a class that cannot be read", (str(fault),)
        found = Recognised("nothing", title, unread=unread, may_be_reply=True)
        return found if _CLASS.search(text) else None
    for node in body:
        if isinstance(node, ast.ClassDef) and any(map(_is_dialect, node.bases)):
            return _dialect_class(node, place)
    return None


def _dialect_class(node: ast.ClassDef, place: str) -> Recognised:
    """Describe a dialect's class: its methods, missing methods, and how every view can use it."""
    methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
    public = [name for name in methods if not name.startswith("_")]
    title = f"a dialect written as a class, {node.name}: {', '.join(public) or 'no method'}"
    module = PurePosixPath(place).stem if place.endswith(".py") else "MODULE"
    name = name_from_class(node.name)
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
