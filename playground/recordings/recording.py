"""A recording is one streamed answer: chunks with their times, which add up to the reply."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from playground.base.display import Shown
from playground.base.findings import Finding, finding
from playground.base.wording import counted, short_repr

_STRICT: Final = ConfigDict(extra="forbid")
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Timing = Literal["recorded", "synthetic", "none"]
_OURS: Final = ("cancelled", "cut", "limit", "timeout")  # why `llm/record.py` ended it


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of the reply's text; `at` is seconds since the request."""

    text: str
    at: Seconds = 0.0
    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """A piece of reasoning that the API keeps apart from the text."""

    reasoning: str
    at: Seconds = 0.0
    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BytesChunk:
    """A piece of the reply's text that is cut inside a character, as Base64 of its bytes."""

    base64: str
    at: Seconds = 0.0
    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """A native tool-call delta in OpenAI's form: index, id, function.name, function.arguments.

    `"type": "custom"` marks a call whose arguments are free text (a patch, SQL) instead of JSON,
    `"done": true` a call whose end the API has announced before the stream's end, and
    `"server": true` a call whose tool the provider runs itself.
    """

    tool_call: dict[str, Any]
    at: Seconds = 0.0
    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class SignalChunk:
    """A frame of the wire without text (a ping, a start, usage), under the API's name for it."""

    signal: str
    at: Seconds = 0.0
    __pydantic_config__ = _STRICT


# The beginnings of signals that become findings; the comment says what follows.
UNREADABLE: Final = "unreadable: "  # the text that could not be read
HALF_CHARACTER: Final = "half a character: "  # the field with the half
OF_PROVIDER: Final = "of the provider's tool: "  # a part of the provider's own, as JSON
_NON_TEXT: Final = {  # signals of parts that are not text → the part's name in a finding
    "citations_delta": "citation",
    "citation-start": "citations",
    "citation-generation": "citations",
    "output_text.annotation.added": "annotation",
    "annotations": "annotations",
    "citations": "citations",
    "audio": "audio",
    "refusal": "refusal (it is joined to the text before it)",
    "groundingMetadata": "groundingMetadata",
    "citationMetadata": "citationMetadata",
}
SECOND_RESPONSE: Final = "second response"
DONE: Final = "[DONE]"  # OpenAI's end marker: no frame follows it
_MARKER_ONLY: Final = (
    f"the end marker {DONE} came without a reason before it (finish_reason), so the answer may be "
    "incomplete"
)
_KINDS: Final = ("text", "reasoning", "base64", "tool_call", "signal")


def _chunk_kind(value: Any) -> str | None:
    for kind in _KINDS:
        if kind in value if isinstance(value, dict) else hasattr(value, kind):
            return kind
    return None


Chunk = Annotated[
    Annotated[TextChunk, Tag("text")]
    | Annotated[ReasoningChunk, Tag("reasoning")]
    | Annotated[BytesChunk, Tag("base64")]
    | Annotated[ToolCallChunk, Tag("tool_call")]
    | Annotated[SignalChunk, Tag("signal")],
    Discriminator(
        _chunk_kind,
        custom_error_type="chunk",
        custom_error_message='a chunk needs one of "text", "reasoning", "base64", "tool_call" '
        'or "signal"',
    ),
]


@dataclass(frozen=True, slots=True)
class ReplyCall:
    """One native call as it was streamed; `arguments_text` is never parsed. `by_provider` is true
    if the provider has run the call itself."""

    name: str
    arguments_text: str
    tool_call_id: str = ""
    by_provider: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """The complete reply: what its chunks add up to."""

    content: str
    reasoning: str
    tool_calls: tuple[ReplyCall, ...]


@dataclass(frozen=True, slots=True)
class OtherChoice:
    """A further answer in the same stream: one of `n` choices, or of several prompts."""

    index: int
    chunks: tuple[Chunk, ...]
    stop_reason: str = ""
    __pydantic_config__ = _STRICT


_SECRET_HEADER: Final = re.compile(
    r"(?i)([\w-]*(?:authorization|key|token|secret|cookie)[\w-]*)\s*:"
)


def _without_keys(text: str) -> str:
    """Return a line that is not a frame, such as an HTTP header, without a key that it may hold."""
    from playground.recordings.scrubbing import scrubbed

    header = _SECRET_HEADER.match(text)
    return f"{header[1]}: …" if header else scrubbed(text)


