"""List the formats of session files, in the order in which they are tried.

The first that recognises a file reads it, so narrower formats stand before wider ones. A format's
module is loaded when its turn comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import starmap
from typing import Final, overload

from playground.base.errors import UnknownNameError
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.source import Source

_FORMATS: Final = (  # file, class
    ("playground_sessions", "PlaygroundSession"),
    ("workspace_entries", "WorkspaceEntry"),
    ("wire_streams", "RecordingFile"),
    ("atif", "Atif"),
    ("langfuse_trace", "LangfuseTrace"),
    ("langsmith_runs", "LangSmithRuns"),
    ("openinference_spans", "OpenInferenceSpans"),
    ("ai_sdk_spans", "AiSdkSpans"),
    ("otel_spans", "OtelSpans"),
    ("model_calls", "MlflowTrace"),
    ("model_calls", "WeaveCalls"),
    ("model_calls", "PostHogEvents"),
    ("atof", "Atof"),
    ("inspect_log", "InspectLog"),
    ("har", "Har"),
    ("nock", "Nock"),
    ("llama_stack", "LlamaStack"),
    ("httprr", "Httprr"),
    ("vcr_cassette", "VcrCassette"),
    ("copilot_sdk", "CopilotSdk"),
    ("httpmock", "Httpmock"),
    ("request_rows", "RequestRows"),
    ("tau_bench", "TauBench"),
    ("tau_bench", "Tau2Ticks"),
    ("swe_agent", "SweAgent"),
    ("swe_agent", "MiniSweAgent"),
    ("swe_agent", "SweAgentDemo"),
    ("openhands", "OpenHandsLlmLog"),
    ("openhands_sdk", "OpenHandsSdk"),
    ("openhands", "OpenHandsEvents"),
    ("openhands", "OpenHandsOutput"),
    ("cline_task", "ClineTask"),
    ("opencode", "OpencodeExport"),
    ("opencode", "Opencode"),
    ("openai_agents", "OpenAIAgentsRun"),
    ("chatgpt_export", "ChatGptExport"),
    ("claude_ai_export", "ClaudeAiExport"),
    ("librechat", "LibreChat"),
    ("lm_studio", "LmStudio"),
    ("zed_thread", "ZedThread"),
    ("copilot_chat", "CopilotChat"),
    ("llm_logs", "LlmLogs"),
    ("openai_lists", "OpenAILists"),
    ("ai_studio", "AiStudio"),
    ("adk_eval", "AdkEval"),
    ("a2a_task", "A2aTask"),
    ("copilot_cli", "CopilotCli"),
    ("antigravity", "Antigravity"),
    ("managed_agents", "ManagedAgents"),
    ("pi_session", "PiSession"),
    ("goose", "Goose"),
    ("kimi_wire", "KimiWire"),
    ("agent_sdk", "ClaudeAgentSdk"),
    ("claude_code", "ClaudeStream"),
    ("claude_code", "ClaudeCode"),
    ("gemini_stream", "GeminiStream"),
    ("codex_exec", "CodexExec"),
    ("codex_rollout", "CodexRollout"),
    ("gemini_cli_responses", "GeminiCliResponses"),
    ("gemini_cli_chat", "GeminiCliChat"),
    ("aider", "AiderLlmHistory"),
    ("aider", "AiderChatHistory"),
    ("markdown_history", "MarkdownHistory"),
    ("wire_streams", "WireStream"),
    ("whole_replies", "WholeReply"),
    ("pydantic_ai", "PydanticAi"),
    ("sharegpt", "ShareGpt"),
    ("training_rows", "Xlam"),
    ("training_rows", "Glaive"),
    ("training_rows", "Alpaca"),
    ("chat_requests", "AnthropicMessages"),
    ("chat_requests", "GeminiContents"),
    ("chat_requests", "OpenAIChat"),
    ("chat_lines", "FineTuning"),
    ("chat_lines", "MessageLines"),
    ("any_chat", "AnyChat"),
)


@cache
def _loaded(file: str, name: str) -> SessionFormat:
    found: SessionFormat = getattr(import_module(f"{__name__}.{file}"), name)()
    return found


class _Formats(Sequence[SessionFormat]):
    """The core's formats in their order, and then those of plugins; each is loaded when used."""

    def __len__(self) -> int:
        return len(_FORMATS) + len(_of_plugins())

    def __iter__(self) -> Iterator[SessionFormat]:
        yield from starmap(_loaded, _FORMATS)
        yield from _of_plugins()

    @overload
    def __getitem__(self, index: int) -> SessionFormat: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SessionFormat]: ...
    def __getitem__(self, index: int | slice) -> SessionFormat | Sequence[SessionFormat]:
        if isinstance(index, slice):
            return list(self)[index]
        if 0 <= index < len(_FORMATS):
            return _loaded(*_FORMATS[index])
        return list(self)[index]


@cache
def _of_plugins() -> tuple[SessionFormat, ...]:
    from playground.base.registry import load, plugins

    return tuple(load(target)() for plugin in plugins().values() for target in plugin.formats)


FORMATS: Final[Sequence[SessionFormat]] = _Formats()


def format_names() -> list[str]:
    """Return the names of all formats, as `get_format` takes them."""
    return [each.name for each in FORMATS]


def get_format(name: str) -> SessionFormat:
    """Return a format by its name. Raises UnknownNameError, which lists all names."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise UnknownNameError("format", name, format_names())


def recognised(source: Source) -> SessionFormat:
    """Return the format of a file. Raises InputFault if no format recognises it."""
    if (found := next(recognising(source), None)) is not None:
        return found
    if isinstance(source.document, dict) and "format" in source.document:
        return FORMATS[0]  # nearly a session of ours: that format's error is the clearest
    from playground.sessions.formats.refusal import refusal

    raise refusal(source)


def recognising(source: Source) -> Iterator[SessionFormat]:
    """Yield every format that recognises a file, the narrowest first."""
    for each in FORMATS:
        try:
            is_its_own = each.recognises(source)
        except (AttributeError, TypeError, KeyError, IndexError, ValueError):
            continue  # the file has a shape that this format does not know
        if is_its_own:
            yield each


__all__ = [
    "FORMATS",
    "Keeps",
    "SessionFormat",
    "format_names",
    "get_format",
    "recognised",
    "recognising",
]
