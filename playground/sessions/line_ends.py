"""Restore the line ends of a text that a browser's editor has changed to `\\n`."""

from __future__ import annotations

import re
from collections import Counter
from os.path import commonprefix
from typing import Final

_END: Final = re.compile(r"\r\n|\r|\n")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def as_edited(text: str) -> str:
    """Return the text as an editor returns it, with `\\n` for each line end."""
    return _END.sub("\n", text)


def with_line_ends_of(before: str, edited: str) -> str:
    """Return an edited text with its earlier line ends. Unchanged lines at the start and end keep
    their line ends; changed lines get the most common one."""
    if "\r" not in before or "\r" in edited:
        return edited
    old, new = _LINE.findall(before), _LINE.findall(edited)
    plain = list(map(as_edited, old))
    start = len(commonprefix([plain, new]))
    tail = len(commonprefix([plain[start:][::-1], new[start:][::-1]]))
    usual = Counter(_END.findall(before)).most_common(1)[0][0]
    changed = "".join(new[start : len(new) - tail]).replace("\n", usual)
    return "".join((*old[:start], changed, *old[len(old) - tail :]))
