"""Say how an edited session differs from the original."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from playground.base.wording import counted
from playground.nouns.messages import Message
from playground.sessions.editing import begins_with_system, system_prompt
from playground.sessions.session import Session


def changes(before: Session, after: Session) -> list[str]:
    """Describe differences in prompts, settings, expected calls, tools, messages; [] if none."""
    prompts: dict[str, Callable[[Session], object]] = {
        "system prompt": system_prompt,
        "custom instructions": lambda session: session.task.user_prompt,
        "environment block": lambda session: session.dynamic.dynamic_environment_details_block,
        "general rules": lambda session: session.task.system_rules,
        "model": lambda session: session.task.model_name,
        "parameters": lambda session: session.parameters,
        "expected calls": lambda session: session.expected,
    }
    found = [name for name, of in prompts.items() if of(before) != of(after)]
    found += _listed_changes("tool", before.tools, after.tools)
    return found + _listed_changes("message", _conversation(before), _conversation(after))


def _conversation(session: Session) -> tuple[Message, ...]:
    """Return the messages, without the first if it is the system prompt."""
    has_prompt = not session.task.user_agent_prompt and begins_with_system(session)
    return session.messages[1:] if has_prompt else session.messages


def _listed_changes(noun: str, before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    # Unedited items are the same objects, so that they need no comparison by text.
    shared = Counter(map(id, before)) & Counter(map(id, after))
    old, new = (Counter(map(repr, _unshared(items, shared))) for items in (before, after))
    only_old, only_new = (old - new).total(), (new - old).total()
    counts = {
        "changed": min(only_old, only_new),
        "removed": max(only_old - only_new, 0),
        "added": max(only_new - only_old, 0),
    }
    words = [f"{counted(count, noun)} {how}" for how, count in counts.items() if count]
    return [f"{noun}s in another order"] if not words and list(before) != list(after) else words


def _unshared(items: Sequence[Any], shared: Counter[int]) -> Iterator[Any]:
    """Yield the items without those in `shared`, which counts the ids of the items to skip."""
    remaining = shared.copy()
    for item in items:
        if remaining[id(item)]:
            remaining[id(item)] -= 1
        else:
            yield item
