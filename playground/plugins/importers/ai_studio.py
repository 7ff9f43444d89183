"""Read prompts that Google AI Studio stores in Google Drive; a chunk is a message or a part of one.

Source: files of Drive's folder "Google AI Studio" in public repositories (2025 and 2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import dict_or_finding, list_or_finding, mapping
from playground.sessions.shapes.messages import role_of
from playground.sessions.shapes.parameters import parameters_of_body
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_PART_FIELDS: Final = (  # fields of a chunk that are parts of Gemini's API
    "executableCode", "codeExecutionResult", "functionCall", "functionResponse", "inlineData",
    "fileData",
)  # fmt: skip
_LOST_FIELDS: Final = (  # files in Drive or elsewhere, and AI Studio's own errors
    "inlineImage", "inlineFile", "driveDocument", "driveImage", "driveVideo", "driveAudio",
    "youtubeVideo", "errorMessage",
)  # fmt: skip


class AiStudio(SessionFormat):
    name = "ai-studio"
    title = "Prompt of Google AI Studio"
    keeps = Keeps(missing="the file has no tools; files in Google Drive are not read")

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        chunks = mapping(mapping(value).get("chunkedPrompt")).get("chunks")
        return isinstance(chunks, list) and bool(chunks)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = mapping(source.value)
        settings = mapping(value.get("runSettings"))
        model = str(settings.get("model") or "").removeprefix("models/")
        builder = SessionBuilder(title=str(value.get("displayName") or source.stem), model=model)
        system = mapping(value.get("systemInstruction"))
        place = Place(field="systemInstruction")
        if parts := read_parts(builder, system.get("parts") or system.get("text"), place):
            builder.add_message("system", parts, place)
        builder.set_parameters(
            parameters_of_body({"generationConfig": _parameters(settings)}), Place()
        )
        place = Place(field="chunkedPrompt.chunks")
        chunks = dict_or_finding(builder, value.get("chunkedPrompt"), place).get("chunks")
        for index, chunk in enumerate(list_or_finding(builder, chunks, place)):
            _chunk(builder, chunk, place.at(index))
        yield builder


def _parameters(settings: dict[str, Any]) -> dict[str, Any]:
    names = ("temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "responseMimeType")
    return {key: settings[key] for key in names if key in settings}


def _chunk(builder: SessionBuilder, chunk: Any, place: Place) -> None:
    """Read a chunk. Consecutive chunks of the model become one message."""
    role = role_of(chunk) if isinstance(chunk, dict) else None
    if role is None:
        builder.note_loss(f"a chunk without a role: {str(chunk)[:60]}", place)
        return
    if chunk.get("isThought") and isinstance(chunk.get("text"), str):
        parts: list[Part] = [ReasoningPart(chunk["text"])]
    else:
        parts = read_parts(builder, chunk.get("parts") or chunk.get("text"), place)
    for key in _PART_FIELDS:
        if chunk.get(key):
            parts += read_parts(builder, {key: chunk[key]}, place.at(key))
    for key in _LOST_FIELDS:
        if chunk.get(key):
            builder.note_loss(f"a chunk's {key}: {str(chunk[key])[:60]}", place.at(key))
    if role == "assistant" and not any(part.type == "tool_result" for part in parts):
        builder.add_to_answer(parts, place)
    else:
        add_with_results(builder, role, parts, place)
