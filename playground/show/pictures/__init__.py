"""Draw answers as HTML, for notebooks and pages. Each module registers the drawings of its kind of
answer; all modules are loaded when a drawing is first needed."""

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
