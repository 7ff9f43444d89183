"""Prompts, tools and chat models of Flink-Agents. The names come from the plugin `systems`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("systems", "agents")
