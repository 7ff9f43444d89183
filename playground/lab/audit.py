"""Find faults in chat templates. The names come from the plugin `own_dialects`."""

from __future__ import annotations

from playground.base.registry import delegate_to_plugin

__getattr__, __dir__ = delegate_to_plugin("own_dialects", "lab.audit")
