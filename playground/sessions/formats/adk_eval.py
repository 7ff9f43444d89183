"""Evaluation sets of Google's ADK: conversations that an agent had, or is to have (`.evalset.json`,
`.test.json`), in the form since 1.0 and the one before.

Source: ADK's eval_case.py and its samples' evaluation data (2025).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.nouns.messages import Part
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_in, list_or_finding, mapping
from playground.sessions.shapes.parts import read_parts
from playground.sessions.source import Source


class AdkEval(SessionFormat):
    name = "adk-eval"
    title = "Evaluation set of Google's ADK"
    keeps = Keeps(times="yes", missing="state of the session; tools are not in it")

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        if isinstance(value, dict):
            cases = value.get("eval_cases")
            return isinstance(cases, list) and any(
                "conversation" in mapping(case) for case in cases
            )
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
                name = case.get("name") if isinstance(case, dict) else None
                found, place = _turns(case) or [], Place(field=str(index))
                builder = _expected(found, str(name or source.stem), place.at("data"))
                if not found:
                    builder.note_loss(f"a case without turns: {str(case)[:60]}", place)
                yield builder


def _turns(value: Any) -> list[Any] | None:
    """Return the turns of the older form: a list of them, or a case that holds it."""
    found = value.get("data") if isinstance(value, dict) else value
    if not isinstance(found, list):
        return None
    is_turn = (isinstance(t, dict) and {"query", "reference"} <= t.keys() for t in found)
    return found if any(is_turn) else None


def _case(case: Any, title: str, place: Place) -> SessionBuilder:
    case = mapping(case)
    builder = SessionBuilder(title=str(case.get("eval_id") or title))
    given = case.get("session_input")
    app = given.get("app_name") if isinstance(given, dict) else ""
    builder.set_metadata(name=app or "google-adk")
    turns = case.get("conversation")
    if not isinstance(turns, list):
        builder.note_loss("a case without a conversation", place)
    for index, turn in enumerate(turns if isinstance(turns, list) else ()):
        _turn(builder, turn, place.at("conversation", index))
    return builder


def _turn(builder: SessionBuilder, turn: Any, place: Place) -> None:
    """Read the user's words, the calls on the way to the answer, and the answer."""
    if not isinstance(turn, dict):
        builder.note_loss(f"a turn that is a {type(turn).__name__}", place)
        return
    if asked := _content(builder, turn.get("user_content"), place.at("user_content")):
        builder.add_message("user", asked, place)
    between = turn.get("intermediate_data")
    between = between if isinstance(between, dict) else {}
    before: list[Part] = []
    for index, said in enumerate(_list(between.get("intermediate_responses"))):
        parts = said[1] if isinstance(said, list) and len(said) == 2 else said
        where = place.at("intermediate_data", "intermediate_responses", index)
        before += _content(builder, parts, where)
    _calls(builder, before, between, place.at("intermediate_data"))
    if answer := _content(builder, turn.get("final_response"), place.at("final_response")):
        builder.add_message("assistant", answer, place)
        builder.add_request(at=turn.get("creation_timestamp"))


def _calls(
    builder: SessionBuilder, before: list[Part], between: dict[str, Any], place: Place
) -> None:
    calls = list(before)
    for index, use in enumerate(_list(between.get("tool_uses"))):
        calls += read_parts(builder, {"functionCall": use}, place.at("tool_uses", index))
    if calls:
        builder.add_message("assistant", calls, place.at("tool_uses"))
    for index, response in enumerate(_list(between.get("tool_responses"))):
        where = place.at("tool_responses", index)
        if parts := read_parts(builder, {"functionResponse": response}, where):
            builder.add_message("tool", parts, where)


def _content(builder: SessionBuilder, value: Any, place: Place) -> list[Part]:
    """Return the parts of a content; what is null in them is not there."""
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
    return {key: held for key, held in item.items() if held is not None}


def _expected(turns: list[Any], title: str, place: Place) -> SessionBuilder:
    """Return the older form: each turn's question, the calls that are expected, and the answer."""
    builder = SessionBuilder(title=title)
    builder.set_metadata(name="google-adk")
    for index, turn in enumerate(turns):
        where = place.at(index)
        if not isinstance(turn, dict):
            builder.note_loss(f"a turn that is a {type(turn).__name__}", where)
            continue
        if asked := read_parts(builder, turn.get("query"), where.at("query")):
            builder.add_message("user", asked, where.at("query"))
        said = [
            part
            for number, each in enumerate(_list(turn.get("expected_intermediate_agent_responses")))
            for part in read_parts(
                builder, each.get("text") if isinstance(each, dict) else each, where.at(number)
            )
        ]
        for number, use in enumerate(_list(turn.get("expected_tool_use"))):
            use = use if isinstance(use, dict) else {"tool_name": use}
            name, arguments = use.get("tool_name"), use.get("tool_input")
            at = where.at("expected_tool_use", number)
            said.append(builder.call(builder.new_id(), name, arguments, at))
        if said:
            builder.add_message("assistant", said, where)
        if answer := read_parts(builder, turn.get("reference"), where.at("reference")):
            builder.add_message("assistant", answer, where.at("reference"))
    return builder


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
