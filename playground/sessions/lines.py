"""Files of lines into one session: every line leaves something, or is told of.

A line that leaves nothing is a finding, one for each kind of line; where most lines leave nothing
the file is of another format than it seemed, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from playground.base.errors import InputFault
from playground.base.findings import finding
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.source import Source

Entry = tuple[int, Place, Any]  # the number of a line, where it stands, its value


@dataclass
class _Kind:
    """Lines of one kind that left nothing."""

    first: int
    count: int = 0


def read_lines(
    source: Source,
    builder: SessionBuilder,
    read: Callable[[dict[str, Any], Place], None],
    quiet: Collection[str] = (),
    within: Iterable[Entry] | None = None,
) -> None:
    """Give every line that is an object to `read`, which puts it into the builder, or into others
    that share its `kept`. `within` are the lines where a file wraps them in something else.

    `quiet` are kinds of lines that say nothing of the conversation, or what other lines say too;
    one that ends in `*` stands for all that begin so.
    Raises InputFault where most of the other lines leave nothing.
    """
    silent: dict[str, _Kind] = {}
    known: dict[str, bool] = {}
    counter = builder.counter
    seen = useless = 0
    for line, place, value in entries(source) if within is None else within:
        before, lost = counter.kept, counter.lost
        if isinstance(value, dict):
            read(value, place)
        else:
            builder.note_loss(f"a line that is a {type(value).__name__}", place)
        if counter.kept > before:
            seen += 1
            continue
        kind = kind_of(value)
        if counter.lost == lost:
            silent.setdefault(kind, _Kind(line)).count += 1
        if kind not in known:
            known[kind] = is_quiet(kind, quiet)
        seen += not known[kind]
        useless += not known[kind]
    _tell(builder, silent, quiet)
    if useless > seen / 2:
        _refuse(source, builder, silent, useless, seen)


def entries(source: Source) -> Iterator[Entry]:
    """Yield the lines of a file; the same as a list in one document is read alike."""
    if source.is_lines or not isinstance(source.document, list):
        for line, value in source.lines():
            yield line, tuple.__new__(Place, (line, "")), value  # as in Place.at
        return
    for index, value in enumerate(source.document):
        yield index + 1, Place(field=str(index)), value


def kind_of(value: Any) -> str:
    """Return a line's kind: its type (and subtype), its role, or the names of its fields."""
    if not isinstance(value, dict):
        return type(value).__name__
    for key in ("type", "kind", "event", "role", "method"):
        given = value.get(key)
        if isinstance(given, str) and given:
            more = value.get("subtype")
            return f"{given}/{more}" if isinstance(more, str) and more else given
    return ", ".join(sorted(map(str, value))[:6]) or "{}"


def note_torn_text(source: Source) -> None:
    """A text whose last line has no end was cut off, where a tool writes whole lines: a finding."""
    text = source.text
    if text.strip() and not text.endswith("\n"):
        where = f"line {text.count(chr(10)) + 1}"
        source.findings.append(finding("torn-end", where, "the last line has no end"))


def is_quiet(kind: str, quiet: Collection[str]) -> bool:
    """Return True if a kind is one of these: itself, by its type alone, or by its beginning."""
    if kind in quiet or kind.partition("/")[0] in quiet:
        return True
    return any(name.endswith("*") and kind.startswith(name[:-1]) for name in quiet)


def _tell(builder: SessionBuilder, silent: dict[str, _Kind], quiet: Collection[str]) -> None:
    for kind, found in silent.items():
        known = is_quiet(kind, quiet)
        lines = f"{found.count} lines" if found.count > 1 else "a line"
        message = f"{lines} of the kind {kind!r}, of which nothing is kept"
        code = "bookkeeping" if known else "lines-left-out"
        builder.findings.append(finding(code, f"line {found.first}", message))


def _refuse(
    source: Source, builder: SessionBuilder, silent: dict[str, _Kind], useless: int, seen: int
) -> None:
    kinds = ", ".join(repr(kind) for kind in list(silent)[:5])
    first = builder.findings[0].message if builder.findings and not kinds else f"kinds {kinds}"
    raise InputFault(
        f"nothing is kept of {useless} of the {seen} lines ({first})",
        where=source.name,
        line=min((found.first for found in silent.values()), default=None),
        expected="another format, by its name (`--format`), or an export of the tool itself",
    )
