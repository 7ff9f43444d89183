"""The door to `playground.nouns.tool_formats.mcp_servers`, for scripts that import this path."""

from playground.nouns.tool_formats.mcp_servers import *  # noqa: F403
