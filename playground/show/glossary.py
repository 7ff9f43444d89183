"""The glossary: the name, unit and meaning of every figure that an answer shows.

The columns of a frame and of --csv, and the rows of --json, have these names. In a terminal, on a
page and in HTML, figures have the titles. `docs/glossary.md` is generated from this module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from playground.base.wording import dollars, grouped, percent, seconds
from playground.cache.simulated import sureness

Unit = Literal[
    "text", "yes or no", "count", "number", "tokens", "characters", "share", "dollars",
    "seconds", "chance",
]  # fmt: skip


class Term(NamedTuple):
    """A figure with its title for people, and the unit of its numbers."""

    title: str
    unit: Unit
    meaning: str


GLOSSARY: Final[dict[str, Term]] = {
    "adapter": Term("adapter", "text", "how a signature is written"),
    "aborted_calls": Term("aborted", "count", "calls that were cut off or given up"),
    "arguments": Term("arguments", "text", "a call's arguments, as JSON"),
    "argument_characters": Term("arguments", "characters", "the text of all arguments"),
    "assumption": Term(
        "assumed", "text", "the known model whose rules are used for an unknown one"
    ),
    "at_seconds": Term("at", "seconds", "time since the request"),
    "attempts": Term("attempts", "count", "requests that were made or recorded"),
    "billed": Term("billed", "text", "what the provider billed, in words"),
    "billed_full_price_tokens": Term(
        "billed in full", "tokens", "input tokens that were billed at the full price"
    ),
    "billed_read_tokens": Term("billed read", "tokens", "input tokens billed as cache reads"),
    "billed_written_tokens": Term(
        "billed written", "tokens", "input tokens billed as cache writes"
    ),
    "block": Term("block", "text", "a part of a request that is compared as one"),
    "both_right": Term("both right", "count", "cases that both ways answered correctly"),
    "broken_off": Term("broken off", "count", "answers that broke off; no share counts them"),
    "by": Term("by", "text", "the model, dialect, tool, message … that tokens are counted for"),
    "cache_breaks": Term("breaks", "count", "requests that miss a prefix sent before"),
    "call": Term("call", "text", "the name of the tool that is called"),
    "calls": Term("calls", "count", "tool calls"),
    "carried_values": Term("carried", "count", "values that are read back unchanged"),
    "case": Term("case", "text", "the turn of the session at which the model is asked"),
    "chance": Term("p", "chance", "the sign test's p: how likely chance makes this difference"),
    "change": Term("change", "text", "added, removed, changed, moved or the same"),
    "characters": Term("characters", "characters", "characters of text"),
    "cheapest": Term("cheapest", "text", "what the cheapest way does with a tool"),
    "code": Term("code", "text", "the stable name of a finding"),
    "complete": Term("complete", "yes or no", "true if a call was not cut off"),
    "cost_share": Term(
        "cost", "share", "the cost of input, as a share of its cost without a cache"
    ),
    "cuts": Term("cuts", "count", "how often the history is shortened"),
    "date": Term("date", "text", "when a source was read"),
    "description": Term("description", "text", "what a tool is for"),
    "dialect": Term("dialect", "text", "how tools, calls and results are written"),
    "difference": Term("differs at", "text", "where a request first differs from an earlier one"),
    "dollars": Term("dollars", "dollars", "a cost by the provider's list price"),
    "edits": Term("edits", "count", "edits that were made in the app"),
    "effect": Term("effect", "text", "what a target does with a keyword"),
    "event": Term("event", "text", "what a parser reports about a span of a reply"),
    "examples": Term("examples", "count", "random examples that were tried"),
    "explanation": Term("explanation", "text", "a reason in a sentence"),
    "fact": Term("fact", "text", "a property of a dialect"),
    "fault": Term("fault", "text", "why a value could not be read"),
    "field": Term("field", "text", "a field of a signature"),
    "file": Term("file", "text", "a file's name"),
    "finding": Term("finding", "text", "the code of the finding that refuses a value"),
    "findings": Term("findings", "count", "things that were noticed"),
    "first": Term("one", "text", "the first of the two ways that a trial compares"),
    "first_prompt_tokens": Term("first prompt", "tokens", "input tokens before any search"),
    "first_request": Term("first at", "number", "the first request that calls a tool, from 1"),
    "first_word_seconds": Term("first word", "seconds", "median time to the first word"),
    "full_price_tokens": Term("full price", "tokens", "input tokens paid at the full price"),
    "handed_as": Term(
        "handed over as", "text", "the kind of event that a server delivers, or `dropped`"
    ),
    "in_file": Term("in the file", "count", "things of a kind in a file"),
    "in_sessions": Term("in its sessions", "count", "things of a kind in the file's sessions"),
    "instead": Term("write instead", "text", "what to write in its place"),
    "keyword": Term("keyword", "text", "a keyword of JSON Schema"),
    "kept_tools": Term("kept", "count", "tools that stay in the prompt"),
    "kind": Term("kind", "text", "what a thing is"),
    "last_request_tokens": Term("last request", "tokens", "input tokens of the last request"),
    "law": Term("law", "number", "the number of a law"),
    "left_tokens": Term("left by A", "tokens", "tokens that the first version leaves cached"),
    "lost_prefix_tokens": Term("prefix lost", "tokens", "cached tokens that cuts make useless"),
    "mark_lifetime": Term("mark", "text", "the lifetime of a cache mark; empty without a mark"),
    "marked": Term("mark", "yes or no", "true if a part has a cache mark"),
    "marks": Term("marks", "count", "cache marks"),
    "markup_characters": Term("markup", "characters", "text that is markup of calls"),
    "meaning": Term("meaning", "text", "what a token or figure means"),
    "message": Term("message", "text", "a finding in a sentence"),
    "message_index": Term("message", "number", "the index of a message, from 0"),
    "messages": Term("messages", "count", "messages"),
    "missed": Term("what differed", "text", "how an answer missed what was expected"),
    "model": Term("model", "text", "a model as LiteLLM names it"),
    "models": Term("used by", "text", "models that were trained on a dialect"),
    "more_tokens": Term("more", "tokens", "tokens after minus tokens before"),
    "name": Term("name", "text", "a name"),
    "nearest": Term("one to try", "text", "the dialect to try for an unknown model"),
    "neither_right": Term("neither", "count", "cases that neither way answered correctly"),
    "note": Term("note", "text", "a remark"),
    "only_first_right": Term("only the one", "count", "cases only the first way had right"),
    "only_second_right": Term("only the other", "count", "cases only the second way had right"),
    "origin": Term("origin", "text", "the part of a request that a text comes from"),
    "other_statements": Term("others say", "text", "sources that say something else"),
    "paid_again_tokens": Term("paid again", "tokens", "cached tokens that are paid a second time"),
    "paid_share": Term("paid", "share", "what was billed, as a share of the cost without a cache"),
    "parallel_calls": Term("parallel calls", "yes or no", "true if a reply may hold many calls"),
    "parameters": Term("parameters", "text", "a tool's parameters with their types"),
    "parsed_high": Term("parsed, at most", "share", "upper bound of the 95 % interval"),
    "parsed_low": Term("parsed, at least", "share", "lower bound of the 95 % interval"),
    "parsed_share": Term("parsed", "share", "answers whose calls could be read"),
    "part": Term("part", "number", "the index of a part in its message, from 0"),
    "path": Term("missing at", "text", "the place of something in a file"),
    "pays_from_turn": Term("pays from", "number", "the turn from which on a policy saves"),
    "policy": Term("policy", "text", "the rule that decides which parts are marked or cut"),
    "predicted": Term("predicted", "text", "what was predicted, in words"),
    "predicted_read_tokens": Term("predicted read", "tokens", "cache reads as predicted"),
    "provider": Term("provider", "text", "whose API or rules apply"),
    "purpose": Term("purpose", "text", "what a sample is for"),
    "read_share": Term("read", "share", "the share of all input that is read from the cache"),
    "read_tokens": Term("read", "tokens", "input tokens that are read from the cache"),
    "reason": Term("reason", "text", "why, in a code or a sentence"),
    "recording": Term("first answer", "text", "the first recording with a mistake"),
    "recordings": Term("recordings", "count", "recorded answers"),
    "refusal": Term("refused because", "text", "why nothing is marked or sent"),
    "refused_values": Term("refused", "text", "the values that a finding refuses"),
    "relative_cost": Term("cost", "share", "a cost as a multiple of the unchanged session's cost"),
    "repeats": Term("repeats", "count", "how often each case is asked"),
    "request": Term("request", "number", "the number of a request, from 1"),
    "requests": Term("requests", "count", "requests"),
    "result": Term("result", "text", "what came of a check"),
    "result_role": Term("results in role", "text", "the role of messages with tool results"),
    "right": Term("right", "text", "how a prediction compares with its bill"),
    "right_arguments_high": Term(
        "right arguments, at most", "share", "upper bound of the 95 % interval"
    ),
    "right_arguments_low": Term(
        "right arguments, at least", "share", "lower bound of the 95 % interval"
    ),
    "right_arguments_share": Term(
        "arguments", "share", "answers with the expected tool and arguments"
    ),
    "right_tool_high": Term("right tool, at most", "share", "upper bound of the 95 % interval"),
    "right_tool_low": Term("right tool, at least", "share", "lower bound of the 95 % interval"),
    "right_tool_share": Term("tool", "share", "answers that call the expected tool"),
    "role": Term("role", "text", "who says a message"),
    "rule": Term("rule", "text", "a figure of a provider's cache"),
    "same_calls": Term("same calls", "yes or no", "true if the reply's dialect reads them, too"),
    "saved_dollars": Term("saved, dollars", "dollars", "dollars that a policy saves"),
    "saved_tokens": Term("saved", "tokens", "savings in tokens at the full price"),
    "searches": Term("searches", "count", "times that the model must look for a tool"),
    "second": Term("other", "text", "the second of the two ways that a trial compares"),
    "seconds": Term("whole", "seconds", "median time to the end of the answer"),
    "sent_as": Term("sent as", "text", "cached content, or a part of the request"),
    "sent_tokens": Term("sent", "tokens", "input tokens of all requests"),
    "server": Term("server", "text", "what serves a model"),
    "severity": Term("severity", "text", "error, warning or info"),
    "shorter_tokens": Term("shorter by", "tokens", "tokens that a cut takes off a request"),
    "source": Term("source", "text", "who says so"),
    "span": Term("span", "text", "the characters from start to stop"),
    "start": Term("start", "number", "the first character of a span, from 0"),
    "state": Term(
        "state",
        "text",
        "how sure the outcome (read or not) is: `exact` (shown as `certain`), or why it is not; "
        "the count of tokens may still be an estimate",
    ),
    "step": Term("step", "number", "the chunk that an event came from"),
    "stop": Term("stop", "number", "the character after the last of a span"),
    "surviving_marks": Term("marks survive", "count", "cache marks before a cut"),
    "target": Term("target", "text", "a provider's form of tool schemas"),
    "text": Term("text", "text", "a stretch of text"),
    "text_characters": Term("text", "characters", "text that is content"),
    "tier": Term("part", "text", "tools, system or messages"),
    "times": Term("times", "count", "how often something happened"),
    "title": Term("title", "text", "a name for people"),
    "token": Term("token", "text", "a special token"),
    "tokens": Term("tokens", "tokens", "tokens; an estimate unless the count is exact"),
    "tokens_after": Term("after", "tokens", "tokens in the second version"),
    "tokens_before": Term("before", "tokens", "tokens in the first version"),
    "tokens_high": Term("at most", "tokens", "the highest possible count"),
    "tokens_kind": Term("counted", "text", "exact, tokenizer or estimate"),
    "tokens_low": Term("at least", "tokens", "the lowest possible count"),
    "told_by_provider": Term("told by the provider", "text", "what the provider says it cached"),
    "tool": Term("tool", "text", "a tool's name"),
    "tools": Term("tools", "count", "tools"),
    "tried_values": Term("of", "count", "values that were tried"),
    "turn": Term("turn", "number", "a turn of the session, from 1"),
    "unanswered": Term("no answer", "count", "requests that failed"),
    "value": Term("value", "text", "a value"),
    "way": Term("way", "text", "how tools are sent"),
    "where": Term("where", "text", "where something stands"),
    "why": Term("why", "text", "why something is missing"),
    "writer": Term("written by", "text", "who writes a block: dialect, user, tool …"),
    "written_tokens": Term("written", "tokens", "input tokens that are written to the cache"),
}
_KIND_SUFFIX: Final = "_characters"  # ends the name of a column for a kind of text
_DROPS_SUFFIX: Final = "_drops_characters"  # ends the name of a column for a server
NO_PARSER: Final = "no parser"
"""The words for a server's cell if the server has no parser for the dialect."""


