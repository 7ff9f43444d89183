"""Audit a chat template: find faults in how it renders a conversation.

Every finding comes with the smallest request that has the fault and its rendering, or with two of
each if the fault is a difference between two renderings. The probes are in `audit_probes`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import Any

from playground.base.arguments import takes
from playground.base.confined import Budget
from playground.base.display import Shown
from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.dialects.raw_prompts.asking import (
    ONE,
    USER,
    AskedTemplate,
    RequestForm,
    find_form,
    user,
)
from playground.dialects.raw_prompts.audit_probes import (
    PROBES,
    PROMPT_PROBES,
    PROMPT_WARNING_CODES,
    TemplateFault,
    form_faults,
    needs_tools_fault,
    no_calls_fault,
)
from playground.dialects.raw_prompts.chat_template import ChatTemplate
from playground.dialects.raw_prompts.sources import template_of


@dataclass(frozen=True, slots=True)
class TemplateAudit(Shown):
    """The faults of a template, its form of calls, and the number of renderings.

    `form` is None if the template writes no calls. Shown as a table, the audit has a row per fault.
    """

    source: str
    faults: tuple[TemplateFault, ...]
    form: RequestForm | None
    renderings: int

    @property
    def findings(self) -> list[Finding]:
        return [fault.finding for fault in self.faults]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, each fault with the requests that show it."""
        return {
            "source": self.source,
            "renderings": self.renderings,
            "faults": [
                {
                    "code": fault.finding.code,
                    "severity": fault.finding.severity,
                    "message": fault.finding.message,
                    "shown": [rendering.to_dict() for rendering in fault.shown],
                }
                for fault in self.faults
            ],
        }


@takes(template=(str, PathLike, ChatTemplate))
def audit_template(template: str | PathLike[str] | ChatTemplate) -> TemplateAudit:
    """Find what a chat template loses, refuses, mixes up, or writes in a way that breaks caches.

    `template` is the path of a `.jinja` file, a `tokenizer_config.json` or a GGUF file (with the
    package gguf), the text of a template, or a ChatTemplate. Raises InputFault if it cannot be
    read, or does not even render a user's text.
    """
    source = template_of(template)
    plain = AskedTemplate(source)
    try:
        prober = find_form(source, plain.budget)
    except InputFault:
        if plain.budget.seconds_left <= 0:
            raise
        prober = plain
    without_tools = prober.ask(user(USER), generation=True)
    with_tools = prober.ask(user(USER), calls=ONE, generation=True)
    if not without_tools.has(USER) and not with_tools.has(USER):
        reason = without_tools.refused or "what a user says is not in the prompt"
        raise InputFault(f"cannot be audited: {reason}", where=source.name)
    faults = [no_calls_fault(plain)] if prober is plain else list(form_faults(prober))
    if not without_tools.has(USER):
        faults.append(needs_tools_fault(prober, without_tools, with_tools))
        prober.always_tools = True
    for probe in PROBES:
        faults += probe(prober)
    form = None if prober is plain else prober.form
    return TemplateAudit(source.name, tuple(faults), form, prober.renderings)


def prompt_warnings(template: ChatTemplate, budget: Budget, has_tools: bool) -> list[Finding]:
    """Return the findings to show whenever a prompt is rendered, as far as the budget allows."""
    prober = AskedTemplate(template, budget=budget)
    findings: list[Finding] = []
    with suppress(InputFault):
        for probe in PROMPT_PROBES[0 if has_tools else 1 :]:
            findings += (fault.finding for fault in probe(prober))
    return [finding for finding in findings if finding.code in PROMPT_WARNING_CODES]
