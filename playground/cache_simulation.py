"""`simulate_cache`: what a row of requests would read, write and cost, before a token is paid.

Of a session, every answer of the assistant was a request: all that came before it, rendered in a
dialect and marked by a policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from playground.caching.blocks import Block, WireReader
from playground.caching.differences import FirstDifference, first_difference
from playground.caching.policies import POLICIES, CacheRequest, get_policy
from playground.caching.prefixes import TimedRequest
from playground.caching.providers import provider_of
from playground.caching.rules import Rules, rules_of
from playground.caching.simulation import Simulated, simulate
from playground.dialects import dialect_names, get_dialect
from playground.errors import InputFault
from playground.sessions.session import Session

_APART = 20.0  # seconds between requests


@dataclass(frozen=True)
class CacheSimulation:
    """Every request's outcome, and what all of them cost beside sending everything uncached."""

    provider: str
    requests: list[Simulated]
    dialect: str = ""
    policy: str = ""
    differences: tuple[FirstDifference | None, ...] = ()  # of each request to the one before it

    @property
    def cost_permille(self) -> int:
        """The cost of all input, in thousandths of what it would be without a cache."""
        uncached = sum(request.total for request in self.requests)
        return sum(request.cost for request in self.requests) // uncached if uncached else 1000

    @property
    def read_permille(self) -> int:
        """The share of all input tokens that is read from the cache, in thousandths."""
        total = sum(request.total for request in self.requests)
        return sum(request.read for request in self.requests) * 1000 // total if total else 0

    @property
    def breaks(self) -> list[int]:
        """The requests that read less than the request before them left in the cache."""
        pairs = zip(self.requests, self.requests[1:], strict=False)
        return [
            number
            for number, (before, after) in enumerate(pairs, 1)
            if after.read < before.read + sum(before.written.values())
        ]

    def why(self, number: int) -> str:
        """Why a request reads what it reads; of a break, the first difference too."""
        reason, difference = self.requests[number].reason, self.differences[number]
        return f"{reason}; {difference}" if difference and number in self.breaks else reason

    def failures(
        self, max_cost_multiple: float | None = None, no_cache_break: bool = False
    ) -> list[str]:
        """Which limits are passed, a line each; a refused request always is one.

        `max_cost_multiple` is a multiple of the same input's cost without a cache.
        """
        failed = [f"the provider refuses a request: {reason}" for reason in self.errors]
        cost = self.cost_permille / 1000
        if max_cost_multiple is not None and cost > max_cost_multiple:
            failed.append(f"input costs {cost:.3f} of uncached, {max_cost_multiple} is allowed")
        for number in self.breaks if no_cache_break else ():
            before, after = self.requests[number - 1], self.requests[number]
            left, why = before.read + sum(before.written.values()), self.why(number)
            line = f"request {number + 1} reads {after.read:,} of {left:,} cached tokens: {why}"
            failed.append(line)
        return failed

    @property
    def errors(self) -> list[str]:
        """Why the provider would refuse requests, each reason once."""
        return list(dict.fromkeys(r.reason for r in self.requests if r.state == "error"))


def simulate_cache(
    requests: Session | Iterable[Mapping[str, Any]],
    model: str = "",
    provider: str = "",
    *,
    dialect: str = "native",
    policy: str = "",
    seconds_apart: float = _APART,
) -> CacheSimulation:
    """Simulate a session in a dialect under a policy, or a row of provider request bodies.

    `model` replaces the session's or the bodies' own; `provider` names the rules (`caching/rules/`)
    and is told from the (first) model's name unless it is given. Tokens are estimates, four
    characters each. Raises UnknownNameError for a provider, dialect or policy that there is none
    of, and InputFault for a model whose provider's rules are not known, or a time between requests
    that is negative or no number.
    """
    if isinstance(requests, Session):
        return _matrix(requests, [dialect], [policy], model, provider, seconds_apart)[0]
    _check_clock(seconds_apart)
    bodies = [dict(body) for body in requests]
    if not bodies:
        return CacheSimulation(provider, [])
    rules = rules_of(provider or provider_of(model or str(bodies[0].get("model") or "")))
    reader = WireReader(model, rules.value("default_ttl"))
    row: list[TimedRequest] = []
    for number, body in enumerate(bodies):
        wire, before = reader.read(body), row[-1] if row else None
        row.append(TimedRequest(wire, number * seconds_apart, rules, before=before))
    return CacheSimulation(rules.provider, simulate(row, rules), differences=_parted(row, rules))


