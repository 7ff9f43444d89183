"""Find out by rendering how a chat template takes calls, and what it writes of them.

A template is only rendered, never parsed. Texts that no template holds mark the places.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from playground.base.confined import Budget, Stopped
from playground.base.errors import InputFault
from playground.dialects.raw_prompts.chat_template import ChatTemplate
from playground.nouns.tools import json_type

# No two begin or end alike, and keys are not in the alphabet's order: a template may sort them.
USER: Final = "Gzhut"
TEXT: Final = "Mxkil"
THOUGHT: Final = "Wvrab"
RESULT: Final = "Jyolc"
NAMES: Final = ("fetch_quay", "weigh_zinc")
KEYS: Final = ("vessel", "barrow")
VALUES: Final = ("Qopax", "Ujdem")
_IDS: Final = ("a1B2c3D4e", "f5G6h7I8j")  # nine letters and digits: Mistral's templates ask for it
ASKING_SECONDS: Final = 30.0  # of all that is rendered to know a template; most take one
DAY: Final = "2026-01-01"  # the same template gives the same answers on every day
_THOUGHT_KEYS: Final = ("reasoning_content", "reasoning", "thinking")


Messages = Sequence[Mapping[str, Any]]


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
    """The form in which a template takes calls.

    `names_in_ids`: the name stands in the id alone (`functions.NAME:0`). `mutable`: the template
    changes lists, which transformers' sandbox forbids.
    """

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

    def answer(
        self, calls: Sequence[AskedCall] = (), text: str = "", thought: str = ""
    ) -> dict[str, Any]:
        """Return an assistant's message; its thought stands under every field name that templates
        know.
        """
        made: dict[str, Any] = {"role": "assistant"}
        if text or self.content != "absent":
            made["content"] = text or ("" if self.content == "" else None)
        if thought:
            made |= dict.fromkeys(_THOUGHT_KEYS, thought)
        if calls:
            made["tool_calls"] = [self.written(call, index) for index, call in enumerate(calls)]
        return made

    def result(self, call: AskedCall, words: str, index: int = 0) -> dict[str, Any]:
        """Return the message with the tool's result for the call of this index."""
        call_id = self.call_id(call, index)
        return {"role": "tool", "name": call.name, "tool_call_id": call_id, "content": words}


def forms() -> Iterator[RequestForm]:
    """Yield the forms, the commonest first; those that need another sandbox or leave out tools
    last.
    """
    odd = itertools.product((False, True), (True, False))
    for mutable, tools in odd:
        for in_ids, as_text, flat in itertools.product((False, True), repeat=3):
            contents: tuple[Literal["", "null", "absent"], ...] = ("", "null", "absent")
            for content in contents:
                yield RequestForm(as_text, flat, content, in_ids, mutable, tools)


