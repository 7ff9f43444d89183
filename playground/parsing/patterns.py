"""Patterns of markers that can be matched partially, however the text is cut.

In a stream's patterns every repetition is bounded and possessive, also inside another repetition,
so that any text is searched a bounded number of times. (Only a plain `?` may backtrack.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from playground.parsing.template import Hole, Piece, Template, holes_of

# White space between markers. It includes text that leaks there: <bos> and <eos>, white space of
# byte-level tokenizers (Ġ is a blank, Ċ a line break), and white space that was escaped too often.
SPACE: Final = r"(?:[\sĠĊ]|\\[nrt]|<[be]os>){0,64}+"
LEAKED: Final = ("Ġ", "Ċ", r"\n", r"\r", r"\t", "<bos>", "<eos>")  # SPACE without \s
NO_NAME: Final = r"""\s<>="'`{}\[\]|\\"""  # no dialect has these characters in a name or a key
IDENTIFIER: Final = r"[A-Za-z_][\w.\-]{0,127}+"
# The end of a tag that names a tool. `/>` means no body. If a closer follows, `>` was forgotten.
EMPTY: Final = "(?:(?P<empty>/)?>|(?P<unended>(?=</)))"
LINE: Final = r"[^\s`][^\r\n`]{0,255}+"
WORD: Final = r"[\w+#.\-]{0,24}+"
# attributes that the form does not have are skipped
ATTRIBUTES: Final = r"""(?:\s{1,8}+[\w:.\-]{1,32}+="[^"]{0,64}+"){0,4}+"""
_LINE_BREAK: Final = r"[ \t]{0,16}+\r?\n"
_AROUND_EQUALS: Final = r"\s{0,8}+"
LINE_START: Final = r"(?<!\S[ \t]{0,6})"
WORD_START: Final = r"(?<!\w)"
# Not after a member's key. The inner look-behind is needed, because else `regex` takes any two
# characters after a blank for a partial match: `[ x` would be held up to the stream's end.
NO_MEMBER: Final = r"""(?<!(?<="):\s{0,6})"""
CONTEXT: Final = 8  # the most characters before a place that a look-behind such as LINE_START sees
# the end of white space after a name, before other text or at the end of the text
NAME_END: Final = r"(?<=\s)(?=\S|\Z)"
NAME_END_BEFORE_TEXT: Final = r"(?<=\s)(?=\S)"
# after a tag that prose may mention, as in `<f> as it is`: no word may follow after blanks
NOT_IN_PROSE: Final = r"(?:(?<=/>)|(?<![ \t])(?=\w)|[ \t]{0,16}+(?:(?=[^\w \t])|\Z))"
# a code fence or a list around a body, before it and after it
WRAPPER_START: Final = r"(?P<wrapped>\s{0,8}+(?:```\w{0,12}+\s{0,8}+\[?|\[))?"
WRAPPER_END: Final = r"(?P<wrapped>\]\s{0,8}+(?:```\s{0,8}+)?|```\s{0,8}+)?"


def pieces_pattern(
    pieces: Iterable[Piece],
    holes: Mapping[str, str],
    value_before: bool = False,
    value_after: bool = False,
    block: bool = False,
) -> str:
    """Build a pattern for pieces. `holes` are the patterns of the holes.

    Any white space between pieces is tolerated. Next to a value (`value_before` or `value_after`
    the pieces) only the declared white space is allowed, or with `block` one line break; more
    belongs to the value.
    """
    listed = list(pieces)
    before = after = ""
    if value_before and listed:
        listed[0], before = _edge(listed[0], start=True)
    if value_after and listed:
        listed[-1], after = _edge(listed[-1], start=False)
    # `<{name}>` matches any tag already, so attributes after its name are not tolerated
    begins_with_word = (
        bool(listed) and isinstance(listed[0], str) and any(map(str.isalpha, listed[0]))
    )
    named = [
        "",
        *(piece.name if begins_with_word and isinstance(piece, Hole) else "" for piece in listed),
    ]
    texts = [
        _piece(piece, holes, first=index == 0, previous=named[index])
        for index, piece in enumerate(listed)
    ]
    last = listed[-1] if len(listed) > 1 else ""
    if value_after and isinstance(last, str) and last.isspace():
        # other white space belongs to the value, except blanks before a line break
        texts[-1] = _LINE_BREAK if last == "\n" else re.escape(last)
    own_line = _optional("\n" if block else "")
    if value_before and texts:  # white space between a value and an `=` belongs to the value
        texts[0] = own_line + _optional(before) + texts[0].removeprefix(_AROUND_EQUALS)
    if value_after and texts:
        texts[-1] = texts[-1].removesuffix(_AROUND_EQUALS) + _optional(after) + own_line
    return "".join(texts)


