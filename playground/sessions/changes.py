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
    """Say what differs in content: in what is sent, and in what is expected. Empty if nothing
    does.
    """
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
    """Return the messages without the one that is the system prompt."""
    own = not session.task.user_agent_prompt and begins_with_system(session)
    return session.messages[1:] if own else session.messages


def _listed_changes(noun: str, before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    # an item that nobody edited is the same object, which saves the text of all the others; one
    # that stands twice counts as often as it stands on both sides
    shared = Counter(map(id, before)) & Counter(map(id, after))
    old, new = (Counter(map(repr, _others(items, shared))) for items in (before, after))
    gone, come = (old - new).total(), (new - old).total()
    counts = {
        "changed": min(gone, come),
        "removed": max(gone - come, 0),
        "added": max(come - gone, 0),
    }
    said = [f"{counted(count, noun)} {how}" for how, count in counts.items() if count]
    if not said and list(before) != list(after):
        return [f"{noun}s in another order"]
    return said


def _others(items: Sequence[Any], shared: Counter[int]) -> Iterator[Any]:
    """Yield the items but for those of these ids, as often as they are counted."""
    left = shared.copy()
    for item in items:
        if left[id(item)]:
            left[id(item)] -= 1
        else:
            yield item
