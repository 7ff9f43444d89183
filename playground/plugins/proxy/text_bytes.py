"""Distinguish text from other bytes, such as UTF-16, archives and pictures. The search for secrets
reads only ASCII and UTF-8, so bytes that are not text are counted, but not recorded."""

from __future__ import annotations

import codecs
import re
from typing import Final

# Control characters that no text has, in UTF-8 or in an older encoding of eight bits.
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class TextBytes:
    """A check that bytes are text, which takes the bytes in pieces.

    Bytes are not text if they have a zero byte, or if they are not UTF-8 and have control
    characters.
    """

    def __init__(self) -> None:
        self.is_text = True  # so far
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_utf8 = True
        self._has_controls = False

    def feed(self, data: bytes) -> bool:
        """Take a piece, and return True if all pieces so far are text."""
        if not self.is_text:
            return False
        self._has_controls = self._has_controls or _CONTROLS.search(data) is not None
        if self._is_utf8:
            try:
                self._decoder.decode(data)
            except UnicodeDecodeError:
                self._is_utf8 = False
        self.is_text = b"\0" not in data and (self._is_utf8 or not self._has_controls)
        return self.is_text
