"""A dialect read off a model's own chat template: rendered with probes, guessed, and proven.

The template is a program that is only run, never read: what stays and what moves between two
renderings are its literals and its holes. Where a marker ends and white space begins cannot be
seen, so several declarations are guessed (`candidates`), tried on a few calls, and the best goes
through the full proof (`proof`): what it writes is compared with what the template writes, and what
the template writes is read back. No dialect is handed out before, and none that loses a plain call.

`raw_prompts.asking` renders, `bodies` finds where the arguments stand, `frame` what stands around
an answer.
"""

from __future__ import annotations

import dataclasses
from os import PathLike
from typing import Final

from playground.base.arguments import takes
from playground.base.errors import InputFault
from playground.dialects.declared import DeclaredDialect
from playground.dialects.raw_prompts import ChatTemplate
from playground.dialects.raw_prompts.asking import AskedTemplate, find_form
from playground.dialects.raw_prompts.sources import template_of
from playground.lab.derivation.candidates import candidates, separated
from playground.lab.derivation.derived import Derivation, DerivedDialect, declaration
from playground.lab.derivation.frame import TurnFrame, frame_of
from playground.lab.derivation.nearest import Nearest, nearest_registered
from playground.lab.derivation.proof import (
    NOTHING,
    PLAIN,
    Proof,
    full_probes,
    proven,
    reads_in_pieces,
    short_probes,
    unlike_results,
    unread_answers,
    written,
)
from playground.lab.derivation.proposal import Proposal, ReplyReading, propose_dialect
from playground.lab.laws import check_dialect
from playground.parsing.syntax import Syntax

__all__ = [
    "Derivation",
    "DerivedDialect",
    "Nearest",
    "Proposal",
    "ReplyReading",
    "declaration",
    "dialect_from_template",
    "nearest_registered",
    "propose_dialect",
]

_RULES: Final = "To call a tool, write exactly this:"
_TRIED: Final = (1, 2, 3, 10)  # laws; the others are of what a template says nothing of
_EXAMPLES: Final = 25
_MOST_READ: Final = 12  # guesses that are tried on reading; nearly always the first is the best


@takes(template=(str, PathLike, ChatTemplate), name="text")
def dialect_from_template(
    template: str | PathLike[str] | ChatTemplate, name: str = "derived"
) -> DerivedDialect:
    """Return the dialect in which a chat template writes its calls, proven against the template.

    `template` is the path of a `.jinja` file, a `tokenizer_config.json` or a GGUF file (with the
    package gguf), the text of a template, or a ChatTemplate. The dialect goes wherever one goes;
    its `derivation` is the report, its `findings()` what the proof could not show.

    Raises InputFault where the template cannot be read or rendered, writes no calls, writes them
    in no form that can be declared, or where a plain call of its own is not read back.
    """
    source = template_of(template)
    asked = find_form(source)
    frame = frame_of(asked)
    guesses = candidates(asked, frame)
    chosen, own, alike = _best(asked, frame, guesses, name)
    chosen = _with_separator(asked, own, chosen)
    proof = proven(asked, own, chosen, full_probes(chosen))
    _refuse_what_is_lost(source.name, chosen, proof)
    derivation = Derivation(
        source.name,
        asked.form,
        asked.renderings,
        len(guesses),
        alike,
        proof,
        _broken(chosen),
        tuple(unread_answers(asked, own, chosen)),
        tuple(unlike_results(asked, chosen)),
    )
    return _dialect(name, chosen.syntax, own, derivation)


def _best(
    asked: AskedTemplate, frame: TurnFrame, guesses: dict[Syntax, str], name: str
) -> tuple[DeclaredDialect, TurnFrame, int]:
    """Return the guess that does most of the short proof, its frame, and how many others do as
    much.
    """
    made = [
        (_plain_dialect(name, syntax, frame.with_stop(stop)), frame.with_stop(stop))
        for syntax, stop in guesses.items()
    ]
    # What is written is seen at once; a parser costs up to half a second to make.
    made.sort(key=lambda each: -written(asked, each[1], each[0], short_probes()))
    best: tuple[DeclaredDialect, TurnFrame] | None = None
    scores: list[int] = []
    for dialect, own in made[:_MOST_READ]:
        proof = proven(asked, own, dialect, short_probes(), hasty=True)
        if best is None or proof.score > max(scores):
            best = dialect, own
        scores.append(proof.score)
        if proof.score == 3 * len(short_probes()):
            break  # nothing can do more
    if best is None:
        raise InputFault("writes calls in a form that cannot be declared", where=asked.source.name)
    return *best, scores.count(max(scores)) - 1


def _with_separator(
    asked: AskedTemplate, frame: TurnFrame, dialect: DeclaredDialect
) -> DeclaredDialect:
    """Return the dialect, or with white space between its parameters, where a call without any
    shows that this is how they are written.
    """
    probes = [NOTHING, *short_probes()]
    other = separated(dialect.syntax)
    if other is None or written(asked, frame, dialect, [NOTHING]):
        return dialect
    tried = dataclasses.replace(dialect, syntax=other)
    wins = written(asked, frame, tried, probes) > written(asked, frame, dialect, probes)
    return tried if wins else dialect


def _refuse_what_is_lost(source: str, dialect: DeclaredDialect, proof: Proof) -> None:
    """A dialect that loses a plain call is none, however much it looks like one."""
    lost = proof.failing()
    if lost is None:
        pieces = [t for t in proof.trials if t.probe in PLAIN and t.read]
        lost = next((t for t in pieces if not reads_in_pieces(dialect, t.theirs, t.calls)), None)
    if lost is not None:
        raise InputFault(
            f"what was derived does not read the template's own {lost.probe!r}: "
            f"{lost.theirs!r:.200}; it would write {lost.ours!r:.200}",
            where=source,
        )


def _broken(dialect: DeclaredDialect) -> tuple[str, ...]:
    """Return the laws that random calls break, in words."""
    return tuple(
        f"law {check.law}: {check.broken.says}"
        for check in check_dialect(dialect, _EXAMPLES, _TRIED)
        if check.broken
    )


def _plain_dialect(name: str, syntax: Syntax, frame: TurnFrame) -> DeclaredDialect:
    return DeclaredDialect(
        name=name,
        syntax=syntax,
        rules=_RULES,
        result=frame.result,
        result_role=frame.result_role,
        reasoning=frame.reasoning,
        answer=frame.answer,
        opens_reasoning=frame.opens_reasoning,
        dropped=frame.dropped,
        stops=frame.stops,
    )


def _dialect(name: str, syntax: Syntax, frame: TurnFrame, derivation: Derivation) -> DerivedDialect:
    return DerivedDialect(
        name=name,
        title=derivation.source,
        syntax=syntax,
        rules=_RULES,
        result=frame.result,
        result_role=frame.result_role,
        reasoning=frame.reasoning,
        answer=frame.answer,
        opens_reasoning=frame.opens_reasoning,
        dropped=frame.dropped,
        stops=frame.stops,
        models=f"derived from {derivation.source}",
        derivation=derivation,
    )
