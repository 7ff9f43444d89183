"""A chat template asked by rendering: the form in which it takes calls, and what it writes of them.

Nothing of a template is read but what it renders. Texts that no template holds mark the places.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from playground.errors import InputFault
from playground.raw_prompts import ChatTemplate
from playground.tools import json_type

# No two begin or end alike, and keys are not in the alphabet's order: a template may sort them.
USER: Final = "Gzhut"
TEXT: Final = "Mxkil"
THOUGHT: Final = "Wvrab"
RESULT: Final = "Jyolc"
NAMES: Final = ("fetch_quay", "weigh_zinc")
KEYS: Final = ("vessel", "barrow")
VALUES: Final = ("Qopax", "Ujdem")
_IDS: Final = ("a1B2c3D4e", "f5G6h7I8j")  # nine letters and digits: Mistral's templates ask for it
_THOUGHT_KEYS: Final = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call that a template is asked to write."""

    name: str
    arguments: Mapping[str, Any]


ONE: Final = (AskedCall(NAMES[0], {KEYS[0]: VALUES[0]}),)
TWO: Final = (*ONE, AskedCall(NAMES[1], {KEYS[1]: VALUES[1]}))
PAIR: Final = (AskedCall(NAMES[0], dict(zip(KEYS, VALUES, strict=True))),)


@dataclass(frozen=True, slots=True)
class RequestForm:
    """How a template wants to be given calls. `names_in_ids`: the name stands in the id alone
    (`functions.NAME:0`); `mutable`: it changes lists, which transformers' sandbox forbids."""

    as_text: bool = False
    flat: bool = False
    content: Literal["", "null", "absent"] = ""
    names_in_ids: bool = False
    mutable: bool = False
    tools: bool = True

    def call_id(self, call: AskedCall, index: int) -> str:
        return f"functions.{call.name}:{index}" if self.names_in_ids else _IDS[index % len(_IDS)]

    def written(self, call: AskedCall, index: int) -> dict[str, Any]:
        arguments: Any = dict(call.arguments)
        if self.as_text:
            arguments = json.dumps(arguments, ensure_ascii=False)
        function = {"name": call.name, "arguments": arguments}
        made: dict[str, Any] = {"id": self.call_id(call, index), "type": "function"}
        return made | (function if self.flat else {"function": function})


def forms() -> Iterator[RequestForm]:
    """The commonest first; those that change the sandbox or leave out the tools last."""
    odd = itertools.product((False, True), (True, False))
    for mutable, tools in odd:
        for in_ids, as_text, flat in itertools.product((False, True), repeat=3):
            contents: tuple[Literal["", "null", "absent"], ...] = ("", "null", "absent")
            for content in contents:
                yield RequestForm(as_text, flat, content, in_ids, mutable, tools)


