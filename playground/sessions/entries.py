"""A session as a workspace keeps it, in a file of lines: a label, what was done, what came.

    {"format": "playground-workspace/1", "title": …, "messages": 12, …}
    {"edits": […], "undone": […], "findings": […]}
    {"format": "playground-session/1", …}        the session as it came, before any edit
    {"name": …, "chunks": […], …}                each recording that was made since, newest first

A workspace knows an entry by its file's name; the entry itself has none. The session as it came is
never written anew: an edit changes the first two lines, and the others are copied as they stand.
What looks like a secret is starred out before it becomes a line, in whatever pieces it came, and
its length stays.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.base.json_numbers import finite, json_fault
from playground.nouns.tools import ToolMetadata
from playground.recordings.environment import environment_secrets
from playground.recordings.recording import Recording
from playground.recordings.scrubbing import Tally, searcher, starred
from playground.recordings.value_scrubbing import scrubbed_with
from playground.sessions.editing import Edit, edited
from playground.sessions.native_format import (
    dump_recording,
    line_pieces,
    parse_session,
    read_recording,
)
from playground.sessions.session import Session

FAMILY: Final = "playground-workspace/"
FORMAT: Final = f"{FAMILY}1"
_LINES: Final = 3  # before the recordings


@dataclass(frozen=True)
class Label:
    """A list's line about an entry.

    `edits` counts those of what is sent, not of what is expected. `origin` is the file that it came
    from, or the sample; `starred` counts the secrets that were starred out, by kind.
    """

    title: str = ""
    origin: str = ""
    model: str = ""
    messages: int = 0
    tools: int = 0
    recordings: int = 0
    edits: int = 0
    starred: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A session as it came, its edits, and what was recorded since; `text` is all of it."""

    label: Label
    original: Session
    edits: tuple[Edit, ...]
    undone: tuple[Edit, ...]
    findings: tuple[Finding, ...]
    recordings: tuple[Recording, ...]
    text: str

    @property
    def session(self) -> Session:
        """Return the session with its edits and recordings. Raises InputFault for an edit without
        a place.
        """
        after = edited(self.original, self.edits)
        return replace(after, recordings=(*self.recordings, *after.recordings))


def new_entry(
    session: Session,
    *,
    origin: str = "",
    findings: Sequence[Finding] = (),
    scrub: bool = True,
) -> str:
    """Return the text of an entry for a session that has just come; with `scrub`, without its
    secrets.
    """
    cleaner = _Cleaner(scrub)
    line = _line(cleaner.session(json.loads("".join(line_pieces(session)))))
    found = cleaner.value([asdict(each) for each in findings])
    label = Label(
        title=cleaner.text(session.title),
        origin=origin,
        model=cleaner.text(session.task.model_name),
        messages=len(session.messages),
        tools=len(session.tools),
        recordings=len(session.recordings),
        starred=cleaner.counts,
    )
    return "".join([_labelled(label), _line({"findings": found}), line])


def starred_in(text: str) -> dict[str, int]:
    """Return how many secrets of which kind were starred out of an entry."""
    return read_label(text.partition("\n")[0], "entry").starred


def read_entry(text: str, where: str) -> Entry:
    """Return an entry from its file's text. Raises InputFault where it is torn, or of a newer
    version.
    """
    lines = text.split("\n")
    label = read_label(lines[0], where)
    if len(lines) <= _LINES or lines.pop():
        raise InputFault(
            "the file breaks off", where=where, line=len(lines), expected="a whole workspace file"
        )
    done = _object(lines[1], where, 2)
    session = parse_session(_json(lines[2], where, 3), lines[2], f"{where}:3")
    recordings = [
        read_recording(_json(line, where, number), f"{where}:{number}")
        for number, line in enumerate(lines[_LINES:], _LINES + 1)
    ]
    if len(recordings) + len(session.recordings) != label.recordings:
        raise InputFault(
            f"{label.recordings} recordings are announced and "
            f"{len(recordings) + len(session.recordings)} are there",
            where=where,
            expected="a whole workspace file",
        )
    return Entry(
        label,
        session,
        _read(Edit, done.get("edits", []), where),
        _read(Edit, done.get("undone", []), where),
        _read(Finding, done.get("findings", []), where),
        tuple(recordings),
        text,
    )


