"""Format numbers and texts for people: show hidden characters, keep right-to-left words in order.

Each kind of number has a function here and the same one for the browser in
`show/components/kit.js`. `tests/test_numbers.py` compares them, and finds code that formats numbers
in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

_LONGEST_REPR: Final = 120  # characters


def grouped(value: float, places: int = 0) -> str:
    """Format a number: 2,309, or 0.27 with two places. A half is rounded to the even neighbour."""
    # 2.675 is a half here, as in a browser, although its binary value is a little lower
    return f"{Decimal(str(value)):,.{places}f}"


def counted(count: int, thing: str, things: str = "") -> str:
    """Format a count with its noun: 1 call, 2,309 calls."""
    return f"{grouped(count)} {thing if count == 1 else things or thing + 's'}"


def as_sentence(text: str) -> str:
    """Return a text with a capital letter first, if its first word has letters only: a model's id,
    for instance, stays as it is."""
    is_word = text.partition(" ")[0].rstrip(",;:.").isalpha()
    return text[:1].upper() + text[1:] if is_word else text


def percent(share: float) -> str:
    """Format a share of 1 as a percentage: 41 %."""
    return f"{grouped(share * 100)} %"


def seconds(value: float) -> str:
    """Format a duration: 420 ms, 1.2 s, 20 s, 1,234 s."""
    if 0 < value < 1:
        return f"{grouped(value * 1000)} ms"
    return f"{grouped(value, 1 if value < 100 else 0).removesuffix('.0')} s"


def dollars(value: float) -> str:
    """Format a price: $12.30, $0.11, $0.027, $0.00046. Below ten cents it has two significant
    digits, up to six places."""
    places = 2
    while places < 6 and 0 < value < 10 ** (1 - places):
        places += 1
    return f"${grouped(value, places)}"


# Characters that a terminal does not print: controls, format characters (direction, zero width,
# tags), half surrogates. The joiners U+200C and U+200D are left out: scripts and emoji need them.
INVISIBLE: Final = (
    r"\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_CONTROL: Final = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{INVISIBLE}]")
# The blocks of scripts that are written from right to left (Unicode 15: DerivedBidiClass, R and AL)
_LEFTWARD: Final = (
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
# The words of a name or a sentence are one run; an arrow or a bracket between two words ends it
_RUN: Final = re.compile(rf"{_LEFTWARD}+(?:(?:, |[ .'’-]){_LEFTWARD}+)*")
_PIECES: Final = re.compile(f"({_RUN.pattern})")
_FIRST_STRONG: Final = "\u2068"  # begins an isolate in the direction of its first letter
_POP: Final = "\u2069"


def visible(text: str) -> str:
    r"""Return a text with each control or hidden character written as an escape (`\x1b`). Line ends
    and tabs stay."""
    return _CONTROL.sub(_escape, text)


def in_one_line(name: str) -> str:
    """Return a name for display within a line, its line breaks as `\\n`."""
    return visible(name).replace("\n", "\\n")


def short_repr(value: object, *parts: str) -> str:
    """Return the class of a value and those parts that are not empty, in one line of at most 120
    characters."""
    text = f"{type(value).__name__}({in_one_line(', '.join(filter(None, parts)))})"
    return text if len(text) <= _LONGEST_REPR else f"{text[: _LONGEST_REPR - 2]}…)"


def keep_order(text: str) -> str:
    """Return a line that this program composed, for display: hidden characters are escaped, and
    right-to-left runs isolated.

    Apply this only once, at the display: a second time would escape the isolates. A text that is a
    single right-to-left run needs no isolate, because no other text is next to it.
    """
    shown = visible(text)
    return shown if _RUN.fullmatch(shown) else isolate_runs(shown)


def isolate_runs(line: str) -> str:
    """Isolate the right-to-left runs of a line. Its hidden characters must already be escaped."""
    return line if line.isascii() else _RUN.sub(_isolate, line)


def keep_order_as(markup: Callable[[str], str], text: str) -> str:
    """Do the same as `keep_order` in HTML: isolate by <bdi>, and apply `markup` to each piece."""
    shown = visible(text)
    pieces = [shown] if _RUN.fullmatch(shown) else _PIECES.split(shown)
    marked_up = map(markup, pieces)  # every second piece is a right-to-left run
    return "".join(f"<bdi>{piece}</bdi>" if at % 2 else piece for at, piece in enumerate(marked_up))


def hidden_in(text: str) -> list[str]:
    """Return the characters of a text that `visible` escapes, in order."""
    return _CONTROL.findall(text)


def _isolate(match: re.Match[str]) -> str:
    return f"{_FIRST_STRONG}{match[0]}{_POP}"


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{{{number:x}}}"


def fenced(text: str, language: str = "") -> str:
    """Return a code block whose fence is longer than any run of back-ticks in the text."""
    # CommonMark: a fence ends at the first line of as many back-ticks as it began with, or more.
    runs = [len(run) for run in re.findall(r"`+", text)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    return f"{fence}{language}\n{text}\n{fence}"
