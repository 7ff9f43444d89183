"""Tell bytes that are text from those in which no search finds a key: UTF-16, archives, pictures.

The search reads ASCII and UTF-8. A key in UTF-16 or packed by gzip passes it whole, so that what is
no text is counted, and not kept.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

# What neither a text in UTF-8 has, nor one in an older encoding of eight bits.
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class TextBytes:
    """Looks at bytes that come in pieces. A zero byte is in no text, nor are control characters
    where something is no UTF-8."""

    def __init__(self) -> None:
        self.is_text = True  # so far
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_utf8 = True
        self._has_controls = False

    def feed(self, data: bytes) -> bool:
        """Take a piece; return True if all that has come is text."""
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
