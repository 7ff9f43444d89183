"""The List view of the Dialects page; a row opens a guide, the view Values, or a declaration."""

from __future__ import annotations

from typing import Any, Final

from playground.app import navigation, state
from playground.app.pages import has_page
from playground.app.shared import components
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.dialects import dialect_names
from playground.dialects.models import dialect_for
from playground.sessions.workspaces.dialects import is_kept
from playground.show import dialect_board
from playground.show.board import Payload

CHOSEN: Final = "guide"  # the address has the dialect of the guide under this key


def show(_: Any) -> None:
    """Show every dialect: its form of a call, models, servers, and losses of tools' schemas."""
    listed("dialect list")


def listed(key: str, chosen: str = "") -> None:
    """Show the list of dialects; with a `chosen` one, a narrow list of names."""
    session = state.working_session().session
    names = dialect_names()
    sections = {name: "Yours" for name in names if is_kept(name)}
    model = session.task.model_name
    if (own := dialect_for(model).dialect) and own not in sections:
        sections[own] = f"Of {model}"
    dialect_rows = rows(names, session.tools, has_page("declare"))
    data = dialect_board.list_board(dialect_rows, sections, chosen)
    components.board(Picture(data), key=key, on_choose=lambda: _open(key))


@memoized(8)
def rows(names: list[str], tools: Any, can_declare: bool) -> list[Payload]:
    """Return the rows of all dialects, with what they lose of these tools' schemas."""
    return dialect_board.dialect_rows(names, tools, can_declare)


def _open(key: str) -> None:
    _, name, view = components.chosen_of(key)
    view = view or ("guide" if has_page("guide") else "values")
    if view == "values":
        state.forget_url("dialects")
        state.choose("dialects", [name])
    elif view == "declare":
        state.choose("started dialect", name)
        state.put(state.DECLARE_FROM, ("dialect", name, b""))
    else:
        state.choose(CHOSEN, name)
        state.tell_url(CHOSEN, name, "")
    navigation.open_view(view)
