"""Store a user's favourites, policies, templates and drafts as JSON values on a shelf.

As in the workspace, a value is replaced only by a writer who has seen it. A file that cannot be
read is never changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playground.base.errors import InputFault
from playground.base.json_numbers import json_fault
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import Tally, searcher
from playground.recordings.value_scrubbing import scrubbed_with
from playground.sessions.workspaces.shelves import Shelf


@dataclass(frozen=True)
class Belongings:
    """A shelf of JSON values; with `scrub`, values are written without secrets."""

    shelf: Shelf
    scrub: bool = True

    def value(self, name: str) -> Any:
        """Return the value of this name, or None. Raises InputFault if it cannot be read."""
        return _read(self.shelf.read(name), name)

    def change(self, name: str, after: Callable[[Any], Any]) -> dict[str, int]:
        """Replace a value by the result of `after(value)`; None means no value.

        If another writer changes the value meanwhile, `after` is called again. Return the numbers
        of secrets that were starred out, by kind. Raises InputFault if the system refuses.
        """
        while True:
            before = self.shelf.read(name)
            old = _read(before, name)
            new = after(old)
            tally = Tally()
            if new == old or self.shelf.swap(name, before, self._written(new, tally)):
                return tally.counts

    def _written(self, value: Any, tally: Tally) -> str | None:
        if value is None:
            return None
        if self.scrub:
            value = scrubbed_with(searcher(tuple(environment_secrets())), value, tally)
        return json.dumps(value, ensure_ascii=True) + "\n"


def _read(text: str | None, name: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputFault(f"{name!r}: {json_fault(error)}", expected="the file as it was") from error
