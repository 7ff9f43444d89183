"""What is this? Anything that somebody pastes or drops, recognised by its content.

The one rule: it always answers, and a text is never said to be what it was not read as. Nothing of
it is run, no network is asked, and what could not be read is named with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Final, Literal

from playground.caching.own_policies import parse_policy
from playground.counts import counted
from playground.dialects.files import parse_dialect
from playground.dialects.near import unread
from playground.errors import InputFault
from playground.findings import CODES
from playground.prompt_data import TaskConfig
from playground.questions.detection import Detection, detect
from playground.questions.pasted_texts import (
    is_template,
    looked_at,
    may_be_template,
    said_in_json,
    template_title,
)
from playground.raw_prompts import ChatTemplate
from playground.recordings.recutting import as_streamed
from playground.sessions.bounded import read_yaml
from playground.sessions.documents import parse_json
from playground.sessions.formats import get_format
from playground.sessions.loading import LoadedSession, read_sessions
from playground.sessions.pasted import Unwrapped, in_a_fence, unwrapped
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.sessions.tool_files import holds_tools, read_tool_file
from playground.user_files import as_utf8, decode

Kind = Literal["session", "tools", "reply", "chat template", "dialect", "policy", "nothing"]
_BARE: Final = TaskConfig(system_rules=False)
_PASTED: Final = "pasted"
MOST_SESSIONS: Final = 50  # of one file
_MOST_YAML: Final = 1_000_000
_PLAIN_FENCE: Final = re.compile(r"(?:json|xml|html|te?xt|md|markdown)?")  # what it is marked as
_PICTURES: Final = (
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"BM", "a picture (BMP)"),
    (b"%PDF", "a PDF document"),
)
_JINJA: Final = (".jinja", ".jinja2", ".j2")
_YAML: Final = re.compile(r"\s*(?:---\s+)?(?:- )?[\w\"']+:\s")
_PYTHON: Final = re.compile(r"(?m)^(?:async )?(?:def|class)\s++\w.*:")
_SHORT: Final = {
    "openai-chat": "OpenAI request",
    "anthropic-messages": "Anthropic request",
    "gemini-contents": "Gemini request",
    "playground": "session file",
    "stream": "stream",
}


@dataclass(frozen=True)
class Recognised:
    """What something is: `title` in a line, `data` as its loader reads it, under the name `name`.

    `data` is the body alone where it came inside a command or source. `unread` says what could not
    be read and where; `dialect` who reads a reply best (the one of `detect`), "" where nobody sees
    anything of a call in it.
    """

    kind: Kind
    title: str
    name: str = ""
    data: bytes = b""
    unread: tuple[str, ...] = ()
    dialect: str = ""
    sessions: int = 0
    tools: int = 0
    messages: int = 0
    recordings: int = 0
    calls: int = 0


def recognise(given: str | bytes, name: str = "") -> Recognised:
    """What a text or a file is; `name` is the file's, "" for what was pasted. Never raises."""
    data = given.encode("utf-8", "replace") if isinstance(given, str) else as_utf8(given)
    known = _of_bytes(data, name)
    return replace(known, name=known.name or name or _PASTED, data=known.data or data)


def _of_bytes(data: bytes, name: str) -> Recognised:
    if not data.strip():
        return Recognised("nothing", "nothing: there is no text in it")
    for start, what in _PICTURES:
        if data.startswith(start) and b"\0" in data[:4096]:
            expected = "bring the text that it shows"
            return Recognised("nothing", f"{what}: no text can be read from it; {expected}")
    try:
        if data.startswith(b"PK\x03\x04"):
            return _session(Source(name or "pasted.zip", data))
        text = decode(data, name or "pasted")
        return _of_text(text, name)
    except InputFault as fault:
        return Recognised("nothing", "nothing that can be read", unread=(str(fault),))


