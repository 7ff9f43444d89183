"""Clients that read a reply themselves, without losing of it what is not declared here."""

from typing import Final

from playground.servers.view import Server, View

SERVERS: Final = (
    Server(
        "gptme",
        "d27f98d",
        View(
            source="gptme d27f98d gptme/tools/base.py:949-1026, ToolUse.iter_from_content: calls"
            " are looked up in a message, which stays as it is; one that is cut off or no object is"
            " passed over",
            cut="text",
            broken="text",
            unread="text",
        ),
    ),
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
    Server(
        "continue",
        "2e544fe",
        View(
            source="continue 2e544fe core/tools/systemMessageTools/interceptSystemToolCalls.ts"
            ":31-42 (at the end of the stream an open call's arguments are closed), 70-84 (what may"
            " begin a call is held). Until c8886c2 everything behind the first call was left out",
            partial="dropped",
            cut="call",
        ),
    ),
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
    Server(
        "kodu",
        "78a56b1",
        View(
            source="claude-coder 78a56b1 extension/src/agent/v1/tools/tool-parser/tool-parser.ts:"
            " 124-151 (a tag that never ends is held), 232-255 (tags of no tool are text), 402-430"
            " (a call that is not of its schema, or cut off, is an error)",
            partial="dropped",
            cut="dropped",
            broken="dropped",
            unread="dropped",
            unknown="text",
        ),
    ),
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
    Server(
        "smolagents",
        "e3a5b89",
        View(
            source="smolagents e3a5b89 src/smolagents/agents.py:1690-1708: the closer is added"
            " where a reply ends without it; utils.py:189-216: code alone is run, what stands"
            " around it stays in the step's model_output",
            cut="open call",
        ),
    ),
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
