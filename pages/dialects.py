"""Dialects: what a dialect is, which values it carries, and how one is declared."""

from __future__ import annotations

from playground.app.shared import frame

frame.show_views("dialects")
