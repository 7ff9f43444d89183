"""A cache of checks of calls: after an edit of a message, only its calls are checked again.

An entry's key is the identities of its call, tools and dialect. The entry holds these objects, so
that Python gives their identities to no other object; the app never changes them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final

from playground.base.findings import Finding
from playground.dialects import Dialect
from playground.dialects.checking import check_tool_call
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata

_MOST: Final = 20_000  # calls, each in one dialect
_checked: OrderedDict[tuple[int, ...], tuple[list[Finding], tuple[object, ...]]] = OrderedDict()
_lock = Lock()  # every browser session runs in a thread of its own


def check_call(
    dialect: Dialect, call: ToolCallPart, tools: Sequence[ToolMetadata]
) -> list[Finding]:
    """Return the findings of `check_tool_call`, from the cache if they are there."""
    objects = (dialect, call, *tools)
    key = tuple(map(id, objects))
    with _lock:
        if key in _checked:
            _checked.move_to_end(key)
            return _checked[key][0]
    findings = check_tool_call(dialect, call, tools)
    with _lock:
        _checked[key] = findings, objects
        if len(_checked) > _MOST:
            _checked.popitem(last=False)
    return findings
