"""Line ends of a text that a browser's editor has held: it knows `\\n` alone."""

from __future__ import annotations

import re
from collections import Counter
from os.path import commonprefix
from typing import Final

_END: Final = re.compile(r"\r\n|\r|\n")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def as_edited(text: str) -> str:
    """Return the text as an editor gives it back."""
    return _END.sub("\n", text)


def with_line_ends_of(before: str, edited: str) -> str:
    """Return an edited text with the line ends that it had: lines before and after those that were
    changed are what they were; the changed ones end as most do.
    """
    if "\r" not in before or "\r" in edited:
        return edited
    old, new = _LINE.findall(before), _LINE.findall(edited)
    plain = list(map(as_edited, old))
    start = len(commonprefix([plain, new]))
    behind = len(commonprefix([plain[start:][::-1], new[start:][::-1]]))
    usual = Counter(_END.findall(before)).most_common(1)[0][0]
    changed = "".join(new[start : len(new) - behind]).replace("\n", usual)
    return "".join((*old[:start], changed, *old[len(old) - behind :]))
