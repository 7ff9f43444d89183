"""What scripts outside of this repository import stays where it is, wherever the rooms move."""

from __future__ import annotations

import ast
import pydoc
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import playground

PROMISED = {
    "playground": [
        "ChatAdapter",
        "ChatTemplate",
        "DeclaredDialect",
        "Dialect",
        "DialectParser",
        "ExpectedCall",
        "InputFault",
        "JSONAdapter",
        "Message",
        "PROVIDERS",
        "PlaygroundError",
        "Policy",
        "PromptData",
        "Recording",
        "Session",
        "Signature",
        "Switches",
        "Syntax",
        "SyntaxFault",
        "ToolMetadata",
        "UnknownNameError",
        "WhatIf",
        "XMLAdapter",
        "api_names",
        "audit_template",
        "cache_matrix",
        "cache_on_wire",
        "carry",
        "check_dialect",
        "compaction",
        "compare",
        "corpus",
        "count_tokens",
        "decode_stream",
        "detect",
        "dialect_findings",
        "dialect_for",
        "dialect_from_template",
        "dialect_names",
        "diff",
        "dump_dialect",
        "dump_session",
        "expect",
        "get_dialect",
        "guide_for",
        "load_dialect",
        "load_policy",
        "load_recording",
        "load_session",
        "load_sessions",
        "load_tools",
        "parse",
        "place_cache",
        "plan_tools",
        "policy_names",
        "propose_dialect",
        "provider_names",
        "provider_payload",
        "raw_prompt",
        "read_recording",
        "read_tools",
        "recording",
        "replay",
        "sample_sessions",
        "server_names",
        "serving",
        "session",
        "simulate_cache",
        "tool_costs",
        "tool_portability",
        "trial",
    ],
    "playground.messages": ["Message", "ToolCallPart", "ToolResultPart", "TextPart"],
    "playground.tools": ["ToolMetadata"],
    "playground.events": [
        "TextEvent",
        "ReasoningEvent",
        "MarkupEvent",
        "CallStartedEvent",
        "CallNamedEvent",
        "ArgumentEvent",
        "CallEndedEvent",
        "CallAbortedEvent",
        "FindingEvent",
        "Span",
    ],
    "playground.dialects": ["Dialect", "DeclaredDialect", "dialect_names", "get_dialect"],
    "playground.parsing.parser": ["DialectParser"],
    "playground.parsing.syntax": ["Syntax"],
    "playground.agents": [
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
    ],
    "playground.templates": [
        "Rendered",
        "TemplateFault",
        "execute",
        "render",
    ],
    "playground.conversations": [
        "Answers",
        "Outcome",
        "RecordedAnswers",
        "Sent",
        "Step",
        "TemplateSet",
        "check_templates",
        "dump_templates",
        "load_templates",
        "parse_templates",
        "recorded_results",
        "run",
    ],
    "playground.signatures": [
        "AnswerFault",
        "Audio",
        "ChatAdapter",
        "Code",
        "Field",
        "FieldAdapter",
        "FieldRead",
        "FieldStream",
        "FieldType",
        "File",
        "History",
        "Image",
        "InputField",
        "JSONAdapter",
        "OutputField",
        "Reasoning",
        "Signature",
        "Tool",
        "ToolCalls",
        "XMLAdapter",
    ],
    "playground.corpora": ["Corpus", "corpus"],
    "playground.errors": ["InputFault", "PlaygroundError", "UnknownNameError"],
    "playground.raw_prompts": ["ChatTemplate"],
    "playground.tool_formats.mcp_servers": ["ask_servers", "read_servers"],
    "playground.recordings.scrubbing": ["scrubbed"],
    "playground.testing": ["check_against", "check_cache"],
}


@pytest.mark.parametrize("path", PROMISED)
def test_a_promised_name_is_there(path: str) -> None:
    module = import_module(path)
    assert [name for name in PROMISED[path] if not hasattr(module, name)] == []


def test_nothing_is_public_without_a_promise() -> None:
    """A new name of the public face is written here too, by hand: that is the promise."""
    assert set(playground.__all__) <= set(PROMISED["playground"])


def test_a_type_checker_sees_the_names_that_are_loaded() -> None:
    tree = ast.parse(Path(playground.__file__).with_suffix(".pyi").read_text())
    seen = {
        (alias.name, node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name  # only so it is public
    }
    brought = {name: module for name, module in seen if name in playground._OF_PLUGINS}
    assert seen - set(brought.items()) == set(playground._WHERE.items())
    assert set(brought) == set(playground._OF_PLUGINS)
    doors = {
        "corpora",
        "lab.audit",
        "lab.derivation",
        "lab.guides",
        "lab.laws",
        "lab.savings",
        "questions.trials",
        "signatures",
    }
    assert set(brought.values()) == {f"playground.{door}" for door in doors}
    assert sorted([*playground._WHERE, *playground._OF_PLUGINS]) == playground.__all__


def test_help_is_one_page_and_a_star_import_has_every_name() -> None:
    """`help` prints in full each name of an `__all__`: 3,800 lines, most of them pydantic's."""
    page = pydoc.plain(pydoc.render_doc(playground))
    assert len(page.splitlines()) < 150
    names: dict[str, object] = {}
    exec("from playground import *", names)
    assert names.keys() >= {*PROMISED["playground"]} - {"load_ipython_extension"}
    tour = (playground.__doc__ or "").partition(">>>")[0]
    of_types = "Dialect DeclaredDialect Syntax Switches Policy Recording Session Signature"
    of_types += " ChatTemplate DialectParser ExpectedCall InputFault PlaygroundError PromptData"
    of_types += " SyntaxFault UnknownNameError JSONAdapter XMLAdapter PROVIDERS"
    missing = {n for n in playground.__all__ if not re.search(rf"\b{n}\b", tour)}
    assert missing - {*of_types.split()} == {"dialect_findings", "read_recording"}


@pytest.mark.parametrize("path", PROMISED)
def test_each_path_can_be_the_first_import(path: str) -> None:
    """No path stands only because another was imported before it."""
    command = [sys.executable, "-c", f"from {path} import {PROMISED[path][0]}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
