"""Compare the caching rules with the types of the installed SDKs, and list what was seen long ago.

Run: python benchmarks/cache_rules.py [--today 2026-11-27]. Exit status 1 if an SDK has a field of a
body, or a word about caches, that no rule names. An SDK that is not installed is skipped and named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cache_words import known_words, vocabularies

from playground.cache.diagnosis import WORDS
from playground.cache.rules import STALE_DAYS, rule_sets, rules_of
from playground.cache.rules.age import days_since


def _fields(module: str, *names: str) -> set[str]:
    """Return the fields of classes of an SDK. Raises ImportError if it is not installed."""
    loaded = import_module(module)
    return {field for name in names for field in _annotations(getattr(loaded, name))}


def _annotations(kind: Any) -> Iterable[str]:
    names: Iterable[str] = getattr(kind, "model_fields", None) or kind.__annotations__
    return names


def _anthropic() -> set[str]:
    own = _fields("anthropic.types.message_create_params", "MessageCreateParamsBase")
    beta = "anthropic.types.beta.message_create_params"
    return own | _fields(beta, "MessageCreateParamsBase")


def _openai() -> set[str]:
    responses = "openai.types.responses.response_create_params"
    own = _fields(responses, "ResponseCreateParamsBase")
    chat = "openai.types.chat.completion_create_params"
    return own | _fields(chat, "CompletionCreateParamsBase")


def _gemini() -> set[str]:
    """Return the fields of Gemini's configuration that stand in the body itself; on the wire the
    others are in `generationConfig`."""
    beside = ("system_instruction", "tools", "tool_config", "safety_settings", "cached_content",
              "labels", "service_tier")  # fmt: skip
    return _fields("google.genai.types", "GenerateContentConfig") & set(beside)


def _words_of_misses() -> set[str]:
    reason = import_module("anthropic.types.cache_miss_reason").CacheMissReason
    return {word for kind in _union(reason) for word in _literals(kind, "type")}


def _words_of_responses() -> set[str]:
    found = import_module("openai.types.responses.response").PromptCacheDiagnosticsCacheMiss
    return set(_literals(found, "reason"))


def _union(kind: Any) -> Iterator[Any]:
    for one in get_args(kind):
        if isinstance(one, type):
            yield one
        elif get_args(one):
            yield from _union(one)


def _literals(kind: Any, field: str) -> tuple[str, ...]:
    return get_args(kind.model_fields[field].annotation)


_CHECKS: tuple[tuple[str, Callable[[], set[str]], Callable[[], Iterable[str]]], ...] = (
    ("anthropic: fields", _anthropic, lambda: rules_of("anthropic").value("fields")),
    ("openai: fields", _openai, lambda: rules_of("openai").value("fields")),
    ("google-genai: fields", _gemini, lambda: rules_of("gemini").value("fields")),
    ("anthropic: cache_miss_reason", _words_of_misses, lambda: WORDS),
    ("openai: prompt_cache_diagnostics", _words_of_responses, lambda: WORDS),
)


def _news() -> Iterator[str]:
    """Yield a line for each word of an SDK that no rule speaks of."""
    for name, words, known in _CHECKS:
        try:
            found = words()
        except ImportError as error:
            print(f"skipped, {name}: {error}")
            continue
        new = sorted(found - set(known()))
        print(f"{name}: {len(found)} words, {len(new)} of them new")
        yield from (f"{name}: {word}" for word in new)
    yield from _words_inside()


def _words_inside() -> Iterator[str]:
    """Yield the words inside of a body's fields that `wire_words.json` does not have."""
    known = known_words()
    for name, found in vocabularies():
        new = sorted(_all_words(found) - _all_words(known.get(name, {})))
        print(f"{name}, inside of fields: {len(found['forms'])} forms, {len(new)} new words")
        yield from (f"{name}, inside of fields: {word}" for word in new)


def _all_words(vocabulary: dict[str, Any]) -> set[str]:
    """Return each field, kind and literal word, with the field that it is a word of."""
    found: set[str] = set()
    for form in vocabulary.get("forms", ()):
        found |= {f"kind {kind}" for kind in form.get("kinds", {})}
        for field, value in form.get("fields", {}).items():
            found |= {field, *(f"{field} {w}" for w in (value if isinstance(value, list) else ()))}
    return found


def _old(today: date) -> Iterator[str]:
    for provider, found in rule_sets().items():
        for name, rule in found.rules.items():
            days = days_since(rule.seen, today)
            if days > STALE_DAYS:
                yield f"{provider}: {name}: seen {days} days ago ({rule.source})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--today", type=date.fromisoformat, default=date.today())
    today = parser.parse_args().today
    news = list(_news())
    for line in news:
        print(f"new: {line}")
    for line in dict.fromkeys(_old(today)):
        print(f"old: {line}")
    return int(bool(news))


if __name__ == "__main__":
    sys.exit(main())
