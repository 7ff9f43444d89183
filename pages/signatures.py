"""Signatures: fields, the prompt in DSPy's three adapters, and a completion read field by field."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import say, tables, widgets
from playground.base.errors import InputFault
from playground.plugins.systems.dspy import Signature
from playground.plugins.systems.dspy import signature_questions as asked
from playground.plugins.systems.pages import signatures

text = st.text_input(
    "Signature",
    "question, context: list[str] -> answer: int, sure: bool | None",
    key="signature",
    bind="query-params",
    help='Fields and their types around an arrow, such as "question -> answer: int".',
)
left, right = st.columns(2)
with left:
    given = st.text_area("Inputs, a JSON object", signatures.INPUTS, key="signature inputs")
with right:
    examples = st.text_area("Examples, a JSON list", signatures.DEMOS, key="signature demos")
instructions = st.text_input("Instructions, in place of the usual ones", key="signature task")
try:
    signature = Signature.parse(text or "", instructions or "")
    inputs = signatures.inputs_of(given or "{}")
    demos = signatures.demos_of(examples or "[]")
    prompts = asked.messages(signature, asked.json_values(signature, inputs), demos)
except InputFault as fault:
    st.error("This signature cannot be written; everything else is as it was.")
    say.text(str(fault))
    st.stop()
tables.table(asked.field_rows(signature), height="content")
prompt, answer = st.tabs(["Prompt", "Answer"], key="signature view", on_change="rerun")
if prompt.open:
    with prompt:
        for column, (name, messages) in zip(st.columns(3), prompts.items(), strict=True):
            with column:
                widgets.exact_text(asked.ADAPTERS[name].name, signatures.as_text(messages), False)
if answer.open:
    with answer:
        signatures.answer(signature)
