"""Paths that lead elsewhere than they say: `/v1/../../admin`, in every form that a server may read.

Clients and proxies take such segments out of a path, and servers interpret them, but not all in the
same way. A path that holds one in any form is refused, so nothing depends on who reads it.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

_ROUNDS: Final = 5  # of decoding: servers decode once, gateways before them once more
_SLASHES: Final = re.compile(r"[/\\]")
_DOTS: Final = (".", "..")
# Longer than UTF-8 allows, and read as these characters all the same by old decoders.
_OVERLONG: Final = {"\xc0\xae": ".", "\xc0\xaf": "/", "\xc1\x9c": "\\"}


def has_dot_segments(path: str) -> bool:
    """Return True if a server may read a segment `.` or `..` in a path.

    Percent signs are decoded again and again, a backslash is a slash, and a segment ends at its
    first semicolon, as in Java. A path that is still encoded after five rounds counts, too.
    """
    for _ in range(_ROUNDS):
        if any(segment.partition(";")[0] in _DOTS for segment in _SLASHES.split(path)):
            return True
        decoded = unquote(path, "latin-1")
        for written, meant in _OVERLONG.items():
            decoded = decoded.replace(written, meant)
        if decoded == path:
            return False
        path = decoded
    return True
