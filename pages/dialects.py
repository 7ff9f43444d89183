"""Dialects: which there are, what one is, which values it carries, and how one is declared."""

from __future__ import annotations

from playground.app import dialects, navigation, state
from playground.app.shared import frame

if dialects.CHOSEN in state.url_values():  # a link to a guide need not name the view
    state.lead_to(navigation.VIEW, "Guide")
frame.show_views("dialects")