def read_label(line: str, where: str) -> Label:
    """Return the label from an entry's first line. Raises InputFault as `read_entry` does."""
    value = _object(line, where, 1)
    given = value.pop("format", None)
    if given != FORMAT:
        newer = isinstance(given, str) and given.startswith(FAMILY)
        raise InputFault(
            f"a workspace file of another version ({given!r})"
            if newer
            else f"no workspace file: its format is {given!r}",
            where=where,
            line=1,
            field="format",
            expected=f'"{FORMAT}"' + (", or a playground that knows it" if newer else ""),
        )
    known = {key: value[key] for key in Label.__dataclass_fields__ if key in value}
    try:
        return _adapter(Label).validate_python(known)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _fault(error, where, 1) from error


def with_edits(
    text: str, edits: Sequence[Edit], undone: Sequence[Edit], *, scrub: bool = True
) -> str:
    """Return the entry with these edits in place of its own; with `scrub`, new ones lose their
    secrets.
    """
    label, done, rest = _opened(text)
    before = [*done.get("edits", []), *done.get("undone", [])]
    cleaner = _Cleaner(scrub)
    done |= {
        key: [cleaner.edit(edit, before) for edit in steps]
        for key, steps in (("edits", edits), ("undone", undone))
    }
    count = sum(edit.action != "expected calls" for edit in edits)
    label = replace(label, edits=count, starred=_added(label.starred, cleaner))
    return "".join([_labelled(label), _line(done), rest])


def with_recording(text: str, recording: Recording, *, scrub: bool = True) -> str:
    """Return the entry with one more recording, the newest, in place of one of the same name."""
    label, done, rest = _opened(text)
    session, *others = _split(rest)
    kept = [line for line in others if json.loads(line).get("name", "") != recording.name]
    cleaner = _Cleaner(scrub)
    line = _line(cleaner.recording(dump_recording(recording)))
    label = replace(
        label,
        recordings=label.recordings - len(others) + len(kept) + 1,
        starred=_added(label.starred, cleaner),
    )
    return "".join([_labelled(label), _line(done), session, line, *kept])


def without_secrets(
    recording: Recording, tools: Sequence[ToolMetadata]
) -> tuple[Recording, list[ToolMetadata], dict[str, int]]:
    """Return a recording and its tools as they may be passed on, and how many secrets of which
    kind were starred out: as where an entry is written.
    """
    cleaner = _Cleaner(scrub=True)
    clean = read_recording(cleaner.recording(dump_recording(recording)))
    described = [tool.model_dump(mode="json") for tool in tools]
    kept = [ToolMetadata.model_validate(cleaner.value(each)) for each in described]
    return clean, kept, cleaner.counts


# lines


def _added(before: Mapping[str, int], cleaner: _Cleaner) -> dict[str, int]:
    return dict(Counter(before) + Counter(cleaner.counts))


def _opened(text: str) -> tuple[Label, dict[str, Any], str]:
    """Return the label, what was done, and all other lines as they stand."""
    first, second, rest = text.split("\n", 2)
    return read_label(first, "entry"), json.loads(second), rest


def _split(text: str) -> list[str]:
    """Lines that end in a line feed alone, whatever else a text in them holds."""
    return [f"{line}\n" for line in text.split("\n")[:-1]]


def _labelled(label: Label) -> str:
    given = {key: value for key, value in asdict(label).items() if value}
    return _line({"format": FORMAT, **given})


