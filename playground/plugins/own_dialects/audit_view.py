"""The view Audit of a raw prompt: each fault, the worst first."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import say, widgets
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.base.findings import CODES
from playground.base.wording import counted
from playground.dialects.raw_prompts import ChatTemplate
from playground.plugins.own_dialects.audit import TemplateAudit, audit_template


def show(name: str, text: str) -> None:
    """Show the template's faults, each with the request that reveals it."""
    try:
        found = audited(name, text)
    except InputFault as refused:
        st.error("This template cannot be audited. Nothing was changed.")
        say.text(str(refused))
        return
    say.text(f"{counted(len(found.faults), 'finding')} in {found.renderings} renderings.")
    worst_first = ("error", "warning", "info")
    faults = sorted(found.faults, key=lambda each: worst_first.index(each.finding.severity))
    for number, fault in enumerate(faults):
        code, severity = fault.finding.code, fault.finding.severity
        with say.expander(f"{severity}: {CODES[code].meaning}"):
            say.text(f"{code}: {fault.finding.message}")
            label = "The request, and its result"
            widgets.exact_text(label, fault.text, show_breaks=False, of=f"fault {number}")


@memoized(16)
def audited(name: str, text: str) -> TemplateAudit:
    """Return the audit of a template. Raises InputFault, which names the file."""
    return audit_template(ChatTemplate.loads(text, name))
