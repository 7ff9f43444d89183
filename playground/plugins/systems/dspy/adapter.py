"""The common part of all adapters: write a signature as messages, and read a completion. The order
of messages is that of DSPy's Adapter.format: system, demos, history, request. Subclasses define the
forms of fields and answers.
"""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from playground.plugins.systems.dspy import history, parts
from playground.plugins.systems.dspy.asking import AskingAdapter, Chat, Values, takes_signature
from playground.plugins.systems.dspy.calling import AnswerFault
from playground.plugins.systems.dspy.reading import read
from playground.plugins.systems.dspy.signature import REQUIRED, Field, Signature
from playground.plugins.systems.dspy.types import kind_of
from playground.plugins.systems.dspy.values import (
    described_types,
    prompt_text,
    type_name,
    type_note,
)

INTRO: Final = (
    "All interactions will be structured in the following way, with the appropriate values "
    "filled in."
)
_INCOMPLETE: Final = (
    "This is an example of the task, though some input or output fields are not supplied."
)
_MISSING: Final = "Not supplied for this particular example. "
_embeds: ContextVar[bool] = ContextVar("texts embed content parts", default=False)


class FieldInfoWithName(NamedTuple):
    """A field as a key of `format_field_with_value`; DSPy's own type is accepted, too."""

    name: str
    info: Any
    is_output: bool = False


