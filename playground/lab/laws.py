"""The laws of a dialect, tried on random examples: the door to the plugin `own_dialects`."""

from __future__ import annotations

from playground.base.registry import door

__getattr__, __dir__ = door("own_dialects", "lab.laws")
