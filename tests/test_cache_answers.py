"""A scripted session of every mistake, simulated under each provider's rules: whole answers."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import accumulate
from typing import Any, Final

import pytest
from golden_answers import Golden, plain
from scripted_session import MODEL, steps

import playground as pg
from playground.cache.answers.headline import headline
from playground.cache.rules import STALE_DAYS
from playground.cache.rules.age import aged

STEPS: Final = list(steps(60))
TIMES: Final = list(accumulate(step.wait for step in STEPS))
MODELS: Final = ("claude-haiku-4-5", "gpt-5.1", "gemini-2.5-pro", "deepseek-chat", "no-such-model")


def bodies(model: str) -> list[dict[str, Any]]:
    return [{**step.body, "model": model} for step in STEPS]


def bill(number: int) -> dict[str, int] | None:
    """Return what a provider might have billed: mostly reads, a break at each ninth request, and no
    bill at each eleventh."""
    if number % 11 == 10:
        return None
    read = 0 if number % 9 == 0 else 2_000 + 150 * number
    return {
        "input_tokens": 40,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": 2_400 + 170 * number - read,
        "output_tokens": 20,
    }


def whole(value: Any) -> dict[str, Any]:
    return {
        "summary": repr(value),
        "headline": plain(headline(value)),
        "rows": value.frame().to_csv(index=False).splitlines(),
        "hints": value.hints,
        "findings": [[found.code, found.where, found.message] for found in value.findings],
    }


@pytest.mark.parametrize("model", MODELS)
def test_every_mistake_is_simulated_under_the_rules_of(model: str, golden: Golden) -> None:
    golden(whole(pg.simulate_cache(bodies(model), times=TIMES)))


def test_every_mistake_is_simulated_beside_bills(golden: Golden) -> None:
    usages = [bill(number) for number in range(len(STEPS))]
    golden(whole(pg.simulate_cache(bodies(MODEL), times=TIMES, usages=usages)))


@pytest.mark.parametrize("policy", ["azad", "claude-code", "none"])
@pytest.mark.parametrize("model", ["", "gpt-5.1", "gemini-2.5-pro"])
def test_a_sample_has_the_headline(policy: str, model: str, golden: Golden) -> None:
    golden(
        {
            name: plain(headline(pg.simulate_cache(session, "xml", model=model, policy=policy)))
            for name, session in pg.sample_sessions().items()
        }
    )


@pytest.mark.parametrize(
    ("line", "age"),
    [
        ("a rule without a date", ""),
        (f"seen {date(2026, 1, 31) - timedelta(STALE_DAYS)}", ""),
        (
            f"seen {date(2026, 1, 30) - timedelta(STALE_DAYS)} and 2026-01-02",
            f"; last looked at {STALE_DAYS + 1} days ago",
        ),
    ],
)
def test_a_line_has_the_age_of_its_oldest_date_if_it_is_stale(line: str, age: str) -> None:
    assert aged([line], date(2026, 1, 31)) == [line + age]


def test_what_has_a_list_price_is_in_dollars() -> None:
    """Prices stood only in the page: tables had shares of them."""
    cell = pg.simulate_cache("06-cache-eight-turns", "xml", policy="claude-code")
    assert cell.nano_dollars
    assert sum(cell.frame()["dollars"]) == pytest.approx(cell.nano_dollars / 1e9)
    assert f"{cell.frame()['dollars'][0]:.4g}" in str(cell)
    matrix = pg.cache_matrix("06-cache-eight-turns", ["xml"], policies=["claude-code", "none"])
    assert list(matrix.frame()["dollars"]) == [(each.nano_dollars or 0) / 1e9 for each in matrix]
    other = pg.cache_matrix("06-cache-eight-turns", ["xml"], policies="none", model="acme/own-1")
    assert other.frame()["dollars"].isna().all()
