"""Pytest fixtures that check a prompt: its use of a cache, and its changes since a baseline.

Pytest finds them where the package is installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playground.cache.answers.cells import CacheSimulation
    from playground.questions.versions import VersionDiff
    from playground.sessions.session import Session

CheckCache = Callable[..., "CacheSimulation"]
CheckAgainst = Callable[..., "VersionDiff"]


@pytest.fixture
def check_cache() -> CheckCache:
    """Check use of a cache: `check_cache(session, max_cost_multiple=0.35, dialect="xml", …)`.

    The session is a Session or a file's path; the other arguments are those of `simulate_cache`.
    Fail the test, with all reasons, if a limit is exceeded. Return the simulation.
    """

    def check(
        session: Session | str | Path,
        *,
        max_cost_multiple: float | None = None,
        no_cache_break: bool = False,
        **simulated: Any,
    ) -> CacheSimulation:
        from playground.cache.answers.simulation import simulate_cache
        from playground.sessions.loading import load_session

        loaded = load_session(session) if isinstance(session, str | Path) else session
        found = simulate_cache(loaded, **simulated)
        if failed := found.failures(max_cost_multiple, no_cache_break):
            pytest.fail("\n".join(failed), pytrace=False)
        return found

    return check


@pytest.fixture
def check_against() -> CheckAgainst:
    """Check changes: `check_against(session, "baseline.jsonl", most_tokens_more=100, …)`.

    The session and the baseline are a Session or a file's path; the other arguments are those of
    `diff`. Fail the test, with all reasons, if a limit is exceeded, and without
    `prefix_may_change` also if the model, the tools or the system prompt differ. Return the
    difference. Warn of a limit that cannot be decided without a tokenizer.
    """

    def check(
        session: Session | str | Path,
        baseline: Session | str | Path,
        *,
        most_tokens_more: int | None = None,
        prefix_may_change: bool = False,
        **compared: Any,
    ) -> VersionDiff:
        from playground.questions.versions import diff
        from playground.questions.versions.against import against_failures, undecided_words

        found = diff(baseline, session, **compared)
        if words := undecided_words(found, most_tokens_more):
            warnings.warn(pytest.PytestWarning(words), stacklevel=2)
        if failed := against_failures(found, most_tokens_more, prefix_may_change):
            pytest.fail("\n".join(failed), pytrace=False)
        return found

    return check