def _line(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except ValueError:  # a number that JSON has not, or half a surrogate pair
        text = json.dumps(finite(value), allow_nan=False)
    return text + "\n"


def _json(line: str, where: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputFault(
            json_fault(error), where=where, line=number, expected="a whole workspace file"
        ) from error


def _object(line: str, where: str, number: int) -> dict[str, Any]:
    value = _json(line, where, number)
    if not isinstance(value, dict):
        raise InputFault("a line that is no object", where=where, line=number, expected="an object")
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _read(kind: type[Any], values: Any, where: str) -> tuple[Any, ...]:
    try:
        return tuple(_adapter(list[kind]).validate_python(values))  # type: ignore[valid-type]
    except ValidationError as error:
        raise _fault(error, where, 2) from error


def _fault(error: ValidationError, where: str, line: int) -> InputFault:
    first = error.errors()[0]
    path = ".".join(map(str, first["loc"]))
    return InputFault(first["msg"], where=where, line=line, field=path)


# secrets


class _Cleaner:
    """Stars out what looks like a secret, and counts it; where nothing is written, it does not."""

    def __init__(self, scrub: bool) -> None:
        self._search = searcher(tuple(environment_secrets())) if scrub else None
        self._tally = Tally()

    @property
    def counts(self) -> dict[str, int]:
        return self._tally.counts

    def text(self, text: str) -> str:
        return starred(text, self._search, self._tally) if self._search else text

    def value(self, value: Any) -> Any:
        """Return a JSON value, keys of objects too."""
        return scrubbed_with(self._search, value, self._tally) if self._search else value

    def session(self, plain: dict[str, Any]) -> dict[str, Any]:
        recordings = plain.pop("recordings", None)
        clean: dict[str, Any] = self.value(plain)
        if recordings:
            clean["recordings"] = [self.recording(each) for each in recordings]
        return clean

    def recording(self, plain: dict[str, Any]) -> dict[str, Any]:
        """A secret may stand in several chunks of one text: each text is looked through whole."""
        chunks = plain.pop("chunks", None)
        clean: dict[str, Any] = self.value(plain)
        if chunks:
            for pieces in _texts(chunks):
                self._pieces(pieces)
            clean["chunks"] = [self._chunk(chunk) for chunk in chunks]
        return clean

    def edit(self, edit: Edit, before: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return an edit as plain values; one that stood there before has no secrets left."""
        plain = {key: value for key, value in asdict(edit).items() if value}
        return plain if plain in before else {**plain, "value": self.text(edit.value)}

    def _chunk(self, chunk: dict[str, Any]) -> dict[str, Any]:
        whole = ("tool_call", "signal")  # the rest is a text that has been looked through, a time
        return {key: self.value(item) if key in whole else item for key, item in chunk.items()}

    def _pieces(self, pieces: list[tuple[dict[str, Any], str]]) -> None:
        texts = [_text(holder[key], key) for holder, key in pieces]
        whole = "".join(texts)
        clean, place = self.text(whole), 0
        for (holder, key), text in zip(pieces, texts, strict=True) if clean != whole else ():
            piece, place = clean[place : place + len(text)], place + len(text)
            packed = key == "base64"
            holder[key] = base64.b64encode(piece.encode("latin-1")).decode() if packed else piece


def _text(value: str, key: str) -> str:
    return base64.b64decode(value).decode("latin-1") if key == "base64" else value


def _texts(chunks: Sequence[dict[str, Any]]) -> Iterator[list[tuple[dict[str, Any], str]]]:
    """Yield the pieces of each text of a reply: where they stand, in order."""
    found: dict[object, list[tuple[dict[str, Any], str]]] = {}
    for chunk in chunks:
        for key in ("text", "base64"):
            if key in chunk:
                found.setdefault("text", []).append((chunk, key))
        if "reasoning" in chunk:
            found.setdefault("reasoning", []).append((chunk, "reasoning"))
        call = chunk.get("tool_call") or {}
        function = call.get("function") or {}
        if isinstance(function.get("arguments"), str):
            found.setdefault(("call", call.get("index")), []).append((function, "arguments"))
    yield from found.values()
