"""Every format of session files: one file each, one line here.

The first that recognises a file reads it, so narrower formats stand before wider ones.
"""

from __future__ import annotations

from typing import Final

from playground.errors import UnknownNameError
from playground.sessions.formats.ai_sdk_spans import AiSdkSpans
from playground.sessions.formats.aider import AiderChatHistory, AiderLlmHistory
from playground.sessions.formats.antigravity import Antigravity
from playground.sessions.formats.any_chat import AnyChat
from playground.sessions.formats.atif import Atif
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import FineTuning, MessageLines
from playground.sessions.formats.chat_requests import (
    AnthropicMessages,
    GeminiContents,
    OpenAIChat,
)
from playground.sessions.formats.chatgpt_export import ChatGptExport
from playground.sessions.formats.claude_ai_export import ClaudeAiExport
from playground.sessions.formats.claude_code import ClaudeCode, ClaudeStream
from playground.sessions.formats.cline_task import ClineTask
from playground.sessions.formats.codex_exec import CodexExec
from playground.sessions.formats.codex_rollout import CodexRollout
from playground.sessions.formats.copilot_cli import CopilotCli
from playground.sessions.formats.gemini_cli_chat import GeminiCliChat
from playground.sessions.formats.gemini_cli_responses import GeminiCliResponses
from playground.sessions.formats.gemini_stream import GeminiStream
from playground.sessions.formats.goose import Goose
from playground.sessions.formats.har import Har
from playground.sessions.formats.inspect_log import InspectLog
from playground.sessions.formats.kimi_wire import KimiWire
from playground.sessions.formats.langfuse_trace import LangfuseTrace
from playground.sessions.formats.langsmith_runs import LangSmithRuns
from playground.sessions.formats.llama_stack import LlamaStack
from playground.sessions.formats.managed_agents import ManagedAgents
from playground.sessions.formats.markdown_history import MarkdownHistory
from playground.sessions.formats.nock import Nock
from playground.sessions.formats.opencode import Opencode, OpencodeExport
from playground.sessions.formats.openhands import (
    OpenHandsEvents,
    OpenHandsLlmLog,
    OpenHandsOutput,
)
from playground.sessions.formats.openinference_spans import OpenInferenceSpans
from playground.sessions.formats.otel_spans import OtelSpans
from playground.sessions.formats.pi_session import PiSession
from playground.sessions.formats.playground_sessions import PlaygroundSession
from playground.sessions.formats.pydantic_ai import PydanticAi
from playground.sessions.formats.refusal import refusal
from playground.sessions.formats.request_rows import RequestRows
from playground.sessions.formats.sharegpt import ShareGpt
from playground.sessions.formats.swe_agent import MiniSweAgent, SweAgent
from playground.sessions.formats.tau_bench import TauBench
from playground.sessions.formats.training_rows import Alpaca, Glaive, Xlam
from playground.sessions.formats.vcr_cassette import VcrCassette
from playground.sessions.formats.whole_replies import WholeReply
from playground.sessions.formats.wire_streams import RecordingFile, WireStream
from playground.sessions.source import Source

FORMATS: Final[tuple[SessionFormat, ...]] = (
    PlaygroundSession(),
    RecordingFile(),
    Atif(),
    LangfuseTrace(),
    LangSmithRuns(),
    OpenInferenceSpans(),
    AiSdkSpans(),
    OtelSpans(),
    InspectLog(),
    Har(),
    Nock(),
    LlamaStack(),
    VcrCassette(),
    RequestRows(),
    TauBench(),
    SweAgent(),
    MiniSweAgent(),
    OpenHandsLlmLog(),
    OpenHandsEvents(),
    OpenHandsOutput(),
    ClineTask(),
    OpencodeExport(),
    Opencode(),
    ChatGptExport(),
    ClaudeAiExport(),
    CopilotCli(),
    Antigravity(),
    ManagedAgents(),
    PiSession(),
    Goose(),
    KimiWire(),
    ClaudeStream(),
    ClaudeCode(),
    GeminiStream(),
    CodexExec(),
    CodexRollout(),
    GeminiCliResponses(),
    GeminiCliChat(),
    AiderLlmHistory(),
    AiderChatHistory(),
    MarkdownHistory(),
    WireStream(),
    WholeReply(),
    PydanticAi(),
    ShareGpt(),
    Xlam(),
    Glaive(),
    Alpaca(),
    AnthropicMessages(),
    GeminiContents(),
    OpenAIChat(),
    FineTuning(),
    MessageLines(),
    AnyChat(),
)


def format_names() -> list[str]:
    """The names that an importer can be asked for by."""
    return [each.name for each in FORMATS]


def get_format(name: str) -> SessionFormat:
    """A format by its name. Raises UnknownNameError, listing those that there are."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise UnknownNameError("format", name, format_names())


def recognised(source: Source) -> SessionFormat:
    """The format of a file. Raises InputFault where it is none of these."""
    for each in FORMATS:
        if _is_its_own(each, source):
            return each
    if isinstance(source.document, dict) and "format" in source.document:
        return FORMATS[0]  # a format of ours that is not: its own error is the better one
    raise refusal(source)


def _is_its_own(each: SessionFormat, source: Source) -> bool:
    try:
        return each.recognises(source)
    except (AttributeError, TypeError, KeyError, IndexError, ValueError):
        return False  # a shape that it did not foresee is not its own


__all__ = ["FORMATS", "Keeps", "SessionFormat", "format_names", "get_format", "recognised"]
