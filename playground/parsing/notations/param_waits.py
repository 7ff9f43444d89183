"""What is waited for around and inside a parameter's value: openers, closers, and what models make
of them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from playground.parsing.choice import Choice, Group, Kind
from playground.parsing.choice_point import ChoicePoint, choice_point
from playground.parsing.declaration import Declaration
from playground.parsing.notations.notation import Neighbours
from playground.parsing.notations.values import VALUES, ValueNotation
from playground.parsing.patterns import (
    IDENTIFIER,
    SPACE,
    any_form,
    begins,
    begins_worded,
    follows_marker,
    is_solid,
    look_of,
    name_before,
    or_mended,
    own_form,
    pieces_pattern,
    prefix,
    slips,
    stripped,
    unnamed,
    worded,
)
from playground.parsing.template import Hole, Piece, Template, holes_of

JUNK_LIMIT: Final = 80  # characters
_TWO_TAGS: Final = re.compile(r"(?P<closer></[^<>]+>)\s*(?P<opener><[^<>/]+>)\s*")


def param_template(syntax: Declaration) -> Template:
    template = syntax.param_template
    assert template is not None  # `check` has seen it
    return template


def value_notation(template: Template) -> ValueNotation:
    return VALUES[template.body]


def _key(syntax: Declaration, before: tuple[Piece, ...] | None = None) -> str:
    before = before or param_template(syntax).before
    return IDENTIFIER if syntax.known_names else name_before(before, "key")


def param_opener(syntax: Declaration) -> str:
    """The pattern of a parameter's opener."""
    return any_form(param_openers(syntax))


@lru_cache(maxsize=1024)
def param_openers(syntax: Declaration) -> tuple[str, ...]:
    """The patterns of a parameter's opener: as it is declared, and as models get it wrong."""
    template = param_template(syntax)
    block = value_notation(template).block

    def opener(pieces: tuple[Piece, ...]) -> str:
        space = r"\s{0,8}+" if follows_marker(pieces, "key") else ""
        holes = {
            "key": f"{space}(?P<key>{_key(syntax, pieces)})",
            "type": r"(?P<type>\w{1,16}+)",
            "is_text": "(?P<is_text>true|false)",
        }
        spaced = isinstance(pieces[0], str) and pieces[0].isspace()
        rest = pieces_pattern(pieces[spaced:], holes, value_after=True, block=block)
        # white space between two parameters is read over: that it was there is all that counts
        return rf"(?<=\s){rest}" if spaced else rest

    mended = [opener(pieces) for pieces in _slips(template.before)]
    without_body_start = _without_value_opener(template.before)
    # what follows is a value's text, and no tag: a key whose value is missing has none
    mended += [rf"{opener(pieces)}{SPACE}(?=[^\s<\\])" for pieces in without_body_start]
    return tuple(or_mended(opener(template.before), mended))


