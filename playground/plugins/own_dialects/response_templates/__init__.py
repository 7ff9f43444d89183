"""Response templates: declarations in the form by which `transformers` reads replies
(`parse_response`).

A response template has a field each for reasoning, calls and content. Each field has an opener, a
closer and one of a few parsers for its body. For each part of a dialect that a template cannot
express, there is a finding.
"""

from __future__ import annotations

from typing import Any, Final

from playground.base.arguments import takes
from playground.base.findings import finding
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.grammars.notes import Notes, quote_words
from playground.parsing.grammars.response_template import ResponseTemplate
from playground.parsing.patterns import without_list
from playground.parsing.template import Piece, Template, declared_text, holes_of
from playground.plugins.own_dialects.response_templates.bodies import (
    CallBody,
    Inexpressible,
    body_of,
    ends_line,
    list_of,
)
from playground.plugins.own_dialects.response_templates.patterns import (
    LINE_BREAK,
    any_of,
    end_of_body,
    escape,
    group,
    has_marker,
    pattern_of,
    without_groups,
)

SUBJECT: Final = "response-template"
_ANCHORS: Final = {
    "<|im_end|>": "<|im_start|>assistant\n",
    "<|eot_id|>": "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "<end_of_turn>": "<start_of_turn>model\n",
    "<turn|>": "<|turn>model\n",
    "<|return|>": "<|start|>assistant",
    "<|END_OF_TURN_TOKEN|>": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
}
"""Headers of an assistant's turn, by the stop token of the chat templates that write the header."""
_SAME_FIELDS: Final = ("name", "sections", "known_names", "line_start")
"""The fields in which two forms must agree if one template is to read both."""
_NO_PREFIX: Final = r"\Z"  # the turn begins where the prompt ends, so no prompt text is read


@takes(start_anchor="text", portable=bool)
def response_template(
    dialect: Dialect, start_anchor: str = "", portable: bool = False
) -> ResponseTemplate:
    """Build the response template of a dialect; see `Dialect.response_template`."""
    name = dialect.name
    if not isinstance(dialect, DeclaredDialect):
        reason = "the dialect is written by hand, and only a declaration gives a response template"
        return ResponseTemplate(name, {}, (finding("no-response-template", "dialect", reason),))
    syntax, markers, answer = dialect.syntax, dialect.markers, dialect.answer
    notes = Notes(SUBJECT)
    try:
        calls = _Calls(syntax, markers, notes, portable)
    except Inexpressible as reason:
        refusal = Notes(SUBJECT)
        refusal.refuse("calls", str(reason))
        return ResponseTemplate(name, {}, tuple(refusal.findings))
    fields = {
        **_reasoning(markers, answer, calls, notes),
        "tool_calls": calls.field(),
        "content": _content(markers, answer, calls),
    }
    anchor = _anchor(markers, start_anchor, notes)
    template = {"defaults": {"role": "assistant"}, **anchor, "fields": fields}
    return ResponseTemplate(name, template, tuple(notes.findings))


def _anchor(markers: Markers, start_anchor: str, notes: Notes) -> dict[str, str]:
    """Return the template's key for the place where the assistant's turn begins in the prompt."""
    if start_anchor:
        return {"start_anchor": start_anchor}
    known = next((_ANCHORS[stop] for stop in markers.stops if stop in _ANCHORS), "")
    if known:
        message = f"{known!r} is assumed to begin the assistant's turn"
        notes.add("anchor", "start_anchor", message)
        # the pattern always matches, as without a match the prompt would be read as a reply
        return {"start_anchor_pattern": rf"\A(?:.*{escape(known)}|.*)"}
    message = "it is unknown how the assistant's turn begins: a thought that the prompt opens is"
    notes.narrower("start_anchor", f"{message} not seen")
    return {"start_anchor_pattern": _NO_PREFIX}


def _reasoning(
    markers: Markers, answer: tuple[str, str], calls: _Calls, notes: Notes
) -> dict[str, Any]:
    """Return the field of reasoning, or {}. Without a closer, a call or a stop token ends it.
    `answer` are the markers around an answer after reasoning."""
    if not markers.reasoning:
        return {}
    openers = [tags.open.strip() for tags in markers.reasoning]
    closers = [tags.close.strip() for tags in markers.reasoning if tags.close]
    call = any_of([*calls.section_openers, without_groups(calls.opener)])
    ends = any_of(map(escape, closers)) + r"\s*" if closers else ""
    if not closers:
        ends = f"(?={any_of([call, *map(escape, markers.stops)])})"
    elif markers.opens_reasoning:
        ends += f"|(?={any_of([escape(answer[0]), call])})"
        notes.wider("reasoning", "a call inside reasoning ends the reasoning and is read as a call")
    value = {
        "open": openers[0] if len(openers) == 1 else openers,
        "close_pattern": ends,
        "repeats": True,
        "join": "\n",
        "content": "text",
    }
    return {"reasoning_content": value}


