"""The choices around and inside a parameter's value: openers and closers, also as models misspell
them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from playground.parsing.choice import Choice, Group, Kind, literals
from playground.parsing.choice_point import ChoicePoint, choice_point
from playground.parsing.declaration import Declaration
from playground.parsing.notations.notation import Neighbours
from playground.parsing.notations.values import VALUES, ValueNotation
from playground.parsing.patterns import (
    IDENTIFIER,
    SPACE,
    any_form,
    begins,
    begins_with_words,
    follows_marker,
    has_words,
    is_solid,
    lookahead_of,
    name_before,
    pieces_pattern,
    prefix,
    slips,
    split_slips,
    with_slips,
    without_final_space,
    without_names,
)
from playground.parsing.template import Hole, Piece, Template, holes_of

JUNK_LIMIT: Final = 80  # the most characters between the last value and the call's closer
_TWO_TAGS: Final = re.compile(r"(?P<closer></[^<>]+>)\s*(?P<opener><[^<>/]+>)\s*")


def param_template(syntax: Declaration) -> Template:
    template = syntax.param_template
    assert template is not None  # `check` requires it
    return template


def value_notation(template: Template) -> ValueNotation:
    return VALUES[template.body]


def _key_pattern(syntax: Declaration, before: tuple[Piece, ...] | None = None) -> str:
    before = before or param_template(syntax).before
    return IDENTIFIER if syntax.known_names else name_before(before, "key")


def param_opener(syntax: Declaration) -> str:
    """Return the pattern of a parameter's opener."""
    return any_form(param_openers(syntax))


@lru_cache(maxsize=1024)
def param_openers(syntax: Declaration) -> tuple[str, ...]:
    """Return the patterns of a parameter's opener: as declared, then as models misspell it."""
    template = param_template(syntax)
    opener = _opener_builder(syntax)
    misspelt = [opener(pieces) for pieces in _slips(template.before)]
    # text must follow: before a tag the value itself is missing, not only its opening tag
    without_tag = _without_value_opener(template.before)
    misspelt += [rf"{opener(pieces)}{SPACE}(?=[^\s<\\])" for pieces in without_tag]
    return tuple(with_slips(opener(template.before), misspelt))


@lru_cache(maxsize=1024)
def headless_openers(syntax: Declaration) -> tuple[str, ...]:
    """Return the pattern of an opener of several elements without its first tag: `{key}</k><v>`;
    () for other openers. It begins with a key, so it counts only where a parameter is due."""
    first, *following = param_template(syntax).before
    if following[:1] != [Hole("key")] or not _TWO_TAGS.fullmatch(str(following[-1])):
        return ()
    return (f"{_opener_builder(syntax)(tuple(following))}(?P<slip>)",)


def _opener_builder(syntax: Declaration) -> Callable[[tuple[Piece, ...]], str]:
    block = value_notation(param_template(syntax)).block

    def opener(pieces: tuple[Piece, ...]) -> str:
        space = r"\s{0,8}+" if follows_marker(pieces, "key") else ""
        holes = {
            "key": f"{space}(?P<key>{_key_pattern(syntax, pieces)})",
            "type": r"(?P<type>\w{1,16}+)",
            "is_text": "(?P<is_text>true|false)",
        }
        spaced = isinstance(pieces[0], str) and pieces[0].isspace()
        rest = pieces_pattern(pieces[spaced:], holes, value_after=True, block=block)
        # white space between two parameters is skipped; the opener must come right after it
        return rf"(?<=\s){rest}" if spaced else rest

    return opener


