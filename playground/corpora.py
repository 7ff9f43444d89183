"""Corpora of recorded sessions: the door to the plugin `corpus`."""

from __future__ import annotations

from playground.base.registry import door

__getattr__, __dir__ = door("corpus", "corpora")
