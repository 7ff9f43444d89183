"""Write the requests of a conversation in a dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from playground.dialects.base import Dialect
from playground.dialects.conversation import cached_conversation
from playground.dialects.history import History
from playground.dialects.render_cache import can_cache
from playground.nouns.prompt_data import PromptData


def requests_of(
    dialect: Dialect, prompt_data: PromptData, stops: Sequence[int]
) -> Iterator[Sequence[dict[str, Any]]]:
    """Yield the messages of each request of a conversation. Only a dialect's own marks are set.

    A request holds everything before one of `stops`, which are indexes of messages in order.
    Requests share their common messages: do not change them.
    """
    if not can_cache(dialect) or dialect.preflight or dialect.writes_own_requests:
        plain = dialect if dialect.marks_itself else dialect.with_policy("none")
        for stop in stops:
            earlier = prompt_data.model_copy(update={"messages": prompt_data.messages[:stop]})
            yield plain.render(earlier).messages
        return
    request = History().extended_with([dialect.system_draft(prompt_data)])
    drafts, start = cached_conversation(dialect, prompt_data).drafts, 0
    for stop in stops:
        request = request.extended_with(chain.from_iterable(drafts[start:stop]))
        start = stop
        yield request.messages
