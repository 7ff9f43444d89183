"""Examples of secrets, for tests with random characters and for a reader without them."""

from __future__ import annotations

import random
import re
import string
from typing import Final

_ALPHABETS: Final = {
    "a": string.ascii_letters + string.digits, "b": string.ascii_letters + string.digits + "+/",
    "h": "0123456789abcdef", "d": string.digits, "u": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
}  # fmt: skip
_PLACEHOLDER: Final = re.compile(r"\{([abhdul])(\d+)\}")


def fill_example(example: str, seed: int = 14) -> tuple[str, list[str]]:
    """Return an example with random characters filled in, and the values that were filled in.

    This way no file of the project contains a whole secret.
    """
    dice = random.Random(seed)
    values: list[str] = []

    def value(match: re.Match[str]) -> str:
        alphabet, size = _ALPHABETS[match[1]], int(match[2])
        characters = dice.choices(alphabet, k=size)
        if match[1] != "d":
            characters[size // 2] = "7"
            characters[size // 3] = "b" if "b" in alphabet else "B"
        values.append("".join(characters))
        return values[-1]

    return _PLACEHOLDER.sub(value, example), values


def example_text(example: str) -> str:
    """Return an example for a reader, with dots in place of random characters."""
    return _PLACEHOLDER.sub("…", example).replace("\n", "⏎").replace("\t", "⇥")
