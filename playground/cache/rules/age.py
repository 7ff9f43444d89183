"""Add to a dated figure the age of its source, if the source was read long ago.

The caller gives today's date, because the core has no clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Final

from playground.cache.rules import STALE_DAYS

_DAY: Final = re.compile(r"\b(20\d\d-\d\d-\d\d)\b")


def aged(lines: Iterable[str], today: date) -> list[str]:
    """Return lines, each with the age of its oldest date if that is above `STALE_DAYS`."""
    return [f"{line}{_age(line, today)}" for line in lines]


def days_since(seen: str, today: date) -> int:
    """Return how many days ago a source was read."""
    return (today - date.fromisoformat(seen)).days


def _age(line: str, today: date) -> str:
    days = max((days_since(day, today) for day in _DAY.findall(line)), default=0)
    return f"; last looked at {days} days ago" if days > STALE_DAYS else ""
