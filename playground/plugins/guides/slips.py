"""Slips of models: replies that differ from how a dialect writes them, and the fate of each.

The replies are made of a dialect's own example, so that every dialect and every server's parser
is tested with the same slips. A slip that a dialect's form does not allow is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from playground.dialects.declared import DeclaredDialect
from playground.nouns.messages import Part, TextPart, ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult
from playground.parsing.syntax import Hole, Template
from playground.plugins.guides.library import WEATHER, example

FATES: Final[dict[str, str]] = {
    "call": "the call is delivered as the model meant it",
    "changed": "a call is delivered, with other arguments or another name",
    "text": "the call is not delivered; its text is content",
    "reasoning": "the call or the text is reasoning",
    "kept": "the text is content",
    "argument": "the text is a part of an argument",
    "dropped": "nothing of it reaches the client",
    "error": "the request fails",
}
_BEFORE: Final = "I look it up."
_BETWEEN: Final = "One more thing."
_AFTER: Final = "Then I shall tell you."
_THOUGHT: Final = "I think so."
_WORDED: Final = re.compile(r"\w|```")  # a marker without these, such as "[", may be in a value
_ARGUMENTS_KEY: Final = r', ?"\w+": ?'


@dataclass(frozen=True, slots=True)
class SlipReply:
    """A reply with a slip. Its fate is what became of `text` or, if `text` is "", of the call with
    this `name` and these `arguments`."""

    content: str
    text: str = ""
    name: str = ""
    arguments: Mapping[str, Any] | None = None
    needle: str = ""
    """A text that occurs only in the call, by which it is found in content or reasoning."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip: its name, the family of slips it belongs to, and the maker of its reply.

    The maker returns None if the dialect's form does not allow the slip.
    """

    name: str
    family: str
    make: Callable[[Example], SlipReply | None]
    evidence: str = "run"
    """The best possible evidence for a server's reading: `run` (its own parser was run), `read`
    (its code was read, because no run has this slip), or `assumed` (nothing decides it)."""


def tools_of(dialect: DeclaredDialect) -> list[ToolMetadata]:
    """Return the tools of the replies: the example's, and one of a second call."""
    return [example(dialect)[1], WEATHER]


