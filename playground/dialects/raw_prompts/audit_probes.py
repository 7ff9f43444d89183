"""The probes of an audit: each tests one property of a template and yields its faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from playground.base.findings import Finding, finding
from playground.dialects.raw_prompts.asking import (
    KEYS,
    NAMES,
    ONE,
    RESULT,
    TEXT,
    THOUGHT,
    TWO,
    USER,
    VALUES,
    AskedCall,
    AskedTemplate,
    TemplateRendering,
    common_end,
    common_start,
    system,
    user,
)

_SYSTEM: Final = "Bqorn"
_AGAIN: Final = "Dhwif"  # the user, a second time
_SAME_TOOL: Final = (ONE[0], AskedCall(NAMES[0], {KEYS[0]: "Ksuge"}))
_LATER: Final = "2027-03-04"


@dataclass(frozen=True, slots=True)
class TemplateFault:
    """A finding about a template with the smallest request that shows it.

    `shown` is one rendering, or two whose difference is the fault.
    """

    finding: Finding
    shown: tuple[TemplateRendering, ...]

    @property
    def told(self) -> str:
        """The renderings as lines, one request below the other."""
        return "\n\n".join("\n".join(rendering.lines()) for rendering in self.shown)


Faults = Iterator[TemplateFault]


def no_calls(asked: AskedTemplate) -> TemplateFault:
    """Return the fault that a template writes calls in no form of the request."""
    shown = asked.ask(user(USER), asked.form.answer(ONE), calls=ONE)
    return _fault(asked, "template-drops-calls", _refusal(shown), shown)


def needs_tools(
    asked: AskedTemplate, without: TemplateRendering, with_tools: TemplateRendering
) -> TemplateFault:
    """Return the fault that a template renders nothing without tools."""
    return _fault(asked, "template-needs-tools", _refusal(without), without, with_tools)


def of_the_form(asked: AskedTemplate) -> Faults:
    """Yield the faults that follow from the form in which the template takes calls."""
    form = asked.form
    shown = asked.ask(user(USER), form.answer(ONE), calls=ONE)
    if form.mutable:
        yield _fault(asked, "template-mutates", "", shown)
    if form.as_text:
        yield _fault(asked, "template-wants-text", "", shown)
    if form.names_in_ids:
        yield _fault(asked, "template-name-in-id", "", shown)
    if form.content == "":
        return
    said = replace(form, content="").answer(ONE)
    empty = asked.ask(user(USER), said, calls=ONE)
    yield _fault(asked, "template-wants-no-content", _refusal(empty), empty, shown)


def _calls(asked: AskedTemplate) -> bool:
    return asked.ask(user(USER), asked.form.answer(ONE), calls=ONE).has(VALUES[0])


def _text_beside_calls(asked: AskedTemplate) -> Faults:
    if not _calls(asked):
        return
    shown = asked.ask(user(USER), asked.form.answer(ONE, TEXT), calls=ONE)
    if not shown.has(VALUES[0]):
        yield _fault(asked, "template-text-or-calls", _refusal(shown), shown)
    elif not shown.has(TEXT):
        yield _fault(asked, "template-drops-text", "", shown)


def _arguments_as_text(asked: AskedTemplate) -> Faults:
    if asked.form.as_text or not _calls(asked):
        return
    said = replace(asked.form, as_text=True).answer(ONE)
    shown = asked.ask(user(USER), said, calls=ONE)
    if shown.text is None:
        yield _fault(asked, "template-refuses-text", _refusal(shown), shown)
    elif f'\\"{KEYS[0]}' in shown.text:
        yield _fault(asked, "template-encodes-twice", "", shown)
    elif not shown.has(KEYS[0]):
        yield _fault(asked, "template-drops-calls", "arguments given as text are lost", shown)


def _results(asked: AskedTemplate) -> Faults:
    if not _calls(asked):
        return
    result = asked.form.result(ONE[0], RESULT)
    shown = asked.ask(user(USER), asked.form.answer(ONE), result, calls=ONE)
    if not shown.has(RESULT):
        yield _fault(asked, "template-drops-results", _refusal(shown), shown)


def _parallel_calls(asked: AskedTemplate) -> Faults:
    if not _calls(asked):
        return
    shown = asked.ask(user(USER), asked.form.answer(TWO), calls=TWO)
    if shown.text is None:
        yield _fault(asked, "template-one-call", _refusal(shown), shown)
    elif not shown.has(VALUES[1]):
        yield _fault(asked, "template-one-call", "of two calls one is written", shown)


def _ids(asked: AskedTemplate) -> Faults:
    """Test if two results of one tool, in either order, give the same prompt: then ids are lost."""
    form = asked.form
    answer = form.answer(_SAME_TOOL)
    results = [form.result(call, RESULT, index) for index, call in enumerate(_SAME_TOOL)]
    told = asked.ask(user(USER), answer, *results, calls=_SAME_TOOL)
    if not told.has(NAMES[0], RESULT, *(str(call.arguments[KEYS[0]]) for call in _SAME_TOOL)):
        return
    exchanged = asked.ask(user(USER), answer, *reversed(results), calls=_SAME_TOOL)
    if told.text == exchanged.text:
        yield _fault(asked, "template-drops-ids", "", told, exchanged)


def _system(asked: AskedTemplate) -> Faults:
    shown = asked.ask(system(_SYSTEM), user(USER))
    if not shown.has(_SYSTEM):
        yield _fault(asked, "template-ignores-system", _refusal(shown), shown)
        return
    header = _user_header(asked)
    if header and str(shown.text).partition(_SYSTEM)[0].endswith(header):
        yield _fault(asked, "template-merges-system", "", shown)


def _user_header(asked: AskedTemplate) -> str:
    """Return the text before a user's words that the first and a later turn have in common."""
    answered = asked.ask(user(USER), asked.form.answer(text=TEXT), user(_AGAIN))
    if not answered.has(USER, TEXT, _AGAIN):
        return ""
    first, _, rest = str(answered.text).partition(USER)
    later = rest.partition(TEXT)[2].partition(_AGAIN)[0]
    return common_end(first, later)


