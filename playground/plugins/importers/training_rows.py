"""Read rows of training data that are not lists of messages: xLAM, Glaive and Alpaca."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part
from playground.plugins.importers.shapes.text_calls import embedded_tools, text_parts, text_results
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_TURN: Final = re.compile(r"^[ \t]*(USER|ASSISTANT|FUNCTION RESPONSE|SYSTEM):[ \t]*", re.MULTILINE)


class _Rows(SessionFormat):
    """A format of rows, each of which is a session; `fits` tells its rows, `row` reads one."""

    def recognises(self, source: Source) -> bool:
        first = source.head[0] if source.is_lines and source.head else source.document
        first = first[0] if isinstance(first, list) and first else first
        return isinstance(first, dict) and self.fits(first)

    def fits(self, row: dict[str, Any]) -> bool:
        raise NotImplementedError

    def row(self, builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
        raise NotImplementedError

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for number, (place, value) in enumerate(rows(source), 1):
            builder = SessionBuilder(title=f"{source.stem} {number}")
            if isinstance(value, dict) and self.fits(value):
                self.row(builder, value, place)
            else:
                builder.note_loss(f"a row that does not fit {self.title}", place)
            yield builder


class Xlam(_Rows):
    name = "xlam"
    title = "xLAM function calling rows (query, tools, answers)"
    keeps = Keeps(tools="yes", missing="only these fields and `system` are read")

    def fits(self, row: dict[str, Any]) -> bool:
        return "query" in row and ("answers" in row or "answer" in row) and "tools" in row

    def row(self, builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
        builder.add_tools(value["tools"], place.at("tools"))
        if value.get("system"):
            read_message(builder, {"role": "system", "content": value["system"]}, place)
        if isinstance(value["query"], list):
            for index, message in enumerate(value["query"]):
                read_message(builder, message, place.at("query", index))
        else:
            read_message(builder, {"role": "user", "content": value["query"]}, place.at("query"))
        answers = json_or_text(value.get("answers", value.get("answer")))
        if isinstance(answers, str):
            read_message(builder, {"role": "assistant", "content": answers}, place.at("answers"))
            return
        parts: list[Part] = []
        for index, call in enumerate(answers if isinstance(answers, list) else [answers]):
            where = place.at("answers", index)
            if isinstance(call, dict) and isinstance(call.get("name"), str):
                arguments = call.get("arguments", call.get("parameters"))
                parts.append(builder.call(builder.new_id(), call["name"], arguments, where))
            else:
                builder.note_loss("an answer that is not a call", where)
        add_with_results(builder, "assistant", parts, place.at("answers"))


class Glaive(_Rows):
    name = "glaive"
    title = "Glaive function calling rows (system, chat)"
    keeps = Keeps(tools="in the system prompt", missing="only these two fields are read")
    left_aside = {r"""^\{"name": "[^"]+", "arguments": '$""": "the syntax of a call"}

    def fits(self, row: dict[str, Any]) -> bool:
        chat = row.get("chat", row.get("sample"))
        return isinstance(chat, str) and _TURN.search(chat) is not None

    def row(self, builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
        system = str(value.get("system") or "").removeprefix("SYSTEM:").strip()
        if system:
            read_message(builder, {"role": "system", "content": system}, place.at("system"))
            builder.add_tools(embedded_tools(system), place.at("system"))
        where = place.at("chat" if "chat" in value else "sample")
        text = str(value.get("chat", value.get("sample")))
        turns = list(_TURN.finditer(text))
        if text[: turns[0].start()].strip():
            builder.note_loss("text before the first turn", where)
        for number, turn in enumerate(turns):
            stop = turns[number + 1].start() if number + 1 < len(turns) else len(text)
            content = text[turn.end() : stop].strip().removesuffix("<|endoftext|>").strip()
            self._turn(builder, turn[1], content, where)

    def _turn(self, builder: SessionBuilder, speaker: str, content: str, place: Place) -> None:
        if speaker == "FUNCTION RESPONSE":
            add_with_results(builder, "tool", text_results(builder, content), place)
        elif speaker == "ASSISTANT":
            add_with_results(builder, "assistant", text_parts(builder, content, place), place)
        else:
            read_message(builder, {"role": speaker.lower(), "content": content}, place)
            builder.add_tools(embedded_tools(content) if speaker == "SYSTEM" else [], place)


class Alpaca(_Rows):
    name = "alpaca"
    title = "Alpaca rows (instruction, input, output)"
    keeps = Keeps(missing="an answer that was not chosen is not read")

    def fits(self, row: dict[str, Any]) -> bool:
        return "instruction" in row and bool({"output", "response", "chosen"} & row.keys())

    def row(self, builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
        if value.get("system"):
            read_message(builder, {"role": "system", "content": value["system"]}, place)
        for index, pair in enumerate(value.get("history") or ()):
            for role, content in zip(("user", "assistant"), pair, strict=False):
                read_message(
                    builder, {"role": role, "content": content}, place.at("history", index)
                )
        prompt = "\n".join(str(value[key]) for key in ("instruction", "input") if value.get(key))
        read_message(builder, {"role": "user", "content": prompt}, place.at("instruction"))
        key = next(key for key in ("output", "response", "chosen") if key in value)
        read_message(builder, {"role": "assistant", "content": value[key]}, place.at(key))
        if value.get("rejected"):
            builder.note_loss("the answer that was not chosen", place.at("rejected"))
