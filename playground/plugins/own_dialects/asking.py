"""Render a chat template to find the form in which it takes calls, and the text that it writes.

A template is only rendered, never parsed. Names, texts and values are words that occur in no
template, so that they can be found in the output.
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

# The first four words, and the words of each pair, begin and end differently. Keys are not in
# alphabetical order, to show if a template sorts them.
USER: Final = "Gzhut"
TEXT: Final = "Mxkil"
THOUGHT: Final = "Wvrab"
RESULT: Final = "Jyolc"
NAMES: Final = ("fetch_quay", "weigh_zinc")
KEYS: Final = ("vessel", "barrow")
VALUES: Final = ("Qopax", "Ujdem")
_IDS: Final = ("a1B2c3D4e", "f5G6h7I8j")  # nine letters and digits, as Mistral's templates require
ASKING_SECONDS: Final = 30.0  # for all renderings of a template; most templates need one second
DAY: Final = "2026-01-01"  # a fixed date, so that a template gives the same text on every day
_THOUGHT_KEYS: Final = ("reasoning_content", "reasoning", "thinking")


Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call that a template is asked to write."""

    name: str
    arguments: Mapping[str, Any]


ONE_CALL: Final = (AskedCall(NAMES[0], {KEYS[0]: VALUES[0]}),)
TWO_CALLS: Final = (*ONE_CALL, AskedCall(NAMES[1], {KEYS[1]: VALUES[1]}))
TWO_ARGUMENTS: Final = (AskedCall(NAMES[0], dict(zip(KEYS, VALUES, strict=True))),)


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The form in which a template takes calls.

    `as_text`: arguments are JSON in a string. `flat`: a call has no `function` object around name
    and arguments. `content`: the content of a message that only calls: an empty text, null, no such
    field, or a filler text. `names_in_ids`: the tool's name is read from the id alone
    (`functions.NAME:0`). `mutable`: the template changes lists, which transformers' sandbox
    forbids. `tools`: tools are passed to the template.
    """

    as_text: bool = False
    flat: bool = False
    content: Literal["", "null", "absent", "text"] = ""
    names_in_ids: bool = False
    mutable: bool = False
    tools: bool = True

    def call_id(self, call: AskedCall, index: int) -> str:
        return f"functions.{call.name}:{index}" if self.names_in_ids else _IDS[index % len(_IDS)]

    def tool_call(self, call: AskedCall, index: int) -> dict[str, Any]:
        arguments: Any = dict(call.arguments)
        if self.as_text:
            arguments = json.dumps(arguments, ensure_ascii=False)
        function = {"name": call.name, "arguments": arguments}
        entry: dict[str, Any] = {"id": self.call_id(call, index), "type": "function"}
        return entry | (function if self.flat else {"function": function})

    def answer(
        self, calls: Sequence[AskedCall] = (), text: str = "", thought: str = ""
    ) -> dict[str, Any]:
        """Return an assistant's message; its reasoning is in every field that templates read."""
        message: dict[str, Any] = {"role": "assistant"}
        text = text or (TEXT if calls and self.content == "text" else "")
        if text or self.content != "absent":
            message["content"] = text or ("" if self.content == "" else None)
        if thought:
            message |= dict.fromkeys(_THOUGHT_KEYS, thought)
        if calls:
            message["tool_calls"] = [self.tool_call(call, i) for i, call in enumerate(calls)]
        return message

    def result(self, call: AskedCall, words: str, index: int = 0) -> dict[str, Any]:
        """Return the message with the tool's result for the call of this index."""
        call_id = self.call_id(call, index)
        return {"role": "tool", "name": call.name, "tool_call_id": call_id, "content": words}


def forms() -> Iterator[RequestForm]:
    """Yield the forms, the commonest first; forms that are mutable or have no tools come last."""
    unusual = itertools.product((False, True), (True, False))
    for mutable, tools in unusual:
        for in_ids, as_text, flat in itertools.product((False, True), repeat=3):
            contents: tuple[Literal["", "null", "absent"], ...] = ("", "null", "absent")
            for content in contents:
                yield RequestForm(as_text, flat, content, in_ids, mutable, tools)


