"""Answers in a row, for samples, tests and replays: what the scripted models have in common."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Generic, TypeVar

from playground.base.errors import InputFault

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Script(Generic[Request, Answer]):
    """Gives its answers in order; `requests` are those that were answered, or tried to be.

    Several threads may ask: the request at an index is the one that got the answer there.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Answer:
        """Return the next answer. Raises InputFault where there are no more."""
        with self._lock:
            index = len(self.requests)
            self.requests.append(request)
        if index >= len(self._answers):
            expected = "one for each request"
            raise InputFault(f"only {len(self._answers)} answers", expected=expected)
        return self._answers[index]
