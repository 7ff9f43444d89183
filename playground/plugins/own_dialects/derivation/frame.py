"""Find the frame that a template puts around an answer: header, end of turn, reasoning, result."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Final

from playground.dialects.declared import ResultRole
from playground.dialects.raw_prompts.sources import STAND_INS
from playground.parsing.syntax import ReasoningTags
from playground.plugins.own_dialects.asking import (
    ONE_CALL,
    RESULT,
    TEXT,
    USER,
    AskedTemplate,
    common_end,
    common_start,
    user,
)
from playground.plugins.own_dialects.derivation.alignment import (
    MARKS,
    as_template,
    snap_end,
    snap_start,
)
from playground.plugins.own_dialects.derivation.thoughts import TOKEN, thoughts_of, without_thought

# A control token, such as `<|end|>`. A stop is a tag, two tags around a word, or a word in
# brackets.
_CONTROL: Final = r"<[|｜][^<>\s]+[|｜]>"
_STOP: Final = re.compile(r"(?:<[^<>\s]+>(?:\w+<[^<>\s]+>)?|\[[^\[\]\s]+\])")


@dataclass(frozen=True, slots=True)
class TurnFrame:
    """The text around an answer: `header` before the answer, and some of `ends`, if any, after it.

    `result_turn` is the turn that the chat template makes of a tool's result. All other fields
    after `ends` are fields of the declared dialect.
    """

    header: str
    ends: tuple[str, ...]
    reasoning: tuple[ReasoningTags, ...]
    result: str
    result_role: ResultRole
    result_turn: str
    stops: tuple[str, ...]
    answer: tuple[str, str]
    opens_reasoning: bool
    dropped: tuple[str, ...]

    def bare(self, region: str) -> str:
        """Return an answer's text without header, end of turn and empty thought."""
        text = region.removeprefix(self.header).strip()
        while end := next((end for end in self.ends if text.endswith(end)), ""):
            text = text.removesuffix(end).strip()
        text = without_thought(text, self.reasoning)
        opener, closer = self.answer
        if opener and closer:
            empty = rf"\A(?:{re.escape(opener)}\s*)?{re.escape(closer)}\s*"
            text = re.sub(empty, "", text)
        return text

    def before_thought(self) -> TurnFrame:
        """Return the frame of an answer with a thought, whose header ends before the thought."""
        header = self.header
        for tags in self.reasoning:
            header = header.partition(tags.open)[0].partition(tags.close)[0]
        return dataclasses.replace(self, header=header)

    def with_stop(self, stop: str) -> TurnFrame:
        """Return the frame with `stop`, the end of turns with calls, as a further end. If `stop`
        has no token, return the frame unchanged."""
        tokens = TOKEN.findall(stop)
        if not tokens:
            return self
        # Only the first token is a stop, because the text after it belongs to the next turn.
        ends, stops = (stop, *self.ends), tuple(dict.fromkeys((*self.stops, tokens[0])))
        return dataclasses.replace(self, ends=ends, stops=stops)


def frame_of(template: AskedTemplate) -> TurnFrame:
    """Return the frame of a template's answers, as far as the renderings show it."""
    header, end = _around_answer(template)
    result, role, result_turn = _result(template)
    ends = (end.strip(),) if end.strip() else ()
    thoughts = thoughts_of(template, header, end)
    stops = tuple(dict.fromkeys((*_stops(template, end), *thoughts.stops)))
    return TurnFrame(
        header,
        ends,
        thoughts.reasoning,
        result,
        role,
        result_turn,
        stops,
        thoughts.answer,
        _opens_reasoning(template, thoughts.reasoning),
        () if result != "{result}" else _result_tokens(template),
    )


def _around_answer(template: AskedTemplate) -> tuple[str, str]:
    """Return the header and the end that a turn of calls has in common with a turn of text.

    If a turn of calls shares a longer text with the generation prompt, that text is the header.
    """
    calling, answer = template.reply(ONE_CALL) or "", template.reply((), TEXT)
    shared = snap_start(calling, common_start(calling, template.generation()))
    if answer is None or TEXT not in answer:
        return shared, ""
    before, _, after = answer.rpartition(TEXT)
    header = snap_start(calling, common_start(calling, before))
    end = snap_end(calling, _common_end(calling, after)) or _end_of_turn(template, calling)
    return max(header, shared, key=len), end


