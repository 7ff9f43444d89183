"""The kinds of things that can be declared and found by name in Flink-Agents, and their base."""

from __future__ import annotations

from enum import StrEnum


class ResourceType(StrEnum):
    """The kinds of things that can be declared and found by name."""

    PROMPT = "prompt"
    TOOL = "tool"
    CHAT_MODEL = "chat_model"
