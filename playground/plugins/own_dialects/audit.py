"""Audit a chat template: find faults in how it renders a conversation.

Every finding comes with the smallest request that has the fault and its rendering, or with two
requests and renderings if the fault is a difference between these. A probe tests one property
of a template and yields its faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Final

from playground.base.arguments import takes
from playground.base.confined import Budget
from playground.base.display import Shown
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.dialects.raw_prompts.chat_template import ChatTemplate
from playground.dialects.raw_prompts.sources import template_of
from playground.plugins.own_dialects.asking import (
    KEYS,
    NAMES,
    ONE_CALL,
    RESULT,
    TEXT,
    THOUGHT,
    TWO_CALLS,
    USER,
    VALUES,
    AskedCall,
    AskedTemplate,
    RequestForm,
    TemplateRendering,
    common_end,
    common_start,
    find_form,
    system,
    user,
)

__all__ = ["TemplateAudit", "TemplateFault", "audit_template", "prompt_warnings"]

_SYSTEM: Final = "Bqorn"
_AGAIN: Final = "Dhwif"  # the user's second message
_SAME_TOOL: Final = (ONE_CALL[0], AskedCall(NAMES[0], {KEYS[0]: "Ksuge"}))
_LATER: Final = "2027-03-04"


@dataclass(frozen=True, slots=True)
class TemplateFault:
    """A finding about a template with the smallest request that shows it.

    `shown` is one rendering, or two whose difference is the fault.
    """

    finding: Finding
    shown: tuple[TemplateRendering, ...]

    @property
    def text(self) -> str:
        """The renderings as lines, one request below the other."""
        return "\n\n".join("\n".join(rendering.lines()) for rendering in self.shown)


@dataclass(frozen=True, slots=True)
class TemplateAudit(Shown):
    """The faults of a template, its form of calls, and the number of renderings.

    `form` is None if the template writes no calls. Shown as a table, the audit has a row per fault.
    """

    source: str
    faults: tuple[TemplateFault, ...]
    form: RequestForm | None
    renderings: int

    @property
    def findings(self) -> list[Finding]:
        return [fault.finding for fault in self.faults]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, each fault with the requests that show it."""
        return {
            "source": self.source,
            "renderings": self.renderings,
            "faults": [
                {
                    "code": fault.finding.code,
                    "severity": fault.finding.severity,
                    "message": fault.finding.message,
                    "shown": [rendering.to_dict() for rendering in fault.shown],
                }
                for fault in self.faults
            ],
        }


@takes(template=(str, PathLike, ChatTemplate))
def audit_template(template: str | PathLike[str] | ChatTemplate) -> TemplateAudit:
    """Find what a chat template loses, refuses, mixes up, or writes in a way that breaks caches.

    `template` is the path of a `.jinja` file, a `tokenizer_config.json` or a GGUF file (with the
    package gguf), the text of a template, or a ChatTemplate. Raises InputFault if it cannot be
    read, or does not even render a user's text.
    """
    source = template_of(template)
    plain = AskedTemplate(source)
    try:
        prober = find_form(source, plain.budget)
    except InputFault:
        if plain.budget.seconds_left <= 0:
            raise
        # a template may fail on a message of calls without text
        with_text = replace(plain, form=replace(plain.form, content="text"))
        prober = with_text if _writes_calls(with_text) else plain  # plain: it writes no calls
    without_tools = prober.ask(user(USER), generation=True)
    with_tools = prober.ask(user(USER), calls=ONE_CALL, generation=True)
    if not without_tools.has(USER) and not with_tools.has(USER):
        reason = without_tools.refused or "what a user says is not in the prompt"
        raise InputFault(f"cannot be audited: {reason}", where=source.name)
    faults = [_no_calls_fault(plain)] if prober is plain else list(_form_faults(prober))
    if not without_tools.has(USER):
        faults.append(_needs_tools_fault(prober, without_tools, with_tools))
        prober.always_tools = True
    for probe in _PROBES:
        faults += probe(prober)
    form = None if prober is plain else prober.form
    return TemplateAudit(source.name, tuple(faults), form, prober.renderings)


