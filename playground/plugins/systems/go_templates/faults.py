"""The exception of the template engine, with hints on what to write instead."""

from __future__ import annotations

import re
from typing import Final, Literal

from playground.base.errors import PlaygroundError
from playground.plugins.systems.go_templates.values import join_output

Phase = Literal["parse", "exec"]


class TemplateFault(PlaygroundError):
    """The error of a template that cannot be parsed or executed, with Go's own message.

    `partial` is the output before the error.
    """

    def __init__(self, message: str, phase: Phase, partial: str = "") -> None:
        self.phase, self.partial = phase, partial
        super().__init__(join_output([message]))

    @property
    def hint(self) -> str:
        """A hint on what to write instead, for errors that surprise people; otherwise ""."""
        return next((hint for pattern, hint in _HINTS if re.search(pattern, str(self))), "")


_HINTS: Final = (
    (
        r"comparison: (float64 and int|int and float64)",
        "a JSON number is a float64 and a constant such as 3 is an int: write 3.0",
    ),
    (
        r"cannot index slice/array with type (float64|interface \{\})",
        "a JSON number is a float64, which cannot be an index: use a constant, or len",
    ),
    (r"%!d\(float64", "a JSON number is a float64: write it with %v or %.0f"),
    (r"bad character U\+002D '-'", 'a key with a dash needs index: {{index . "a-b"}}'),
    (r"nil pointer evaluating", "the value is null: test it with `with` or `if` first"),
    (r"range can't iterate over", "range takes lists, objects and whole-number constants"),
    (r"function .* not defined", "only Go's own functions exist here: and, eq, index, printf …"),
)
