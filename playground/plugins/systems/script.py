"""A list of answers for scripted models, which samples, tests and replays use."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Generic, TypeVar

from playground.base.errors import InputFault
from playground.base.wording import counted

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Script(Generic[Request, Answer]):
    """Answers that are returned in order; `requests` records every request.

    If several threads ask, the answer at an index still belongs to the request at that index.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Answer:
        """Return the next answer. Raises InputFault if there are no more."""
        with self._lock:
            index = len(self.requests)
            self.requests.append(request)
        if index >= len(self._answers):
            expected = "one for each request"
            raise InputFault(f"only {counted(len(self._answers), 'answer')}", expected=expected)
        return self._answers[index]
