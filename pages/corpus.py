"""Corpus: many recorded sessions at a glance, questions about them, and the proxy's traffic."""

from __future__ import annotations

from playground.app import navigation, state
from playground.app.shared import frame

if state.get(navigation.VIEW) not in (None, "Questions"):
    state.forget_url("asks")  # otherwise the address of the overview would open the question
elif "asks" in state.url_values():  # links to a question may leave out the view
    state.set_unless_in_address(navigation.VIEW, "Questions")
frame.show_views("corpus")
