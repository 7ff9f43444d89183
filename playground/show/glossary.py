"""The glossary: the name, unit and meaning of every figure that an answer shows.

A frame's columns, the columns of --csv and the rows of --json have these names. People read the
titles: in a terminal, on a page, in HTML. `docs/glossary.md` is generated from it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from playground.base.wording import dollars, grouped, percent, seconds
from playground.cache.simulated import sureness

Unit = Literal[
    "text", "yes or no", "count", "number", "tokens", "characters", "share", "multiple", "dollars",
    "seconds", "chance",
]  # fmt: skip


class NamedFigure(NamedTuple):
    """A figure: `title` is what people read, `unit` what its numbers count."""

    title: str
    unit: Unit
    meaning: str


GLOSSARY: Final[dict[str, NamedFigure]] = {
    "adapter": NamedFigure("adapter", "text", "how a signature is written"),
    "aborted_calls": NamedFigure("aborted", "count", "calls that were cut off or given up"),
    "arguments": NamedFigure("arguments", "text", "a call's arguments, as JSON"),
    "argument_characters": NamedFigure("arguments", "characters", "the text of all arguments"),
    "at_seconds": NamedFigure("at", "seconds", "time since the first byte of the recording"),
    "attempts": NamedFigure("attempts", "count", "requests that were made or recorded"),
    "billed": NamedFigure("billed", "text", "what the provider billed, in words"),
    "billed_full_price_tokens": NamedFigure(
        "billed in full", "tokens", "input tokens that were billed at the full price"
    ),
    "billed_read_tokens": NamedFigure(
        "billed read", "tokens", "input tokens billed as cache reads"
    ),
    "billed_written_tokens": NamedFigure(
        "billed written", "tokens", "input tokens billed as cache writes"
    ),
    "block": NamedFigure("block", "text", "a part of a request that is compared as one"),
    "both_right": NamedFigure("both right", "count", "cases that both arms answered rightly"),
    "by": NamedFigure("by", "text", "what the tokens are divided by"),
    "cache_breaks": NamedFigure("breaks", "count", "requests that miss a prefix sent before"),
    "call": NamedFigure("call", "text", "the name of the tool that is called"),
    "calls": NamedFigure("calls", "count", "tool calls"),
    "carried_values": NamedFigure("carried", "count", "values that come back as they went in"),
    "case": NamedFigure("case", "text", "the turn of the session that is asked"),
    "chance": NamedFigure(
        "p", "chance", "the sign test's p: how often chance alone would differ as much"
    ),
    "change": NamedFigure("change", "text", "added, removed, changed, moved or the same"),
    "characters": NamedFigure("characters", "characters", "characters of text"),
    "cheapest": NamedFigure("cheapest", "text", "what the cheapest way does with a tool"),
    "code": NamedFigure("code", "text", "the stable name of a finding"),
    "complete": NamedFigure("complete", "yes or no", "true if a call was not cut off"),
    "cost_share": NamedFigure(
        "cost", "multiple", "the cost of input, where all of it at the full price is 1"
    ),
    "cuts": NamedFigure("cuts", "count", "how often the history is shortened"),
    "date": NamedFigure("date", "text", "when a source was read"),
    "description": NamedFigure("description", "text", "what a tool is for"),
    "dialect": NamedFigure("dialect", "text", "how tools, calls and results are written"),
    "difference": NamedFigure(
        "parts at", "text", "where a request first differs from the one before"
    ),
    "dollars": NamedFigure("dollars", "dollars", "a cost by the provider's list price"),
    "edits": NamedFigure("edits", "count", "edits that were made in the app"),
    "effect": NamedFigure("effect", "text", "what a target does with a keyword"),
    "event": NamedFigure("event", "text", "what a parser says of a stretch of a reply"),
    "examples": NamedFigure("examples", "count", "random examples that were tried"),
    "explanation": NamedFigure("explanation", "text", "a reason in a sentence"),
    "fact": NamedFigure("fact", "text", "a property of a dialect"),
    "fault": NamedFigure("fault", "text", "why a value could not be read"),
    "field": NamedFigure("field", "text", "a field of a signature"),
    "file": NamedFigure("file", "text", "a file's name"),
    "finding": NamedFigure("finding", "text", "the code of the finding that refuses a value"),
    "findings": NamedFigure("findings", "count", "things that were noticed"),
    "first": NamedFigure("one", "text", "the first of two arms"),
    "first_prompt_tokens": NamedFigure("first prompt", "tokens", "input tokens before any search"),
    "first_request": NamedFigure(
        "first at", "number", "the first request that calls a tool, from 1"
    ),
    "first_word_seconds": NamedFigure("first", "seconds", "median time to the first word"),
    "full_price_tokens": NamedFigure("full price", "tokens", "input tokens paid at the full price"),
    "in_file": NamedFigure("in the file", "count", "how many a file holds"),
    "in_sessions": NamedFigure("in its sessions", "count", "how many were read into its sessions"),
    "instead": NamedFigure("write instead", "text", "what to write in its place"),
    "keyword": NamedFigure("keyword", "text", "a keyword of JSON Schema"),
    "kept_tools": NamedFigure("kept", "count", "tools that stay in the prompt"),
    "kind": NamedFigure("kind", "text", "what a thing is"),
    "last_request_tokens": NamedFigure(
        "last request", "tokens", "input tokens of the last request"
    ),
    "law": NamedFigure("law", "number", "the number of a law"),
    "left_tokens": NamedFigure(
        "left by A", "tokens", "tokens that the first version leaves cached"
    ),
    "lost_prefix_tokens": NamedFigure(
        "prefix lost", "tokens", "cached tokens that cuts make useless"
    ),
    "mark_lifetime": NamedFigure("mark", "text", "the lifetime of a cache mark, empty without one"),
    "marked": NamedFigure("mark", "yes or no", "true if a part has a cache mark"),
    "marks": NamedFigure("marks", "count", "cache marks"),
    "markup_characters": NamedFigure("markup", "characters", "text that is markup of calls"),
    "meaning": NamedFigure("meaning", "text", "what a token or figure means"),
    "message": NamedFigure("message", "text", "a finding in a sentence"),
    "message_index": NamedFigure("message", "number", "the index of a message, from 0"),
    "messages": NamedFigure("messages", "count", "messages"),
    "missed": NamedFigure("what differed", "text", "how an answer missed what was expected"),
    "model": NamedFigure("model", "text", "a model as LiteLLM names it"),
    "models": NamedFigure("used by", "text", "models that were trained on a dialect"),
    "more_tokens": NamedFigure("more", "tokens", "tokens after, less tokens before"),
    "name": NamedFigure("name", "text", "a name"),
    "nearest": NamedFigure("one to try", "text", "the dialect to try for an unknown model"),
    "neither_right": NamedFigure("neither", "count", "cases that neither arm answered rightly"),
    "note": NamedFigure("note", "text", "a remark"),
    "only_first_right": NamedFigure("only the one", "count", "cases that only the first had right"),
    "only_second_right": NamedFigure(
        "only the other", "count", "cases that only the second had right"
    ),
    "origin": NamedFigure("origin", "text", "the part of a request that a text comes from"),
    "other_statements": NamedFigure("others say", "text", "sources that say something else"),
    "paid_again_tokens": NamedFigure("paid again", "tokens", "cached tokens that are paid anew"),
    "paid_share": NamedFigure("paid", "multiple", "what was billed, where the full price is 1"),
    "parallel_calls": NamedFigure(
        "parallel calls", "yes or no", "true if a reply may hold many calls"
    ),
    "parameters": NamedFigure("parameters", "text", "a tool's parameters with their types"),
    "parsed_high": NamedFigure("parsed, at most", "share", "upper bound of the 95 % interval"),
    "parsed_low": NamedFigure("parsed, at least", "share", "lower bound of the 95 % interval"),
    "parsed_share": NamedFigure("parsed", "share", "answers whose calls could be read"),
    "part": NamedFigure("part", "number", "the index of a part in its message, from 0"),
    "path": NamedFigure("missing at", "text", "where in a file something stands"),
    "pays_from_turn": NamedFigure("pays from", "number", "the turn from which on a policy saves"),
    "policy": NamedFigure("policy", "text", "what decides which parts are marked or cut"),
    "predicted": NamedFigure("predicted", "text", "what was predicted, in words"),
    "predicted_read_tokens": NamedFigure("predicted read", "tokens", "cache reads as predicted"),
    "provider": NamedFigure("provider", "text", "whose API or rules apply"),
    "purpose": NamedFigure("purpose", "text", "what a sample is for"),
    "read_share": NamedFigure(
        "read", "share", "the share of all input that is read from the cache"
    ),
    "read_tokens": NamedFigure("read", "tokens", "input tokens that are read from the cache"),
    "reason": NamedFigure("reason", "text", "why, in a code or a sentence"),
    "recording": NamedFigure("first answer", "text", "the name of a recording"),
    "recordings": NamedFigure("recordings", "count", "recorded answers"),
    "refusal": NamedFigure("refused because", "text", "why nothing is marked or sent"),
    "refused_values": NamedFigure("refused", "text", "the values that a finding refuses"),
    "relative_cost": NamedFigure("cost", "share", "a cost, where the session as it is costs 1"),
    "repeats": NamedFigure("repeats", "count", "how often each case is asked"),
    "request": NamedFigure("request", "number", "the number of a request, from 1"),
    "requests": NamedFigure("requests", "count", "requests"),
    "result": NamedFigure("result", "text", "what came of a check"),
    "result_role": NamedFigure("results in role", "text", "the role of messages with tool results"),
    "right": NamedFigure("right", "text", "how a prediction compares with its bill"),
    "right_arguments_high": NamedFigure(
        "right arguments, at most", "share", "upper bound of the 95 % interval"
    ),
    "right_arguments_low": NamedFigure(
        "right arguments, at least", "share", "lower bound of the 95 % interval"
    ),
    "right_arguments_share": NamedFigure(
        "arguments", "share", "answers with the expected tool and arguments"
    ),
    "right_tool_high": NamedFigure(
        "right tool, at most", "share", "upper bound of the 95 % interval"
    ),
    "right_tool_low": NamedFigure(
        "right tool, at least", "share", "lower bound of the 95 % interval"
    ),
    "right_tool_share": NamedFigure("tool", "share", "answers that call the expected tool"),
    "role": NamedFigure("role", "text", "who says a message"),
    "rule": NamedFigure("rule", "text", "a figure of a provider's cache"),
    "same_calls": NamedFigure("same calls", "yes or no", "true if the calls are those expected"),
    "saved_dollars": NamedFigure("saved, dollars", "dollars", "dollars that a policy saves"),
    "saved_tokens": NamedFigure("saved", "tokens", "savings in tokens at the full price"),
    "searches": NamedFigure("searches", "count", "times that the model must look for a tool"),
    "second": NamedFigure("other", "text", "the second of two arms"),
    "seconds": NamedFigure("whole", "seconds", "median time to the end of the answer"),
    "sent_as": NamedFigure("sent as", "text", "cached content, or a part of the request"),
    "sent_tokens": NamedFigure("sent", "tokens", "input tokens of all requests"),
    "server": NamedFigure("server", "text", "what serves a model"),
    "severity": NamedFigure("severity", "text", "error, warning or info"),
    "shorter_tokens": NamedFigure("shorter by", "tokens", "tokens that a cut takes off a request"),
    "source": NamedFigure("source", "text", "who says so"),
    "span": NamedFigure("span", "text", "the characters from start to stop"),
    "start": NamedFigure("start", "number", "the first character of a span, from 0"),
    "state": NamedFigure(
        "state", "text", "how sure a figure is: `exact` (people read `sure`), or what keeps it so"
    ),
    "step": NamedFigure("step", "number", "the chunk that an event came from"),
    "stop": NamedFigure("stop", "number", "the character after the last of a span"),
    "surviving_marks": NamedFigure("marks survive", "count", "cache marks before a cut"),
    "target": NamedFigure("target", "text", "a provider's form of tool schemas"),
    "text": NamedFigure("text", "text", "a stretch of text"),
    "text_characters": NamedFigure("text", "characters", "text that is content"),
    "tier": NamedFigure("part", "text", "tools, system or messages"),
    "times": NamedFigure("times", "count", "how often something happened"),
    "title": NamedFigure("title", "text", "a name for people"),
    "token": NamedFigure("token", "text", "a special token"),
    "tokens": NamedFigure("tokens", "tokens", "tokens; an estimate unless the count is exact"),
    "tokens_after": NamedFigure("after", "tokens", "tokens in the second version"),
    "tokens_before": NamedFigure("before", "tokens", "tokens in the first version"),
    "tokens_high": NamedFigure("at most", "tokens", "the highest possible count"),
    "tokens_kind": NamedFigure("counted", "text", "exact, tokenizer or estimate"),
    "tokens_low": NamedFigure("at least", "tokens", "the lowest possible count"),
    "told_by_provider": NamedFigure(
        "told by the provider", "text", "what the provider says it cached"
    ),
    "tool": NamedFigure("tool", "text", "a tool's name"),
    "tools": NamedFigure("tools", "count", "tools"),
    "tried_values": NamedFigure("of", "count", "values that were tried"),
    "turn": NamedFigure("turn", "number", "a turn of the session, from 1"),
    "unanswered": NamedFigure("no answer", "count", "requests that failed"),
    "value": NamedFigure("value", "text", "a value"),
    "way": NamedFigure("way", "text", "how tools are sent"),
    "where": NamedFigure("where", "text", "where something stands"),
    "why": NamedFigure("why", "text", "why something is missing"),
    "writer": NamedFigure("written by", "text", "who writes a block: dialect, user, tool …"),
    "written_tokens": NamedFigure(
        "written", "tokens", "input tokens that are written to the cache"
    ),
}
_KIND_SUFFIX: Final = "_characters"  # of a column for each kind of text


def figure(name: str) -> NamedFigure | None:
    """Return a figure by its name; None for a column that an answer makes up, such as a model."""
    known = GLOSSARY.get(name)
    if known is None and name.endswith(_KIND_SUFFIX):
        kind = name.removesuffix(_KIND_SUFFIX).replace("_", " ")
        return NamedFigure(kind, "characters", f"characters of {kind}")
    return known


def title(name: str) -> str:
    """Return what people read for a figure's name; the name itself if it is in no glossary."""
    known = figure(name)
    return known.title if known else name


def is_number(name: str) -> bool:
    known = figure(name)
    return known is not None and known.unit not in ("text", "yes or no")


def written(name: str, value: Any) -> str:
    """Return a figure's value for people: "1,234", "29 %", "0.35"; "" for None."""
    if value is None or value != value:  # NaN
        return ""
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
    "multiple": partial(grouped, places=2),
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
