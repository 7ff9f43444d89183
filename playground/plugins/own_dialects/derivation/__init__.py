"""Derive a dialect from a model's own chat template: render probes, guess declarations, prove the
best.

The template is a program that is only run, never parsed. Text that is the same in two renderings is
a literal; text that differs is a hole of the form. Renderings do not show where a marker ends and
white space begins, so several declarations are guessed (`candidates`) and tried on a few calls. The
best declaration gets the full proof (`proof`): the calls that it writes are compared with the
template's, and the template's calls are read back. A dialect that does not read a plain call is
refused.

`asking` renders, `bodies` finds the arguments in a call, and `frame` the text around an
answer.
"""

from __future__ import annotations

import dataclasses
from os import PathLike
from typing import Any, Final

from playground.base.arguments import takes
from playground.base.errors import InputFault
from playground.dialects.declared import DeclaredDialect
from playground.dialects.raw_prompts import ChatTemplate
from playground.dialects.raw_prompts.sources import template_of
from playground.parsing.syntax import Syntax
from playground.plugins.own_dialects import RULES
from playground.plugins.own_dialects.asking import AskedTemplate, find_form
from playground.plugins.own_dialects.derivation.candidates import candidates, with_separator
from playground.plugins.own_dialects.derivation.derived import (
    Derivation,
    DerivedDialect,
    declaration,
)
from playground.plugins.own_dialects.derivation.frame import TurnFrame, frame_of
from playground.plugins.own_dialects.derivation.nearest import Nearest, nearest_registered
from playground.plugins.own_dialects.derivation.proof import (
    NOTHING,
    PLAIN,
    Proof,
    count_written,
    full_probes,
    reads_in_pieces,
    results_written_otherwise,
    short_probes,
    try_probes,
    unread_answers,
)
from playground.plugins.own_dialects.derivation.proposal import (
    Proposal,
    ReplyReading,
    propose_dialect,
)
from playground.plugins.own_dialects.laws import check_dialect

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

_TURN_FIELDS: Final = (
    "result", "result_role", "reasoning", "answer", "opens_reasoning", "dropped", "stops",
)  # fmt: skip
ONLY_FORMS: Final = (
    "The template's rules and its list of tools are replaced by this project's own words; calls, "
    "results, reasoning and turns keep the template's forms."
)
_LAWS: Final = (1, 2, 3, 10)  # numbers of the laws that a derived dialect may break
_EXAMPLES: Final = 25
_MOST_READ: Final = 12  # the most guesses that are tried by reading; the first is mostly the best


@takes(template=(str, PathLike, ChatTemplate), name="text")
def dialect_from_template(
    template: str | PathLike[str] | ChatTemplate, name: str = "derived"
) -> DerivedDialect:
    """Return the dialect in which a chat template writes its calls, proven against the template.

    `template` is the path of a `.jinja` file, a `tokenizer_config.json` or a GGUF file (with the
    package gguf), the text of a template, or a ChatTemplate. The result is a dialect like any
    other. The dialect's `derivation` is the report, and the dialect's `findings()` name what the
    proof could not show.

    Raises InputFault if the template cannot be read or rendered, writes no calls, or writes calls
    in a form that no declaration can express, or if a plain call is not read back.
    """
    source = template_of(template)
    prober = find_form(source)
    frame = frame_of(prober)
    guesses = candidates(prober, frame)
    chosen, own_frame, tried, equally_good = _best(prober, frame, guesses, name)
    chosen = _with_separator(prober, own_frame, chosen)
    proof = try_probes(prober, own_frame, chosen, full_probes(chosen))
    _refuse_lost_calls(source.name, chosen, proof)
    derivation = Derivation(
        source.name,
        prober.form,
        prober.renderings,
        tried,
        equally_good,
        proof,
        _broken_laws(chosen),
        tuple(unread_answers(prober, own_frame, chosen)),
        tuple(results_written_otherwise(prober, chosen)),
        own_frame.result_turn,
    )
    return _dialect(name, chosen.syntax, own_frame, derivation)


def _best(
    prober: AskedTemplate, frame: TurnFrame, guesses: dict[Syntax, str], name: str
) -> tuple[DeclaredDialect, TurnFrame, int, int]:
    """Return the guess with the best short proof, its frame, how many guesses were tried (a perfect
    one ends the search), and how many of these, besides the best, are as good."""
    guessed = [
        (_plain_dialect(name, syntax, frame.with_stop(stop)), frame.with_stop(stop))
        for syntax, stop in guesses.items()
    ]
    # First the guesses that write the most calls like the template, because this is fast to test,
    # while making a parser takes up to half a second.
    guessed.sort(key=lambda pair: -count_written(prober, pair[1], pair[0], short_probes()))
    best: tuple[DeclaredDialect, TurnFrame] | None = None
    scores: list[int] = []
    for dialect, own_frame in guessed[:_MOST_READ]:
        proof = try_probes(prober, own_frame, dialect, short_probes(), hasty=True)
        if best is None or proof.score > max(scores):
            best = dialect, own_frame
        scores.append(proof.score)
        if proof.score == 3 * len(short_probes()):
            break  # the best possible score
    if best is None:
        raise InputFault("writes calls in a form that cannot be declared", where=prober.source.name)
    return *best, len(scores), scores.count(max(scores)) - 1


def _with_separator(
    prober: AskedTemplate, frame: TurnFrame, dialect: DeclaredDialect
) -> DeclaredDialect:
    """Return the dialect, with white space as the separator of parameters if that fits better. A
    call without parameters shows whether white space belongs to parameters or separates them."""
    calls = [NOTHING, *short_probes()]
    syntax = with_separator(dialect.syntax)
    if syntax is None or count_written(prober, frame, dialect, [NOTHING]):
        return dialect
    variant = dataclasses.replace(dialect, syntax=syntax)
    wins = count_written(prober, frame, variant, calls) > count_written(
        prober, frame, dialect, calls
    )
    return variant if wins else dialect


def _refuse_lost_calls(source: str, dialect: DeclaredDialect, proof: Proof) -> None:
    """Raise InputFault if the dialect does not read back a plain call of the template, whole or in
    pieces."""
    failure = proof.failing()
    if failure is None:
        pieces = [t for t in proof.trials if t.probe in PLAIN and t.read]
        failure = next((t for t in pieces if not reads_in_pieces(dialect, t.theirs, t.calls)), None)
    if failure is not None:
        raise InputFault(
            f"the derived dialect does not read the template's own {failure.probe!r}: "
            f"{failure.theirs!r:.200}; it would write {failure.ours!r:.200}",
            where=source,
        )


def _broken_laws(dialect: DeclaredDialect) -> tuple[str, ...]:
    return tuple(
        f"law {check.law}: {check.broken.says}"
        for check in check_dialect(dialect, _EXAMPLES, _LAWS)
        if check.broken
    )


def _plain_dialect(name: str, syntax: Syntax, frame: TurnFrame) -> DeclaredDialect:
    return DeclaredDialect(name=name, syntax=syntax, rules=RULES, **_turns(frame))


def _dialect(name: str, syntax: Syntax, frame: TurnFrame, derivation: Derivation) -> DerivedDialect:
    return DerivedDialect(
        name=name,
        title=derivation.source,
        syntax=syntax,
        rules=RULES,
        models=f"derived from {derivation.source}",
        derivation=derivation,
        **_turns(frame),
    )


def _turns(frame: TurnFrame) -> dict[str, Any]:
    """Return the fields that a dialect and its frame of turns have in common."""
    return {name: getattr(frame, name) for name in _TURN_FIELDS}
