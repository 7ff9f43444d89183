"""The player in a notebook: the same module as on the page, as an anywidget."""

from __future__ import annotations

from typing import Any

from playground.errors import InputFault
from playground.show.components import source
from playground.show.payloads import player
from playground.timeline import Timeline


def player_widget(timeline: Timeline) -> Any:
    """A widget that plays the timeline. Raises InputFault where anywidget is not installed."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise InputFault(
            "anywidget is not installed", expected="the extra [notebook], or the HTML export"
        ) from error
    _, css, js = source("player", "player")

    class PlayerWidget(anywidget.AnyWidget):
        _esm = js
        _css = css
        data = traitlets.Dict().tag(sync=True)

    return PlayerWidget(data=player(timeline))
