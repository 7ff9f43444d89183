"""Draw answers as HTML, for notebooks and pages. Each module registers the functions that draw its
kind of answer. All modules are loaded when something is first drawn."""

from playground.show.pictures import caching, cards, replies, requests, versions

__all__ = ["caching", "cards", "replies", "requests", "versions"]
