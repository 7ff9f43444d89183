"""Prompts, tools and chat models as Flink-Agents has them: the door to the plugin `systems`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("systems", "agents")
