"""Guides to dialects: the door to the plugin `guides`."""

from __future__ import annotations

from playground.base.registry import door

__getattr__, __dir__ = door("guides", "lab.guides")
