"""Recognise anything that somebody pastes or drops, by its content.

There always is an answer, and it names only what a reader has read the text as. No code in it is
run, nothing is asked of the network, and what could not be read is named with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from playground.base.errors import InputFault
from playground.base.findings import CODES, finding
from playground.base.registry import load, plugins
from playground.base.user_files import as_utf8, decode
from playground.base.wording import counted
from playground.dialects.misspelled_markers import unread
from playground.nouns.prompt_data import TaskConfig
from playground.questions.detection import Detection, detect
from playground.questions.pasted_texts import (
    escaped_in_json,
    is_template,
    looked_at,
    may_be_template,
    said_in_json,
)
from playground.questions.recognised_documents import (
    PASTED,
    Recognised,
    Wrapping,
    document,
    held,
    in_words,
    jinja,
)
from playground.recordings.recutting import as_streamed
from playground.sessions.loading import LoadedSession
from playground.sessions.pasted import Unwrapped, in_a_fence, unwrapped
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.sessions.tool_files import read_tool_file

_BARE: Final = TaskConfig(system_rules=False)
_PICTURES: Final = (
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"BM", "a picture (BMP)"),
    (b"%PDF", "a PDF document"),
)
_JINJA: Final = (".jinja", ".jinja2", ".j2")
_PLAIN_FENCE: Final = re.compile(r"(?:json|xml|html|te?xt|md|markdown)?")  # the fence's language

_WRAPPED: Final = {
    "a code fence": "the code fence around it is taken for added by whoever pasted it, and is left "
    "out; if you name a dialect, the fence is read too, and a call inside may be an example",
    "JSON's escapes": "it is written as inside a JSON string, and is read with its escapes "
    '(\\n, \\") undone; if you name a dialect, it is read as it stands',
}


def recognise(given: str | bytes, name: str = "") -> Recognised:
    """Recognise a text or a file; `name` is the file's, "" for pasted text. Never raises."""
    data = given.encode("utf-8", "replace") if isinstance(given, str) else as_utf8(given)
    known = _of_bytes(data, name)
    return replace(known, name=known.name or name or PASTED, data=known.data or data)


def _of_bytes(data: bytes, name: str) -> Recognised:
    if not data.strip():
        return Recognised("nothing", "nothing: there is no text in it")
    for start, what in _PICTURES:
        if data.startswith(start) and b"\0" in data[:4096]:
            expected = "bring the text that it shows"
            return Recognised("nothing", f"{what}: no text can be read from it; {expected}")
    try:
        if data.startswith(b"PK\x03\x04"):
            return held(Source(name or "pasted.zip", data))
        text = decode(data, name or "pasted")
        return _of_text(text, name)
    except InputFault as fault:
        return Recognised("nothing", "nothing that can be read", unread=(str(fault),))


def recognised_session(data: bytes, name: str) -> Recognised | None:
    """Return the session that a file holds: a conversation or a recorded answer.

    Return None for any other text, and for a single message, which is read as a reply.
    """
    try:
        found = document(Unwrapped(decode(as_utf8(data), name), ""), name)
    except InputFault:
        return None
    if found is None or found.kind != "session":
        return None
    return found if found.messages > 1 or found.recordings or found.sessions > 1 else None


def _of_text(text: str, name: str) -> Recognised:
    """Recognise a text: as a document, as a template, as a reply, or as a plugin's own."""
    if PurePosixPath(name).suffix in _JINJA:
        return jinja(text)
    documents: list[Recognised] = []
    for given in _ways_to_read(text, documents):
        found = document(given, name)
        if found is not None and found.kind != "nothing":
            return found
        documents += [found] if found else []
    said, fenced = said_in_json(text), in_a_fence(text)
    for source, wrapping in ((said, ""), (fenced[1] if fenced else "", "in a code fence")):
        if is_template(source):
            return jinja(source, wrapping)
    found = _unwrapped_reply(said, fenced) or _reply(said)
    if not found.dialect and (brought := _of_a_plugin(text, name)):
        return brought
    if not found.dialect and may_be_template(said):
        return jinja(said)
    return documents[0] if documents and not found.calls else found


def _of_a_plugin(text: str, name: str) -> Recognised | None:
    """Return what a plugin recognises in a text, or None.

    Each plugin's recogniser gets the text and the file's name; it returns None for a text that is
    not the plugin's.
    """
    for plugin in plugins().values():
        for target in plugin.recognisers:
            found: Recognised | None = load(target)(text, name)
            if found is not None:
                return found
    return None


def _unwrapped_reply(text: str, fenced: tuple[str, str] | None) -> Recognised | None:
    """Recognise a reply without a code fence or JSON's escapes, if a dialect then sees a call."""
    ways: list[tuple[Wrapping, str | None]] = [("JSON's escapes", escaped_in_json(text))]
    if fenced is not None and _PLAIN_FENCE.fullmatch(fenced[0]):
        ways.append(("a code fence", fenced[1]))
    for wrapping, inside in ways:
        reply = _reply(inside) if inside is not None else None
        if inside is not None and reply is not None and reply.dialect:
            title = f"{reply.title} (in {wrapping})"
            data = inside.encode("utf-8", "surrogatepass")
            return replace(reply, title=title, data=data, wrapped=wrapping)
    return None


def _ways_to_read(text: str, failed: list[Recognised]) -> Iterator[Unwrapped]:
    """Yield the text without its wrapping, if it has one, and then the text itself.

    A wrapping that cannot be read is appended to `failed`.
    """
    try:
        inner = unwrapped(text)
    except InputFault as fault:
        failed.append(Recognised("nothing", "a command that cannot be read", unread=(str(fault),)))
        inner = None
    if inner is not None:
        yield inner
    yield Unwrapped(text, "")


def as_session(found: Recognised) -> LoadedSession:
    """Return a reply, or tools alone, as a session; a reply is cut into chunks as if streamed."""
    if found.kind == "tools":
        read = read_tool_file(found.data, found.name)
        return LoadedSession(
            Session(title="tools", task=_BARE, tools=tuple(read.tools)), read.findings
        )
    text = said_in_json(decode(found.data, found.name))
    recording = as_streamed(text, "reply", found.dialect or "")
    told = [] if found.dialect else [unread(text)]
    if found.wrapped:
        told.append(finding("wrapped-body", "the whole reply", _WRAPPED[found.wrapped]))
    return LoadedSession(Session(title="reply", task=_BARE, recordings=(recording,)), told)


# replies


def _reply(text: str) -> Recognised:
    """Recognise a reply, with the likeliest dialect if any reads a call."""
    shown, note = looked_at(text)
    ranked = detect(shown)
    if ranked.dialect is None:
        words = counted(len(text), "character")
        title = f"a reply of {words}, in which no dialect reads a call"
        return Recognised("reply", title, unread=note)
    best = ranked[0]
    findings = in_words((best.dialect, f"{code} ({CODES[code].meaning})") for code in best.findings)
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
