"""Write a session as one raw prompt, by a chat template or as Meta's code does."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Final, get_args

from playground.base.arguments import takes
from playground.base.confined import Budget, Stopped
from playground.base.display import Shown
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.registry import addition
from playground.dialects import get_dialect
from playground.dialects.raw_prompts.chat_template import ChatTemplate, question_budget
from playground.dialects.raw_prompts.llama import (
    CODE_INTERPRETER,
    ENVIRONMENT,
    LLAMA3,
    LLAMA4,
    LlamaFormat,
    ToolFormat,
    turns_of,
)
from playground.nouns.messages import Message, TextPart, ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.questions.detection import detect
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session

_LLAMAS: Final[dict[str, LlamaFormat]] = {"llama3": LLAMA3, "llama4": LLAMA4}
_LLAMA_FORMATS: Final[dict[str, ToolFormat]] = {"llama3": "json", "llama4": "python_list"}
_LLAMA_DIALECTS: Final[dict[tuple[str, ToolFormat], str]] = {
    ("llama3", "json"): "llama3-json",
    ("llama3", "function_tag"): "llama3-function",
    ("llama3", "python_list"): "pythonic",
    ("llama4", "json"): "llama3-json",
    ("llama4", "function_tag"): "llama3-function",
    ("llama4", "python_list"): "llama4-pythonic",
}
_CODE_DIALECT: Final = "llama3-code"
_PROBE_TOOL: Final = ToolMetadata(
    name="get_tides", input_schema={"type": "object", "properties": {"harbour": {"type": "string"}}}
)
_PROBE_CALL: Final = ToolCallPart("call_00001", "get_tides", {"harbour": "Brest"})


@dataclass(frozen=True)
class RawPrompt(Shown):
    """A raw prompt: its text and format, the dialect that reads the reply, and warnings.

    Its table has a row for each warning.
    """

    text: str
    format: str
    dialect: str
    findings: list[Finding] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text


@takes(prompt_data=(PromptData, Session, str), template=(str, PathLike, ChatTemplate))
def raw_prompt(
    prompt_data: PromptData | Session | str,
    template: str | PathLike[str] | ChatTemplate,
    tool_format: ToolFormat | None = None,
) -> RawPrompt:
    """Return the raw prompt of a session, of a sample by its name, or of prompt data.

    `template` is a ChatTemplate, the path of one, "llama3" or "llama4". These two names write
    custom tools in `tool_format`, by default in the usual format of the model. Raises InputFault
    for a wrong `tool_format`, and for a template that cannot be read or that refuses the session.
    """
    if not isinstance(prompt_data, PromptData):
        prompt_data = session_or_sample(prompt_data).prompt_data()
    if isinstance(template, str) and template in _LLAMAS:
        chosen_format = tool_format or _LLAMA_FORMATS[template]
        if (template, chosen_format) not in _LLAMA_DIALECTS:
            raise InputFault(
                f"{chosen_format!r} is not a format of custom tools",
                expected=" or ".join(get_args(ToolFormat)),
            )
        turns = turns_of(prompt_data, chosen_format)
        text = _LLAMAS[template].render(turns, chosen_format)
        title, dialect = _LLAMAS[template].title, _LLAMA_DIALECTS[template, chosen_format]
        others = {tool.name for tool in prompt_data.tool_metadata} - {CODE_INTERPRETER}
        system = str(turns[0].content).splitlines() if turns and turns[0].role == "system" else []
        if ENVIRONMENT not in system:
            return RawPrompt(text, title, dialect)
        if not others and not any(line.startswith("Tools: ") for line in system):
            return RawPrompt(text, title, _CODE_DIALECT)
        return RawPrompt(text, title, dialect, [finding("code-not-read", CODE_INTERPRETER)])
    if tool_format:
        raise InputFault("a chat template has its own tool format", expected="llama3 or llama4")
    chosen = template if isinstance(template, ChatTemplate) else ChatTemplate.load(template)
    messages, tools = _native(prompt_data)
    budget = question_budget()
    try:
        text = _rendered(chosen, budget, messages, tools)
    except Stopped as reason:
        raise chosen.stopped(reason) from reason
    prompt_warnings = addition("raw prompt: warnings")
    findings = prompt_warnings(chosen, budget, bool(tools)) if prompt_warnings else []
    return RawPrompt(text, chosen.name, paired_dialect(chosen, budget), findings)


def paired_dialect(template: ChatTemplate, budget: Budget | None = None) -> str:
    """Return the name of the dialect that reads the calls that the template writes; "" if there is
    none, or if the template refuses a call or uses up the `budget` (of one question)."""
    budget = budget or question_budget()
    question = [Message("user", (TextPart("When?"),))]
    data = PromptData(messages=question, tool_metadata=[_PROBE_TOOL])
    without_call, tools = _native(data)
    calls = [*question, Message("assistant", (_PROBE_CALL,))]
    with_call, _ = _native(PromptData(messages=calls, tool_metadata=[_PROBE_TOOL]))
    try:
        start = _rendered(template, budget, without_call, tools)
        text = _rendered(template, budget, with_call, tools, add_generation_prompt=False)
    except (InputFault, Stopped):
        return ""
    # Cut after the common start, not after all of `start`: in some templates a finished turn begins
    # differently from the generation prompt (which opens <think>).
    reply = text[len(os.path.commonprefix([start, text])) :]
    best = next((d for d in detect(reply, [_PROBE_TOOL]) if d.calls), None)
    return best.dialect if best else ""


def _rendered(
    template: ChatTemplate,
    budget: Budget,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None,
    add_generation_prompt: bool = True,
) -> str:
    """Render with a call's arguments as objects, which most templates expect. If that fails, render
    with JSON texts. A template that has used up its budget is not tried again."""
    try:
        return template.render_within(budget, messages, tools, add_generation_prompt)
    except InputFault as fault:
        try:
            return template.render_within(budget, _as_text(messages), tools, add_generation_prompt)
        except InputFault:
            raise fault from None  # the first fault, because that is about the user's own messages


def _native(prompt_data: PromptData) -> tuple[list[dict[str, Any]], list[dict[str, Any]] | None]:
    native = get_dialect("native")
    messages = [_plain_message(message) for message in native.format_messages(prompt_data)]
    return messages, native.request_tools(prompt_data)


def _plain_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with its text as one string and its arguments as objects."""
    content = message.get("content")
    if isinstance(content, list) and all(part["type"] == "text" for part in content):
        content = "".join(part["text"] for part in content)
    calls = [
        {**call, "function": {**function, "arguments": json.loads(function["arguments"] or "{}")}}
        for call in message.get("tool_calls", [])
        for function in [call["function"]]
    ]
    plain = {key: value for key, value in message.items() if key != "cache_control"}
    return {**plain, "content": content or "", **({"tool_calls": calls} if calls else {})}


def _as_text(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    result = []
    for message in messages:
        calls = [
            {
                **call,
                "function": {
                    **call["function"],
                    "arguments": json.dumps(call["function"]["arguments"], ensure_ascii=False),
                },
            }
            for call in message.get("tool_calls", [])
        ]
        result.append({**message, **({"tool_calls": calls} if calls else {})})
    return result