def _slips(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """An opener as models get it wrong: also without the attribute that says the value's type, or
    with a second `=` in the place of its end."""
    if len(pieces) == 5 and isinstance(pieces[2], str) and pieces[2].startswith('"'):
        return [(*pieces[:2], str(pieces[4])), *slips(pieces)]
    if len(pieces) == 3 and str(pieces[0]).endswith("=") and str(pieces[2]).strip() == ">":
        return [(*pieces[:2], "="), *slips(pieces)]
    return [*_tags_amiss(pieces), *slips(pieces)]


def _tags_amiss(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """An opener of several elements, `<k>{key}</k><v>`, in which one of them is never closed, or is
    closed or opened twice."""
    found = ((at, _TWO_TAGS.fullmatch(str(piece))) for at, piece in enumerate(pieces))
    amiss: list[tuple[Piece, ...]] = []
    for at, tags in found:
        if tags:
            amiss.append((*pieces[:at], tags["opener"], *pieces[at + 1 :]))
            amiss.append((*pieces[:at], tags["closer"] + str(pieces[at]), *pieces[at + 1 :]))
    return [*amiss, (2 * str(pieces[0]), *pieces[1:])] if amiss else []


def _without_value_opener(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Such an opener, in which the value's own element is never opened: `<k>{key}</k>value</v>`."""
    tags = _TWO_TAGS.fullmatch(str(pieces[-1]))
    return [(*pieces[:-1], tags["closer"])] if tags else []


def param_wait(neighbours: Neighbours) -> ChoicePoint:
    """Inside a call: a parameter, the call's closer, or a marker that says it was forgotten."""
    syntax, closing = neighbours.syntax, neighbours.closing
    first = begins(param_template(syntax).before)
    return choice_point(
        closing._replace(group=Group(Kind.CLOSE)),
        Choice(param_opener(syntax), first, Group(Kind.PARAM), forms=param_openers(syntax)),
        *neighbours.section_closers,
        *neighbours.stops,
        *neighbours.calls,
    )


def after_wait(neighbours: Neighbours) -> ChoicePoint:
    """Behind a call without a closer: any marker, or the end of the stream."""
    markers = (*neighbours.section_closers, *neighbours.stops, *neighbours.calls)
    follow = "|".join(look_of(choice.pattern) for choice in markers)
    return choice_point(Choice(rf"{SPACE}(?:\Z|(?={follow}))", varying=True))


def value_wait(neighbours: Neighbours) -> ChoicePoint:
    """A parameter's closer, but only before what may follow it: else it is the value's own."""
    syntax, template = neighbours.syntax, param_template(neighbours.syntax)
    closing = neighbours.closing.pattern
    choices = []
    if closing and worded(neighbours.section_close):
        # both outer closers in a row: the value's own was forgotten (ollama#18563); before the
        # closer, for one that names its key takes any name
        choices.append(_forgotten(f"{SPACE}{unnamed(closing)}{SPACE}{neighbours.section_close}"))
    choices += [Choice(pattern, group=Group(Kind.CLOSE)) for pattern in _value_closers(neighbours)]
    # an opener of words alone cannot be the value's own by chance; what is chance is seen to when
    # it is read, see _follows
    openers = "".join(piece for piece in template.before if isinstance(piece, str))
    by_opener = syntax.reserved or worded(re.escape(openers))
    if by_opener:
        choices.append(
            _forgotten(unnamed(param_opener(syntax).replace("(?P<key>", "(?<next_key>")))
        )
    if not closes_solidly(template):
        # behind JSON, which ends by itself, the next parameter may stand at once
        first = () if value_notation(template).json else ("\n",)
        return choice_point(*(choice._replace(begins=first) for choice in choices))
    any_tag = "name" in holes_of(syntax.call_template.after) and not neighbours.knows_names
    if closing and not by_opener and not any_tag:
        # where parameters are any tags, nothing less shows it than the next call behind the closer:
        # one that may name anything looks like this parameter's own closer before the next
        following = "|".join(look_of(choice.pattern) for choice in neighbours.calls)
        forgotten = _forgotten(f"{SPACE}{closing}{SPACE}(?:{following})")
        # the call's closer may be another parameter's, as long as nobody knows what is behind it
        choices = [forgotten, *(choice._replace(varying=True) for choice in choices)]
    # another call and its first parameter: this one was cut off before it
    call = syntax.call_template.before
    told = by_opener and begins_worded(call) and not syntax.section_required
    next_param = unnamed(param_opener(syntax))
    own = [
        call._replace(pattern=f"{call.pattern}(?={SPACE}{next_param})", forms=())
        for call in neighbours.calls
        if told and call.group and call.group.kind is Kind.CALL
    ]
    # several characters are looked for, not one: text is full of "<" (speed)
    begun = [*_closer_begins(template), prefix(stripped(syntax.call_template.after))]
    if by_opener:
        begun.append(prefix(template.before))
    begun = [text for text in begun if text]
    choices = [choice._replace(begins=(*begun, "\n")) for choice in choices]
    if own and prefix(call):
        begun.append(prefix(call))
    return choice_point(*choices, *own, beginnings=begun)


def _closer_begins(template: Template) -> list[str]:
    """How a value's closer begins: where blanks stand before its words, with them and without.
    A line break alone is looked for wherever a value may end."""
    words, first = prefix(template.after), str(template.after[0])
    space = first[: len(first) - len(first.lstrip())]
    return [words, space + words] if words and space.strip("\n") else [words]


def _value_closers(neighbours: Neighbours) -> list[str]:
    """A value's closer, with a look at what follows it in a call that has a closer itself: first at
    what is to follow it, then at what models make of that, which few texts ask for."""
    syntax, template = neighbours.syntax, param_template(neighbours.syntax)
    holes = {"key": f"(?P<close_key>{_key(syntax)})"}
    block = value_notation(template).block
    closer = pieces_pattern(template.after, holes, value_before=True, block=block)
    if not neighbours.closing.pattern:
        return [closer]
    openers, mended = own_form(param_openers(syntax))
    ends = [*openers, neighbours.closing.pattern, neighbours.section_close]
    ends += [choice.pattern for choice in neighbours.stops]
    follow = [unnamed(end) for end in ends if end]
    amiss = [*map(unnamed, mended), *_next_calls(neighbours)]
    # where white space is all that closes a value, the rest of it is the value's own
    space = SPACE if closes_solidly(template) else ""
    looks = [f"{space}(?:{'|'.join(each)})" for each in (follow, amiss) if each]
    looks += _junk(neighbours) if space else []
    return [f"{closer}(?={look})" for look in looks]


def _next_calls(neighbours: Neighbours) -> list[str]:
    """Another call up to its first parameter or its closer: that of the call before it was
    forgotten. Whether there is such a tool is seen to when it is read: `next_name`. A header that
    looks back is left out: where one has to, every line of a value takes longer."""
    if not begins_worded(neighbours.syntax.call_template.before):
        return []
    opener, closer = param_opener(neighbours.syntax), neighbours.closing.pattern
    begun = f"(?={SPACE}{unnamed(f'(?:{opener}|{closer})')})"
    found = []
    for choice in neighbours.calls:
        text = look_of(choice.pattern.replace("(?P<name>", "(?<next_name>"))
        if "(?<!" not in text and "(?<=" not in text:
            own = choice.group is not None and choice.group.kind is Kind.CALL
            found.append(text + begun if own else text)
    return found


def _junk(neighbours: Neighbours) -> list[str]:
    """A few words on a line between the last value and the call's closer, which models put there.
    Where that may be any tag, they are the value's own."""
    closing, listed = neighbours.closing, neighbours.syntax.known_names
    if listed or not closing.begins or not worded(closing.pattern):
        return []
    first = re.escape(
        "".join({char for text in closing.begins for char in (text[0], text.lstrip()[0])})
    )
    junk = rf"[^{first}\n]{{1,{JUNK_LIMIT}}}+"
    return [f"{junk}{SPACE}{unnamed(closing.pattern)}"]


def holds_own_marker(text: str, syntax: Declaration, name: str) -> bool:
    """Whether a value holds the opener of calls, or the closer that names this very call."""
    opener, sides = _own_markers(syntax)
    if opener:
        return opener in text
    if not name or name not in text:
        return False
    return any(
        "".join(p if isinstance(p, str) else name for p in side).strip() in text for side in sides
    )


@lru_cache(maxsize=256)
def _own_markers(syntax: Declaration) -> tuple[str, tuple[tuple[Piece, ...], ...]]:
    """The words with which calls begin; where these are none, what has the tool's name in it."""
    template = syntax.call_template
    first = template.before[0] if template.before else ""
    opener = first.strip() if isinstance(first, str) else ""
    if worded(re.escape(opener)):
        return opener, ()
    return "", tuple(side for side in (template.before, template.after) if Hole("name") in side)


def closes_solidly(template: Template) -> bool:
    """Whether more than white space closes a value."""
    return any(is_solid(piece) for piece in template.after)


def _forgotten(following: str) -> Choice:
    """No closer, but what follows one; a line break before it is no part of the value."""
    return Choice(rf"\n?+(?={following})", group=Group(Kind.FORGOTTEN))
