"""The view Audit of a raw prompt's chat template: each fault of it, the worst first."""

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
        audit = audited(name, text)
    except InputFault as fault:
        st.error("This template cannot be audited. Nothing was changed.")
        say.text(str(fault))
        return
    say.text(f"{counted(len(audit.faults), 'finding')} in {audit.renderings} renderings.")
    worst_first = ("error", "warning", "info")
    faults = sorted(audit.faults, key=lambda each: worst_first.index(each.finding.severity))
    for number, entry in enumerate(faults):
        code, severity = entry.finding.code, entry.finding.severity
        with say.expander(f"{severity}: {CODES[code].meaning}"):
            say.text(f"{code}: {entry.finding.message}")
            label = "The request, and its result"
            widgets.exact_text(label, entry.text, show_breaks=False, of=f"fault {number}")


@memoized(16)
def audited(name: str, text: str) -> TemplateAudit:
    """Return the audit of a template. Raises InputFault, which names the file."""
    return audit_template(ChatTemplate.loads(text, name))
