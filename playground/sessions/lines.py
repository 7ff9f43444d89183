"""Read a file of lines into one session. Lines that add nothing to the session give one finding for
each kind of line. If most lines add nothing, the file is probably of another format, and is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from playground.base.errors import InputFault
from playground.base.findings import finding
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.source import Source

Entry = tuple[int, Place, Any]  # number, place and value of a line


@dataclass
class _Kind:
    """The lines of one kind that added nothing to the session."""

    first: int
    count: int = 0


def read_lines(
    source: Source,
    builder: SessionBuilder,
    read: Callable[[dict[str, Any], Place], None],
    quiet: Collection[str] = (),
    lines: Iterable[Entry] | None = None,
) -> None:
    """Call `read` for every line that is an object, to add it to a builder.

    `read` adds to `builder`, or to builders that share its counter. `lines` replace the file's own
    lines, for a file that wraps them. Lines of the `quiet` kinds hold nothing of the conversation,
    or repeat other lines, so that they are only counted; a final `*` matches any ending.

    Raises InputFault if most of the other lines add nothing.
    """
    silent: dict[str, _Kind] = {}
    is_quiet_kind: dict[str, bool] = {}
    counter = builder.counter
    seen = useless = 0
    for line, place, value in entries(source) if lines is None else lines:
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
        if kind not in is_quiet_kind:
            is_quiet_kind[kind] = is_quiet(kind, quiet)
        seen += not is_quiet_kind[kind]
        useless += not is_quiet_kind[kind]
    _add_findings(builder, silent, quiet)
    if useless > seen / 2:
        _refuse(source, builder, silent, useless, seen)


def entries(source: Source) -> Iterator[Entry]:
    """Yield the lines of a file, or the items of a document that is a list."""
    if source.is_lines or not isinstance(source.document, list):
        for line, value in source.lines():
            yield line, tuple.__new__(Place, (line, "")), value  # fast, as in Place.at
        return
    for index, value in enumerate(source.document):
        yield index + 1, Place(field=str(index)), value


def kind_of(value: Any) -> str:
    """Return a line's kind: its type (and subtype), its role, or the names of its fields."""
    if not isinstance(value, dict):
        return type(value).__name__
    for key in ("type", "kind", "event", "role", "method"):
        kind = value.get(key)
        if isinstance(kind, str) and kind:
            subtype = value.get("subtype")
            return f"{kind}/{subtype}" if isinstance(subtype, str) and subtype else kind
    return ", ".join(sorted(map(str, value))[:6]) or "{}"


def note_torn_text(source: Source) -> None:
    """Add a finding if the last line has no end; for files of tools that always write complete
    lines."""
    text = source.text
    if text.strip() and not text.endswith("\n"):
        where = f"line {text.count(chr(10)) + 1}"
        source.findings.append(finding("torn-end", where, "the last line has no end"))


def is_quiet(kind: str, quiet: Collection[str]) -> bool:
    """Return True if `quiet` lists a kind, its type before `/`, or a prefix of it with `*`."""
    if kind in quiet or kind.partition("/")[0] in quiet:
        return True
    return any(name.endswith("*") and kind.startswith(name[:-1]) for name in quiet)


def _add_findings(
    builder: SessionBuilder, silent: dict[str, _Kind], quiet: Collection[str]
) -> None:
    for kind, found in silent.items():
        lines = f"{found.count} lines" if found.count > 1 else "a line"
        message = f"{lines} of the kind {kind!r}, of which nothing is kept"
        code = "bookkeeping" if is_quiet(kind, quiet) else "lines-left-out"
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
