"""Ask, call what the answer calls for, ask again: the loop of every system that lets a model act.

What a message is, how many calls it holds and what becomes of one that nobody knows differs from
system to system: they say so by `ask` and `call`. The order, and the end, are here.
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
    beyond: PlaygroundError,
) -> Iterator[Answer | Results]:
    """Yield each answer, then the results of its calls, until an answer has none.

    `call` gives None for an answer that ends the loop. An answer is handed out before its calls
    are made, so that whoever watches sees what is about to happen. Raises `beyond` where the model
    has been asked `most` times and calls still.
    """
    for _ in range(most):
        answer = ask()
        yield answer
        results = call(answer)
        if results is None:
            return
        yield results
    raise beyond
