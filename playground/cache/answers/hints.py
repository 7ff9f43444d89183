"""Hints for a break that a bill shows, but the simulation does not.

A hint states a fact about the two requests, never a cause; it may be irrelevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from playground.base.wording import counted, grouped, seconds
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules
from playground.sessions.session import Session
from playground.sessions.times import instant

_MINUTES = 120.0  # seconds; a longer time is given in minutes
_ENDINGS = ("abort", "cancel", "error", "interrupt")  # words for an answer that was cut off


class NotedRequest(NamedTuple):
    """The recorded facts of a request; None or "" if unknown.

    They are the time of sending (in seconds, on a clock that all requests share), the model, the
    seconds until the answer was complete, and the reason why it ended.
    """

    at: float | None = None
    model: str = ""
    seconds: float | None = None
    stop_reason: str = ""


def noted_requests(session: Session) -> list[NotedRequest]:
    """Return the recorded facts of each answer's request, in order."""
    records = {record.reply: record for record in session.requests}
    of_replies = (records.get(reply) for reply in session.replies)
    return [
        NotedRequest(instant(r.at), r.model, r.seconds, r.stop_reason) if r else NotedRequest()
        for r in of_replies
    ]


def hint(
    row: Sequence[TimedRequest],
    noted: Sequence[NotedRequest],
    since: int,
    number: int,
    rules: Rules,
    hour: bool = False,
) -> str:
    """Return a line of facts about the requests around a break; "" if there are none.

    `since` is the last billed request before the break, `number` the request of the break. `hour`
    is True if the entry that was not read had a lifetime of an hour.
    """
    before, after = row[since], row[number]
    earlier, now = facts_of(noted, since), facts_of(noted, number)
    facts = [_gap(earlier, now, rules, hour)]
    if earlier.model and now.model and earlier.model != now.model:
        facts.append(f"model {earlier.model}, then {now.model}")
    facts.append(_growth(before, after, rules))
    if (unbilled := number - since - 1) > 0:
        were = "was" if unbilled == 1 else "were"
        between = f"{counted(unbilled, 'request')} between {were} not billed"
        facts.append(f"{between} (aborted, or unanswered)")
    if any(word in earlier.stop_reason.lower() for word in _ENDINGS):
        facts.append(f"the previous answer ended with {earlier.stop_reason!r:.40}")
    return "; ".join(filter(None, facts))


def facts_of(noted: Sequence[NotedRequest], number: int) -> NotedRequest:
    """Return the recorded facts of a request; any of them may be missing."""
    return noted[number] if number < len(noted) else NotedRequest()


def _gap(before: NotedRequest, after: NotedRequest, rules: Rules, hour: bool) -> str:
    """Compare the time between two requests with the lifetime of the entry, or with the time that
    the earlier answer took."""
    if before.at is None or after.at is None:
        return "the times of sending are not recorded"
    gap = after.at - before.at
    if gap < 0:
        return f"its recorded time is {_time(-gap)} before that of the previous request"
    if before.seconds is not None and 0 <= gap < before.seconds:
        answer = _time(before.seconds)
        return f"sent {_time(gap)} after the previous one, whose answer took {answer}: in parallel"
    lifetime = rules.seconds("1h" if hour else rules.value("default_ttl"))
    fact = f"{_time(gap)} after the previous request"
    if rules.match == "unknown" or not lifetime:
        return fact
    side = "past" if gap > lifetime else "within"
    return f"{fact}, {side} the {_time(lifetime)} that the cache keeps an entry"


def _time(value: float) -> str:
    return seconds(value) if value < _MINUTES else f"{grouped(value / 60)} min"


def _growth(before: TimedRequest, after: TimedRequest, rules: Rules) -> str:
    growth = len(after.wire.blocks) - len(before.wire.blocks)
    if growth <= 0:
        return f"{counted(-growth, 'block')} fewer" if growth else "as many blocks"
    reach = rules.value("lookback")
    looks = f" (a mark looks {reach} back)" if rules.match == "breakpoints" else ""
    return f"{counted(growth, 'block')} more{looks}"
