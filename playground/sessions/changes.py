"""Say how an edited session differs from the original."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from playground.base.wording import counted
from playground.nouns.messages import Message
from playground.sessions.editing import Edit, begins_with_system, edited, system_prompt
from playground.sessions.session import RequestRecord, Session


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


def message_after(
    session: Session, before: Sequence[Edit], after: Sequence[Edit], index: int
) -> int:
    """Map a message's index after some edits to its index after others.

    A message that is gone is mapped to the nearest one before it.
    """
    old, new = (_numbered(session, edits) for edits in (before, after))
    for number, message in reversed(old[: index + 1]):
        for place, (other, twin) in enumerate(new):
            if number == other and (number is not None or message == twin):
                return place
    return 0


def _numbered(session: Session, edits: Sequence[Edit]) -> list[tuple[int | None, Message]]:
    """Return the messages after the edits, each with the number that it had before them."""
    # what is recorded of a message goes where it goes
    records = (RequestRecord(reply=n, model=str(n)) for n in range(len(session.messages)))
    made = edited(replace(session, requests=tuple(records)), edits)
    numbers = {record.reply: int(record.model) for record in made.requests}
    return [(numbers.get(place), message) for place, message in enumerate(made.messages)]
