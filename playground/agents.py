"""Prompts, tools and chat models as Flink-Agents has them: the door to the plugin `systems`."""

from __future__ import annotations

from playground.base.registry import door

__getattr__, __dir__ = door("systems", "agents")
