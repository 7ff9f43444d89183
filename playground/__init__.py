r"""The dialect playground: one session in every tool-call dialect, offline and deterministic.

A session holds messages, tools and recorded replies. A dialect is the form in which a model reads
about its tools and writes its calls. Names by job; `help(pg.NAME)` says more of each:

- sessions: session, Message, ToolMetadata, load_session, load_sessions, sample_sessions,
  load_tools, read_tools, dump_session; many of them: corpus
- dialects: compare, get_dialect, dialect_names, dialect_for, guide_for, carry; of your own:
  load_dialect, dialect_from_template, propose_dialect, check_dialect, dump_dialect
- requests: provider_payload, raw_prompt, audit_template, diff, count_tokens, tool_costs,
  tool_portability, plan_tools, compaction, ChatAdapter
- cache: place_cache, simulate_cache, cache_matrix (several dialects and policies), cache_on_wire,
  WhatIf, policy_names, load_policy, provider_names
- replies: parse, recording, load_recording, decode_stream, api_names, replay, detect, server_names
- trials: trial, expect, serving

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
>>> pg.simulate_cache(session, "xml", policy="claude-code")  # print it: a row for each request
CacheSimulation(claude-code in xml, 3 requests to anthropic, read 0.664, cost 0.485 of the full p...
>>> pg.cache_matrix(session, ["xml", "hermes"], policies=["claude-code", "none"])
CacheMatrix(cost 0.485 to 1.00 of the full price: xml, hermes under claude-code, none)

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
>>> pg.replay(reply, "xml", session.tools, server="vllm")  # .findings say why, .delivered what came
Timeline('a reply' in xml, vllm hands over 0 of 1 call of a complete reply, drops ...: no-parser)

A trial: in which dialect does a model call best? `serving` is a scripted server on this machine:
its model `demo-taught` calls the tool that the user's last words name. Other models need a key:

>>> with pg.serving(session.tools) as server:
...     plan = pg.trial(session, ["xml", "hermes"], models="openai/demo-taught", repeats=3,
...         expected=pg.expect("get_tides", harbour="Brest"), base_url=server.url)
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

A wrong name raises UnknownNameError, which lists similar names; other wrong input raises
InputFault, which says what would be right. A model's text never raises: it has findings.
"""

# Names are loaded when they are first used, so that importing this package stays light.

from __future__ import annotations

from importlib import import_module
from sys import _getframe, modules
from typing import Any

__version__ = "0.1.0"

_BY_MODULE = {
    "base.errors": "InputFault PlaygroundError SyntaxFault UnknownNameError",
    "cache.answers.placement": "place_cache",
    "cache.answers.simulation": "cache_matrix simulate_cache",
    "cache.answers.what_if": "WhatIf",
    "cache.answers.wire": "cache_on_wire",
    "cache.rules": "provider_names",
    "dialects": "DeclaredDialect Dialect dialect_findings dialect_names get_dialect",
    "dialects.files": "dump_dialect load_dialect",
    "dialects.marks.own_policies": "load_policy",
    "dialects.marks.policies": "Policy policy_names",
    "dialects.models": "dialect_for",
    "dialects.raw_prompts": "ChatTemplate",
    "dialects.reading": "parse",
    "nouns.messages": "Message",
    "nouns.prompt_data": "PromptData",
    "nouns.tool_formats": "read_tools",
    "nouns.tools": "ToolMetadata",
    "parsing.parser": "DialectParser",
    "parsing.switches": "Switches",
    "parsing.syntax": "Syntax",
    "questions.carry": "carry",
    "questions.comparison": "compare",
    "questions.detection": "detect",
    "questions.provider_models": "PROVIDERS",
    "questions.provider_payload": "provider_payload",
    "questions.raw_prompt": "raw_prompt",
    "questions.server_view": "server_names",
    "questions.timeline": "replay",
    "questions.token_counts": "count_tokens",
    "questions.tool_schemas": "tool_costs tool_portability",
    "questions.versions": "diff",
    "recordings.apis": "api_names",
    "recordings.decoding": "decode_stream",
    "recordings.recording": "Recording",
    "sessions.in_memory": "recording session",
    "sessions.loading": "load_recording load_session load_sessions sample_sessions",
    "sessions.native_format": "dump_session read_recording",
    "sessions.session": "ExpectedCall Session",
    "sessions.tool_files": "load_tools",
}
_WHERE = {n: f"playground.{m}" for m, names in _BY_MODULE.items() for n in names.split()}

# Public names by their plugin. The registry looks them up, and reports a missing plugin.
_BY_PLUGIN = {
    "corpus": "corpus",
    "guides": "guide_for",
    "own_dialects": "audit_template check_dialect dialect_from_template propose_dialect",
    "savings": "compaction plan_tools",
    "systems": "ChatAdapter JSONAdapter Signature XMLAdapter",
    "trials": "expect serving trial",
}
_OF_PLUGINS = {name: plugin for plugin, names in _BY_PLUGIN.items() for name in names.split()}

# Submodules that scripts use as `playground.errors` without importing them.
_DOORS = frozenset({"errors", "events", "messages", "raw_prompts", "tools"})


def __getattr__(name: str) -> Any:
    if name == "__all__" and _getframe(1).f_code.co_name != "docmodule":
        # `help` (pydoc) gets no names, or else it would print the help of each: 3,800 lines
        return [*filter(_is_installed, __dir__()[:-1])]
    if name in _DOORS:
        return import_module(f"playground.{name}")
    if name in _OF_PLUGINS:
        from playground.base.registry import public_name

        return public_name(_OF_PLUGINS[name], name)
    if name not in _WHERE:
        raise AttributeError(f"module 'playground' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def _is_installed(name: str) -> bool:
    """Return False if a name's extra or plugin is missing: a star import leaves such names out."""
    try:
        getattr(modules[__name__], name)
        return True
    except ImportError:
        return False


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magics `%%reply` and `%%prompt`; for IPython's `%load_ext playground`."""
    from playground.base.registry import public_name

    public_name("notebooks", "load_ipython_extension")(shell)


def __dir__() -> list[str]:
    return [*sorted({**_WHERE, **_OF_PLUGINS}), "__version__"]
