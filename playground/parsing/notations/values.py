"""The forms of one parameter's value between its markers."""

from __future__ import annotations

from typing import Final, NamedTuple


class ValueNotation(NamedTuple):
    """A way to write a parameter's value as text.

    With `block` a text with a line break is on lines of its own, and the line breaks around it
    do not belong to it. With `json` a text is JSON too, in quotes.
    """

    hole: str
    meaning: str
    example: str
    block: bool = False
    json: bool = False

    def write(self, text: str) -> str:
        return f"\n{text}\n" if self.block and "\n" in text else text


VALUES: Final[dict[str, ValueNotation]] = {
    "value": ValueNotation(
        "value", "a parameter's value as text, read by its schema's type", "a.py"
    ),
    "value:block": ValueNotation(
        "value:block",
        "a parameter's value as text, on lines of its own if it has a line break",
        "\none\ntwo\n",
        block=True,
    ),
    "value:json": ValueNotation(
        "value:json", "a parameter's value as JSON, texts in quotes too", '"a.py"', json=True
    ),
}