@dataclass(frozen=True, slots=True)
class TemplateRendering:
    """A request and the template's text for it; `text` is None if it refused, with the reason
    `refused`.

    `day` is the date that the template saw, as YYYY-MM-DD.
    """

    messages: Messages
    tools: Sequence[Mapping[str, Any]] | None
    add_generation_prompt: bool
    variables: Mapping[str, Any]
    day: str
    text: str | None
    refused: str = ""

    def has(self, *words: str) -> bool:
        return self.text is not None and all(word in self.text for word in words)

    @property
    def behind_user(self) -> str | None:
        """The text after the user's last words; None if the template loses them."""
        if self.text is None or USER not in self.text:
            return None
        return self.text[self.text.rindex(USER) + len(USER) :]

    def lines(self) -> list[str]:
        """The request, a line of JSON a message, and the result, as a Python string."""
        made = f"refused: {self.refused}" if self.text is None else repr(self.text)
        return [*(json.dumps(each, ensure_ascii=False) for each in self.messages), f"→ {made}"]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, with the request under the names of transformers'
        `apply_chat_template`.
        """
        request = {
            "messages": self.messages,
            "tools": self.tools,
            "add_generation_prompt": self.add_generation_prompt,
            "variables": self.variables,
            "now": self.day,
        }
        return request | ({"refused": self.refused} if self.text is None else {"text": self.text})


@dataclass
class AskedTemplate:
    """A template, the form in which it is asked, and its earlier answers, all within one budget."""

    source: ChatTemplate
    form: RequestForm = field(default_factory=RequestForm)
    budget: Budget = field(default_factory=lambda: Budget(ASKING_SECONDS), repr=False)
    always_tools: bool = False
    """True if it is given tools even if none is called: some templates fail without."""
    renderings: int = 0
    refused: str = ""
    known: dict[str, TemplateRendering] = field(default_factory=dict, repr=False)
    """Earlier renderings by request, since every guess asks the same."""

    def ask(
        self,
        *messages: Mapping[str, Any],
        calls: Sequence[AskedCall] = (),
        generation: bool = False,
        day: str = DAY,
        variables: Mapping[str, Any] | None = None,
    ) -> TemplateRendering:
        """Render these messages, with tools if there are calls.

        Raises InputFault if the rendering was ended: it would be in every other form.
        """
        given = self.form.tools and (calls or self.always_tools)
        tools = tools_for(calls, with_null=False) if given else None
        key = repr((messages, tools, generation, day, variables))
        if key not in self.known:
            self.known[key] = self._rendered(messages, tools, generation, day, variables or {})
        return self.known[key]

    def _rendered(
        self,
        messages: Messages,
        tools: Sequence[Mapping[str, Any]] | None,
        generation: bool,
        day: str,
        variables: Mapping[str, Any],
    ) -> TemplateRendering:
        self.renderings += 1
        now = datetime.datetime.fromisoformat(day)
        source = dataclasses.replace(self.source, mutable=self.form.mutable, now=now)
        # FireFunction's template wants these two, whatever the conversation
        wanted = {"functions": json.dumps(tools), "datetime": day} if tools else {}
        more = wanted | dict(variables)
        try:
            text = source.render_within(self.budget, messages, tools, generation, **more)
        except Stopped as reason:
            raise source.stopped(reason) from reason
        except InputFault as fault:
            self.refused = fault.problem
            return TemplateRendering(messages, tools, generation, more, day, None, fault.problem)
        return TemplateRendering(messages, tools, generation, more, day, text)

    def reply(
        self,
        calls: Sequence[AskedCall] = (),
        text: str = "",
        thought: str = "",
        told: str | None = None,
    ) -> str | None:
        """Return the text after the user's words if the assistant has answered so.

        With `told`, the tool's words follow. Return None if the template refuses, or loses the
        user.
        """
        messages = [user(USER), self.form.answer(calls, text, thought)]
        if told is not None:
            messages.append(self.form.result(calls[0], told))
        return self.ask(*messages, calls=calls or TWO).behind_user

    def generation(self) -> str:
        """Return the end of a prompt, after the user's words, before a model answers."""
        whole = self.ask(user(USER), calls=ONE, generation=True).behind_user
        bare = self.ask(user(USER), calls=ONE).behind_user
        if whole is None or bare is None or not whole.startswith(bare):
            return whole or ""
        return whole

    def answered(self, words: str) -> str | None:
        """Return the text after the user's first words if assistant and user have said something
        more.

        Return None in the same cases as `reply`.
        """
        shown = self.ask(user(USER), self.form.answer((), words), user(RESULT), calls=TWO)
        return shown.behind_user

    def user_turn(self, calls: Sequence[AskedCall], words: str) -> str | None:
        """Return what `reply` does, if the user then says something."""
        answer = self.form.answer(calls)
        return self.ask(user(USER), answer, user(words), calls=calls or TWO).behind_user


def user(words: Any) -> dict[str, Any]:
    """Return a message of the user's; `words` is a text, or a list of parts."""
    return {"role": "user", "content": words}


def system(words: str) -> dict[str, Any]:
    return {"role": "system", "content": words}


def tools_for(calls: Sequence[AskedCall], with_null: bool = True) -> list[dict[str, Any]]:
    """Return OpenAI's tools that fit the calls, with types and descriptions: templates look at
    them.

    The type null sends some templates into an endless loop, so such an argument is declared as
    text.
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


def asked_form(source: ChatTemplate, budget: Budget | None = None) -> AskedTemplate:
    """Return the template with the first form in which it writes a call well, or else best.

    Raises InputFault if it writes a call in none of them.
    """
    budget = budget or Budget(ASKING_SECONDS)
    best, most = AskedTemplate(source, budget=budget), 0
    refused, renderings = "", 0
    for form in forms():
        asked = AskedTemplate(source, form, budget)
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
    """Score a form: 0 if name, key or value are not written.

    It is below the best if arguments are encoded twice, or are Python's own representation.
    """
    if not all(word in region for word in (NAMES[0], KEYS[0], VALUES[0])):
        return 0
    if f'\\"{KEYS[0]}' in region:
        return 1
    return 2 if f"{{'{KEYS[0]}" in region else _BEST


def common_start(one: str, other: str) -> str:
    return os.path.commonprefix([one, other])


def common_end(one: str, other: str) -> str:
    return common_start(one[::-1], other[::-1])[::-1]
