"""Record the settings and doubts of earlier requests, on which cache entries depend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from playground.cache.certainty import may_be_kept, may_be_lost
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules
from playground.nouns.wire_blocks import WireRequest, same_blocks
from playground.nouns.wire_doubts import without_defaults

NO_ROUTE: Final = b""  # the route of a request that only one upstream provider may answer
_SLOWEST: Final = 10  # tokens a second: the slowest answer that we assume


@dataclass(slots=True)
class CacheEntry:
    """An entry of the cache for one prefix, readable from `visible` to `expires` (in seconds)."""

    size: int
    ttl: str
    visible: float
    expires: float
    strings: int = 0  # number of contents in the prefix that were strings, not blocks
    sized: bool = False  # True if a bill gave `size`
    writer: bytes = b""  # hash of the whole request that wrote it
    tier: str = ""  # tier of its last block
    role: str = ""  # role of its last block
    settings: dict[str, str] = field(default_factory=dict)  # settings of its writer
    route: bytes = NO_ROUTE  # what chose the upstream at its last use: a session id, or a hash
    answer_seconds: float = 0.0  # the longest that its writer's answer may take
    unclear: bool = False  # True if it is uncertain that the entry was written


@dataclass(slots=True)
class EarlierRequests:
    """The known facts of earlier requests by model; `cleared`: their messages with `clear_at`."""

    settings: dict[str, list[dict[str, str]]] = field(default_factory=dict)  # each different one
    uncertain: dict[str, str] = field(default_factory=dict)  # the first doubt
    cleared: dict[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    last: dict[str, TimedRequest] = field(default_factory=dict)  # the latest request

    def copy(self) -> EarlierRequests:
        """Return an independent copy."""
        settings = {model: list(known) for model, known in self.settings.items()}
        return EarlierRequests(settings, dict(self.uncertain), dict(self.cleared), dict(self.last))

    def doubt(
        self,
        request: TimedRequest,
        settings: dict[str, str],
        own: str,
        entry: CacheEntry | None,
        reads_all: bool,
        rules: Rules,
    ) -> str:
        """Return `own`, or if that is "", the doubt that follows from earlier requests. Record
        the request.

        `own` is a reason why this request alone is uncertain. `entry` is the entry that it reads;
        `reads_all` is True if no other entry could give more. After an uncertain request, or a
        change of settings with unknown effect, it is unknown which entries the cache has.
        """
        model = request.wire.model
        earlier = self.settings.setdefault(model, [])
        others = [other for other in earlier if other is not settings and other != settings]
        if len(others) == len(earlier):
            earlier.append(settings)
        changed, last = self._changed_message(request), self.last.get(model)
        self.last[model] = request
        own = own or changed
        before = self.uncertain.get(model, "")
        if own:
            self.uncertain.setdefault(model, own)
            return own
        if before and (not reads_all or (entry is not None and entry.unclear)):
            return f"what an earlier request left is not known: {before}"
        changed_from = last if last and not reads_all and not _continues(last, request) else None
        if changed_from and (default_doubt := default_spelled_out(changed_from.wire, request.wire)):
            return default_doubt
        for other in () if reads_all else others:
            if uncertainty := may_be_kept(other, settings, rules):
                return uncertainty
        return may_be_lost(entry.settings, settings, entry.tier, rules) if entry else ""

    def _changed_message(self, request: TimedRequest) -> str:
        """Return the doubt if a message with `clear_at` was changed or left out, otherwise ""."""
        before = self.cleared.get(request.wire.model, ())
        self.cleared[request.wire.model] = now = request.wire.cleared
        if now[: len(before)] == before:
            return ""
        return "a message with clear_at was changed or left out: it must be sent again unchanged"


def _continues(last: TimedRequest, now: TimedRequest) -> bool:
    """Return True if a request begins with the complete last request."""
    return now.begins_like(last, len(last.chain) - 1)


def default_spelled_out(before: WireRequest, now: WireRequest) -> str:
    """Return a doubt if two requests first differ in a default that only one states, else ""."""
    same = same_blocks(before.blocks, now.blocks)
    if same >= min(len(before.blocks), len(now.blocks)):
        return ""
    block_before, block_now = before.blocks[same], now.blocks[same]
    empty = any(block.kind == "text" and not block.text for block in (block_before, block_now))
    alike = block_before.kind == block_now.kind != "text" and (
        without_defaults(block_before.text) == without_defaults(block_now.text)
    )
    if not (empty or alike):
        return ""
    return "one request states a default that the other leaves out: this may be no change"


def answer_seconds(request: TimedRequest) -> float:
    """Return the longest time in seconds that an answer may take by the request's output limit;
    infinity if the request sets no limit."""
    settings = request.wire.settings
    limits = (settings.get(name) for name in ("max_tokens", "max_completion_tokens"))
    most = next((value for value in limits if isinstance(value, int)), None)
    return float("inf") if most is None else most / _SLOWEST
