"""What to do about each finding of the cache lab, in one sentence."""

from __future__ import annotations

from typing import Final

FIXES: Final[dict[str, str]] = {
    "env-in-prefix": "put what passes behind the last mark, or keep it in the history for good",
    "volatile-system": "put the time or id behind the last mark",
    "tool-order": "send the tools in one order, sorted by name for instance",
    "json-key-order": "write JSON with its keys in one order",
    "head-injection": "put it behind the history, not in front of it",
    "history-rewrite": "append to the history; leave what was sent as it was",
    "prefix-changed": "keep it for the whole conversation, or pay for all that follows anew",
    "too-many-breakpoints": "remove marks until the provider's limit holds, added ones counted",
    "marker-on-empty": "leave the empty text out, or mark the part before it",
    "marker-on-thinking": "mark the last part that is no thinking",
    "ttl-order": "let the marks with the longer life stand first",
    "unknown-ttl": "give the mark one of the lives that the provider knows",
    "lookback-overflow": "leave a second mark where the request before had its last one",
    "frozen-breakpoint": "move the last mark on with the history, tool results too",
    "synthetic-anchor": "mark a part that stays in the history, not one made for the mark",
    "no-anchor": "keep a mark where both requests still agree, such as the system prompt",
    "no-breakpoint": "mark the system prompt and the last message",
    "gemini-freeze": "mark nothing for Gemini and let its implicit cache follow the history",
    "below-minimum": "mark further back, or do without: a prefix this short is not cached",
    "mark-lost": "put the mark on a part that the adapter sends it for, or call the API itself",
    "usage-lost": "keep the provider's usage as it came",
    "clock-backwards": "give the requests in the order in which they were sent",
    "in-flight": "wait for the first answer's first token before the others are sent",
}
