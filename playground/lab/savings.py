"""Savings by shorter histories and deferred tools. The names come from the plugin `savings`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("savings", "lab.savings")
