"""The view Signatures of the page Other formats: prompts, and a pasted completion's fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.shared import say, tables, widgets
from playground.base.errors import InputFault
from playground.base.json_numbers import refused_words
from playground.plugins.systems.dspy import Signature
from playground.plugins.systems.dspy import signature_questions as questions
from playground.plugins.systems.dspy.signature_source import read_signature
from playground.plugins.systems.dspy.values import as_json

INPUTS: Final = '{"question": "How many masts?", "context": ["A ketch."]}'
DEMOS: Final = "[]"
_CLASS_EXAMPLE: Final = """class Count(dspy.Signature):
    \"\"\"Count the masts.\"\"\"

    question: str = dspy.InputField()
    answer: int = dspy.OutputField(desc="how many", ge=0)"""
_COMPLETION_EXAMPLE: Final = "[[ ## answer ## ]]\n2\n\n[[ ## completed ## ]]"


def show(row: Any) -> None:
    """Show a signature's fields, its prompt in three adapters, and a completion's fields."""
    with row:
        text = st.text_input(
            "Signature",
            "question, context: list[str] -> answer: int, sure: bool | None",
            key="signature",
            bind="query-params",
            width=620,
            disabled=bool(state.get("signature class")),
            help='Fields and their types around an arrow, such as "question -> answer: int".',
        )
    left, right = st.columns(2)
    with left:
        inputs_text = st.text_area("Inputs, a JSON object", INPUTS, key="signature inputs")
    with right:
        examples = st.text_area("Examples, a JSON list", DEMOS, key="signature demos")
    is_set = bool(state.get("signature class") or state.get("signature task"))
    with st.expander("Instructions, or a class in place of the line", expanded=is_set):
        instructions = st.text_input("In place of the usual instructions", key="signature task")
        source = st.text_area(
            "A class in place of the line, with descriptions and bounds",
            key="signature class",
            placeholder=_CLASS_EXAMPLE,
            help="The source is read, and never run.",
        )
    try:
        signature = read_signature(source or text or "", instructions or "")
        inputs = inputs_of(inputs_text or "{}")
        demos = demos_of(examples or "[]")
        prompts = questions.messages(signature, questions.json_values(signature, inputs), demos)
    except InputFault as fault:
        st.error("This signature cannot be written; everything else is as it was.")
        say.text(str(fault))
        st.stop()
    views = ["Prompt", "Answer", "Fields"]
    prompt, completed, fields = st.tabs(views, key="signature view", on_change="rerun")
    if prompt.open:
        with prompt:
            for column, (name, messages) in zip(st.columns(3), prompts.items(), strict=True):
                with column:
                    widgets.exact_text(questions.ADAPTERS[name].name, as_text(messages), False)
    if completed.open:
        with completed:
            answer(signature)
    if fields.open:
        with fields:
            tables.table(questions.field_rows(signature), height="content")


def inputs_of(text: str) -> dict[str, Any]:
    """Read the inputs' values by name. Raises InputFault if the text is not a JSON object."""
    inputs = _json(text, "The inputs")
    if not isinstance(inputs, dict):
        raise InputFault(
            "The inputs are not an object", expected="a JSON object of values by field"
        )
    return inputs


def demos_of(text: str) -> list[dict[str, Any]]:
    """Read the examples. Raises InputFault if the text is not a JSON list of objects."""
    demos = _json(text, "The examples")
    if not isinstance(demos, list) or not all(isinstance(demo, dict) for demo in demos):
        raise InputFault("The examples are not a list", expected="a JSON list of objects")
    return demos


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"{what} cannot be read as JSON ({refused_words(error)})"
        raise InputFault(problem, expected="JSON") from error


def as_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return messages as one text, with content parts as JSON."""
    return "\n".join(f"=== {message['role']}\n{_content(message)}" for message in messages)


def _content(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return json.dumps(content, indent=1, ensure_ascii=False)


def answer(signature: Signature) -> None:
    """Show the fields that an adapter reads from a pasted completion; for `chat`, also streamed."""
    name = st.segmented_control(
        "Read by", list(questions.ADAPTERS), default="chat", required=True, key="signature adapter"
    )
    completion = st.text_area("Completion", _COMPLETION_EXAMPLE, key="signature answer", height=170)
    try:
        fields = questions.fields(signature, completion or "", str(name))
    except InputFault as fault:
        st.error("No fields are read from this completion.")
        say.text(str(fault))
        return
    rows = [
        {
            "field": field.name,
            "value": "" if field.fault else json.dumps(as_json(field.value), ensure_ascii=False),
            "fault": field.fault,
        }
        for field in fields
    ]
    tables.table(rows, height="content")
    if name == "chat":
        st.caption("As it would arrive, sixteen characters at a time")
        deltas = questions.streamed(completion or "")
        arrived = [{"field": field or "(before)", "new": new} for field, new in deltas]
        tables.table(arrived)
