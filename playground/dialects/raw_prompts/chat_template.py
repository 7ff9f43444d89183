"""Render a model's own chat template (a `.jinja` file or a `tokenizer_config.json`) safely.

A template is rendered in a worker process (`confined`), in a sandbox (`sandbox`). If it loops or
grows without end, it is stopped with a clear error, and never blocks the app.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Final

from playground.base.confined import Budget, Stopped, Unavailable, run
from playground.base.errors import InputFault
from playground.base.json_numbers import json_fault
from playground.base.user_files import read_user_text

TIME_LIMIT: Final = 5.0  # seconds of wall time for all renderings that one question needs
_EXPECTED: Final = "a .jinja file, or a tokenizer_config.json with a chat_template"
_RENDER: Final = "playground.dialects.raw_prompts.sandbox:render"


@dataclass(frozen=True)
class ChatTemplate:
    """A template and the special tokens that it names; `now` is the time that it sees.

    With `mutable` it may change lists and dictionaries, as the template of Kimi K2 does;
    transformers' sandbox forbids that.
    """

    source: str
    tokens: Mapping[str, str] = field(default_factory=dict)
    name: str = "chat-template"
    now: datetime.datetime | None = None
    mutable: bool = False

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ChatTemplate:
        """Read a `.jinja` file or a `tokenizer_config.json`. Raises InputFault, as `loads` does."""
        return cls.loads(read_user_text(path, _EXPECTED), Path(path).name)

    @classmethod
    def loads(cls, text: str, name: str = "chat-template") -> ChatTemplate:
        """Read a file's text: JSON if `name` ends in `.json` or the text is an object with a
        `chat_template`, else a template. Raises InputFault for JSON without a `chat_template`."""
        if not name.endswith(".json") and not _holds_template(text):
            return cls(text, name=name)
        try:
            config = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputFault(json_fault(error), where=name) from error
        source = config.get("chat_template") if isinstance(config, dict) else None
        if isinstance(source, list):  # several templates: the one for tools, else the default
            templates = {str(t.get("name")): t.get("template") for t in source if type(t) is dict}
            source = templates.get("tool_use") or templates.get("default")
        if not isinstance(source, str):
            raise InputFault("has no chat_template", where=name, expected=_EXPECTED)
        return cls(source, _tokens(config), name)

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool | None = True,
        **variables: Any,
    ) -> str:
        """Return the prompt. Raises InputFault if the template fails, or exceeds a limit."""
        try:
            return self.render_within(
                question_budget(), messages, tools, add_generation_prompt, **variables
            )
        except Stopped as reason:
            raise self.stopped(reason) from reason

    def stopped(self, reason: Stopped) -> InputFault:
        """Return the error for a template that was stopped."""
        return InputFault(f"the template {reason}", where=self.name)

    def render_within(
        self,
        budget: Budget,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool | None = True,
        **variables: Any,
    ) -> str:
        """Return the prompt; several renderings share a budget.

        Raises InputFault, and Stopped if the template was stopped: then do not try it again.
        """
        all_variables = {
            **plain(variables),
            "messages": plain(messages),
            "tools": plain(tools) if tools else None,
        }
        if add_generation_prompt is not None:  # some templates test if the variable is defined
            all_variables["add_generation_prompt"] = add_generation_prompt
        job = {
            "source": self.source,
            "name": self.name,
            "tokens": plain(self.tokens),
            "now": self.now.isoformat() if self.now else None,
            "given": all_variables,
            "mutable": self.mutable,
        }
        try:
            return str(run(_RENDER, job, budget))
        except Unavailable as reason:
            raise InputFault(f"the template {reason}", where=self.name) from reason


def question_budget() -> Budget:
    """Return a budget of time for all renderings that one question needs."""
    return Budget(TIME_LIMIT)


def plain(value: Any) -> Any:
    """Return a value as plain JSON values, so that no object's methods reach a template."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    # Call the constructor, because a subclass of int or str would bring its methods along.
    for number in (int, float):
        if isinstance(value, number):
            return number(value)
    return str(value)


def _holds_template(text: str) -> bool:
    if not re.match(r'\s*\{\s*"', text):
        return False
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return "chat_template" in config


def _tokens(config: Mapping[str, Any]) -> dict[str, str]:
    tokens: dict[str, str] = {}
    for key, value in config.items():
        text = value.get("content") if isinstance(value, dict) else value
        if key.endswith("_token") and isinstance(text, str):
            tokens[key] = text
    return tokens
