"""The contributions of the plugin for savings to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"compaction": PluginCommand("playground.plugins.savings.commands:compaction")},
    additions={
        "cache: Compaction": "playground.plugins.savings.page:show",
        "cache: deferred tools": "playground.plugins.savings.deferred_tools:show",
        "tools --plan": "playground.plugins.savings.commands:print_plan",
    },
    drawings=("playground.plugins.savings.drawings",),
    names={
        "compaction": "playground.plugins.savings.compaction",
        "plan_tools": "playground.plugins.savings.tool_plan",
    },
    doors={"lab.savings": "playground.plugins.savings.public"},
)
