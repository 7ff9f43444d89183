"""The arguments of a request to a model through LiteLLM, and the pieces of its streamed answer.

All code that asks a model (`record`, payloads, the imitated systems) builds its request with
`completion_arguments`, so that LiteLLM always gets the same settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

# The parameters of a session that may be sent: those that only affect the answer. A file must not
# decide where a request goes, with which key, or what else LiteLLM does.
_SENT: Final = frozenset({
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "stop", "seed",
    "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "logprobs",
    "top_logprobs", "response_format", "reasoning_effort", "thinking", "verbosity",
    "service_tier", "user",
})  # fmt: skip
OF_TOOLS: Final = frozenset({"tool_choice", "parallel_tool_calls"})
STREAMED: Final = {"stream": True, "stream_options": {"include_usage": True}}


def completion_arguments(
    messages: Sequence[Mapping[str, Any]],
    model: str,
    tools: Sequence[Mapping[str, Any]] = (),
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the arguments of `litellm.completion`; `parameters` override all others.

    LiteLLM's own retries are off, because they differ between providers. Its MCP handler is off,
    too: it would change the tools and need another package. If a result's `tool_call_id`
    is empty, it is left out: calls in a dialect of text have no ids.
    """
    return {
        "model": model,
        "messages": [
            {key: value for key, value in message.items() if (key, value) != ("tool_call_id", "")}
            for message in messages
        ],
        "num_retries": 0,
        "_skip_mcp_handler": True,
        **({"tools": [dict(tool) for tool in tools]} if tools else {}),
        **(parameters or {}),
    }


def merge_parameters(
    own: Mapping[str, Any], given: Mapping[str, Any], tools: Sequence[Any] | None
) -> dict[str, Any]:
    """Return the parameters for repeating a session's request: `given`, and those of the session's
    `own` parameters that affect only the answer (`_SENT`). If `tools` are sent, those about
    the choice of tools (`OF_TOOLS`) are returned, too. `given` takes precedence."""
    names = _SENT | OF_TOOLS if tools else _SENT
    return {**{key: value for key, value in own.items() if key in names}, **given}


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer: text, reasoning, or both."""

    text: str = ""
    reasoning: str = ""

    def __bool__(self) -> bool:
        return bool(self.text or self.reasoning)


def delta_of(chunk: Any) -> Delta:
    """Return a LiteLLM chunk's text and reasoning; an empty Delta if it has only the usage."""
    if not chunk.choices:
        return Delta()
    delta = chunk.choices[0].delta
    thought = getattr(delta, "reasoning_content", None)  # missing in chunks without reasoning
    return Delta(str(delta.content or ""), str(thought or ""))
