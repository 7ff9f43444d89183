"""Field types with their own form in prompts: images, code, tools, calls, reasoning, history.

DSPy's own types, and types that a user derives from `dspy.Type`, are supported, because only
`format` and `description` of a type are called, whatever its class. dspy is never imported.
"""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, model_serializer, model_validator

from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.dspy import parts

_DATA_URI: Final = re.compile(r"data:audio/(?:x-)?([\w.+-]+);base64,(.*)", re.DOTALL)
_FENCED: Final = (
    re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL),
    re.compile(r"```(.*?)```", re.DOTALL),
)


def _without_docstring(schema: dict[str, Any]) -> None:
    schema.pop("description", None)  # our docstring must not appear in a prompt


class FieldType(BaseModel):
    """A type that defines its form in a prompt, like `dspy.Type`.

    `format` returns a text, a JSON object, or a list of content parts of a message.
    """

    model_config = ConfigDict(json_schema_extra=_without_docstring, extra="forbid", frozen=True)

    def format(self) -> str | dict[str, Any] | list[dict[str, Any]]:
        """Return the value as it is written in a prompt."""
        raise NotImplementedError

    @classmethod
    def description(cls) -> str:
        """Return the description of the type in prompts, or ""."""
        return ""

    @model_serializer()
    def _serialized(self) -> Any:
        return parts.embed(self.format())


def is_field_type(annotation: Any) -> bool:
    """Return True if a class is our FieldType or a `dspy.Type`."""
    return inspect.isclass(annotation) and any(
        base is FieldType or (base.__name__ == "Type" and base.__module__.startswith("dspy."))
        for base in annotation.__mro__
    )


_KINDS: Final = frozenset({"Code", "History", "Image", "Reasoning", "Tool", "ToolCalls"})


def kind_of(annotation: Any) -> str:
    """Return the name of the field type (ours or dspy's) that a class is or derives from, or "".

    The names are `Code`, `History`, `Image`, `Reasoning`, `Tool` and `ToolCalls`.
    """
    bases = annotation.__mro__ if inspect.isclass(annotation) else ()
    return next((base.__name__ for base in bases if base.__name__ in _KINDS and is_own(base)), "")


def is_own(annotation: Any) -> bool:
    """Return True if a class is defined in this module or in dspy."""
    return inspect.isclass(annotation) and annotation.__module__.startswith((__name__, "dspy."))


class History(BaseModel):
    """Earlier turns; each message is a dict with some of the signature's fields."""

    model_config = ConfigDict(json_schema_extra=_without_docstring, extra="forbid", frozen=True)

    messages: list[dict[str, Any]]


class Image(FieldType):
    """An image by its URL or data URL. It becomes a content part of the message, and is never
    fetched."""

    url: str

    def __init__(self, source: str | None = None, /, **data: Any) -> None:
        super().__init__(**({"url": source} if source is not None else {}), **data)

    def format(self) -> list[dict[str, Any]]:
        return [{"type": "image_url", "image_url": {"url": self.url}}]


class Audio(FieldType):
    """Sound in base64 or a `data:audio/…` URI. It becomes a content part of the message."""

    data: str
    audio_format: str

    @model_validator(mode="before")
    @classmethod
    def _from_uri(cls, data: Any) -> Any:
        match = _DATA_URI.match(data) if isinstance(data, str) else None
        return {"data": match[2], "audio_format": match[1]} if match else data

    def format(self) -> list[dict[str, Any]]:
        sound = {"data": self.data, "format": self.audio_format}
        return [{"type": "input_audio", "input_audio": sound}]


class File(FieldType):
    """A file as a data URI, or by the provider's id. It becomes a content part of the message."""

    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_uri(cls, data: Any) -> Any:
        if isinstance(data, str) and data.startswith("data:"):
            return {"file_data": data}
        if isinstance(data, dict) and not data.keys() & cls.model_fields.keys():
            raise ValueError("a file has file_data, file_id or filename")
        return data

    def format(self) -> list[dict[str, Any]]:
        return [{"type": "file", "file": {k: v for k, v in self if v}}]


class Reasoning(FieldType):
    """Reasoning; a model without native reasoning writes it as a text field."""

    content: str

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        return {"content": data} if isinstance(data, str) else data

    def format(self) -> str:
        return self.content


