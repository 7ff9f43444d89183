"""The simulated outcome of one request: tokens read, written and paid in full, and how sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from playground.base.arguments import older_name

State = Literal["exact", "eligible", "warm-start", "unpredictable", "unknown-provider", "error"]


def sureness(state: str) -> str:
    """Return a state for people: "certain" for "exact", a word that would promise exact tokens."""
    return "certain" if state == "exact" else state


@dataclass(frozen=True, slots=True)
class Simulated:
    """The tokens that one request reads, writes (by lifetime) and pays at the full price, with the
    reason.

    `state` says how sure the prediction is: "exact" (the rules alone decide), "eligible" (the
    provider promises nothing), "warm-start" (it reads entries from before the first request),
    "unpredictable" (something unknown decides), "unknown-provider" (no rules: all is paid in full)
    or "error" (the provider refuses it). If `anchored`, the tokens follow from the request's bill,
    otherwise they are estimates; `sized` is True if an earlier bill gave the size of the entry that
    is read. `begins` is True if no earlier request left an entry for any prefix of this one; other
    sessions may have left some. `finding` is a code of the findings' table if something is wrong.
    """

    state: State
    read: int
    written: dict[str, int]
    uncached: int
    cost: int  # thousandths of an input token's price
    reason: str
    breakpoints: tuple[int, ...] = ()
    hit: int | None = None  # the last block of the entry that is read
    anchored: bool = False
    finding: str = ""
    sized: bool = False
    begins: bool = False
    contradicted: bool = False  # the rules alone decided, but the bill contradicts them

    @property
    def sureness(self) -> str:
        """The state in words for people."""
        return sureness(self.state)

    @property
    def total(self) -> int:
        return self.read + sum(self.written.values()) + self.uncached

    @property
    def cached_after(self) -> int:
        """The tokens that this request leaves in the cache for the next one."""
        return self.read + sum(self.written.values())

    left = older_name("left", "cached_after")
