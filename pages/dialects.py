"""Dialects: the list of them, a guide to each, the values it carries, and new declarations."""

from __future__ import annotations

from playground.app import dialects, navigation, state
from playground.app.pages import has_page
from playground.app.shared import frame

# links to a guide may leave out the view
if has_page("guide") and dialects.CHOSEN in state.url_values():
    state.set_unless_in_address(navigation.VIEW, "Guide")
frame.show_views("dialects")
