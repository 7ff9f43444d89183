"""Clients that read a reply themselves, without losing of it what is not declared here."""

from typing import Final

from playground.servers.view import Server, View

SERVERS: Final = (
    Server("gptme", ""),
    Server("roo", ""),
    Server(
        "langchain",
        "",
        View(
            source="langchain libs/langchain/langchain/agents/output_parsers: a parser answers with"
            " an action or a final answer alone; the thought goes to its log",
            reasoning="dropped",
            before="dropped",
            between="dropped",
            after="dropped",
        ),
    ),
    Server("continue", ""),
    Server(
        "aider",
        "",
        View(
            source="aider 5dc9490 aider/coders/editblock_coder.py, find_original_update_blocks: it"
            " yields edits, and nothing of what stands around them",
            before="dropped",
            between="dropped",
            after="dropped",
        ),
    ),
    Server("kodu", ""),
    Server("openhands", ""),
    Server("smolagents", ""),
    Server("cline", ""),
)
