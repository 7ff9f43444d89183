"""Trials of dialects with models: the door to the plugin `trials`."""

from __future__ import annotations

from playground.base.registry import door

__getattr__, __dir__ = door("trials", "questions.trials")
