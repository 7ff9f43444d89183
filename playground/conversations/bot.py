"""The bot: it reads a template's messages, asks the model, calls functions, goes on.

Where the reference is silent we decided: `truncate` hides what stands before it from the model, a
template that was switched away from is not taken up again, `botSwitchTemplate` takes the name as
`template` (or as its only text), and what is too long loses its oldest messages first, a call never
without its result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.conversations.sets import ROLES, TemplateMessage, TemplateSet, UserMessage
from playground.errors import InputFault, PlaygroundError, UnknownNameError
from playground.templates import TemplateFault, execute
from playground.tools import ToolMetadata

SWITCH: Final = "botSwitchTemplate"
MOST_SWITCHES: Final = 20
MOST_REQUESTS: Final = 100
_SAID: Final = ("system", "user", "assistant", "function")

Message = dict[str, Any]
Respond = Callable[["Sent"], Message]
CallFunction = Callable[[str, dict[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its parameters by the templates' names, the messages, the functions' tools."""

    parameters: dict[str, Any]
    messages: list[Message]
    tools: list[ToolMetadata]

    def body(self, modern: bool = False) -> dict[str, Any]:
        """The request in OpenAI's older form, with functions; `modern`: with tools."""
        plain = {
            k: v for k, v in self.parameters.items() if k not in ("functions", "call_function")
        }
        functions = [
            {"name": t.name, "description": t.description, "parameters": t.input_schema}
            for t in self.tools
        ]
        choice = _choice(self.parameters.get("call_function"))
        if not modern:
            more: dict[str, Any] = {"functions": functions, "function_call": choice}
            return {**plain, "messages": self.messages, **{k: v for k, v in more.items() if v}}
        named = {"type": "function", "function": choice} if isinstance(choice, dict) else choice
        tools = [{"type": "function", "function": function} for function in functions]
        more = {"tools": tools, "tool_choice": named}
        messages = _with_tool_calls(self.messages)
        return {**plain, "messages": messages, **{k: v for k, v in more.items() if v}}


def _choice(called: str | None) -> str | dict[str, str] | None:
    """What the templates say of calls, as OpenAI says it; None leaves it to the provider."""
    if called is None:
        return None
    return {"": "none", "*": "auto"}.get(called) or {"name": called}


def _with_tool_calls(messages: Sequence[Message]) -> list[Message]:
    """Function calls and results as tool calls, with ids in order."""
    found: list[Message] = []
    calls = 0
    for message in messages:
        if called := message.get("function_call"):
            calls += 1
            rest = {key: value for key, value in message.items() if key != "function_call"}
            call = {"id": f"call_{calls}", "type": "function", "function": called}
            found.append({"content": None, **rest, "tool_calls": [call]})
        elif message["role"] == "function":
            result = {"tool_call_id": f"call_{calls}", "content": message["content"]}
            found.append({"role": "tool", **result})
        else:
            found.append(message)
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened: a message read, a request, an answer, a call, a switch."""

    template: str
    what: str
    index: int | None = None
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The new history, every request as it was sent, and all that happened, in order."""

    history: list[Message]
    requests: list[Sent]
    trace: list[Step]


class Answers:
    """Recorded or scripted answers in a row. Raises InputFault where there are no more."""

    def __init__(self, answers: Sequence[Message | str]) -> None:
        self._answers = iter(answers)
        self._count = len(answers)

    def __call__(self, request: Sent) -> Message:
        answer = next(self._answers, None)
        if answer is None:
            raise InputFault(f"only {self._count} answers", expected="one for each request")
        if isinstance(answer, str):
            return {"role": "assistant", "content": answer}
        given = {"role": "assistant", **answer} if isinstance(answer, dict) else answer
        return _checked(given, "an answer")


def run(
    templates: TemplateSet,
    data: Mapping[str, Any],
    respond: Respond,
    *,
    template: str = "default",
    history: Sequence[Message] = (),
    tools: Sequence[ToolMetadata] = (),
    call: CallFunction | Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    most_characters: int | None = None,
) -> Outcome:
    """Run a template on the input and history; both stay as they are.

    `call` gives the results of functions, by their names or as a function; a call of any other
    function is an answer as others are. `defaults` are the request's parameters without a
    default-request, `most_characters` is the context's limit. Raises UnknownNameError for a
    template or function that there is none of, and InputFault naming template, message, line and
    column.
    """
    bot = _Bot(templates, data, respond, tools, call, dict(defaults or {}), most_characters)
    bot.history = [_checked(m, f"history, message {i}") for i, m in enumerate(history)]
    bot.run(template)
    return Outcome(bot.history, bot.requests, bot.trace)


