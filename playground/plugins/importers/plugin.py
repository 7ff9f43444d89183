"""The contributions of this plugin to the core: importers, and an export as OpenTelemetry."""

from __future__ import annotations

from typing import Final

from playground.base.registry import Plugin, SessionForm

_TRACES: Final = (  # traces of tracing and evaluation tools, and recorded HTTP
    "langfuse_trace:LangfuseTrace",
    "langsmith_runs:LangSmithRuns",
    "openinference_spans:OpenInferenceSpans",
    "ai_sdk_spans:AiSdkSpans",
    "otel_spans:OtelSpans",
    "model_calls:MlflowTrace",
    "model_calls:WeaveCalls",
    "model_calls:PostHogEvents",
    "atof:Atof",
    "inspect_log:InspectLog",
    "har:Har",
    "nock:Nock",
    "llama_stack:LlamaStack",
    "httprr:Httprr",
    "vcr_cassette:VcrCassette",
    "copilot_sdk:CopilotSdk",
    "httpmock:Httpmock",
)
_TRANSCRIPTS: Final = (  # sessions of agents and chats
    "tau_bench:TauBench",
    "tau_bench:Tau2Ticks",
    "swe_agent:SweAgent",
    "swe_agent:MiniSweAgent",
    "swe_agent:SweAgentDemo",
    "openhands:OpenHandsLlmLog",
    "openhands_sdk:OpenHandsSdk",
    "openhands:OpenHandsEvents",
    "openhands:OpenHandsOutput",
    "cline_task:ClineTask",
    "opencode:OpencodeExport",
    "opencode:Opencode",
    "openai_agents:OpenAIAgentsRun",
    "chatgpt_export:ChatGptExport",
    "claude_ai_export:ClaudeAiExport",
    "librechat:LibreChat",
    "lm_studio:LmStudio",
    "zed_thread:ZedThread",
    "copilot_chat:CopilotChat",
    "llm_logs:LlmLogs",
    "openai_lists:OpenAILists",
    "ai_studio:AiStudio",
    "adk_eval:AdkEval",
    "a2a_task:A2aTask",
    "copilot_cli:CopilotCli",
    "antigravity:Antigravity",
    "managed_agents:ManagedAgents",
    "pi_session:PiSession",
    "goose:Goose",
    "kimi_wire:KimiWire",
    "agent_sdk:ClaudeAgentSdk",
    "claude_code:ClaudeStream",
    "claude_code:ClaudeCode",
    "gemini_stream:GeminiStream",
    "codex_exec:CodexExec",
    "codex_rollout:CodexRollout",
    "gemini_cli_responses:GeminiCliResponses",
    "gemini_cli_chat:GeminiCliChat",
    "aider:AiderLlmHistory",
    "aider:AiderChatHistory",
    "markdown_history:MarkdownHistory",
)
_ROWS: Final = (  # rows of training data
    "pydantic_ai:PydanticAi",
    "sharegpt:ShareGpt",
    "training_rows:Xlam",
    "training_rows:Glaive",
    "training_rows:Alpaca",
)


def _targets(listed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"playground.plugins.importers.{target}" for target in listed)


_OTEL: Final = "playground.plugins.importers.otel_export"
PLUGIN: Final = Plugin(
    narrow_formats={  # a format of the core -> those that are tried before it
        "RequestRows": _targets(_TRACES),
        "WireStream": _targets(_TRANSCRIPTS),
        "AnthropicMessages": _targets(_ROWS),
    },
    session_forms={
        "otel": SessionForm(f"{_OTEL}:dump_otel", ("recordings", "rows"), f"{_OTEL}:unknown_times")
    },
)