def _of_text(text: str, name: str) -> Recognised:
    """First what leaves no doubt by its form; then what only its reader can tell apart."""
    if PurePosixPath(name).suffix in _JINJA:
        return _jinja(text)
    documents: list[Recognised] = []
    for given in _ways_to_read(text, documents):
        found = _document(given, name)
        if found is not None and found.kind != "nothing":
            return found
        documents += [found] if found else []
    said, fenced = said_in_json(text), in_a_fence(text)
    for source, wrapping in ((said, ""), (fenced[1] if fenced else "", "in a code fence")):
        if is_template(source):
            return _jinja(source, wrapping)
    reply = _reply(said)
    if fenced is not None and _PLAIN_FENCE.fullmatch(fenced[0]):
        inside = _reply(fenced[1])
        if inside.dialect:  # the fence is of whoever pasted it, and not of the model
            title = f"{inside.title} (in a code fence)"
            return replace(inside, title=title, data=fenced[1].encode("utf-8", "surrogatepass"))
    if not reply.dialect and may_be_template(said):
        return _jinja(said)
    return documents[0] if documents and not reply.calls else reply


def _ways_to_read(text: str, failed: list[Recognised]) -> Iterator[Unwrapped]:
    """What the text is wrapped around, and then the text itself."""
    try:
        inner = unwrapped(text)
    except InputFault as fault:
        failed.append(Recognised("nothing", "a command that cannot be read", unread=(str(fault),)))
        inner = None
    if inner is not None:
        yield inner
    yield Unwrapped(text, "")


def as_session(found: Recognised) -> LoadedSession:
    """A reply, or tools alone, as a session of their own; the reply is cut as if streamed."""
    if found.kind == "tools":
        read = read_tool_file(found.data, found.name)
        return LoadedSession(
            Session(title="tools", task=_BARE, tools=tuple(read.tools)), read.findings
        )
    text = said_in_json(decode(found.data, found.name))
    recording = as_streamed(text, "reply", found.dialect or "")
    told = [] if found.dialect else [unread(text)]
    return LoadedSession(Session(title="reply", task=_BARE, recordings=(recording,)), told)


# documents


def _document(given: Unwrapped, name: str) -> Recognised | None:
    """A session, tools, a template's or a policy's file; None for what is no document at all."""
    text, data = given.text, given.text.encode("utf-8", "surrogatepass")
    where = _PASTED if given.wrapping else name or _PASTED
    if where.endswith(".py") or (where == _PASTED and _PYTHON.search(text)):
        return _python_tools(data, where)
    begin = text.lstrip()[:2]
    if begin[:1] in ("{", "[") and begin not in ("{%", "{#"):  # Jinja's, and no JSON
        found: Recognised | None = _json(text, where)
    else:
        found = _stream(Source(where, data))
        if found is None and _looks_like_yaml(text, where):
            found = _yaml(data, where)
    if found is None:
        return None
    title = f"{found.title} (in {given.wrapping})" if given.wrapping else found.title
    unread = (*given.unread, *found.unread)
    return replace(found, title=title, unread=unread, data=found.data or data)


def _json(text: str, where: str) -> Recognised:
    try:
        value = parse_json(text, where)
    except InputFault as fault:
        lines = _stream(Source(where, text.encode("utf-8", "surrogatepass")))
        return lines or Recognised("nothing", "JSON that cannot be read", unread=(str(fault),))
    if isinstance(value, dict):
        if "chat_template" in value:
            return _template_file(text, where)
        if {"name", "syntax"} <= value.keys() and "messages" not in value:
            own = parse_dialect(text, _json_name(where))
            return Recognised("dialect", f"dialect {own.name}: a call is {own.syntax.call!r:.60}")
        if {"name", "marks"} <= value.keys() and "messages" not in value:
            return _policy(text, where)
        if "role" in value and "content" in value and "type" not in value:
            text = f"[{text}]"  # a message alone
    data = text.encode("utf-8", "surrogatepass")
    if holds_tools(where, data):
        return _tools(data, where)
    try:
        return replace(_session(Source(where, data)), data=data)
    except InputFault as fault:
        kind = "object" if isinstance(value, dict) else "list"
        unread = (str(fault),)
        return Recognised("nothing", f"a JSON {kind} in no form that is known here", unread=unread)


def _stream(source: Source) -> Recognised | None:
    try:
        return _session(source)
    except InputFault:
        return None


def _session(source: Source) -> Recognised:
    """The sessions of a source, counted. Raises InputFault where it holds none."""
    loaded = list(islice(read_sessions(source), MOST_SESSIONS))
    if not loaded:
        raise InputFault("it holds no session", where=source.name, expected="at least one")
    first = loaded[0]
    title = f"{_title(first, source)}: {', '.join(_parts(first.session)) or 'nothing in it'}"
    title += f"; the first of {len(loaded)} sessions" if len(loaded) > 1 else ""
    return Recognised(
        "session",
        title,
        unread=_said((f.where, f.message) for f in first.findings if f.severity != "info"),
        sessions=len(loaded),
        tools=len(first.session.tools),
        messages=len(first.session.messages),
        recordings=len(first.session.recordings),
    )


