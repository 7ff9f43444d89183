"""Where a file ends: its last line, and what is whole of a document that is cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final

from pydantic_core import from_json


def last_line(file: IO[bytes], size: int, longest: int) -> tuple[bytes, int]:
    """The last line that is not blank, and where it begins; a line that is too long is not one."""
    room = 1 << 16
    while True:
        start = max(0, size - room)
        file.seek(start)
        data = file.read(room).rstrip()
        cut = data.rfind(b"\n")
        if cut >= 0 or start == 0:
            return data[cut + 1 :], start + cut + 1
        if room >= longest:
            return b"", 0
        room *= 8


def pieces(file: IO[bytes], size: int) -> Iterator[bytes]:
    """The first `size` bytes of a file, a megabyte at a time."""
    while size > 0 and (data := file.read(min(size, 1 << 20))):
        size -= len(data)
        yield data


def whole_utf8(data: bytes) -> bytes:
    """The bytes without a last character that is cut in two."""
    for size in range(1, min(3, len(data)) + 1):
        first = data[-size]
        if first >= 0xC0:  # of 2, 3 or 4 bytes
            due = 2 + (first >= 0xE0) + (first >= 0xF0)
            return data[:-size] if size < due else data
        if first < 0x80:
            return data
    return data


def whole_part(text: str) -> Any:
    """What is whole of a JSON document that is cut off; None where it is spoiled in another way."""
    try:
        return from_json(text, allow_partial=True)
    except ValueError:
        return None


def before_fault(text: str) -> Any:
    """What is whole of a JSON document before the place where it is spoiled; None for nothing."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return whole_part(text[: error.pos].rstrip())
    except (ValueError, RecursionError):
        return None
    return None


def item_starts(text: str, fault: BaseException | None) -> list[int]:
    """Where to cut a YAML document of one long list so that what is before is whole, the likeliest
    place first; [] where the loader's `fault` is no place that is torn or spoiled (a tag, say).

    The item in which the text breaks is left out; a scalar that never ends may have begun in the
    item before.
    """
    from yaml.parser import ParserError
    from yaml.scanner import ScannerError

    if not isinstance(fault, ScannerError | ParserError):
        return []
    mark = fault.context_mark or fault.problem_mark
    index = len(text) if mark is None else mark.index
    items = [(match.start(), match[1]) for match in _ITEM.finditer(text)]
    starts = [at for at, indent in items if indent == items[0][1] and at <= index]
    return [at for at in reversed(starts[-2:]) if at > items[0][0]]


_ITEM: Final = re.compile(r"^( *)- ", re.MULTILINE)
