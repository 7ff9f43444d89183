"""The interfaces of the models and callbacks that an adapter calls, with DSPy's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from playground.base.errors import InputFault

_T = TypeVar("_T")


class LanguageModel(Protocol):
    """A model with DSPy's interface: it takes messages in OpenAI's form and returns a list of
    answers. An answer is a text, or a mapping with `text`, `tool_calls`, `reasoning_content` and
    `logprobs`. A model may state its native abilities in DSPy's attributes
    `supports_function_calling`, `supports_reasoning`, `supports_response_schema` and
    `supported_params`.
    """

    def __call__(
        self, *, messages: list[dict[str, Any]], **parameters: Any
    ) -> Sequence[str | Mapping[str, Any]]: ...


class AsyncLanguageModel(LanguageModel, Protocol):
    """A model that can also be awaited, by DSPy's `acall`."""

    async def acall(
        self, *, messages: list[dict[str, Any]], **parameters: Any
    ) -> Sequence[str | Mapping[str, Any]]: ...


class Callback(Protocol):
    """A listener to an adapter's steps, with DSPy's methods; any of them may be missing.

    The methods are `on_adapter_format_start(call_id, instance, inputs)`,
    `on_adapter_format_end(call_id, outputs, exception)`, and the same two with `parse` in place
    of `format`. Call ids count up.
    """


class AnswerFault(InputFault):
    """The error of a completion that lacks an output of its signature, or has an unreadable one."""


class Notifier:
    """The callbacks of an adapter, and the number of steps so far, for the call ids."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = tuple(callbacks)
        self._steps = 0

    def run_step(
        self, step: str, adapter: object, inputs: dict[str, Any], run: Callable[[], _T]
    ) -> _T:
        """Run a step; notify the callbacks before and after it, even if the step raises."""
        self._steps += 1
        call_id = f"adapter_{self._steps}"
        self._notify(f"on_adapter_{step}_start", call_id=call_id, instance=adapter, inputs=inputs)
        try:
            outputs = run()
        except Exception as error:
            self._notify(f"on_adapter_{step}_end", call_id=call_id, outputs=None, exception=error)
            raise
        self._notify(f"on_adapter_{step}_end", call_id=call_id, outputs=outputs, exception=None)
        return outputs

    def _notify(self, method: str, **arguments: Any) -> None:
        for callback in self.callbacks:
            listener = getattr(callback, method, None)
            if listener is not None:
                listener(**arguments)
