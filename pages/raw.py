"""Raw prompt: the session as one text, by Meta's code or by a model's own chat template."""

from __future__ import annotations

import streamlit as st

from playground.app import raw, state
from playground.app.shared import say, widgets
from playground.base.errors import InputFault

session = state.working_session().session
form = raw.format_choice()
tool_format = raw.tool_format_choice(form) if form else None
arrows = st.toggle("Line breaks as ↵", key="arrows", bind="query-params")
given = None if form else raw.template_upload()
if not form and given is None:
    st.info("Upload a .jinja file or a tokenizer_config.json: it is rendered in a sandbox.")
    st.stop()
if given and raw.audit_chosen():
    raw.show_audit(*given)
    st.stop()
try:
    if given:
        prompt = raw.by_template(session, *given)
    else:
        prompt = raw.by_format(session, form, tool_format)
except InputFault as fault:
    st.error("This template cannot render the session; nothing else has changed.")
    say.text(str(fault))
    st.stop()
widgets.show_findings(prompt.findings, "about the template")
reader = prompt.dialect or "no dialect reads its calls"
say.text(f"Replies are read by: {reader}.")
widgets.exact_text(f"The prompt by {prompt.format}", prompt.text, arrows)
