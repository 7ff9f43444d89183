"""Other formats: conversation templates, prompt templates and DSPy signatures."""

from __future__ import annotations

from playground.app.shared import frame

frame.show_views("formats")
