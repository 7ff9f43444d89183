"""The workspace: what a user brought, edited or recorded, kept as files of our own format.

`shelves.py` puts a text under a name, in a folder or in memory, and only where nobody else did so
meanwhile; `workspace.py` has the operations; `tab.py` is what one browser tab sees of it. What
stands in such a text is told by `sessions/entries.py`. `belongings.py` keeps small things beside
the sessions.

The one rule: a text is replaced only by who has seen it. Whoever writes says what stood there, and
where something else does, nothing is written and the writer is told.
"""

from playground.sessions.workspaces.belongings import Belongings
from playground.sessions.workspaces.shelves import Folder, Shelf, TabShelf
from playground.sessions.workspaces.tab import Notice, Tab
from playground.sessions.workspaces.workspace import (
    Workspace,
    belongings_on_disk,
    free_names,
    on_disk,
)

__all__ = [
    "Belongings",
    "Folder",
    "Notice",
    "Shelf",
    "Tab",
    "TabShelf",
    "Workspace",
    "belongings_on_disk",
    "free_names",
    "on_disk",
]
