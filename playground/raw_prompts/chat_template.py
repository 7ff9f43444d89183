"""A model's own chat template (a `.jinja` file or a `tokenizer_config.json`), rendered safely.

It is rendered in a worker process (`confined`), in a sandbox (`sandbox`): a template may neither
loop nor grow without end, nor keep the app from answering others. It stops with a clear error.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Final

from playground.confined import Budget, Stopped, Unavailable, run
from playground.errors import InputFault
from playground.findings import Finding, finding

TIME_LIMIT: Final = 5.0  # seconds of wall time, of all that a question renders
_RENDER: Final = "playground.raw_prompts.sandbox:render"
_PROBE: Final = "zq_probe"


@dataclass(frozen=True)
class ChatTemplate:
    """A template and the special tokens that it names; `now` is the time that it sees.

    With `mutable` it may change lists and dictionaries, as those of Kimi K2 do; transformers'
    sandbox forbids it.
    """

    source: str
    tokens: Mapping[str, str] = field(default_factory=dict)
    name: str = "chat-template"
    now: datetime.datetime | None = None
    mutable: bool = False

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ChatTemplate:
        """Read a `.jinja` file or a `tokenizer_config.json`. Raises InputFault."""
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:  # no UTF-8, or a null byte in the name
            raise InputFault(f"cannot be read: {error}", where=str(path)) from error
        return cls.loads(text, file.name)

    @classmethod
    def loads(cls, text: str, name: str = "chat-template") -> ChatTemplate:
        """From the text of such a file; `name` says which kind it is."""
        if not name.endswith(".json"):
            return cls(text, name=name)
        try:
            config = json.loads(text)
        except ValueError as error:
            raise InputFault(f"is not JSON: {error}", where=name) from error
        source = config.get("chat_template") if isinstance(config, dict) else None
        if isinstance(source, list):  # several templates: the one for tools, else the default
            named = {item.get("name"): item.get("template") for item in source}
            source = named.get("tool_use") or named.get("default")
        if not isinstance(source, str):
            raise InputFault(
                "has no chat_template",
                where=name,
                expected="a tokenizer_config.json with a chat_template, or a .jinja file",
            )
        return cls(source, _tokens(config), name)

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool | None = True,
        **variables: Any,
    ) -> str:
        """The prompt. Raises InputFault with the template's own message, and where it stopped."""
        try:
            return self.render_within(
                question_budget(), messages, tools, add_generation_prompt, **variables
            )
        except Stopped as reason:
            raise self.stopped(reason) from reason

    def stopped(self, reason: Stopped) -> InputFault:
        """What the user is told of a template that was ended."""
        return InputFault(f"the template {reason}", where=self.name)

    def render_within(
        self,
        budget: Budget,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool | None = True,
        **variables: Any,
    ) -> str:
        """As `render`, one of several that share a budget. Raises InputFault, and Stopped where the
        template was ended: there is no use in another try then."""
        given = {
            **plain(variables),
            "messages": plain(messages),
            "tools": plain(tools) if tools else None,
        }
        if add_generation_prompt is not None:  # some templates ask whether it was given at all
            given["add_generation_prompt"] = add_generation_prompt
        job = {
            "source": self.source,
            "name": self.name,
            "tokens": plain(self.tokens),
            "now": self.now.isoformat() if self.now else None,
            "given": given,
            "mutable": self.mutable,
        }
        try:
            return str(run(_RENDER, job, budget))
        except Unavailable as reason:
            raise InputFault(f"the template {reason}", where=self.name) from reason

    def warnings(
        self, budget: Budget, tools: Sequence[Mapping[str, Any]] | None = None
    ) -> list[Finding]:
        """What this template does with a session that its user would want to know, as far as the
        budget lets us find out."""
        found: list[Finding] = []
        with suppress(Stopped):
            if tools and not self._shows_tools(budget, tools):
                found.append(finding("template-ignores-tools", self.name))
            for code, probe in _PROBES.items():
                problem = probe(self, budget)
                if problem:
                    found.append(finding(code, self.name, problem))
        return found

    def _shows_tools(self, budget: Budget, tools: Sequence[Mapping[str, Any]]) -> bool:
        names = [str((tool.get("function") or tool).get("name")) for tool in tools]
        try:
            text = self.render_within(budget, [{"role": "user", "content": "hi"}], tools)
        except InputFault:
            return True
        return any(name in text for name in names)


def question_budget() -> Budget:
    """The time for all that one question renders."""
    return Budget(TIME_LIMIT)


def plain(value: Any) -> Any:
    """Messages as plain JSON values: nothing with methods of its own reaches a template."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    # Through the constructor: a subclass of int or str would bring its methods along.
    for number in (int, float):
        if isinstance(value, number):
            return number(value)
    return str(value)


def _call(count: int, arguments: Any) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [
        {"type": "function", "id": f"c{i}", "function": {"name": "f", "arguments": arguments}}
        for i in range(count)
    ]
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": calls},
    ]


def _probe(template: ChatTemplate, budget: Budget, messages: list[dict[str, Any]]) -> str:
    return template.render_within(
        budget, messages, [{"type": "function", "function": {"name": "f"}}]
    )


def _refuses_parallel_calls(template: ChatTemplate, budget: Budget) -> str:
    # One call first: a template that refuses any call says nothing about two.
    try:
        _probe(template, budget, _call(1, {}))
    except InputFault:
        return ""
    try:
        _probe(template, budget, _call(2, {}))
    except InputFault as error:
        return f"it takes one call per message: {error.problem}"
    return ""


def _prints_none(template: ChatTemplate, budget: Budget) -> str:
    messages: list[dict[str, Any]] = _call(1, {_PROBE: 1})
    messages[1]["content"] = None
    try:
        return (
            "a message without content is written as None"
            if "None" in _probe(template, budget, messages)
            else ""
        )
    except InputFault as error:
        return f"a message without content is refused: {error.problem}"


def _encodes_twice(template: ChatTemplate, budget: Budget) -> str:
    try:
        text = _probe(template, budget, _call(1, json.dumps({_PROBE: 1})))
    except InputFault:
        return ""
    # Quotes that are escaped: the text went through `tojson` once more.
    doubled = f'\\"{_PROBE}\\"' in text
    return "arguments given as text are encoded once more: give objects" if doubled else ""


_PROBES: Final[dict[str, Callable[[ChatTemplate, Budget], str]]] = {
    "template-one-call": _refuses_parallel_calls,
    "template-prints-none": _prints_none,
    "template-encodes-twice": _encodes_twice,
}


def _tokens(config: Mapping[str, Any]) -> dict[str, str]:
    tokens: dict[str, str] = {}
    for key, value in config.items():
        text = value.get("content") if isinstance(value, dict) else value
        if key.endswith("_token") and isinstance(text, str):
            tokens[key] = text
    return tokens