def figure(name: str) -> Term | None:
    """Return a figure by its name; None for a column that an answer names, such as a model."""
    known = GLOSSARY.get(name)
    if known is None and name.endswith(_DROPS_SUFFIX):
        server = name.removesuffix(_DROPS_SUFFIX).replace("_", " ")
        return Term(f"{server} drops", "characters", f"characters of the reply that {server} drops")
    if known is None and name.endswith(_KIND_SUFFIX):
        kind = name.removesuffix(_KIND_SUFFIX).replace("_", " ")
        return Term(kind, "characters", f"characters of {kind}")
    return known


def title(name: str) -> str:
    """Return the title of a figure; the name itself if it is not in the glossary."""
    known = figure(name)
    return known.title if known else name


def is_number(name: str) -> bool:
    known = figure(name)
    return known is not None and known.unit not in ("text", "yes or no")


def written(name: str, value: Any) -> str:
    """Return a figure's value for people: "1,234", "29 %", "0.35"; "" for most None values."""
    if value is None or value != value:  # NaN
        return NO_PARSER if name.endswith(_DROPS_SUFFIX) else ""
    if name == "state":
        return sureness(value)
    if name == "marked":
        return "●" if value else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        known = figure(name)
        return _NUMBERS[known.unit if known else "count"](value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _dollars(value: float) -> str:
    return f"{'-' if value < 0 else ''}{dollars(abs(value))}"


_NUMBERS: Final[dict[Unit, Callable[[float], str]]] = {
    "share": percent,
    "chance": partial(grouped, places=3),
    "dollars": _dollars,
    "seconds": seconds,
    "number": str,
    "count": grouped,
    "tokens": grouped,
    "characters": grouped,
    "text": str,
    "yes or no": str,
}
