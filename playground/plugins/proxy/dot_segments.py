"""Find `.` or `..` segments in a path (`/v1/../../admin`), in every form that a server may accept.
Clients, proxies and servers resolve these segments differently, so the proxy refuses such a path.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote

_ROUNDS: Final = 5  # of decoding, because a server and each gateway before it may decode once
# slashes, the backslash and similar characters
_SLASHES: Final = re.compile("[/\\\\\u2044\u2215\u29f5\u29f8]")
_DOTS: Final = (".", "..")
_ENDS: Final = re.compile(r"[;?#\0]")  # ends of a segment: parameter, query, fragment, null byte
# Blanks and invisible characters, which some servers remove.
_INVISIBLE: Final = re.compile("[\x00-\x20+\x7f-\xa0\xad\u200b-\u200f\u2060\ufeff]")
# Bytes that UTF-8 never has, and overlong forms, which it forbids; old decoders may read them as
# dots and slashes.
_OVERLONG: Final = re.compile("[\xc0\xc1\xf8-\xff]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]")
_WIDE_ESCAPE: Final = re.compile(r"%u([0-9a-fA-F]{4})")  # escapes of old servers: %u002e


def has_dot_segments(path: str) -> bool:
    """Return True if a server may read a segment `.` or `..` in a path.

    Percent escapes are decoded up to five times. A backslash and characters that look like a slash
    count as slashes, and characters that look like a dot count as dots. A segment may end at a
    semicolon, as in Java. Also return True if the path is still encoded after five rounds, or has
    an overlong form.
    """
    for _ in range(_ROUNDS):
        if _OVERLONG.search(path) or any(map(_is_dots, _SLASHES.split(_plain_text(path)))):
            return True
        decoded = _WIDE_ESCAPE.sub(_as_utf8, unquote(path, "latin-1"))
        if decoded == path:
            return False
        path = decoded
    return True


def _is_dots(segment: str) -> bool:
    """Return True if a server may read a segment as `.` or `..`."""
    ends = (segment, _ENDS.split(segment, maxsplit=1)[0])
    return any(_INVISIBLE.sub("", text) in _DOTS for text in ends)


def _plain_text(path: str) -> str:
    """Decode a path as UTF-8; each of its characters stands for a byte.

    Full-width dots and similar characters become plain dots.
    """
    return normalize("NFKC", path.encode("latin-1").decode("utf-8", "replace"))


def _as_utf8(escape: re.Match[str]) -> str:
    """Return the UTF-8 bytes of the character that `%u` escapes, as characters."""
    return chr(int(escape[1], 16)).encode("utf-8", "replace").decode("latin-1")
