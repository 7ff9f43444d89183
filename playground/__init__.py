"""The dialect playground: one session in every tool-call dialect, offline and deterministic.

Names are loaded when they are first used, so that importing this package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "ChatTemplate": "playground.dialects.raw_prompts",
    "DeclaredDialect": "playground.dialects",
    "Dialect": "playground.dialects",
    "DialectParser": "playground.parsing.parser",
    "InputFault": "playground.base.errors",
    "Message": "playground.nouns.messages",
    "PlaygroundError": "playground.base.errors",
    "PromptData": "playground.nouns.prompt_data",
    "Session": "playground.sessions.session",
    "Switches": "playground.parsing.switches",
    "Syntax": "playground.parsing.syntax",
    "SyntaxFault": "playground.base.errors",
    "ToolMetadata": "playground.nouns.tools",
    "UnknownNameError": "playground.base.errors",
    "WhatIf": "playground.cache.answers.what_if",
    "audit_template": "playground.dialects.raw_prompts.audit",
    "cache_matrix": "playground.cache.answers.simulation",
    "cache_on_wire": "playground.cache.answers.wire",
    "carry": "playground.questions.carry",
    "compare": "playground.questions.comparison",
    "count_tokens": "playground.questions.token_counts",
    "decode_stream": "playground.recordings.decoding",
    "detect": "playground.questions.detection",
    "dialect_findings": "playground.dialects",
    "dialect_for": "playground.dialects.models",
    "dialect_names": "playground.dialects",
    "diff": "playground.questions.versions",
    "dump_dialect": "playground.dialects.files",
    "get_dialect": "playground.dialects",
    "load_dialect": "playground.dialects.files",
    "load_policy": "playground.dialects.marks.own_policies",
    "load_recording": "playground.sessions.loading",
    "load_session": "playground.sessions.loading",
    "load_sessions": "playground.sessions.loading",
    "load_tools": "playground.sessions.tool_files",
    "parse": "playground.dialects.reading",
    "place_cache": "playground.cache.answers.placement",
    "provider_payload": "playground.questions.provider_payload",
    "raw_prompt": "playground.questions.raw_prompt",
    "read_recording": "playground.sessions.native_format",
    "read_tools": "playground.nouns.tool_formats",
    "replay": "playground.questions.timeline",
    "sample_sessions": "playground.sessions.loading",
    "session": "playground.sessions.in_memory",
    "simulate_cache": "playground.cache.answers.simulation",
    "tool_costs": "playground.questions.tool_schemas",
    "tool_portability": "playground.questions.tool_schemas",
}

# Names that a plugin brings, looked up in the registry; it reports a plugin that is missing.
_OF_PLUGINS = {
    "ChatAdapter": "systems",
    "JSONAdapter": "systems",
    "Signature": "systems",
    "XMLAdapter": "systems",
    "check_dialect": "own_dialects",
    "compaction": "savings",
    "corpus": "corpus",
    "dialect_from_template": "own_dialects",
    "expect": "trials",
    "guide_for": "guides",
    "plan_tools": "savings",
    "propose_dialect": "own_dialects",
    "trial": "trials",
}

__all__ = [
    "ChatAdapter",
    "ChatTemplate",
    "DeclaredDialect",
    "Dialect",
    "DialectParser",
    "InputFault",
    "JSONAdapter",
    "Message",
    "PlaygroundError",
    "PromptData",
    "Session",
    "Signature",
    "Switches",
    "Syntax",
    "SyntaxFault",
    "ToolMetadata",
    "UnknownNameError",
    "WhatIf",
    "XMLAdapter",
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
    "propose_dialect",
    "provider_payload",
    "raw_prompt",
    "read_recording",
    "read_tools",
    "replay",
    "sample_sessions",
    "session",
    "simulate_cache",
    "tool_costs",
    "tool_portability",
    "trial",
]

if TYPE_CHECKING:
    from playground.base.errors import InputFault, PlaygroundError, SyntaxFault, UnknownNameError
    from playground.cache.answers.placement import place_cache
    from playground.cache.answers.simulation import cache_matrix, simulate_cache
    from playground.cache.answers.what_if import WhatIf
    from playground.cache.answers.wire import cache_on_wire
    from playground.corpora import corpus
    from playground.dialects import (
        DeclaredDialect,
        Dialect,
        dialect_findings,
        dialect_names,
        get_dialect,
    )
    from playground.dialects.files import dump_dialect, load_dialect
    from playground.dialects.marks.own_policies import load_policy
    from playground.dialects.models import dialect_for
    from playground.dialects.raw_prompts import ChatTemplate
    from playground.dialects.raw_prompts.audit import audit_template
    from playground.dialects.reading import parse
    from playground.lab.derivation import dialect_from_template, propose_dialect
    from playground.lab.guides import guide_for
    from playground.lab.laws import check_dialect
    from playground.lab.savings import compaction, plan_tools
    from playground.nouns.messages import Message
    from playground.nouns.prompt_data import PromptData
    from playground.nouns.tool_formats import read_tools
    from playground.nouns.tools import ToolMetadata
    from playground.parsing.parser import DialectParser
    from playground.parsing.switches import Switches
    from playground.parsing.syntax import Syntax
    from playground.questions.carry import carry
    from playground.questions.comparison import compare
    from playground.questions.detection import detect
    from playground.questions.provider_payload import provider_payload
    from playground.questions.raw_prompt import raw_prompt
    from playground.questions.timeline import replay
    from playground.questions.token_counts import count_tokens
    from playground.questions.tool_schemas import tool_costs, tool_portability
    from playground.questions.trials import expect, trial
    from playground.questions.versions import diff
    from playground.recordings.decoding import decode_stream
    from playground.sessions.in_memory import session
    from playground.sessions.loading import (
        load_recording,
        load_session,
        load_sessions,
        sample_sessions,
    )
    from playground.sessions.native_format import read_recording
    from playground.sessions.session import Session
    from playground.sessions.tool_files import load_tools
    from playground.signatures import ChatAdapter, JSONAdapter, Signature, XMLAdapter


# Modules that scripts reach as attributes of the package: a door is not loaded by others.
_DOORS = frozenset({"errors", "events", "messages", "raw_prompts", "tools"})


def __getattr__(name: str) -> Any:
    if name in _DOORS:
        return import_module(f"playground.{name}")
    if name in _OF_PLUGINS:
        from playground.base.registry import public_name

        return public_name(_OF_PLUGINS[name], name)
    if name not in _WHERE:
        raise AttributeError(f"module 'playground' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magics `%%reply` and `%%prompt`; for IPython's `%load_ext playground`."""
    from playground.base.registry import public_name

    public_name("notebooks", "load_ipython_extension")(shell)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