class Code(FieldType):
    """Source code, without a fence around it. `Code["java"]` names the language."""

    language: ClassVar[str] = "python"
    code: str

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("code"), str):
            return {**data, "code": _unfenced(data["code"])}
        return {"code": _unfenced(data)} if isinstance(data, str) else data

    @classmethod
    def description(cls) -> str:
        return (
            "Code represented in a string, specified in the `code` field. If this is an output "
            "field, the code field should follow the markdown code block format, e.g. \n"
            f"```{cls.language.lower()}\n{{code}}\n```\nProgramming language: {cls.language}"
        )

    def format(self) -> str:
        return self.code

    def __class_getitem__(cls, language: Any) -> Any:
        return _code_in(cls, language)


@cache
def _code_in(base: type[Code], language: str) -> type[Code]:
    return type(
        f"{base.__name__}_{language}", (base,), {"language": language, "__module__": __name__}
    )


class Tool(FieldType):
    """A tool as an input: its name, its description and its arguments.

    `required` are the arguments that a call must have. None, as in DSPy, means all arguments
    without a default.
    """

    name: str
    desc: str = ""
    args: dict[str, Any]
    required: list[str] | None = None

    @classmethod
    def of(cls, tool: ToolMetadata) -> Tool:
        schema = tool.input_schema
        return cls(
            name=tool.name,
            desc=tool.description,
            args=schema.get("properties") or {},
            required=schema.get("required") or [],
        )

    def format(self) -> str:
        description = f", whose description is <desc>{self.desc}</desc>." if self.desc else "."
        return f"{self.name}{description.replace(chr(10), '  ')} It takes arguments {self.args}."

    def format_as_litellm_function_call(self) -> dict[str, Any]:
        """Return the tool in OpenAI's form for a request; the method's name is DSPy's."""
        required = self.required
        if required is None:
            required = [name for name, schema in self.args.items() if "default" not in schema]
        parameters = {"type": "object", "properties": self.args, "required": required}
        function = {"name": self.name, "description": self.desc, "parameters": parameters}
        return {"type": "function", "function": function}


class ToolCall(FieldType):
    """One call: a tool's name and its arguments. Its `id`, if any, is never written in a prompt."""

    id: str | None = None
    name: str
    args: dict[str, Any]

    def format(self) -> dict[str, Any]:
        return {"name": self.name, "args": self.args}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = handler.resolve_ref_schema(
            super().__get_pydantic_json_schema__(core_schema, handler)
        )
        schema.get("properties", {}).pop("id", None)
        schema.pop("additionalProperties", None)
        return schema


class ToolCallResult(BaseModel):
    """The result of a call; `call_id` is the call's id, if it has one."""

    call_id: str | None = None
    name: str
    value: Any
    is_error: bool = False


class ToolCalls(FieldType):
    """Calls as an output: `{"tool_calls": [{"name": …, "args": {…}}]}`, that list, or one call.

    In a history, calls may have their results, which become separate messages.
    """

    tool_calls: list[ToolCall]
    tool_call_results: list[ToolCallResult] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_forms(cls, data: Any) -> Any:
        if isinstance(data, dict) and "tool_calls" not in data and "name" in data:
            data = [data]
        calls = data.get("tool_calls") if isinstance(data, dict) else data
        if not isinstance(calls, list):
            return data
        results = data.get("tool_call_results") if isinstance(data, dict) else None
        listed = [_plain_call(call) for call in calls]
        return {"tool_calls": listed, "tool_call_results": results}

    @classmethod
    def description(cls) -> str:
        return (
            "Tool calls must be a JSON object with `tool_calls`, a list of calls. Each call must "
            'include `name` and `args`. Example: {"tool_calls": [{"name": "search", "args": '
            '{"query": "cats"}}]}'
        )

    def format(self) -> dict[str, Any]:
        return {"tool_calls": [call.format() for call in self.tool_calls]}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = handler.resolve_ref_schema(
            super().__get_pydantic_json_schema__(core_schema, handler)
        )
        schema.get("properties", {}).pop("tool_call_results", None)
        schema.pop("additionalProperties", None)
        return schema


def _plain_call(call: Any) -> Any:
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        return call
    arguments = call["function"].get("arguments", {})
    args = json.loads(arguments) if isinstance(arguments, str) else arguments
    return {"id": call.get("id"), "name": call["function"].get("name"), "args": args}


def _unfenced(text: str) -> str:
    """Return the content of a text's first fence, or the text if there is none."""
    for fenced in _FENCED:
        if match := fenced.search(text):
            return match[1].strip()
    return text
