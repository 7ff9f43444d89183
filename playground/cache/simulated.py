"""What one request reads and writes, and how sure that is: the outcome of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["exact", "eligible", "warm-start", "unpredictable", "unknown-provider", "error"]


@dataclass(frozen=True, slots=True)
class Simulated:
    """What one request reads, writes by TTL and pays in full; why, in words.

    The state says how sure that is: "exact" (the rules decide alone), "eligible" (nobody promises
    it), "warm-start" (it reads what was there before the first request), "unpredictable" (what is
    not known decides), "unknown-provider" (nobody noted the rules: all is counted in full) or
    "error" (the provider refuses it). Tokens are exact where `anchored` to a bill, else estimates;
    `sized` says whether the size of the entry that is read was billed before. `begins` is true
    where no request before it begins like it: what else the cache holds is not known then.
    `finding` is a code of the findings' table, where something is wrong.
    """

    state: State
    read: int
    written: dict[str, int]
    uncached: int
    cost: int  # thousandths of an input token's price
    reason: str
    breakpoints: tuple[int, ...] = ()
    hit: int | None = None  # the block at whose end the entry stands that is read
    anchored: bool = False
    finding: str = ""
    sized: bool = False
    begins: bool = False

    @property
    def sureness(self) -> str:
        """The state for people: beside estimated tokens "exact" would be read as theirs."""
        return "certain" if self.state == "exact" else self.state

    @property
    def total(self) -> int:
        return self.read + sum(self.written.values()) + self.uncached

    @property
    def left(self) -> int:
        """The tokens that it leaves in the cache, for the next request to read."""
        return self.read + sum(self.written.values())