def prompt_warnings(template: ChatTemplate, budget: Budget, has_tools: bool) -> list[Finding]:
    """Return the findings to show whenever a prompt is rendered, as far as the budget allows."""
    prober = AskedTemplate(template, budget=budget)
    findings: list[Finding] = []
    with suppress(InputFault):
        for probe in _PROMPT_PROBES[0 if has_tools else 1 :]:  # the first one is about tools
            findings += (fault.finding for fault in probe(prober))
    return [each for each in findings if each.code in _WARNING_CODES]


# probes

_Faults = Iterator[TemplateFault]


def _no_calls_fault(template: AskedTemplate) -> TemplateFault:
    """Return the fault that a template writes no calls, in whatever form a request has them."""
    rendering = template.ask(user(USER), template.form.answer(ONE_CALL), calls=ONE_CALL)
    return _fault(template, "template-drops-calls", _refusal(rendering), rendering)


def _needs_tools_fault(
    template: AskedTemplate, without: TemplateRendering, with_tools: TemplateRendering
) -> TemplateFault:
    """Return the fault that a template does not render the user's text without tools."""
    return _fault(template, "template-needs-tools", _refusal(without), without, with_tools)


def _form_faults(template: AskedTemplate) -> _Faults:
    """Yield the faults of a template that takes calls only in an unusual form."""
    form = template.form
    rendering = template.ask(user(USER), form.answer(ONE_CALL), calls=ONE_CALL)
    if form.mutable:
        yield _fault(template, "template-mutates", "", rendering)
    if form.as_text:
        yield _fault(template, "template-wants-text", "", rendering)
    if form.names_in_ids:
        yield _fault(template, "template-name-in-id", "", rendering)
    if form.content == "":
        return
    answer = replace(form, content="").answer(ONE_CALL)
    with_empty = template.ask(user(USER), answer, calls=ONE_CALL)
    code = "template-wants-content" if form.content == "text" else "template-wants-no-content"
    yield _fault(template, code, _refusal(with_empty), with_empty, rendering)


def _writes_calls(template: AskedTemplate) -> bool:
    return template.ask(user(USER), template.form.answer(ONE_CALL), calls=ONE_CALL).has(VALUES[0])


def _text_with_calls(template: AskedTemplate) -> _Faults:
    if not _writes_calls(template):
        return
    rendering = template.ask(user(USER), template.form.answer(ONE_CALL, TEXT), calls=ONE_CALL)
    if not rendering.has(VALUES[0]):
        yield _fault(template, "template-text-or-calls", _refusal(rendering), rendering)
    elif not rendering.has(TEXT):
        yield _fault(template, "template-drops-text", "", rendering)


def _arguments_as_text(template: AskedTemplate) -> _Faults:
    if template.form.as_text or not _writes_calls(template):
        return
    answer = replace(template.form, as_text=True).answer(ONE_CALL)
    result = template.ask(user(USER), answer, calls=ONE_CALL)
    if result.text is None:
        yield _fault(template, "template-refuses-text", _refusal(result), result)
    elif f'\\"{KEYS[0]}' in result.text:
        yield _fault(template, "template-encodes-twice", "", result)
    elif not result.has(KEYS[0]):
        yield _fault(template, "template-drops-calls", "arguments given as text are lost", result)


def _results(template: AskedTemplate) -> _Faults:
    if not _writes_calls(template):
        return
    result = template.form.result(ONE_CALL[0], RESULT)
    rendering = template.ask(user(USER), template.form.answer(ONE_CALL), result, calls=ONE_CALL)
    if not rendering.has(RESULT):
        yield _fault(template, "template-drops-results", _refusal(rendering), rendering)


def _parallel_calls(template: AskedTemplate) -> _Faults:
    if not _writes_calls(template):
        return
    rendering = template.ask(user(USER), template.form.answer(TWO_CALLS), calls=TWO_CALLS)
    if rendering.text is None:
        yield _fault(template, "template-one-call", _refusal(rendering), rendering)
    elif not rendering.has(VALUES[1]):
        yield _fault(template, "template-one-call", "only one of two calls is written", rendering)


