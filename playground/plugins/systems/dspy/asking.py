"""Ask a model for the outputs of a signature: plan the request, write its messages, ask, and parse
the answers, in the order of DSPy's `Adapter.__call__`."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from playground.plugins.systems.dspy import native
from playground.plugins.systems.dspy.calling import (
    AnswerFault,
    AsyncLanguageModel,
    Callback,
    LanguageModel,
    Notifier,
)
from playground.plugins.systems.dspy.signature import REQUIRED, Signature, as_signature

Values = Mapping[str, Any]
Chat = list[dict[str, Any]]
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def takes_signature(method: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Decorate a method so that its `signature` may also be a class with fields, as in DSPy.

    The method raises InputFault for any other signature. An override in a subclass needs no
    decorator, because the decorated methods that call it pass a Signature.
    """
    parameters = inspect.signature(method)

    @wraps(method)
    def wrapper(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
        bound = parameters.bind(*args, **keywords)
        bound.arguments["signature"] = as_signature(bound.arguments["signature"])
        return method(*bound.args, **bound.kwargs)

    return wrapper


class AskingAdapter(ABC):
    """An adapter that asks a model for the outputs of a signature, synchronously or not.

    Every method also takes a class with fields in place of a Signature. `callbacks` are notified
    when `format` and `parse` begin and end, as in DSPy. With `use_native_function_calling`, a model
    that supports function calls gets the tools in the request, and its calls are read from the
    response; `parallel_tool_calls` is then passed to the provider.
    """

    def __init__(
        self,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = False,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        self.callbacks = list(callbacks or ())
        self.use_native_function_calling = use_native_function_calling
        self.parallel_tool_calls = parallel_tool_calls
        self._notifier = Notifier(self.callbacks)

    @abstractmethod
    def format(self, signature: Signature, demos: Sequence[Values], inputs: Values) -> Chat:
        """Return all messages of a request."""

    @abstractmethod
    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Return the output fields of a completion. Raises AnswerFault."""

    @takes_signature
    def __call__(
        self,
        lm: LanguageModel,
        lm_kwargs: Mapping[str, Any],
        signature: Signature,
        demos: Sequence[Values],
        inputs: Values,
    ) -> list[dict[str, Any]]:
        """Ask a model and return a dict of output fields for each of its answers.

        `lm` is called as in DSPy: `lm(messages=…, **lm_kwargs)`, which all our chat models support.
        Raises AnswerFault as `parse` does, and InputFault if tools are missing.
        """
        plan = self._plan(lm, lm_kwargs, signature, inputs)
        try:
            messages = self.format(plan.signature, demos, inputs)
            return self._read(plan, signature, lm(messages=messages, **plan.parameters))
        except AnswerFault:
            fallback = self._fallback()
            if fallback is None:
                raise
            return fallback(lm, lm_kwargs, signature, demos, inputs)

    @takes_signature
    async def acall(
        self,
        lm: AsyncLanguageModel,
        lm_kwargs: Mapping[str, Any],
        signature: Signature,
        demos: Sequence[Values],
        inputs: Values,
    ) -> list[dict[str, Any]]:
        """Ask a model as `__call__` does, but asynchronously, by `lm.acall`."""
        plan = self._plan(lm, lm_kwargs, signature, inputs)
        try:
            messages = self.format(plan.signature, demos, inputs)
            answers = await lm.acall(messages=messages, **plan.parameters)
            return self._read(plan, signature, answers)
        except AnswerFault:
            fallback = self._fallback()
            if fallback is None:
                raise
            return await fallback.acall(lm, lm_kwargs, signature, demos, inputs)

    def _fallback(self) -> AskingAdapter | None:
        """Return the adapter that asks again if an answer cannot be read; None to ask only once."""
        return None

    def _plan(
        self, lm: object, lm_kwargs: Mapping[str, Any], signature: Signature, inputs: Values
    ) -> native.Plan:
        """Return the signature for the messages, without fields that the API itself carries, and
        the request's parameters."""
        if self.use_native_function_calling:
            plan = native.plan_with_tools(
                lm, lm_kwargs, signature, inputs, self.parallel_tool_calls
            )
        else:
            plan = native.plan_as_text(signature, lm_kwargs)
        return native.plan_with_reasoning(lm, plan)

    def _read(
        self, plan: native.Plan, signature: Signature, answers: Sequence[str | Values]
    ) -> list[dict[str, Any]]:
        if not answers:
            raise AnswerFault("the model gave no answer", expected="a text with the fields")
        mappings = [a if isinstance(a, Mapping) else {"text": a} for a in answers]
        return [self._outputs(plan, signature, a) for a in mappings]

    def _outputs(self, plan: native.Plan, signature: Signature, answer: Values) -> dict[str, Any]:
        """Return all outputs of a signature. An output that the answer lacks gets its default, or
        None.

        Raises AnswerFault if the answer has neither text nor calls, or cannot be parsed.
        """
        carried = native.carried_values(signature, answer)
        text, has_calls = answer.get("text"), native.has_calls(signature, carried)
        if not text and not has_calls:
            raise AnswerFault("the model answered without text", expected="a text with the fields")
        parsed: dict[str, Any] = {}
        if text and (plan.signature.outputs or not has_calls):
            try:
                parsed = self.parse(plan.signature, str(text))
            except AnswerFault:
                if not has_calls:  # text next to calls need not follow the format
                    raise
        missing = {name: field.missing() for name, field in signature.outputs.items()}
        defaults = {name: None if value is REQUIRED else value for name, value in missing.items()}
        return {**defaults, **parsed, **carried}
