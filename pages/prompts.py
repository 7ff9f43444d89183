"""Prompts: a text or messages with variables, in every form that is sent, and tools beside it."""

from __future__ import annotations

import streamlit as st

from playground.app import state
from playground.app.shared import say, tables
from playground.base.errors import InputFault
from playground.plugins.systems import drawings as template_frames
from playground.plugins.systems.flink_agents.views import read_prompt, view_prompt, view_tool
from playground.plugins.systems.pages import prompts

working = state.working_session()
left, right = st.columns(2)
with left:
    template = st.text_area(
        "Prompt: a text, or a JSON list of messages",
        "You answer for the harbour of {port}. {question}",
        key="prompt template",
        height=170,
    )
with right:
    given = st.text_area("Values", '{"port": "Brest"}', key="prompt values", height=170)
values = prompts.read_values(given or "")
if values is None:
    st.error("The values are not a JSON object.")
    st.stop()
try:
    view = view_prompt(read_prompt(template or ""), values)
except InputFault as error:
    st.error("This prompt cannot be filled; nothing else has changed.")
    say.text(str(error))
    st.stop()
tables.table(template_frames.prompt_variables(view, values), height="content")
for index in view.lost_calls:
    say.warning(f"Message {index}: its tool calls do not reach Anthropic.")
prompts.show_forms(view)
if working.session.tools:
    title = "The session's tools, as Flink-Agents would send them"
    with say.expander(title, key="tool views", on_change="rerun") as tools:
        if tools.open:
            prompts.tool_views([view_tool(tool) for tool in working.session.tools])
