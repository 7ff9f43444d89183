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


class Figure(NamedTuple):
    """A figure: `title` is what people read, `unit` what its numbers count."""

    title: str
    unit: Unit
    meaning: str


GLOSSARY: Final[dict[str, Figure]] = {
    "adapter": Figure("adapter", "text", "how a signature is written"),
    "aborted_calls": Figure("aborted", "count", "calls that were cut off or given up"),
    "arguments": Figure("arguments", "text", "a call's arguments, as JSON"),
    "argument_characters": Figure("arguments", "characters", "the text of all arguments"),
    "at_seconds": Figure("at", "seconds", "time since the first byte of the recording"),
    "attempts": Figure("attempts", "count", "requests that were made or recorded"),
    "billed": Figure("billed", "text", "what the provider billed, in words"),
    "billed_full_price_tokens": Figure(
        "billed in full", "tokens", "input tokens that were billed at the full price"
    ),
    "billed_read_tokens": Figure("billed read", "tokens", "input tokens billed as cache reads"),
    "billed_written_tokens": Figure(
        "billed written", "tokens", "input tokens billed as cache writes"
    ),
    "block": Figure("block", "text", "a part of a request that is compared as one"),
    "both_right": Figure("both right", "count", "cases that both arms answered rightly"),
    "by": Figure("by", "text", "what the tokens are divided by"),
    "cache_breaks": Figure("breaks", "count", "requests that miss a prefix sent before"),
    "call": Figure("call", "text", "the name of the tool that is called"),
    "calls": Figure("calls", "count", "tool calls"),
    "carried_values": Figure("carried", "count", "values that come back as they went in"),
    "case": Figure("case", "text", "the turn of the session that is asked"),
    "chance": Figure(
        "p", "chance", "the sign test's p: how often chance alone would differ as much"
    ),
    "change": Figure("change", "text", "added, removed, changed, moved or the same"),
    "characters": Figure("characters", "characters", "characters of text"),
    "cheapest": Figure("cheapest", "text", "what the cheapest way does with a tool"),
    "code": Figure("code", "text", "the stable name of a finding"),
    "complete": Figure("complete", "yes or no", "true if a call was not cut off"),
    "cost_share": Figure(
        "cost", "multiple", "the cost of input, where all of it at the full price is 1"
    ),
    "cuts": Figure("cuts", "count", "how often the history is shortened"),
    "date": Figure("date", "text", "when a source was read"),
    "description": Figure("description", "text", "what a tool is for"),
    "dialect": Figure("dialect", "text", "how tools, calls and results are written"),
    "difference": Figure("parts at", "text", "where a request first differs from the one before"),
    "dollars": Figure("dollars", "dollars", "a cost by the provider's list price"),
    "edits": Figure("edits", "count", "edits that were made in the app"),
    "effect": Figure("effect", "text", "what a target does with a keyword"),
    "event": Figure("event", "text", "what a parser says of a stretch of a reply"),
    "examples": Figure("examples", "count", "random examples that were tried"),
    "explanation": Figure("explanation", "text", "a reason in a sentence"),
    "fact": Figure("fact", "text", "a property of a dialect"),
    "fault": Figure("fault", "text", "why a value could not be read"),
    "field": Figure("field", "text", "a field of a signature"),
    "file": Figure("file", "text", "a file's name"),
    "finding": Figure("finding", "text", "the code of the finding that refuses a value"),
    "findings": Figure("findings", "count", "things that were noticed"),
    "first": Figure("one", "text", "the first of two arms"),
    "first_prompt_tokens": Figure("first prompt", "tokens", "input tokens before any search"),
    "first_request": Figure("first at", "number", "the first request that calls a tool, from 1"),
    "first_word_seconds": Figure("first", "seconds", "median time to the first word"),
    "full_price_tokens": Figure("full price", "tokens", "input tokens paid at the full price"),
    "in_file": Figure("in the file", "count", "how many a file holds"),
    "in_sessions": Figure("in its sessions", "count", "how many were read into its sessions"),
    "instead": Figure("write instead", "text", "what to write in its place"),
    "keyword": Figure("keyword", "text", "a keyword of JSON Schema"),
    "kept_tools": Figure("kept", "count", "tools that stay in the prompt"),
    "kind": Figure("kind", "text", "what a thing is"),
    "last_request_tokens": Figure("last request", "tokens", "input tokens of the last request"),
    "law": Figure("law", "number", "the number of a law"),
    "left_tokens": Figure("left by A", "tokens", "tokens that the first version leaves cached"),
    "lost_prefix_tokens": Figure("prefix lost", "tokens", "cached tokens that cuts make useless"),
    "mark_lifetime": Figure("mark", "text", "the lifetime of a cache mark, empty without one"),
    "marked": Figure("mark", "yes or no", "true if a part has a cache mark"),
    "marks": Figure("marks", "count", "cache marks"),
    "markup_characters": Figure("markup", "characters", "text that is markup of calls"),
    "meaning": Figure("meaning", "text", "what a token or figure means"),
    "message": Figure("message", "text", "a finding in a sentence"),
    "message_index": Figure("message", "number", "the index of a message, from 0"),
    "messages": Figure("messages", "count", "messages"),
    "missed": Figure("what differed", "text", "how an answer missed what was expected"),
    "model": Figure("model", "text", "a model as LiteLLM names it"),
    "models": Figure("used by", "text", "models that were trained on a dialect"),
    "more_tokens": Figure("more", "tokens", "tokens after, less tokens before"),
    "name": Figure("name", "text", "a name"),
    "nearest": Figure("one to try", "text", "the dialect to try for an unknown model"),
    "neither_right": Figure("neither", "count", "cases that neither arm answered rightly"),
    "note": Figure("note", "text", "a remark"),
    "only_first_right": Figure("only the one", "count", "cases that only the first had right"),
    "only_second_right": Figure("only the other", "count", "cases that only the second had right"),
    "origin": Figure("origin", "text", "the part of a request that a text comes from"),
    "other_statements": Figure("others say", "text", "sources that say something else"),
    "paid_again_tokens": Figure("paid again", "tokens", "cached tokens that are paid anew"),
    "paid_share": Figure("paid", "multiple", "what was billed, where the full price is 1"),
    "parallel_calls": Figure("parallel calls", "yes or no", "true if a reply may hold many calls"),
    "parameters": Figure("parameters", "text", "a tool's parameters with their types"),
    "parsed_high": Figure("parsed, at most", "share", "upper bound of the 95 % interval"),
    "parsed_low": Figure("parsed, at least", "share", "lower bound of the 95 % interval"),
    "parsed_share": Figure("parsed", "share", "answers whose calls could be read"),
    "part": Figure("part", "number", "the index of a part in its message, from 0"),
    "path": Figure("missing at", "text", "where in a file something stands"),
    "pays_from_turn": Figure("pays from", "number", "the turn from which on a policy saves"),
    "policy": Figure("policy", "text", "what decides which parts are marked or cut"),
    "predicted": Figure("predicted", "text", "what was predicted, in words"),
    "predicted_read_tokens": Figure("predicted read", "tokens", "cache reads as predicted"),
    "provider": Figure("provider", "text", "whose API or rules apply"),
    "purpose": Figure("purpose", "text", "what a sample is for"),
    "read_share": Figure("read", "share", "the share of all input that is read from the cache"),
    "read_tokens": Figure("read", "tokens", "input tokens that are read from the cache"),
    "reason": Figure("reason", "text", "why, in a code or a sentence"),
    "recording": Figure("first answer", "text", "the name of a recording"),
    "recordings": Figure("recordings", "count", "recorded answers"),
    "refusal": Figure("refused because", "text", "why nothing is marked or sent"),
    "refused_values": Figure("refused", "text", "the values that a finding refuses"),
    "relative_cost": Figure("cost", "share", "a cost, where the session as it is costs 1"),
    "repeats": Figure("repeats", "count", "how often each case is asked"),
    "request": Figure("request", "number", "the number of a request, from 1"),
    "requests": Figure("requests", "count", "requests"),
    "result": Figure("result", "text", "what came of a check"),
    "result_role": Figure("results in role", "text", "the role of messages with tool results"),
    "right": Figure("right", "text", "how a prediction compares with its bill"),
    "right_arguments_high": Figure(
        "right arguments, at most", "share", "upper bound of the 95 % interval"
    ),
    "right_arguments_low": Figure(
        "right arguments, at least", "share", "lower bound of the 95 % interval"
    ),
    "right_arguments_share": Figure(
        "arguments", "share", "answers with the expected tool and arguments"
    ),
    "right_tool_high": Figure("right tool, at most", "share", "upper bound of the 95 % interval"),
    "right_tool_low": Figure("right tool, at least", "share", "lower bound of the 95 % interval"),
    "right_tool_share": Figure("tool", "share", "answers that call the expected tool"),
    "role": Figure("role", "text", "who says a message"),
    "rule": Figure("rule", "text", "a figure of a provider's cache"),
    "same_calls": Figure("same calls", "yes or no", "true if the calls are those expected"),
    "saved_dollars": Figure("saved, dollars", "dollars", "dollars that a policy saves"),
    "saved_tokens": Figure("saved", "tokens", "savings in tokens at the full price"),
    "searches": Figure("searches", "count", "times that the model must look for a tool"),
    "second": Figure("other", "text", "the second of two arms"),
    "seconds": Figure("whole", "seconds", "median time to the end of the answer"),
    "sent_as": Figure("sent as", "text", "cached content, or a part of the request"),
    "sent_tokens": Figure("sent", "tokens", "input tokens of all requests"),
    "server": Figure("server", "text", "what serves a model"),
    "severity": Figure("severity", "text", "error, warning or info"),
    "shorter_tokens": Figure("shorter by", "tokens", "tokens that a cut takes off a request"),
    "source": Figure("source", "text", "who says so"),
    "span": Figure("span", "text", "the characters from start to stop"),
    "start": Figure("start", "number", "the first character of a span, from 0"),
    "state": Figure(
        "state", "text", "how sure a figure is: `exact` (people read `sure`), or what keeps it so"
    ),
    "step": Figure("step", "number", "the chunk that an event came from"),
    "stop": Figure("stop", "number", "the character after the last of a span"),
    "surviving_marks": Figure("marks survive", "count", "cache marks before a cut"),
    "target": Figure("target", "text", "a provider's form of tool schemas"),
    "text": Figure("text", "text", "a stretch of text"),
    "text_characters": Figure("text", "characters", "text that is content"),
    "tier": Figure("part", "text", "tools, system or messages"),
    "times": Figure("times", "count", "how often something happened"),
    "title": Figure("title", "text", "a name for people"),
    "token": Figure("token", "text", "a special token"),
    "tokens": Figure("tokens", "tokens", "tokens; an estimate unless the count is exact"),
    "tokens_after": Figure("after", "tokens", "tokens in the second version"),
    "tokens_before": Figure("before", "tokens", "tokens in the first version"),
    "tokens_high": Figure("at most", "tokens", "the highest possible count"),
    "tokens_kind": Figure("counted", "text", "exact, tokenizer or estimate"),
    "tokens_low": Figure("at least", "tokens", "the lowest possible count"),
    "told_by_provider": Figure("told by the provider", "text", "what the provider says it cached"),
    "tool": Figure("tool", "text", "a tool's name"),
    "tools": Figure("tools", "count", "tools"),
    "tried_values": Figure("of", "count", "values that were tried"),
    "turn": Figure("turn", "number", "a turn of the session, from 1"),
    "unanswered": Figure("no answer", "count", "requests that failed"),
    "value": Figure("value", "text", "a value"),
    "way": Figure("way", "text", "how tools are sent"),
    "where": Figure("where", "text", "where something stands"),
    "why": Figure("why", "text", "why something is missing"),
    "writer": Figure("written by", "text", "who writes a block: dialect, user, tool …"),
    "written_tokens": Figure("written", "tokens", "input tokens that are written to the cache"),
}
_KIND_SUFFIX: Final = "_characters"  # of a column for each kind of text


def figure(name: str) -> Figure | None:
    """Return a figure by its name; None for a column that an answer makes up, such as a model."""
    known = GLOSSARY.get(name)
    if known is None and name.endswith(_KIND_SUFFIX):
        kind = name.removesuffix(_KIND_SUFFIX).replace("_", " ")
        return Figure(kind, "characters", f"characters of {kind}")
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