def _ids(template: AskedTemplate) -> _Faults:
    """Test if ids are lost: exchange two results that differ only in their ids, and compare the
    prompts. Equal prompts have no ids."""
    form = template.form
    answer = form.answer(_SAME_TOOL)
    results = [form.result(call, RESULT, index) for index, call in enumerate(_SAME_TOOL)]
    rendering = template.ask(user(USER), answer, *results, calls=_SAME_TOOL)
    if not rendering.has(NAMES[0], RESULT, *(str(call.arguments[KEYS[0]]) for call in _SAME_TOOL)):
        return
    exchanged = template.ask(user(USER), answer, *reversed(results), calls=_SAME_TOOL)
    if rendering.text == exchanged.text:
        yield _fault(template, "template-drops-ids", "", rendering, exchanged)


def _system(template: AskedTemplate) -> _Faults:
    rendering = template.ask(system(_SYSTEM), user(USER))
    if not rendering.has(_SYSTEM):
        yield _fault(template, "template-ignores-system", _refusal(rendering), rendering)
        return
    header = _user_header(template)
    if header and str(rendering.text).partition(_SYSTEM)[0].endswith(header):
        yield _fault(template, "template-merges-system", "", rendering)


def _user_header(template: AskedTemplate) -> str:
    """Return the text before a user's words that the first and a later turn have in common."""
    answered = template.ask(user(USER), template.form.answer(text=TEXT), user(_AGAIN))
    if not answered.has(USER, TEXT, _AGAIN):
        return ""
    first, _, rest = str(answered.text).partition(USER)
    later = rest.partition(TEXT)[2].partition(_AGAIN)[0]
    return common_end(first, later)


def _tools(template: AskedTemplate) -> _Faults:
    rendering = template.ask(user(USER), calls=ONE_CALL, generation=True)
    if not rendering.has(NAMES[0]):
        yield _fault(template, "template-ignores-tools", _refusal(rendering), rendering)


def _prefix(template: AskedTemplate) -> _Faults:
    """Test if each prompt begins with the prompt before it.

    Otherwise a cache is read only up to the first difference, and a training mask covers tokens
    that the model did not write.
    """
    answer = template.form.answer(text=TEXT)
    calling, result = template.form.answer(ONE_CALL), template.form.result(ONE_CALL[0], RESULT)
    thinking = template.form.answer(text=TEXT, thought=THOUGHT)
    steps = {
        "the answer does not begin as the generation prompt does": (
            template.ask(user(USER), generation=True),
            template.ask(user(USER), answer),
        ),
        "an answer is written differently once the user speaks again": (
            template.ask(user(USER), answer),
            template.ask(user(USER), answer, user(_AGAIN)),
        ),
        "a call is written differently once its result follows": (
            template.ask(user(USER), calling, calls=ONE_CALL),
            template.ask(user(USER), calling, result, calls=ONE_CALL),
        ),
        "an answer with a thought is written differently once the user speaks again": (
            template.ask(user(USER), thinking),
            template.ask(user(USER), thinking, user(_AGAIN)),
        ),
    }
    has_fault = False
    for message, (first, second) in steps.items():
        if first.text is None or second.text is None or second.text.startswith(first.text):
            continue
        if has_fault and first.has(THOUGHT):
            break  # the last step would only repeat a fault that occurs without a thought, too
        has_fault = True
        offset = len(common_start(first.text, second.text))
        problem = f"{message}: the prompts differ from character {offset:,} on"
        yield _fault(template, "template-breaks-prefix", problem, first, second)


def _generation_prompt(template: AskedTemplate) -> _Faults:
    plain = template.ask(user(USER))
    rendering = template.ask(user(USER), generation=True)
    if rendering.text == plain.text:
        yield _fault(template, "template-no-generation-prompt", "", rendering)


def _forged_turn(template: AskedTemplate) -> _Faults:
    """Test if a user can forge a turn by writing the text between turns."""
    real = template.ask(user(USER), template.form.answer(text=TEXT), user(_AGAIN))
    if not real.has(USER, TEXT, _AGAIN):
        return
    turn = str(real.text).partition(USER)[2].partition(_AGAIN)[0]
    forged = template.ask(user(f"{USER}{turn}{_AGAIN}"))
    if turn.strip() != TEXT and forged.text == real.text:
        problem = f"a user who writes {turn.replace(TEXT, '…')!r} has written a turn of the model"
        yield _fault(template, "template-forged-turn", problem, real, forged)


