"""Small files that a user writes by hand (a cache policy, a set of templates): one way in for all.

Whatever is wrong with such a file is one InputFault that names it. Sessions and recordings, which
may be large, come in by `sessions/source.py`.
"""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_LE
from contextlib import suppress
from pathlib import Path

from playground.errors import InputFault


def read_user_file(path: str | Path, expected: str) -> bytes:
    """The file's bytes. Raises InputFault, naming what is `expected`, where it cannot be read."""
    try:
        return as_utf8(Path(path).read_bytes())
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        why = getattr(error, "strerror", None) or "it cannot be read"
        raise InputFault(why, where=str(path), expected=expected) from error


def user_text(data: bytes | str, where: str, most_bytes: int) -> str:
    """A file's text, or one from an editor. Raises InputFault where it is too long, or no UTF-8."""
    if len(data) > most_bytes:
        expected = f"{most_bytes:,} bytes at most"
        raise InputFault("the file is too long", where=where, expected=expected)
    return data if isinstance(data, str) else decode(data, where)


def as_utf8(data: bytes) -> bytes:
    """The same text in UTF-8 where it is UTF-16 by its first two bytes, as Windows writes it; what
    is wrong with it stays as it is, to be told."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) and not data.startswith(BOM_UTF32_LE):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16").encode()
    return data


def decode(data: bytes, where: str, line: int | None = None) -> str:
    """UTF-8 text, its BOM removed. Raises InputFault with the line of the first bad byte.

    `line` is where the data begins, for a piece of a larger file.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + (line or 1)
        raise InputFault(
            f"byte {data[error.start]:#04x} is not UTF-8",
            where=where,
            line=number,
            expected="UTF-8",
        ) from error
