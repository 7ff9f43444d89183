"""DSPy's ChatAdapter, with fields between markers, and JSONAdapter, with answers as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from playground.plugins.systems.dspy import native, parts
from playground.plugins.systems.dspy.adapter import (
    INTRO,
    FieldAdapter,
    FieldInfoWithName,
    as_key,
    placeholders,
    type_reminder,
)
from playground.plugins.systems.dspy.asking import AskingAdapter, Values, takes_signature
from playground.plugins.systems.dspy.calling import AnswerFault, Callback
from playground.plugins.systems.dspy.reading import first_bracketed, load
from playground.plugins.systems.dspy.signature import Field, Signature
from playground.plugins.systems.dspy.values import as_json


class ChatAdapter(FieldAdapter):
    """The adapter that writes each field after a `[[ ## name ## ]]` marker."""

    name = "ChatAdapter"
    _HEADER: Final = re.compile(r"\s*\[\[ ## (\w+) ## \]\]")

    def __init__(
        self,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = False,
        parallel_tool_calls: bool | None = None,
        *,
        use_json_adapter_fallback: bool = True,
    ) -> None:
        super().__init__(callbacks, use_native_function_calling, parallel_tool_calls)
        self.use_json_adapter_fallback = use_json_adapter_fallback

    def _fallback(self) -> AskingAdapter | None:
        """Return a JSONAdapter, unless `use_json_adapter_fallback` is False."""
        if not self.use_json_adapter_fallback:
            return None
        return JSONAdapter(
            self.callbacks, self.use_native_function_calling, self.parallel_tool_calls
        )

    def _fields(self, texts: Mapping[str, str]) -> str:
        return _sections(texts.items())

    @takes_signature
    def format_field_structure(self, signature: Signature) -> str:
        inputs = self._with_values(
            signature.inputs, {name: f"{{{name}}}" for name in signature.inputs}
        )
        outputs = self._with_values(signature.outputs, dict(placeholders(signature.outputs)), True)
        return "\n\n".join([INTRO, inputs, outputs, "[[ ## completed ## ]]"])

    @takes_signature
    def user_message_output_requirements(self, signature: Signature) -> str:
        names = (f"`[[ ## {k} ## ]]`{type_reminder(f)}" for k, f in signature.outputs.items())
        fields = ", then ".join(names)
        return (
            f"Respond with the corresponding output fields, starting with the field {fields}, and "
            "then ending with the marker for `[[ ## completed ## ]]`."
        )

    @takes_signature
    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        values = {name: outputs.get(name, missing_field_message) for name in signature.outputs}
        fields = self._with_values(signature.outputs, values, True)
        return f"{fields}\n\n[[ ## completed ## ]]\n"

    def _values(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Read the text after each header. A header begins a line, perhaps after blanks. If a field
        occurs twice, the first is used. (DSPy 3.4.1 misreads an indented header.)"""
        sections: dict[str, list[str]] = {}
        current: list[str] = []
        for line in completion.split("\n"):  # only "\n" ends a line
            header = self._HEADER.match(line)
            if header:
                current = []
                sections.setdefault(header[1], current)
                line = line[header.end() :]
            current.append(line)
        return {name: "\n".join(lines).strip() for name, lines in sections.items()}


class JSONAdapter(ChatAdapter):
    """The adapter that writes inputs as ChatAdapter does, and outputs as one JSON object.

    By default it uses native tool calls. A model that supports `response_format` is asked for an
    object that follows the outputs' JSON Schema, or for any object if it takes no such schema.
    """

    name = "JSONAdapter"

    def __init__(
        self,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = True,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        super().__init__(callbacks, use_native_function_calling, parallel_tool_calls)

    def _fallback(self) -> None:
        """Return None, because no adapter is left to try after JSON."""

    def _plan(
        self, lm: object, lm_kwargs: Mapping[str, Any], signature: Signature, inputs: Values
    ) -> native.Plan:
        parameter = native.response_format(lm, signature, self.use_native_function_calling)
        extra = {"response_format": parameter} if parameter else {}
        return super()._plan(lm, {**lm_kwargs, **extra}, signature, inputs)

    @takes_signature
    def format_field_structure(self, signature: Signature) -> str:
        inputs = self._with_values(
            signature.inputs, {name: f"{{{name}}}" for name in signature.inputs}
        )
        return "\n\n".join(
            [
                INTRO,
                "Inputs will have the following structure:",
                inputs,
                "Outputs will be a JSON object with the following fields.",
                self._with_values(signature.outputs, dict(placeholders(signature.outputs)), True),
            ]
        )

    @takes_signature
    def user_message_output_requirements(self, signature: Signature) -> str:
        fields = ", then ".join(f"`{k}`{type_reminder(f)}" for k, f in signature.outputs.items())
        return f"Respond with a JSON object in the following order of fields: {fields}."

    @takes_signature
    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        values = {name: outputs.get(name, missing_field_message) for name in signature.outputs}
        return self._with_values(signature.outputs, values, True)

    def format_field_with_value(
        self, fields_with_values: Mapping[Any, Any], role: str = "user"
    ) -> str:
        """Return fields and their values, in order: an answer's as JSON, others as sections.

        `role` is "user", or "assistant" for an answer.
        """
        if role == "user":
            return super().format_field_with_value(fields_with_values)
        values = {as_key(key).name: value for key, value in fields_with_values.items()}
        return parts.plain(_dumped(as_json(values)))

    def _with_values(
        self, fields: Mapping[str, Field], values: Mapping[str, Any], is_output: bool = False
    ) -> str:
        keys = {FieldInfoWithName(k, f, is_output): values[k] for k, f in fields.items()}
        return self.format_field_with_value(keys, role="assistant" if is_output else "user")

    def _values(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Read the first object in a completion. The object may be surrounded by text or a fence,
        and its end may be cut off."""
        text = completion.strip()
        if text.startswith('"'):  # the opening brace is missing
            text = "{" + text
        value = None
        with suppress(ValueError):
            value = load(first_bracketed(text[text.index("{") :]))
        if not isinstance(value, dict):
            raise AnswerFault(
                f"{self.name} finds no object in {completion!r:.200}", expected="a JSON object"
            )
        return value


def _sections(fields: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in fields)


def _dumped(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