def _thoughts(template: AskedTemplate) -> _Faults:
    """Test if reasoning is written in the last answer, in an answer with a call whose result
    follows, and in an answer before the next question, where most templates drop it."""
    thinking = template.form.answer(ONE_CALL, "", THOUGHT)
    result = template.form.result(ONE_CALL[0], RESULT)
    working = template.ask(user(USER), thinking, result, calls=ONE_CALL)
    last = template.ask(user(USER), template.form.answer(text=TEXT, thought=THOUGHT))
    if last.has(TEXT) and not last.has(THOUGHT):
        # Kimi K2 Thinking writes thoughts only in calls that no final answer follows.
        code = "template-forgets-thoughts" if working.has(THOUGHT) else "template-ignores-thoughts"
        yield _fault(template, code, "", last)
        return
    if working.has(VALUES[0], RESULT) and not working.has(THOUGHT):
        yield _fault(template, "template-drops-thoughts", "", working)
    past = template.ask(user(USER), template.form.answer(text=TEXT, thought=THOUGHT), user(_AGAIN))
    if past.has(TEXT, _AGAIN) and not past.has(THOUGHT):
        yield _fault(template, "template-forgets-thoughts", "", past)


def _date(template: AskedTemplate) -> _Faults:
    first = template.ask(user(USER), calls=ONE_CALL)
    second = template.ask(user(USER), calls=ONE_CALL, day=_LATER)
    if first.text != second.text:
        yield _fault(template, "template-date", "", first, second)


def _begin_of_sequence(template: AskedTemplate) -> _Faults:
    bos = template.source.tokens.get("bos_token")
    rendering = template.ask(user(USER))
    if bos and rendering.text is not None and rendering.text.startswith(bos):
        yield _fault(template, "template-writes-bos", "", rendering)


def _content(template: AskedTemplate) -> _Faults:
    """Test content that is null, that is a list of parts, or that has white space at its ends."""
    nothing = replace(template.form, content="null").answer(ONE_CALL)
    rendering = template.ask(user(USER), nothing, calls=ONE_CALL)
    takes_empty = _writes_calls(template) and template.form.content != "text"
    if takes_empty and rendering.text is None:
        yield _fault(template, "template-refuses-null", _refusal(rendering), rendering)
    elif rendering.has("None"):
        yield _fault(template, "template-prints-none", "", rendering)
    parts = template.ask(user([{"type": "text", "text": USER}]))
    if parts.text is None or USER not in parts.text:
        yield _fault(template, "template-refuses-parts", _refusal(parts), parts)
    elif "'type'" in parts.text or '"type"' in parts.text:
        yield _fault(template, "template-refuses-parts", "it prints the list itself", parts)
    spaced = f" \n{USER} \n"
    rendering_spaced = template.ask(user(spaced))
    if rendering_spaced.has(USER) and not rendering_spaced.has(spaced):
        yield _fault(template, "template-trims", "", rendering_spaced)


_PROBES: Final[tuple[Callable[[AskedTemplate], _Faults], ...]] = (
    _text_with_calls,
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
# The probes to run, and the faults to show, whenever a prompt is rendered.
_PROMPT_PROBES: Final = (_tools, _parallel_calls, _arguments_as_text, _content)
_WARNING_CODES: Final = frozenset(
    {
        "template-ignores-tools",
        "template-one-call",
        "template-encodes-twice",
        "template-prints-none",
    }
)


def _fault(
    template: AskedTemplate, code: str, message: str, *renderings: TemplateRendering
) -> TemplateFault:
    return TemplateFault(finding(code, template.source.name, message), renderings)


def _refusal(rendering: TemplateRendering) -> str:
    """Return why the template refused to render, in its own words; "" if it did not."""
    return "" if rendering.text is not None else f"refused: {rendering.refused}"
