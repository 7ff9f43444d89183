"""The questions of the Cache page: a session in a dialect under a policy; answers are cached."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from playground.app.shared import as_sent, policies, waiting
from playground.app.shared.memoized import memoized
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.placement import CachePlacement, place_cache
from playground.cache.answers.simulation import cache_matrix as simulate_matrix
from playground.cache.answers.simulation import simulate_cache
from playground.cache.answers.what_if import WhatIf
from playground.cache.answers.wire import CacheWire, cache_on_wire
from playground.dialects import get_dialect
from playground.dialects.marks.own_policies import OwnPolicy
from playground.sessions.session import Session


@memoized(64)
def _placed(session: Session, dialect: str, policy: str, own: OwnPolicy | None) -> CachePlacement:
    return place_cache(session, dialect, policy=policies.chosen(policy, own))


def placement(session: Session, dialect: str, policy: str) -> CachePlacement:
    """Place marks by a built-in policy or one of the user's."""
    dialect = "native" if policy == as_sent.NAME else dialect  # not used for what was sent
    return _placed(session, dialect, policy, policies.find(policy))


@memoized(16)
def formatted(session: Session, dialect: str) -> list[dict[str, Any]]:
    """Return the messages that a policy sees: without marks and without the environment block."""
    data = session.without_environment().prompt_data()
    return get_dialect(dialect).with_policy("none").render(data).messages


def simulations(
    session: Session,
    dialect: str,
    seconds_apart: float | None,
    what_if: WhatIf,
    own: list[OwnPolicy],
) -> Sequence[CacheSimulation]:
    """Simulate the session in a dialect under every built-in policy, then the user's own."""
    arguments = (session, dialect, seconds_apart, what_if)
    return [*_built_in(*arguments), *(_simulated(*arguments, each.name, each) for each in own)]


@memoized(32, spinner="Simulating every policy …")
def _built_in(
    session: Session, dialect: str, seconds_apart: float | None, what_if: WhatIf
) -> Sequence[CacheSimulation]:
    return simulate_matrix(session, [dialect], seconds_apart=seconds_apart, what_if=what_if)


@memoized(64)
def _simulated(
    session: Session,
    dialect: str,
    seconds_apart: float | None,
    what_if: WhatIf,
    policy: str,
    own: OwnPolicy | None,
) -> CacheSimulation:
    chosen = policies.chosen(policy, own)
    return simulate_cache(
        session, dialect=dialect, policy=chosen, seconds_apart=seconds_apart, what_if=what_if
    )


@memoized(16)
def on_wire(
    session: Session, dialect: str, policy: str, own: OwnPolicy | None
) -> Future[CacheWire]:
    chosen = policies.chosen(policy, own)
    return waiting.background().submit(lambda: cache_on_wire(session, dialect, policy=chosen))


@dataclass(frozen=True)
class CacheQuestion:
    """A question: a session in a dialect under a policy, the time between requests, a what-if."""

    session: Session
    dialect: str
    policy: str
    apart: float | None
    what_if: WhatIf

    @property
    def is_imported(self) -> bool:
        """True if the requests are the imported ones, with their own marks."""
        return self.policy == as_sent.NAME

    @property
    def wire_dialect(self) -> str:
        """The dialect in which policies are tried; `native` if the user chose none."""
        return self.dialect or "native"

    @property
    def placement(self) -> CachePlacement:
        return placement(self.session, self.dialect, self.policy)

    def simulated(self) -> CacheSimulation:
        """Simulate the question's policy. Raises InputFault."""
        if self.is_imported:
            return as_sent.simulated(self.session, self.apart)
        arguments = (self.session, self.dialect, self.apart, self.what_if, self.policy)
        return _simulated(*arguments, policies.find(self.policy))
