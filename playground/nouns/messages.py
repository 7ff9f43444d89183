"""Messages and their parts: frozen values that know nothing of any dialect."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import field, replace
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import ConfigDict, Discriminator, Tag
from pydantic.dataclasses import dataclass

from playground.base.arguments import plain_faults

_STRICT = ConfigDict(extra="forbid")
PICTURE_KINDS: Final = ("image", "image_url", "input_image")  # types of content blocks
_PAYLOADS: Final = frozenset(("source", "image_url", "data", "file_id"))  # fields of images

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, config=_STRICT)
class TextPart:
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, config=_STRICT)
class ReasoningPart:
    """The model's thought before its answer. `signature`, if any, proves it to the provider."""

    text: str
    signature: str | None = None
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, config=_STRICT)
class ImagePart:
    """An image by its address, which is never fetched; `url` may be a `data:` URL."""

    url: str
    detail: str | None = None
    type: Literal["image"] = "image"


@dataclass(frozen=True, config=_STRICT)
class ToolCallPart:
    """A call of a tool; `args` maps the names of arguments to JSON values."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any] = field(default_factory=dict)
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, config=_STRICT)
class ToolResultPart:
    """A tool's result; a `result` that is not a string is shown to the model as JSON."""

    tool_call_id: str
    tool_name: str
    result: Any = ""
    is_error: bool = False
    type: Literal["tool_result"] = "tool_result"

    @property
    def images(self) -> int:
        """The number of images in a result that is a list of content blocks."""
        blocks = self.result if isinstance(self.result, list) else ()
        dicts = [block for block in blocks if isinstance(block, dict)]
        images = [
            b.get("image", b) for b in dicts if "image" in b or b.get("type") in PICTURE_KINDS
        ]
        return sum(isinstance(one, dict) and not _PAYLOADS.isdisjoint(one) for one in images)


Value = TypeVar("Value")


_new: Final = object.__new__
_set: Final = object.__setattr__


def unchecked(kind: type[Value], fields: dict[str, Any]) -> Value:
    """Build a message or a part from all its fields, without pydantic's validation: readers of
    large files have already checked the fields."""
    value = _new(kind)
    _set(value, "__dict__", fields)
    return value


def _part_type(value: Any) -> Any:
    return value.get("type") if isinstance(value, dict) else getattr(value, "type", None)


Part = Annotated[
    Annotated[TextPart, Tag("text")]
    | Annotated[ReasoningPart, Tag("reasoning")]
    | Annotated[ImagePart, Tag("image")]
    | Annotated[ToolCallPart, Tag("tool_call")]
    | Annotated[ToolResultPart, Tag("tool_result")],
    Discriminator(_part_type),
]


@plain_faults(
    'Message("user", [{"type": "text", "text": …}]), or for pg.session {"role": …, "content": …}'
)
@dataclass(frozen=True, config=_STRICT)
class Message:
    """One turn: a role and its parts, in their order."""

    role: Role
    parts: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Message:
        """Return a copy with other `role` or `parts`, as pydantic's method of this name does.

        With `deep`, calls and results hold their own copies of arguments and values.
        """
        return replace(deepcopy(self) if deep else self, **(update or {}))

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        return [part for part in self.parts if isinstance(part, ToolCallPart)]

    @property
    def tool_results(self) -> list[ToolResultPart]:
        return [part for part in self.parts if isinstance(part, ToolResultPart)]
