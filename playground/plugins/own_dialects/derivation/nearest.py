"""Find the registered dialects that are nearest to a declaration, by three plain replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from playground.dialects import dialect_names, get_dialect
from playground.dialects.declared import DeclaredDialect
from playground.plugins.own_dialects.asking import RequestForm
from playground.plugins.own_dialects.derivation.proof import LEAST_CALLS, reads, written_of

# The fields of a declaration that are shown and compared, in their order.
COMPARED_FIELDS: Final = (
    "call", "param", "param_separator", "section", "one_call_a_section", "section_required",
    "separator", "shape", "json", "literals", "type_words", "string_mark", "cdata", "cdata_for",
    "element", "known_names",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Nearest:
    """A registered dialect compared with a declaration.

    The declaration writes each entry of LEAST_CALLS as a text. `reads` is how many of these texts
    the dialect reads, `writes` how many it writes alike. `differs` names the fields that differ.
    """

    dialect: str
    reads: int
    writes: int
    differs: tuple[str, ...]


def nearest_dialects(
    dialect: DeclaredDialect, theirs: Mapping[str, str], form: RequestForm
) -> list[Nearest]:
    """Return the registered dialects, except `dialect`, that read at least one of the texts;
    first those that write the most of these texts, too.

    The texts are the values of `theirs`, a template's or the dialect's for each of LEAST_CALLS.
    """
    compared = [
        _compare_with(other, dialect, theirs, form)
        for other in map(get_dialect, dialect_names())
        if isinstance(other, DeclaredDialect) and other.name != dialect.name
    ]
    readers = [candidate for candidate in compared if candidate.reads]
    return sorted(readers, key=lambda n: (-n.writes, -n.reads, len(n.differs)))


def nearest_registered(dialect: DeclaredDialect, most: int = 3) -> list[Nearest]:
    """Return the registered dialects that are nearest to a dialect, judged by calls that this
    dialect writes."""
    form = RequestForm()
    theirs = {probe: written_of(dialect, calls, form) for probe, calls in LEAST_CALLS.items()}
    return nearest_dialects(dialect, theirs, form)[:most]


def _compare_with(
    other: DeclaredDialect, own: DeclaredDialect, theirs: Mapping[str, str], form: RequestForm
) -> Nearest:
    return Nearest(
        other.name,
        sum(reads(other, text, LEAST_CALLS[probe]) for probe, text in theirs.items()),
        sum(
            written_of(other, LEAST_CALLS[probe], form).strip() == text.strip()
            for probe, text in theirs.items()
        ),
        tuple(n for n in COMPARED_FIELDS if getattr(other.syntax, n) != getattr(own.syntax, n)),
    )