@dataclass
class AskedTemplate:
    """A template, the form in which it is asked, and how often it was rendered."""

    source: ChatTemplate
    form: RequestForm = field(default_factory=RequestForm)
    renderings: int = 0
    refused: str = ""
    replies: dict[str, str | None] = field(default_factory=dict, repr=False)
    """What was rendered before, by what was asked: the same is asked of every guess."""

    def render(
        self, messages: Sequence[Mapping[str, Any]], calls: Sequence[AskedCall], generation: bool
    ) -> str | None:
        """The prompt; None where the template refuses, which `refused` keeps the words of."""
        self.renderings += 1
        source = dataclasses.replace(self.source, mutable=self.form.mutable)
        tools = tools_for(calls, with_null=False) if self.form.tools else None
        # FireFunction's template wants these two, whatever the conversation
        more = {"functions": json.dumps(tools), "datetime": "2026-01-01"} if tools else {}
        try:
            return source.render(messages, tools, generation, **more)
        except InputFault as fault:
            self.refused = fault.problem
            return None

    def reply(
        self,
        calls: Sequence[AskedCall] = (),
        text: str = "",
        thought: str = "",
        told: str | None = None,
    ) -> str | None:
        """What stands behind the user's words where the assistant has answered so; with `told`, the
        words of the tool that follow. None where the template refuses, or loses the user."""
        messages = [{"role": "user", "content": USER}, self._answer(calls, text, thought)]
        if told is not None:
            messages.append(self._told(calls[0], told))
        key = repr((messages, calls))
        if key not in self.replies:
            self.replies[key] = self._behind_user(self.render(messages, calls, False))
        return self.replies[key]

    def generation(self) -> str:
        """What a prompt ends with, behind the user's words, before a model answers."""
        whole = self._behind_user(self.render([{"role": "user", "content": USER}], ONE, True))
        bare = self._behind_user(self.render([{"role": "user", "content": USER}], ONE, False))
        if whole is None or bare is None or not whole.startswith(bare):
            return whole or ""
        return whole

    def user_turn(self, calls: Sequence[AskedCall], words: str) -> str | None:
        """The same as `reply`, and then the user says something."""
        answer = self._answer(calls, "", "")
        messages = [{"role": "user", "content": USER}, answer, {"role": "user", "content": words}]
        return self._behind_user(self.render(messages, calls, False))

    def _answer(self, calls: Sequence[AskedCall], text: str, thought: str) -> dict[str, Any]:
        made: dict[str, Any] = {"role": "assistant"}
        if text or self.form.content != "absent":
            made["content"] = text or ("" if self.form.content == "" else None)
        if thought:
            made |= dict.fromkeys(_THOUGHT_KEYS, thought)
        if calls:
            written = [self.form.written(call, index) for index, call in enumerate(calls)]
            made["tool_calls"] = written
        return made

    def _told(self, call: AskedCall, words: str) -> dict[str, Any]:
        call_id = self.form.call_id(call, 0)
        return {"role": "tool", "name": call.name, "tool_call_id": call_id, "content": words}

    @staticmethod
    def _behind_user(text: str | None) -> str | None:
        if text is None or USER not in text:
            return None
        return text[text.rindex(USER) + len(USER) :]


def tools_for(calls: Sequence[AskedCall], with_null: bool = True) -> list[dict[str, Any]]:
    """OpenAI's tools that fit the calls, with types and descriptions: templates look at them.

    A type of null sends some templates round for ever: without it, such an argument is a text.
    """
    made: dict[str, dict[str, Any]] = {}
    for call in [*calls, *TWO]:
        properties = {
            key: {"type": kind, "description": "One of its arguments."}
            for key, kind in ((key, json_type(value)) for key, value in call.arguments.items())
        }
        for schema in properties.values() if not with_null else ():
            schema["type"] = "string" if schema["type"] == "null" else schema["type"]
        known = made.get(call.name, {})
        made[call.name] = known | {key: properties[key] for key in properties if key not in known}
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "Does what it says.",
                "parameters": {"type": "object", "properties": properties, "required": []},
            },
        }
        for name, properties in made.items()
    ]


def asked_form(source: ChatTemplate) -> AskedTemplate:
    """The template with the first form in which it writes a call well, or best.

    Raises InputFault where it writes a call in none of them.
    """
    best, most = AskedTemplate(source), 0
    refused, renderings = "", 0
    for form in forms():
        asked = AskedTemplate(source, form)
        region = asked.reply(ONE)
        renderings += 1
        refused = refused or asked.refused
        score = _score(region or "")
        if score > most:
            best, most = asked, score
        if most == _BEST:
            break
    if not most:
        why = f" ({refused})" if refused else ""
        raise InputFault(f"the template writes no calls{why}", where=source.name)
    best.renderings = renderings
    return best


_BEST: Final = 3


def _score(region: str) -> int:
    """0 where name, key or value are not written; less than the best where arguments are encoded
    twice, or are Python's own representation."""
    if not all(word in region for word in (NAMES[0], KEYS[0], VALUES[0])):
        return 0
    if f'\\"{KEYS[0]}' in region:
        return 1
    return 2 if f"{{'{KEYS[0]}" in region else _BEST
