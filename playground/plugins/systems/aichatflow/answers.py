"""The sources of a conversation's answers: a script, recordings, or a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from playground.base.errors import InputFault
from playground.llm.record import Limits, record
from playground.plugins.systems.aichatflow.requests import PlainMessage, Sent
from playground.plugins.systems.aichatflow.sets import ROLES
from playground.plugins.systems.script import Script
from playground.recordings.recording import Recording, error_message
from playground.sessions.session import Session


class Answers:
    """Answers of a script or of recordings, in order. Raises InputFault after the last one."""

    def __init__(self, answers: Sequence[PlainMessage | str]) -> None:
        self._script = Script[Sent, PlainMessage | str](answers)

    def __call__(self, request: Sent) -> PlainMessage:
        answer = self._script.answer(request)
        if isinstance(answer, str):
            return {"role": "assistant", "content": answer}
        message = {"role": "assistant", **answer} if isinstance(answer, dict) else answer
        return check_message(message, "an answer")

    @classmethod
    def of_recordings(cls, recordings: Sequence[Recording]) -> Answers:
        """Return the answers of recordings, in order. Raises InputFault as `answer_of` does."""
        return cls([answer_of(recording) for recording in recordings])


class RecordedAnswers:
    """Answers of a model, asked through LiteLLM; the raw stream of every answer is in `recordings`.

    `model` replaces the models that templates name, `base_url` is a server with the model's API,
    and `timeout` is the limit for each answer in seconds. If `alive` returns False (if the page was
    closed, for example), the current answer is cut off and recorded, and the model is not asked
    again. Keys come from the environment.
    """

    def __init__(
        self,
        model: str = "",
        base_url: str = "",
        timeout: float = 600.0,
        alive: Callable[[], bool] = lambda: True,
    ) -> None:
        self.model, self.base_url = model, base_url
        self.limits = Limits(timeout, alive=alive)
        self.recordings: list[Recording] = []
        self.cancel = threading.Event()

    def __call__(self, request: Sent) -> PlainMessage:
        """Ask the model and return its answer. Raises InputFault if the answer is missing or
        broken."""
        if self.cancel.is_set() or not self.limits.alive():
            raise InputFault("the run was stopped before this answer was asked for")
        body = request.body(modern=True)
        other_parameters = {
            k: v for k, v in body.items() if k not in ("model", "messages", "tools")
        }
        model = self.model or str(body.get("model") or "")
        if not model:
            raise InputFault("no model", expected="one in the template, or one that you name")
        result = record(
            body["messages"],
            model,
            tools=body.get("tools") or (),
            name=f"answer {len(self.recordings) + 1}",
            base_url=self.base_url,
            parameters=other_parameters,
            limits=self.limits,
            cancel=self.cancel,
        )
        self.recordings.append(result.recording)
        return answer_of(result.recording)


def recorded_results(session: Session) -> Callable[[str, dict[str, Any]], str | None]:
    """Return a callable for `run(call=…)`: for a template's function, it returns the session's
    recorded results in order, or None if it has no results of the function. It raises
    InputFault if the template calls the function more often than there are results.
    """
    results_by_name: dict[str, list[Any]] = {}
    for message in session.messages:
        for part in message.tool_results:
            results_by_name.setdefault(part.tool_name, []).append(part.result)

    def call(name: str, _arguments: dict[str, Any]) -> str | None:
        if name not in results_by_name:
            return None
        if not results_by_name[name]:
            raise InputFault(f"no more recorded results of {name}", expected="one for each call")
        result = results_by_name[name].pop(0)
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

    return call


def answer_of(recording: Recording) -> PlainMessage:
    """Return a recorded reply as a template's message.

    Raises InputFault for a reply that broke off or that calls several functions.
    """
    if recording.error is not None:
        cause = error_message(recording.error)
        raise InputFault(f"the answer broke off: {cause}", where=recording.name)
    for finding in recording.findings:
        if finding.code == "no-end":
            raise InputFault(f"the answer broke off: {finding.message}", where=recording.name)
    reply = recording.reply
    if len(reply.tool_calls) > 1:
        names = ", ".join(call.name for call in reply.tool_calls)
        raise InputFault(
            f"the answer calls several functions: {names}",
            where=recording.name,
            expected="one call: a message of a template holds no more",
        )
    message: PlainMessage = {"role": "assistant", "content": reply.content}
    for call in reply.tool_calls:
        message["function_call"] = {"name": call.name, "arguments": call.arguments_text}
    return message


def check_message(message: Any, where: str) -> PlainMessage:
    """Return a copy of a message from outside. Raises InputFault if the value is not a message."""
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        known = ", ".join(ROLES)
        raise InputFault("not a message", where=where, expected=f"an object with a role: {known}")
    call = message.get("function_call")
    if call is not None and not isinstance(call, dict):
        expected = "an object with name and arguments"
        raise InputFault("not a call", where=where, field="function_call", expected=expected)
    return dict(message)
