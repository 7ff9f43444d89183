"""The names of guides that scripts import, from `playground.lab.guides`."""

from playground.plugins.guides.guide import Guide, NoGuide, guide_for
from playground.plugins.guides.llama_dialogs import (
    BuiltinTool,
    RawMessage,
    StopReason,
    ToolCall,
    ToolPromptFormat,
    llama3_1_builtin_code_interpreter_dialog,
    llama3_1_builtin_tool_call_dialog,
    llama3_1_custom_tool_call_dialog,
    llama_dates,
)
from playground.plugins.guides.use_case import Dialog, TextCompletion, UseCase

TextCompletionContent = TextCompletion  # Meta's name

__all__ = [
    "BuiltinTool",
    "Dialog",
    "Guide",
    "NoGuide",
    "RawMessage",
    "StopReason",
    "TextCompletion",
    "TextCompletionContent",
    "ToolCall",
    "ToolPromptFormat",
    "UseCase",
    "guide_for",
    "llama3_1_builtin_code_interpreter_dialog",
    "llama3_1_builtin_tool_call_dialog",
    "llama3_1_custom_tool_call_dialog",
    "llama_dates",
]