def _tools(asked: AskedTemplate) -> Faults:
    shown = asked.ask(user(USER), calls=ONE, generation=True)
    if not shown.has(NAMES[0]):
        yield _fault(asked, "template-ignores-tools", _refusal(shown), shown)


def _prefix(asked: AskedTemplate) -> Faults:
    """Test if each prompt begins with the prompt before it.

    Otherwise no cache of it is of use, and a training mask covers other tokens than were written.
    """
    said = asked.form.answer(text=TEXT)
    called, result = asked.form.answer(ONE), asked.form.result(ONE[0], RESULT)
    thought = asked.form.answer(text=TEXT, thought=THOUGHT)
    steps = {
        "the answer does not begin as the generation prompt does": (
            asked.ask(user(USER), generation=True),
            asked.ask(user(USER), said),
        ),
        "an answer is written otherwise once the user speaks again": (
            asked.ask(user(USER), said),
            asked.ask(user(USER), said, user(_AGAIN)),
        ),
        "a call is written otherwise once its result is there": (
            asked.ask(user(USER), called, calls=ONE),
            asked.ask(user(USER), called, result, calls=ONE),
        ),
        "an answer with a thought is written otherwise once the user speaks again": (
            asked.ask(user(USER), thought),
            asked.ask(user(USER), thought, user(_AGAIN)),
        ),
    }
    told = False
    for message, (before, after) in steps.items():
        if before.text is None or after.text is None or after.text.startswith(before.text):
            continue
        with_thought = before.has(THOUGHT)
        if told and with_thought:
            continue  # the same again: a thought adds nothing to it
        told = True
        offset = len(common_start(before.text, after.text))
        where = f"{message}: they differ from character {offset:,} on"
        yield _fault(asked, "template-breaks-prefix", where, before, after)


def _generation_prompt(asked: AskedTemplate) -> Faults:
    without = asked.ask(user(USER))
    shown = asked.ask(user(USER), generation=True)
    if shown.text == without.text:
        yield _fault(asked, "template-no-generation-prompt", "", shown)


