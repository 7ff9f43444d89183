"""Say what keeps a prediction from being certain.

`exact` is earned: a rule that is documented and dated, a model that it names, tokens that are
known, and nothing in the body that no rule speaks of. Each check returns the reason in words, or ""
if there is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from playground.cache.breakpoints import lives_of
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules, rules_of
from playground.nouns.wire_bodies import settings_left

# Anthropic's, where an edit names no trigger (Context editing; Compaction)
_TRIGGERS: Final = {"clear_tool_uses": 100_000, "compact": 150_000}
_NEAR_FULL: Final = 100_000  # tokens from which on `truncation: auto` may drop some


def unearned(request: TimedRequest, rules: Rules) -> str:
    """Return why no prediction of this request can be certain, whatever the cache holds."""
    return unearned_beside(request, rules) or unearned_within(request, rules)


def unearned_beside(request: TimedRequest, rules: Rules) -> str:
    """Return what the model's name and the settings take the certainty away for."""
    return _unnamed(request, rules) or _history(request, rules) or _fields(request, rules)


def unearned_within(request: TimedRequest, rules: Rules) -> str:
    """Return what the words, the blocks and the marks take the certainty away for."""
    for check in _CHECKS:
        if why := check(request, rules):
            return why
    return ""


def _unnamed(request: TimedRequest, rules: Rules) -> str:
    model = request.wire.model
    if rules.knows(model):
        return ""
    like = rules.assumed_as(model)
    assumed = f": assumed as for {like}" if like else ""
    return f"no rule of {rules.title} names the model {model!r}{assumed}"


def _history(request: TimedRequest, rules: Rules) -> str:
    held = request.wire.parameters.get("history")
    return f"{held}: the history is on the server, the body holds the last input alone" * bool(held)


def _unclear_blocks(request: TimedRequest, rules: Rules) -> str:
    return "; ".join(request.wire.doubts)


def _words(request: TimedRequest, rules: Rules) -> str:
    """Name the unknown words of a body, by their paths; or its form, if no list has its words."""
    wire = request.wire
    vocabulary = rules.get("words", {}).get(wire.api)
    if vocabulary is None:
        return f"no rule speaks of a body of this form ({wire.api})" if wire.api else ""
    if not wire.unknown:
        return ""
    return _unspoken_of([word.path for word in wire.unknown if word.vocabulary == vocabulary])


def _fields(request: TimedRequest, rules: Rules) -> str:
    """Name the fields that no rule speaks of, or whose content stands elsewhere."""
    settings, roles = request.wire.settings, _roles(rules, request.wire.api)
    unknown = [name for name in settings if name not in roles]
    parents = _parents(rules, request.wire.api)
    for name in parents.intersection(settings):
        held = settings[name]
        inner = held if isinstance(held, dict) else {}
        unknown += [path for key in inner if (path := f"{name}.{key}") not in roles]
    if unknown:
        return _unspoken_of(unknown)
    server = [name for name in settings if roles[name] == "server"]
    server += [n for n in settings if roles[n] == "route" and not is_pinned(request)]
    return f"what {', '.join(server)} stands for is not in the body" if server else ""


def _unspoken_of(paths: list[str]) -> str:
    if len(paths) < 2:
        return f"no rule speaks of {paths[0]}" if paths else ""
    return f"no rule speaks of {', '.join(paths)}"


def unknown_words(request: TimedRequest, rules: Rules) -> str:
    """Return which words of the body no rule speaks of; "" if there are none."""
    return _words(request, rules) or _fields(request, rules)


def is_pinned(request: TimedRequest) -> bool:
    """Return True if a request to OpenRouter may be answered by one upstream alone."""
    given = request.wire.settings.get("provider")
    if not isinstance(given, dict):
        return False
    only, order = given.get("only"), given.get("order")
    if isinstance(only, list) and len(only) == 1:
        return True
    return isinstance(order, list) and len(order) == 1 and given.get("allow_fallbacks") is False


@lru_cache(maxsize=256)
def _roles(rules: Rules, api: str) -> Mapping[str, str]:
    """Return the known fields and what each is to the prefix.

    A body in OpenAI's form for another provider, as LiteLLM takes it, may have OpenAI's fields.
    """
    own: Mapping[str, str] = rules.get("fields", {})
    return {**rules_of("openai").value("fields"), **own} if api == "chat" else own


@lru_cache(maxsize=256)
def _parents(rules: Rules, api: str) -> frozenset[str]:
    """Return the fields of which the rules name every field inside, by a name with a dot."""
    return frozenset(name.partition(".")[0] for name in _roles(rules, api) if "." in name)