def _piece(piece: Piece, holes: Mapping[str, str], first: bool, previous: str = "") -> str:
    """Build the pattern of a piece; `previous` is the hole before it, in a form that begins with a
    word."""
    if isinstance(piece, Hole):
        return holes[piece.name]
    if piece.isspace():
        # the first piece must match some text: an empty opener would match anywhere
        return re.escape(piece) if first else SPACE
    if first:
        return literal(piece)
    # after a hole: `<x name="f" more="attributes">`, and white space before a tag or its end
    if previous == "name" and piece.strip() == ">":
        return SPACE + EMPTY
    if previous == "key" and piece.startswith(">"):
        return r"[ \t]{0,8}+" + literal(piece)
    if re.match(r'"\s*/?>', piece):
        end = EMPTY if previous == "name" and piece.strip() == '">' else literal(piece[1:])
        return '"' + ATTRIBUTES + r"\s{0,8}+" + end
    return SPACE + literal(piece) if piece[:1] in "<[" else literal(piece)


def _edge(piece: Piece, start: bool) -> tuple[Piece, str]:
    """Return a piece without the white space at its start, or if not `start` at its end, and that
    white space."""
    if isinstance(piece, Hole) or piece.isspace():
        return piece, ""  # a piece of white space alone is kept
    if start:
        bare = piece.lstrip()
        return bare, piece[: -len(bare)]
    bare = piece.rstrip()
    return bare, piece[len(bare) :]


def _optional(space: str) -> str:
    """Build a pattern for white space at a value's edge. Models may leave it out, or put blanks
    before a line break."""
    if not space:
        return ""
    return f"(?:{_LINE_BREAK})?+" if space == "\n" else f"(?:{re.escape(space)})?+"


