"""Counts of tokens in a file, recognised by their fields' names, for all providers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

# The last step of a token count's path, for all providers.
_COUNT: Final = re.compile(
    r"(?i)(?:^|[._])(?:input|output|prompt|completion|total|reasoning|candidates|thoughts|cached"
    r"|cache[._]?(?:read|creation|write)\w*)[._]?(?:tokens?|token_?count)"
    r"|^tokens(?:in|out)$|(?:^|[._])(?:prompt_)?eval_count$|(?:^|[._])token_count[._]\w+$"
)
# Names that are counts within an object called `usage` or `tokens`.
_IN_USAGE: Final = re.compile(
    r"(?i)^(?:input|output|total|prompt|completion|reasoning|thoughts?|cached?|tool"
    r"|cache[A-Z_]?(?:read|write|creation)\w*|read|write)$"
)
USAGE: Final = re.compile(r"(?i)usage|tokens?$|token_?count$")
# Names of numbers that are not counts: limits, and the estimate of tokens missed in the cache.
_LIMIT: Final = re.compile(r"(?i)max|budget|limit|per_|before|window|cost|missed")
_READ: Final = re.compile(r"(?i)input|prompt|tokensin$")
_CACHE: Final = re.compile(r"(?i)cache")
_WRITTEN: Final = re.compile(r"(?i)tokensout$|output|completion|candidates|^eval_count")


def is_count(name: str, value: Any, in_usage: bool = False) -> bool:
    """Return True if a field's name shows that it counts tokens read or written; with `in_usage`,
    as a field of an object called `usage` or `tokens`."""
    if type(value) is not int or value <= 0 or _LIMIT.search(name):
        return False
    return _COUNT.search(name) is not None or (in_usage and _IN_USAGE.search(name) is not None)


def sides(value: dict[Any, Any], in_usage: bool = False) -> tuple[int, int]:
    """Return the tokens of the prompt and of the answer in a report, by its fields' names."""
    read = written = 0
    for name, n in value.items():
        if is_count(str(name), n, in_usage):
            if _READ.search(name) and not _CACHE.search(name):
                read = max(read, n)
            elif _WRITTEN.search(name):
                written = max(written, n)
    return read, written


def reports_in(frame: Any, key: str = "") -> Iterator[dict[str, int]]:
    """Yield the token reports in a frame, which is the value of the field `key`. Each report has
    the counts of its inner objects, too."""
    if isinstance(frame, dict):
        named = USAGE.search(key) is not None
        if any(is_count(str(name), n, named) for name, n in frame.items()):
            yield dict(counts_in(frame, named))
            return
        for name, inner in frame.items():
            yield from reports_in(inner, str(name))
    elif isinstance(frame, list):
        for item in frame:
            yield from reports_in(item, key)


def counts_in(report: dict[Any, Any], named: bool, path: str = "") -> Iterator[tuple[str, int]]:
    """Yield a report's counts with their dotted names; `named` is the `in_usage` of `is_count`."""
    for name, n in report.items():
        if is_count(str(name), n, named):
            yield f"{path}{name}", n
        elif isinstance(n, dict):
            yield from counts_in(n, USAGE.search(str(name)) is not None, f"{path}{name}.")
