"""Corpus: many recorded sessions, asked one question at a time, and what passes the proxy."""

from __future__ import annotations

from playground.app.shared import frame

frame.show_views("corpus")