def without_final_space(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return a closer's pieces without the white space at their end, which is not part of it."""
    if pieces and isinstance(pieces[-1], str):
        return (*pieces[:-1], pieces[-1].rstrip() or pieces[-1])
    return pieces


def name_before(pieces: tuple[Piece, ...], hole: str) -> str:
    """Build a pattern for the name in a `hole`, which ends where the literal after it begins. In
    quotes a name may have any characters but quotes and line breaks."""
    stop = ""
    for piece, following in zip(pieces, pieces[1:], strict=False):
        if isinstance(piece, Hole) and piece.name == hole and isinstance(following, str):
            stop = re.escape(following[:1].strip())
            if stop == '"':
                return r'[ \t]{0,8}+[^"\s][^"\n]{0,127}+'
    # no name begins with a slash: `</f>` is a closer, and `<{name}>` must not take it
    return f"(?!/)(?:[^{NO_NAME}{stop}/]|/(?!>)){{1,128}}+"


@lru_cache(maxsize=4096)  # called with the same markers for each place where they may occur
def literal(text: str) -> str:
    """Build a pattern for a marker: its words must be exact, the white space around them and around
    the `=` of an attribute may vary."""
    pattern = SPACE.join(re.escape(word) for word in words_of(text))
    return re.sub(r"""=(["']|\Z)""", r"\\s{0,8}+=\\s{0,8}+\1", pattern)


def words_of(text: str) -> list[str]:
    """Return the words of a marker, between which white space may vary."""
    return re.split(r"\s+|(?<=>)(?=\S)|(?<=\S)(?=<)", text)


class Gap(NamedTuple):
    """White space between the words of a declaration: any amount from `least` characters on."""

    least: int = 0


def well_formed(pieces: Iterable[Piece]) -> list[str | Hole | Gap]:
    """Return the well-formed spelling of pieces: their words and holes, with any white space where
    they have white space, between tags and before a tag."""
    parts: list[str | Hole | Gap] = []
    for piece in pieces:
        if isinstance(piece, Hole):
            parts.append(piece)
            continue
        words = words_of(piece)
        if words[0] and parts and re.match(r"[<\[]|/?>", words[0]):
            parts.append(Gap())
        for at, word in enumerate(words):
            touches = at and re.search(r"\w\Z", words[at - 1]) and re.match(r"\w", word)
            parts += [Gap(1 if touches else 0)] * (at > 0) + [word] * bool(word)
    return parts


def _part_pattern(part: str | Hole | Gap) -> str:
    match part:
        case Gap(least):
            return r"\s+" if least else r"\s*"
        case Hole("word"):
            return WORD
        case Hole("name"):
            # a slash at the end does not belong to the name: `<f/>`
            return f"[^{NO_NAME}ĠĊ]*[^{NO_NAME}ĠĊ/]"
        case Hole(name):
            return ".+?" if name.startswith("line:") else f"[^{NO_NAME}]+"
    return re.escape(part)


@lru_cache(maxsize=1024)
def well_formed_pattern(pieces: tuple[Piece, ...]) -> re.Pattern[str]:
    """Return the pattern of pieces that are well-formed, whatever is in their holes."""
    texts = map(_part_pattern, well_formed(pieces))
    return re.compile(rf"\s*{''.join(texts)}\s*", re.DOTALL)


def slips(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Return the misspelled forms of an opener that models write.

    The values of attributes may be in single quotes, or in none. A name that is declared without
    quotes may be in quotes, or be the attribute `name`.
    """
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if any(text.endswith('="') for text in texts[:-1]):
        return [_with_quotes(pieces, quote) for quote in ("'", "")]
    if len(pieces) == 3 and texts[0].endswith("=") and texts[-1].startswith(">"):
        head, hole, tail = texts[0][:-1], pieces[1], texts[-1]
        return [(f'{head}{attribute}="', hole, f'"{tail}') for attribute in ("", " name")]
    return []


def spaced_name(pieces: tuple[Piece, ...], opener: str) -> list[str]:
    """Return the pattern of an opener with white space between its marker and the name, in a list;
    [] if no marker comes before the name."""
    if not follows_marker(pieces, "name"):
        return []
    marker = literal(str(pieces[0]))
    return [rf"{marker}\s{{1,8}}+{opener.removeprefix(marker)}"]


def spaced_tag(pieces: tuple[Piece, ...], opener: str) -> list[str]:
    """Return the pattern of an opener with a blank in its tag, `< invoke`, in a list; [] if the
    opener is not a tag of letters."""
    return [rf"<[ \t]{{1,2}}+{opener[1:]}"] if _is_tag(pieces) else []


def spaced_begins(pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    """Return the beginning of a tag that `spaced_tag` matches; () if it matches none."""
    return (f"< {prefix(pieces)[1:4]}",) if _is_tag(pieces) else ()


def _is_tag(pieces: tuple[Piece, ...]) -> bool:
    return bool(re.match(r"<[A-Za-z]", prefix(pieces)))


def follows_marker(pieces: tuple[Piece, ...], hole: str) -> bool:
    """Return True if a hole comes right after a complete marker, such as `<arg_key>`."""
    first = pieces[0] if pieces[1:2] == (Hole(hole),) else ""
    return isinstance(first, str) and bool(re.fullmatch(r"[<\[]\S*\w\S*[>\]:]", first))


def without_list(section: Template) -> Template | None:
    """Return a section without the brackets of its list, which models leave out around a single
    call.

    Return None if the section has no brackets, or no word before them.
    """
    opener, closer = section.before[-1:], section.after[:1]
    if not opener or not closer or not isinstance(opener[0], str) or not isinstance(closer[0], str):
        return None
    text, end = opener[0].rstrip(), closer[0].lstrip()
    before = (*section.before[:-1], text[:-1])
    if (
        not text.endswith("[")
        or not end.startswith("]")
        or not has_words(pieces_pattern(before, {}))
    ):
        return None
    after = tuple(piece for piece in (end[1:], *section.after[1:]) if piece)
    pieces = (*before, Hole(section.body), *after)
    return section._replace(before=before, after=after, pieces=pieces, between=(after,))


def _with_quotes(pieces: tuple[Piece, ...], quote: str) -> tuple[Piece, ...]:
    def written(text: str) -> str:
        text = text.replace('="', f"={quote}")
        return quote + text[1:] if text.startswith('"') else text

    return tuple(written(piece) if isinstance(piece, str) else piece for piece in pieces)


def with_slips(declared: str, wrong_forms: Iterable[str]) -> list[str]:
    """Return the patterns of a form and of its slips. Those of slips have a group `slip`."""
    # a form that ends in a repetition comes last, where `Choice.repeats` looks for repetitions
    listed = [f"{pattern}(?P<slip>)" for pattern in wrong_forms]
    return [*listed, declared] if declared.endswith("+") else [declared, *listed]


def split_slips(patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the patterns that `with_slips` returns into the declared form and its slips."""
    declared = [pattern for pattern in patterns if not pattern.endswith("(?P<slip>)")]
    return declared, [pattern for pattern in patterns if pattern not in declared]


def any_form(patterns: Sequence[str]) -> str:
    """Return one pattern for any of the patterns; the first that matches wins."""
    return patterns[0] if len(patterns) == 1 else f"(?:{'|'.join(patterns)})"


@lru_cache(maxsize=1024)  # called at the end of each value
def has_words(pattern: str) -> bool:
    """Return True if a marker has letters. A marker without letters proves little in prose."""
    letters = re.sub(r"\\[a-zA-Z]|\(\?P<\w+>", "", pattern.replace(SPACE, ""))
    return any(char.isalpha() for char in letters)


def begins_with_words(pieces: tuple[Piece, ...]) -> bool:
    """Return True if a form begins with a marker of words, not with a hole or punctuation."""
    first = pieces[0] if pieces else ""
    return isinstance(first, str) and has_words(re.escape(first))


def allow_repeated(opener: str, template: Template, partly: bool = False) -> str:
    """Return a pattern that also matches a repeated opener, if it has words: models repeat openers.
    If the opener has holes, only its first literal may be repeated, and only with `partly`."""
    first = template.before[0] if template.before else ""
    words = literal(first) if partly and isinstance(first, str) and first else ""
    once = words if holes_of(template.before) else opener
    return f"(?P<doubled>{once}{SPACE})?{opener}" if has_words(once) else opener


def without_names(pattern: str) -> str:
    """Return a pattern without named groups, for a lookahead, where they would hide the groups of
    the choice itself."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def lookahead_of(pattern: str) -> str:
    r"""Return the pattern of an opener, for a lookahead.

    Text must follow the opener's name, because \Z would take the end of a chunk for the end of the
    name.
    """
    return without_names(pattern).replace(NAME_END, NAME_END_BEFORE_TEXT).replace(NOT_IN_PROSE, "")


def begins(pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    """Return the beginning of a form, if it begins with a literal; () otherwise. A leading blank
    means that white space may come before the marker."""
    start = prefix(pieces)
    if not start:
        return ()
    return (f" {start}" if str(pieces[0]).startswith(" ") else start,)


def prefix(pieces: tuple[Piece, ...]) -> str:
    """Return the first characters of a form, up to five: few enough to be found fast, enough to be
    rare in text. They end where `literal` allows white space. Leading white space is left out."""
    first = pieces[0] if pieces else ""
    match = _FIXED.match(first.lstrip()) if isinstance(first, str) else None
    return match[0] if match else ""


_FIXED: Final = re.compile(r'\S(?:(?!<|="|(?<=>))\S){0,4}')


def is_solid(piece: Piece) -> bool:
    """Return True if a piece is not only white space."""
    return isinstance(piece, Hole) or bool(piece.strip())


def last_piece(pieces: tuple[Piece, ...]) -> Piece:
    """Return the last piece that is not white space."""
    solid = [piece for piece in pieces if is_solid(piece)]
    return solid[-1] if solid else ""


def begin_differently(form: tuple[Piece, ...], *others: tuple[Piece, ...]) -> bool:
    """Return True if no other form has the beginning of this one, in any spelling of its opener."""
    head, *heads = map(_head, (form, *others))
    return not any(other.startswith(head) or head.startswith(other) for other in heads)


def _head(pieces: tuple[Piece, ...]) -> str:
    """Return the literal with which a form begins, up to the first character that models vary."""
    first = pieces[0] if pieces else ""
    return re.split(r"""[\s="']""", first.lstrip())[0] if isinstance(first, str) else ""


def closer_heads(closer: str) -> list[str]:
    """Return a closer without its last tag or word, then without the two last, and so on."""
    parts = re.findall(r"</?[^<>\]\[]+>|\w+|[^\w\s]", closer)
    if not has_words(re.escape(closer)):
        return []
    heads: list[str] = []
    rest = closer
    for part in reversed(parts[1:]):
        rest = rest[: rest.rindex(part)].rstrip()
        heads.append(rest)
    return heads


def section_ends(sections: tuple[Template, ...]) -> list[str]:
    """Return the patterns of section closers, each once, in a fixed order."""
    closers = sorted(
        (without_final_space(section.after) for section in sections), key=str, reverse=True
    )
    patterns = dict.fromkeys(pieces_pattern(closer, {}) for closer in closers)
    return [pattern for pattern in patterns if pattern]
