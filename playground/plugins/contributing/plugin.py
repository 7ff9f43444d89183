"""The contribution of this plugin to the core: the command `new`."""

from __future__ import annotations

from typing import Final

from playground.base.registry import Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"new": PluginCommand("playground.plugins.contributing.commands:new")},
)
