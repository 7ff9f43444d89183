"""Llama 3 and 4 as Meta's own code writes them (llama-models 0.3.0, ChatFormat).

It follows that code exactly: in a Python list a text is not escaped, and an object is written
`{key=value}`, so that not every call can be read back. `benchmarks/against_llama.py` compares with
Meta's code.

Hugging Face's templates differ from that code (tools in the first user message, results encoded
twice). They are not imitated here: `ChatTemplate` renders them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from playground.nouns.messages import ImagePart, Message, TextPart, ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.values import dump_json

ToolFormat = Literal["json", "function_tag", "python_list"]
StopReason = Literal["end_of_turn", "end_of_message"]
BUILTIN_TOOLS: Final = ("brave_search", "wolfram_alpha", "photogen")
CODE_INTERPRETER: Final = "code_interpreter"
ENVIRONMENT: Final = "Environment: ipython"
ROLES: Final[Mapping[str, str]] = {"tool": "ipython"}


@dataclass(frozen=True)
class LlamaTurn:
    """One message. `content` may hold images; `stop_reason` says why the model stopped."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | Sequence[str | ImagePart] = ""
    tool_calls: tuple[ToolCallPart, ...] = ()
    stop_reason: StopReason = "end_of_turn"


@dataclass(frozen=True)
class LlamaFormat:
    """The special tokens of a generation of models, and its rules for using them.

    With `tags_code` a message whose first call is code begins with the python tag. With
    `calls_wait` every message with calls, and every result, ends with `end_of_message`.
    """

    title: str
    begin: str
    start_header: str
    end_header: str
    end_of_turn: str
    end_of_message: str
    python_tag: str
    image: str
    tags_code: bool = False
    calls_wait: bool = False
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def tokens(self) -> dict[str, str]:
        """Every special token and its meaning, for the guide's table."""
        return {
            self.begin: "the start of the prompt",
            self.start_header: "before a message's role",
            self.end_header: "after a message's role",
            self.end_of_message: "the end of a message that waits for a tool's result",
            self.end_of_turn: "the end of the turn",
            self.python_tag: "before a call in the model's reply if tools run in ipython",
            self.image: "the place of an image",
            **self.others,
        }

    def render(self, turns: Iterable[LlamaTurn], tool_format: ToolFormat = "json") -> str:
        """Return the prompt with its trailing generation header."""
        messages = "".join(self._message(turn, tool_format) for turn in turns)
        return self.begin + messages + self._header("assistant")

    def completion(self, content: str | Sequence[str | ImagePart]) -> str:
        """Return the prompt of a base model: no roles, no headers."""
        return self.begin + self._content(content)

    def call(self, call: ToolCallPart, tool_format: ToolFormat = "json") -> str:
        """Return the text of a message that is one call.

        Built-in tools are called by name, code is written as it is, and custom tools are called in
        one of three formats.
        """
        return self._tag([call]) + _call_text(call, tool_format)

    def _message(self, turn: LlamaTurn, tool_format: ToolFormat) -> str:
        calls = turn.tool_calls if turn.role == "assistant" else ()
        return (
            self._header(ROLES.get(turn.role, turn.role))
            + self._tag(calls)
            + self._content(turn.content)
            + "".join(_call_text(call, tool_format) for call in calls)
            + (self.end_of_message if self._waits(turn) else self.end_of_turn)
        )

    def _tag(self, calls: Sequence[ToolCallPart]) -> str:
        is_code = bool(calls) and calls[0].tool_name == CODE_INTERPRETER
        return self.python_tag if is_code and self.tags_code else ""

    def _waits(self, turn: LlamaTurn) -> bool:
        if turn.role == "tool":
            return self.calls_wait
        calls = self.calls_wait and bool(turn.tool_calls)
        return turn.role == "assistant" and (calls or turn.stop_reason == "end_of_message")

    def _header(self, role: str) -> str:
        return f"{self.start_header}{role}{self.end_header}\n\n"

    def _content(self, content: str | Sequence[str | ImagePart]) -> str:
        parts = [content] if isinstance(content, str) else content
        return "".join(self.image if isinstance(part, ImagePart) else part for part in parts)


def _call_text(call: ToolCallPart, tool_format: ToolFormat) -> str:
    name, arguments = call.tool_name, dict(call.args)
    if name == CODE_INTERPRETER:
        return str(arguments.get("code", ""))
    if name in BUILTIN_TOOLS:
        return f'{name}.call(query="{arguments.get("query", "")}")'
    match tool_format:
        case "json":
            return json.dumps({"type": "function", "name": name, "parameters": arguments})
        case "function_tag":
            return f"<function={name}>{json.dumps(arguments)}</function>"
        case "python_list":
            return f"[{name}({_keywords(arguments)})]"