def cache_matrix(
    session: Session,
    dialects: Sequence[str] = (),
    policies: Sequence[str] = (),
    model: str = "",
    provider: str = "",
    seconds_apart: float = _APART,
) -> list[CacheSimulation]:
    """The session in each dialect under each policy, dialect by dialect; all of them by default."""
    return _matrix(
        session,
        dialects or dialect_names(),
        policies or list(POLICIES),
        model,
        provider,
        seconds_apart,
    )


def _check_clock(apart: float) -> None:
    if not (isfinite(apart) and apart >= 0):
        raise InputFault(f"{apart} seconds between requests", expected="0 or more")


def _matrix(
    session: Session,
    dialects: Sequence[str],
    policies: Sequence[str],
    model: str,
    provider: str,
    apart: float,
) -> list[CacheSimulation]:
    _check_clock(apart)
    if model:
        session = replace(session, task=session.task.model_copy(update={"model_name": model}))
    name = session.task.model_name
    rules = rules_of(provider or provider_of(name))
    result: list[CacheSimulation] = []
    for dialect in dialects:
        rendered = _requests(session, dialect, rules, apart)
        differences = _parted([request for _, request in rendered], rules)
        for given in policies:
            policy = given or get_dialect(dialect).cache_policy
            place = get_policy(policy)
            dynamic = session.dynamic
            asked = CacheRequest(name, dynamic.cache_dialect, dynamic.enable_explicit_caching)
            row = []
            for messages, request in rendered:
                places = {(d.message, d.part) for d in place(messages, asked) if d.marked}
                row.append(request.marked(_marks(request.wire.blocks, places, rules)))
            outcomes = simulate(row, rules)
            cell = CacheSimulation(rules.provider, outcomes, dialect, policy, differences)
            result.append(cell)
    return result


def _parted(row: Sequence[TimedRequest], rules: Rules) -> tuple[FirstDifference | None, ...]:
    pairs = zip(row, row[1:], strict=False)
    found = (first_difference(before, after, rules) for before, after in pairs)
    return (None, *found) if row else ()


def _requests(
    session: Session,
    dialect: str,
    rules: Rules,
    apart: float,
) -> list[tuple[list[dict[str, Any]], TimedRequest]]:
    """Every request of the session: the messages that a policy sees, and the blocks on the wire."""
    chosen = get_dialect(dialect).with_policy("none")
    environment = session.dynamic.dynamic_environment_details_block
    dynamic = session.dynamic.model_copy(update={"dynamic_environment_details_block": ""})
    plain = replace(session, dynamic=dynamic)
    found: list[tuple[list[dict[str, Any]], TimedRequest]] = []
    reader = WireReader(session.task.model_name, rules.value("default_ttl"))
    answers = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
    for number, index in enumerate(answers or [len(session.messages)]):
        data = replace(plain, messages=session.messages[:index]).prompt_data()
        rendering = chosen.render(data)
        body = {"messages": rendering.messages, "tools": rendering.tools}
        wire = reader.read(body)
        if environment:
            _append_environment(wire.blocks, environment)
        before = found[-1][1] if found else None
        request = TimedRequest(wire, number * apart, rules, before=before)
        found.append((rendering.messages, request))
    return found


def _append_environment(blocks: list[Block], environment: str) -> None:
    """The environment block behind the last user message, where dialects put it, unmarked."""
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].role == "user" and blocks[index].kind != "tool_result":
            blocks.insert(index + 1, Block("messages", "user", "text", environment))
            return


def _marks(
    blocks: Sequence[Block], places: set[tuple[int | None, int | None]], rules: Rules
) -> dict[int, str]:
    ttl = str(rules.value("default_ttl"))
    return {i: ttl for i, block in enumerate(blocks) if block.place in places}
