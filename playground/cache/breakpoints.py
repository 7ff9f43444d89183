"""Find a request's breakpoints: its own marks and the provider's automatic one.

The provider writes cache entries that end at breakpoints, and searches for entries from there.
OpenAI from GPT-5.6 on also searches at the ends of earlier messages.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from playground.base.shared_lists import SharedList
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules
from playground.nouns.wire_blocks import TIERS, WireBlock


def breakpoints(request: TimedRequest, rules: Rules) -> tuple[list[int], tuple[str, str] | None]:
    """Return the indexes of the blocks that end with a breakpoint, in order, and the first problem.

    A problem is a finding's code and its message; None if there is none.
    """
    wire, points = request.wire, sorted(request.marks)
    for point in points:
        block = wire.blocks[point]
        if not block.markable:
            empty = block.kind == "text"  # a text may be marked unless it is empty
            what = "an empty text" if empty else f"a {block.kind} block"
            code = "marker-on-empty" if empty else "marker-on-thinking"
            return points, (code, f"a mark on {what}, which may not be marked")
    last = _automatic(request, rules)
    if last is not None and last not in points:
        points = sorted([*points, last])
    known_lifetimes = lifetimes_of(rules, request.wire.model)
    lifetimes = [lifetime_at(request, point, rules) for point in points]
    for lifetime in lifetimes:
        if lifetime not in known_lifetimes and _refuses(lifetime, rules):
            names = ", ".join(known_lifetimes)
            return points, ("unknown-ttl", f"a mark with the lifetime {lifetime!r}; known: {names}")
    # Too many marks are an error with Anthropic; OpenAI uses the newest marks.
    most = rules.value("max_breakpoints")
    if len(points) > most and rules.match == "breakpoints" and rules.get("refuses_more", True):
        return points, ("too-many-breakpoints", f"{len(points)} marks; at most {most} are allowed")
    # OpenAI states no rule on the order of lifetimes
    if rules.match == "breakpoints" and _rises(map(rules.seconds, lifetimes)):
        problem = "a mark with a longer lifetime after one with a shorter lifetime"
        return points, ("ttl-order", problem)
    return points, None


def _rises(seconds: Iterable[int]) -> bool:
    return any(later > earlier for earlier, later in pairwise(seconds))


def _refuses(lifetime: str, rules: Rules) -> bool:
    """Return True if the provider refuses a lifetime that it offers for no model. A lifetime that
    it offers only for other models is not refused: the default replaces it."""
    return bool(rules.get("refuses_lives", True)) and lifetime not in rules.value("ttls")


def lifetime_at(request: TimedRequest, point: int, rules: Rules) -> str:
    """Return the name of the lifetime of an entry that is written at this breakpoint."""
    billed = request.billed
    if billed is not None and 0 < billed.write == billed.write_hour:
        return rules.long_lifetime  # the bill takes precedence: a session may have lost its marks
    lifetime = request.marks.get(point) or request.wire.automatic_ttl or request.wire.ttl
    return lifetime or str(rules.value("default_ttl"))


@lru_cache(maxsize=256)
def lifetimes_of(rules: Rules, model: str) -> dict[str, int]:
    """Return the lifetimes that a mark may ask for on this model: their seconds by name."""
    seconds: dict[str, int] = rules.value("ttls")
    only = rules.of_model("ttls_of", model)
    return {name: seconds[name] for name in only} if only else seconds


def searched_spans(
    request: TimedRequest,
    points: Sequence[int],
    positions: Sequence[int],
    rules: Rules,
    reach: int | None = None,
) -> Iterator[tuple[int, int]]:
    """Yield the first and the last block of each run of blocks at whose ends the provider looks for
    an entry. It searches the runs in this order, and each from its last block back.

    Anthropic looks back from every breakpoint (`points`), the last one first, over so many
    `positions` as the rules or `reach` say. OpenAI from 5.6 on looks only at certain places, the
    longest prefix first: the first and the latest marks and, unless the request allows explicit
    marks only, the ends of the latest messages.
    """
    reach = rules.value("lookback") if reach is None else reach
    if rules.match == "exact":
        yield from ((place, place) for place in _places(request, points, rules, reach))
    else:
        yield from spans(points, positions, reach)


def spans(points: Sequence[int], positions: Sequence[int], reach: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last block of each mark's look-back, beginning with the last mark."""
    for point in reversed(points):
        least = positions[point] - reach
        if isinstance(positions, SharedList):
            yield positions.place_after(least, point), point
        else:
            yield bisect_right(positions, least, 0, point), point


def _automatic(request: TimedRequest, rules: Rules) -> int | None:
    """Return the block that the provider marks by itself, or None."""
    wire = request.wire
    if not rules.value("automatic"):
        return None
    # OpenAI from 5.6 on marks by itself unless the request forbids it.
    if rules.match == "exact":
        return None if wire.explicit_only else next(iter(_latest_ends(request, rules)), None)
    # Anthropic does so for a top-level cache_control.
    return _last_markable(wire.blocks) if wire.automatic_ttl is not None else None


def _places(request: TimedRequest, points: Sequence[int], rules: Rules, latest: int) -> list[int]:
    first = rules.value("lookback_first")
    places = {*points[:first], *points[-latest:]}
    if not request.wire.explicit_only:
        places.update(_latest_ends(request, rules))
    return sorted(places, reverse=True)


def _latest_ends(request: TimedRequest, rules: Rules) -> tuple[int, ...]:
    """Return the newest of the `_message_ends`, at which the provider looks for an entry, and the
    end of the leading system messages. The newest of all is the automatic mark itself."""
    count: int = 1 + rules.value("message_ends")
    if count not in request.known_ends:
        blocks = request.wire.blocks
        request.known_ends[count] = (*islice(_message_ends(blocks), count), *_head(blocks))
    return request.known_ends[count]


def _message_ends(blocks: Sequence[WireBlock]) -> Iterator[int]:
    """Yield the last block of each message that OpenAI marks by itself, the newest first. These are
    the user's messages, groups of tool results, and the developer's messages at the head."""
    after, before_result = None, False
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if block.tier != "messages":
            yield from _head(blocks)
            return
        result = _is_result(block)
        if not before_result if result else _ends_turn(block, after):
            yield index
        after, before_result = block, result


def _ends_turn(block: WireBlock, after: WireBlock | None) -> bool:
    if block.role != "user":
        return False
    # the next block may be another part of the same user message
    return after is None or not (block.place and after.place) or after.place[0] != block.place[0]


def _is_result(block: WireBlock) -> bool:
    """Return True for a tool result of Chat Completions or of the Responses API (`*_output`)."""
    return block.kind == "tool_result" or block.kind.endswith("_output")


def _head(blocks: Sequence[WireBlock]) -> Iterator[int]:
    """Yield the last block of the leading system and developer messages, if there are any."""
    messages = TIERS.index("messages")
    end = bisect_left(blocks, messages, key=lambda block: TIERS.index(block.tier)) - 1
    if end >= 0 and blocks[end].tier == "system":
        yield end


def _last_markable(blocks: Sequence[WireBlock]) -> int | None:
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].markable:
            return index
    return None
