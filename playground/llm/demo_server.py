"""A server with scripted answers, for demonstrations. The names come from the plugin `trials`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("trials", "llm.demo_server")
