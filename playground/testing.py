"""A pytest fixture that guards a prompt's cache; pytest finds it where the package is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playground.questions.cache.cells import CacheSimulation
    from playground.sessions.session import Session

CheckCache = Callable[..., "CacheSimulation"]


@pytest.fixture
def check_cache() -> CheckCache:
    """`check_cache(session, max_cost_multiple=0.35, no_cache_break=True, dialect="xml", …)`.

    The session is a Session or a file's path; the other arguments are those of `simulate_cache`.
    The test fails with every reason; the simulation is returned.
    """

    def check(
        session: Session | str | Path,
        *,
        max_cost_multiple: float | None = None,
        no_cache_break: bool = False,
        **simulated: Any,
    ) -> CacheSimulation:
        from playground.questions.cache.simulation import simulate_cache
        from playground.sessions.loading import load_session

        loaded = load_session(session) if isinstance(session, str | Path) else session
        found = simulate_cache(loaded, **simulated)
        if failed := found.failures(max_cost_multiple, no_cache_break):
            pytest.fail("\n".join(failed), pytrace=False)
        return found

    return check
