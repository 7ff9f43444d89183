"""Load sessions and recordings from a path, or from content in memory.

The format is recognised from the content, unless the caller names it. Every session is checked for
calls and results that do not match (`checks.py`).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from playground.base import paths
from playground.base.arguments import takes, wrong
from playground.base.errors import InputFault, UnknownNameError, nearest_names
from playground.base.findings import Finding, finding
from playground.base.wording import counted
from playground.recordings.recording import Recording
from playground.sessions.checks import check
from playground.sessions.collector import each_seldom
from playground.sessions.formats import SessionFormat, get_format, recognised, recognising
from playground.sessions.last_resort import unexpected_as_fault
from playground.sessions.repeated_keys import repeated_keys
from playground.sessions.session import Session, with_receipt
from playground.sessions.shapes.fields import WrongForm
from playground.sessions.source import MAX_BYTES, Progress, Source

if TYPE_CHECKING:
    from playground.sessions.pasted import Unwrapped
    from playground.sessions.receipts.receipt import Receipt


@dataclass(frozen=True)
class LoadedSession:
    """A session, findings about the session and its file, and the format of the file."""

    session: Session
    findings: list[Finding]
    format: str = "playground"
    places: list[str] = field(default_factory=list)  # each message's place in the file


Given = str | PathLike[str] | bytes | Mapping[str, Any] | Sequence[Any]
IN_MEMORY: Final = "in memory"
_SMALL: Final = 1 << 16  # bytes: smaller files are read with Python's garbage collector as usual
_EMPTY: Final = "nothing of it is in the session"  # used if there is no other finding
_LONGEST_NAME: Final = 4096  # characters: no file system takes a longer path
_GIVEN: Final = "a path, the text or bytes of a file, or what JSON would hold, as dicts and lists"


@takes(format="text or nothing")
def load_session(path: Given, format: str | None = None) -> Session:
    """Read a session in any supported format, which is recognised from the content unless named.

    `path` is a file or folder, a sample's name, or the content of a file as text, bytes, dicts and
    lists: a request of any provider, a list of messages, a trace (`playground.session` takes
    single messages and tools). A text is content if it begins with a brace or bracket, or has
    several lines, unless a file has that name. If a file has several sessions, `FILE` is the first,
    `FILE#2` the second (see `load_sessions`).

    Raises InputFault with file, line, field and what is expected, and UnknownNameError for an
    unknown format.
    """
    loaded = first_session(source_of(path), format)
    return with_receipt(loaded.session, _receipt(path, format), loaded.findings)


@takes(format="text or nothing", progress="function or nothing", left_out=(list, NoneType))
def load_sessions(
    path: Given,
    format: str | None = None,
    progress: Progress | None = None,
    left_out: list[InputFault] | None = None,
) -> Iterator[LoadedSession]:
    """Yield all sessions of a file or folder; files of lines are read line by line.

    `path` may be content, as for `load_session`. `progress` is called with the number of bytes
    read and the file's size. If `left_out` is a list, a session or line that cannot be read is
    added to it as a fault; reading then goes on if each line is a session, and ends otherwise.
    """
    source = source_of(path)
    source.progress, source.left_out = progress, left_out
    return _with_receipts(source, format, _receipt(path, format))


def _with_receipts(
    source: Source, format: str | None, receipt: Callable[[], Receipt]
) -> Iterator[LoadedSession]:
    with source.going_on():
        for loaded in read_sessions(source, format):
            with_receipt(loaded.session, receipt, loaded.findings)
            yield loaded


def _receipt(path: Given, format: str | None) -> Callable[[], Receipt]:
    """Return a function that computes the receipt of a file."""

    def read() -> Receipt:
        source, other = source_of(path), source_of(path)
        source.number = other.number = 0  # all sessions, even if a name chooses one
        return receipt_of_sessions(other, [*read_sessions(source, format)])

    return read


def receipt_of_sessions(source: Source, loaded: Sequence[LoadedSession]) -> Receipt:
    """Return the receipt of a file, from all its sessions and an unread source.

    Raises InputFault if the file cannot be opened.
    """
    from playground.sessions.receipts.comparison import receipt_of
    from playground.sessions.receipts.leaves import leaves_of

    form = loaded[0].format if loaded else ""
    if (inner := _unwrapped(source)) is not None and inner.is_whole:
        source = Source(source.name, inner.text.encode("utf-8", "surrogatepass"))
    sessions = [each.session for each in loaded]
    findings = [found for each in loaded for found in each.findings]
    kind: SessionFormat | type[SessionFormat] = get_format(form) if form else SessionFormat
    return receipt_of(leaves_of(source), sessions, findings, kind.left_aside, form, kind.own)


def source_of(content: Any) -> Source:
    """Return the source for a path or content. Raises InputFault for anything else."""
    match content:
        case str() if _is_content(content):
            return Source(IN_MEMORY, content.encode("utf-8", "surrogatepass"))
        case str():
            return named_source(content)
        case PathLike():
            return Source.open(content)
        case bytes() | bytearray():
            return Source(IN_MEMORY, bytes(content))
        case Mapping() | list() | tuple() | BaseModel():
            from playground.sessions.in_memory import json_bytes

            return Source(IN_MEMORY, json_bytes(content))
        case _:
            raise wrong("a session", content, _GIVEN)


def named_source(name: str) -> Source:
    """Return the source for a path or a sample's name; a file comes before a sample.

    Raises InputFault for a file that cannot be read. If no file has the name, but a sample might,
    the message lists the most similar samples.
    """
    path, samples = Path(name), paths.samples()
    if name in samples and not path.exists():
        return Source.open(samples[name])
    try:
        return Source.open(name)
    except InputFault as fault:
        if not _may_be_sample(name) or path.exists():
            raise
        nearest = nearest_names(name, [*samples])
        raise InputFault(f"unknown file or sample {name!r}; {nearest}") from fault


def _may_be_sample(name: str) -> bool:
    """Return True for a name without a folder, an ending or a prefix such as `workspace:`."""
    return 0 < len(name) < 100 and not any(mark in name for mark in "/\\.:#\0") and name != "-"


def _is_content(text: str) -> bool:
    """Return True if a text looks like a session's content, and no file has that name."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[") and "\n" not in text:
        return False
    return len(text) > _LONGEST_NAME or not os.path.lexists(text)


