"""The proxy's contributions to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import PageEntry, Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"proxy": PluginCommand("playground.plugins.proxy.commands:proxy", lasting=True)},
    pages=(
        PageEntry(
            "live",
            "Live",
            "sensors",
            "What passes between my agent and its provider, and what breaks its cache?",
            "proxy.md",
            parts="playground.plugins.proxy.page",
            after="diff",
            rank=2,
            within="corpus",
            view="Live",
        ),
    ),
)