def _content(markers: Markers, answer: tuple[str, str], calls: _Calls) -> dict[str, Any]:
    """Return the field of content: all other text, without markers. The parts of a message are
    joined, because a second part would replace the first."""
    pairs = [text for tags in markers.plain for text in (tags.open, tags.close)]
    texts = [text.strip() for text in (*markers.stops, *markers.dropped, *answer, *pairs)]
    texts = [text for text in dict.fromkeys(texts) if text and text not in calls.syntax.closers]
    # These texts are beginnings of openers. They are matched without the white space before them,
    # because with it they would match earlier than the opener.
    begun = [t for t in texts if any(o.startswith(t) for o in calls.syntax.openers)]
    ends = any_of([*(escape(t) for t in texts if t not in begun), *calls.section_closers])
    openers = [*map(escape, begun), *(rf"{opener}\s*" for opener in calls.section_openers)]
    closers = [*openers, rf"\s*{ends}"] if ends else openers
    return {
        **({"close_pattern": "|".join(closers)} if closers else {}),
        "repeats": True,
        "join": "",
        "content": "text",
        "content_args": {"strip": False},
    }


class _Calls:
    """A builder of the field of calls. Raises Inexpressible if a template cannot read the calls."""

    def __init__(self, syntax: Declaration, markers: Markers, notes: Notes, portable: bool) -> None:
        self.syntax, self.markers, self.notes, self.portable = syntax, markers, notes, portable
        self.is_list = list_of(syntax) is not None
        self.body = body_of(syntax, notes)
        self.closer = self._closer(syntax, self.body)
        self.own_opener = any_of(self._opener(form) for form in self._forms_alike())
        self.opener = f"{self._before_opener()}{self.own_opener}"
        if self.body.brackets:
            self.opener += rf"(?=\s*{escape(self.body.brackets[0])})"

    def _before_opener(self) -> str:
        """Return a pattern of the white space before an opener, if it is not content."""
        if self.syntax.line_start:
            return r"(?<![^\n])[ \t]*"
        last = self.closer or escape(self.body.brackets[1:])
        return rf"(?:(?<={last})\s*)?" if last and not self.is_list else ""

    @property
    def section_openers(self) -> list[str]:
        """Patterns of the openers of sections that are separate from the markers of their calls."""
        return self._separate([section.before for section in _sections(self.syntax)])

    @property
    def section_closers(self) -> list[str]:
        return self._separate([section.after for section in _sections(self.syntax)])

    def _separate(self, markers: list[tuple[Piece, ...]]) -> list[str]:
        return [] if _holds_section(self.syntax) else [*filter(None, map(pattern_of, markers))]

    def field(self) -> dict[str, Any]:
        """Build the field, and add a finding for each property that the field cannot express."""
        body, is_list = self.body, self.is_list
        self._note_form()
        opener, before = self.opener, self.syntax.call_template.before
        if body.content == "text" and ends_line(before):
            # a line break is required if it is a separate piece
            opener += LINE_BREAK.removesuffix("?") if before[-1] == "\n" else LINE_BREAK
        return {
            "open_pattern": opener,
            "close_pattern": self._end(),
            **({} if is_list else {"repeats": True}),
            "content": body.content,
            **({"content_args": dict(body.args)} if body.args else {}),
            **({"transform_each": True} if is_list else {}),
            "transform": {"type": "function", "function": self._function()},
        }

    def _function(self) -> dict[str, Any]:
        """Return the field's function: the form of one call, or of each object in a list."""
        name = self.body.name or self.syntax.name or "{name}"
        function = {"name": name, "arguments": self.body.arguments}
        if "id" in holes_of(self.syntax.call_template.before):
            function["id"] = "{id}"
        if not self.is_list:
            return function
        return {key: str(text).replace("{content.", "{") for key, text in function.items()}

    def _note_form(self) -> None:
        syntax, notes = self.syntax, self.notes
        if syntax.known_names:
            notes.wider("calls", "any name counts as a call's, even if no tool has it")
        if self.body.content in ("json", "python-call-list"):
            message = "a call that is cut off or cannot be read raises an error: nothing is read"
            notes.narrower("calls", message)
        if self.is_list:
            message = "only the last list of calls in a reply is read, and `transformers serve`"
            notes.narrower("calls", f"{message} fails if it streams one")
        separator = syntax.separator
        for token in (*self.markers.stops, *self.markers.dropped):
            separator = separator.replace(token, "")
        if separator.strip() and not self.is_list:
            notes.wider("calls", f"{separator.strip()!r} between two calls becomes content")
        if syntax.section_optional:
            notes.narrower("calls", "a call without its section is content")

    def _forms_alike(self) -> list[Declaration]:
        """Return the forms whose calls are read in the same way after the opener. Add a finding for
        all other forms."""
        forms: list[Declaration] = [self.syntax]
        others: list[Declaration] = []
        for form in self.syntax.also:
            if not form.slip:
                (forms if self._is_alike(form) else others).append(form)
        if others:
            texts = quote_words(declared_text(form.call_template.pieces) for form in others[:2])
            more = f" and {len(others) - 2} more" if len(others) > 2 else ""
            self.notes.narrower("calls", f"a template reads one form of calls, not {texts}{more}")
        return forms

    def _is_alike(self, form: Declaration) -> bool:
        try:
            body = body_of(form, Notes(SUBJECT))
            closer = self._closer(form, body)
            self._opener(form)
        except Inexpressible:
            return False
        return (body, closer) == (self.body, self.closer) and all(
            getattr(form, field) == getattr(self.syntax, field) for field in _SAME_FIELDS
        )

    def _opener(self, form: Declaration) -> str:
        """Build the opener of a call or list of calls, with its section's before it if needed."""
        # only the holes that the call uses, not an id that only some of the forms have
        function = str(self._function())
        holes = {name: group(name) for name in ("name", "id") if f"{{{name}}}" in function}
        pieces = () if self.is_list else form.call_template.before
        own, sections = pattern_of(pieces, holes), [each.before for each in _sections(form)]
        if has_marker(pieces) and not _holds_section(form):
            return own
        if not sections or not all(map(has_marker, sections)):
            raise Inexpressible("no marker shows where a call begins")
        outer = any_of(pattern_of(section, holes) for section in sections)
        return rf"{outer}\s*{own}" if own else outer

    def _closer(self, form: Declaration, body: CallBody) -> str:
        """Build the closer of a call, or of a list of calls; "" if there is none."""
        after = () if self.is_list else form.call_template.after
        if "name" in holes_of(after):
            raise Inexpressible("a call's closer repeats its name, which templates cannot compare")
        own = body.closer or pattern_of(after)
        outer = any_of(pattern_of(section.after) for section in _sections(form))
        if not outer or not _holds_section(form):
            return own
        return rf"{own}\s*{outer}" if own else outer

    def _end(self) -> str:
        """Build the end of a call: its closer, or else the body's bracket, or else the next marker.

        A body in brackets does not end inside one of its strings, unless the template is portable,
        because only a recursive pattern can express that.
        """
        body, closer = self.body, self.closer
        if body.brackets and not self.portable:
            message = "the end of a call is a pattern with recursion, which other languages lack"
            self.notes.add("recursion", "calls", message)
            return end_of_body(self.own_opener, body.strings, body.brackets, closer)
        if body.brackets:
            lost = "a text that holds a call's closer ends the call" if closer else ""
            self.notes.narrower("arguments", lost or "text after a call becomes a part of the call")
        if closer:
            return closer
        markers = (*self.markers.stops, self.markers.result)
        opener = without_groups(self.opener)
        return f"(?={any_of([opener, *map(escape, filter(None, markers))])})"


def _holds_section(form: Declaration) -> bool:
    """Return True if the section's markers are also a call's: if each call has a section, if a
    list holds all calls, or if a call has no marker."""
    own = () if list_of(form) else form.call_template.before
    return form.one_call_a_section or not has_marker(own)


def _sections(form: Declaration) -> list[Template]:
    """Return the well-formed sections around calls, without the brackets of a list."""
    if list_of(form) is None:
        return list(form.well_formed_sections)
    return [without_list(section) or section for section in form.well_formed_sections]