def _slips(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Return the opener as models misspell it: with the usual slips, with misspelt tags, without
    the attribute for the value's type, or with a second `=` instead of its end."""
    if len(pieces) == 5 and isinstance(pieces[2], str) and pieces[2].startswith('"'):
        if pieces[2].startswith(str(pieces[4])):
            return []  # the whole opener would begin like the one without the attribute
        return [(*pieces[:2], str(pieces[4])), *slips(pieces)]
    if len(pieces) == 3 and str(pieces[0]).endswith("=") and str(pieces[2]).strip() == ">":
        return [(*pieces[:2], "="), *slips(pieces)]
    return [*_misspelt_tags(pieces), *slips(pieces)]


def _misspelt_tags(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Return an opener of several elements, such as `<k>{key}</k><v>`, with one element not
    closed, closed twice or opened twice."""
    pairs = ((at, _TWO_TAGS.fullmatch(str(piece))) for at, piece in enumerate(pieces))
    variants: list[tuple[Piece, ...]] = []
    for at, tags in pairs:
        if tags:
            variants.append((*pieces[:at], tags["opener"], *pieces[at + 1 :]))
            variants.append((*pieces[:at], tags["closer"] + str(pieces[at]), *pieces[at + 1 :]))
    return [*variants, (2 * str(pieces[0]), *pieces[1:])] if variants else []


def _without_value_opener(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Return an opener of several elements that lacks the tag before the value:
    `<k>{key}</k>value</v>`."""
    tags = _TWO_TAGS.fullmatch(str(pieces[-1]))
    return [(*pieces[:-1], tags["closer"])] if tags else []


def inside_call(neighbours: Neighbours) -> ChoicePoint:
    """Build the choices inside a call: a parameter, a JSON object in its markers, the call's
    closer, or a marker which shows that the closer was forgotten."""
    syntax, closing = neighbours.syntax, neighbours.closing
    first = begins(param_template(syntax).before)
    return choice_point(
        closing._replace(group=Group(Kind.CLOSE)),
        Choice(param_opener(syntax), first, Group(Kind.PARAM), forms=param_openers(syntax)),
        *neighbours.section_closers,
        *neighbours.stops,
        *neighbours.calls,
        *literals(Kind.OPEN, filter(None, syntax.object_block[:1])),
        *(Choice(pattern, group=Group(Kind.PARAM)) for pattern in headless_openers(syntax)),
    )


def after_object(neighbours: Neighbours) -> ChoicePoint:
    """Build the choice after a JSON object in markers of its own."""
    return choice_point(*literals(Kind.CLOSE, filter(None, neighbours.syntax.object_block[1:])))


def after_call(neighbours: Neighbours) -> ChoicePoint:
    """Build the choices after a call without a closer: any marker, or the end of the stream."""
    markers = (*neighbours.section_closers, *neighbours.stops, *neighbours.calls)
    following = "|".join(lookahead_of(choice.pattern) for choice in markers)
    return choice_point(Choice(rf"{SPACE}(?:\Z|(?={following}))", varying=True))


def inside_value(neighbours: Neighbours) -> ChoicePoint:
    """Build the choices inside a value. A closer ends it only before text that may follow a closer;
    otherwise it is part of the value."""
    syntax, template = neighbours.syntax, param_template(neighbours.syntax)
    closing = neighbours.closing.pattern
    choices = []
    if closing and has_words(neighbours.section_close):
        # Both outer closers in a row: the value's own was forgotten (ollama#18563). This choice is
        # the first, because the pattern of a value's closer may match any name as the key.
        choices.append(
            _forgotten(f"{SPACE}{without_names(closing)}{SPACE}{neighbours.section_close}")
        )
    choices += [Choice(pattern, group=Group(Kind.CLOSE)) for pattern in _value_closers(neighbours)]
    # an opener with words is hardly part of a value; `_is_next_param` in params.py decides
    openers = "".join(piece for piece in template.before if isinstance(piece, str))
    by_opener = syntax.reserved or has_words(re.escape(openers))
    if by_opener:
        choices.append(
            _forgotten(without_names(param_opener(syntax).replace("(?P<key>", "(?<next_key>")))
        )
    if not closes_solidly(template):
        # after JSON, which ends by itself, the next parameter may follow at once
        first = () if value_notation(template).json else ("\n",)
        return choice_point(*(choice._replace(begins=first) for choice in choices))
    any_tag = "name" in holes_of(syntax.call_template.after) and not neighbours.knows_names
    if closing and not by_opener and not any_tag:
        # If any tag may be a parameter, only the next call shows that a closer was forgotten. The
        # call's closer alone could be a misspelt closer of this parameter.
        following = "|".join(lookahead_of(choice.pattern) for choice in neighbours.calls)
        forgotten = _forgotten(f"{SPACE}{closing}{SPACE}(?:{following})")
        # the text after a closer decides if it closes the call or, misspelt, this parameter
        choices = [forgotten, *(choice._replace(varying=True) for choice in choices)]
    # another call with its first parameter: this call was cut off before it
    call = syntax.call_template.before
    shows_itself = by_opener and begins_with_words(call) and not syntax.section_required
    next_param = without_names(param_opener(syntax))
    with_params = [
        call._replace(pattern=f"{call.pattern}(?={SPACE}{next_param})", forms=())
        for call in neighbours.calls
        if shows_itself and call.group and call.group.kind is Kind.CALL
    ]
    # search for several characters, not one, because text is full of "<" (speed)
    beginnings = [
        *_closer_begins(template),
        prefix(without_final_space(syntax.call_template.after)),
    ]
    if by_opener:
        beginnings.append(prefix(template.before))
    beginnings = [text for text in beginnings if text]
    choices = [choice._replace(begins=(*beginnings, "\n")) for choice in choices]
    if with_params and prefix(call):
        beginnings.append(prefix(call))
    return choice_point(*choices, *with_params, beginnings=beginnings)


def _closer_begins(template: Template) -> list[str]:
    """Return the beginnings of a value's closer: with and without the blanks before its words.

    A line break before the closer needs none, because `any_beginning` allows for it.
    """
    words, first = prefix(template.after), str(template.after[0])
    space = first[: len(first) - len(first.lstrip())]
    return [words, space + words] if words and space.strip("\n") else [words]


def _value_closers(neighbours: Neighbours) -> list[str]:
    """Return the patterns of a value's closer, each with a lookahead.

    The first lookahead is for text that should follow the closer. The others are for mistakes of
    models, and few texts need them. In a call without a closer any text may follow.
    """
    syntax, template = neighbours.syntax, param_template(neighbours.syntax)
    holes = {"key": f"(?P<close_key>{_key_pattern(syntax)})"}
    block = value_notation(template).block
    closer = pieces_pattern(template.after, holes, value_before=True, block=block)
    if not neighbours.closing.pattern:
        return [closer]
    openers, misspelt = split_slips(param_openers(syntax))
    ends = [*openers, neighbours.closing.pattern, neighbours.section_close]
    ends += [choice.pattern for choice in neighbours.stops]
    expected = [without_names(end) for end in ends if end]
    misspelt += headless_openers(syntax)
    unexpected = [*map(without_names, misspelt), *_next_calls(neighbours)]
    # if only white space closes a value, further white space belongs to the value
    space = SPACE if closes_solidly(template) else ""
    following = [f"{space}(?:{'|'.join(ends)})" for ends in (expected, unexpected) if ends]
    following += _junk_before_closer(neighbours, prefix(template.after)) if space else []
    return [f"{closer}(?={text})" for text in following]


def _next_calls(neighbours: Neighbours) -> list[str]:
    """Build patterns for another call up to its first parameter or its closer: it shows that the
    closer of this call was forgotten.

    The reader checks that a tool `next_name` exists. Openers with a look-behind are left out,
    because they would slow down every line of a value.
    """
    if not begins_with_words(neighbours.syntax.call_template.before):
        return []
    opener, closer = param_opener(neighbours.syntax), neighbours.closing.pattern
    goes_on = f"(?={SPACE}{without_names(f'(?:{opener}|{closer})')})"
    patterns = []
    for choice in neighbours.calls:
        text = lookahead_of(choice.pattern.replace("(?P<name>", "(?<next_name>"))
        if "(?<!" not in text and "(?<=" not in text:
            own = choice.group is not None and choice.group.kind is Kind.CALL
            patterns.append(text + goes_on if own else text)
    return patterns


def _junk_before_closer(neighbours: Neighbours, closer: str) -> list[str]:
    """Build a pattern for a few words that models put between the last value and the call's closer.
    If only known names are tools (`known_names`), such words belong to the value. They hold no
    first character of either closer: if a comma closes values, one in a value would end it."""
    closing, known_names = neighbours.closing, neighbours.syntax.known_names
    if known_names or not closing.begins or not has_words(closing.pattern):
        return []
    heads = filter(None, (*closing.begins, closer))
    first = re.escape("".join({char for head in heads for char in (head[0], head.lstrip()[0])}))
    junk = rf"[^{first}\n]{{1,{JUNK_LIMIT}}}+"
    return [f"{junk}{SPACE}{without_names(closing.pattern)}"]


def holds_own_marker(text: str, syntax: Declaration, name: str) -> bool:
    """Return True if a value holds the opener of calls, or a marker with this call's name."""
    opener, sides = _own_markers(syntax)
    if opener:
        return opener in text
    if not name or name not in text:
        return False
    return any(
        "".join(p if isinstance(p, str) else name for p in side).strip() in text for side in sides
    )


@lru_cache(maxsize=1024)
def value_markers(syntax: Declaration, name: str, key: str) -> tuple[str, ...]:
    """Return the markers that no well-formed value of a parameter holds: its closer, and those
    which would show that the closer was forgotten. A parameter's opener is not among them if a
    value may hold elements, because their tags look the same."""
    call, param = syntax.call_template, param_template(syntax)
    closer = _leading(param.after, key)
    sides = [call.before, *(side for s in syntax.sections for side in (s.before, s.after))]
    texts = [*map(_leading, sides), _leading(call.after, name)]
    texts += [] if syntax.element else [_leading(param.before)]
    lettered = (text for text in texts if any(map(str.isalpha, text)))
    return tuple(dict.fromkeys(filter(None, (closer, *lettered))))


def _leading(pieces: tuple[Piece, ...], filled: str = "") -> str:
    """Return pieces as text, stripped. Each hole becomes `filled`; without `filled`, the text ends
    before the first hole."""
    text = ""
    for piece in pieces:
        if isinstance(piece, Hole) and not filled:
            break
        text += filled if isinstance(piece, Hole) else piece
    return text.strip()


@lru_cache(maxsize=256)
def _own_markers(syntax: Declaration) -> tuple[str, tuple[tuple[Piece, ...], ...]]:
    """Return (the opener of calls, ()) if the opener has words; otherwise "" and the pieces before
    and after the body that hold the tool's name."""
    template = syntax.call_template
    first = template.before[0] if template.before else ""
    opener = first.strip() if isinstance(first, str) else ""
    if has_words(re.escape(opener)):
        return opener, ()
    return "", tuple(side for side in (template.before, template.after) if Hole("name") in side)


def closes_solidly(template: Template) -> bool:
    """Return True if more than white space closes a value."""
    return any(is_solid(piece) for piece in template.after)


def _forgotten(following: str) -> Choice:
    """Make a choice for text that shows a forgotten closer; a line break before it does not belong
    to the value."""
    return Choice(rf"\n?+(?={following})", group=Group(Kind.FORGOTTEN))
