"""Remove from a request the parts that its provider removes before it looks for a cached prefix.

A message with `clear_at` is removed once a user's turn follows it; earlier models also lose the
reasoning before the user's last turn without tool results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from playground.base.shared_lists import SharedList
from playground.cache.rules import Rules
from playground.nouns.wire_blocks import WireBlock, WireRequest

_THOUGHTS = ("thinking", "redacted_thinking")
_RESULTS = ("tool_result",)


def as_prompted(wire: WireRequest, rules: Rules) -> WireRequest:
    """Return the request without the removed parts; the same object if nothing is removed."""
    strips = wire.thinks and rules.lists("thinking_stripped", wire.model)
    if wire.prompted or not (wire.clears_at or strips):
        return wire
    turns = [number for number, _ in _user_turns(wire)]
    last = turns[-1] if turns else -1
    cleared = {number for number in wire.clears_at if number < last}
    without_results = [number for number, has_results in _user_turns(wire) if not has_results]
    strip_before = without_results[-1] if strips and without_results else -1
    blocks, starts = list[WireBlock](), list[int]()
    if wire.starts:
        blocks += wire.blocks[: wire.starts[0]]
    for number in range(len(wire.starts)):
        starts.append(len(blocks))
        if number in cleared:
            continue
        message_blocks = _blocks_of(wire, number)
        blocks += [b for b in message_blocks if number >= strip_before or b.kind not in _THOUGHTS]
    still_there = tuple(number for number in wire.clears_at if number not in cleared)
    return replace(
        wire,
        blocks=SharedList(blocks),
        starts=SharedList(starts),
        clears_at=still_there,
        thinks=wire.thinks and strip_before < 0,
        prompted=True,
    )


def _user_turns(wire: WireRequest) -> Iterator[tuple[int, bool]]:
    """Yield the number of each message of the user, and True if it holds a tool result."""
    for number in range(len(wire.starts)):
        blocks = _blocks_of(wire, number)
        if blocks and blocks[0].role == "user":
            yield number, any(block.kind in _RESULTS for block in blocks)


def _blocks_of(wire: WireRequest, number: int) -> list[WireBlock]:
    start, *after = wire.starts[number : number + 2]
    return wire.blocks[start : after[0] if after else len(wire.blocks)]
