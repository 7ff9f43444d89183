"""Read and write entries: the files, made of lines, in which a workspace stores its sessions.

    {"format": "playground-workspace/1", "title": …, "messages": 12, …}       the label
    {"edits": […], "undone": […], "findings": […]}                            the steps
    {"format": "playground-session/1", …}        the session as it was imported, before any edit
    {"name": …, "chunks": […], …}                each later recording, the newest first

An entry's name is that of its file; the text does not contain it. The imported session is written
once: an edit changes the first two lines, and the others are copied unchanged. Before an entry is
written, its secrets are starred out, even if chunks divide them; texts keep their lengths.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.base.json_numbers import finite, json_fault
from playground.nouns.tools import ToolMetadata
from playground.recordings.environment import environment_secrets
from playground.recordings.recording import Recording
from playground.recordings.scrubbing import Tally, searcher, star_secrets
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
_LINES: Final = 3  # the label, the steps and the session, before the recordings


@dataclass(frozen=True)
class Label:
    """The facts about an entry that a list shows.

    `edits` counts edits of the request, not of expected replies. `origin` is the file or sample
    that was imported; `model` is "" if the session names none. `starred` counts the secrets that
    were starred out, by kind.
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
    """An imported session with its edits and later recordings; `text` is the whole file."""

    label: Label
    original: Session
    edits: tuple[Edit, ...]
    undone: tuple[Edit, ...]
    findings: tuple[Finding, ...]
    recordings: tuple[Recording, ...]
    text: str

    @property
    def session(self) -> Session:
        """The session with its edits and recordings. Raises InputFault as `edited` does."""
        after = edited(self.original, self.edits)
        return replace(after, recordings=(*self.recordings, *after.recordings))


def new_entry(
    session: Session, *, origin: str = "", findings: Sequence[Finding] = (), scrub: bool = True
) -> str:
    """Return the text of an entry for a new session of `origin`; with `scrub`, without secrets."""
    cleaner = _Cleaner(scrub)
    line = _line(cleaner.session(json.loads("".join(line_pieces(session)))))
    clean_findings = cleaner.value([asdict(each) for each in findings])
    label = Label(
        title=cleaner.text(session.title),
        origin=origin,
        model=cleaner.text(session.named_model),
        messages=len(session.messages),
        tools=len(session.tools),
        recordings=len(session.recordings),
        starred=cleaner.counts,
    )
    return "".join([_label_line(label), _line({"findings": clean_findings}), line])


def starred_in(text: str) -> dict[str, int]:
    """Return the numbers of secrets that were starred out of an entry, by kind."""
    return read_label(text.partition("\n")[0], "entry").starred


def read_entry(text: str, where: str) -> Entry:
    """Return an entry from its file's text.

    Raises InputFault if it is cut off, of another version, or no workspace file.
    """
    lines = text.split("\n")
    label = read_label(lines[0], where)
    if len(lines) <= _LINES or lines.pop():
        raise InputFault(
            "the file breaks off", where=where, line=len(lines), expected="a whole workspace file"
        )
    steps = _object(lines[1], where, 2)
    session = _imported(lines[2], where)
    recordings = [
        read_recording(_json(line, where, number), f"{where}:{number}")
        for number, line in enumerate(lines[_LINES:], _LINES + 1)
    ]
    if len(recordings) + len(session.recordings) != label.recordings:
        raise InputFault(
            f"the first line counts {label.recordings} recordings, and the file has "
            f"{len(recordings) + len(session.recordings)}",
            where=where,
            expected="a whole workspace file",
        )
    return Entry(
        label,
        session,
        _read(Edit, steps.get("edits", []), where),
        _read(Edit, steps.get("undone", []), where),
        _read(Finding, steps.get("findings", []), where),
        tuple(recordings),
        text,
    )


@lru_cache(maxsize=4)
def _imported(line: str, where: str) -> Session:
    """Return the session of an entry's third line. It is cached, because the keys of other caches
    are the identities of its messages, which must be the same after an edit."""
    return parse_session(_json(line, where, 3), line, f"{where}:3")


def read_label(line: str, where: str) -> Label:
    """Return the label from an entry's first line. Raises InputFault as `read_entry` does."""
    value = _object(line, where, 1)
    version = value.pop("format", None)
    if version != FORMAT:
        is_ours = isinstance(version, str) and version.startswith(FAMILY)
        raise InputFault(
            f"a workspace file of another version ({version!r})"
            if is_ours
            else f"not a workspace file: its format is {version!r}",
            where=where,
            line=1,
            field="format",
            expected=f'"{FORMAT}"' + (", or the playground that wrote it" if is_ours else ""),
        )
    known = {key: value[key] for key in Label.__dataclass_fields__ if key in value}
    try:
        return _adapter(Label).validate_python(known)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _fault(error, where, 1) from error


def with_edits(
    text: str, edits: Sequence[Edit], undone: Sequence[Edit], *, scrub: bool = True
) -> str:
    """Return the entry with these edits, done or undone; with `scrub`, new ones have no secrets."""
    label, steps, rest = _split_entry(text)
    known = [*steps.get("edits", []), *steps.get("undone", [])]
    cleaner = _Cleaner(scrub)
    steps["edits"] = [cleaner.edit(edit, known) for edit in edits]
    steps["undone"] = [cleaner.edit(edit, known) for edit in undone]
    count = sum(edit.action != "expected calls" for edit in edits)
    label = replace(label, edits=count, starred=_sum_counts(label.starred, cleaner))
    return "".join([_label_line(label), _line(steps), rest])


