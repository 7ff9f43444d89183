"""Simulating the cache: long sessions, and many dialects by many policies, in CPU seconds.

Run: python benchmarks/caching.py. Every request carries all messages before it; the growth exponent
is that of doubling the session. The time of many dialects by many policies includes rendering,
which is also measured alone. Last comes the cost of one more message, in eight dialects that have
rendered the 2,000 messages before it.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generated import EIGHT, large_session

import playground as pg
from playground.cache.answers.simulation import cache_matrix
from playground.dialects import dialect_names
from playground.dialects.marks.policies import POLICIES
from playground.nouns.messages import Message, TextPart


def bodies(requests: int) -> list[dict[str, Any]]:
    """Return request bodies whose history grows by one message each; the last message is marked."""
    history: list[dict[str, Any]] = []
    found = []
    for number in range(requests):
        part: dict[str, Any] = {"type": "text", "text": f"{number} " + "tide " * 400}
        role = "assistant" if number % 2 else "user"
        marked = {"role": role, "content": [part | {"cache_control": {"type": "ephemeral"}}]}
        found.append({"model": "claude-sonnet-4-5", "messages": [*history, marked]})
        history.append({"role": role, "content": [part]})
    return found


def took(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def sessions() -> None:
    last = 0.0
    pg.simulate_cache(large_session(messages=40, size=40_000), dialect="xml")  # what is made once
    for requests in (200, 400, 800):
        session = large_session(messages=2 * requests, size=2_000 * requests)
        seconds = took(lambda session=session: pg.simulate_cache(session, dialect="xml"))
        grown = f", exponent {math.log2(seconds / last):.2f}" if last else ""
        print(f"a session of {requests} requests in xml: {seconds:.2f} s{grown}")
        last = seconds


def one_message_more() -> None:
    session = large_session()

    def render() -> None:
        for name in EIGHT:
            pg.get_dialect(name).render(session.prompt_data())

    first, best = took(render), math.inf
    for _ in range(5):
        session = replace(session, messages=(*session.messages, Message("user", (TextPart("."),))))
        best = min(best, took(render))
    print(f"2,000 messages in 8 dialects: {first * 1e3:.0f} ms, one more: {best * 1e3:.1f} ms")


def main() -> None:
    last = 0.0
    for requests in (250, 500, 1_000):
        given = bodies(requests)
        seconds = took(lambda given=given: pg.simulate_cache(given))
        grown = f", exponent {math.log2(seconds / last):.2f}" if last else ""
        print(f"{requests:>5} requests over {requests} messages: {seconds:.2f} s{grown}")
        last = seconds
    sessions()
    one_message_more()
    dialects, policies = dialect_names()[:20], list(POLICIES)[:15]
    session = large_session(messages=200, size=400_000)
    rows = cache_matrix(session, dialects, policies=policies)
    seconds = took(lambda: cache_matrix(session, dialects, policies=policies))
    one = took(lambda: cache_matrix(session, dialects, policies=policies[:1]))
    count = len(rows[0].requests)
    print(f"{len(dialects)} dialects x {len(policies)} policies, {count} requests: {seconds:.2f} s")
    print(
        f"with one policy: {one:.2f} s; the other {len(policies) - 1} add {seconds / one - 1:.0%}"
    )


if __name__ == "__main__":
    main()
