"""A derived dialect and its report: the probe that showed each field, and the proof's results."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from playground.base.findings import Finding, finding
from playground.dialects.declared import DeclaredDialect
from playground.parsing.syntax import Syntax
from playground.plugins.own_dialects.asking import RequestForm
from playground.plugins.own_dialects.derivation.nearest import (
    COMPARED_FIELDS,
    Nearest,
    nearest_dialects,
)
from playground.plugins.own_dialects.derivation.proof import LEAST_CALLS, ProbeResult, Proof


@dataclass(frozen=True)
class Derivation:
    """The report on how a dialect was derived from a template.

    `form` is the form in which the template takes calls. `tried` is the number of declarations that
    were tried; a perfect one ends the search. `alike` is the number of other declarations that
    score as well as the chosen one. `renderings` is the number of times that the template ran.
    `broken` names the laws that random calls break, `unread` the kinds of answers that are not read
    back unchanged, `results` the kinds of tool results that the dialect and the template write
    differently. `result_turn` is the template's turn of a result; it is "" if results are part of a
    user's turn.
    """

    source: str
    form: RequestForm
    renderings: int
    tried: int
    alike: int
    proof: Proof
    broken: tuple[str, ...]
    unread: tuple[str, ...]
    results: tuple[str, ...]
    result_turn: str

    def findings(self, dialect: DeclaredDialect) -> list[Finding]:
        """Return findings on what the proof could not show, and on the template's needs."""
        findings: list[Finding] = []
        for code, failed in (
            ("derived-unread", [t for t in self.proof.trials if not t.read]),
            ("derived-bytes", [t for t in self.proof.trials if not t.written]),
        ):
            if failed:
                findings.append(
                    finding(code, self.source, _probe_names(failed, len(self.proof.trials)))
                )
        if any(trial.sorted for trial in self.proof.trials):
            findings.append(finding("template-sorts-keys", self.source))
        if self.form.mutable:
            findings.append(finding("template-mutates", self.source))
        if not dialect.syntax.openers:
            findings.append(finding("derived-unmarked", self.source))
        findings += [finding("derived-law", self.source, law) for law in self.broken]
        findings += [finding("derived-answer", self.source, answer) for answer in self.unread]
        if self.results:
            findings.append(finding("derived-result", self.source, ", ".join(self.results)))
        return findings

    def origins(self, dialect: DeclaredDialect) -> list[tuple[str, str, str]]:
        """Return each derived field: its name, its value, and the probe that showed it."""
        probes = {
            "call": "a single call; where it begins and ends: two calls",
            "param": "one argument compared with two; a number, for {type}",
            "section": "the text around two calls but not between them",
            "separator": "the text between two calls",
            "shape": "the paths to name, arguments and id within the object",
            "json": "an object within an argument",
            "literals": "true, false, null and a list as arguments",
            "type_words": "an argument of each type",
            "param_separator": "a call without arguments",
            "element": "an object as an argument",
            "cdata_for": "a text with each character that may need CDATA",
            "string_mark": "the marks around a text in the object",
            "known_names": "a single call with nothing but punctuation before its name",
            "result": "a tool's turn compared with a user's turn of the same words",
            "reasoning": "a message with a thought",
            "opens_reasoning": "the generation prompt",
            "dropped": "a tool's turn",
            "answer": "a message of text, with a thought and without",
            "stops": "the end of a turn of text, the tokenizer's end of sequence",
        }
        lines = [line.partition(": ") for line in declaration(dialect)]
        return [(name, value, probes.get(name, "the proof")) for name, _, value in lines]

    def cannot(self) -> list[str]:
        """Return in words what the template does not show, and what it refuses."""
        problems = [f"refused: {probe}" for probe in self.proof.refused]
        if "two calls" in self.proof.refused:
            problems.append("where sections end and calls begin, as the template refuses two calls")
        if not self.form.tools:
            problems.append("anything with tools, as the template fails if they are passed")
        return problems

    def nearest(self, dialect: DeclaredDialect, most: int = 3) -> list[Nearest]:
        """Return the registered dialects that write and read the template's plain calls best."""
        theirs = {t.probe: t.theirs for t in self.proof.trials if t.probe in LEAST_CALLS}
        return nearest_dialects(dialect, theirs, self.form)[:most]


@dataclass(frozen=True, kw_only=True, eq=False)
class DerivedDialect(DeclaredDialect):
    """A declared dialect that was derived from a template; `derivation` is the report."""

    caches_renderings: ClassVar[bool] = True

    derivation: Derivation = field(hash=False, compare=False)

    def findings(self) -> list[Finding]:
        """Return findings on properties that the proof could not show."""
        return self.derivation.findings(self)

    def declaration(self) -> list[str]:
        """Return the dialect in readable lines, one for each field that is not at its default."""
        return declaration(self)


def declaration(dialect: DeclaredDialect) -> list[str]:
    """Return a declaration as lines, one for each field that is not at its default. Texts are
    written as Python strings.
    """
    plain = Syntax("{call:json}")
    lines = []
    for name in COMPARED_FIELDS:
        value = getattr(dialect.syntax, name)
        if name == "call" or value != getattr(plain, name):
            text = _changed_fields(value) if dataclasses.is_dataclass(value) else repr(value)
            lines.append(f"{name}: {text}")
    turn = dialect.derivation.result_turn if isinstance(dialect, DerivedDialect) else ""
    writes = f", which the chat template turns into {turn!r}" if turn else ""
    lines.append(f"result: {dialect.result!r} in the role of {dialect.result_role}{writes}")
    if dialect.reasoning:
        pairs = ", ".join(f"{tags.open!r} … {tags.close!r}" for tags in dialect.reasoning)
        lines.append(f"reasoning: {pairs}")
    if dialect.opens_reasoning:
        lines.append("opens_reasoning: a reply begins inside a thought")
    if dialect.dropped:
        lines.append(f"dropped: {', '.join(map(repr, dialect.dropped))}")
    if any(dialect.answer):
        lines.append(f"answer: {dialect.answer[0]!r} … {dialect.answer[1]!r}")
    if dialect.stops:
        lines.append(f"stops: {', '.join(map(repr, dialect.stops))}")
    return lines


def _changed_fields(value: Any) -> str:
    """Return the fields of a part of a declaration that are not at their defaults."""
    default = type(value)()
    fields = [
        f"{part.name}={getattr(value, part.name)!r}"
        for part in dataclasses.fields(value)
        if getattr(value, part.name) != getattr(default, part.name)
    ]
    return ", ".join(fields)


def _probe_names(trials: Sequence[ProbeResult], total: int) -> str:
    names = ", ".join(trial.probe for trial in trials[:5])
    others = f" and {len(trials) - 5} more" if len(trials) > 5 else ""
    return f"{len(trials)} of {total} probes: {names}{others}"