@takes(name="text or nothing")
def load_recording(path: Given, name: str | None = None) -> Recording:
    """Read a recording: a provider's raw stream or whole reply, or a recording in a session file.

    `path` may be content, as for `load_session`. Without `name`, the first recording is returned.
    A cassette of HTTP may have many: `[r.name for each in load_sessions(path) for r in
    each.session.recordings]` lists them.

    Raises InputFault if the file cannot be read or has no recording, and UnknownNameError if none
    has that name.
    """
    source = source_of(path)
    found = [r for loaded in read_sessions(source) for r in loaded.session.recordings]
    if not found:
        raise InputFault(
            "it holds no recording",
            where=source.name,
            expected="a stream, a reply, or a session with recordings (pg.recording takes a text)",
        )
    if name is None:
        return found[0]
    for recording in found:
        if recording.name == name:
            return recording
    raise UnknownNameError("recording", name, [recording.name for recording in found])


def sample_sessions() -> dict[str, Session]:
    """Return the sample sessions that come with the playground, by name."""
    return {name: load_session(path) for name, path in paths.samples().items()}


def session_or_sample(session_or_name: Session | str) -> Session:
    """Return a session unchanged, or the sample of this name. Raises UnknownNameError."""
    if isinstance(session_or_name, Session):
        return session_or_name
    samples = paths.samples()
    if session_or_name not in samples:
        raise UnknownNameError("sample", session_or_name, [*samples])
    return load_session(samples[session_or_name])


def first_session(source: Source, format: str | None = None) -> LoadedSession:
    """Return the session that the source's name chooses, or else the first, with a finding if there
    are more."""
    sessions = read_sessions(source, format)
    first = next(sessions)
    if not source.number and next(sessions, None) is not None:
        more = finding("more-sessions", source.name)
        first = replace(first, findings=[*first.findings, more])
    return first


def read_sessions(source: Source, format: str | None = None) -> Iterator[LoadedSession]:
    """Yield all sessions of a source, checked, or only the session that the source's name chooses.
    Without `format`, all formats that fit are tried until one finds messages; if none fits, the
    content is unwrapped from a command, source code or a code fence. Raises InputFault if nothing
    is found and the file does not count as an empty session, and if the chosen number is too high.
    """
    sessions = _read_sessions(source, format)
    if not source.number:
        yield from sessions
        return
    number = 0
    for number, loaded in enumerate(sessions, 1):
        if number == source.number:
            yield loaded
            return
    raise InputFault(
        f"it holds {counted(number, 'session')}",
        where=f"{source.name}#{source.number}",
        expected=f"a number up to {number}",
    )


def _read_sessions(source: Source, format: str | None) -> Iterator[LoadedSession]:
    chosen, source = (get_format(format), source) if format else _recognised(source)
    findings = list(source.findings)
    sessions = _read(chosen, source)
    first = _to_first_messages(sessions)
    if not first or not _has_messages(first[-1]):
        others = () if format else (each for each in recognising(source) if each is not chosen)
        started = next(_with_messages(others, source, findings), None)
        if started is not None:
            first, sessions = started
        elif not any(chosen.own or _holds_anything(each.session) for each in first):
            _refuse(chosen, source, first)
    while first:
        yield first.popleft()
    yield from sessions


