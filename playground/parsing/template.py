"""Templates: literal text with holes, cut at the holes once, when a syntax is made.

rendering.py fills the pieces, and the engine waits for them. This module knows no notation: its
callers say which holes are bodies, and which other holes a template may have.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from playground.base.errors import SyntaxFault

_ANY_KEY: Final = ":KEY"  # the end of a hole that names its argument, and may occur several times
_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([a-z_]+(?::[a-z_][a-z0-9_]*)?)\}")


class Hole(NamedTuple):
    name: str


Piece = str | Hole


class Template(NamedTuple):
    """The form of a call, a parameter or a section: the pieces `before` and `after` its `body`.

    A body may have several `holes`, each for an argument of its own. Then `body` is the first, and
    `between` has the pieces that follow each hole, so that `after` is the last of `between`.
    `pieces` are the whole template, in order.
    """

    before: tuple[Piece, ...]
    body: str
    after: tuple[Piece, ...]
    pieces: tuple[Piece, ...]
    holes: tuple[str, ...]
    between: tuple[tuple[Piece, ...], ...]


def begins_line(pieces: tuple[Piece, ...]) -> bool:
    """Return True if pieces begin with a line break of their own."""
    return bool(pieces) and isinstance(pieces[0], str) and pieces[0].startswith("\n")


def holes_of(pieces: Iterable[Piece]) -> list[str]:
    """Return the names of the holes among pieces, in order."""
    return [piece.name for piece in pieces if isinstance(piece, Hole)]


def is_line(hole: str) -> bool:
    """Return True if a hole of this name takes a whole line."""
    return hole.startswith("line:")


def declared_text(pieces: Iterable[Piece]) -> str:
    """Return pieces as they are declared, without white space around them: `</{name}>`."""
    texts = (f"{{{piece.name}}}" if isinstance(piece, Hole) else piece for piece in pieces)
    return "".join(texts).strip()


def leading_text(pieces: Iterable[Piece], **holes: str) -> str:
    """Return pieces as text, up to the first hole that is not in `holes`."""
    text = ""
    for piece in pieces:
        if isinstance(piece, Hole):
            if piece.name not in holes:
                break
            text += holes[piece.name]
        else:
            text += piece
    return text


def fill(pieces: Iterable[Piece], texts: Mapping[str, str]) -> str:
    """Return the pieces as text, each hole replaced by its text."""
    return "".join(texts[piece.name] if isinstance(piece, Hole) else piece for piece in pieces)


def compile_template(text: str, bodies: Collection[str], others: Collection[str]) -> Template:
    """Check a template and cut it at its body, which is one of `bodies`. The template may also have
    the holes `others`.

    Raises SyntaxFault, which quotes the template and the place.
    """
    check_holes(text, bodies, others)
    return cut_at_body(text, others)


def check_holes(text: str, bodies: Collection[str], others: Collection[str]) -> None:
    """Raise SyntaxFault for an unknown hole, a missing body, or several bodies unless each is for
    an argument of its own."""
    allowed = [*bodies, *others]
    for match in _TOKEN.finditer(text):
        if match[1] is not None and declared_hole(match[1], allowed) not in allowed:
            raise SyntaxFault(
                f"template {text!r} has {match[0]} at character {match.start()};"
                f" allowed here: {_holes(allowed, ', ')} (double a brace that is meant as text)"
            )
    names = [declared_hole(name, allowed) for name in holes_of(_pieces(text))]
    own = [name for name in names if name in bodies]
    if len(own) != 1 and not (len(set(own)) == 1 and own[0].endswith(_ANY_KEY)):
        raise SyntaxFault(
            f"template {text!r} must have {_holes(bodies, ' or ')} once, not {len(own)} times"
        )


def cut_at_body(text: str, others: Collection[str]) -> Template:
    """Cut a template, already checked, at its body: at the hole that is none of `others`."""
    pieces = _pieces(text)
    bodies = [
        at
        for at, piece in enumerate(pieces)
        if isinstance(piece, Hole) and declared_hole(piece.name, others) not in others
    ]
    first = bodies[0]
    names = holes_of(pieces[at] for at in bodies)
    # each part reaches from its hole to the next one, the last part to the template's end
    stops = [*bodies[1:], len(pieces)]
    between = tuple(pieces[start + 1 : stop] for start, stop in zip(bodies, stops, strict=True))
    return Template(pieces[:first], names[0], between[-1], pieces, tuple(names), between)


def _pieces(text: str) -> tuple[Piece, ...]:
    """Return literals and holes in turn, with doubled braces made single."""
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


def declared_hole(name: str, declared: Collection[str]) -> str:
    """Return a hole as it is `declared`: `line:path` is declared as `line:KEY`."""
    if name in declared:
        return name
    kind, colon, _ = name.partition(":")
    return f"{kind}{_ANY_KEY}" if colon else name


def _holes(holes: Collection[str], by: str) -> str:
    return by.join(f"{{{hole}}}" for hole in holes)
