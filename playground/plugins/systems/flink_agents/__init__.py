"""Prompts, tools, chat models and agents with the classes and rules of Apache Flink-Agents."""

from playground.nouns.tool_formats import create_schema_from_function
from playground.plugins.systems.flink_agents.agent import Action, Agent, action
from playground.plugins.systems.flink_agents.chat_message import ChatMessage, MessageRole
from playground.plugins.systems.flink_agents.chat_model import (
    BaseChatModel,
    ChatModel,
    ChatModelSetup,
    ScriptedModel,
)
from playground.plugins.systems.flink_agents.completion import Completion
from playground.plugins.systems.flink_agents.connections import (
    BaseChatModelConnection,
    BaseChatModelSetup,
)
from playground.plugins.systems.flink_agents.declarations import (
    Resources,
    chat_model,
    chat_model_connection,
    chat_model_setup,
    embedding_model_connection,
    embedding_model_setup,
    load_declarations,
    mcp_server,
    prompt,
    scan,
    skills,
    tool,
    vector_store,
)
from playground.plugins.systems.flink_agents.events import (
    ChatRequestEvent,
    ChatResponseEvent,
    Event,
    InputEvent,
    OutputEvent,
    ToolRequestEvent,
    ToolResponseEvent,
)
from playground.plugins.systems.flink_agents.flow import chat_events
from playground.plugins.systems.flink_agents.litellm_model import LiteLLMModel
from playground.plugins.systems.flink_agents.memory import MemoryObject, MemoryRef
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.react_agent import ReActAgent
from playground.plugins.systems.flink_agents.resource import (
    Resource,
    ResourceDescriptor,
    ResourceType,
    SerializableResource,
)
from playground.plugins.systems.flink_agents.runner import (
    AgentConfiguration,
    AgentExecutionOptions,
    AgentsExecutionEnvironment,
    ErrorHandlingStrategy,
    LocalRunner,
    RunnerContext,
    process_chat_request_or_tool_response,
    process_tool_request,
)
from playground.plugins.systems.flink_agents.tool_metadata import ToolMetadata
from playground.plugins.systems.flink_agents.tools import BaseTool, FunctionTool, ToolType
from playground.plugins.systems.flink_agents.yaml_agents import load_yaml

__all__ = [
    "Action",
    "Agent",
    "AgentConfiguration",
    "AgentExecutionOptions",
    "AgentsExecutionEnvironment",
    "BaseChatModel",
    "BaseChatModelConnection",
    "BaseChatModelSetup",
    "BaseTool",
    "ChatMessage",
    "ChatModel",
    "ChatModelSetup",
    "ChatRequestEvent",
    "ChatResponseEvent",
    "Completion",
    "ErrorHandlingStrategy",
    "Event",
    "FunctionTool",
    "InputEvent",
    "LiteLLMModel",
    "LocalRunner",
    "MemoryObject",
    "MemoryRef",
    "MessageRole",
    "OutputEvent",
    "Prompt",
    "ReActAgent",
    "Resource",
    "ResourceDescriptor",
    "ResourceType",
    "Resources",
    "RunnerContext",
    "ScriptedModel",
    "SerializableResource",
    "ToolMetadata",
    "ToolRequestEvent",
    "ToolResponseEvent",
    "ToolType",
    "action",
    "chat_events",
    "chat_model",
    "chat_model_connection",
    "chat_model_setup",
    "create_schema_from_function",
    "embedding_model_connection",
    "embedding_model_setup",
    "load_declarations",
    "load_yaml",
    "mcp_server",
    "process_chat_request_or_tool_response",
    "process_tool_request",
    "prompt",
    "scan",
    "skills",
    "tool",
    "vector_store",
]
