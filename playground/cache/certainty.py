"""Give the reason why a prediction is not certain.

A prediction is `exact` only if a documented and dated rule names the model, if the tokens are
known, and if a rule covers everything in the body. Each check returns a reason for doubt as a text,
or "" if it finds none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from playground.cache.breakpoints import lifetimes_of
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules, rules_of
from playground.nouns.wire_bodies import settings_left

# Anthropic's defaults, for an edit that names no trigger (Context editing; Compaction)
_TRIGGERS: Final = {"clear_tool_uses": 100_000, "compact": 150_000}
_NEAR_FULL: Final = 100_000  # above this many tokens `truncation: auto` may drop messages
_UNDOCUMENTED: Final = "the provider's documentation does not say"


def doubt_of(request: TimedRequest, rules: Rules, settings_doubt: str | None = None) -> str:
    """Return why a prediction of this request is uncertain whatever the cache holds, or "".

    `settings_doubt` is the result of `doubt_about_settings`, if the caller has it already. If the
    settings raise a doubt, only the body's unknown words are added; if not, the content is checked.
    """
    if settings_doubt is None:
        settings_doubt = doubt_about_settings(request, rules)
    more = _words(request, rules) if settings_doubt else _doubt_about_content(request, rules)
    return "; ".join(filter(None, (settings_doubt, more)))


def doubt_about_settings(request: TimedRequest, rules: Rules) -> str:
    """Return the doubts about the model's name, the history and the fields of the body, or ""."""
    doubts = (_unnamed_model(request, rules), _history(request, rules), _fields(request, rules))
    return "; ".join(filter(None, doubts))


def _doubt_about_content(request: TimedRequest, rules: Rules) -> str:
    """Return the first doubt about server tools, words, edits, blocks, system messages or marks."""
    if why := _server_tools(request, rules):
        return why
    doubt_by_rules = request.known_doubts  # shared by the same request under all policies
    if rules not in doubt_by_rules:
        doubt_by_rules[rules] = _first_doubt(request, rules)
    return doubt_by_rules[rules] or _marks(request, rules)


def _first_doubt(request: TimedRequest, rules: Rules) -> str:
    for check in _CHECKS:
        if why := check(request, rules):
            return why
    return ""


def _unnamed_model(request: TimedRequest, rules: Rules) -> str:
    model = request.wire.model
    if rules.knows(model):
        return ""
    like = rules.assumed_as(model)
    assumed = f": assumed as for {like}" if like else ""
    return f"no rule of {rules.title} names the model {model!r}{assumed}"


def _history(request: TimedRequest, rules: Rules) -> str:
    reference = request.wire.parameters.get("history")
    if not reference:
        return ""
    return f"{reference}: the history is on the server, and the body holds only the last input"


def _unclear_blocks(request: TimedRequest, rules: Rules) -> str:
    return "; ".join(request.wire.doubts)


def _words(request: TimedRequest, rules: Rules) -> str:
    """Name the paths of keys and values that the API's list of words lacks; without a list, the
    API."""
    wire = request.wire
    vocabulary = rules.get("words", {}).get(wire.api)
    if vocabulary is None:
        return f"no rule is about a body of this form ({wire.api})" if wire.api else ""
    if not wire.unknown:
        return ""
    return _unmentioned([word.path for word in wire.unknown if word.vocabulary == vocabulary])


def _fields(request: TimedRequest, rules: Rules) -> str:
    """Name the fields that no rule mentions. If every field is mentioned, name those whose effect
    depends on something outside the body."""
    settings, roles = request.wire.settings, _roles(rules, request.wire.api)
    unknown = [name for name in settings if name not in roles]
    parents = _parents(rules, request.wire.api)
    for name in parents.intersection(settings):
        value = settings[name]
        inner = value if isinstance(value, dict) else {}
        unknown += [path for key in inner if (path := f"{name}.{key}") not in roles]
    if unknown:
        return _unmentioned(unknown)
    server = [name for name in settings if roles[name] == "server"]
    routes = [n for n in settings if roles[n] == "route" and not is_pinned(request)]
    doubts = [f"what {', '.join(server)} stands for is not in the body"] * bool(server)
    doubts += [f"{', '.join(routes)} lets more than one upstream provider answer"] * bool(routes)
    return "; ".join(doubts)


def _unmentioned(paths: list[str]) -> str:
    return f"no rule mentions {', '.join(paths)}" if paths else ""


def unknown_words(request: TimedRequest, rules: Rules) -> str:
    """Return the fields and vocabulary words that no rule covers, as a text; "" if none."""
    return "; ".join(filter(None, (_fields(request, rules), _words(request, rules))))