@dataclass(frozen=True)
class Example:
    """A dialect's example of a call, from which the replies are made."""

    dialect: DeclaredDialect

    @cached_property
    def call(self) -> ToolCallPart:
        return example(self.dialect)[0]

    @cached_property
    def other(self) -> ToolCallPart | None:
        """A second call, or None if a reply has only one, or if a call names no tool."""
        if not self.dialect.parallel or self.dialect.syntax.text_keys or self.dialect.own_tool:
            return None
        return ToolCallPart("call_2", WEATHER.name, {"harbour": "Dover"})

    @cached_property
    def one(self) -> str:
        """The reply with the example's call alone."""
        return self.written(self.call)

    def written(self, *parts: Part) -> str:
        """Return a reply with these texts and calls, as the dialect writes it."""
        return self.dialect.format_reply(parts, tools_of(self.dialect))

    def marker(self, part: str, last: bool = False) -> str:
        """Return the first or last marker of a call, parameter or section; "" if it has no word."""
        template: Template | None = getattr(self.dialect.syntax, f"{part}_template")
        pieces = (template.after if last else template.before) if template else ()
        literals = [p.strip() for p in pieces if not isinstance(p, Hole) and p.strip()]
        marker = literals[-1 if last else 0] if literals else ""
        return marker if _WORDED.search(marker) else ""

    @cached_property
    def value(self) -> str:
        """The first text among the call's arguments."""
        return next((v for v in self.call.args.values() if isinstance(v, str)), "")

    @cached_property
    def body(self) -> str:
        """The call's arguments as JSON, as the example writes them; "" if it writes no JSON."""
        match = re.search(r'\{"harbour": ?"Brest", ?"days": ?2\}', self.one)
        return match[0] if match else ""

    def damaged(self, content: str, call: ToolCallPart | None = None) -> SlipReply | None:
        """Return a reply whose fate is that of its call (by default the example's).

        Return None if `content` is empty or the undamaged example.
        """
        if not content or content == self.one:
            return None
        return self.reply(content, call or self.call)

    def reply(self, content: str, call: ToolCallPart) -> SlipReply:
        """Return a reply whose fate is that of `call`; half of its first text is the needle."""
        value = next((v for v in call.args.values() if isinstance(v, str)), "")
        return SlipReply(content, "", call.tool_name, call.args, value[: len(value) // 2 + 1])

    def with_arguments(self, **arguments: Any) -> ToolCallPart | None:
        """Return the call with more or other arguments; None if the dialect allows no others."""
        if self.dialect.syntax.text_keys or self.dialect.own_tool:
            return None
        return replace(self.call, args={**self.call.args, **arguments})


def fate(reply: SlipReply, result: ParseResult) -> str:
    """Return the fate of a reply's text or call, as a key of `FATES`."""
    if any(finding.code == "server-fails" for finding in result.findings):
        return "error"
    if reply.text:
        if reply.text in result.content:
            return "kept"
        held = json.dumps([call.arguments for call in result.tool_calls], ensure_ascii=False)
        in_argument = "argument" if json.dumps(reply.text)[1:-1] in held else "dropped"
        return "reasoning" if reply.text in result.reasoning else in_argument
    for call in result.tool_calls:
        if call.name == reply.name and call.arguments == reply.arguments:
            return "call"
    if any(_holds(call.name, call.arguments, reply) for call in result.tool_calls):
        return "changed"
    if reply.needle in result.content:
        return "text"
    return "reasoning" if reply.needle in result.reasoning else "dropped"


def _holds(name: str, arguments: Mapping[str, Any], reply: SlipReply) -> bool:
    """Return True if a delivered call may be the reply's: by its name's end, or by the needle."""
    written = json.dumps(arguments, ensure_ascii=False)
    return name.endswith(reply.name) or json.dumps(reply.needle)[1:-1] in written


def slip_replies(dialect: DeclaredDialect) -> Iterator[tuple[Slip, SlipReply]]:
    """Yield the slips that the dialect's form allows, each with its reply."""
    if dialect.is_native_toolcalling():
        return
    material = Example(dialect)
    for slip in SLIPS:
        reply = slip.make(material)
        if reply is not None:
            yield slip, reply


# --- as written


def _as_written(e: Example) -> SlipReply | None:
    return e.reply(e.one, e.call)


def _second_call(e: Example) -> SlipReply | None:
    return e.damaged(e.written(e.call, e.other), e.other) if e.other else None


def _other_order(e: Example) -> SlipReply | None:
    call = e.with_arguments()
    if call is None:
        return None
    backwards = replace(call, args=dict(reversed(list(call.args.items()))))
    return e.damaged(e.written(backwards))


def _white_space(e: Example) -> SlipReply | None:
    if e.body:
        return e.damaged(e.one.replace(e.body, json.dumps(json.loads(e.body), indent=2)))
    return e.damaged(re.sub(r"(?<=>)\n?(?=<)", "\n  ", e.one))


# --- text and reasoning before and after calls


def _text_before(e: Example) -> SlipReply | None:
    return SlipReply(e.written(TextPart(_BEFORE), e.call), _BEFORE)


def _text_between(e: Example) -> SlipReply | None:
    if e.other is None:
        return None
    return SlipReply(e.written(e.call, TextPart(_BETWEEN), e.other), _BETWEEN)


def _text_after(e: Example) -> SlipReply | None:
    return SlipReply(e.written(e.call, TextPart(_AFTER)), _AFTER)


def _call_between_texts(e: Example) -> SlipReply | None:
    return e.damaged(e.written(TextPart(_BEFORE), e.call, TextPart(_AFTER)))


def _thinking(e: Example, form: str) -> str:
    """Fill in {open}, {close} and {call}; return "" if the dialect has no reasoning tags."""
    tags = next((tags for tags in e.dialect.reasoning if tags.open and tags.close), None)
    if tags is None or e.dialect.opens_reasoning:
        return ""
    return form.format(open=tags.open, close=tags.close, call=e.one)


def _reasoning_before(e: Example) -> SlipReply | None:
    content = _thinking(e, f"{{open}}\n{_THOUGHT}\n{{close}}\n\n{{call}}")
    return SlipReply(content, _THOUGHT) if content else None


def _in_open_reasoning(e: Example) -> SlipReply | None:
    return e.damaged(_thinking(e, f"{{open}}\n{_THOUGHT}\n{{call}}"))


def _draft(e: Example) -> SlipReply | None:
    return e.damaged(_thinking(e, f"{{open}}\nPerhaps:\n{{call}}\n{{close}}\n\n{_AFTER}"))


def _in_a_fence(e: Example) -> SlipReply | None:
    return e.damaged(f"{_BEFORE}\n```\n{e.one}\n```")


# --- cut off


def _cut(text: str, value: str) -> str:
    """Return a text up to the middle of the last occurrence of a value."""
    at = text.rfind(value) if value else -1
    return text[: at + len(value) // 2 + 1] if at >= 0 else ""


def _cut_in_argument(e: Example) -> SlipReply | None:
    return e.damaged(_cut(e.one, e.value))


def _cut_before_closer(e: Example) -> SlipReply | None:
    closer = e.marker("call", last=True)
    return e.damaged(e.one.rpartition(closer)[0].rstrip() if closer else "")


def _cut_in_closer(e: Example) -> SlipReply | None:
    closer = e.marker("call", last=True)
    before, found, _ = e.one.rpartition(closer) if len(closer) > 3 else ("", "", "")
    return e.damaged(before + closer[: len(closer) // 2] if found else "")


def _half_opener(e: Example) -> SlipReply | None:
    opener = e.marker("section") or e.marker("call")
    half = opener[: len(opener) // 2]
    return SlipReply(f"{_BEFORE}\n{half}", half) if len(half) > 2 else None


def _good_before_cut(e: Example) -> SlipReply | None:
    return None if e.other is None else e.damaged(_cut(e.written(e.call, e.other), "Dover"))


def _section_not_closed(e: Example) -> SlipReply | None:
    closer = e.marker("section", last=True)
    return e.damaged(e.one.rpartition(closer)[0].rstrip() if closer else "")


# --- markers


def _doubled_opener(e: Example) -> SlipReply | None:
    opener = e.marker("call")
    return e.damaged(e.one.replace(opener, f"{opener}\n{opener}", 1) if opener else "")


def _doubled_closer(e: Example) -> SlipReply | None:
    closer = e.marker("call", last=True)
    before, found, after = e.one.rpartition(closer) if closer else ("", "", "")
    return e.damaged(f"{before}{closer}\n{closer}{after}" if found else "")


def _no_opener(e: Example) -> SlipReply | None:
    opener = e.marker("call")
    return e.damaged(e.one.replace(opener, "", 1).lstrip() if opener else "")


def _unclosed_first(e: Example) -> str:
    """Return a reply with two calls, the first without its closer; "" if there are no two."""
    closer = e.marker("call", last=True)
    if e.other is None or not closer:
        return ""
    return e.written(e.call, e.other).replace(closer, "", 1)


def _unclosed_then_first(e: Example) -> SlipReply | None:
    return e.damaged(_unclosed_first(e))


def _unclosed_then_second(e: Example) -> SlipReply | None:
    return e.damaged(_unclosed_first(e), e.other)


def _no_section(e: Example) -> SlipReply | None:
    opener, closer = e.marker("section"), e.marker("section", last=True)
    return e.damaged(e.one.replace(opener, "").replace(closer, "").strip() if opener else "")


def _two_sections(e: Example) -> SlipReply | None:
    if e.other is None or not e.marker("section"):
        return None
    return e.damaged(f"{e.one}\n{e.written(e.other)}", e.other)


def _opener_in_prose(e: Example) -> SlipReply | None:
    opener = e.marker("section") or e.marker("call")
    return SlipReply(f"The marker is {opener} here.", "here.") if opener else None


def _closer_in_prose(e: Example) -> SlipReply | None:
    closer = e.marker("call", last=True)
    return SlipReply(f"The marker is {closer} here.", "here.") if closer else None


# --- the call's body


def _with_body(e: Example, change: Callable[[str], str]) -> SlipReply | None:
    return e.damaged(e.one.replace(e.body, change(e.body)) if e.body else "")


def _bare_key(e: Example) -> SlipReply | None:
    return _with_body(e, lambda body: body.replace('"harbour"', "harbour"))


def _single_quotes(e: Example) -> SlipReply | None:
    return _with_body(e, lambda body: body.replace('"', "'"))


def _trailing_comma(e: Example) -> SlipReply | None:
    return _with_body(e, lambda body: f"{body[:-1]},}}")


def _no_comma(e: Example) -> SlipReply | None:
    return _with_body(e, lambda body: body.replace('",', '"', 1))


def _no_colon(e: Example) -> SlipReply | None:
    return _with_body(e, lambda body: body.replace('":', '"', 1))


def _good_before_broken(e: Example) -> SlipReply | None:
    if e.other is None or not e.body:
        return None
    text = e.written(e.call, e.other)
    return e.damaged(re.sub(r'"harbour":( ?"Dover")', r'"harbour"\1', text))


def _quoted_arguments(e: Example) -> SlipReply | None:
    return _with_body(e, json.dumps)


def _beside_the_name(e: Example) -> SlipReply | None:
    found = re.search(_ARGUMENTS_KEY + re.escape(e.body), e.one) if e.body else None
    return e.damaged(e.one.replace(found[0], f", {e.body[1:-1]}") if found else "")


def _text_before_closer(e: Example) -> SlipReply | None:
    closer = e.marker("call", last=True)
    before, found, after = e.one.rpartition(closer) if closer else ("", "", "")
    return e.damaged(f"{before} as you asked {closer}{after}" if found else "")


def _closer_in_value(e: Example) -> SlipReply | None:
    closer = e.marker("param", last=True)
    call = e.with_arguments(harbour=f"Brest {closer} quay") if closer else None
    return e.damaged(e.written(call), call) if call else None


def _argument_twice(e: Example) -> SlipReply | None:
    call = e.with_arguments(harbour="Dover")
    closer = e.marker("param", last=True)
    opener = e.marker("param")
    start, stop = e.one.find(opener), e.one.find(closer)
    if call is None or not opener or not closer or not 0 <= start < stop:
        return None
    stop += len(closer)
    again = e.one[start:stop].replace("Brest", "Dover")
    return e.damaged(f"{e.one[:stop]}\n{again}{e.one[stop:]}", call)


def _text_for_number(e: Example) -> SlipReply | None:
    call = e.with_arguments(days="two") if e.dialect.syntax.param else None
    return e.damaged(e.written(call), call) if call else None


# --- tools


def _unknown_tool(e: Example) -> SlipReply | None:
    if e.with_arguments() is None:
        return None
    call = ToolCallPart("call_1", "no_such_tool", {"harbour": "Brest"})
    return e.damaged(e.written(call), call)


def _prefixed_name(e: Example) -> SlipReply | None:
    content = e.one.replace(e.call.tool_name, f"functions.{e.call.tool_name}")
    return e.damaged(content if "functions.functions." not in content else "")


def _undeclared_argument(e: Example) -> SlipReply | None:
    call = e.with_arguments(wind="north")
    return e.damaged(e.written(call), call) if call else None


_BESIDE: Final = "Text and reasoning beside calls"
_WRITTEN: Final = "Replies without a slip"
_CUT: Final = "Cut off"
_MARKERS: Final = "Markers"
_BODY: Final = "The call's body"
_TOOLS: Final = "Tools"
SLIPS: Final = (
    Slip("as written", _WRITTEN, _as_written),
    Slip("the second of two calls", _WRITTEN, _second_call),
    Slip("arguments in another order", _WRITTEN, _other_order),
    Slip("other white space", _WRITTEN, _white_space),
    Slip("text before a call", _BESIDE, _text_before),
    Slip("text between calls", _BESIDE, _text_between),
    Slip("text after a call", _BESIDE, _text_after),
    Slip("a call between texts", _BESIDE, _call_between_texts),
    Slip("reasoning before a call", _BESIDE, _reasoning_before),
    Slip("a call in reasoning that is never closed", _BESIDE, _in_open_reasoning),
    Slip("a call in closed reasoning", _BESIDE, _draft),
    Slip("a call in a code fence", _BESIDE, _in_a_fence),
    Slip("cut in an argument", _CUT, _cut_in_argument),
    Slip("cut before the closer", _CUT, _cut_before_closer),
    Slip("cut inside the closer", _CUT, _cut_in_closer),
    Slip("half an opener at the end", _CUT, _half_opener, "read"),
    Slip("a good call before one that is cut", _CUT, _good_before_cut),
    Slip("the section is not closed", _CUT, _section_not_closed),
    Slip("opener twice", _MARKERS, _doubled_opener),
    Slip("closer twice", _MARKERS, _doubled_closer),
    Slip("no opener", _MARKERS, _no_opener),
    Slip("no closer before another call: the first", _MARKERS, _unclosed_then_first),
    Slip("no closer before another call: the second", _MARKERS, _unclosed_then_second),
    Slip("no section around the call", _MARKERS, _no_section),
    Slip("a call in a second section", _MARKERS, _two_sections),
    Slip("an opener in prose", _MARKERS, _opener_in_prose),
    Slip("a closer in prose", _MARKERS, _closer_in_prose),
    Slip("a key without quotes", _BODY, _bare_key),
    Slip("single quotes", _BODY, _single_quotes),
    Slip("a comma too many", _BODY, _trailing_comma),
    Slip("a comma missing", _BODY, _no_comma),
    Slip("a colon missing", _BODY, _no_colon),
    Slip("a good call before a colon missing", _BODY, _good_before_broken),
    Slip("arguments as a JSON text", _BODY, _quoted_arguments),
    Slip("arguments beside the name", _BODY, _beside_the_name),
    Slip("text before the closer", _BODY, _text_before_closer),
    Slip("a parameter's closer in its value", _BODY, _closer_in_value),
    Slip("a parameter twice", _BODY, _argument_twice),
    Slip("a text for an integer", _BODY, _text_for_number, "assumed"),
    Slip("a tool that was not offered", _TOOLS, _unknown_tool),
    Slip("functions. before the name", _TOOLS, _prefixed_name),
    Slip("an argument that the tool lacks", _TOOLS, _undeclared_argument, "read"),
)
"""The slips, in the order of the tables."""
