"""Check a dialect's laws on random examples; an example that fails is made as small as possible.

Check a dialect of your own, declared or written by hand, before you use it. The project's tests
check every registered dialect by the same laws. The random examples have a fixed seed, so that the
same dialect always gives the same result.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.base.arguments import takes, wrong
from playground.base.display import Listed
from playground.base.errors import in_words
from playground.base.findings import Finding, finding
from playground.dialects import Dialect, get_dialect
from playground.plugins.own_dialects.laws.choices import Choices, smallest
from playground.plugins.own_dialects.laws.each import LAWS, Law, LawBreak
from playground.plugins.own_dialects.laws.examples import Subject

__all__ = ["LAWS", "LawBreak", "LawCheck", "LawChecks", "check_dialect"]

_MOST: int = 10_000  # examples of a law


@dataclass(frozen=True, slots=True)
class LawCheck:
    """The check of one law: the number of examples that were tried, and as `broken` the smallest
    example that breaks the law, or None if the law holds for all.
    """

    law: int
    title: str
    tried: int
    broken: LawBreak | None

    @property
    def holds(self) -> bool:
        return self.broken is None


class LawChecks(Listed[LawCheck]):
    """The checks of all laws that were tried, by number. Its table has a row for each law."""

    @property
    def broken(self) -> list[LawCheck]:
        """The laws that do not hold."""
        return [check for check in self if not check.holds]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the checks as `--json` prints them."""
        return [
            {"law": check.law, "title": check.title, "tried": check.tried, "holds": check.holds}
            | (
                {"says": check.broken.says, "example": dict(check.broken.shown)}
                if check.broken
                else {}
            )
            for check in self
        ]

    def findings(self) -> list[Finding]:
        """Return a finding for each law that does not hold."""
        return [
            finding("law-broken", f"law {check.law}", f"{check.title}: {check.broken.says}")
            for check in self
            if check.broken
        ]


@takes(dialect=(str, Dialect), laws="list")
def check_dialect(
    dialect: str | Dialect, examples: int = 50, laws: Sequence[int] = tuple(LAWS)
) -> LawChecks:
    """Try the `laws`, by default 1, 2, 3, 5, 6, 7 and 10, on random examples.

    `examples` is the number of examples for each law; 50 take about half a second. The first
    example that breaks a law is made as small as possible. Raises UnknownNameError for an unknown
    dialect, and InputFault for an unknown law and for a number of examples below 1 or above 10,000.
    """
    if isinstance(examples, bool) or not isinstance(examples, int) or not 1 <= examples <= _MOST:
        raise wrong("check_dialect(examples=…)", examples, f"a number from 1 to {_MOST:,}")
    for law in laws:
        if law not in LAWS:
            raise wrong("check_dialect(laws=…)", law, f"some of {', '.join(map(str, LAWS))}")
    subject = Subject(get_dialect(dialect))
    return LawChecks(_check(subject, law, examples) for law in sorted(set(laws)))


def _check(subject: Subject, number: int, examples: int) -> LawCheck:
    title, law = LAWS[number]
    for index in range(examples):
        choices = Choices(rng=random.Random(f"{number} {index}"))
        if _try(law, subject, choices):
            small = smallest(lambda shorter: _try(law, subject, shorter), choices.made)
            return LawCheck(number, title, index + 1, _try(law, subject, Choices(small)))
    return LawCheck(number, title, examples, None)


def _try(law: Law, subject: Subject, choices: Choices) -> LawBreak | None:
    """Return the way in which an example breaks a law, or None if the law holds. An exception
    breaks the law, too."""
    try:
        return law(subject, choices)
    except Exception as error:  # a dialect written by hand may raise anything
        return LawBreak(f"the dialect raises {in_words(error)}", ())