def _edits(request: TimedRequest, rules: Rules) -> str:
    settings, edits = request.wire.settings, _edit_fields(rules, request.wire.api)
    if edits.isdisjoint(settings) or not request.sizes:
        return ""
    high = request.size_range(len(request.sizes) - 1)[1]
    for name in edits.intersection(settings):
        if high >= _trigger(name, settings[name]):
            return f"{name}: the server may change the history, and where is its own choice"
    return ""


@lru_cache(maxsize=256)
def _edit_fields(rules: Rules, api: str) -> frozenset[str]:
    """Return the fields that let the server change the history."""
    return frozenset(name for name, role in _roles(rules, api).items() if role == "edits")


def _trigger(name: str, value: Any) -> float:
    """Return the tokens from which on the server may change what it was sent."""
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
    wire = request.wire
    if not wire.instructs or "system_messages" not in rules.rules:
        return ""
    if wire.api == "chat":
        pairs = zip(wire.blocks, wire.blocks[1:], strict=False)
        if any(two.role == "system" and one.role == "assistant" for one, two in pairs):
            return "a message of role system follows an answer: it may be refused"
    if wire.api != "messages":
        return ""
    if rules.lists("system_messages", wire.model):
        return ""
    return "no page says that this model takes a message of role system"


def _server_tools(request: TimedRequest, rules: Rules) -> str:
    """Name a tool on the server whose results get a mark of their own beside the body's."""
    named = request.wire.server_tools if request.marks or request.wire.automatic_ttl else ()
    if not named or "system_messages" not in rules.rules:
        return ""
    return f"results of {', '.join(named)} get a mark of their own: the body does not show it"


def _marks(request: TimedRequest, rules: Rules) -> str:
    wire = request.wire
    top = wire.automatic_ttl is not None and rules.match == "breakpoints"
    if top and not rules.value("automatic"):
        return "no page says what this provider makes of a mark at the top"
    listed = "marked_models" not in rules.rules or rules.lists("marked_models", wire.model)
    if request.marks and not listed:
        return "no page says that marks count for this model"
    known = lives_of(rules, wire.model)
    other = next((life for life in request.marks.values() if life not in known), None)
    if other is None or rules.match == "best effort":
        return ""
    return f"no page says what this model makes of a life of {other!r}"


_CHECKS: Final[tuple[Callable[[TimedRequest, Rules], str], ...]] = (
    _server_tools,
    _words,
    _edits,
    _unclear_blocks,
    _system_messages,
    _marks,
)


def settings_of(request: TimedRequest, rules: Rules) -> dict[str, str]:
    """Return the settings of a request as texts: what the rules name, without its defaults, and
    by their paths those of which no rule says what their change loses.
    """
    wire, named = request.wire, _named(rules)
    given = rules.salts_of(named, wire.parameters, wire.model)
    roles = _roles(rules, wire.api)
    fields = [name for name in wire.settings if roles.get(name) == "setting"]
    given |= {path: value for path, value in settings_left(wire.settings, fields, named)}
    return {n: json.dumps(value, sort_keys=True, default=str) for n, value in given.items()}


@lru_cache(maxsize=64)
def _named(rules: Rules) -> tuple[str, ...]:
    """Return the parameters of which a rule says what their change loses, or may lose."""
    tables = (rules.get("salts", {}), rules.get("may_salt", {}))
    return tuple(
        dict.fromkeys(name for table in tables for some in table.values() for name in some)
    )


def may_be_lost(before: Mapping[str, str], now: Mapping[str, str], tier: str, rules: Rules) -> str:
    """Return why an entry that ends in this tier may not be read, after a change of settings."""
    if before is now:  # as in most rows, where requests share their settings
        return ""
    named = _named(rules)
    unnamed = (name for name in {**before, **now} if name not in named)
    names = (*_up_to(tier, rules), *unnamed)
    changed = [name for name in names if before.get(name) != now.get(name)]
    if not changed:
        return ""
    told = ", ".join(changed).replace("forced_tool", "tool_choice")
    return f"{told} changed: no source says whether this model keeps its {tier}"


def _up_to(tier: str, rules: Rules) -> Iterator[str]:
    for name, some in rules.get("may_salt", {}).items():
        yield from some
        if name == tier:
            return


def may_be_kept(before: Mapping[str, str], now: Mapping[str, str], rules: Rules) -> str:
    """Return why what was cached under other settings may be read all the same.

    One request names a parameter that the other leaves to its default, and no source says which
    that is.
    """
    unsaid = rules.get("defaults_unknown", ())
    named = [name for name in unsaid if (name in before) != (name in now)]
    if not named:
        return ""
    return f"{', '.join(named)} is named in one request alone: its default is stated nowhere"
