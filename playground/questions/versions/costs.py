"""Compare how much of a request each provider reads from its cache after another request. Each
provider is simulated as if both requests went there, the second shortly after the first. Some
providers cache only at marks: if neither request has marks, both get there the marks that agents
usually set, after the tools, the system prompt and the last message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from playground.base.arguments import older_name
from playground.base.shared_lists import shared_length
from playground.cache.answers.known_rules import assumption_of, known_rules
from playground.cache.answers.requests import APART
from playground.cache.breakpoints import spans
from playground.cache.differences import FirstDifference, first_difference
from playground.cache.prefixes import TimedRequest
from playground.cache.prices import price_of
from playground.cache.rules import Rules
from playground.cache.simulated import Simulated
from playground.cache.simulator import NO_SHARED_ENTRY, simulate
from playground.dialects.marks.providers import UNKNOWN, provider_of
from playground.nouns.wire_blocks import TIERS, WireRequest
from playground.questions.versions.sides import Version

_USUAL_MARKS: Final = "after tools, system prompt and messages"
USUAL: Final = ("anthropic", "openai", "openai-before-5.6", "gemini", "deepseek", "mistral")


@dataclass(frozen=True)
class PrefixCost:
    """The cost at a provider: of the second request's `total` tokens, `read` come from the cache.

    The first request leaves `cached_before` tokens in the cache. `extra` is what not reading the
    lost tokens adds to the cost, in thousandths of an input token's price. If the provider is the
    model's own and its price is known, `nano_dollars` is `extra` in billionths of a dollar. `marks`
    says whose marks were simulated, `marks_assumed` if they were added to both requests;
    `written_in` is the dialect in which both were written, "" if they are as sent. `parts` is the
    first difference of the prefixes, None if the second request continues the first. `assumption`
    says which model's rules are used if no rule of the provider names the model.
    """

    provider: str
    title: str
    total: int
    cached_before: int
    read: int
    extra: int
    state: str
    reason: str
    marks: str
    parts: FirstDifference | None
    nano_dollars: int | None = None
    assumption: str = ""
    marks_assumed: bool = False
    written_in: str = ""

    left = older_name("left", "cached_before")

    @property
    def lost(self) -> int:
        """Tokens that would be read if the second request began like the first, but are not."""
        return max(0, min(self.cached_before, self.total) - self.read)

    @property
    def caution(self) -> str:
        """The word before figures that the rules do not decide, with a blank; else ""."""
        return "probably " * (self.state == "unpredictable")

    @property
    def condition(self) -> str:
        """A sentence on the marks that the figures assume; "" if they assume none."""
        form = f" as written in {self.written_in}" if self.written_in else ""
        sentence = f"That is as if marked {_USUAL_MARKS}: neither request has a mark{form}."
        return sentence * self.marks_assumed


def prefix_costs(first: Version, second: Version, providers: tuple[str, ...]) -> list[PrefixCost]:
    """Return the cost at each provider; by default at the model's own, if known, and at USUAL.

    Raises UnknownNameError for an unknown provider.
    """
    own_provider = provider_of(second.model)
    names = providers or tuple(dict.fromkeys((own_provider, *USUAL)))
    return [_cost(first, second, name) for name in names if name != UNKNOWN]


def _cost(first: Version, second: Version, provider: str) -> PrefixCost:
    """Simulate both requests at a provider, and return the cost of the second after the first."""
    rules = known_rules(provider, second.model)
    before, after = _pair(first, second, rules)
    parts, marks = first_difference(before, after, rules), "as sent"
    if rules.match == "best effort" and parts and parts.block is not None and parts.character:
        before, after = _pair(first, second, rules, (parts.block, parts.character))
    by_marks = rules.match == "breakpoints"
    assumed = by_marks and not any(r.marks or r.wire.automatic_ttl for r in (before, after))
    if assumed:
        marks = f"assumed: {_USUAL_MARKS}"
        before, after = _marked(before, rules), _marked(after, rules)
    second_outcome = simulate([before, after], rules)[1]
    left = simulate([before, before.moved(APART)], rules)[1].read
    cost = PrefixCost(
        provider,
        rules.title,
        second_outcome.total,
        left,
        second_outcome.read,
        0,
        second_outcome.state,
        _reason(second_outcome, after, parts, rules),
        marks if by_marks else "none needed",
        parts,
        assumption=assumption_of(rules, second.model),
        marks_assumed=assumed,
        written_in=second.written_in,
    )
    written = rules.write_permille(rules.value("default_ttl")) if second_outcome.written else 1000
    extra = cost.lost * (written - rules.read_permille(second.model))
    price = price_of(second.model) if provider == provider_of(second.model) else None
    return replace(cost, extra=extra, nano_dollars=price.nano_dollars(extra) if price else None)


def _reason(
    outcome: Simulated, after: TimedRequest, parts: FirstDifference | None, rules: Rules
) -> str:
    """Return the reason why this many tokens are read. If no cache entry ends before the first
    difference, add the place of the difference, and whether a mark looks back that far."""
    if parts is None or parts.block is None or NO_SHARED_ENTRY not in outcome.reason:
        return outcome.reason
    where = f"{NO_SHARED_ENTRY}: the first change is at block {parts.block}"
    reach = rules.value("lookback")
    looks = [*spans(outcome.breakpoints, after.positions, reach)]
    if looks and min(looks)[0] >= parts.block:
        mark = f"the mark at block {min(looks)[1]}"
        where = f"{where}, and {mark} looks back over {reach} blocks only"
    return outcome.reason.replace(NO_SHARED_ENTRY, where)


def _pair(
    first: Version, second: Version, rules: Rules, cut: tuple[int, int] | None = None
) -> tuple[TimedRequest, TimedRequest]:
    """Return both requests with their blocks' sizes scaled to their counted tokens.

    The common beginning has the same size in both, so that the second request never reads more than
    the first has left. For a provider without marks, which compares tokens and not blocks, `cut`
    (indexes of a block and a character) splits the first differing block at the difference.
    """
    before = TimedRequest(_wire(first, rules, cut), 0.0, rules)
    after = TimedRequest(_wire(second, rules, cut), 0.0, rules, before=before)
    before = _scaled(before, rules, first, [])
    shared = shared_length(before.chain, after.chain)
    sizes = [(before.estimates[shared - 1], before.sizes[shared - 1])] if shared else []
    return before, _scaled(after, rules, second, sizes).moved(APART)


def _wire(version: Version, rules: Rules, cut: tuple[int, int] | None) -> WireRequest:
    wire = replace(version.wire(rules.value("default_ttl")))
    if cut:
        index, character = cut
        block = wire.blocks[index]._replace(size=None)  # each half has a size of its own
        wire.insert(index + 1, block._replace(text=block.text[character:]))
        rest = wire.blocks[index + 1 :]
        wire.blocks = wire.blocks.extended_with(
            index, [block._replace(text=block.text[:character]), *rest]
        )
    return wire


def _scaled(
    request: TimedRequest, rules: Rules, version: Version, shared: list[tuple[int, int]]
) -> TimedRequest:
    """Scale the request to the version's counted tokens, and its leading tools to the tools'
    counted tokens. `shared` holds the estimated and the fixed size of the common beginning."""
    estimates, blocks = request.estimates, request.wire.blocks
    if not estimates or not estimates[-1]:
        return request
    tools = sum(block.tier == TIERS[0] for block in blocks)
    # As JSON, a schema has three times as many tokens as in the form that OpenAI's models get.
    counted = version.count.by_origin.get("tools", 0) if 0 < tools < len(blocks) else 0
    sizes = {estimates[tools - 1]: counted} if counted else {}
    sizes |= {estimates[-1]: version.count.tokens, **dict(shared)}
    known_sizes = sorted(sizes.items())
    return TimedRequest(request.wire, request.at, rules, before=request, known_sizes=known_sizes)


def _marked(request: TimedRequest, rules: Rules) -> TimedRequest:
    """Mark the request after the last markable block of each tier."""
    ttl = str(rules.value("default_ttl"))
    last = {
        block.tier: number for number, block in enumerate(request.wire.blocks) if block.markable
    }
    return request.marked({last[tier]: ttl for tier in TIERS if tier in last})