@dataclass(frozen=True, repr=False)
class Recording(Shown):
    """One streamed answer. `timing` says whether its times were measured, made up, or missing.

    `api` is the provider API whose wire was read, "" for text alone. `usage`, `diagnostics` (of the
    provider's cache) and `error` are as the provider sent them. `stop_reason` is the provider's own
    word, and empty if the stream has no end or ends in an error. If a stream holds several answers,
    `chunks` are those of the first, and `other_choices` has the others.
    """

    name: str
    dialect: str
    chunks: tuple[Chunk, ...]
    timing: Timing = "none"
    model: str = ""
    prefill: str = ""
    note: str = ""
    api: str = ""
    stop_reason: str = ""
    usage: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    other_choices: tuple[OtherChoice, ...] = ()
    diagnostics: dict[str, Any] | None = None
    __pydantic_config__ = _STRICT

    def __repr__(self) -> str:
        text = sum(len(chunk.text) for chunk in self.chunks if isinstance(chunk, TextChunk))
        chunks = f"{counted(len(self.chunks), 'chunk')} with {counted(text, 'character')} of text"
        name = f"{self.name!r:.40} in {self.dialect or 'an unknown dialect'}"
        return short_repr(self, name, self.model, chunks, self.broken_off)

    @cached_property
    def findings(self) -> list[Finding]:
        """Findings about the stream, such as an error, a missing end or an unreadable frame."""
        findings = []
        for number, chunk in enumerate(self.chunks, 1):
            name = chunk.signal if isinstance(chunk, SignalChunk) else ""
            if name.startswith(UNREADABLE):
                text = _without_keys(name.removeprefix(UNREADABLE))
                text = text if len(text) <= 60 else f"{text[:57]}…"
                findings.append(finding("unreadable-frame", f"chunk {number}", text))
            elif name.startswith(HALF_CHARACTER):
                place = name.removeprefix(HALF_CHARACTER)
                text = f"{place}, replaced by U+FFFD"
                findings.append(finding("lone-surrogate", f"chunk {number}", text))
            elif name == SECOND_RESPONSE:
                findings.append(finding("two-responses", f"chunk {number}"))
        last = f"chunk {len(self.chunks)}"
        if self.error is not None:
            code = "stopped" if self.was_stopped else "stream-error"
            findings.append(finding(code, last, error_message(self.error)))
        elif self.api and not self.stop_reason:
            findings.append(finding("no-end", last, _MARKER_ONLY if self._has_end_marker else ""))
        if provider_calls := self._provider_summary:
            findings.append(finding("run-by-provider", last, provider_calls))
        if parts := self._non_text_contents:
            findings.append(finding("beside-left-out", last, parts))
        if self.other_choices:
            indexes = ", ".join(str(choice.index) for choice in self.other_choices)
            findings.append(finding("other-choices", last, f"choice {indexes}"))
        return findings

    @property
    def was_stopped(self) -> bool:
        """True if the user, the page or a limit ended it. (Providers' errors have more fields.)"""
        return self.error is not None and len(self.error) < 3 and self.error.get("type") in _OURS

    @property
    def broken_off(self) -> str:
        """The reason why the stream broke off before its end; "" if it is complete."""
        if self.error is not None:
            return error_message(self.error)
        is_open = self.api and not self.stop_reason and not self._has_end_marker
        return "the stream ends without its last frame" if is_open else ""

    @property
    def _non_text_contents(self) -> str:
        """The names of contents that are not in the text, such as audio, with frame counts."""
        signals = (chunk.signal for chunk in self.chunks if type(chunk) is SignalChunk)
        counts = Counter(_NON_TEXT[signal] for signal in signals if signal in _NON_TEXT)
        return ", ".join(f"{name} in {counted(n, 'frame')}" for name, n in counts.items())

    @property
    def _provider_summary(self) -> str:
        """The provider's own calls and results in words; "" without any."""
        names, results = [], 0
        for chunk in self.chunks:
            if type(chunk) is SignalChunk:
                results += chunk.signal.startswith(OF_PROVIDER)
            elif type(chunk) is ToolCallChunk and chunk.tool_call.get("server"):
                names.append(str((chunk.tool_call.get("function") or {}).get("name")))
        if not names and not results:
            return ""
        return f"calls: {', '.join(names) or 'none'}; results with the reply: {results}"

    @property
    def _has_end_marker(self) -> bool:
        return any(isinstance(c, SignalChunk) and c.signal == DONE for c in self.chunks)

    @cached_property
    def reply(self) -> Reply:
        """The joined text, reasoning and calls of all chunks, without other choices."""
        return add_up(self.chunks)

    @cached_property
    def replies(self) -> tuple[Reply, ...]:
        """The replies of all choices, in order."""
        return (self.reply, *(add_up(choice.chunks) for choice in self.other_choices))


def error_message(error: Any) -> str:
    """Return the message of an error object, from whichever field the provider put it in."""
    if isinstance(error, dict):
        for key in ("message", "error", "detail"):
            if error.get(key):
                return error_message(error[key])
        return json.dumps(error, ensure_ascii=False)
    return str(error)


def add_up(chunks: Iterable[Chunk]) -> Reply:
    """Join text, reasoning and each call; characters that were cut in two become whole."""
    text = bytearray()  # a list would hold an object for each chunk
    reasoning: list[str] = []
    calls: dict[int, tuple[list[str], list[str], list[str]]] = {}
    by_provider: set[int] = set()
    for chunk in chunks:
        match chunk:
            case TextChunk(text=piece):
                text += piece.encode("utf-8", "surrogatepass")
            case BytesChunk(base64=piece):
                text += base64.b64decode(piece)
            case ReasoningChunk(reasoning=piece):
                reasoning.append(piece)
            case ToolCallChunk(tool_call=delta):
                index = delta.get("index") or 0
                names, pieces, ids = calls.setdefault(index, ([], [], []))
                if delta.get("server"):
                    by_provider.add(index)
                function = delta.get("function") or {}
                if (name := function.get("name")) and name != "".join(names):
                    names.append(name)
                pieces.append(function.get("arguments") or "")
                ids.append(delta.get("id") or "")
    return Reply(
        text.decode("utf-8", "replace"),
        "".join(reasoning),
        tuple(
            ReplyCall(
                "".join(names), "".join(pieces), next(filter(None, ids), ""), index in by_provider
            )
            for index, (names, pieces, ids) in sorted(calls.items())
        ),
    )


def provider_parts(chunks: Iterable[Chunk]) -> list[dict[str, Any]]:
    """Return the provider's own parts of a reply, such as its tools' results, in the API's form."""
    signals = (chunk.signal for chunk in chunks if isinstance(chunk, SignalChunk))
    texts = [s.removeprefix(OF_PROVIDER) for s in signals if s.startswith(OF_PROVIDER)]
    return [part for part in map(json.loads, texts) if isinstance(part, dict)]
