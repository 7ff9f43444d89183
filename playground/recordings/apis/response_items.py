"""Find the output item that an event is about, even if the event has no index or no id."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

CLIENT_CALLS: Final = {  # calls that the client runs → the finished item's field with the task
    "local_shell_call": "action",
    "shell_call": "action",
    "computer_call": "action",
    "apply_patch_call": "operation",
}
CLIENT_RUN_CALLS: Final = {"function_call", "custom_tool_call", *CLIENT_CALLS}
OTHER_CALLS: Final = {"program", "mcp_approval_request"}  # also calls, despite their names
ASKED: Final = "asked_of_provider"  # the kind of a part: id and task of a call that a provider runs
_TASKS: Final = (
    "action", "operation", "arguments", "code", "queries", "input", "revised_prompt", "prompt",
)  # fmt: skip
_RESULT_FIELDS: Final = ("output", "outputs", "results", "result")
_MOST_OPEN: Final = 100  # open items that are considered for an event


def asked_of_provider(item: dict[str, Any]) -> Any:
    """Return the task in the item of a tool that the provider runs; None if it has none."""
    return next((item[name] for name in _TASKS if item.get(name)), None)


def provider_result(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a tool that the provider ran, as a part; None without a result."""
    kind = str(item.get("type"))
    result = next((item[name] for name in _RESULT_FIELDS if item.get(name)), None)
    if result is None or kind in CLIENT_RUN_CALLS:
        return None
    if kind == "image_generation_call" and isinstance(result, str):
        return {"type": "input_image", "image_url": f"data:image/png;base64,{result}"}
    call_id = item.get("call_id") or item.get("id")
    return {"type": f"{kind}_output", "call_id": call_id, "output": result}


class Items:
    """The items of one response, each with a key.

    Some servers send neither index nor id, some a different id in every event, some the index 0 for
    all. So the index (`place`) takes precedence over the id, unless several items share it. An
    event without a known index or id belongs to an open item of its sort (call, message …) that has
    no other index or id: a delta belongs to the newest of these items, an end to the oldest.
    """

    def __init__(self) -> None:
        self.sorts: set[str] = set()  # all sorts that had an event
        self._places: dict[Any, int] = {}
        self._ids: dict[Any, int] = {}
        self._open: dict[str, dict[int, None]] = {}  # unfinished items by sort, in order
        self._done: set[int] = set()
        self._has_place: set[int] = set()
        self._has_id: set[int] = set()
        self._added: set[int] = set()
        self._shared: set[Any] = set()  # places of more than one item
        self._count = 0

    def of_delta(self, value: dict[str, Any], sort: str) -> int:
        """Return the key of a delta's item."""
        place = value.get("output_index")
        if not self._shared and place in self._places:  # nearly always
            return self._places[place]
        return self._find(place, value.get("item_id"), sort, newest=True)

    def added(self, value: dict[str, Any], item: dict[str, Any], sort: str) -> int:
        """Return the key of an added item; it is new, unless its deltas came first."""
        place = value.get("output_index")
        key = self._places.get(place)
        if key is None or key in self._added:
            if key is not None:
                self._shared.add(place)
            key = self._new()
        self._added.add(key)
        self._note(key, place, item.get("id"), sort)
        return key

    def done(self, value: dict[str, Any], item: dict[str, Any], sort: str) -> int:
        """Return the key of an item that is complete now."""
        item_id = item.get("id") or value.get("item_id")
        key = self._find(value.get("output_index"), item_id, sort, newest=False)
        self._open[sort].pop(key, None)
        self._done.add(key)
        return key

    def _find(self, place: Any, item_id: Any, sort: str, newest: bool) -> int:
        by_place = self._places.get(place)
        by_id = self._ids.get(item_id) if item_id is not None else None
        key = by_place if by_id is None or place not in self._shared else by_id
        if key is None:
            key = by_id
        if key is None:
            waiting = self._open.get(sort, {})
            candidates = islice(reversed(waiting) if newest else waiting, _MOST_OPEN)
            fitting = (each for each in candidates if self._fits(each, place, item_id))
            key = next(fitting, None) or self._new()
        self._note(key, place, item_id, sort)
        return key

    def _fits(self, key: int, place: Any, item_id: Any) -> bool:
        return not (place is not None and key in self._has_place) and not (
            item_id is not None and key in self._has_id
        )

    def _note(self, key: int, place: Any, item_id: Any, sort: str) -> None:
        self.sorts.add(sort)
        if place is not None:
            self._places[place] = key
            self._has_place.add(key)
        if item_id is not None:
            self._ids[item_id] = key
            self._has_id.add(key)
        waiting = self._open.setdefault(sort, {})
        if key not in self._done:
            waiting[key] = None

    def _new(self) -> int:
        self._count += 1
        return self._count
