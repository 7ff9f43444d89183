"""The colours of figures and markup: a thing has the same colour everywhere."""

from __future__ import annotations

from typing import Final

KIND_COLOURS: Final = {  # Okabe and Ito's palette and more, distinct for colour-blind readers, too
    "dialect rules": "#0072B2",
    "tool docs": "#E69F00",
    "agent prompt": "#009E73",
    "system rules": "#8C8C8C",
    "user prompt": "#CC79A7",
    "system": "#5B5B5B",
    "user": "#56B4E9",
    "assistant": "#D55E00",
    "tool results": "#B8A200",
    "environment": "#7B5EA7",
}
EVENT_COLOURS: Final = {
    "text": "#56B4E9",
    "reasoning": "#CC79A7",
    "markup": "#8C8C8C",
    "call named": "#D55E00",
    "argument": "#009E73",
    "finding": "#E69F00",
}
OUTCOME_COLOURS: Final = {  # tokens of a request, by what the cache does
    "read": "#009E73",
    "written": "#E69F00",
    "full price": "#8C8C8C",
}
