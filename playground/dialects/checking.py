"""Check if a call's values are unchanged after a dialect has written and read the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from playground.base.errors import in_words
from playground.base.findings import Finding, finding
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.nouns.messages import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult, read_to_end
from playground.parsing.values import same

_EMPTY: Final = PromptData()  # copied: pydantic takes 0.1 ms to make another one
CallCheck = Callable[[Dialect, ToolCallPart, Sequence[ToolMetadata]], list[Finding]]


def check_session(
    dialect: Dialect, prompt_data: PromptData, check_call: CallCheck | None = None
) -> list[Finding]:
    """Return findings on the parts of a session that a dialect cannot send, in the messages' order.

    `check_call` replaces `check_tool_call`, for instance by one that caches its findings.
    """
    check_call = check_call or check_tool_call
    findings: list[Finding] = []
    for index, message in enumerate(prompt_data.messages):
        findings += _dropped_parts(dialect, message, f"message {index}")
        for call in message.tool_calls:
            findings += check_call(dialect, call, prompt_data.tool_metadata)
    environment = prompt_data.dynamic_task_config.dynamic_environment_details_block
    if environment and all(message.role != "user" for message in prompt_data.messages):
        findings.append(finding("environment-dropped", "environment block"))
    return findings


def check_tool_call(
    dialect: Dialect, call: ToolCallPart, tools: Sequence[ToolMetadata] = ()
) -> list[Finding]:
    """Return a `cannot-carry` finding for each changed argument; if there is none, for the call."""
    try:
        if _carries(dialect, call, tools):
            return []
        lost = _lost_arguments(dialect, call, tools)
    except Exception as error:  # a dialect written by hand may fail; a declared one must not
        if isinstance(dialect, DeclaredDialect):
            raise
        text = f"the dialect is written by hand, and its code fails: {in_words(error)}"
        return [finding("cannot-carry", f"call {call.tool_call_id}", text)]
    place = f"call {call.tool_call_id}, argument"
    return [finding("cannot-carry", f"{place} {key}") for key in lost]


def _lost_arguments(
    dialect: Dialect, call: ToolCallPart, tools: Sequence[ToolMetadata]
) -> list[str]:
    """Return the arguments that change even if the call has no other argument.

    If none does, return "(together)", or "(name)" if a call without arguments changes.
    """
    texts = dialect.syntax.sample_texts if isinstance(dialect, DeclaredDialect) else {}

    def carries_alone(args: dict[str, Any]) -> bool:
        # A syntax may require several texts, so sample texts are given for the others.
        return _carries(dialect, replace(call, args=texts | args), tools)

    lost = [key for key, value in call.args.items() if not carries_alone({key: value})]
    if lost:
        return lost
    # Each argument comes back if it is alone: the cause is the name, or several arguments together.
    return ["(together)"] if carries_alone({}) else ["(name)"]


def _carries(dialect: Dialect, call: ToolCallPart, tools: Sequence[ToolMetadata]) -> bool:
    """Return True if a written call is read back unchanged, without another call or text."""
    result = _read_back(dialect, call, tools)
    is_only_one = len(result.tool_calls) == 1 and not result.aborted
    if not is_only_one or result.content.strip():
        return False
    call_read = result.tool_calls[0]
    return call_read.name == call.tool_name and same(call_read.arguments, call.args)


def _read_back(dialect: Dialect, call: ToolCallPart, tools: Sequence[ToolMetadata]) -> ParseResult:
    parser = dialect.create_parser(_EMPTY.model_copy(update={"tool_metadata": list(tools)}))
    return read_to_end(parser, [parser.feed_text(dialect.format_tool_call(call, tools))])


# The parts that formatters write for each role; any other part gives a finding.
_SENT: Final[dict[str, tuple[type, ...]]] = {
    "system": (TextPart, ImagePart, ToolResultPart),
    "user": (TextPart, ImagePart, ToolResultPart),
    "assistant": (TextPart, ToolCallPart),
    "tool": (TextPart, ToolResultPart),
}


def _dropped_parts(dialect: Dialect, message: Message, place: str) -> list[Finding]:
    sent_ids = {
        id(part)
        for item in dialect.split_message(message)  # an image next to a result is sent separately
        for part in item.parts
        if isinstance(part, _SENT[item.role])
    }
    findings: list[Finding] = []
    for index, part in enumerate(message.parts):
        if id(part) in sent_ids:
            if isinstance(part, ToolResultPart) and part.images:
                findings.append(finding("image-as-text", f"{place}, part {index}"))
            continue
        if isinstance(part, ReasoningPart) and message.role == "assistant":
            findings.append(finding("reasoning-dropped", place))
        else:
            text = f"a {part.type} part is not sent in a message of role {message.role}"
            findings.append(finding("part-dropped", f"{place}, part {index}", text))
    return findings
