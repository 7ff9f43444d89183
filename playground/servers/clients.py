"""Clients that read a reply themselves, without losing of it what is not declared here."""

from typing import Final

from playground.servers.view import Server, View

SERVERS: Final = (
    Server("gptme", ""),
    Server(
        "roo",
        "0e110a2",
        View(
            source="Roo-Code 0e110a2 src/core/assistant-message/parseAssistantMessage.ts:32-40: all"
            " values but `content` are trimmed; at the end an open call is handed over as partial",
            trimmed=True,
            verbatim=("content",),
        ),
    ),
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
    Server(
        "openhands",
        "6bc3047",
        View(
            source="OpenHands 6bc3047 openhands/llm/fn_call_converter.py,"
            " convert_non_fncall_messages_to_fncall_messages: content is what stands before the"
            " first `<function=`; _fix_stopword closes a call that the end cut off",
            between="dropped",
            after="dropped",
        ),
    ),
    Server("smolagents", ""),
    Server(
        "cline",
        "07db3c8",
        View(
            source="cline 07db3c8 src/core/assistant-message/parseAssistantMessage.ts: every value"
            " is trimmed",
            trimmed=True,
        ),
    ),
)
