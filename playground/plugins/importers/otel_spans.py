"""Read OpenTelemetry's spans: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/.

Messages are JSON texts in attributes (`gen_ai.input.messages`). Older instrumentations flatten
messages into many attributes (`gen_ai.prompt.0.role`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from playground.plugins.importers.otel_own import is_own, own_sessions
from playground.plugins.importers.shapes.options import attributes_under, options_of
from playground.plugins.importers.shapes.spans import TraceSpan, first_spans, spans_of, unflatten
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.inner_json import json_value
from playground.sessions.shapes.fields import as_list
from playground.sessions.source import Source

_USAGE: Final = "gen_ai.usage."
_OUTPUT: Final = "gen_ai.output"  # an attribute of any-agent
# OpenLLMetry's names. They are Anthropic's, but the counts have OpenTelemetry's meaning.
_OPENLLMETRY_NAMES: Final = {
    "cache_read_input_tokens": "cache_read.input_tokens",
    "cache_creation_input_tokens": "cache_creation.input_tokens",
}


class OtelSpans(SessionFormat):
    name = "otel-spans"
    title = "OpenTelemetry GenAI spans"
    keeps = Keeps(
        tools="yes",
        times="yes",
        usage="yes",
        missing="only spans of model calls are read; events (chunk times without text) are not",
    )
    left_aside = {
        "**.name": "names of spans",
        "**.description": "descriptions of spans, agents and tools",
    }

    def recognises(self, source: Source) -> bool:
        return any(_is_call(span) or is_own(span) for span in first_spans(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        spans = list(spans_of(source))
        own = own_sessions(spans)
        yield from own.values()
        spans = [span for span in spans if span.trace not in own]
        if any(map(_is_of_any_agent, spans)):
            turns = _any_agent_turns(spans)
        else:
            turns = [_turn(span) for span in spans if _is_call(span)]
        yield from read_turns(turns, source.stem)


def _is_call(span: TraceSpan) -> bool:
    return any(
        name in span.attributes
        for name in ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt.0.role")
    )


def _turn(span: TraceSpan) -> Turn:
    attributes = span.attributes
    before = json_value(attributes.get("gen_ai.input.messages")) or unflatten(
        attributes, "gen_ai.prompt"
    )
    after = json_value(attributes.get("gen_ai.output.messages"))
    after = after or unflatten(attributes, "gen_ai.completion")
    system = json_value(attributes.get("gen_ai.system_instructions"))
    if system:
        before = [{"role": "system", "content": system}, *as_list(before)]
    tools = json_value(attributes.get("gen_ai.tool.definitions"))
    texts = attributes_under(attributes, "llm.request.functions.")  # schemas are JSON in a text
    schemas = {k: json_value(v) for k, v in texts.items() if k.endswith(("parameters", "schema"))}
    tools = tools or unflatten({f"f.{k}": v for k, v in {**texts, **schemas}.items()}, "f")
    reasons = attributes.get("gen_ai.response.finish_reasons") or [""]
    model = attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model")
    return Turn(
        before=as_list(before),
        after=as_list(after),
        tools=as_list(tools),
        place=span.place,
        model=str(model or ""),
        at=span.start,
        seconds=span.seconds,
        stop_reason=str(reasons[0] if isinstance(reasons, list) and reasons else ""),
        usage={
            _OPENLLMETRY_NAMES.get(name, name): count
            for name, count in attributes_under(attributes, _USAGE).items()
        },
        options=options_of(
            attributes.get("request_data"),
            attributes_under(attributes, *_OPTION_PREFIXES),
            {name: attributes.get(f"llm.{name}") for name in _TRACELOOP_OPTIONS},
        ),
    )


def _is_of_any_agent(span: TraceSpan) -> bool:
    """Return True for a model call of Mozilla's any-agent.

    Only an agent's first call has the input. The outputs of tools are in the tools' own spans.
    """
    return span.attributes.get("gen_ai.operation.name") == "call_llm" and _OUTPUT in span.attributes


def _any_agent_turns(spans: list[TraceSpan]) -> list[Turn]:
    """Return the model calls, each with the history that any-agent sent: the input of the first
    call, and all answers and outputs since then."""
    turns: list[Turn] = []
    history: list[Any] = []
    waiting: list[tuple[str, str]] = []  # ids and tools of calls without a result
    for span in spans:
        attributes = span.attributes
        operation, output = attributes.get("gen_ai.operation.name"), attributes.get(_OUTPUT)
        if operation == "call_llm":
            turn = _turn(span)
            history = [*turn.before] or history
            answer = _any_agent_answer(output, len(turns))
            waiting += [(call["id"], call["name"]) for call in answer.get("tool_calls", ())]
            turns.append(replace(turn, before=[*history], after=[answer]))
            history = [*history, answer]
        elif operation == "execute_tool" and output is not None and turns:
            name = str(attributes.get("gen_ai.tool.name") or "")
            match = next((each for each in waiting if each[1] == name), ("", name))
            waiting = [each for each in waiting if each != match]
            result = {"role": "tool", "tool_call_id": match[0], "name": name, "content": output}
            history = [*history, result]
    if turns and history:
        last = turns[-1]
        turns[-1] = replace(last, after=history[len(last.before) :])
    return turns


def _any_agent_answer(output: Any, number: int) -> dict[str, Any]:
    """Return an answer (a list of calls, or a text) as a message."""
    inner = json_value(output)
    if isinstance(inner, list) and inner and all(map(_is_any_agent_call, inner)):
        calls = [
            {"id": f"call_{number}_{index}", "name": each["tool.name"], "args": each["tool.args"]}
            for index, each in enumerate(inner)
        ]
        return {"role": "assistant", "content": "", "tool_calls": calls}
    return {"role": "assistant", "content": output}


def _is_any_agent_call(value: Any) -> bool:
    return isinstance(value, dict) and {"tool.name", "tool.args"} <= value.keys()


# OpenTelemetry's own names, and names of instrumentations for a single provider.
_OPTION_PREFIXES: Final = ("gen_ai.request.", "gen_ai.openai.request.", "openai.request.")
# Options to which OpenLLMetry gave names while OpenTelemetry had none for them.
_TRACELOOP_OPTIONS: Final = (
    "is_streaming", "frequency_penalty", "presence_penalty", "chat.stop_sequences",
)  # fmt: skip
