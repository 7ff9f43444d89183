"""How answers look as HTML, in a notebook and as a page: each module registers the drawings of its
kind of answer, and all of them are there when the first is asked for."""

from playground.show.pictures import caching, compaction, guides, replies, requests, tools, versions

__all__ = [
    "caching",
    "compaction",
    "guides",
    "replies",
    "requests",
    "tools",
    "versions",
]
