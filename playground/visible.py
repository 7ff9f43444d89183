"""Characters that nobody sees, or that a terminal obeys, shown as what they are."""

from __future__ import annotations

import re
from typing import Final

# What a terminal obeys or hides: controls, and Unicode's own (direction, zero width, tags, halves
# of pairs). Joiners stay: scripts and emoji are written with them.
INVISIBLE: Final = (
    r"\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_CONTROL: Final = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{INVISIBLE}]")


def visible(text: str) -> str:
    """The text with what is hidden or obeyed in it escaped (`\\x1b`); line ends and tabs stay."""
    return _CONTROL.sub(_escaped, text)


def hidden_in(text: str) -> list[str]:
    """Return the characters of a text that `visible` escapes, in their order."""
    return _CONTROL.findall(text)


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{{{number:x}}}"