def _common_end(call_turn: str, after: str) -> str:
    """Return the common end of both texts, without a tag that belongs to the word before it. For
    example, `tools<|sep|>` and `response<|sep|>` are two different markers, so the end is ""."""
    end = common_end(call_turn, after)
    attached = [text[: len(text) - len(end)][-1:].isalnum() for text in (call_turn, after)]
    tag = TOKEN.match(end)
    return end[tag.end() :] if all(attached) and tag else end


def _end_of_turn(template: AskedTemplate, call_turn: str) -> str:
    """Return the token that ends both a turn of calls and an answer, or "". The answer is followed
    by a turn of the user, because some templates do not end the last answer."""
    answer = template.answered(TEXT) or ""
    token = TOKEN.match(answer.rpartition(TEXT)[2].lstrip())
    return token[0] if token and TEXT in answer and call_turn.rstrip().endswith(token[0]) else ""


def _stops(template: AskedTemplate, end: str) -> tuple[str, ...]:
    """Return the token that ends a turn, if there is one, and the tokenizer's end of sequence."""
    run = end.split()[0] if end.strip() else ""
    token = _STOP.match(run)
    first = token[0] if token else "" if run.isalnum() else run
    eos = template.source.tokens.get("eos_token", "")
    eos_stop = eos if eos != STAND_INS["eos_token"] else ""  # a stand-in is not the model's
    return tuple(dict.fromkeys(token for token in (first, eos_stop) if token))


def _result(template: AskedTemplate) -> tuple[str, ResultRole, str]:
    """Return the template of a tool's result, its role, and the turn that the chat template makes.

    With the role user, the template has the text around the result, and the turn is "". Otherwise
    the template is "{result}", because the chat template adds the text around it.
    """
    start, answer = template.reply(ONE_CALL), template.reply(ONE_CALL, result=RESULT)
    if start is None or answer is None or RESULT not in answer:
        return "{result}", "tool", ""
    before, after = answer.rsplit(RESULT, 1)
    before = before[len(common_start(before, start)) :]
    as_user = template.user_turn(ONE_CALL, RESULT)
    header = _user_header(as_user, start)
    if not header or header not in before:
        return "{result}", "ipython" if "ipython" in before else "tool", before + "{result}" + after
    user_after = (as_user or "").rsplit(RESULT, 1)[1]
    end = snap_end(after, common_end(after, user_after))
    inner = before[before.rindex(header) + len(header) :]
    call_id = template.form.call_id(ONE_CALL[0], 0)
    parts = [
        as_template(part.replace(call_id, MARKS["id"]).replace(ONE_CALL[0].name, MARKS["name"]))
        for part in (inner, after[: len(after) - len(end)])
    ]
    exact = "{result}".join(parts)
    # Keep white space around the result if a user's message with it is rendered to the same text.
    parts_as_text = (inner, RESULT, after[: len(after) - len(end)])
    is_same = template.user_turn(ONE_CALL, "".join(parts_as_text)) == answer
    return exact if is_same else exact.strip(), "user", ""


def _opens_reasoning(template: AskedTemplate, reasoning: tuple[ReasoningTags, ...]) -> bool:
    """Return True if every prompt ends inside a thought, even with thinking switched off."""
    switched_off = {"enable_thinking": False, "thinking": False, "reasoning": False}
    prompts = [
        template.ask(user(USER), calls=ONE_CALL, generation=True, variables=variables).text or ""
        for variables in ({}, switched_off)
    ]
    return any(all(p.rstrip().endswith(tags.open) for p in prompts) for tags in reasoning)


def _result_tokens(template: AskedTemplate) -> tuple[str, ...]:
    """Return the control tokens that occur only next to a result. Servers sometimes leave these in
    a reply's text."""
    answer = template.reply(ONE_CALL, result=RESULT) or ""
    others = (template.user_turn(ONE_CALL, RESULT) or "") + (template.reply((), TEXT) or "")
    before, _, after = answer.rpartition(RESULT)
    matches = re.search(rf"({_CONTROL})\s*\Z", before), re.match(rf"\s*({_CONTROL})", after)
    return tuple(match[1] for match in matches if match and match[1] not in others)


def _user_header(turn: str | None, start: str) -> str:
    """Return the text before a user's words in a turn after the reply `start`, or ""."""
    if turn is None or RESULT not in turn:
        return ""
    before = turn.rsplit(RESULT, 1)[0]
    own_text = before[len(common_start(before, start)) :]
    match = re.search(r"\S*(?:user|human|INST)\S*\s*\Z", own_text, re.IGNORECASE)
    return match[0] if match else ""
