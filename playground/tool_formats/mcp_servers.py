"""Re-export `playground.nouns.tool_formats.mcp_servers`, for scripts that import it from here."""

from playground.nouns.tool_formats.mcp_servers import *  # noqa: F403
