"""Dialects: the list of them, a guide to each, the values it carries, and new declarations."""

from __future__ import annotations

from playground.app import dialects, navigation, state
from playground.app.shared import frame

if dialects.CHOSEN in state.url_values():  # a link to a guide need not name the view
    state.lead_to(navigation.VIEW, "Guide")
frame.show_views("dialects")