def _read(chosen: SessionFormat, source: Source) -> Iterator[LoadedSession]:
    problem = f"not in the form of {chosen.title}"
    expected = f"the format {chosen.name}, or another one by name"
    try:
        with unexpected_as_fault(problem, where=source.name, expected=expected):
            read = _checked(chosen, source)
            yield from read if 0 < source.size < _SMALL else each_seldom(read)
    except WrongForm as wrong:
        words = f"{problem} ({wrong})"
        raise InputFault(words, where=source.name, field=wrong.field, expected=expected) from wrong


_Started = tuple[deque[LoadedSession], Iterator[LoadedSession]]  # the first sessions, the others


def _with_messages(
    others: Iterable[SessionFormat], source: Source, findings: list[Finding]
) -> Iterator[_Started]:
    """Read the source in other formats; yield the sessions of each that finds messages. `findings`
    are those that the source had before any format read it."""
    for other in others:
        source.findings[:] = findings
        sessions = _read(other, source)
        with suppress(InputFault):
            first = _to_first_messages(sessions)
            if first and _has_messages(first[-1]):
                yield first, sessions


def _to_first_messages(sessions: Iterator[LoadedSession]) -> deque[LoadedSession]:
    """Return the sessions up to the first with messages; all sessions if none has messages."""
    first: deque[LoadedSession] = deque()
    for loaded in sessions:
        first.append(loaded)
        if _has_messages(loaded):
            break
    return first


def _has_messages(loaded: LoadedSession) -> bool:
    """Return True if a session holds more than a system prompt and tools."""
    session = loaded.session
    has_parts = any(message.role != "system" and message.parts for message in session.messages)
    return has_parts or bool(session.recordings or session.rows)


def _refuse(chosen: SessionFormat, source: Source, read: Iterable[LoadedSession]) -> None:
    """Raise InputFault if something was lost, or if there is no session and no line was left out.
    Otherwise the file counts as an empty session."""
    if not read and not source.left_out:
        raise InputFault("it holds no session", where=source.name, expected="at least one")
    findings = (found for loaded in read for found in loaded.findings)
    lost = next((f for f in findings if f.severity != "info" and f.message != _EMPTY), None)
    if lost is not None:
        raise InputFault(
            f"nothing is kept of it as {chosen.title} ({lost.where}: {lost.message})",
            where=source.name,
            expected="another format, by its name (`--format`), or an export of the tool itself",
        )


def _recognised(source: Source) -> tuple[SessionFormat, Source]:
    """Return the format of a source, or of the content that it wraps. Raises InputFault."""
    try:
        return recognised(source), source
    except InputFault:
        if (inner := _unwrapped(source)) is None:
            raise
        found = Source(source.name, inner.text.encode("utf-8", "surrogatepass"))
        found.progress, found.left_out = source.progress, source.left_out
        code = "part-lost" if inner.is_whole else "not-written-out"
        code = "headers-left-out" if inner.wrapping == "curl" else code
        found.findings += [finding(code, inner.wrapping, left) for left in inner.unread]
        return recognised(found), found


def _unwrapped(source: Source) -> Unwrapped | None:
    from playground.sessions.pasted import MOST_SOURCE, unwrapped

    is_no_text = source.is_folder or source.is_zip or source.size > MOST_SOURCE
    return None if is_no_text else unwrapped(source.text)


def _checked(chosen: SessionFormat, source: Source) -> Generator[LoadedSession, None, None]:
    source.findings += repeated_keys(source)
    for builder in chosen.sessions(source):
        session = builder.finish()
        streams = [f for recording in session.recordings for f in recording.findings]
        found = [*source.findings, *builder.findings, *check(session, builder.places), *streams]
        source.findings.clear()
        if not found and not chosen.own and not _holds_anything(session):
            found.append(finding("part-lost", "the file", _EMPTY))
        yield LoadedSession(session, found, chosen.name, builder.places)


def _holds_anything(session: Session) -> bool:
    parts = (session.messages, session.tools, session.requests, session.recordings, session.rows)
    return any(parts)


def file_bytes(path: str | Path) -> bytes:
    """Return a file's content. Raises InputFault for a folder, a missing or too large file, and a
    name that chooses a session (`FILE#2`)."""
    source = Source.open(path)
    if source.number:
        raise InputFault(
            f"session {source.number} of a file is named, and only whole files are read here",
            where=str(path),
            expected=f"the file's name, without #{source.number}",
        )
    if source.is_folder:
        raise InputFault("this is a folder", where=str(path), expected="a file")
    if source.size > MAX_BYTES:
        limit = f"at most {MAX_BYTES // 1024**2} MB"
        problem = f"{source.size / 1024**2:.0f} MB is too large"
        raise InputFault(problem, where=str(path), expected=limit)
    return source.data
