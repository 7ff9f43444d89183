"""A large session for measurements: 2,000 messages, about 5 MB, tool calls with long arguments."""

from __future__ import annotations

import random

from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.sessions.session import Session

EIGHT = (  # the first dialects, which the figures of the pages are given for
    "xml",
    "json",
    "native",
    "hermes",
    "qwen3-coder",
    "llama3-json",
    "llama3-function",
    "dspy-chat",
)
TOOL = ToolMetadata(
    name="write_file",
    description="Write a file.",
    input_schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)


def large_session(messages: int = 2_000, size: int = 5_000_000) -> Session:
    """Return a session of about `size` characters: a user's message, a call, its result and an
    answer, over and over. Always the same for the same arguments."""
    source = random.Random(1)
    words = ["tide", "berth", '"quoted"', "<b>", "line\n", "{x}", "ä", "ship", "\\n", "```"]
    text = " ".join(source.choices(words, k=size // messages // 4))
    turns: list[Message] = []
    for index in range(messages // 4):
        call = ToolCallPart(f"call_{index}", "write_file", {"path": f"{index}.md", "content": text})
        turns += [
            Message("user", (TextPart(f"Turn {index}. {text[: size // messages]}"),)),
            Message("assistant", (TextPart("I will write it."), call)),
            Message("tool", (ToolResultPart(f"call_{index}", "write_file", text),)),
            Message("assistant", (TextPart(text[: size // messages]),)),
        ]
    task = TaskConfig(user_agent_prompt="You keep the files of a harbour.")
    return Session(title="large", task=task, tools=(TOOL,), messages=tuple(turns))
