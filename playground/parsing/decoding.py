"""A decoder of bytes as they arrive. Characters may be cut anywhere; bad bytes are replaced."""

from __future__ import annotations

import codecs
import re

_BAD = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Utf8Decoder:
    """An incremental decoder. Each bad byte becomes half a surrogate pair, wherever the bytes are
    cut; `replace_bad` turns it into U+FFFD. `holds` is True while a character lacks its rest.
    """

    def __init__(self) -> None:
        self.holds = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def decode(self, data: bytes, final: bool = False) -> str:
        if not self.holds:
            try:
                return data.decode()
            except UnicodeDecodeError:
                pass  # a character is cut, or the bytes are not UTF-8
        text = self._decoder.decode(data, final)
        self.holds = bool(self._decoder.getstate()[0])
        return text


def bad_places(text: str) -> list[int]:
    """Return the indices of half surrogates, which are bad bytes or were sent as escapes."""
    return [] if text.isascii() else [match.start() for match in _BAD.finditer(text)]


def replace_bad(text: str) -> str:
    return _BAD.sub(REPLACEMENT, text)
