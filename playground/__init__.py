r"""The dialect playground: one session in every tool-call dialect, offline and deterministic.

A session holds messages, tools and recorded replies. A dialect is the form in which a model reads
about its tools and writes its calls. Names come from `dialect_names()`, `policy_names()`,
`provider_names()`, `server_names()` and `api_names()`; samples from `sample_sessions()`.

A session from messages of any provider; `load_session(path)` reads files and logs of any format:

>>> import playground as pg
>>> tool = {"name": "get_tides", "parameters": {"properties": {"harbour": {"type": "string"}}}}
>>> turn = [{"role": "user", "content": "Tides?"}, {"role": "assistant", "content": "Where?"}]
>>> session = pg.session([*turn, *turn, {"role": "user", "content": "At Brest."}], [tool],
...     system="You know every harbour. " * 400, model="anthropic/claude-sonnet-4-5", title="Tides")

The request in five dialects. Every answer shows itself in a notebook, prints as a table, and has
`.frame()` (pandas) and `.html()` (a page); most have `.figure()` (plotly):

>>> five = pg.compare(session, ["xml", "json", "hermes", "qwen3-coder", "native"])
>>> five
Comparison('Tides' in xml, json, hermes, qwen3-coder, native)
>>> request = five["hermes"].rendering.messages  # what would be sent; print(five) shows the sizes

Marks for a provider's cache as a policy places them, and what each policy reads and costs:

>>> pg.place_cache(session, "xml", policy="claude-code")
CachePlacement(claude-code in xml, 3 of 7 parts marked, anthropic/claude-sonnet-4-5)
>>> for policy in ("claude-code", "none"):
...     pg.simulate_cache(session, "xml", policy=policy)
CacheSimulation(claude-code in xml, 3 requests to anthropic, read 0.664, cost 0.485 of the full p...
CacheSimulation(none in xml, 3 requests to anthropic, read 0.00, cost 1.00 of the full price)

A recorded reply, read by two dialects' parsers, and as a server hands it over. A recording is text
of your own, or a provider's raw stream (`load_recording`, `decode_stream`):

>>> text = "I look.\n<get_tides><harbour>Brest</harbour></get_tides>"
>>> reply = pg.recording(text, "xml", name="a reply")
>>> pg.replay(reply, "xml", session.tools)
Timeline('a reply' in xml, 1 call (get_tides), 8 characters of content, 0 findings)
>>> pg.replay(reply, "xml", session.tools).result.tool_calls[0].arguments  # also .result.findings
{'harbour': 'Brest'}
>>> pg.replay(reply, "hermes", session.tools)
Timeline('a reply' in hermes, 0 calls, 55 characters of content, 1 finding)
>>> pg.replay(reply, "xml", session.tools, server="vllm")  # .handed is what its client gets
Timeline('a reply' in xml, vllm hands over 0 of 1 call, drops 0 characters)

A trial: in which dialect does a model call best? `serving` is a scripted server on this machine;
its `demo-taught` calls in the dialect of its prompt with made-up arguments. Others need a key:

>>> with pg.serving(session.tools) as server:
...     plan = pg.trial(session, ["xml", "hermes"], models="openai/demo-taught", repeats=3,
...         expected=pg.expect("get_tides"), base_url=server.url)
...     trial = plan.run()  # print(plan.cost) says before what it will cost
>>> trial
Trial(6 attempts. Nothing is proven: no difference was seen (xml 3 of 3; hermes 3 of 3 right).)

What is worth keeping: a page, a session with its replies, a figure:

>>> from pathlib import Path
>>> page = Path("five.html").write_text(five.html(), encoding="utf-8")
>>> model = session.named_model
>>> kept = pg.session(session.messages, session.tools, model=model, recordings=[reply])
>>> file = Path("session.json").write_text(pg.dump_session(kept), encoding="utf-8")
>>> pg.load_session("session.json").recordings
(Recording('a reply' in xml, 7 chunks with 55 characters of text),)
>>> figure = pg.simulate_cache(session, "xml").figure()  # figure.write_html("cache.html")

A wrong name raises UnknownNameError with near ones, other wrong input InputFault with what would be
right. A model's text never raises: it has findings. See also `help(pg.NAME)`.
"""

# Names are loaded when they are first used, so that importing this package stays light.

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "ChatTemplate": "playground.dialects.raw_prompts",
    "DeclaredDialect": "playground.dialects",
    "Dialect": "playground.dialects",
    "DialectParser": "playground.parsing.parser",
    "ExpectedCall": "playground.sessions.session",
    "InputFault": "playground.base.errors",
    "Message": "playground.nouns.messages",
    "PROVIDERS": "playground.questions.provider_models",
    "PlaygroundError": "playground.base.errors",
    "Policy": "playground.dialects.marks.policies",
    "PromptData": "playground.nouns.prompt_data",
    "Recording": "playground.recordings.recording",
    "Session": "playground.sessions.session",
    "Switches": "playground.parsing.switches",
    "Syntax": "playground.parsing.syntax",
    "SyntaxFault": "playground.base.errors",
    "ToolMetadata": "playground.nouns.tools",
    "UnknownNameError": "playground.base.errors",
    "WhatIf": "playground.cache.answers.what_if",
    "api_names": "playground.recordings.apis",
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
    "dump_session": "playground.sessions.native_format",
    "get_dialect": "playground.dialects",
    "load_dialect": "playground.dialects.files",
    "load_policy": "playground.dialects.marks.own_policies",
    "load_recording": "playground.sessions.loading",
    "load_session": "playground.sessions.loading",
    "load_sessions": "playground.sessions.loading",
    "load_tools": "playground.sessions.tool_files",
    "parse": "playground.dialects.reading",
    "place_cache": "playground.cache.answers.placement",
    "policy_names": "playground.dialects.marks.policies",
    "provider_names": "playground.cache.rules",
    "provider_payload": "playground.questions.provider_payload",
    "raw_prompt": "playground.questions.raw_prompt",
    "read_recording": "playground.sessions.native_format",
    "read_tools": "playground.nouns.tool_formats",
    "recording": "playground.sessions.in_memory",
    "replay": "playground.questions.timeline",
    "sample_sessions": "playground.sessions.loading",
    "server_names": "playground.questions.server_view",
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
    "serving": "trials",
    "trial": "trials",
}

__all__ = [
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
]

if TYPE_CHECKING:
    from playground.base.errors import InputFault, PlaygroundError, SyntaxFault, UnknownNameError
    from playground.cache.answers.placement import place_cache
    from playground.cache.answers.simulation import cache_matrix, simulate_cache
    from playground.cache.answers.what_if import WhatIf
    from playground.cache.answers.wire import cache_on_wire
    from playground.cache.rules import provider_names
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
    from playground.dialects.marks.policies import Policy, policy_names
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
    from playground.questions.provider_models import PROVIDERS
    from playground.questions.provider_payload import provider_payload
    from playground.questions.raw_prompt import raw_prompt
    from playground.questions.server_view import server_names
    from playground.questions.timeline import replay
    from playground.questions.token_counts import count_tokens
    from playground.questions.tool_schemas import tool_costs, tool_portability
    from playground.questions.trials import expect, serving, trial
    from playground.questions.versions import diff
    from playground.recordings.apis import api_names
    from playground.recordings.decoding import decode_stream
    from playground.recordings.recording import Recording
    from playground.sessions.in_memory import recording, session
    from playground.sessions.loading import (
        load_recording,
        load_session,
        load_sessions,
        sample_sessions,
    )
    from playground.sessions.native_format import dump_session, read_recording
    from playground.sessions.session import ExpectedCall, Session
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
