"""The grammar of well-formed replies: the declared pieces of a call, with free white space between
them, parameters in any order, and any values.

Of a tool's schema two things count: its parameters' names, and whether a raw value may be text.
Text may be before and after calls and sections, but not between the calls of a section. If a
section is required, a call outside of it is not well-formed, even where the parser reads it.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from playground.nouns.tools import JSON_TYPES, ToolMetadata, allowed_types
from playground.parsing.declaration import Declaration, Markers, written_name
from playground.parsing.grammars.characters import (
    BLANKS,
    DIGITS,
    CharacterSet,
    characters,
    characters_of,
    name_characters,
)
from playground.parsing.grammars.expressions import (
    EMPTY,
    Exact,
    Expression,
    FreeText,
    NamedRules,
    OneOf,
    Use,
    either,
    in_order,
    optional,
    repeat,
    token,
)
from playground.parsing.grammars.patterns import pattern_expression
from playground.parsing.grammars.pruning import prune
from playground.parsing.grammars.schemas import any_value
from playground.parsing.grammars.styles import (
    Style,
    bare_key,
    json_style,
    marked_style,
    python_style,
)
from playground.parsing.grammars.texts import ANY, beginning, not_beginning_with
from playground.parsing.notations import VALUES
from playground.parsing.notations.json_members import ENVELOPE
from playground.parsing.notations.marked_values import KEY_PART, KEY_START
from playground.parsing.notations.param_choices import closes_solidly, value_markers
from playground.parsing.outside_text import markers_of_words, tags_outside_text
from playground.parsing.patterns import Gap, well_formed
from playground.parsing.python_values import PLAIN_NUMBER
from playground.parsing.template import Hole, Piece, Template, declared_hole, is_line, leading_text

SPACE: Final = repeat(OneOf(BLANKS), 0, 64)
SOME_SPACE: Final = repeat(OneOf(BLANKS), 1, 64)
_JSON_SPACE: Final = repeat(OneOf(characters(" \t\n\r")), 0, 64)
_NO_NAME: Final = BLANKS | characters("<>=\"'`{}[]|\\")  # no name or key has these
_WORD: Final = repeat(OneOf(characters("a-z", "A-Z", "0-9", "_+#.-")), 0, 24)
_ASCII: Final = characters("\x01-\x7f")
_PYTHON_NUMBER: Final = pattern_expression(f"^{PLAIN_NUMBER}$", OneOf)
_PYTHON_ESCAPE: Final = (
    r"""\\(?:[\\'"abfnrtv0-7]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|N\{[\w -]+\})"""
)
_PYTHON_TEXT: Final = either(
    pattern_expression(rf"^{mark}(?:[^\r\n\\{mark}]|{_PYTHON_ESCAPE})*{mark}$", OneOf)
    for mark in "'\""
)
_WORDS: Final = ("true", "false", "none", "null")
_LINE: Final = repeat(OneOf(characters("\r\n`").others), 1, 256)


def ends_by_space(form: Declaration) -> bool:
    """Return True if only white space ends a parameter's raw value."""
    template = form.param_template
    return bool(template and not VALUES[template.body].json and not closes_solidly(template))


def _gap(gap: Gap) -> Expression:
    return repeat(OneOf(BLANKS), gap.least, 64)


def _any_case(word: str) -> Expression:
    return in_order(*(OneOf(characters(letter, letter.upper())) for letter in word))


def loose(text: str) -> Expression:
    """Build a literal in which the amount of white space is free."""
    parts = (
        _gap(part) if isinstance(part, Gap) else Exact(str(part))
        for part in well_formed((text.strip(),))
    )
    return in_order(*parts)


def well_formed_rules(
    syntax: Declaration,
    markers: Markers,
    answer_frame: tuple[str, str],
    tools: Sequence[ToolMetadata],
    required: bool,
) -> dict[str, Expression]:
    """Build the rules of a reply with any number of calls, with `required` at least one. The first
    rule is the reply's. `answer_frame` has the texts before and after an answer."""
    rules = NamedRules()
    root = rules.take("root")
    forms = [_Form(form, tools, rules) for form in (syntax, *syntax.also) if not form.slip]
    by_section: dict[str, list[_Form]] = {}
    for form in forms:
        by_section.setdefault(form.syntax.section, []).append(form)
    calls = rules.add("calls", either(f.calls(by_section[f.syntax.section]) for f in forms))
    outside = tags_outside_text(syntax, markers, [tool.name for tool in tools])
    text = rules.add("text", FreeText(ANY, outside))
    lines = tuple(tag[1:] for tag in outside if tag.startswith("\n"))
    first = rules.add("first", FreeText(not_beginning_with(lines), outside)) if lines else text
    others = [*_reasoning_and_tokens(syntax, markers), *map(loose, filter(None, answer_frame))]
    other = repeat(in_order(either(others), text)) if others else EMPTY
    listed = repeat(in_order(calls, text, other), 1)
    begin = optional(_unopened(markers)) if markers.opens_reasoning else EMPTY
    rules.named[root] = in_order(begin, first, other, listed if required else optional(listed))
    return prune(rules.named, root)


def _unopened(markers: Markers) -> Expression:
    """Build reasoning whose opener is in the prompt."""
    close = markers.reasoning[0].close
    return FreeText(ANY, (close,), close) if close else FreeText(ANY)


def _reasoning_and_tokens(syntax: Declaration, markers: Markers) -> list[Expression]:
    """Build everything that a reply may have in addition to text and calls: thoughts, texts between
    plain tags, model tokens."""
    # not a leaked token that is also the beginning of an opener or closer: it gives a finding
    ends = (*syntax.openers, *syntax.closers)
    dropped = [token for token in markers.dropped if not any(e.startswith(token) for e in ends)]
    expressions: list[Expression] = []
    for tags in (*markers.reasoning, *markers.plain):
        close = tags.close
        inside = FreeText(ANY, (close,), close) if close else FreeText(ANY, (tags.open,))
        expressions.append(in_order(loose(tags.open), inside))
    return [*expressions, *map(loose, (*markers.stops, *dropped))]


def _free_style(style: Style, space: Expression = SPACE) -> Style:
    """Return a style with free white space around commas, colons and inside brackets."""
    comma, colon = (in_order(space, mark, space) for mark in ",:")
    return replace(style, name=f"free-{style.name}", comma=comma, colon=colon, edge=space)


def _free_json(in_text: bool = False) -> Style:
    """Return the style of JSON in which any text may be a key, even the empty one."""
    style = _free_style(json_style(in_text=in_text), _JSON_SPACE)
    return replace(style, any_key=lambda names: style.text(), any_escape=True)


class _Form:
    """A maker of the calls of one form."""

    def __init__(
        self, syntax: Declaration, tools: Sequence[ToolMetadata], rules: NamedRules
    ) -> None:
        self.syntax, self.tools, self.rules = syntax, tools, rules
        if syntax.name:
            self.tools = [tool for tool in tools if tool.name == syntax.name] or [
                ToolMetadata(name=syntax.name, input_schema={})
            ]
        self._values: dict[Style, Use] = {}

    @cached_property
    def _calls_by_tool(self) -> dict[str, Use]:
        return {
            tool.name: self.rules.add(f"call-{tool.name}", self._call(tool)) for tool in self.tools
        }

    def calls(self, siblings: Sequence[_Form]) -> Expression:
        """Build a section with its calls, or calls without a section if the form has none. A
        section also holds calls of the forms that have the same section: the `siblings`."""
        syntax, calls = self.syntax, self._calls_by_tool
        forms = siblings if syntax.sections else (self,)
        call = self.rules.add("call", either(c for f in forms for c in f._calls_by_tool.values()))
        separator = in_order(SPACE, loose(syntax.separator.strip()), SPACE)
        listed = in_order(call, repeat(in_order(separator, call)))
        if not syntax.sections:
            return listed
        sections = [listed] if syntax.section_optional else []
        for section in syntax.well_formed_sections:
            if syntax.one_call_a_section:
                sections += [self._section(section, calls[tool.name], tool) for tool in self.tools]
            else:
                sections.append(self._section(section, listed, None))
        return either(sections)

    def _section(
        self, section: Template, inside: Expression, tool: ToolMetadata | None
    ) -> Expression:
        before = self._pieces(section.before, tool)
        return in_order(before, SPACE, inside, SPACE, self._pieces(section.after, tool))

    def _pieces(
        self, pieces: Sequence[Piece], tool: ToolMetadata | None, key: Expression | str = ""
    ) -> Expression:
        """Build pieces for `tool`, or for any tool; a hole allows every text that may fill it."""
        parts: list[Expression | str] = []
        for part in well_formed(pieces):
            if isinstance(part, Gap):
                parts.append(_gap(part))
            else:
                parts.append(part if isinstance(part, str) else self._hole(part, tool, key))
        return in_order(*parts)

    def _hole(
        self, hole: Hole, tool: ToolMetadata | None, key: Expression | str
    ) -> Expression | str:
        kind = hole.name.partition(":")[0]
        if kind == "name":
            names = [tool] if tool else self.tools
            return either(Exact(written_name(self.syntax, each.name)) for each in names)
        if kind == "key":
            return key
        if is_line(hole.name):
            return _LINE
        kinds = [*JSON_TYPES, *map(self.syntax.type_word, JSON_TYPES)]
        return {
            "id": repeat(OneOf(_NO_NAME.others), 1, 128),
            "index": repeat(OneOf(DIGITS), 1, 20),
            "number": repeat(OneOf(DIGITS), 1, 20),
            "word": _WORD,
            "type": either(map(Exact, kinds)),
            "is_text": either([Exact("true"), Exact("false")]),
        }[kind]

    # bodies

    def _call(self, tool: ToolMetadata) -> Expression:
        template = self.syntax.call_template
        body = _BODIES[declared_hole(template.body, _BODIES)](self, tool)
        if declared_hole(template.body, _BODIES) == "text:KEY":
            return in_order(self._pieces(template.before, tool), body)
        after = self._pieces(template.after, tool)
        return in_order(self._pieces(template.before, tool), SPACE, body, SPACE, after)

    def _any(self, style: Style) -> Use:
        """Return the rule of any value in a style."""
        if style not in self._values:
            self._values[style] = any_value(style, self.rules)
        return self._values[style]

    def _object(self, style: Style) -> Expression:
        pair = in_order(style.any_key([]), style.colon, self._any(style))
        inside = optional(in_order(pair, repeat(in_order(style.comma, pair)), style.last))
        return style.as_written(style.within("{", inside, "}"))

    @property
    def json(self) -> Style:
        return _free_json()

    @property
    def python(self) -> Style:
        """Plain literals of Python, their texts with the escapes that Python has."""
        texts = _PYTHON_TEXT
        style = replace(_free_style(python_style()), any_text=texts, any_key=lambda names: texts)
        return replace(style, last=optional(in_order(SPACE, ",")), number=_PYTHON_NUMBER)

    def json_arguments(self, tool: ToolMetadata) -> Expression:
        return self._object(self.json)

    def marked_arguments(self, tool: ToolMetadata) -> Expression:
        style = _free_style(marked_style(self.syntax.string_mark))
        first, part = map(characters_of, (KEY_START, KEY_PART))
        bare = in_order(OneOf(first), repeat(OneOf(part)))
        keys = either([token(bare), style.text()])
        return self._object(replace(style, any_key=lambda names: keys))

    def json_call(self, tool: ToolMetadata) -> Expression:
        """Build one object with name and arguments, in either order, among other members."""
        shape, style = self.syntax.shape, self.json
        if shape.name_is_key:
            member = in_order(style.constant(tool.name), style.colon, self._object(style))
            return style.within("{", member, "}")
        arguments = self._object(style)
        if shape.arguments_as_text:
            in_text = _free_json(in_text=True)
            blanks = in_text.as_written(_JSON_SPACE)
            arguments = in_order('"', blanks, self._object(in_text), blanks, '"')
        if shape.text_key:
            arguments = either([arguments, style.text()])
        name = Exact(style.constant(tool.name))
        extra = [style.constant(key) for key in (*ENVELOPE, shape.id, shape.thought) if key]
        extra += [style.constant(key) for key, _ in shape.constants]
        other = in_order(either(map(Exact, extra)), style.colon, self._any(style))
        return _nested(style, other, [(shape.name, name), (shape.arguments, arguments)])

    def python_arguments(self, tool: ToolMetadata) -> Expression:
        style = self.python
        first, part = name_characters(), name_characters(before="a")
        foreign = [OneOf(first - _ASCII), in_order(bare_key([]), OneOf(part - _ASCII))]
        # not a keyword of Python, because a strict reader refuses it as a name
        key = either([bare_key(keyword.kwlist), in_order(either(foreign), repeat(OneOf(part)))])
        pair = in_order(token(key), SPACE, "=", SPACE, self._any(style))
        return optional(in_order(pair, repeat(in_order(style.comma, pair)), SPACE, optional(",")))

    def params(self, tool: ToolMetadata) -> Expression:
        """Build parameters in any order, with the tool's own keys or any others."""
        syntax, template = self.syntax, self.syntax.param_template
        assert template is not None
        names = sorted(tool.parameter_names)
        params = [self._param(tool, template, key) for key in names]
        in_tag = leading_text(template.before).endswith("<")  # `</key>` is a closer
        other = self._other_than(names, _NO_NAME | characters("/") if in_tag else _NO_NAME)
        params.append(self._param(tool, template, None, other))
        param = self.rules.add(f"param-{tool.name}", either(params))
        first = template.before[0] if template.before else ""
        spaced = isinstance(first, str) and first.isspace()
        space = SOME_SPACE if spaced or syntax.param_separator else SPACE
        listed = optional(in_order(param, repeat(in_order(space, param))))
        if syntax.object_block[0]:
            opener, closer = map(loose, syntax.object_block)
            block = in_order(opener, SPACE, self._object(self.json), SPACE, closer)
            return either([listed, block])
        return listed

    def _param(
        self, tool: ToolMetadata, template: Template, key: str | None, other: Expression = EMPTY
    ) -> Expression:
        """Build a parameter: the tool's own `key`, or one with an `other` key."""
        hole = written_name(self.syntax, key) if key is not None else other
        before = self._pieces(template.before, tool, hole)
        if isinstance(template.before[-1], str) and template.before[-1].isspace():
            line = in_order(repeat(OneOf(characters(" \t\r")), 0, 64), "\n")
            gap = line if template.before[-1] == "\n" else SOME_SPACE
            before = in_order(self._pieces(template.before[:-1], tool, hole), gap)
        after = self._pieces(template.after, tool, hole)
        if VALUES[template.body].json:
            return in_order(before, SPACE, self._any(self.json), SPACE, after)
        markers = value_markers(self.syntax, tool.name, key or "")
        value: Expression = FreeText(ANY, markers)
        types = allowed_types(tool.parameter_schema(key)) if key is not None else set()
        if types and "string" not in types:
            words = map(_any_case, _WORDS)  # models write these in any letter case
            values = [self._any(self._value_style()), *words]
            if prefix := self.syntax.element:  # a value may be empty, or nested elements
                values += [EMPTY, in_order(f"{prefix}<", FreeText(ANY, markers))]
            value = in_order(SPACE, either(values), SPACE)
        if self.syntax.cdata:
            inside = FreeText(ANY, ("]]>",), "]]>")
            value = either([value, in_order("<![CDATA[", inside)])
        return in_order(before, value, after)

    def _other_than(
        self, words: Sequence[str], excluded: CharacterSet = _NO_NAME, begun: bool = False
    ) -> Expression:
        """Build a key that is none of the words, with a rule for each beginning of a word. It does
        not begin with a character of `excluded`. `begun` is True for the rest of such a key."""
        heads = dict.fromkeys(word[0] for word in words if word)
        first = excluded.others - characters(*heads)
        ways: list[Expression] = [in_order(OneOf(first), repeat(OneOf(_NO_NAME.others)))]
        for head in heads:
            rest = self._other_than([word[1:] for word in words if word[:1] == head], begun=True)
            ways.append(in_order(head, self.rules.add("other-key", rest)))
        return optional(either(ways)) if begun and "" not in words else either(ways)

    def _value_style(self) -> Style:
        """Return the style of values other than texts."""
        literals = self.syntax.literals
        if literals.nested == "python":
            return self.python
        words = (literals.null, literals.true, literals.false)
        return replace(self.json, name="value", words=words)

    def texts(self, tool: ToolMetadata) -> Expression:
        template = self.syntax.call_template
        # a text without an ending in the template reaches up to the next call
        own = replace(self.syntax, also=())
        words = markers_of_words(own, [each.name for each in self.tools])
        openers = tuple(f"\n{word.strip()}" for word in words)
        parts: list[Expression] = []
        for pieces in template.between:
            ending = leading_text(pieces, name=written_name(self.syntax, tool.name)).strip()
            shape = beginning("{", empty=False) if self.syntax.objects else ANY
            text: Expression = FreeText(shape, (ending,) if ending else openers)
            if self.syntax.objects:
                text = either([text, in_order(SPACE, self._object(self.json), SPACE)])
            parts.append(text)
            parts.append(self._pieces(pieces, tool))
        return in_order(*parts)


def _nested(
    style: Style, other: Expression, placed: list[tuple[tuple[str, ...], Expression]]
) -> Expression:
    """Build an object with `placed` values at their paths, in any order, among `other` members."""
    inside: dict[str, list[tuple[tuple[str, ...], Expression]]] = {}
    for path, value in placed:
        inside.setdefault(path[0], []).append((path[1:], value))
    members = []
    for key, values in inside.items():
        own = values[0][1] if values[0][0] == () else _nested(style, other, values)
        members.append(in_order(style.constant(key), style.colon, own))
    before = repeat(in_order(other, style.comma))
    after = repeat(in_order(style.comma, other))
    orders = [members] if len(members) == 1 else [members, members[::-1]]
    between = in_order(style.comma, before)
    listed = (_joined(order, between) for order in orders)
    return style.within("{", in_order(before, either(listed), after), "}")


def _joined(parts: Iterable[Expression], between: Expression) -> Expression:
    first, *rest = parts
    return in_order(first, *(in_order(between, part) for part in rest))


_BODIES: Final[dict[str, Callable[[_Form, ToolMetadata], Expression]]] = {
    "call:json": _Form.json_call,
    "args:json": _Form.json_arguments,
    "args:marked": _Form.marked_arguments,
    "args:python": _Form.python_arguments,
    "params": _Form.params,
    "text:KEY": _Form.texts,
}