@dataclass(frozen=True, slots=True)
class TemplateRendering:
    """A request and the template's text for it.

    `text` is None if the template refused the request; `refused` then holds the reason. `day` is
    the date that the template saw, as YYYY-MM-DD.
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
    def after_user(self) -> str | None:
        """The text after the last USER; None if the template refused, or lost USER."""
        if self.text is None or USER not in self.text:
            return None
        return self.text[self.text.rindex(USER) + len(USER) :]

    def lines(self) -> list[str]:
        """Return the messages, each as a line of JSON, and the result as a Python string."""
        outcome = f"refused: {self.refused}" if self.text is None else repr(self.text)
        return [*(json.dumps(each, ensure_ascii=False) for each in self.messages), f"→ {outcome}"]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; the request has the names of transformers' `apply_chat_template`."""
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
    """A template, the form of its requests, and its renderings, whose time `budget` limits."""

    source: ChatTemplate
    form: RequestForm = field(default_factory=RequestForm)
    budget: Budget = field(default_factory=lambda: Budget(ASKING_SECONDS), repr=False)
    always_tools: bool = False
    """True if requests without calls have tools, too: some templates fail without tools."""
    renderings: int = 0
    refused: str = ""
    earlier: dict[str, TemplateRendering] = field(default_factory=dict, repr=False)
    """Earlier renderings by request, because many questions need the same rendering."""

    def ask(
        self,
        *messages: Mapping[str, Any],
        calls: Sequence[AskedCall] = (),
        generation: bool = False,
        day: str = DAY,
        variables: Mapping[str, Any] | None = None,
    ) -> TemplateRendering:
        """Render these messages, with tools for the `calls`, if there are any.

        With `generation`, the text ends where a model is to go on. `day` is the date that the
        template sees, and `variables` are further values for it. Raises InputFault if the rendering
        was stopped, since other forms would be stopped too.
        """
        has_tools = self.form.tools and (calls or self.always_tools)
        tools = tools_for(calls, with_null=False) if has_tools else None
        key = repr((messages, tools, generation, day, variables))
        if key not in self.earlier:
            self.earlier[key] = self._render(messages, tools, generation, day, variables or {})
        return self.earlier[key]

    def _render(
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
        # FireFunction's template needs these two for any conversation
        extra = {"functions": json.dumps(tools), "datetime": day} if tools else {}
        values = extra | dict(variables)
        try:
            text = source.render_within(self.budget, messages, tools, generation, **values)
        except Stopped as reason:
            raise source.stopped(reason) from reason
        except InputFault as fault:
            self.refused = fault.problem
            return TemplateRendering(messages, tools, generation, values, day, None, fault.problem)
        return TemplateRendering(messages, tools, generation, values, day, text)

    def reply(
        self,
        calls: Sequence[AskedCall] = (),
        text: str = "",
        thought: str = "",
        result: str | None = None,
    ) -> str | None:
        """Return the text after USER in a conversation in which the assistant has answered with
        these calls and this text, after reasoning (`thought`).

        `result` is the first call's result. Return None if the template refuses, or loses USER.
        """
        messages = [user(USER), self.form.answer(calls, text, thought)]
        if result is not None:
            messages.append(self.form.result(calls[0], result))
        return self.ask(*messages, calls=calls or TWO_CALLS).after_user

    def generation(self) -> str:
        """Return the text after USER in a prompt that a model is to answer; "" if refused."""
        return self.ask(user(USER), calls=ONE_CALL, generation=True).after_user or ""

    def answered(self, words: str) -> str | None:
        """Return the text after USER if the assistant answered `words` and the user wrote again.

        Return None in the same cases as `reply`.
        """
        rendering = self.ask(user(USER), self.form.answer((), words), user(RESULT), calls=TWO_CALLS)
        return rendering.after_user

    def user_turn(self, calls: Sequence[AskedCall], words: str) -> str | None:
        """Return the text after USER if the assistant made calls and the user then wrote `words`.

        Return None in the same cases as `reply`.
        """
        answer = self.form.answer(calls)
        return self.ask(user(USER), answer, user(words), calls=calls or TWO_CALLS).after_user


def user(words: Any) -> dict[str, Any]:
    """Return a user's message; `words` is a text, or a list of parts."""
    return {"role": "user", "content": words}


def system(words: str) -> dict[str, Any]:
    return {"role": "system", "content": words}


def tools_for(calls: Sequence[AskedCall], with_null: bool = True) -> list[dict[str, Any]]:
    """Return tools in OpenAI's form, with types and descriptions, for the calls and `TWO_CALLS`.

    The type null sends some templates into an endless loop. Unless `with_null`, an argument of that
    type is declared as a string.
    """
    properties_of: dict[str, dict[str, Any]] = {}
    for call in [*calls, *TWO_CALLS]:
        properties = {
            key: {"type": kind, "description": "One of its arguments."}
            for key, kind in ((key, json_type(value)) for key, value in call.arguments.items())
        }
        for schema in properties.values() if not with_null else ():
            schema["type"] = "string" if schema["type"] == "null" else schema["type"]
        earlier = properties_of.get(call.name, {})
        properties_of[call.name] = earlier | {
            key: properties[key] for key in properties if key not in earlier
        }
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "Does what it says.",
                "parameters": {"type": "object", "properties": properties, "required": []},
            },
        }
        for name, properties in properties_of.items()
    ]


def find_form(source: ChatTemplate, budget: Budget | None = None) -> AskedTemplate:
    """Return the template with the form in which it writes a call best; of equal forms, the first.

    Raises InputFault if the template writes a call in none of the forms.
    """
    budget = budget or Budget(ASKING_SECONDS)
    best, best_score = AskedTemplate(source, budget=budget), 0
    refused, renderings = "", 0
    for form in forms():
        template = AskedTemplate(source, form, budget)
        region = template.reply(ONE_CALL)
        renderings += 1
        refused = refused or template.refused
        score = _score(region or "")
        if score > best_score:
            best, best_score = template, score
        if best_score == _BEST:
            break
    if not best_score:
        reason = f" ({refused})" if refused else ""
        raise InputFault(f"the template writes no calls{reason}", where=source.name)
    best.renderings = renderings
    return best


_BEST: Final = 3


def _score(region: str) -> int:
    """Score a form by the text of a call: 0 if its name, its key or its value is missing.

    The score is lower if arguments are encoded twice, or written as a Python dict.
    """
    if not all(word in region for word in (NAMES[0], KEYS[0], VALUES[0])):
        return 0
    if f'\\"{KEYS[0]}' in region:
        return 1
    return 2 if f"{{'{KEYS[0]}" in region else _BEST


def common_start(first: str, second: str) -> str:
    return os.path.commonprefix([first, second])


def common_end(first: str, second: str) -> str:
    return common_start(first[::-1], second[::-1])[::-1]