def _keywords(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={_python(value)}" for key, value in values.items())


def _python(value: Any) -> str:
    match value:
        case str():
            return f'"{value}"'
        case dict():
            return f"{{{_keywords(value)}}}"
        case list():
            return f"[{', '.join(map(_python, value))}]"
    return str(value)


LLAMA3: Final = LlamaFormat(
    title="Llama 3.1, 3.2, 3.3",
    begin="<|begin_of_text|>",
    start_header="<|start_header_id|>",
    end_header="<|end_header_id|>",
    end_of_turn="<|eot_id|>",
    end_of_message="<|eom_id|>",
    python_tag="<|python_tag|>",
    tags_code=True,
    image="<|image|>",
    others={
        "<|end_of_text|>": "the end of a base model's text",
        "<|finetune_right_pad_id|>": "padding after a sequence in training",
    },
)
LLAMA4: Final = LlamaFormat(
    title="Llama 4",
    begin="<|begin_of_text|>",
    start_header="<|header_start|>",
    end_header="<|header_end|>",
    end_of_turn="<|eot|>",
    end_of_message="<|eom|>",
    python_tag="<|python_start|>",
    calls_wait=True,
    image="<|image|>",
    others={
        "<|end_of_text|>": "the end of a base model's text",
        "<|finetune_right_pad|>": "padding after a sequence in training",
    },
)


@dataclass(frozen=True)
class LlamaPrompt:
    """The raw prompt of a dialect: a generation's tokens, and how custom tools are defined."""

    format: LlamaFormat
    tools: ToolFormat = "json"


def turns_of(prompt_data: PromptData, tool_format: ToolFormat = "json") -> list[LlamaTurn]:
    """Return a session as turns.

    The agent's prompt and the session's leading system messages are one system turn. With built-in
    tools or code, this turn switches ipython on; custom tools are defined in a user turn.
    """
    tools = prompt_data.tool_metadata
    builtin = [tool.name for tool in tools if tool.name in BUILTIN_TOOLS]
    code = any(tool.name == CODE_INTERPRETER for tool in tools)
    custom = [t for t in tools if t.name not in (*BUILTIN_TOOLS, CODE_INTERPRETER)]
    leading = list(
        itertools.takewhile(lambda message: message.role == "system", prompt_data.messages)
    )
    texts = [prompt_data.task_config.user_agent_prompt, *(message.text for message in leading)]
    agent = "\n".join(filter(None, texts))
    own_lines = agent.splitlines()
    ipython = bool(builtin or code or ENVIRONMENT in own_lines)
    lines = [ENVIRONMENT] if ipython and ENVIRONMENT not in own_lines else []
    if builtin and not any(line.startswith("Tools: ") for line in own_lines):
        lines.append(f"Tools: {', '.join(builtin)}")
    system = "\n".join([*lines, *([""] if lines and agent else []), agent])
    turns = [LlamaTurn("system", system)] if system else []
    turns += [LlamaTurn("user", tool_definitions(custom, tool_format))] if custom else []
    for message in prompt_data.messages[len(leading) :]:
        turns += _turns(message, ipython and tool_format == "json")
    return turns


def _turns(message: Message, ipython: bool) -> list[LlamaTurn]:
    if message.tool_results:
        results = [
            LlamaTurn("tool", _result_text(result.result)) for result in message.tool_results
        ]
        return [*results, *([LlamaTurn("user", message.text)] if message.text else [])]
    content: list[str | ImagePart] = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            content.append(part)
        elif isinstance(part, TextPart):
            content.append(part.text)
    # Meta: models write end_of_message if ipython is on, or to call a built-in tool
    waits = ipython or any(call.tool_name in BUILTIN_TOOLS for call in message.tool_calls)
    reason: StopReason = "end_of_message" if waits and message.tool_calls else "end_of_turn"
    return [LlamaTurn(message.role, content, tuple(message.tool_calls), reason)]


def tool_definitions(tools: Sequence[ToolMetadata], tool_format: ToolFormat) -> str:
    """Return the definitions of custom tools, with Meta's words around them."""
    return {"json": _as_json, "function_tag": _as_tags, "python_list": _as_list}[tool_format](tools)


def _definition(tool: ToolMetadata, parameters: Any) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def _as_json(tools: Sequence[ToolMetadata]) -> str:
    definitions = "\n\n".join(
        dump_json({"type": "function", "function": _definition(t, t.input_schema)}, indent=4)
        for t in tools
    )
    return (
        "Answer the user's question by making use of the following functions if needed.\n"
        "If none of the function can be used, please say so.\n"
        f"Here is a list of functions in JSON format:\n{definitions}\n\n"
        "Return function calls in JSON format."
    )


def _as_tags(tools: Sequence[ToolMetadata]) -> str:
    definitions = "\n\n".join(
        f"Use the function '{tool.name}' to '{tool.description}':\n"
        + dump_json(_definition(tool, tool.input_schema.get("properties", {})))
        for tool in tools
    )
    return (
        f"You have access to the following functions:\n\n{definitions}\n\n"
        "Think very carefully before calling functions.\nIf you choose to call a function ONLY "
        "reply in the following format with no prefix or suffix:\n\n"
        '<function=example_function_name>{"example_name": "example_value"}</function>\n\n'
        "Reminder:\n- If looking for real time information use relevant functions before "
        "falling back to brave_search\n- Function calls MUST follow the specified format, "
        "start with <function= and end with </function>\n- Required parameters MUST be "
        "specified\n- Only call one function at a time\n"
        "- Put the entire function call reply on one line"
    )


def _as_list(tools: Sequence[ToolMetadata]) -> str:
    definitions = dump_json([_definition(tool, tool.input_schema) for tool in tools], indent=4)
    return (
        f"Here is a list of functions in JSON format that you can invoke:\n{definitions}\n\n"
        "Should you decide to return the function call(s), put them in the format of "
        "[func1(params_name=params_value, params_name2=params_value2...), func2(params)]"
        "\n\nYou SHOULD NOT include any other text in the response."
    )


def _result_text(result: Any) -> str:
    return result if isinstance(result, str) else dump_json(result)
