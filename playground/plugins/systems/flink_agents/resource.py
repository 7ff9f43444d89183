"""The kinds of resources in Flink-Agents: things that are declared and looked up by name."""

from __future__ import annotations

from enum import StrEnum


class ResourceType(StrEnum):
    """The kind of a resource."""

    PROMPT = "prompt"
    TOOL = "tool"
    CHAT_MODEL = "chat_model"
