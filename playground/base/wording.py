"""How numbers and texts are shown: as everybody reads them, and with what nobody sees.

One function for each kind of number, and `show/components/kit.js` has the same for the browser:
`tests/test_numbers.py` holds them to each other and finds whoever writes numbers in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final


def grouped(value: float, places: int = 0) -> str:
    """2,309, or 0.27 with so many decimal places; what lies halfway goes to the even neighbour."""
    # what is read as 2.675 lies halfway, as in a browser; in binary it lies a little lower
    return f"{Decimal(str(value)):,.{places}f}"


def counted(count: int, thing: str) -> str:
    """1 call, 2,309 calls."""
    return f"{grouped(count)} {thing}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share of 1: 41 %."""
    return f"{grouped(share * 100)} %"


def seconds(value: float) -> str:
    """420 ms, 1.2 s, 20 s, 1,234 s."""
    if 0 < value < 1:
        return f"{grouped(value * 1000)} ms"
    return f"{grouped(value, 1 if value < 100 else 0).removesuffix('.0')} s"


def dollars(value: float) -> str:
    """$12.30, $0.11, $0.027, $0.00046: below ten cents with two digits that count, down to a
    millionth."""
    places = 2
    while places < 6 and 0 < value < 10 ** (1 - places):
        places += 1
    return f"${grouped(value, places)}"


# What a terminal obeys or hides: controls, and Unicode's own (direction, zero width, tags, halves
# of pairs). Joiners stay: scripts and emoji are written with them.
INVISIBLE: Final = (
    r"\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_CONTROL: Final = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{INVISIBLE}]")
# The blocks of scripts that are written from right to left (Unicode 15: DerivedBidiClass, R and AL)
_LEFTWARD: Final = (
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
# Words of one name or sentence stay together; an arrow or a bracket between two may be ours
_RUN: Final = re.compile(rf"{_LEFTWARD}+(?:(?:, |[ .'’-]){_LEFTWARD}+)*")
_PIECES: Final = re.compile(f"({_RUN.pattern})")
_FIRST_STRONG: Final = "\u2068"  # isolate, in the direction of its first letter
_POP: Final = "\u2069"


def visible(text: str) -> str:
    r"""Return the text with what is hidden or obeyed in it escaped (`\x1b`); line ends and tabs
    stay.
    """
    return _CONTROL.sub(_escaped, text)


def in_one_line(name: str) -> str:
    """Return a name as it may be shown in a line of ours, its line breaks as `\\n`."""
    return visible(name).replace("\n", "\\n")


def keep_order(text: str) -> str:
    """Return a line of ours, to be shown: hidden characters escaped, leftward runs isolated.

    It is applied once, where the text is shown: a second time would escape the isolates. A text
    that is one leftward run is nobody's sentence, and has no isolate.
    """
    shown = visible(text)
    return shown if _RUN.fullmatch(shown) else isolate_runs(shown)


def isolate_runs(line: str) -> str:
    """Return a line without hidden characters of others, its leftward runs isolated."""
    return line if line.isascii() else _RUN.sub(_isolated, line)


def keep_order_as(markup: Callable[[str], str], text: str) -> str:
    """As `keep_order`, in HTML: with <bdi> for an isolate, and `markup` of each piece of text."""
    shown = visible(text)
    pieces = [shown] if _RUN.fullmatch(shown) else _PIECES.split(shown)
    written = map(markup, pieces)  # every second one is a run
    return "".join(f"<bdi>{each}</bdi>" if at % 2 else each for at, each in enumerate(written))


def hidden_in(text: str) -> list[str]:
    """Return the characters of a text that `visible` escapes, in their order."""
    return _CONTROL.findall(text)


def _isolated(found: re.Match[str]) -> str:
    return f"{_FIRST_STRONG}{found[0]}{_POP}"


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{{{number:x}}}"
