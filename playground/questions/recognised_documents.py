"""Recognise documents by their form: sessions, tools, templates, dialects and cache policies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from playground.base.errors import InputFault
from playground.base.findings import CODES, Finding
from playground.base.wording import counted
from playground.dialects.files import parse_dialect
from playground.dialects.marks.own_policies import parse_policy
from playground.dialects.raw_prompts import ChatTemplate
from playground.questions.pasted_texts import template_title
from playground.sessions.bounded import read_yaml
from playground.sessions.documents import parse_json
from playground.sessions.formats import get_format, recognising
from playground.sessions.loading import LoadedSession, read_sessions
from playground.sessions.pasted import Unwrapped
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.sessions.tool_files import holds_tools, read_tool_file

Kind = Literal[
    "session",
    "tools",
    "reply",
    "chat template",
    "dialect",
    "dialect class",
    "policy",
    "signature",
    "agent",
    "templates",
    "nothing",
]
Wrapping = Literal["a code fence", "JSON's escapes"]
PASTED: Final = "pasted"
MOST_SESSIONS: Final = 50  # the most sessions that are read of one file
_MOST_YAML: Final = 1_000_000  # characters: a longer text is not read as YAML
_LONGEST: Final = 100  # the most characters of a finding that is quoted
_YAML: Final = re.compile(r"\s*(?:---\s+)?(?:- )?[\w\"']+:\s")
_PYTHON: Final = re.compile(r"(?m)^(?:async )?(?:def|class)\s++\w.*:")
# the beginning of a JSON object or a Python dict, which is not a reply
_JSON_MEMBER: Final = re.compile(r"""[\s\[]*+\{\s*+["']""")
BROKEN_JSON: Final = "JSON that cannot be read"
_TITLES: Final = {
    "openai-chat": "OpenAI request",
    "anthropic-messages": "Anthropic request",
    "gemini-contents": "Gemini request",
    "playground": "session file",
    "stream": "stream",
}


@dataclass(frozen=True)
class Recognised:
    """A recognised text or file: its `title` in a line, and `data` and `name` for its loader. For a
    command or a program, `data` is only the body in it. `unread` says what could not be read, and
    where. `dialect` is the likeliest dialect of a reply (see `detect`), "" if no dialect sees a
    call. `wrapped` names the wrapping of a reply that was removed for `data`. `may_be_reply` is
    True for a file with a fault that may be a reply instead. If it is then read as a reply,
    `faulty_as` is the title that it had as a file.

    A plugin names the `page` that shows its file, the label of a button for that page (`offer`),
    and the values of the page's widgets (`view`, by their keys).
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
    wrapped: Wrapping | None = None
    may_be_reply: bool = False
    faulty_as: str = ""
    page: str = ""
    offer: str = ""
    view: tuple[tuple[str, str], ...] = ()


def recognise_document(unwrapped: Unwrapped, name: str) -> Recognised | None:
    """Recognise sessions, tools, or a template, dialect or policy; return None for prose.

    JSON, a Python or a YAML file without any of these is recognised as "nothing".
    """
    text, data = unwrapped.text, unwrapped.text.encode("utf-8", "surrogatepass")
    place = PASTED if unwrapped.wrapping else name or PASTED
    if place.endswith(".py") or (place == PASTED and _PYTHON.search(text)):
        return _python_tools(data, place)
    begin = text.lstrip()[:2]
    if begin[:1] in ("{", "[") and begin not in ("{%", "{#"):  # `{%` and `{#` begin Jinja, not JSON
        result = _json(text, place)
    else:
        result = _stream(Source(place, data))
        if result is None and _looks_like_yaml(text, place):
            result = _yaml(data, place)
    if result is None:
        return None
    title = f"{result.title} (in {unwrapped.wrapping})" if unwrapped.wrapping else result.title
    unread = (*unwrapped.unread, *result.unread)
    return replace(result, title=title, unread=unread, data=result.data or data)


def _json(text: str, place: str) -> Recognised | None:
    """Recognise the document in a JSON text. Return None for a reply that begins with a bracket,
    such as `[1] According to …` or DSPy's `[[ ## answer ## ]]`."""
    try:
        value = parse_json(text, place)
    except InputFault as fault:
        lines = _stream(Source(place, text.encode("utf-8", "surrogatepass")))
        if lines is None and not _JSON_MEMBER.match(text):
            return None
        return lines or Recognised("nothing", BROKEN_JSON, unread=(str(fault),))
    if isinstance(value, dict):
        if "chat_template" in value:
            return _template_file(text, place)
        if {"name", "syntax"} <= value.keys() and "messages" not in value:
            own = parse_dialect(text, _json_name(place))
            return Recognised("dialect", f"dialect {own.name}: a call is {own.syntax.call!r:.60}")
        if {"name", "marks"} <= value.keys() and "messages" not in value:
            return _policy(text, place)
        if "role" in value and "content" in value and "type" not in value:
            text = f"[{text}]"  # a single message, not a list
    data = text.encode("utf-8", "surrogatepass")
    if holds_tools(place, data):
        return _tools(data, place)
    try:
        return replace(recognise_sessions(Source(place, data)), data=data)
    except InputFault as fault:
        kind = "object" if isinstance(value, dict) else "list"
        unread = (str(fault),)
        return Recognised("nothing", f"a JSON {kind} in no form that is known here", unread=unread)


def _stream(source: Source) -> Recognised | None:
    try:
        return recognise_sessions(source)
    except InputFault:
        return None


def recognise_sessions(source: Source) -> Recognised:
    """Count up to MOST_SESSIONS sessions of a source. Raises InputFault if it holds none."""
    loaded = list(islice(read_sessions(source), MOST_SESSIONS))
    if not loaded:
        raise InputFault("it holds no session", where=source.name, expected="at least one")
    first = loaded[0]
    parts = ", ".join(_session_parts(first.session)) or "nothing in it"
    title = f"{_title(first, source)}: {parts}"
    title += f"; the first of {len(loaded)} sessions" if len(loaded) > 1 else ""
    return Recognised(
        "session",
        title,
        unread=tuple(_sentences([f for f in first.findings if f.severity != "info"])),
        sessions=len(loaded),
        tools=len(first.session.tools),
        messages=len(first.session.messages),
        recordings=len(first.session.recordings),
    )


def _sentences(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each kind of finding: a single short finding itself, otherwise the kind's
    meaning, with the first place."""
    for code in dict.fromkeys(each.code for each in findings):
        first, *more = (each for each in findings if each.code == code)
        if more or len(first.message) > _LONGEST:
            others = f" and {counted(len(more), 'more place')}" if more else ""
            yield f"{CODES[code].meaning} ({first.where}{others})"
        else:
            yield f"{first.where}: {first.message}"


def _title(loaded: LoadedSession, source: Source) -> str:
    from playground.tokens.models import api_of  # imported here: only sessions need it

    body = source.document
    if loaded.format == "openai-chat" and isinstance(body, list):
        return "messages"
    if loaded.format in _TITLES and isinstance(body, dict) and api_of(body) == "bedrock-converse":
        return "Bedrock Converse request"
    return _TITLES.get(loaded.format) or get_format(loaded.format).title


def _session_parts(session: Session) -> Iterator[str]:
    """Yield the parts of a session in words; the system prompt does not count as a message."""
    system = sum(message.role == "system" for message in session.messages)
    if system or session.task.user_agent_prompt:
        yield "system prompt"
    counts = {
        "message": len(session.messages) - system,
        "tool": len(session.tools),
        "recording": len(session.recordings),
    }
    for noun, count in counts.items():
        if count:
            yield counted(count, noun)


def _tools(data: bytes, place: str) -> Recognised:
    tool_file = read_tool_file(data, place)
    names = ", ".join(tool.name for tool in tool_file.tools[:4])
    more = f" and {len(tool_file.tools) - 4} more" if len(tool_file.tools) > 4 else ""
    count = counted(len(tool_file.tools), "tool")
    unread = problem_lines((f.where, f.message) for f in tool_file.findings)
    title = f"{count}: {names}{more}"
    return Recognised("tools", title, data=data, unread=unread, tools=len(tool_file.tools))


def _python_tools(data: bytes, place: str) -> Recognised | None:
    file_name = place if place.endswith(".py") else f"{place}.py"
    try:
        return replace(_tools(data, file_name), name=file_name)
    except InputFault as fault:
        if place != file_name:
            return None  # a reply may also quote a function
        return Recognised("nothing", "Python without tools", unread=(str(fault),))


def _looks_like_yaml(text: str, place: str) -> bool:
    is_yaml_file = place.endswith((".yaml", ".yml"))
    return len(text) <= _MOST_YAML and (is_yaml_file or bool(_YAML.match(text)))


def _yaml(data: bytes, place: str) -> Recognised | None:
    file_name = place if place.endswith((".yaml", ".yml")) else f"{place}.yaml"
    try:
        value = read_yaml(data.decode("utf-8", "replace"), file_name)
        if isinstance(value, dict | list) and holds_tools(file_name, data):
            return replace(_tools(data, file_name), name=file_name)
    except InputFault as fault:
        if place == file_name:
            return Recognised("nothing", "YAML that cannot be read", unread=(str(fault),))
    try:
        return replace(recognise_sessions(Source(file_name, data)), name=file_name)
    except InputFault as fault:
        is_document = place == file_name or any(recognising(Source(file_name, data)))
        title, unread = "YAML in no form that is known here", (str(fault),)
        return Recognised("nothing", title, unread=unread) if is_document else None


def _template_file(text: str, place: str) -> Recognised:
    name = _json_name(place)
    size = f"{len(ChatTemplate.loads(text, name).source):,} characters"
    return Recognised("chat template", f"chat template (tokenizer_config.json), {size}", name=name)


def _json_name(place: str) -> str:
    return place if place.endswith(".json") else f"{place}.json"


def recognise_template(text: str, wrapping: str = "") -> Recognised:
    """Return a recognised template whose source is `text`."""
    title = template_title(text) + (f" ({wrapping})" if wrapping else "")
    return Recognised("chat template", title, data=text.encode("utf-8", "surrogatepass"))


def _policy(text: str, place: str) -> Recognised:
    policy = parse_policy(text, place)
    marks = counted(len(policy.marks), "mark")
    return Recognised("policy", f"cache policy {policy.name}: {marks}")


def problem_lines(problems: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{place}: {message}" if place else message for place, message in problems)