@dataclass(slots=True)
class _Bot:
    templates: TemplateSet
    data: Mapping[str, Any]
    respond: Respond
    tools: Sequence[ToolMetadata]
    call: CallFunction | Mapping[str, Any] | None
    defaults: dict[str, Any]
    most_characters: int | None
    history: list[Message] = field(default_factory=list)
    requests: list[Sent] = field(default_factory=list)
    trace: list[Step] = field(default_factory=list)
    switches: int = 0

    def run(self, name: str) -> None:
        messages, at = self._template(name), 0
        while True:
            at, own = self._read(name, messages, at)
            switched = self._ask(name, {**self._nearest_default(), **own})
            if switched:
                self.trace.append(Step(name, f"suspended at message {at}, switched to {switched}"))
                name, messages, at = switched, self._template(switched), 0
            elif at >= len(messages):
                return

    def _template(self, name: str) -> list[TemplateMessage]:
        if name not in self.templates:
            raise UnknownNameError("template", name, sorted(self.templates))
        return self.templates[name]

    def _read(
        self, name: str, messages: Sequence[TemplateMessage], at: int
    ) -> tuple[int, dict[str, Any]]:
        """Messages up to and with the next request; where to go on, and its parameters."""
        for index in range(at, len(messages)):
            try:
                message = _rendered(messages[index], self.data)
            except TemplateFault as fault:
                hint = f" ({fault.hint})" if fault.hint else ""
                raise _at(name, index, f"{fault}{hint}") from fault
            except InputFault as fault:
                raise _at(name, index, str(fault)) from fault
            self.history.append(message)
            self.trace.append(Step(name, "message", index, message))
            if message["role"] == "request":
                return index + 1, {key: message[key] for key in message if key != "role"}
        return len(messages), {}

    def _nearest_default(self) -> dict[str, Any]:
        for message in reversed(self.history):
            if message["role"] == "default-request":
                return {key: value for key, value in message.items() if key != "role"}
        return dict(self.defaults)

    def _ask(self, name: str, parameters: dict[str, Any]) -> str:
        """Requests until the model calls nothing more; the template it switches to, if any."""
        while True:
            if len(self.requests) >= MOST_REQUESTS:
                raise InputFault(f"template {name!r} asks more than {MOST_REQUESTS} times")
            sent = Sent(parameters, self._window(), self._functions(parameters))
            self.requests.append(sent)
            self.trace.append(Step(name, "request"))
            answer = self.respond(sent)
            self.history.append(answer)
            self.trace.append(Step(name, "answer", None, answer))
            called = answer.get("function_call")
            if not called:
                return ""
            if called.get("name") == SWITCH:
                return self._switch(called)
            result = self._result(called)
            if result is None:
                return ""
            self.history.append(result)
            self.trace.append(Step(name, "function", None, result))
            if parameters.get("call_function") not in (None, ""):
                parameters = {**parameters, "call_function": "*"}  # not forced any more

    def _functions(self, parameters: Mapping[str, Any]) -> list[ToolMetadata]:
        known = {tool.name: tool for tool in self.tools}
        names: list[str] = parameters.get("functions") or []
        for name in names:
            if name not in known and name != SWITCH:
                raise UnknownNameError("function", name, sorted(known))
        forced = parameters.get("call_function")
        if forced not in (None, "", "*") and forced not in names:
            raise UnknownNameError("function to be called", str(forced), names)
        return [known[name] for name in names if name in known]

    def _window(self) -> list[Message]:
        """What is sent: behind the last truncate, and as much of it as there is room for."""
        last = max((i for i, m in enumerate(self.history) if m["role"] == "truncate"), default=-1)
        said = [message for message in self.history[last + 1 :] if message["role"] in _SAID]
        if self.most_characters is None:
            return said
        while said and sum(map(_length, said)) > self.most_characters:
            called = said[0].get("function_call")
            del said[: 2 if called and len(said) > 1 and said[1]["role"] == "function" else 1]
        return said

    def _switch(self, called: Mapping[str, Any]) -> str:
        self.switches += 1
        if self.switches > MOST_SWITCHES:
            raise InputFault(f"templates are switched more than {MOST_SWITCHES} times")
        arguments = _arguments(called)
        texts = [value for value in arguments.values() if isinstance(value, str)]
        name = arguments.get("template", texts[0] if len(texts) == 1 else None)
        if not isinstance(name, str):
            raise InputFault(f"{SWITCH} is called without a template's name")
        self._template(name)
        return name

    def _result(self, called: Mapping[str, Any]) -> Message | None:
        """The function's message; None for one that the bot does not know."""
        name = str(called.get("name"))
        if isinstance(self.call, Mapping):
            if name not in self.call:
                return None
            found = self.call[name]
        elif self.call is not None:
            found = self.call(name, _arguments(called))
        else:
            return None
        content = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        return {"role": "function", "name": name, "content": content}


def _checked(message: Any, where: str) -> Message:
    """A message that did not come from a template. Raises InputFault."""
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        known = ", ".join(ROLES)
        raise InputFault("no message", where=where, expected=f"an object with a role: {known}")
    called = message.get("function_call")
    if called is not None and not isinstance(called, dict):
        expected = "an object with name and arguments"
        raise InputFault("no call", where=where, field="function_call", expected=expected)
    return dict(message)


def _at(name: str, index: int, message: str) -> PlaygroundError:
    return InputFault(message, where=f"template {name!r}, message {index}")


def _arguments(called: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(called.get("arguments") or "{}")
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _length(message: Message) -> int:
    return len(json.dumps(message, ensure_ascii=False))


def _rendered(message: TemplateMessage, data: Mapping[str, Any]) -> Message:
    """The message with each of its texts executed on the input."""
    plain: Message = message.model_dump(exclude_none=True)
    content = plain.get("content")
    if isinstance(message, UserMessage) and content is None:
        parts = data.get("contentParts")
        if not isinstance(parts, list):
            raise InputFault(
                "a user message without content, and no list contentParts in the input",
                expected="one of them",
            )
        return {**plain, "content": parts}
    if isinstance(content, str):
        return {**plain, "content": execute(content, data)}
    if isinstance(content, list):
        texts = [
            {**part, "text": execute(part["text"], data)} if part["type"] == "text" else part
            for part in content
        ]
        return {**plain, "content": texts}
    return plain
