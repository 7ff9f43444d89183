"""The list of the app's pages, in the order of the bar on top.

A page's `name` is its address, and the name of its script in `pages/` and of its module in this
folder. A view has no script: its page calls `show` of the view's module. Navigation, tests and docs
read the list; docs/contributing/page.md says how to add a page.
"""

from __future__ import annotations

from typing import Final

from playground.base.registry import PageEntry as PageEntry
from playground.base.registry import pages_after

ON_TOP: Final = 5  # pages in the bar; the others are in its last menu
CORE_PAGES: Final = (
    PageEntry("start", "Start", "home", "What is this, and what have I got?"),
    PageEntry(
        "compare",
        "Compare",
        "view_column",
        "What is the model sent in each dialect, and what does it answer?",
        "dialects.md",
        view="As sent",
    ),
    PageEntry(
        "cache",
        "Cache",
        "bookmark",
        "Do my cache_control marks hit, and what does it cost?",
        "cache-lab.md",
    ),
    PageEntry(
        "replay",
        "Replay",
        "play_circle",
        "Which parser reads this reply, and who loses what?",
        "recordings-and-secrets.md",
    ),
    PageEntry(
        "diff",
        "Diff",
        "difference",
        "What differs between two sessions, and what does a cache still read?",
        "versions.md",
    ),
    PageEntry(
        "payload",
        "Payload",
        "outbox",
        "Which HTTP body would each provider get, and what changed on the way there?",
        within="compare",
        view="Payload",
    ),
    PageEntry(
        "raw",
        "Raw prompt",
        "data_object",
        "What does the model itself read, special tokens included?",
        within="compare",
        view="Raw prompt",
    ),
    PageEntry(
        "dialects",
        "Dialects",
        "menu_book",
        "Which dialects are there, who speaks them, and who reads them?",
        "dialects.md",
        view="List",
    ),
    PageEntry(
        "values",
        "Values",
        "luggage",
        "Which difficult values reach a tool unchanged, and which does a dialect refuse?",
        within="dialects",
        view="Values",
        older="carry",
    ),
)
PAGES: Final = tuple(pages_after(CORE_PAGES))


def has_page(name: str) -> bool:
    """Return False for a page or view of a plugin that is not installed."""
    return any(entry.name == name for entry in PAGES)


def page_entry(name: str) -> PageEntry:
    """Return the page or view of this name. Raises StopIteration for an unknown name, a bug."""
    return next(entry for entry in PAGES if entry.name == name)


def parent(entry: PageEntry) -> PageEntry:
    """Return the page that an entry is a view of, or the entry itself."""
    return page_entry(entry.within) if entry.within and has_page(entry.within) else entry


def listed() -> list[PageEntry]:
    """Return the pages that a menu lists: all except views of other pages."""
    return [entry for entry in PAGES if parent(entry) is entry]


def views(entry: PageEntry) -> list[PageEntry]:
    """Return the page of an entry, which may be the entry itself, and all its views."""
    page = parent(entry)
    return [page, *(each for each in PAGES if each.within == page.name)]


def older_addresses() -> dict[str, PageEntry]:
    """Return the addresses that redirect to an entry: each view's name, and former names."""
    found = {entry.name: entry for entry in PAGES if parent(entry) is not entry}
    return found | {entry.older: entry for entry in PAGES if entry.older}
