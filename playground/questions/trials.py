"""Trials of dialects with models, as far as the core knows them: calls of the plugin `trials`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("trials", "questions.trials")
