"""Open a file or folder from which sessions are read. It is parsed at most once, never executed.
Sizes, zip members and YAML aliases are limited. A bad file raises InputFault."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, Final

from playground.base.characters import replace_half_surrogates
from playground.base.errors import InputFault, shown_address
from playground.base.findings import Finding, finding
from playground.base.json_numbers import load_objects, read_json_bytes
from playground.base.paths import kept_file, one_of
from playground.base.user_files import (
    MOST_BYTES,
    as_utf8,
    is_stream,
    open_regular_file,
    read_standard_input,
    read_stream,
)
from playground.base.user_files import decode as decode
from playground.sessions.bounded import files_within, unzipped
from playground.sessions.documents import parse_json, read_json, read_yaml_items
from playground.sessions.file_tail import last_line, line_at, whole_utf8

MAX_BYTES: Final = MOST_BYTES  # of a file that is read completely
MAX_LINE: Final = 64 * 1024 * 1024  # bytes
LINES: Final = (".jsonl", ".ndjson")  # suffixes of files of lines, even with one line
_HEAD_LINES: Final = 12  # lines by which a format is recognised
_LONG: Final = "the line is too long"
_START: Final = 1 << 16  # bytes
_ESCAPED: Final = re.compile(r"\\u[dD][89a-fA-F]")  # half of a surrogate pair
_BUFFER: Final = 1 << 18  # bytes; reading takes half of the time that it takes with Python's 8 kB
Progress = Callable[[int, int], None]  # bytes read, bytes in total
STANDARD_INPUT: Final = "standard input"


class Source:
    """A file's bytes, or a folder; `name` is its name in errors."""

    def __init__(self, name: str, data: bytes | None = None, path: Path | None = None) -> None:
        self.name = name
        self._data, self._path = data and as_utf8(data), path
        self.progress: Progress | None = None
        self.number = 0  # number of the chosen session, from 1; 0 for all
        self.findings: list[Finding] = []  # the caller takes and clears them
        # If this is a list, faults are added to it, and reading goes on.
        self.left_out: list[InputFault] | None = None
        self.is_clean = True  # False after a number or a text that JSON does not allow
        self._parsed: dict[bytes, Any] = {}  # line → value, of the first lines of a short file
        self.seen: dict[str, Any] = {}  # facts that a format found, so that others need not look

    @classmethod
    def open(cls, path: str | os.PathLike[str], name: str = "") -> Source:
        """Return the source for a path; its name is `name`, by default the path.

        The path may be `-` (standard input, which is always named so), `workspace:NAME` (a session
        of the workspace), or `FILE#2` (the second session of a file). Raises InputFault if it
        cannot be read.
        """
        file, number = one_of(os.fspath(path))
        source = cls._opened(file, name)
        source.number = number
        return source

    @classmethod
    def _opened(cls, path_or_name: str, name: str) -> Source:
        if path_or_name == "-":
            return cls(STANDARD_INPUT, read_standard_input())
        path = kept_file(path_or_name) or Path(path_or_name)
        name = name or str(path)
        source = cls(name, path=path)
        try:
            if source._status is not None and is_stream(source._status):
                return cls(name, read_stream(path))
            start = source._start  # raises an error here if the file cannot be read
            if as_utf8(start[:2]) != start[:2]:
                return cls(name, source.data)
        except (OSError, ValueError) as error:  # ValueError: a null byte in the name
            reason = getattr(error, "strerror", None) or str(error)
            where = shown_address(path_or_name) if "://" in path_or_name else str(path)
            raise InputFault(reason, where=where, expected="a readable file") from error
        return source

    @cached_property
    def suffix(self) -> str:
        stem, _, ending = self._last_step.rpartition(".")
        return f".{ending.lower()}" if stem else ""

    @cached_property
    def stem(self) -> str:
        return self._last_step.rpartition(".")[0] or self._last_step

    @cached_property
    def _last_step(self) -> str:
        """The last step of the name, after `/` or `\\`."""
        return self.name.replace("\\", "/").rstrip("/").rpartition("/")[2]

    @cached_property
    def _status(self) -> os.stat_result | None:
        """The status of the path; None for content in memory."""
        return None if self._path is None else self._path.stat()

    @cached_property  # every format needs it
    def is_folder(self) -> bool:
        return self._status is not None and stat.S_ISDIR(self._status.st_mode)

    @cached_property
    def size(self) -> int:
        if self._data is not None:
            return len(self._data)
        return 0 if self._status is None or self.is_folder else self._status.st_size

    @cached_property
    def data(self) -> bytes:
        """All bytes. Raises InputFault if there are too many to be read at once."""
        if self.size > MAX_BYTES:
            problem = f"{self.size / 1024**2:.0f} MB is too large for one document"
            limit = f"at most {MAX_BYTES // 1024**2} MB, or a file of lines"
            raise InputFault(problem, where=self.name, expected=limit)
        if self._data is not None:
            return self._data
        if self._path is None or self._is_short:
            return self._start
        with open_regular_file(self._path) as file:
            return file.read()

    @cached_property
    def text(self) -> str:
        """The bytes as UTF-8, without a last character that is incomplete.

        Raises InputFault with the line of a byte that is not UTF-8.
        """
        return decode(whole_utf8(self.data), self.name)

    @cached_property
    def is_zip(self) -> bool:
        return not self.is_folder and self.start(4) == b"PK\x03\x04"

    def start(self, size: int) -> bytes:
        """Return the first `size` bytes, 64 kB at most."""
        return self._start[:size]

    @cached_property
    def _start(self) -> bytes:
        """The beginning of the file, which every format examines."""
        if self._data is not None:
            return self._data[:_START]
        if self._path is None or self.is_folder:
            return b""
        with open_regular_file(self._path) as file:
            return file.read(_START)

    @cached_property
    def _is_short(self) -> bool:
        """True if `_start` is the whole file, so that it need not be opened again."""
        return len(self._start) < _START and not self.is_folder

    # JSON and lines

    @cached_property
    def value(self) -> Any:
        """The JSON document. Raises InputFault with the line of a fault."""
        try:
            return read_json_bytes(self.data)
        except ValueError:
            self.is_clean = False
            value = read_json(self.text, self.name, self.findings)
            return self._without_halves(value, self.text, "")

    @cached_property
    def document(self) -> Any:
        """The JSON document, for recognising the format; None if the file is not a JSON
        document."""
        if self.is_folder or self.is_zip or self.is_lines or self.size > MAX_BYTES:
            return None
        if self.start(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
            return None
        try:
            return self.value
        except InputFault:
            return None

    @cached_property
    def head(self) -> list[Any]:
        """The values of the first lines that are JSON; empty if there are none."""
        if self.is_folder or self.is_zip:
            return []
        found: list[Any] = []
        finding_count = len(self.findings)
        spoiled = 0
        with self._lines() as file:
            for _ in range(_HEAD_LINES):
                raw_line = file.readline(MAX_LINE)
                line = raw_line.removeprefix(b"\xef\xbb\xbf").strip()
                if not line or (not found and line[:1] not in b'{["}]'):  # prose before a log
                    continue
                try:
                    values = self._values(line, 1)
                    found += values[::-1]
                    if self._is_short and self.is_clean:
                        [self._parsed[raw_line]] = values
                except InputFault:
                    spoiled += 1
                    if found or spoiled > 2 or self.suffix not in LINES:
                        break
        del self.findings[finding_count:]  # `lines` adds them again
        return found

    @cached_property
    def is_lines(self) -> bool:
        """True if each line is a JSON value. Two objects prove this; with a suffix of `LINES`, one
        object or two values are enough."""
        objects = [value for value in self.head if isinstance(value, dict)]
        return bool(objects) or len(self.head) > 1 if self.suffix in LINES else len(objects) > 1

    def lines(self) -> Iterator[tuple[int, Any]]:
        """Yield the number and the value of each line, reading one line at a time.

        Only `\\n` ends a line. A line that is not JSON gives a finding, or a fault in `left_out` if
        that is a list; a last line that is cut off gives a finding. Raises InputFault for a line
        that is too long; without a `left_out`, also if most lines cannot be read.
        """
        self.__dict__.pop("head", None)  # `head` may hold a large session
        self.seen.clear()
        torn = self._torn_end()
        faults: list[InputFault] = []
        number = read_count = 0
        with self._lines() as file:
            for line in iter(partial(file.readline, MAX_LINE + 1), b""):
                number += 1
                if len(line) > MAX_LINE:
                    limit = f"lines of at most {MAX_LINE // 1024**2} MB"
                    raise InputFault(_LONG, where=self.name, line=number, expected=limit)
                if self.progress is not None:
                    self.progress(file.tell(), self.size)
                try:
                    values = [self._parsed.pop(line, None) or read_json_bytes(line, "keys")]
                except ValueError:
                    values = [] if number == torn else self._spoiled(line, number, faults)
                del line  # to free its memory while the caller uses the value
                read_count += bool(values)
                while values:
                    yield number, values.pop()
        if self.left_out is None and (len(faults) > read_count or (faults and not read_count)):
            raise faults[0]

    def _spoiled(self, line: bytes, number: int, faults: list[InputFault]) -> list[Any]:
        """Return the values of a line that is not plain JSON; [] if it is blank, or if it cannot be
        read, which gives a fault."""
        if not line.strip():
            return []
        try:
            return self._values(line, number)
        except InputFault as fault:
            faults.append(fault)
            if self.left_out is not None:
                self.left_out.append(fault)
            else:
                self.findings.append(finding("unreadable-line", f"line {number}", fault.problem))
            return []

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """If `left_out` is a list, catch an InputFault inside the block and add it there."""
        try:
            yield
        except InputFault as fault:
            if self.left_out is None:
                raise
            self.left_out.append(fault)

    def _torn_end(self) -> int | None:
        """Return the number of the last of several lines if it is cut off, and add a finding. Call
        this before any line is read: the last session, with the findings, may be returned before
        the last line is read."""
        with self._lines() as file:
            data, start = last_line(file, self.size, MAX_LINE)
            if not data or start == 0 or data in self._parsed:
                return None
            finding_count = len(self.findings)
            try:
                self._values(data, 1)
                del self.findings[finding_count:]  # reading the line adds them again
            except InputFault as fault:
                number = line_at(file, start)
                self.findings.append(finding("torn-end", f"line {number}", fault.problem))
                return number
        return None

    def _values(self, line: bytes, number: int) -> list[Any]:
        """Return the value of a line, in a list. If the line holds several objects, because two
        processes wrote it (Qwen Code), return the last one first, for `pop`. Raises InputFault."""
        try:
            return [read_json_bytes(line)]  # nearly all lines
        except ValueError:
            self.is_clean = False
        line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return [self._single_value(line, number)]
        except InputFault as fault:
            if "Extra data" in fault.problem and (found := self._several_values(line, number)):
                return found[::-1]
            raise

    def _several_values(self, line: bytes, number: int) -> list[Any]:
        text = decode(line, self.name, number).strip(" \t\r\n")
        return [self._without_halves(value, text, f"line {number}") for value in load_objects(text)]

    def _single_value(self, line: bytes, number: int) -> Any:
        text = decode(line, self.name, number).strip(" \t\r\n")
        return self._without_halves(parse_json(text, self.name, number), text, f"line {number}")

    def _without_halves(self, value: Any, text: str, place: str) -> Any:
        """Return the value without half surrogates, each of which gives a finding."""
        if not _ESCAPED.search(text):
            return value
        return replace_half_surrogates(value, place, self.findings)

    def _lines(self) -> IO[bytes]:
        if self._data is not None:
            return io.BytesIO(self._data)
        if self._path is None or self._is_short:
            return io.BytesIO(self._start)
        return open_regular_file(self._path, buffering=_BUFFER)

    # zips and folders

    @cached_property
    def members(self) -> dict[str, Source]:
        """The files of a zip or folder by their paths inside it, with `/` between the steps.

        Raises InputFault as `unzipped` and `files_within` do. Nothing is written to disk.
        """
        if self._path is not None and self.is_folder:
            paths, others = files_within(self._path)
            for name, kind in others.items():
                self.findings.append(finding("not-a-file", name, f"{kind}: left out"))
            return {name: Source(f"{self.name}/{name}", path=path) for name, path in paths.items()}
        if not self.is_zip:
            return {}
        with self._lines() as file:
            members = unzipped(file, self.name)
        return {name: Source(f"{self.name}/{name}", data) for name, data in members.items()}

    # YAML

    @cached_property
    def yaml(self) -> Any:
        """The YAML document, or the items of its list before a fault, with a finding.

        Raises InputFault as `read_yaml_items` does.
        """
        return read_yaml_items(self.text, self.name, self.findings)
