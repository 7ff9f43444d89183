"""The bot, which runs a template: it reads messages, asks the model and calls functions.

We decided what the reference leaves open: `truncate` hides earlier messages from the model; after a
switch the first template is not resumed; `botSwitchTemplate` takes the name as `template` (or as
its only text); a conversation that is too long loses its oldest messages first (`context.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from playground.base.errors import InputFault, PlaygroundError, UnknownNameError
from playground.base.findings import Finding
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.aichatflow.answers import checked
from playground.plugins.systems.aichatflow.context import NoRoom, fitting
from playground.plugins.systems.aichatflow.inputs import (
    FunctionFault,
    guarded,
    plain_input,
    result_text,
)
from playground.plugins.systems.aichatflow.requests import SWITCH, PlainMessage, Sent
from playground.plugins.systems.aichatflow.sets import TemplateMessage, TemplateSet
from playground.plugins.systems.aichatflow.steps import Step, read_step
from playground.plugins.systems.go_templates import TemplateFault
from playground.plugins.systems.tool_loop import tool_loop

MOST_SWITCHES: Final = 20
MOST_REQUESTS: Final = 100
_SAID: Final = ("system", "user", "assistant", "function")
_NOT_FORCED: Final = (None, "")  # values of `call_function` that force no function

Respond = Callable[["Sent"], PlainMessage]
CallFunction = Callable[[str, dict[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run: the new history, the requests as sent, and all steps in order (`trace`).

    `findings` say when a conversation was too long to be sent completely.
    """

    history: list[PlainMessage]
    requests: list[Sent]
    trace: list[Step]
    findings: list[Finding] = field(default_factory=list)


def run(
    templates: TemplateSet,
    data: Mapping[str, Any] | object,
    respond: Respond,
    *,
    template: str = "default",
    history: Sequence[PlainMessage] = (),
    tools: Sequence[ToolMetadata] = (),
    call: CallFunction | Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    most_characters: int | None = None,
    most_tokens: int | None = None,
    model: str = "",
    watch: Callable[[Step], None] | None = None,
) -> Outcome:
    """Run a template on an input and a history, without changing them.

    `data` is a mapping, a pydantic model or a dataclass. `respond` answers a request.

    `call` maps names of functions to their results, or is a function that returns a result. A call
    of an unknown function counts as a plain answer. `defaults` are parameters for requests without
    a default-request. `most_characters` or `most_tokens` limits the context (by default the model's
    own limit in LiteLLM's map). `model` replaces every model that templates name. `watch` is called
    with each step.

    Raises UnknownNameError for an unknown template or function, and InputFault that names template,
    message, line and column, also for an exception of a function.
    """
    forced = {"model": model} if model else {}
    given = plain_input(data)
    if not isinstance(given, Mapping):
        expected = "a JSON object, a pydantic model or a dataclass"
        raise InputFault(f"the input is a {type(data).__name__}", expected=expected)
    limits, default = (most_characters, most_tokens), dict(defaults or {})
    bot = _Bot(templates, given, respond, tools, guarded(_caller(call)), default, limits, forced)
    bot.watch = watch or bot.watch
    bot.history = [checked(m, f"history, message {i}") for i, m in enumerate(history)]
    bot.run(template)
    return Outcome(bot.history, bot.requests, bot.trace, bot.findings)


