"""The workspace: sessions that a user imported, edited or recorded, in files of our own format.

`shelves.py` stores texts by name, in a folder or in memory; `workspace.py` has the operations;
`tab.py` is a browser tab's view of the sessions. `sessions/entries.py` reads and writes the texts.
`belongings.py` stores other values of the user.

The one rule: a text is replaced only by a writer who has seen it. Each writer passes the text that
it has seen. If the stored text differs, nothing is written and the writer gets False.
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
