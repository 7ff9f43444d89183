"""The contribution of contributing to the core: one command."""

from __future__ import annotations

from typing import Final

from playground.base.registry import Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"new": PluginCommand("playground.plugins.contributing.commands:new")},
)