def is_pinned(request: TimedRequest) -> bool:
    """Return True if only one upstream provider may answer a request to OpenRouter."""
    provider = request.wire.settings.get("provider")
    if not isinstance(provider, dict):
        return False
    only, order = provider.get("only"), provider.get("order")
    if isinstance(only, list) and len(only) == 1:
        return True
    return isinstance(order, list) and len(order) == 1 and provider.get("allow_fallbacks") is False


def across_regions(request: TimedRequest, rules: Rules) -> str:
    """Return why a request may go to a region that has not cached its prefix, if the model's name
    has a region; otherwise ""."""
    if not rules.get("across_regions"):
        return ""
    region = _region(rules, request.wire.model)
    if not region:
        return ""
    return f"inference across regions ({region}): another may answer and write the prefix again"


@lru_cache(maxsize=256)
def _region(rules: Rules, model: str) -> str:
    """Return the region in a model's name, as its provider writes it (`us.`), or ""."""
    name = model.lower().rpartition("/")[2]
    prefixes = [prefix for prefix in rules.get("name_prefixes", ()) if prefix.count(".") > 1]
    return f"{name.partition('.')[0]}." if name.startswith(tuple(prefixes)) else ""


@lru_cache(maxsize=256)
def _roles(rules: Rules, api: str) -> Mapping[str, str]:
    """Return for each known field of a body how it affects the prefix (`FieldRole`). LiteLLM takes
    bodies in OpenAI's form for other providers too, so they may have OpenAI's fields."""
    own: Mapping[str, str] = rules.get("fields", {})
    return {**rules_of("openai").value("fields"), **own} if api == "chat" else own


@lru_cache(maxsize=256)
def _parents(rules: Rules, api: str) -> frozenset[str]:
    """Return the fields for which the rules name all inner fields (`parent.inner`)."""
    return frozenset(name.partition(".")[0] for name in _roles(rules, api) if "." in name)


def _edits(request: TimedRequest, rules: Rules) -> str:
    """Name an edit by which the server may change the history of this request, or return ""."""
    settings, edits = request.wire.settings, _edit_fields(rules, request.wire.api)
    if edits.isdisjoint(settings) or not request.sizes:
        return ""
    high = request.size_range(len(request.sizes) - 1)[1]
    for name in edits.intersection(settings):
        if high >= _trigger(name, settings[name]):
            return f"{name}: the server may change the history at a place that it chooses"
    return ""


@lru_cache(maxsize=256)
def _edit_fields(rules: Rules, api: str) -> frozenset[str]:
    """Return the fields that let the server change the history."""
    return frozenset(name for name, role in _roles(rules, api).items() if role == "edits")


def _trigger(name: str, value: Any) -> float:
    """Return the number of tokens at which the server may begin to change the history; 0 if the
    value is of an unknown form, infinity if the server never does."""
    if name == "truncation":
        return _NEAR_FULL if value == "auto" else float("inf")
    edits = value.get("edits") if isinstance(value, dict) else value
    if not isinstance(edits, list):
        return 0
    return min((_edit_trigger(edit) for edit in edits), default=float("inf"))


def _edit_trigger(edit: Any) -> float:
    if not isinstance(edit, dict):
        return 0
    trigger, threshold = edit.get("trigger"), edit.get("compact_threshold")
    if isinstance(trigger, dict):
        value = trigger.get("value")
        return value if trigger.get("type") == "input_tokens" and isinstance(value, int) else 0
    if isinstance(threshold, int):
        return threshold
    kind = str(edit.get("type") or "")
    if kind.startswith("clear_thinking") and edit.get("keep") == "all":
        return float("inf")
    return next((tokens for name, tokens in _TRIGGERS.items() if kind.startswith(name)), 0)


def _system_messages(request: TimedRequest, rules: Rules) -> str:
    """Return why a system message after one of another role may be refused, or ""."""
    wire = request.wire
    if not wire.has_late_system or "system_messages" not in rules.rules:
        return ""
    if wire.api == "chat":
        pairs = zip(wire.blocks, wire.blocks[1:], strict=False)
        if any(two.role == "system" and one.role == "assistant" for one, two in pairs):
            return "a message of role system follows an answer: it may be refused"
    if wire.api != "messages":
        return ""
    if rules.lists("system_messages", wire.model):
        return ""
    return f"{_UNDOCUMENTED} whether this model takes a message of role system"