@dataclass(slots=True)
class _Bot:
    templates: TemplateSet
    data: Mapping[str, Any]
    respond: Respond
    tools: Sequence[ToolMetadata]
    call: CallFunction
    defaults: dict[str, Any]
    limits: tuple[int | None, int | None]  # characters, tokens
    forced: dict[str, Any]
    watch: Callable[[Step], None] = lambda _: None
    history: list[PlainMessage] = field(default_factory=list)
    requests: list[Sent] = field(default_factory=list)
    trace: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    switches: int = 0
    # of the current requests; a function is forced only once
    parameters: dict[str, Any] = field(default_factory=dict)
    switched_to: str = ""

    def run(self, name: str) -> None:
        messages, at = self._template(name), 0
        while True:
            at, own = self._read(name, messages, at)
            try:
                switched = self._ask(name, {**self._nearest_default(), **own, **self.forced})
            except (FunctionFault, NoRoom) as fault:
                raise _at(name, at - 1, str(fault)) from fault
            if switched:
                note = f"suspended at message {at}, goes on with {switched}"
                self._note(Step(name, "switch", source=note))
                name, messages, at = switched, self._template(switched), 0
            elif at >= len(messages):
                return

    def _note(self, step: Step) -> None:
        self.trace.append(step)
        self.watch(step)

    def _template(self, name: str) -> list[TemplateMessage]:
        if name not in self.templates:
            raise UnknownNameError("template", name, sorted(self.templates))
        return self.templates[name]

    def _read(
        self, name: str, messages: Sequence[TemplateMessage], at: int
    ) -> tuple[int, dict[str, Any]]:
        """Read messages up to the next request; return the index after it and its parameters."""
        for index in range(at, len(messages)):
            try:
                step = read_step(name, index, messages[index], self.data)
            except TemplateFault as fault:
                hint = f" ({fault.hint})" if fault.hint else ""
                raise _at(name, index, f"{fault}{hint}") from fault
            except InputFault as fault:
                raise _at(name, index, str(fault)) from fault
            message = step.message or {}
            self.history.append(message)
            self._note(step)
            if message["role"] == "request":
                return index + 1, {key: message[key] for key in message if key != "role"}
        return len(messages), {}

    def _nearest_default(self) -> dict[str, Any]:
        for message in reversed(self.history):
            if message["role"] == "default-request":
                return {key: value for key, value in message.items() if key != "role"}
        return dict(self.defaults)

    def _ask(self, name: str, parameters: dict[str, Any]) -> str:
        """Ask until the model makes no more calls; return the template it switches to, or ""."""
        self.parameters, self.switched_to = parameters, ""
        left = MOST_REQUESTS - len(self.requests)  # the limit is for the whole run
        beyond = InputFault(f"template {name!r} makes more than {MOST_REQUESTS} requests")
        ask, call = partial(self._ask_model, name), partial(self._called, name)
        for step in tool_loop(ask, call, most=left, beyond=beyond):
            self.history.append(step.message or {})
            self._note(step)
        return self.switched_to

    def _ask_model(self, name: str) -> Step:
        """Send one request and return its answer."""
        sent = Sent(self.parameters, self._window(), self._functions(self.parameters))
        self.requests.append(sent)
        self._note(Step(name, "request", sent=sent))
        return Step(name, "answer", message=self.respond(sent))

    def _called(self, name: str, answered: Step) -> Step | None:
        """Run the function that an answer calls and return its result.

        Return None if the answer ends the loop: it has no call, switches, or the function is
        unknown.
        """
        called = (answered.message or {}).get("function_call")
        if not called:
            return None
        if called.get("name") == SWITCH:
            self.switched_to = self._switch(called)
            return None
        result = self._result(called)
        if result is None:
            return None
        if self.parameters.get("call_function") not in _NOT_FORCED:
            self.parameters = {**self.parameters, "call_function": "*"}  # not forced any more
        return Step(name, "function", message=result)

    def _functions(self, parameters: Mapping[str, Any]) -> list[ToolMetadata]:
        """Return the functions that a request offers. Raises UnknownNameError."""
        own = {tool.name: tool for tool in self.tools}
        known = {SWITCH: self._switching(), **own}
        names: list[str] = parameters.get("functions") or []
        for name in names:
            if name not in known:
                raise UnknownNameError("function", name, sorted(own))
        forced = parameters.get("call_function")
        if forced not in (*_NOT_FORCED, "*") and forced not in names:
            raise UnknownNameError("function to be called", str(forced), names)
        return [known[name] for name in names]

    def _switching(self) -> ToolMetadata:
        """Return the function that switches templates, as the model sees it."""
        names = {"type": "string", "enum": sorted(self.templates)}
        schema = {"type": "object", "properties": {"template": names}, "required": ["template"]}
        described = "Go on with another template."
        return ToolMetadata(name=SWITCH, description=described, input_schema=schema)

    def _window(self) -> list[PlainMessage]:
        """Return the messages to send: those after the last truncate that fit into the limit."""
        messages: list[PlainMessage] = []
        for message in self.history:
            if message["role"] == "truncate":
                messages = []
            elif message["role"] in _SAID:
                messages.append(message)
        kept, found = fitting(messages, str(self.parameters.get("model") or ""), *self.limits)
        self.findings += found
        return kept

    def _switch(self, called: Mapping[str, Any]) -> str:
        self.switches += 1
        if self.switches > MOST_SWITCHES:
            raise InputFault(f"the template is switched more than {MOST_SWITCHES} times")
        arguments = _arguments(called)
        texts = [value for value in arguments.values() if isinstance(value, str)]
        name = arguments.get("template", texts[0] if len(texts) == 1 else None)
        if not isinstance(name, str):
            raise InputFault(f"{SWITCH} is called without a template's name")
        self._template(name)
        return name

    def _result(self, called: Mapping[str, Any]) -> PlainMessage | None:
        """Call a function and return its result as a message, or None if it is unknown."""
        name = str(called.get("name"))
        found = self.call(name, _arguments(called))
        if found is None:
            return None
        return {"role": "function", "name": name, "content": result_text(name, found)}


def _caller(call: CallFunction | Mapping[str, Any] | None) -> CallFunction:
    """Return a function that gives results by name; a None in the mapping is JSON's null."""
    if call is not None and not isinstance(call, Mapping):
        return call
    results: Mapping[str, Any] = call or {}
    return lambda name, _arguments: result_text(name, results[name]) if name in results else None


def _at(name: str, index: int, message: str) -> PlaygroundError:
    return InputFault(message, where=f"template {name!r}, message {index}")


def _arguments(called: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(called.get("arguments") or "{}")
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}
