"""Read what a provider billed for a request's input, from any API's or agent's usage record.

`SHAPES` is the only table of field names for input. Each shape says if its input count includes
the tokens read from the cache and written to it; but a total in the record takes precedence. If
these tokens exceed an input count that includes them, the bill is unknown: the result is None.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any, Final

from playground.cache.prefixes import Billed
from playground.cache.rules import Rules

_HOUR: Final = ("1h", "ONE_HOUR")
_TWELVE_HOURS: Final = tuple(
    f"{details}.cache_write_tokens_details.ttl_12h_tokens"
    for details in ("input_tokens_details", "prompt_tokens_details")
)


@dataclass(frozen=True)
class UsageShape:
    """The fields in which one source counts input. A dot in a name leads into an inner
    object, or is part of the key.

    `whole` is True if `total` includes tokens read and written. A usage fits if it has one of the
    `total` fields and one of `known_by`. If `known_by` is empty, one of the fields `read` and
    `written` is needed instead; if these are empty too, `total` is enough.
    """

    total: tuple[str, ...]
    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    whole: bool = True
    known_by: tuple[str, ...] = ()  # keys by which the shape is recognised
    was_rest: bool = False  # True if older versions left tokens read and written out of `total`

    def may_fit(self, keys: frozenset[str]) -> bool:
        """Return True if a usage with these keys may fit: a fast test that excludes most shapes."""
        return not any(heads.isdisjoint(keys) for heads in self._heads)

    def fits(self, usage: dict[str, Any]) -> bool:
        """Return True if a usage that may fit does fit."""
        counted = any(_is_count(_value_at(usage, name)) for name in self.total)
        names = self._needed_names
        return counted and (not names or any(_value_at(usage, n) is not None for n in names))

    @cached_property
    def _needed_names(self) -> tuple[str, ...]:
        return self.known_by or (*self.read, *self.written)

    @cached_property
    def _heads(self) -> tuple[frozenset[str], ...]:
        """Sets of keys: a usage that fits has at least one key of each set."""
        return tuple(_heads(names) for names in (self.total, self._needed_names) if names)


def _heads(names: Iterable[str]) -> frozenset[str]:
    """Return the keys under which names may be found; a dot may lead into an object."""
    return frozenset(key for name in names for key in (name, name.partition(".")[0]))


SHAPES: Final = (
    # OpenAI's Chat Completions, DeepSeek and Moonshot; OpenRouter, LiteLLM and ATIF, which add
    # Anthropic's names for parts of the same total; llm, which keeps the details in an object
    UsageShape(
        ("prompt_tokens",),
        (
            "prompt_tokens_details.cached_tokens",
            "cache_read_input_tokens",
            "prompt_cache_hit_tokens",
            "cached_tokens",
        ),
        ("prompt_tokens_details.cache_write_tokens", "cache_creation_input_tokens"),
    ),
    # OpenAI's Responses, and llm's record of Chat Completions
    UsageShape(
        ("input_tokens",),
        (
            "input_tokens_details.cached_tokens",
            "token_details.prompt_tokens_details.cached_tokens",
            "token_details.input_tokens_details.cached_tokens",
            "token_details.cachedContentTokenCount",
        ),
        ("input_tokens_details.cache_write_tokens",),
    ),
    # Codex, and Harbor's copies of it: TokenUsage.non_cached_input subtracts the cached tokens
    UsageShape(("input_tokens",), ("cached_input_tokens",), ("cache_write_input_tokens",)),
    # LangChain: "sum of all input token types"
    UsageShape(
        ("input_tokens",),
        ("input_token_details.cache_read",),
        ("input_token_details.cache_creation",),
    ),
    # pydantic-ai RequestUsage, "included in input_tokens"; its spans have these under `details`
    UsageShape(
        ("input_tokens", "request_tokens"),
        ("cache_read_tokens", "details.cache_read_tokens"),
        ("cache_write_tokens", "details.cache_write_tokens"),
    ),
    # OpenTelemetry's gen_ai.usage: "SHOULD include all types of input tokens, including cached"
    UsageShape(
        ("input_tokens", "prompt_tokens"),
        ("cache_read.input_tokens",),
        ("cache_creation.input_tokens", "cache_write.input_tokens"),
    ),
    # Inspect, whose adapters subtract the cached tokens
    UsageShape(
        ("input_tokens",), ("input_tokens_cache_read",), ("input_tokens_cache_write",), whole=False
    ),
    # gemini-cli: the last line of a run with stream-json; the messages of a saved chat
    UsageShape(("input_tokens",), ("cached",)),
    UsageShape(("input",), ("cached",)),
    # Gemini, its Interactions, ADK
    UsageShape(("promptTokenCount",), ("cachedContentTokenCount",)),
    UsageShape(("prompt_token_count",), ("cached_content_token_count",)),
    UsageShape(("total_input_tokens",), ("total_cached_tokens",)),
    # Anthropic; Claude Code, Zed, and llm's records of it
    UsageShape(
        ("input_tokens",),
        ("cache_read_input_tokens", "token_details.cache_read_input_tokens"),
        (
            "cache_creation_input_tokens",
            "token_details.cache_creation_input_tokens",
            "cache_creation",
        ),
        whole=False,
    ),
    # pi; OpenCode; Kimi
    UsageShape(("input",), ("cacheRead",), ("cacheWrite",), whole=False),
    UsageShape(("input",), ("cache.read",), ("cache.write",), whole=False),
    UsageShape(("inputOther",), ("inputCacheRead",), ("inputCacheCreation",), whole=False),
    UsageShape(("input_other",), ("input_cache_read",), ("input_cache_creation",), whole=False),
    # Roo Code, which counts all input since 2025-10 (`totalInputTokens` in its `cost.ts`); Cline
    UsageShape(
        ("tokensIn",), ("cacheReads",), ("cacheWrites",), known_by=("apiProtocol",), was_rest=True
    ),
    UsageShape(("tokensIn",), ("cacheReads",), ("cacheWrites",), whole=False),
    # Cline's history (`ClineTokensInfo`: `prompt` "includes cached + non-cached")
    UsageShape(("prompt",), ("cached",)),
    # OpenInference, whose names Langfuse keeps; Langfuse's own, after it has subtracted LangChain's
    # details from the input
    UsageShape(
        ("prompt", "input"), ("prompt_details.cache_read",), ("prompt_details.cache_write",)
    ),
    UsageShape(
        ("input",),
        ("input_cache_read", "input_cached_tokens", "cache_read_input_tokens"),
        ("input_cache_creation", "cache_creation_input_tokens"),
        whole=False,
    ),
    # AI SDK: version 6 (details), the model's own object, version 5 (and Codex in camelCase)
    UsageShape(
        ("inputTokens",),
        ("inputTokenDetails.cacheReadTokens",),
        ("inputTokenDetails.cacheWriteTokens",),
    ),
    UsageShape(("inputTokens.total",), ("inputTokens.cacheRead",), ("inputTokens.cacheWrite",)),
    UsageShape(("inputTokens",), ("cachedInputTokens",)),
    # Factory's Droid; Copilot's CLI, whose input includes reads and writes
    UsageShape(
        ("inputTokens",),
        ("cacheReadTokens",),
        ("cacheCreationTokens",),
        whole=False,
        known_by=("cacheCreationTokens",),
    ),
    UsageShape(("inputTokens",), ("cacheReadTokens",), ("cacheWriteTokens",)),
    # Bedrock's Converse; Amp; Bedrock's figures next to a model's own chunks
    UsageShape(
        ("inputTokens",),
        ("cacheReadInputTokens",),
        ("cacheWriteInputTokens", "cacheCreationInputTokens"),
        whole=False,
    ),
    UsageShape(
        ("inputTokenCount",),
        ("cacheReadInputTokenCount",),
        ("cacheWriteInputTokenCount",),
        whole=False,
    ),
    # any of the above, without counts of the cache
    UsageShape(
        (
            "prompt_tokens",
            "input_tokens",
            "request_tokens",
            "promptTokenCount",
            "prompt_token_count",
            "total_input_tokens",
            "inputTokens",
            "inputTokens.total",
            "inputTokenCount",
            "promptTokens",
            "tokensIn",
            "input",
            "prompt",
        )
    ),
)
_OUTPUTS: Final = (
    "output_tokens", "completion_tokens", "response_tokens", "outputTokens", "outputTokens.total",
    "completionTokens", "output", "completion", "tokensOut", "candidatesTokenCount",
    "candidates_token_count", "total_output_tokens", "outputTokenCount", "eval_count",
)  # fmt: skip
# Gemini and gemini-cli count thoughts separately from the output; both have the same price
_THOUGHTS: Final = {
    "candidatesTokenCount": "thoughtsTokenCount",
    "candidates_token_count": "thoughts_token_count",
    "total_output_tokens": "total_thought_tokens",
    "output": "thoughts",
}
_TOTALS: Final = ("total_tokens", "totalTokens", "total")
_MOST_TOKENS: Final = 1 << 31  # a larger number is not taken for a count of tokens


def billed_of(usage: Any) -> Billed | None:
    """Return a usage's input tokens: read, written, and the rest; None if they are not known."""
    if not isinstance(usage, dict) or not usage:
        return None
    shape = next((each for each in _shapes_of(frozenset(usage)) if each.fits(usage)), None)
    if shape is None:
        return None
    total, read = _first(usage, shape.total), _first(usage, shape.read)
    written, hour = _written(usage, _first(usage, shape.written))
    if total == read == written == 0:
        return None
    is_whole = _holds_all(usage, shape, total, read + written)
    if is_whole and read + written > total:
        if not shape.was_rest:
            return None
        is_whole = False
    uncached = total - read - written if is_whole else total
    bill = Billed(read, written, uncached, hour, is_summed(usage))
    return reduce(_sum, filter(None, map(billed_of, _compactions(usage))), bill)


