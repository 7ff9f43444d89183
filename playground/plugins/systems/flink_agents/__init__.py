"""Prompts, tools and chat models with the classes and rules of Apache Flink-Agents."""

from playground.nouns.tool_formats import create_schema_from_function
from playground.plugins.systems.flink_agents.chat_message import ChatMessage, MessageRole
from playground.plugins.systems.flink_agents.chat_model import (
    BaseChatModel,
    ChatModel,
    ChatModelSetup,
    ScriptedModel,
)
from playground.plugins.systems.flink_agents.completion import Completion
from playground.plugins.systems.flink_agents.declarations import (
    Resources,
    chat_model,
    chat_model_setup,
    load_declarations,
    prompt,
    scan,
    tool,
)
from playground.plugins.systems.flink_agents.flow import chat_events
from playground.plugins.systems.flink_agents.litellm_model import LiteLLMModel
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.resource import ResourceType
from playground.plugins.systems.flink_agents.tool_metadata import ToolMetadata
from playground.plugins.systems.flink_agents.tools import BaseTool, FunctionTool, ToolType

__all__ = [
    "BaseChatModel",
    "BaseTool",
    "ChatMessage",
    "ChatModel",
    "ChatModelSetup",
    "Completion",
    "FunctionTool",
    "LiteLLMModel",
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
