"""What can be declared and found by name in Flink-Agents, and what everything declared can say."""

from __future__ import annotations

from enum import StrEnum


class ResourceType(StrEnum):
    """What can be declared and found by name."""

    PROMPT = "prompt"
    TOOL = "tool"
    CHAT_MODEL = "chat_model"
