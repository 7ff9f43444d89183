"""The schema of the rule files: the name, the meaning and the type of each rule.

The generated page docs/cache-rules.md uses these meanings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NotRequired

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from playground.base.errors import UnknownNameError

Salts = dict[Literal["tools", "system", "messages"], list[str]]
FieldRole = Literal["content", "setting", "server", "edits", "route", "neutral"]

_STRICT: Final = ConfigDict(extra="forbid")


class PriceFactor(TypedDict):
    """A factor of the price, and the models for which it holds."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    permille: int
    models: NotRequired[list[str]]


class OffPeak(TypedDict):
    """The times at which a provider is cheaper: hours in UTC, days of the week from Monday (0)."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    since: str
    permille: int
    peak_hours: list[list[int]]
    weekdays: list[int]
    holidays: list[str]


@dataclass(frozen=True, slots=True)
class RuleKind:
    """A kind of rule: its meaning in words, and the type of its value."""

    meaning: str
    type: TypeAdapter[Any]


def _kind(meaning: str, type_: Any) -> RuleKind:
    return RuleKind(meaning, TypeAdapter(type_))


KINDS: Final[dict[str, RuleKind]] = {
    "models": _kind("the models that the rules hold for", list[str]),
    "routes": _kind("prefixes of a model's name that route it to this provider", list[str]),
    "name_prefixes": _kind("other prefixes of a model's name: region and maker", list[str]),
    "aliases": _kind("other names of the models, with a date or a version", dict[str, list[str]]),
    "spelling": _kind(
        "how names write the point in a version", Literal["points", "hyphens", "either"]
    ),
    "written_after_answer": _kind(
        "whether an entry can be read only after the answer has ended", bool
    ),
    "match": _kind(
        "how a prefix is found", Literal["breakpoints", "exact", "best effort", "unknown"]
    ),
    "max_breakpoints": _kind("the most marks of a request at which entries are written", int),
    "refuses_lives": _kind("whether an unknown lifetime is an error", bool),
    "refuses_more": _kind("whether more marks than `max_breakpoints` are an error", bool),
    "automatic": _kind("whether the provider marks by itself, or by a top-level mark", bool),
    "implicit": _kind("whether there is a cache without marks, by best effort", bool),
    "implicit_minimum": _kind("the least tokens of a prefix in the cache without marks", int),
    "implicit_read_permille": _kind("price of a read without marks, in thousandths", int),
    "marks_in": _kind("the forms of a body in which marks count", list[str]),
    "marked_models": _kind("the models whose marks count", list[str]),
    "lookback": _kind("positions that a mark looks back over", int),
    "lookback_first": _kind("number of first marks at which an entry is sought, too", int),
    "message_ends": _kind("number of earlier messages at whose ends one is sought", int),
    "collapse_runs": _kind("whether a run of calls, or of results, is one position", bool),
    "string_is_block": _kind(
        "whether a string and one text block are one prefix", dict[str, bool | None]
    ),
    "granularity": _kind("number of which tokens read are a multiple", int),
    "granularity_of": _kind("this number by model", dict[str, int]),
    "ttls": _kind("lifetimes of an entry in seconds, by name", dict[str, int]),
    "ttls_of": _kind("the only lifetimes of these models", dict[str, list[str]]),
    "ttls_by_api": _kind("the only lifetimes of an API", dict[str, list[str]]),
    "default_ttl": _kind("the lifetime of a mark that names none", str),
    "least_lives": _kind("whether lifetimes are minimums: an entry may be kept longer", bool),
    "sure_seconds": _kind("seconds after which a hit is no longer promised", int),
    "across_regions": _kind("whether a region in a model's name means several regions", bool),
    "routed_by": _kind("fields that route requests to the same upstream provider", str),
    "retention": _kind("the lifetime that a value of `retention` asks for", dict[str, str]),
    "write_permille": _kind("price of a token written, in thousandths", dict[str, int]),
    "bills_writes": _kind("whether an automatic cache bills what it writes", bool),
    "read_permille": _kind("price of a token read, in thousandths", dict[str, int]),
    "minimum_tokens": _kind("the least tokens of a prefix that is cached", dict[str, int]),
    "storage_permille_hour": _kind("price of keeping a token for an hour", dict[str, int]),
    "unmarkable": _kind("blocks that may not be marked", list[str]),
    "salts": _kind("parameters whose change invalidates this tier and all later ones", Salts),
    "may_salt": _kind("parameters whose change may invalidate the tier: no source says", Salts),
    "defaults": _kind("values that count as the default", dict[str, dict[str, list[Any]]]),
    "defaults_unknown": _kind("parameters whose default is stated nowhere", list[str]),
    "thinking_stripped": _kind(
        "the models whose earlier reasoning is removed at a new turn", list[str]
    ),
    "prefix_check": _kind(
        "the effect of an edit before a thinking block",
        dict[str, Literal["refused", "by account", "by model"]],
    ),
    "refused": _kind("what these models refuse with an error 400", dict[str, list[str]]),
    "chat_refuses": _kind(
        "messages in OpenAI's form that are refused",
        list[Literal["results without ids", "other roles"]],
    ),
    "refuses_orphans": _kind("whether a result without its call is refused", bool),
    "system_messages": _kind("the models that take a message of role system", list[str]),
    "disputed_above": _kind("tokens above which sources name different prices", dict[str, int]),
    "price_factors": _kind(
        "factors of a price in thousandths, by a field's value and by model",
        dict[str, dict[str, PriceFactor]],
    ),
    "input_nano": _kind("price of an input token, in billionths of a dollar", dict[str, int]),
    "output_nano": _kind("price of an output token, in billionths of a dollar", dict[str, int]),
    "off_peak": _kind("hours at which all prices are lower", OffPeak),
    "deferred_tools": _kind(
        "which part of a tool with `defer_loading` is in the first prompt, by model",
        dict[str, Literal["nothing", "name and description", "not known"]],
    ),
    "sharing": _kind("who shares a cache", str),
    "fields": _kind(
        "the fields of a body, and the role of each for the prefix", dict[str, FieldRole]
    ),
    "words": _kind("the list of known words for each form of a body", dict[str, str]),
}


def check_value(name: str, value: Any) -> None:
    """Check a rule's value. Raises UnknownNameError for a rule of no known kind, and pydantic's
    error for a value of another type."""
    if name not in KINDS:
        raise UnknownNameError("rule", name, list(KINDS))
    KINDS[name].type.validate_python(value, strict=True)
