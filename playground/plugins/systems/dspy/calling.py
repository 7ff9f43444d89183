"""The interfaces by which an adapter asks a model and notifies callbacks, with DSPy's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from playground.base.errors import InputFault

_T = TypeVar("_T")


class LanguageModel(Protocol):
    """A model as DSPy calls an LM: messages as dicts in OpenAI's form in, one text an answer out.

    An answer may also be a mapping with its `text`, `tool_calls`, `reasoning_content` and
    `logprobs`. Its native abilities have DSPy's names, each of which may be missing:
    `supports_function_calling`, `supports_reasoning`, `supports_response_schema`,
    `supported_params`.
    """

    def __call__(
        self, *, messages: list[dict[str, Any]], **parameters: Any
    ) -> Sequence[str | Mapping[str, Any]]: ...


class AsyncLanguageModel(LanguageModel, Protocol):
    """A model that can be awaited too, as DSPy's `acall`."""

    async def acall(
        self, *, messages: list[dict[str, Any]], **parameters: Any
    ) -> Sequence[str | Mapping[str, Any]]: ...


class Callback(Protocol):
    """A listener to an adapter's steps, with DSPy's methods; each of them may be missing.

    `on_adapter_format_start(call_id, instance, inputs)` and `on_adapter_format_end(call_id,
    outputs, exception)`, likewise `parse`; call ids are ordinal.
    """


class AnswerFault(InputFault):
    """A completion that does not say what its signature asks for."""


class Told:
    """Callbacks and the number of steps that they were told of."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = tuple(callbacks)
        self._steps = 0

    def of(self, step: str, adapter: object, inputs: dict[str, Any], run: Callable[[], _T]) -> _T:
        """Run a step; the callbacks are told before and after it, of an exception too."""
        self._steps += 1
        call_id = f"adapter_{self._steps}"
        self._tell(f"on_adapter_{step}_start", call_id=call_id, instance=adapter, inputs=inputs)
        try:
            outputs = run()
        except Exception as error:
            self._tell(f"on_adapter_{step}_end", call_id=call_id, outputs=None, exception=error)
            raise
        self._tell(f"on_adapter_{step}_end", call_id=call_id, outputs=outputs, exception=None)
        return outputs

    def _tell(self, method: str, **arguments: Any) -> None:
        for callback in self.callbacks:
            tell = getattr(callback, method, None)
            if tell is not None:
                tell(**arguments)
