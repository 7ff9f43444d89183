"""Read the end of a file: its last line, or a last character that is cut off."""

from __future__ import annotations

from typing import IO


def last_line(file: IO[bytes], size: int, longest: int) -> tuple[bytes, int]:
    """Return the last line that is not blank, and its offset, in a file of `size` bytes. A line of
    more than `longest` bytes may give (b"", 0)."""
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


def line_at(file: IO[bytes], start: int) -> int:
    """Return the number of the line that begins at this offset."""
    file.seek(0)
    number = 1
    while start > 0 and (data := file.read(min(start, 1 << 20))):
        number, start = number + data.count(b"\n"), start - len(data)
    return number


def whole_utf8(data: bytes) -> bytes:
    """Return the bytes without an incomplete last character."""
    for size in range(1, min(3, len(data)) + 1):
        first = data[-size]
        if first >= 0xC0:  # this byte begins a character of 2, 3 or 4 bytes
            expected_size = 2 + (first >= 0xE0) + (first >= 0xF0)
            return data[:-size] if size < expected_size else data
        if first < 0x80:
            return data
    return data
