"""The fields of a ChatAdapter's completion, returned while the completion arrives."""

from __future__ import annotations

from typing import Final

import regex

_HEADER: Final = regex.compile(r"[ \t]{0,64}+\[\[ ## (\w{1,128}+) ## \]\]")


class FieldStream:
    """A stream of fields: `feed(text)` returns pairs of a field's name and its new text.

    The texts of a field add up to its raw value without surrounding white space. Text before the
    first header has the name "". Only a possible header, and white space at the end of a value, is
    held back. If a field comes twice, both texts are returned, and the caller chooses one.
    """

    def __init__(self) -> None:
        self.field = ""
        self._held_text = ""
        self._line_start = True
        self._has_begun = False

    def feed(self, text: str) -> list[tuple[str, str]]:
        self._held_text += text
        return self._advance(is_complete=False)

    def finish(self) -> list[tuple[str, str]]:
        return self._advance(is_complete=True)

    def _advance(self, is_complete: bool) -> list[tuple[str, str]]:
        deltas: list[tuple[str, str]] = []
        text, at, start, line_start = self._held_text, 0, 0, self._line_start
        while at < len(text):
            if line_start:
                header = _HEADER.match(text, at, partial=not is_complete)
                if header and header.partial:
                    break  # the next text decides
                if header:
                    deltas += self._delta(text[start:at].rstrip())
                    self.field, self._has_begun = header[1], False
                    at = start = header.end()
            stop = text.find("\n", at) + 1
            line_start, at = stop > 0, stop or len(text)
        certain = text[start:at].rstrip()  # hold back white space, perhaps the value's end
        deltas += self._delta(certain)
        self._held_text = text[start + len(certain) :]
        self._line_start = self._line_start and not certain and not start
        return deltas

    def _delta(self, text: str) -> list[tuple[str, str]]:
        text = text if self._has_begun else text.lstrip()
        self._has_begun = self._has_begun or bool(text)
        return [(self.field, text)] if text else []
