"""The contributions of the MCP server to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"mcp": PluginCommand("playground.plugins.mcp_server.commands:mcp", lasting=True)},
)