def _title(loaded: LoadedSession, source: Source) -> str:
    if loaded.format == "openai-chat" and isinstance(source.document, list):
        return "messages"
    return _SHORT.get(loaded.format) or get_format(loaded.format).title


def _parts(session: Session) -> Iterator[str]:
    """What a session holds, in words: the system prompt apart from the messages."""
    system = sum(message.role == "system" for message in session.messages)
    if system or session.task.user_agent_prompt:
        yield "system prompt"
    counts = {
        "message": len(session.messages) - system,
        "tool": len(session.tools),
        "recording": len(session.recordings),
    }
    for what, count in counts.items():
        if count:
            yield counted(count, what)


def _tools(data: bytes, where: str) -> Recognised:
    read = read_tool_file(data, where)
    names = ", ".join(tool.name for tool in read.tools[:4])
    more = f" and {len(read.tools) - 4} more" if len(read.tools) > 4 else ""
    count = counted(len(read.tools), "tool")
    unread = _said((f.where, f.message) for f in read.findings)
    title = f"{count}: {names}{more}"
    return Recognised("tools", title, data=data, unread=unread, tools=len(read.tools))


def _python_tools(data: bytes, where: str) -> Recognised | None:
    named = where if where.endswith(".py") else f"{where}.py"
    try:
        return replace(_tools(data, named), name=named)
    except InputFault as fault:
        if where != named:
            return None  # a reply may quote a function
        return Recognised("nothing", "Python without tools", unread=(str(fault),))


def _looks_like_yaml(text: str, where: str) -> bool:
    named = where.endswith((".yaml", ".yml"))
    return len(text) <= _MOST_YAML and (named or bool(_YAML.match(text)))


def _yaml(data: bytes, where: str) -> Recognised | None:
    named = where if where.endswith((".yaml", ".yml")) else f"{where}.yaml"
    try:
        value = read_yaml(data.decode("utf-8", "replace"), named)
        if isinstance(value, dict | list) and holds_tools(named, data):
            return replace(_tools(data, named), name=named)
    except InputFault as fault:
        if where == named:
            return Recognised("nothing", "YAML that cannot be read", unread=(str(fault),))
    found = _stream(Source(named, data))
    return replace(found, name=named) if found else None


def _template_file(text: str, where: str) -> Recognised:
    template = ChatTemplate.loads(text, _json_name(where))
    size = f"{len(template.source):,} characters"
    return Recognised("chat template", f"chat template (tokenizer_config.json), {size}")


def _json_name(where: str) -> str:
    return where if where.endswith(".json") else f"{where}.json"


def _jinja(text: str, wrapping: str = "") -> Recognised:
    """A template whose source is `text`."""
    title = template_title(text) + (f" ({wrapping})" if wrapping else "")
    return Recognised("chat template", title, data=text.encode("utf-8", "surrogatepass"))


def _policy(text: str, where: str) -> Recognised:
    own = parse_policy(text, where)
    marks = counted(len(own.marks), "mark")
    return Recognised("policy", f"cache policy {own.name}: {marks}")


def _said(places: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{where}: {message}" for where, message in places)


# replies


def _reply(text: str) -> Recognised:
    """A reply, and who reads it: the likeliest dialect where any reads a call."""
    shown, note = looked_at(text)
    ranked = detect(shown)
    if ranked.dialect is None:
        words = counted(len(text), "character")
        title = f"a reply of {words}, in which no dialect reads a call"
        return Recognised("reply", title, unread=note)
    best = ranked[0]
    findings = _said((best.dialect, f"{code} ({CODES[code].meaning})") for code in best.findings)
    return Recognised(
        "reply",
        f"a reply in {best.dialect}: {_calls(best)}",
        unread=(*note, *findings),
        dialect=best.dialect,
        calls=best.calls + best.aborted,
    )


def _calls(best: Detection) -> str:
    whole = counted(best.calls, "call") if best.calls else ""
    broken = f"{best.aborted} aborted" if best.aborted else ""
    return ", ".join(filter(None, [whole, broken])) or "no call"
