"""Prompt, Tool and ChatModel as Apache Flink-Agents has them: declared, filled, asked, called."""

from playground.agents.chat_message import ChatMessage, MessageRole
from playground.agents.chat_model import ChatModel, ChatModelSetup, Completion, ScriptedModel
from playground.agents.declarations import (
    Resources,
    ResourceType,
    chat_model,
    chat_model_setup,
    load_declarations,
    prompt,
    scan,
    tool,
)
from playground.agents.flow import chat_events
from playground.agents.prompt import Prompt
from playground.agents.tools import BaseTool, FunctionTool, ToolType
from playground.tool_formats import create_schema_from_function
from playground.tools import ToolMetadata

__all__ = [
    "BaseTool",
    "ChatMessage",
    "ChatModel",
    "ChatModelSetup",
    "Completion",
    "FunctionTool",
    "MessageRole",
    "Prompt",
    "ResourceType",
    "Resources",
    "ScriptedModel",
    "ToolMetadata",
    "ToolType",
    "chat_events",
    "chat_model",
    "chat_model_setup",
    "create_schema_from_function",
    "load_declarations",
    "prompt",
    "scan",
    "tool",
]
