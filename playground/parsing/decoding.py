"""Bytes to text as they come: a character may be cut anywhere, and nothing is ever refused."""

from __future__ import annotations

import codecs
import re

_BAD = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Utf8Decoder:
    """Incremental UTF-8. A byte that is no UTF-8 becomes one U+FFFD, whatever the cutting.

    `holds` says whether it waits for the rest of a character.
    """

    def __init__(self) -> None:
        self.holds = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def decode(self, data: bytes, final: bool = False) -> str:
        """Text with a half surrogate in place of each bad byte; see `replaced`."""
        if not self.holds:
            try:
                return data.decode()
            except UnicodeDecodeError:
                pass  # a character is cut, or it is none
        text = self._decoder.decode(data, final)
        self.holds = bool(self._decoder.getstate()[0])
        return text


def bad_places(text: str) -> list[int]:
    """Where half surrogates stand: bad bytes after decoding, or the sender's own."""
    return [] if text.isascii() else [match.start() for match in _BAD.finditer(text)]


def replaced(text: str) -> str:
    return _BAD.sub(REPLACEMENT, text)
