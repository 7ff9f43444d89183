"""Read evaluation sets of Google's ADK (`.evalset.json`, `.test.json`), also from before 1.0.

The sets hold an agent's recorded or expected conversations. Source: ADK's eval_case.py and its
samples' evaluation data (2025).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.nouns.messages import Part
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_in, list_or_finding, listed, mapping
from playground.sessions.shapes.parts import read_parts
from playground.sessions.source import Source


class AdkEval(SessionFormat):
    name = "adk-eval"
    title = "Evaluation set of Google's ADK"
    keeps = Keeps(
        times="yes", missing="the file has no tools; the state of the session is not read"
    )

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        if isinstance(value, dict):
            cases = value.get("eval_cases")
            return any("conversation" in mapping(case) for case in listed(cases))
        return isinstance(value, list) and any(_turns(case) is not None for case in (value, *value))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = source.value
        if isinstance(value, dict):
            for index, case in enumerate(list_in(source, "eval_cases")):
                yield _case(case, source.stem, Place(field=f"eval_cases.{index}"))
        elif _turns(value) is not None:
            yield _expected(value, source.stem, Place())
        else:
            for index, case in enumerate(list_in(source)):
                name = mapping(case).get("name")
                turns, place = _turns(case) or [], Place(field=str(index))
                builder = _expected(turns, str(name or source.stem), place.at("data"))
                if not turns:
                    builder.note_loss(f"a case without turns: {str(case)[:60]}", place)
                yield builder


def _turns(value: Any) -> list[Any] | None:
    """Return the turns of a file from before 1.0 (a list, alone or in `data`), or else None."""
    turns = value.get("data") if isinstance(value, dict) else value
    if not isinstance(turns, list):
        return None
    return turns if any({"query", "reference"} <= mapping(turn).keys() for turn in turns) else None


def _case(case: Any, title: str, place: Place) -> SessionBuilder:
    case = mapping(case)
    builder = SessionBuilder(title=str(case.get("eval_id") or title))
    app = mapping(case.get("session_input")).get("app_name")
    builder.set_metadata(name=app or "google-adk")
    turns = case.get("conversation")
    if not isinstance(turns, list):
        builder.note_loss("a case without a conversation", place)
    for index, turn in enumerate(listed(turns)):
        _turn(builder, turn, place.at("conversation", index))
    return builder


def _turn(builder: SessionBuilder, turn: Any, place: Place) -> None:
    """Read a turn: the user's message, the calls with their results, and the answer."""
    if not isinstance(turn, dict):
        builder.note_loss(f"a turn that is a {type(turn).__name__}", place)
        return
    if prompt := _content(builder, turn.get("user_content"), place.at("user_content")):
        builder.add_message("user", prompt, place)
    steps = mapping(turn.get("intermediate_data"))
    texts: list[Part] = []
    for index, response in enumerate(listed(steps.get("intermediate_responses"))):
        is_pair = isinstance(response, list) and len(response) == 2  # of an author and parts
        parts = response[1] if is_pair else response
        where = place.at("intermediate_data", "intermediate_responses", index)
        texts += _content(builder, parts, where)
    _calls(builder, texts, steps, place.at("intermediate_data"))
    if answer := _content(builder, turn.get("final_response"), place.at("final_response")):
        builder.add_message("assistant", answer, place)
        builder.add_request(at=turn.get("creation_timestamp"))


def _calls(builder: SessionBuilder, texts: list[Part], steps: dict[str, Any], place: Place) -> None:
    calls = list(texts)
    for index, use in enumerate(listed(steps.get("tool_uses"))):
        calls += read_parts(builder, {"functionCall": use}, place.at("tool_uses", index))
    if calls:
        builder.add_message("assistant", calls, place.at("tool_uses"))
    for index, response in enumerate(listed(steps.get("tool_responses"))):
        where = place.at("tool_responses", index)
        if parts := read_parts(builder, {"functionResponse": response}, where):
            builder.add_message("tool", parts, where)


def _content(builder: SessionBuilder, value: Any, place: Place) -> list[Part]:
    """Return the parts of a Gemini content. Null fields, as ADK dumps them, are ignored."""
    if isinstance(value, dict) and value and "parts" not in value:
        builder.note_loss("a content without parts", place)
    parts = value.get("parts") if isinstance(value, dict) else value
    if parts is None or isinstance(parts, str):
        return read_parts(builder, parts, place)
    return [
        part
        for index, item in enumerate(list_or_finding(builder, parts, place))
        for part in read_parts(builder, _without_nulls(item), place.at(index))
    ]


def _without_nulls(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return {key: field for key, field in item.items() if field is not None}


def _expected(turns: list[Any], title: str, place: Place) -> SessionBuilder:
    """Read turns as they were before 1.0: a question, the calls that are expected, the answer."""
    builder = SessionBuilder(title=title)
    builder.set_metadata(name="google-adk")
    for index, turn in enumerate(turns):
        where = place.at(index)
        if not isinstance(turn, dict):
            builder.note_loss(f"a turn that is a {type(turn).__name__}", where)
            continue
        if prompt := read_parts(builder, turn.get("query"), where.at("query")):
            builder.add_message("user", prompt, where.at("query"))
        responses = listed(turn.get("expected_intermediate_agent_responses"))
        parts = [
            part
            for number, each in enumerate(responses)
            for part in read_parts(
                builder, each.get("text") if isinstance(each, dict) else each, where.at(number)
            )
        ]
        for number, use in enumerate(listed(turn.get("expected_tool_use"))):
            use = use if isinstance(use, dict) else {"tool_name": use}
            name, arguments = use.get("tool_name"), use.get("tool_input")
            at = where.at("expected_tool_use", number)
            parts.append(builder.call(builder.new_id(), name, arguments, at))
        if parts:
            builder.add_message("assistant", parts, where)
        if answer := read_parts(builder, turn.get("reference"), where.at("reference")):
            builder.add_message("assistant", answer, where.at("reference"))
    return builder
