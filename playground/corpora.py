"""Corpora of recorded sessions. The names come from the plugin `corpus`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("corpus", "corpora")
