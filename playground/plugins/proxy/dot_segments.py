"""Paths with `.` or `..` segments, as `/v1/../../admin`, in every form that a server may accept.

Clients, proxies and servers resolve such segments, but not all in the same way. A path that holds
one in any form is refused, so that its meaning never depends on the reader.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

_ROUNDS: Final = 5  # of decoding: a server decodes once, and so may each gateway before it
_SLASHES: Final = re.compile(r"[/\\]")
_DOTS: Final = (".", "..")
# Overlong forms, which UTF-8 forbids; old decoders still read them as these characters.
_OVERLONG: Final = {"\xc0\xae": ".", "\xc0\xaf": "/", "\xc1\x9c": "\\"}


def has_dot_segments(path: str) -> bool:
    """Return True if a server may read a segment `.` or `..` in a path.

    Percent signs are decoded up to five times, a backslash counts as a slash, and a segment ends at
    its first semicolon, as in Java. Also return True if the path is still encoded after that.
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
