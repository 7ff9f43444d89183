"""Trials of dialects with models. The plugin `trials` has the functions."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("trials", "questions.trials")
