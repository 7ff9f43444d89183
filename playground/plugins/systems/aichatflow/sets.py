"""Sets of named conversation templates in YAML or JSON; a template lists messages in seven roles.

A file maps names to templates, by convention `new-conversation` and `default`. A file with only one
list is the template `default`. Nothing in a file is executed: YAML is read by the safe loader.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.user_files import read_user_file, user_text
from playground.sessions.bounded import read_yaml

_STRICT: Final = ConfigDict(extra="forbid", frozen=True)
_MOST_BYTES: Final = 4_000_000
ROLES: Final = ("system", "assistant", "user", "function", "default-request", "request", "truncate")


class TextTemplate(BaseModel):
    """A text part of a message; the text may contain template actions."""

    model_config = _STRICT

    type: Literal["text"]
    text: str


class ImageAddress(BaseModel):
    """The address of an image, and the resolution at which the model sees it."""

    model_config = _STRICT

    url: str
    detail: Literal["low", "high", "auto"] | None = None


class ImageReference(BaseModel):
    """An image part of a message; the part is passed on unchanged."""

    model_config = _STRICT

    type: Literal["image_url"]
    image_url: ImageAddress


class FunctionCall(BaseModel):
    """A call in the form of OpenAI's older API: the arguments are JSON in a string."""

    model_config = _STRICT

    name: str = Field(min_length=1)
    arguments: str


class SystemMessage(BaseModel):
    model_config = _STRICT

    role: Literal["system"]
    name: str | None = None
    content: str


UserPart = Annotated[TextTemplate | ImageReference, Field(discriminator="type")]


class UserMessage(BaseModel):
    """A user's message. Without content, its parts come from the input's `contentParts`."""

    model_config = _STRICT

    role: Literal["user"]
    name: str | None = None
    content: str | list[UserPart] | None = None


class AssistantMessage(BaseModel):
    model_config = _STRICT

    role: Literal["assistant"]
    name: str | None = None
    content: str | None = None
    function_call: FunctionCall | None = None

    @model_validator(mode="after")
    def _has_content_or_call(self) -> AssistantMessage:
        if self.content is None and self.function_call is None:
            raise ValueError("neither content nor function_call is given")
        return self


class FunctionMessage(BaseModel):
    model_config = _STRICT

    role: Literal["function"]
    name: str = Field(min_length=1)
    content: str


class _Parameters(BaseModel):
    model_config = _STRICT

    model: str | None = None
    max_tokens: int | None = None
    temperature: int | float | None = None
    top_p: int | float | None = None
    stop: str | list[str] | None = None
    presence_penalty: int | float | None = None
    frequency_penalty: int | float | None = None
    logit_bias: dict[str, int | float] | None = None
    functions: list[str] | None = None
    call_function: str | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that are set."""
        return self.model_dump(exclude_none=True, exclude={"role"})


class DefaultRequestMessage(_Parameters):
    """Parameters for every request after this message; at least one must be set."""

    role: Literal["default-request"]

    @model_validator(mode="after")
    def _has_parameter(self) -> DefaultRequestMessage:
        if not self.parameters:
            raise ValueError("a default-request needs at least one parameter")
        return self


class RequestMessage(_Parameters):
    """A request to the model; its parameters override those of the default-request."""

    role: Literal["request"]


class TruncateMessage(BaseModel):
    """A point in the template from which on earlier messages are no longer sent."""

    model_config = _STRICT

    role: Literal["truncate"]


TemplateMessage = Annotated[
    SystemMessage
    | UserMessage
    | AssistantMessage
    | FunctionMessage
    | DefaultRequestMessage
    | RequestMessage
    | TruncateMessage,
    Field(discriminator="role"),
]
TemplateSet = dict[str, list[TemplateMessage]]
_PART: Final[TypeAdapter[TextTemplate | ImageReference]] = TypeAdapter(UserPart)
_ADAPTER: Final[TypeAdapter[TemplateSet]] = TypeAdapter(TemplateSet)


def load_templates(path: str | Path) -> TemplateSet:
    """Read the templates of a file. Raises InputFault with file, template, message and field."""
    return parse_templates(read_user_file(path, "a file of templates"), str(path))


def parse_templates(data: bytes | str, where: str = "templates") -> TemplateSet:
    """Read the templates in a file's text. Raises InputFault as `load_templates` does."""
    value = read_yaml(user_text(data, where, _MOST_BYTES), where, unique_keys=True)
    if isinstance(value, list):
        value = {"default": value}
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError as error:
        raise _fault(error, where) from error


def check_part(part: Any, number: int) -> None:
    """Raise InputFault for an invalid part in the input's `contentParts`."""
    try:
        _PART.validate_python(part)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(step) for step in first["loc"][1:])  # loc[0] is the kind of the part
        raise InputFault(
            f"part {number} of contentParts is {part!r:.80}: {first['msg']}",
            field=field,
            expected='a part as in a message\'s content, such as {"type": "text", "text": "…"}',
        ) from error


def check_templates(templates: TemplateSet) -> list[Finding]:
    """Return a finding for each call whose arguments are not a JSON object."""
    findings: list[Finding] = []
    for name, messages in templates.items():
        for index, message in enumerate(messages):
            call = message.function_call if isinstance(message, AssistantMessage) else None
            if call is not None and not _is_object(call.arguments):
                where = f"template {name!r}, message {index}"
                findings.append(finding("template-arguments", where))
    return findings


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def dump_templates(templates: TemplateSet) -> str:
    """Return a set as YAML, in the same order; loading the text gives an equal set."""
    import yaml

    plain = {
        name: [
            {"role": message.role, **message.model_dump(exclude_none=True, exclude={"role"})}
            for message in messages
        ]
        for name, messages in templates.items()
    }
    return str(yaml.safe_dump(plain, allow_unicode=True, sort_keys=False))


def _fault(error: ValidationError, where: str) -> InputFault:
    # pydantic reports a fault for each member of a union; the member that was meant has the
    # deepest fault
    first = max(error.errors(), key=lambda each: len(each["loc"]))
    # steps of `loc` that name a member of a union, not a field; steps with a "[" do that, too
    kinds = (*ROLES, "text", "image_url", "str", "int", "float")
    place = [str(step) for step in first["loc"] if step not in kinds and "[" not in str(step)]
    template, *rest = place or [""]
    place_name = f"template {template!r}" + (f", message {rest[0]}" if rest else "")
    expected = {
        "union_tag_invalid": f"one of the roles {', '.join(ROLES)}",
        "union_tag_not_found": f"a role: {', '.join(ROLES)}",
        "extra_forbidden": "only the fields of the role",
        "missing": "a value for this field",
    }.get(first["type"], "a mapping from names to lists of messages" if not rest else "")
    return InputFault(
        f"{place_name}: {first['msg']}", where=where, field=".".join(rest[1:]), expected=expected
    )
