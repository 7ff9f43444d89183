"""Paths that lead elsewhere than they say: `/v1/../../admin`, in every form that a server may read.

Clients and proxies take such segments out of a path, and servers interpret them, but not all in the
same way. A path that holds one in any form is refused, so nothing depends on who reads it.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote

_ROUNDS: Final = 5  # of decoding: servers decode once, gateways before them once more
_SLASHES: Final = re.compile("[/\\\\\u2044\u2215\u29f5\u29f8]")  # with what looks like one
_DOTS: Final = (".", "..")
_ENDS: Final = re.compile(r"[;?#\0]")  # a parameter, a query, a fragment; the end of a text in C
# Blanks and what nobody sees: some servers strip them.
_UNSEEN: Final = re.compile("[\x00-\x20+\x7f-\xa0\xad\u200b-\u200f\u2060\ufeff]")
# Bytes that no UTF-8 has, and longer forms than it allows: old decoders read a dot in them.
_OVERLONG: Final = re.compile("[\xc0\xc1\xf8-\xff]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]")
_WIDE_ESCAPE: Final = re.compile(r"%u([0-9a-fA-F]{4})")  # of old servers: %u002e


def has_dot_segments(path: str) -> bool:
    """Return True if a server may read a segment `.` or `..` in a path.

    Percent signs are decoded again and again, a backslash is a slash, a segment ends at its first
    semicolon, as in Java, and what only looks like a dot or a slash is one. So does a path count
    that is still encoded after five rounds, or has a character longer than UTF-8 allows.
    """
    for _ in range(_ROUNDS):
        if _OVERLONG.search(path) or any(map(_is_dots, _SLASHES.split(_characters(path)))):
            return True
        decoded = _WIDE_ESCAPE.sub(_encoded, unquote(path, "latin-1"))
        if decoded == path:
            return False
        path = decoded
    return True


def _is_dots(segment: str) -> bool:
    """Return True if a server may read a segment as `.` or `..`."""
    ends = (segment, _ENDS.split(segment, maxsplit=1)[0])
    return any(_UNSEEN.sub("", each) in _DOTS for each in ends)


def _characters(path: str) -> str:
    """Return a path, whose characters are bytes, as what its bytes say in UTF-8; full-width dots
    and the like are plain ones."""
    return normalize("NFKC", path.encode("latin-1").decode("utf-8", "replace"))


def _encoded(escape: re.Match[str]) -> str:
    """Return a character behind `%u` as its bytes."""
    return chr(int(escape[1], 16)).encode("utf-8", "replace").decode("latin-1")
