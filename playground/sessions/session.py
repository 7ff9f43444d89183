"""A session: tools, messages, configuration and recordings of one conversation, as values."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import field
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag
from pydantic.dataclasses import dataclass

from playground.errors import UnknownNameError
from playground.messages import Message
from playground.prompt_data import DynamicTaskConfig, PromptData, TaskConfig
from playground.tools import ToolMetadata

FORMAT: Final = "playground-session/1"
_STRICT = ConfigDict(extra="forbid")
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, config=_STRICT)
class TextChunk:
    """A piece of the reply's text; `at` is seconds since the request."""

    text: str
    at: Seconds = 0.0


@dataclass(frozen=True, config=_STRICT)
class BytesChunk:
    """A piece cut inside a character: Base64 of its bytes."""

    base64: str
    at: Seconds = 0.0


@dataclass(frozen=True, config=_STRICT)
class ToolCallChunk:
    """A native tool-call delta in OpenAI's form: index, id, function.name, function.arguments."""

    tool_call: dict[str, Any]
    at: Seconds = 0.0


def _chunk_kind(value: Any) -> str | None:
    for kind in ("text", "base64", "tool_call"):
        if kind in value if isinstance(value, dict) else hasattr(value, kind):
            return kind
    return None


Chunk = Annotated[
    Annotated[TextChunk, Tag("text")]
    | Annotated[BytesChunk, Tag("base64")]
    | Annotated[ToolCallChunk, Tag("tool_call")],
    Discriminator(
        _chunk_kind,
        custom_error_type="chunk",
        custom_error_message='a chunk needs one of "text", "base64" or "tool_call"',
    ),
]


@dataclass(frozen=True, config=_STRICT)
class Recording:
    """One streamed answer. `timing` says whether its times were measured, made up, or missing."""

    name: str
    dialect: str
    chunks: tuple[Chunk, ...]
    timing: Literal["recorded", "synthetic", "none"] = "none"
    model: str = ""
    prefill: str = ""
    note: str = ""

    def pieces(self) -> Iterator[bytes | dict[str, Any]]:
        """What a parser is fed, chunk by chunk: bytes of text, or a native delta."""
        for chunk in self.chunks:
            match chunk:
                case TextChunk(text=text):
                    yield text.encode("utf-8", "surrogatepass")
                case BytesChunk(base64=text):
                    yield base64.b64decode(text)
                case ToolCallChunk(tool_call=delta):
                    yield delta


@dataclass(frozen=True, config=_STRICT)
class Session:
    """One file: all that the playground asks about. `scripted` says that a person wrote it."""

    format: Literal["playground-session/1"] = FORMAT
    title: str = ""
    purpose: str = ""
    scripted: bool = False
    task: TaskConfig = field(default_factory=TaskConfig)
    dynamic: DynamicTaskConfig = field(default_factory=DynamicTaskConfig)
    tools: tuple[ToolMetadata, ...] = ()
    messages: tuple[Message, ...] = ()
    recordings: tuple[Recording, ...] = ()

    def prompt_data(self) -> PromptData:
        """What a dialect needs of the session; a fresh value at every call."""
        return PromptData(
            messages=list(self.messages),
            tool_metadata=list(self.tools),
            task_config=self.task,
            dynamic_task_config=self.dynamic,
        )

    def recording(self, name: str) -> Recording:
        """A recording by name. Raises UnknownNameError, listing those that there are."""
        for recording in self.recordings:
            if recording.name == name:
                return recording
        raise UnknownNameError("recording", name, [r.name for r in self.recordings])