def _server_tools(request: TimedRequest, rules: Rules) -> str:
    """Name the server tools whose results the provider marks without showing it in the body."""
    tools = request.wire.server_tools if request.marks or request.wire.automatic_ttl else ()
    if not tools or "system_messages" not in rules.rules:  # only Anthropic's rules have this key
        return ""
    return f"results of {', '.join(tools)} get a mark of their own: the body does not show it"


def _marks(request: TimedRequest, rules: Rules) -> str:
    """Return why it is uncertain what the request's marks and their lifetimes do, or ""."""
    wire = request.wire
    is_on_body = wire.automatic_ttl is not None and rules.match == "breakpoints"
    if is_on_body and not rules.value("automatic"):
        return f"{_UNDOCUMENTED} what a mark on the body itself does"
    marks_count = "marked_models" not in rules.rules or rules.lists("marked_models", wire.model)
    if request.marks and not marks_count:
        return f"{_UNDOCUMENTED} whether marks count for this model"
    lifetimes = lifetimes_of(rules, wire.model)
    others = [ttl for ttl in request.marks.values() if ttl not in lifetimes]
    if others and rules.match != "best effort":
        return f"{_UNDOCUMENTED} what a lifetime of {others[0]!r} does for this model"
    for lifetime in _disputed_lifetimes(rules):
        if lifetime == wire.ttl or lifetime in request.marks.values():
            return f"sources disagree on whether marks may have a lifetime of {lifetime}"
    return ""


@lru_cache(maxsize=64)
def _disputed_lifetimes(rules: Rules) -> list[str]:
    """Return the lifetimes, other than the default, that not every source knows."""
    rule = rules.rules["ttls"]
    sources = [other.value for other in rule.conflicts if not other.superseded]
    disputed = {ttl for known in sources for ttl in rule.value if ttl not in known}
    return sorted(disputed - {str(rules.value("default_ttl"))})


_CHECKS: Final[tuple[Callable[[TimedRequest, Rules], str], ...]] = (
    _words,
    _edits,
    _unclear_blocks,
    _system_messages,
)


def settings_of(request: TimedRequest, rules: Rules) -> dict[str, str]:
    """Return the settings of a request on which its cache entries may depend, as JSON texts.

    A setting that the rules name is left out if it has its default. Settings that no rule names are
    listed by path, because nobody knows which cache entries a change of them loses.
    """
    wire, names = request.wire, _named_parameters(rules)
    settings = rules.salts_of(names, wire.parameters, wire.model)
    roles = _roles(rules, wire.api)
    fields = [name for name in wire.settings if roles.get(name) == "setting"]
    settings |= {path: value for path, value in settings_left(wire.settings, fields, names)}
    return {n: json.dumps(value, sort_keys=True, default=str) for n, value in settings.items()}


@lru_cache(maxsize=64)
def _named_parameters(rules: Rules) -> tuple[str, ...]:
    """Return the parameters of which a rule says that a change invalidates, or may invalidate,
    entries."""
    tables = (rules.get("salts", {}), rules.get("may_salt", {}))
    lists = (names for table in tables for names in table.values())
    return tuple(dict.fromkeys(name for names in lists for name in names))


def may_be_lost(before: Mapping[str, str], now: Mapping[str, str], tier: str, rules: Rules) -> str:
    """Return why an entry of this tier may have become unreadable, or "".

    `before` and `now` are the settings of the entry's request and of this one.
    """
    if before is now:  # the usual case: both requests share one object
        return ""
    parameter_names = _named_parameters(rules)
    unnamed = (name for name in {**before, **now} if name not in parameter_names)
    names = (*_parameters_up_to(tier, rules), *unnamed)
    changed = [name for name in names if before.get(name) != now.get(name)]
    if not changed:
        return ""
    parameters = ", ".join(changed).replace("forced_tool", "tool_choice")
    return f"{parameters} changed, and no source says whether the cached {tier} can still be read"


def _parameters_up_to(tier: str, rules: Rules) -> Iterator[str]:
    """Yield the parameters whose change may invalidate this tier or one before it."""
    for name, parameters in rules.get("may_salt", {}).items():
        yield from parameters
        if name == tier:
            return


def may_be_kept(before: Mapping[str, str], now: Mapping[str, str], rules: Rules) -> str:
    """Return why an entry written under other settings may still be readable, or "".

    The reason is a parameter that only one of the two requests names: no source states its default,
    so the values may be equal.
    """
    undocumented = rules.get("defaults_unknown", ())
    names = [name for name in undocumented if (name in before) != (name in now)]
    if not names:
        return ""
    return (
        f"{', '.join(names)} is named in only one of the requests, and no source states its default"
    )