def _forged_turn(asked: AskedTemplate) -> Faults:
    """Test if a user can forge a turn by writing the text between turns."""
    real = asked.ask(user(USER), asked.form.answer(text=TEXT), user(_AGAIN))
    if not real.has(USER, TEXT, _AGAIN):
        return
    between = str(real.text).partition(USER)[2].partition(_AGAIN)[0]
    forged = asked.ask(user(f"{USER}{between}{_AGAIN}"))
    if between.strip() != TEXT and forged.text == real.text:
        borders = (
            f"a user who writes {between.replace(TEXT, '…')!r} has written a turn of the model"
        )
        yield _fault(asked, "template-forged-turn", borders, real, forged)


def _thoughts(asked: AskedTemplate) -> Faults:
    """Test if reasoning is kept between calls; most templates drop it after the next question."""
    thinking, result = asked.form.answer(ONE, "", THOUGHT), asked.form.result(ONE[0], RESULT)
    working = asked.ask(user(USER), thinking, result, calls=ONE)
    last = asked.ask(user(USER), asked.form.answer(text=TEXT, thought=THOUGHT))
    if last.has(TEXT) and not last.has(THOUGHT):
        yield _fault(asked, "template-ignores-thoughts", "", last)
        return
    if working.has(VALUES[0], RESULT) and not working.has(THOUGHT):
        yield _fault(asked, "template-drops-thoughts", "", working)
    past = asked.ask(user(USER), asked.form.answer(text=TEXT, thought=THOUGHT), user(_AGAIN))
    if past.has(TEXT, _AGAIN) and not past.has(THOUGHT):
        yield _fault(asked, "template-forgets-thoughts", "", past)


def _date(asked: AskedTemplate) -> Faults:
    one = asked.ask(user(USER), calls=ONE)
    other = asked.ask(user(USER), calls=ONE, day=_LATER)
    if one.text != other.text:
        yield _fault(asked, "template-date", "", one, other)


def _begin_of_sequence(asked: AskedTemplate) -> Faults:
    mark = asked.source.tokens.get("bos_token")
    shown = asked.ask(user(USER))
    if mark and shown.text is not None and shown.text.startswith(mark):
        yield _fault(asked, "template-writes-bos", "", shown)


def _content(asked: AskedTemplate) -> Faults:
    """Test content that is null, that is a list of parts, or that has white space at its ends."""
    nothing = replace(asked.form, content="null").answer(ONE)
    shown = asked.ask(user(USER), nothing, calls=ONE)
    if _calls(asked) and shown.text is None:
        yield _fault(asked, "template-refuses-null", _refusal(shown), shown)
    elif shown.has("None"):
        yield _fault(asked, "template-prints-none", "", shown)
    parts = asked.ask(user([{"type": "text", "text": USER}]))
    if parts.text is None or USER not in parts.text:
        yield _fault(asked, "template-refuses-parts", _refusal(parts), parts)
    elif "'type'" in parts.text or '"type"' in parts.text:
        yield _fault(asked, "template-refuses-parts", "it prints the list itself", parts)
    spaced = f" \n{USER} \n"
    kept = asked.ask(user(spaced))
    if kept.has(USER) and not kept.has(spaced):
        yield _fault(asked, "template-trims", "", kept)


PROBES: Final[tuple[Callable[[AskedTemplate], Faults], ...]] = (
    _text_beside_calls,
    _arguments_as_text,
    _results,
    _parallel_calls,
    _ids,
    _system,
    _tools,
    _prefix,
    _generation_prompt,
    _forged_turn,
    _thoughts,
    _date,
    _begin_of_sequence,
    _content,
)
# Probes whose faults are shown whenever a prompt is rendered; the first one only if it has tools.
AT_ONCE: Final = (_tools, _parallel_calls, _arguments_as_text, _content)
TOLD_AT_ONCE: Final = frozenset(
    {
        "template-ignores-tools",
        "template-one-call",
        "template-encodes-twice",
        "template-prints-none",
    }
)


def _fault(
    asked: AskedTemplate, code: str, message: str, *shown: TemplateRendering
) -> TemplateFault:
    return TemplateFault(finding(code, asked.source.name, message), shown)


def _refusal(shown: TemplateRendering) -> str:
    """Return why the template refused to render, in its own words; "" if it did not."""
    return "" if shown.text is not None else f"refused: {shown.refused}"
