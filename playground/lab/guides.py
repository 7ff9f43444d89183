"""Guides to dialects. The names come from the plugin `guides`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("guides", "lab.guides")
