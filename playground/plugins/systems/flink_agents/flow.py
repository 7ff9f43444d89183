"""Run a chat request, and the tool requests that follow, to the response; yield every event.

While the model calls tools, no response is sent, even if the model also writes a text. This is the
behaviour of Flink-Agents' code (cases were run on commit 8ad3a32). By its design document, a tool
request and a response would be sent.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from playground.base.errors import InputFault, PlaygroundError
from playground.base.findings import Finding
from playground.plugins.systems.flink_agents.arguments import checked_arguments
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    MessageRole,
    called_function,
)
from playground.plugins.systems.flink_agents.chat_model import ChatModelSetup
from playground.plugins.systems.flink_agents.events import (
    ChatRequestEvent,
    ChatResponseEvent,
    Event,
    ToolRequestEvent,
    ToolResponseEvent,
)
from playground.plugins.systems.flink_agents.tools import BaseTool
from playground.plugins.systems.tool_loop import tool_loop

MOST_ROUNDS: Final = 100


def chat_events(
    messages: Sequence[ChatMessage],
    setup: ChatModelSetup,
    tools: Mapping[str, BaseTool] | None = None,
    *,
    injected: Mapping[str, Any] | None = None,
    prompt_args: Mapping[str, Any] | None = None,
    retries: int = 0,
) -> Iterator[Event]:
    """Ask the model, run the tools that it calls and ask again, until it answers without calls.

    `tools` are the tools by name, by default the setup's tools. `injected` has the caller's values
    for the tools' `injected_args`; values that the model gives for these are ignored. If a tool
    fails or does not exist, its result is a text that says so.

    Raises InputFault if the model fails more than `retries` times, or calls tools a hundred times
    in a row.
    """
    known_tools = tools if tools is not None else {tool.name: tool for tool in setup.tools}
    history, retry_count = list(messages), 0
    reported: set[Finding] = set()
    model = str(getattr(setup.model, "model", "") or "")

    def ask() -> ChatMessage:
        nonlocal retry_count
        answer, retried = _ask_with_retries(setup, history, prompt_args, retries)
        retry_count += retried
        return answer

    def call(answer: ChatMessage) -> ToolResponseEvent | None:
        if not answer.tool_calls:
            return None
        request = ToolRequestEvent(model, answer.tool_calls)
        responses = run_calls(request, known_tools.__getitem__, injected or {})
        responses.findings[:] = new_findings(responses.findings, reported)
        history.extend([answer, *result_messages(responses, answer.tool_calls)])
        return responses

    first_event = ChatRequestEvent(model, messages, prompt_args)
    yield first_event
    too_many_rounds = InputFault(
        f"the model called tools {MOST_ROUNDS} times in a row", expected="an answer without calls"
    )
    for step in tool_loop(ask, call, most=MOST_ROUNDS, limit_error=too_many_rounds):
        match step:
            case ToolResponseEvent():
                yield step
            case ChatMessage(tool_calls=[]):
                yield ChatResponseEvent(response=step, retry_count=retry_count, request=first_event)
            case ChatMessage(tool_calls=calls):
                yield ToolRequestEvent(model, calls)


def _ask_with_retries(
    setup: ChatModelSetup,
    messages: Sequence[ChatMessage],
    prompt_args: Mapping[str, Any] | None,
    retries: int,
) -> tuple[ChatMessage, int]:
    """Return the answer, and the number of retries."""
    for attempt in range(retries):
        try:
            return setup.chat(messages, prompt_args), attempt
        except PlaygroundError:
            continue
    return setup.chat(messages, prompt_args), retries


def run_calls(
    request: ToolRequestEvent, tool_of: Callable[[str], BaseTool], injected: Mapping[str, Any]
) -> ToolResponseEvent:
    """Run the calls of a request in order. `tool_of` raises a KeyError for an unknown tool."""
    outcome = _Outcome()
    for call in request.tool_calls:
        function = called_function(call)
        name = function["name"]
        try:
            tool = tool_of(name)
        except KeyError as error:
            response: Any = f"Tool `{name}` does not exist."
            success = False
            outcome.errors.append(str(error))
        else:
            response, success = _run_tool(tool, function, injected, outcome)
        outcome.results.append(response)
        outcome.success.append(success)
    return ToolResponseEvent(
        request=request,
        results=outcome.results,
        success=outcome.success,
        errors=outcome.errors,
        findings=outcome.findings,
    )


@dataclass
class _Outcome:
    """The results of a request's calls so far."""

    results: list[Any] = field(default_factory=list)
    success: list[bool] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def new_findings(findings: Sequence[Finding], reported: set[Finding]) -> list[Finding]:
    """Return the findings that are not in `reported`. Add those about a schema's keywords to
    `reported`, so that a chat reports each of them once."""
    new = []
    for entry in findings:
        if entry in reported:
            continue
        if entry.code == "keyword-unchecked":
            reported.add(entry)
        new.append(entry)
    return new


def _run_tool(
    tool: BaseTool, function: Mapping[str, Any], injected: Mapping[str, Any], outcome: _Outcome
) -> tuple[Any, bool]:
    injected_values = {name: injected[name] for name in tool.injected_args if name in injected}
    try:
        arguments = function.get("arguments") or {}
        if not isinstance(arguments, Mapping):
            raise ValueError(f"the arguments are not a JSON object: {arguments!r:.200}")
        allowed = {name: value for name, value in arguments.items() if name not in tool.withheld}
        values, findings = checked_arguments(tool.metadata, allowed)
        outcome.findings.extend(findings)
        return await_result(tool.call(**{**values, **injected_values})), True
    except Exception as error:  # a tool may raise anything
        outcome.errors.append(str(error))
        return f"Tool `{tool.name}` execute failed.", False


def await_result(value: Any) -> Any:
    """Return a tool's result. The result of an `async def` tool is awaited in a new event loop.

    If an event loop already runs in the caller's thread, the new loop runs in another thread.
    """
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def result_messages(
    event: ToolResponseEvent, calls: Sequence[Mapping[str, Any]]
) -> list[ChatMessage]:
    """Return the results as messages for the model, written with `str()`.

    A result refers to the call's `original_id`, or if there is none, to the call's `id`, as in the
    design document. (Flink-Agents' code uses only the `original_id`.)
    """
    messages = []
    for response, call in zip(event.results, calls, strict=False):
        answered = call.get("original_id") or call.get("id")
        extra = {"external_id": str(answered)} if answered else {}
        messages.append(ChatMessage(role=MessageRole.TOOL, content=str(response), extra_args=extra))
    return messages
