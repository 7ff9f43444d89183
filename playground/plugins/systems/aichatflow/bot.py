"""The bot, which runs a template: it reads messages, asks the model and calls functions.

AIChatFlow's description leaves some points open. Here, `truncate` hides earlier messages from the
model; a template that was left by a switch is not resumed; `botSwitchTemplate` takes the name from
the argument `template` (or from its only text argument); a conversation that is too long loses its
oldest messages first (`context.py`).
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
from playground.plugins.systems.aichatflow.answers import check_message
from playground.plugins.systems.aichatflow.context import NoRoom, fit_messages
from playground.plugins.systems.aichatflow.inputs import (
    FunctionFault,
    plain_input,
    result_text,
    wrap_function,
)
from playground.plugins.systems.aichatflow.requests import SWITCH, PlainMessage, Sent
from playground.plugins.systems.aichatflow.sets import TemplateMessage, TemplateSet
from playground.plugins.systems.aichatflow.steps import Step, read_step
from playground.plugins.systems.go_templates import TemplateFault
from playground.plugins.systems.tool_loop import tool_loop

MOST_SWITCHES: Final = 20  # both limits end a run that would never end; we chose them
MOST_REQUESTS: Final = 100
_SENT_ROLES: Final = ("system", "user", "assistant", "function")
_NOT_FORCED: Final = (None, "")  # values of `call_function` that force no function

Respond = Callable[["Sent"], PlainMessage]
CallFunction = Callable[[str, dict[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run: the new history, the requests as sent, and all steps in order (`trace`).
    Each request that had to leave out messages, to fit the limit, adds a finding."""

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
    """Run a template on an input and a history; neither of these is changed.

    `data` is a mapping, a pydantic model or a dataclass. `respond` answers a request.

    `call` maps names of functions to results, or is a function that returns a result. A call of an
    unknown function is treated as an answer without a call. `defaults` are parameters for requests
    without a default-request. `most_characters` or `most_tokens` limits the context (by default,
    LiteLLM's map gives the model's limit). `model` replaces every model that templates name.
    `watch` is called with each step.

    Raises UnknownNameError for an unknown template, for an offered function that `tools` lacks, and
    for a forced function that is not offered. A message that cannot be read, an exception of a
    function, and messages that do not fit become an InputFault that names template and message; an
    error in a template's syntax also names line and column. Other faults name no message: too many
    requests or switches, or a switch without a name.
    """
    overrides = {"model": model} if model else {}
    plain = plain_input(data)
    if not isinstance(plain, Mapping):
        expected = "a JSON object, a pydantic model or a dataclass"
        raise InputFault(f"the input is a {type(data).__name__}", expected=expected)
    limits, default = (most_characters, most_tokens), dict(defaults or {})
    function = wrap_function(_as_function(call))
    bot = _Bot(templates, plain, respond, tools, function, default, limits, overrides)
    bot.watch = watch or bot.watch
    bot.history = [check_message(m, f"history, message {i}") for i, m in enumerate(history)]
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
    overrides: dict[str, Any]  # parameters that replace the templates' own
    watch: Callable[[Step], None] = lambda _: None
    history: list[PlainMessage] = field(default_factory=list)
    requests: list[Sent] = field(default_factory=list)
    trace: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    switches: int = 0
    # of the next request; once a forced function was called, they no longer force it
    parameters: dict[str, Any] = field(default_factory=dict)
    switched_to: str = ""

    def run(self, name: str) -> None:
        messages, position = self._template(name), 0
        while True:
            position, parameters = self._read(name, messages, position)
            try:
                new_template = self._ask(
                    name, {**self._nearest_default(), **parameters, **self.overrides}
                )
            except (FunctionFault, NoRoom) as fault:
                raise _fault_at(name, position - 1, str(fault)) from fault
            if new_template:
                note = f"left before message {position}, goes on with {new_template}"
                self._note(Step(name, "switch", source=note))
                name, messages, position = new_template, self._template(new_template), 0
            elif position >= len(messages):
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
        """Read messages from the index `at` up to a request; return the index after it, and the
        request's parameters. The end of the template is a request without parameters."""
        for index in range(at, len(messages)):
            try:
                step = read_step(name, index, messages[index], self.data)
            except TemplateFault as fault:
                hint = f" ({fault.hint})" if fault.hint else ""
                raise _fault_at(name, index, f"{fault}{hint}") from fault
            except InputFault as fault:
                raise _fault_at(name, index, str(fault)) from fault
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
        """Ask until the model makes no more calls; return the template that the model switches to,
        or ""."""
        self.parameters, self.switched_to = parameters, ""
        remaining = MOST_REQUESTS - len(self.requests)  # the limit applies to the whole run
        problem = f"the run makes more than {MOST_REQUESTS} requests, the last in template {name!r}"
        limit_error = InputFault(problem)
        ask, call = partial(self._ask_model, name), partial(self._run_call, name)
        for step in tool_loop(ask, call, most=remaining, limit_error=limit_error):
            self.history.append(step.message or {})
            self._note(step)
        return self.switched_to

    def _ask_model(self, name: str) -> Step:
        sent = Sent(self.parameters, self._messages_to_send(), self._functions(self.parameters))
        self.requests.append(sent)
        self._note(Step(name, "request", sent=sent))
        return Step(name, "answer", message=self.respond(sent))

    def _run_call(self, name: str, answer: Step) -> Step | None:
        """Run the function that an answer calls and return its result.

        Return None if the answer ends the loop: it has no call, switches the template, or calls an
        unknown function.
        """
        call = (answer.message or {}).get("function_call")
        if not call:
            return None
        if call.get("name") == SWITCH:
            self.switched_to = self._switch(call)
            return None
        result = self._call_function(call)
        if result is None:
            return None
        if self.parameters.get("call_function") not in _NOT_FORCED:
            self.parameters = {**self.parameters, "call_function": "*"}  # no longer forced
        return Step(name, "function", message=result)

    def _functions(self, parameters: Mapping[str, Any]) -> list[ToolMetadata]:
        """Return the functions that a request offers. Raises UnknownNameError for an unknown
        function, and for a forced function that is not offered."""
        own_tools = {tool.name: tool for tool in self.tools}
        available = {SWITCH: self._switch_function(), **own_tools}
        names: list[str] = parameters.get("functions") or []
        for name in names:
            if name not in available:
                raise UnknownNameError("function", name, sorted(own_tools))
        forced = parameters.get("call_function")
        if forced not in (*_NOT_FORCED, "*") and forced not in names:
            raise UnknownNameError("function to be called", str(forced), names)
        return [available[name] for name in names]

    def _switch_function(self) -> ToolMetadata:
        """Return the function that switches templates, as the model sees it."""
        names = {"type": "string", "enum": sorted(self.templates)}
        schema = {"type": "object", "properties": {"template": names}, "required": ["template"]}
        description = "Go on with another template."
        return ToolMetadata(name=SWITCH, description=description, input_schema=schema)

    def _messages_to_send(self) -> list[PlainMessage]:
        """Return the messages to send: those after the last truncate that fit into the limit."""
        messages: list[PlainMessage] = []
        for message in self.history:
            if message["role"] == "truncate":
                messages = []
            elif message["role"] in _SENT_ROLES:
                messages.append(message)
        fitting, findings = fit_messages(
            messages, str(self.parameters.get("model") or ""), *self.limits
        )
        self.findings += findings
        return fitting

    def _switch(self, call: Mapping[str, Any]) -> str:
        self.switches += 1
        if self.switches > MOST_SWITCHES:
            raise InputFault(f"the template is switched more than {MOST_SWITCHES} times")
        arguments = _arguments(call)
        texts = [value for value in arguments.values() if isinstance(value, str)]
        name = arguments.get("template", texts[0] if len(texts) == 1 else None)
        if not isinstance(name, str):
            raise InputFault(f"{SWITCH} is called without a template's name")
        self._template(name)
        return name

    def _call_function(self, call: Mapping[str, Any]) -> PlainMessage | None:
        """Call a function and return its result as a message, or None for an unknown function."""
        name = str(call.get("name"))
        result = self.call(name, _arguments(call))
        if result is None:
            return None
        return {"role": "function", "name": name, "content": result_text(name, result)}


def _as_function(call: CallFunction | Mapping[str, Any] | None) -> CallFunction:
    """Return `call` as a function. In a mapping, the value None means the result `null`; for a
    name that the mapping lacks, the function returns None, so the call gets no result."""
    if call is not None and not isinstance(call, Mapping):
        return call
    results: Mapping[str, Any] = call or {}
    return lambda name, _arguments: result_text(name, results[name]) if name in results else None


def _fault_at(name: str, index: int, message: str) -> PlaygroundError:
    return InputFault(message, where=f"template {name!r}, message {index}")


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    try:
        arguments = json.loads(call.get("arguments") or "{}")
    except (ValueError, RecursionError):
        arguments = None
    return arguments if isinstance(arguments, dict) else {}
