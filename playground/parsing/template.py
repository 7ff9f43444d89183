"""Templates: literal text with holes, cut at the holes once, when a syntax is made.

The same pieces are filled by rendering.py and waited for by the engine. This module knows no
notation: which holes are bodies, and which stand beside one, its callers say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from playground.errors import SyntaxFault

TEXTS: Final = "texts"  # the body of a template that has {text:KEY}, once or several times
_TEXT: Final = "text:"
_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([a-z_]+(?::[a-z_]+)?)\}")


@dataclass(frozen=True, slots=True)
class Hole:
    name: str


Piece = str | Hole


@dataclass(frozen=True, slots=True)
class Template:
    """`before`, one body hole, `after`: the shape of every call, parameter and section.

    A body of texts has several holes: `texts` are their keys, `between` what follows each of them,
    and `after` is the last of `between`. `pieces` are all of a template, in order.
    """

    before: tuple[Piece, ...]
    body: str
    after: tuple[Piece, ...]
    pieces: tuple[Piece, ...]
    texts: tuple[str, ...] = ()
    between: tuple[tuple[Piece, ...], ...] = ()


def begins_line(pieces: tuple[Piece, ...]) -> bool:
    """Whether pieces begin with a line break of their own."""
    return bool(pieces) and isinstance(pieces[0], str) and pieces[0].startswith("\n")


def holes_of(pieces: Iterable[Piece]) -> list[str]:
    """The names of the holes among pieces, in order."""
    return [piece.name for piece in pieces if isinstance(piece, Hole)]


def fill(pieces: Iterable[Piece], texts: Mapping[str, str]) -> str:
    """The pieces as text, each hole replaced by its text."""
    return "".join(texts[piece.name] if isinstance(piece, Hole) else piece for piece in pieces)


def compile_template(text: str, bodies: Collection[str], others: Collection[str]) -> Template:
    """Check a template and cut it at its body, which is one of `bodies`; beside it `others` may
    stand. Raises SyntaxFault, quoting the template and the place."""
    check_holes(text, bodies, others)
    return cut_at_body(text, others)


def check_holes(text: str, bodies: Collection[str], others: Collection[str]) -> None:
    """Raise SyntaxFault where a hole is unknown, or the template has no body or several."""
    allowed = [*bodies, *others]
    for match in _TOKEN.finditer(text):
        if match[1] is not None and _declared(match[1]) not in allowed and match[1] not in allowed:
            raise SyntaxFault(
                f"template {text!r} has {match[0]} at character {match.start()};"
                f" allowed here: {_listed(allowed, ', ')} (double a brace that is meant as text)"
            )
    names = [_declared(name) for name in holes_of(_pieces(text))]
    found = [name for name in names if name in bodies]
    if len(found) != 1 and set(found) != {_declared(_TEXT)}:
        raise SyntaxFault(
            f"template {text!r} must have {_listed(bodies, ' or ')} once, not {len(found)} times"
        )


def cut_at_body(text: str, others: Collection[str]) -> Template:
    """Cut a template, already checked, at its body: at the hole that is none of `others`."""
    pieces = _pieces(text)
    bodies = [
        at
        for at, piece in enumerate(pieces)
        if isinstance(piece, Hole) and _declared(piece.name) not in others
    ]
    first = bodies[0]
    names = [name for name in holes_of(pieces[at] for at in bodies)]
    if not names[0].startswith(_TEXT):
        return Template(pieces[:first], names[0], pieces[first + 1 :], pieces)
    # what follows each text reaches to the next one; after the last, to the template's end
    stops = [*bodies[1:], len(pieces)]
    between = tuple(pieces[start + 1 : stop] for start, stop in zip(bodies, stops, strict=True))
    keys = tuple(name.removeprefix(_TEXT) for name in names)
    return Template(pieces[:first], TEXTS, between[-1], pieces, keys, between)


def _pieces(text: str) -> tuple[Piece, ...]:
    """Literals and holes in turn, doubled braces made single."""
    pieces: list[Piece] = []
    literal, last = "", 0
    for match in _TOKEN.finditer(text):
        literal += text[last : match.start()]
        last = match.end()
        if match[1] is None:
            literal += match[0][0]
            continue
        if literal:
            pieces.append(literal)
        pieces.append(Hole(match[1]))
        literal = ""
    literal += text[last:]
    if literal:
        pieces.append(literal)
    return tuple(pieces)


def _declared(name: str) -> str:
    """A hole as tables list it: `text:code` and `line:path` stand for `text:KEY`, `line:KEY`."""
    kind, _, _ = name.partition(":")
    return f"{kind}:KEY" if kind in ("text", "line") else name


def _listed(holes: Collection[str], by: str) -> str:
    return by.join(f"{{{hole}}}" for hole in holes)