class FieldAdapter(AskingAdapter):
    """An adapter that writes a signature's fields as messages, and parses a completion.

    Methods that return a text write an image as its address; the messages of `format` hold images
    as content parts. With `use_native_function_calling`, calls in a history and their results
    become the API's own messages.
    """

    name: str

    # to be defined by each adapter

    @abstractmethod
    def _fields(self, texts: Mapping[str, str]) -> str:
        """Return fields and their texts, in order, as this adapter writes them."""

    @abstractmethod
    def format_field_structure(self, signature: Signature) -> str:
        """Return the structure of an interaction, with a placeholder for every field."""

    @abstractmethod
    def user_message_output_requirements(self, signature: Signature) -> str:
        """Return the reminder at the end of a request, which names the fields of the answer and
        their form."""

    @abstractmethod
    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        """Return an answer's text; `missing_field_message` replaces a missing field."""

    @abstractmethod
    def _values(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Return each field's raw value in a completion by name, before its type is checked."""

    def _pieces(self, texts: Mapping[str, str]) -> list[str]:
        """Return the texts of which a user's message consists; here, one for each field."""
        return [self._fields({name: text}) for name, text in texts.items()]

    # common to all adapters

    @takes_signature
    def format(self, signature: Signature, demos: Sequence[Values], inputs: Values) -> Chat:
        """Return all messages of a request: system, demos, history, and the inputs."""
        arguments = {"signature": signature, "demos": demos, "inputs": inputs}
        return self._notifier.run_step(
            "format", self, arguments, lambda: self._messages(signature, demos, inputs)
        )

    @takes_signature
    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        """Return the typed output fields of a completion.

        A missing field gets its default, or None if its type allows that. Raises AnswerFault,
        which names a field and its unreadable value, or the fields that are missing.
        """
        arguments = {"signature": signature, "completion": completion}
        return self._notifier.run_step(
            "parse", self, arguments, lambda: self._parse_fields(signature, completion)
        )

    def _messages(self, signature: Signature, demos: Sequence[Values], inputs: Values) -> Chat:
        history_field = signature.history_field
        main = signature.without(history_field) if history_field else signature
        turns = (
            self.format_conversation_history(main, history_field, inputs) if history_field else []
        )
        return [
            {"role": "system", "content": self.format_system_message(signature)},
            *self.format_demos(signature, demos),
            *turns,
            self._user(main, inputs, main_request=True),
        ]

    def format_field_with_value(self, fields_with_values: Mapping[Any, Any]) -> str:
        """Return fields and their values, in order, as this adapter writes them.

        A key is a name, our FieldInfoWithName, or the class of that name in DSPy.
        """
        texts = {}
        for key, value in fields_with_values.items():
            field = as_key(key)
            texts[field.name] = prompt_text(value, getattr(field.info, "annotation", None))
        return _text_for_caller(self._fields(texts)).strip()

    def _with_values(
        self, fields: Mapping[str, Field], values: Mapping[str, Any], is_output: bool = False
    ) -> str:
        keys = (FieldInfoWithName(name, field, is_output) for name, field in fields.items())
        return self.format_field_with_value({key: values[key.name] for key in keys})

    @takes_signature
    def format_system_message(self, signature: Signature) -> str:
        return "\n".join(
            [
                self.format_field_description(signature),
                self.format_field_structure(signature),
                self.format_task_description(signature),
            ]
        )

    @takes_signature
    def format_field_description(self, signature: Signature) -> str:
        """Return a list of all fields with types and descriptions."""
        inputs, outputs = _descriptions(signature.inputs), _descriptions(signature.outputs)
        return f"Your input fields are:\n{inputs}\nYour output fields are:\n{outputs}"

    @takes_signature
    def format_task_description(self, signature: Signature) -> str:
        lines = textwrap.dedent(signature.instructions).splitlines()
        objective = "".join(f"\n        {line}" for line in lines)
        return f"In adhering to this structure, your objective is: {objective}"

    @takes_signature
    def format_user_message_content(
        self,
        signature: Signature,
        inputs: Values,
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        """Return the inputs' text between `prefix` and `suffix`; with `main_request`, add the
        reminder of the output fields."""
        texts = {
            name: prompt_text(inputs[name], field.annotation)
            for name, field in signature.inputs.items()
            if name in inputs
        }
        pieces = [prefix, *self._pieces(texts)]
        pieces += [self.user_message_output_requirements(signature)] if main_request else []
        return _text_for_caller("\n\n".join([*pieces, suffix]).strip())

    def _user(
        self, signature: Signature, inputs: Values, prefix: str = "", main_request: bool = False
    ) -> dict[str, Any]:
        """Return a user's message: the text of `format_user_message_content`, with its embedded
        parts as content parts."""
        token = _embeds.set(True)
        try:
            text = self.format_user_message_content(
                signature, inputs, prefix=prefix, main_request=main_request
            )
        finally:
            _embeds.reset(token)
        return _user(text)

    @takes_signature
    def format_demos(self, signature: Signature, demos: Sequence[Values]) -> Chat:
        """Return examples as turns, incomplete ones first.

        Examples without any input, or without any output, are left out.
        """
        complete: Chat = []
        incomplete: Chat = []
        fields = [*signature.inputs, *signature.outputs]
        for demo in demos:
            if all(demo.get(name) is not None for name in fields):
                complete += self._demo(signature, demo, "", None)
            elif any(k in demo for k in signature.inputs) and any(
                k in demo for k in signature.outputs
            ):
                incomplete += self._demo(signature, demo, _INCOMPLETE, _MISSING)
        return incomplete + complete

    @takes_signature
    def format_conversation_history(
        self, signature: Signature, history_field_name: str, inputs: Values
    ) -> Chat:
        """Return the turns of the history, each with the reminder of the output fields, and with
        the results of its calls.

        Raises InputFault for a value that is not a History.
        """
        turns: Chat = []
        for message in history.messages_of(inputs.get(history_field_name), history_field_name):
            if any(name in message for name in signature.inputs):
                turns.append(self._user(signature, message, main_request=True))
            turns += self._answer_turns(signature, message)
        return turns

    def _answer_turns(self, signature: Signature, message: Values) -> Chat:
        """Return an earlier turn's answer, with calls as text or as the API's own messages."""
        name, calls = history.calls_of(message)
        if calls is not None and self.use_native_function_calling:
            text_outputs = _text_outputs(signature, message)
            text = ""
            if text_outputs.outputs:
                text = self.format_assistant_message_content(text_outputs, message)
            return history.native_turns(text, calls)
        results = calls.tool_call_results if calls else None
        if calls is not None and results is not None:
            message = {**message, name: calls.model_copy(update={history.RESULTS: None})}
        text = self.format_assistant_message_content(signature, message)
        turns = [_assistant(text)] if text else []
        if results is not None:
            results_field = {history.RESULTS: prompt_text(history.as_field(results))}
            turns.append(_user(self._fields(results_field)))
        return turns

    @takes_signature
    def format_finetune_data(
        self, signature: Signature, demos: Sequence[Values], inputs: Values, outputs: Values
    ) -> dict[str, Chat]:
        """Return one training example in OpenAI's form."""
        answer = self.format_assistant_message_content(signature, outputs)
        messages = self.format(signature, demos, inputs)
        return {"messages": [*messages, {"role": "assistant", "content": answer}]}

    def _demo(self, signature: Signature, demo: Values, prefix: str, missing: str | None) -> Chat:
        answer = self.format_assistant_message_content(signature, demo, missing)
        user = self._user(signature, demo, prefix)
        return [user, {"role": "assistant", "content": answer}]

    @takes_signature
    def read_fields(self, signature: Signature, completion: str) -> list[FieldRead]:
        """Return every output field of a completion, with its value or a fault, in order.

        Raises AnswerFault if a JSONAdapter finds no object in the completion.
        """
        texts = self._values(signature, completion)
        return [
            _read_field(name, field, texts.get(name, REQUIRED))
            for name, field in signature.outputs.items()
        ]

    def _parse_fields(self, signature: Signature, completion: str) -> dict[str, Any]:
        fields = self.read_fields(signature, completion)
        for field in fields:
            if field.fault and field.written is not None:
                expected = type_name(signature.outputs[field.name].annotation)
                problem = f"field {field.name} has the value {field.written!r:.200}: {field.fault}"
                raise AnswerFault(problem, expected=expected)
        missing = ", ".join(field.name for field in fields if field.fault)
        if missing:
            raise AnswerFault(
                f"{self.name} finds no field {missing} in {completion!r:.200}",
                expected=f"the fields {', '.join(signature.outputs)}",
            )
        return {field.name: field.value for field in fields}


@dataclass(frozen=True, slots=True)
class FieldRead:
    """An output field: its raw value (None if the answer lacks it), and its value or a fault."""

    name: str
    written: Any
    value: Any = None
    fault: str = ""


def _read_field(name: str, field: Field, written_value: Any) -> FieldRead:
    if written_value is REQUIRED:
        value = field.missing()
        return FieldRead(name, None, *((None, "missing") if value is REQUIRED else (value,)))
    try:
        return FieldRead(name, written_value, read(written_value, field.annotation))
    except ValueError as error:
        return FieldRead(name, written_value, fault=str(error))


def _text_outputs(signature: Signature, message: Values) -> Signature:
    """Return the signature with only those outputs that a turn holds as text."""
    for name, field in signature.outputs.items():
        if kind_of(field.annotation) == "ToolCalls" or message.get(name) is None:
            signature = signature.without(name)
    return signature


def as_key(key: Any) -> FieldInfoWithName:
    """Return a key of `format_field_with_value` as a FieldInfoWithName."""
    if isinstance(key, FieldInfoWithName):
        return key
    info = getattr(key, "info", None)
    extra = getattr(info, "json_schema_extra", None) or {}
    return FieldInfoWithName(
        str(getattr(key, "name", key)), info, extra.get("__dspy_field_type") == "output"
    )


def _text_for_caller(text: str) -> str:
    """Return a text with its content parts written out. In a call from `_user`, return the text
    unchanged, because `_user` makes a message with these parts."""
    return text if _embeds.get() else parts.plain(text)


def _assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": parts.content(text)}


def _descriptions(fields: Mapping[str, Field]) -> str:
    lines = []
    for number, (name, field) in enumerate(fields.items(), 1):
        line = f"{number}. `{name}` ({type_name(field.annotation)}): {field.desc}"
        for kind in described_types(field.annotation):
            line += f"\n    Type description of {type_name(kind)}: {kind.description()}"
        line += f"\nConstraints: {field.constraints}" if field.constraints else ""
        lines.append(line)
    return "\n".join(lines).strip()


def placeholders(fields: Mapping[str, Field]) -> Iterable[tuple[str, str]]:
    return ((name, f"{{{name}}}{type_note(field.annotation)}") for name, field in fields.items())


def type_reminder(field: Field) -> str:
    """Return the note on a field's type at the end of a request; "" for text."""
    if field.annotation is str:
        return ""
    if kind_of(field.annotation) == "ToolCalls":
        return ' (must be a JSON object like {"tool_calls": [{"name": "...", "args": {...}}]})'
    return f" (must be formatted as a valid Python {type_name(field.annotation)})"
