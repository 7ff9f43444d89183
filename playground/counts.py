"""Numbers as everybody reads them: in the app, in notebooks, on the terminal.

One function for each kind, and `show/components/kit.js` has the same for the browser:
`tests/test_numbers.py` holds them to each other and finds whoever writes numbers in another way.
"""

from __future__ import annotations

from decimal import Decimal


def grouped(value: float, places: int = 0) -> str:
    """2,309, or 0.27 with so many decimal places; what lies halfway goes to the even neighbour."""
    # what is read as 2.675 lies halfway, as in a browser; in binary it lies a little lower
    return f"{Decimal(str(value)):,.{places}f}"


def counted(count: int, thing: str) -> str:
    """1 call, 2,309 calls."""
    return f"{grouped(count)} {thing}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """A share of 1: 41 %."""
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
