"""Draw answers as HTML, in a notebook and as a page.

Each module registers the drawings of its kind of answer; all are loaded when the first is needed.
"""

from playground.show.pictures import (
    caching,
    cards,
    replies,
    requests,
    tools,
    versions,
)

__all__ = [
    "caching",
    "cards",
    "replies",
    "requests",
    "tools",
    "versions",
]
