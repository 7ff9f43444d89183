"""The loop of every system with tools: ask the model, run the calls in its answer, ask again.

Systems differ in their messages, the number of calls in a message, and the treatment of unknown
functions. Each system defines these in `ask` and `call`; this module has the loop's order and end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from playground.base.errors import PlaygroundError

Answer = TypeVar("Answer")
Results = TypeVar("Results")


def tool_loop(
    ask: Callable[[], Answer],
    call: Callable[[Answer], Results | None],
    *,
    most: int,
    limit_error: PlaygroundError,
) -> Iterator[Answer | Results]:
    """Yield each answer, then the results of its calls, until an answer has no calls.

    `call` returns None for an answer that ends the loop. An answer is yielded before its calls run,
    so that a watcher sees what will happen. Raises `limit_error` if the model still makes calls
    after `most` requests.
    """
    for _ in range(most):
        answer = ask()
        yield answer
        results = call(answer)
        if results is None:
            return
        yield results
    raise limit_error