def with_recording(text: str, recording: Recording, *, scrub: bool = True) -> str:
    """Return the entry with a new recording first (with `scrub`, without its secrets); an older
    recording of the same name is dropped."""
    label, steps, rest = _split_entry(text)
    session, *others = _lines(rest)
    remaining = [line for line in others if json.loads(line).get("name", "") != recording.name]
    cleaner = _Cleaner(scrub)
    line = _line(cleaner.recording(dump_recording(recording)))
    label = replace(
        label,
        recordings=label.recordings - len(others) + len(remaining) + 1,
        starred=_sum_counts(label.starred, cleaner),
    )
    return "".join([_label_line(label), _line(steps), session, line, *remaining])


def without_secrets(
    recording: Recording, tools: Sequence[ToolMetadata]
) -> tuple[Recording, list[ToolMetadata], dict[str, int]]:
    """Return a recording and its tools without secrets, and the numbers of secrets by kind."""
    cleaner = _Cleaner(scrub=True)
    clean = read_recording(cleaner.recording(dump_recording(recording)))
    values = [cleaner.value(tool.model_dump(mode="json")) for tool in tools]
    return clean, list(map(ToolMetadata.model_validate, values)), cleaner.counts


# lines


def _sum_counts(counts: Mapping[str, int], cleaner: _Cleaner) -> dict[str, int]:
    return dict(Counter(counts) + Counter(cleaner.counts))


def _split_entry(text: str) -> tuple[Label, dict[str, Any], str]:
    """Return the label, the steps, and all other lines unchanged."""
    first, second, rest = text.split("\n", 2)
    return read_label(first, "entry"), json.loads(second), rest


def _lines(text: str) -> list[str]:
    """Return the lines of a text; only a line feed ends a line."""
    return [f"{line}\n" for line in text.split("\n")[:-1]]


def _label_line(label: Label) -> str:
    fields = {key: value for key, value in asdict(label).items() if value}
    return _line({"format": FORMAT, **fields})


def _line(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except ValueError:  # a number that JSON lacks, or half a surrogate pair
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
        raise InputFault(
            "a line that is not an object", where=where, line=number, expected="an object"
        )
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
    """A cleaner that stars out secrets and counts them; without `scrub` it changes nothing."""

    def __init__(self, scrub: bool) -> None:
        self._search = searcher(tuple(environment_secrets())) if scrub else None
        self._tally = Tally()

    @property
    def counts(self) -> dict[str, int]:
        return self._tally.counts

    def text(self, text: str) -> str:
        return star_secrets(text, self._search, self._tally) if self._search else text

    def value(self, value: Any) -> Any:
        """Return a JSON value without secrets, also in keys of objects."""
        return scrubbed_with(self._search, value, self._tally) if self._search else value

    def session(self, plain: dict[str, Any]) -> dict[str, Any]:
        recordings = plain.pop("recordings", None)
        clean: dict[str, Any] = self.value(plain)
        if recordings:
            clean["recordings"] = [self.recording(each) for each in recordings]
        return clean

    def recording(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Return a recording without secrets. Each text is joined for the search, because a secret
        may be divided among several chunks."""
        chunks = plain.pop("chunks")
        clean: dict[str, Any] = self.value(plain)
        for pieces in _texts(chunks):
            self._clean_pieces(pieces)
        clean["chunks"] = [self._chunk(chunk) for chunk in chunks]
        return clean

    def edit(self, edit: Edit, known: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return an edit as plain values without secrets; an edit in `known` was cleaned before."""
        plain = {key: value for key, value in asdict(edit).items() if value}
        return plain if plain in known else {**plain, "value": self.text(edit.value)}

    def _chunk(self, chunk: dict[str, Any]) -> dict[str, Any]:
        unsearched = ("tool_call", "signal")  # other fields are times, or texts searched before
        return {key: self.value(item) if key in unsearched else item for key, item in chunk.items()}

    def _clean_pieces(self, pieces: list[tuple[dict[str, Any], str]]) -> None:
        """Star out the secrets of the text that these pieces make up, in their holders."""
        texts = [_text(holder[key], key) for holder, key in pieces]
        full_text = "".join(texts)
        clean, place = self.text(full_text), 0
        for (holder, key), text in zip(pieces, texts, strict=True) if clean != full_text else ():
            piece, place = clean[place : place + len(text)], place + len(text)
            is_bytes = key == "base64"
            holder[key] = base64.b64encode(piece.encode("latin-1")).decode() if is_bytes else piece


def _text(value: str, key: str) -> str:
    return base64.b64decode(value).decode("latin-1") if key == "base64" else value


def _texts(chunks: Sequence[dict[str, Any]]) -> Iterator[list[tuple[dict[str, Any], str]]]:
    """Yield the pieces, in order, of each text that a reply's chunks divide. A piece is given by
    the object that holds it, and its key in that object."""
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
