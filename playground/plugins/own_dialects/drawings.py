"""The checks of a dialect's laws and the audit of a template, as tables and as HTML."""

from __future__ import annotations

from typing import Final

from playground.base.display import draws
from playground.base.wording import counted
from playground.plugins.own_dialects.audit import TemplateAudit
from playground.plugins.own_dialects.laws import LawChecks
from playground.questions.carry import CarryMatrix
from playground.show.board import Figure, Payload, board, card
from playground.show.markup import Markup, code, escaped, markup_table
from playground.show.rows import AnswerRows, findings, rows_of

_MOST: Final = 20_000  # characters of an example or a rendering; the rest is cut off


@draws("rows", LawChecks)
def law_rows(value: LawChecks) -> AnswerRows:
    """Return a row for each law, with the number of examples tried and how an example broke the
    law."""
    cells = [(c.law, c.title, c.tried, c.broken.says if c.broken else "holds") for c in value]
    return rows_of("law title examples result", cells)


@draws("picture", LawChecks)
def laws(value: LawChecks) -> Markup:
    """Return each law, with the smallest example that breaks the law."""
    rows = [
        [
            str(check.law),
            escaped(check.title),
            escaped(check.broken.says if check.broken else f"holds for {check.tried:,} examples"),
            code("\n".join(f"{k}: {v}" for k, v in check.broken.shown), _MOST)
            if check.broken
            else "",
        ]
        for check in value
    ]
    line = f"{counted(len(value.broken), 'law')} of {len(value)} broken"
    head = ["law", "says", "result", "smallest example"]
    return Markup("The laws of a dialect", line, markup_table("laws", head, rows))


@draws("rows", TemplateAudit)
def audit_rows(value: TemplateAudit) -> AnswerRows:
    """Return a row for each fault of the template."""
    return findings(value.findings)


@draws("picture", TemplateAudit)
def audit(value: TemplateAudit) -> Markup:
    """Return each fault of the template, with a request that shows it, and the text that the
    template makes of that request."""
    rows = [
        [escaped(fault.finding.code), escaped(fault.finding.message), code(fault.text, _MOST)]
        for fault in value.faults
    ]
    line = f"{counted(len(rows), 'finding')} in {counted(value.renderings, 'rendering')}"
    faults = markup_table("faults", ["what", "how", "shown"], rows)
    return Markup(f"Audit of {value.source}", line, faults)


def declared_head(name: str, checks: LawChecks, values: CarryMatrix) -> Payload:
    """Return two figures about a declaration: how many laws hold, and how many difficult values are
    read back unchanged."""
    held, carried = len(checks) - len(checks.broken), len(values.carried(name))
    figures: list[Figure] = [
        (f"{held} of {len(checks)}", "round-trip checks hold", "bad" if checks.broken else "good"),
        (f"{carried} of {len(values.values)}", "difficult values arrive", ""),
    ]
    note = "Two templates declare it: of a call, and of a parameter. Reading follows from writing."
    return board(f"{name}, a dialect of your own", note, figures)


def laws_board(checks: LawChecks) -> Payload:
    """Return a row for each law, with how an example broke the law."""
    rows = [
        {
            "cells": [each.title, each.broken.says if each.broken else "holds", f"law {each.law}"],
            "tone": "bad" if each.broken else "good",
        }
        for each in checks
    ]
    tried = max((each.tried for each in checks), default=0)
    return board(cards=[card("facts", "Round-trip checks", f"{tried} examples each", rows=rows)])