def _compactions(usage: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the usage of each round in which Anthropic's server summarised the conversation.

    These rounds are billed in addition to the usage's own counts (its docs, "Compaction at a token
    threshold", as of 2026-10-30).
    """
    rounds = usage.get("iterations")
    items = rounds if isinstance(rounds, list) else []
    compactions = [
        one for one in items if isinstance(one, dict) and one.get("type") == "compaction"
    ]
    return [{**one, "iterations": None} for one in compactions]  # a round has no inner rounds


def _sum(bill: Billed, other: Billed) -> Billed:
    return Billed(
        bill.read + other.read,
        bill.write + other.write,
        bill.uncached + other.uncached,
        bill.write_hour + other.write_hour,
        summed=True,
    )


@lru_cache(maxsize=256)
def _shapes_of(keys: frozenset[str]) -> tuple[UsageShape, ...]:
    """Return the shapes that may fit. The result is cached, because a log repeats the same keys."""
    return tuple(each for each in SHAPES if each.may_fit(keys))


def cost_of(billed: Billed, rules: Rules, model: str) -> int:
    """Return the cost of a bill, in thousandths of the price of one input token."""
    cost = billed.uncached * 1000 + billed.read * rules.read_permille(model)
    short = billed.write - billed.write_hour
    written = ((short, rules.value("default_ttl")), (billed.write_hour, rules.long_lifetime))
    for tokens, ttl in written:
        cost += tokens * rules.write_permille(ttl) if tokens else 0
    return cost


def lifetime_of(billed: Billed | None, rules: Rules) -> str:
    """Return the lifetime that a bill shows for written tokens: the default or the longest."""
    is_long = billed is not None and billed.write_hour > 0
    return rules.long_lifetime if is_long else str(rules.value("default_ttl"))


def output_of(usage: Any) -> int | None:
    """Return the output tokens, thoughts included, or None if the usage does not count them."""
    if not isinstance(usage, dict) or not usage:
        return None
    for names in _outputs_of(frozenset(usage)):
        values = [_value_at(usage, name) for name in names]
        if counts := [as_count(each) for each in values if _is_count(each)]:
            return sum(counts) + sum(output_of(each) or 0 for each in _compactions(usage))
    return None


@lru_cache(maxsize=256)
def _outputs_of(keys: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    """Return the output counters that these keys may lead to, with their counters of thoughts."""
    pairs = ((name, _THOUGHTS[name]) if name in _THOUGHTS else (name,) for name in _OUTPUTS)
    return tuple(names for names in pairs if not keys.isdisjoint(_heads(names)))


def _holds_all(usage: dict[str, Any], shape: UsageShape, count: int, cached: int) -> bool:
    """Return True if the input `count` includes the `cached` tokens (read and written). A recorded
    total of input and output decides; if it is missing or fits neither way, the shape decides."""
    total = _first(usage, _TOTALS) if cached else 0
    if not total:
        return shape.whole
    output = output_of(usage) or 0
    if cached <= count and total == count + output:
        return True
    return shape.whole and total != count + cached + output


def _written(usage: dict[str, Any], written: int) -> tuple[int, int]:
    """Return the tokens written, and those of them with the longer of two lifetimes. The details
    are Anthropic's (`cache_creation`), Bedrock's (`cacheDetails`) and OpenAI's."""
    created = usage.get("cache_creation")
    created = created if isinstance(created, dict) else {}
    short, long = (as_count(created.get(f"ephemeral_{ttl}_input_tokens")) for ttl in ("5m", "1h"))
    rows = usage.get("cacheDetails")
    details = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    hour = sum(as_count(row.get("inputTokens")) for row in details if row.get("ttl") in _HOUR)
    long += next(
        (tokens for name in _TWELVE_HOURS if (tokens := as_count(_value_at(usage, name)))), 0
    )
    written = max(written, short + long)
    return written, min(long + hour, written)


def _first(usage: dict[str, Any], names: tuple[str, ...]) -> int:
    """Return the first count above 0 among the names, or 0."""
    return next((count for name in names if (count := as_count(_value_at(usage, name)))), 0)


def _value_at(value: Any, name: str) -> Any:
    """Return the value under a name, or along its dotted path, or None."""
    if not isinstance(value, dict):
        return None
    if name in value:
        return value[name]
    head, dot, rest = name.partition(".")
    return _value_at(value.get(head), rest) if dot else None


def is_summed(usage: Any) -> bool:
    """Return True if a bill is the sum of several rounds, or if tools ran at the provider."""
    if not isinstance(usage, dict):
        return False
    rounds, counts = usage.get("iterations"), usage.get("server_tool_use")
    if isinstance(rounds, list) and len(rounds) > 1:
        return True
    return isinstance(counts, dict) and any(as_count(count) for count in counts.values())


def as_count(value: Any) -> int:
    """Return a value if it is a count of tokens, else 0."""
    return int(value) if _is_count(value) else 0


def _is_count(value: Any) -> bool:
    """Return True for a possible count: not for -1 (in some sources: unknown), NaN or 1e400."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < _MOST_TOKENS
